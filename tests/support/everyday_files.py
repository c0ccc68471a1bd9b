"""Tables as people have them: what is in each file, what it is read as, what is said, and what changes it.

This list is the only one: tests write each file and hold what is read and said to it, and the tables in
docs/everyday-files.md are made of it (`python tests/support/everyday_files.py` writes them anew).
"""

import gzip
import re
from pathlib import Path

from written_files import (
    NOISE,
    EverydayFile,
    N,
    classes,
    column,
    columnar,
    database,
    json_lines,
    json_text,
    lines,
    packed,
    sheets,
    text,
)

PAGE = Path(__file__).parents[2] / "docs" / "everyday-files.md"
TITLES = (
    "Sales of 2024,,\n,,\n" + "day,shop,sum\n" + "".join(f"{i % 9},{'ab'[i % 2]},{i % 5}\n" for i in range(N))
)
SUM = lines("shop", ["Rome", "Oslo", "Bonn"]) + "Total,137.5\n"
REVIEWS = [
    f"{b} {a} film indeed"
    for a in ("new", "old", "long")
    for b in ("a fine", "a dull", "an odd", "a calm", "a good")
]
UUIDS = [f"{7919 * i:08x}-4a1c" for i in range(N)]

# fmt: off
FILES: tuple[EverydayFile, ...] = (
    # -- what separates cells
    EverydayFile(
        "semicolons and decimal commas", "a.csv",
        column("price", "10.007,37", "950,5", "31,25", "7", "44,1", mark=";"), "price;v / 10.007,37;0.5",
        "decimal comma, thousands with a point", "--kind price=categorical", "declared",
        {"price": "numbers 10007.37, 950.5, 31.25", "v": "numbers 0.5, 7.5, 3.5"},
    ),
    EverydayFile(
        "tabs", "a.txt", column("city", "Rome", "Oslo", "Bonn", mark="\t"), "city⇥v / Rome⇥0.5",
        "strings, 3 categories", "--delimiter comma", "strings",
        {"city": "categories 'Rome', 'Oslo', 'Bonn'"},
    ),
    EverydayFile(
        "bars", "a.csv", column("city", "Rome", "Oslo", "Bonn", mark="|"), "city|v / Rome|0.5",
        "strings, 3 categories", "--delimiter comma",
        "one column, named \"city|v\"; if it is several, --delimiter '|'",
        {"city": "categories 'Rome', 'Oslo', 'Bonn'"},
    ),
    EverydayFile(
        "spaces", "a.dat", column("size", "1.5", "2.5", "4", mark=" "), "size v / 1.5 0.5",
        'one column, named "size v"; if it is several, --delimiter space', "--delimiter space",
        "float values", {"size v": "categories '1.5 0.5', '2.5 7.5', '4 3.5'"},
    ),
    # -- numbers
    EverydayFile(
        "thousands", "a.csv", column("n", "1,234,567", "12,500", "990", "3,000,000", "7,250"),
        "1,234,567; 12,500; 990", "thousands with a comma", "--kind n=categorical", "declared",
        {"n": "numbers 1234567, 12500, 990"},
    ),
    EverydayFile(
        "thousands or decimal commas", "a.csv", column("n", "1,234", "52,000", "999,999", "10,500", "2,000"),
        "1,234; 52,000", "'1,234' is read as 1234 and could be 1.234, which no cell settles",
        "--kind n=decimal-comma", "declared, decimal comma", {"n": "numbers 1234, 52000, 999999"},
    ),
    EverydayFile(
        "currency", "a.csv", column("price", "$1,250", "$980.50", "-$20", "$7", "$3,000"),
        "$1,250; $980.50; -$20", "thousands with a comma, currency $", "--kind price=categorical",
        "declared", {"price": "numbers 1250, 980.5, -20"},
    ),
    EverydayFile(
        "per cent", "a.csv", column("rate", "12.5 %", "-3 %", "0 %", "7 %", "1.25 %"), "12.5 %; -3 %",
        "per cent", "--kind rate=categorical", "declared", {"rate": "numbers 12.5, -3, 0"},
    ),
    EverydayFile(
        "K, M, B", "a.csv", column("turnover", "1.2M", "50K", "730K", "900", "2.5M"), "1.2M; 50K; 900",
        "K/M suffixes", "--kind turnover=categorical", "declared",
        {"turnover": "numbers 1200000, 50000, 730000"},
    ),
    EverydayFile(
        "accounting negatives", "a.csv", column("result", "1,250", "(980)", "(20)", "7", "3,000"),
        "1,250; (980)", "accounting negatives", "--kind result=categorical", "declared",
        {"result": "numbers 1250, -980, -20"},
    ),
    EverydayFile(
        "units", "a.csv", column("weight", "62 kg", "75.5 kg", "58 kg", "90 kg", "81 kg"), "62 kg; 75.5 kg",
        "unit kg", "--kind weight=categorical", "declared", {"weight": "numbers 62, 75.5, 58"},
    ),
    EverydayFile(
        "several units", "a.csv", column("weight", "1.5 kg", "1200 g", "3 kg", "700 g", "2 kg"),
        "1.5 kg; 1200 g",
        "look like numbers in several units or forms ('1.5 kg', '1200 g', '2 kg'): they stay categories",
        "--kind weight=categorical", "declared", {"weight": "categories '1.5 kg', '1200 g', '3 kg'"},
    ),
    EverydayFile(
        "few different decimal commas", "a.csv", column("dose", "0,5", "1,5", "2,5"), "0,5; 1,5; 2,5",
        "its strings are numbers (decimal comma), and so few that they stay categories",
        "--kind dose=continuous", "declared, decimal comma", {"dose": "categories '0,5', '1,5', '2,5'"},
    ),
    EverydayFile(
        "the minus sign of books", "a.csv", column("t", "−12.5", "3.5", "−7", "8", "9.25"), "−12.5; 3.5",
        "continuous numbers", "--kind t=categorical", "declared", {"t": "numbers -12.5, 3.5, -7"},
    ),
    EverydayFile(
        "numbers with words for gaps", "a.csv", column("age", 31, "?", 45, 28, "-", 60, 39, 52),
        "31; ?; 45; -", "read as numbers, and '-', '?' (6 cells) as gaps", "--kind age=categorical",
        "declared", {"age": "numbers 31, a gap, 45"},
    ),
    EverydayFile(
        "numbers with other words", "a.csv", column("x", *range(1, 9), "low", "high"), "1; 2; low",
        "most of its strings look like numbers ('1', '2'), others are 'high', 'low'",
        "--missing low --missing high", "integer values", {"x": "categories '1', '2', '3'"},
    ),
    EverydayFile(
        "numbers that mark gaps", "a.csv", column("age", 31, 45, -999, 28, 60, 39), "31; 45; -999",
        "-999 (4 cells) is far from all others (28 to 60), and may mark gaps", "--missing -999",
        "4 integer values", {"age": "numbers 31, 45, -999"},
    ),
    EverydayFile(
        "9999 for a gap", "a.csv", column("income", 31, 45, 9999, 28, 60, 39), "31; 45; 9999",
        "9999 (4 cells) is far from all others (28 to 60), and may mark gaps", "--missing 9999",
        "4 integer values", {"income": "numbers 31, 45, 9999"},
    ),
    EverydayFile(
        "one number in all rows", "a.csv", column("year", 2024), "2024; 2024",
        "integer values, the same in all rows", "--drop year", "float values",
        {"year": "numbers 2024, 2024, 2024"},
    ),
    EverydayFile(
        "whole numbers of 17 digits", "a.csv",
        column("card", *(10 ** 16 + 997 * (i * i % 31) for i in range(31))), "10000000000000000",
        "numbers of more than 15 digits are rounded; --kind card=categorical keeps them apart",
        "--kind card=categorical", "declared", {"card": "numbers 1e+16, 1e+16, 1e+16"},
    ),
    EverydayFile(
        "whole numbers of 22 digits", "a.csv", column("card", *(10 ** 21 + 7 * i for i in range(9))),
        "1000000000000000000007", "codes of more digits than numbers have", "--drop card", "float values",
        {"card": "categories '1000000000000000000000', '1000000000000000000007', '1000000000000000000014'"},
    ),
    # -- dates and times
    EverydayFile(
        "ISO dates", "a.csv", column("day", "2024-01-31", "2024-02-29", "2023-12-24", "2024-07-02"),
        "2024-01-31", "date, month, 1 to 12", "--kind day=categorical", "declared",
        {"day[month]": "numbers 1, 2, 12", "day[weekday]": "numbers 3, 4, 7"},
    ),
    EverydayFile(
        "the day first", "a.csv", column("day", "31/01/2024", "2/3/2024", "24/12/2023", "5/7/2024"),
        "31/01/2024; 2/3/2024", "date (day first), month, 1 to 12", "--kind day=categorical", "declared",
        {"day[month]": "numbers 1, 3, 12"},
    ),
    EverydayFile(
        "the month first", "a.csv", column("day", "01/31/2024", "2/3/2024", "12/24/2023", "5/7/2024"),
        "01/31/2024; 2/3/2024", "date (month first), month, 1 to 12", "--kind day=categorical", "declared",
        {"day[month]": "numbers 1, 2, 12"},
    ),
    EverydayFile(
        "the day or the month first", "a.csv", column("day", "3/4/2024", "5/6/2024", "7/8/2023", "1/2/2024"),
        "3/4/2024; 5/6/2024", "no cell says whether the day or the month comes first: they stay categories",
        "--kind day=day-first", "date (day first), month, 1 to 12",
        {"day": "categories '3/4/2024', '5/6/2024', '7/8/2023'"},
    ),
    EverydayFile(
        "dates in two orders", "a.csv", column("day", "31/12/2024", "12/31/2024", "5/6/2024", "7/8/2024"),
        "31/12/2024; 12/31/2024",
        "look like dates ('12/31/2024', '31/12/2024'), and no way of writing them fits all",
        "--kind day=categorical", "declared", {"day": "categories '31/12/2024', '12/31/2024', '5/6/2024'"},
    ),
    EverydayFile(
        "months in another language", "a.csv", column("day", "5 janv. 2024", "12 mars 2024", "3 mai 2024"),
        "5 janv. 2024; 3 mai 2024", "look like dates", "--kind day=categorical", "declared",
        {"day": "categories '5 janv. 2024', '12 mars 2024', '3 mai 2024'"},
    ),
    EverydayFile(
        "months", "a.csv", column("month", "Jan 2024", "Feb 2024", "Dec 2023", "Jul 2024"),
        "Jan 2024; Feb 2024", "date (month and year), month, 1 to 12", "--kind month=categorical",
        "declared", {"month[month]": "numbers 1, 2, 12"},
    ),
    EverydayFile(
        "dates in digits", "a.csv", column("day", 20240131, 20240229, 20231224, 20240702),
        "20240131; 20240229", "whole numbers such as 20231224 are read as dates", "--kind day=continuous",
        "declared", {"day[month]": "numbers 1, 2, 12"},
    ),
    EverydayFile(
        "times of several zones", "a.csv",
        column("at", "2024-01-05T10:00:00+02:00", "2024-02-11T23:30:00-05:00", "2024-03-07T01:00:00Z"),
        "2024-01-05T10:00:00+02:00",
        "time zones ('+02:00', '-05:00', 'Z') are passed over: the hour is that of", "--kind at=categorical",
        "declared", {"at[hour]": "numbers 10, 23.5, 1"},
    ),
    EverydayFile(
        "times of day", "a.csv", column("start", "18:30", "07:15", "12:00", "6:45 PM", "9:00"),
        "18:30; 6:45 PM", "times, in hours", "--kind start=categorical", "declared",
        {"start": "numbers 18.5, 7.25, 12"},
    ),
    EverydayFile(
        "durations", "a.csv", column("took", "1:30:00", "0:45:00", "102:15:00", "0:00:36", "3:00:00"),
        "1:30:00; 102:15:00", "times, in hours", "--kind took=categorical", "declared",
        {"took": "numbers 1.5, 0.75, 102.25"},
    ),
    # -- codes and categories
    EverydayFile(
        "row numbers, as pandas writes them", "a.csv",
        text('\n'.join([',v', *(f'{i},{NOISE[i]}' for i in range(N))]) + '\n'), ",v / 0,0.5 / 1,7.5",
        "column 'column_1': counts the rows, as its name says: left out", "--kind column_1=continuous",
        "declared", {"v": "numbers 0.5, 7.5, 3.5"},
    ),
    EverydayFile(
        "identifiers", "a.csv", column("customer_id", *(4711 + 13 * (7 * i % N) for i in range(N))),
        "customer_id / 4711 / 4802", "a different whole number in each row, as its name says: left out",
        "--kind customer_id=continuous", "declared", {"v": "numbers 0.5, 7.5, 3.5"},
    ),
    EverydayFile(
        "identifiers of letters and digits", "a.csv", column("uuid", *UUIDS), "00001eef-4a1c",
        "strings, 24 categories, one for nearly every row", "--drop uuid", "float values",
        {"uuid": "categories '00000000-4a1c', '00001eef-4a1c', '00003dde-4a1c'"},
    ),
    EverydayFile(
        "zip codes with leading zeros", "a.csv", column("zip", "02139", "10001", "94110", "60601", "73301"),
        "02139; 10001", "codes with leading zeros", "--drop zip", "float values",
        {"zip": "categories '02139', '10001', '94110'"},
    ),
    EverydayFile(
        "zip codes without", "a.csv", column("zip", "12139", "10001", "94110", "60601"), "12139; 10001",
        "holds codes, as its name says, and is read as numbers", "--kind zip=categorical", "declared",
        {"zip": "numbers 12139, 10001, 94110"},
    ),
    EverydayFile(
        "one category in several spellings", "a.csv",
        column("region", "North", "NORTH", "north", "North", "South", "south "), "North; NORTH; south",
        "read as 'North', 'South'", "--kind region=categorical", "declared",
        {"region": "categories 'North', 'North', 'North'"},
    ),
    EverydayFile(
        "yes and no in several spellings", "a.csv",
        column("paid", "yes", "Y", "no", "yes", "TRUE", "N", "no"), "yes; Y; TRUE; N", "read as 'no', 'yes'",
        "--kind paid=categorical", "declared", {"paid": "categories 'yes', 'yes', 'no'"},
    ),
    EverydayFile(
        "true and false", "a.csv", column("member", "TRUE", "False", "true"), "TRUE; False",
        "true/false values", "--kind member=categorical", "declared",
        {"member": "true/false True, False, True"},
    ),
    EverydayFile(
        "words for gaps among categories", "a.csv",
        column("job", "nurse", "?", "clerk", "-", "nurse", "unknown"), "nurse; ?; -",
        "'-', '?' may mark gaps: make them missing if they do (--missing - --missing '?')",
        "--missing ? --missing -", "3 categories", {"job": "categories 'nurse', '?', 'clerk'"},
    ),
    EverydayFile(
        "the usual words for gaps", "a.csv", column("land", "DE", "NA", "FR", "null", "", "N/A"),
        "DE; NA; null; ; N/A", "categorical 16 'DE', 'FR'", "--only-missing", "'', 'DE', 'FR', 'N/A'",
        {"land": "categories 'DE', a gap, 'FR'"},
    ),
    EverydayFile(
        "texts", "a.csv",
        column("review", *REVIEWS),
        "a fine new film indeed", "strings of several words", "--kind review=categorical", "declared",
        {"review": "texts 'a fine new film indeed', 'a dull new film indeed', 'an odd new film indeed'"},
    ),
    EverydayFile(
        "a column without a value", "a.csv",
        text('\n'.join(['a,,v', *(f'{i % 7},,{NOISE[i]}' for i in range(N))]) + '\n'), "a,,v / 0,,0.5",
        "no value at all", "--drop column_2", "float values", {"column_2": "categories a gap, a gap, a gap"},
    ),
    # -- rows that are none
    EverydayFile(
        "a title above the header", "a.csv", text(TITLES), "Sales of 2024,, / ,, / day,shop,sum",
        '2 lines above the header left out, the first being "Sales of 2024"', "--skip 2", "24 rows",
        {"shop": "categories 'a', 'b', 'a'"},
    ),
    EverydayFile(
        "no header", "a.csv", text(''.join(f"{i % 9}.5,{i % 7},{'ab'[i % 2]}\n" for i in range(1, N))),
        "1.5,1,b / 2.5,2,a", '"1.5" is the name of a column, and looks like a cell; --no-header',
        "--no-header", "column_1", {"1.5": "numbers 2.5, 3.5, 4.5"},
    ),
    EverydayFile(
        "a sum below the table", "a.csv", text(SUM), "Bonn,6.5 / Total,137.5",
        "the last row looks like a sum (\"Total\" in 'shop'); --foot 1 leaves it out", "--foot 1", "24 rows",
        {"shop": "categories 'Rome', 'Oslo', 'Bonn'"},
    ),
    EverydayFile(
        "cells of several lines", "a.csv", column("note", "one\ntwo", "three"), '"one⏎two",0.5',
        "'one\\ntwo', 'three'", "", "", {"note": "categories 'one\\ntwo', 'three', 'one\\ntwo'"},
    ),
    EverydayFile(
        "rows of other lengths", "a.csv", text("a,b,c\n1,2,3\n4,5\n6,7,8\n"), "a,b,c / 1,2,3 / 4,5",
        'has 2 fields in line 3, where the header has 3: "4,5"', refused=True,
    ),
    EverydayFile(
        "two columns of one name", "a.csv", text("a,a,v\n1,2,3\n4,5,6\n"), "a,a,v",
        "has two columns named 'a' (columns 1 and 2); rename one", "--names a,b,v", "integer values",
        refused=True,
    ),
    # -- encodings and packing
    EverydayFile(
        "UTF-8 with its mark", "a.csv", text('\ufeff' + lines('größe', [1, 2, 4])), "EF BB BF g r ö ß e",
        "größe continuous", "--encoding utf-8", "größe continuous", {"größe": "numbers 1, 2, 4"},
    ),
    EverydayFile(
        "UTF-16", "a.csv", text(lines("stadt", ["Köln", "Bonn"], "\t"), "utf-16"), "FF FE s t a d t",
        "'Bonn', 'Köln'", "--encoding utf-16", "'Bonn', 'Köln'",
        {"stadt": "categories 'Köln', 'Bonn', 'Köln'"},
    ),
    EverydayFile(
        "Windows, Latin-1", "a.csv", text(lines("stadt", ["Köln", "Bonn"]), "cp1252"), "stadt / K\\xF6ln",
        "is not UTF-8: byte 0xF6 in line 2; if it is from Windows or in Latin-1, "
        'pass encoding="cp1252" (--encoding cp1252)',
        "--encoding cp1252", "'Bonn', 'Köln'", refused=True,
    ),
    EverydayFile(
        "packed by gzip", "a.csv.gz",
        lambda path: path.write_bytes(gzip.compress(lines('city', ['Rome']).encode())), "1F 8B", "24 rows",
        "", "", {"city": "categories 'Rome', 'Rome', 'Rome'"},
    ),
    EverydayFile(
        "an archive of one file", "a.zip", packed(lines("city", ["Rome"]), "cities.csv"), "PK", "24 rows",
        "", "", {"city": "categories 'Rome', 'Rome', 'Rome'"},
    ),
    # -- other formats
    EverydayFile(
        "Parquet", "a.parquet", columnar, "a date, a decimal, a dictionary", "category dtype, 3 categories",
        "--kind day=categorical", "declared",
        {"day[month]": "numbers 1, 2, 3", "price": "numbers 0.25, 1.25, 2.25",
         "city": "categories 'Rome', 'Oslo', 'Bonn'"},
    ),
    EverydayFile(
        "Feather and Arrow", "a.feather", columnar, "the same", "category dtype, 3 categories", "--drop day",
        "float values", {"day[month]": "numbers 1, 2, 3", "price": "numbers 0.25, 1.25, 2.25"},
    ),
    EverydayFile(
        "Excel", "a.xlsx", sheets, "two sheets; a title, dates", "a.xlsx holds 2 sheets", "#sales",
        'a row above the header left out, the first being "Sales of 2024"', refused=True,
    ),
    EverydayFile(
        "SQLite", "a.db", database, "two tables", "a.db holds 2 tables", "#orders", "'DE', 'FR'",
        refused=True,
    ),
    EverydayFile(
        "DuckDB", "a.duckdb", database, "two tables", "a.duckdb holds 2 tables", "#orders", "'DE', 'FR'",
        refused=True,
    ),
    EverydayFile(
        "JSON lines", "a.jsonl", json_lines({"age": 31, "city": "Rome"}, {"age": 45}),
        '{"age": 31, "city": "Rome"}', "integer values", "--kind age=categorical", "declared",
        {"age": "numbers 31, 45, 31", "city": "categories 'Rome', a gap, 'Rome'"},
    ),
    EverydayFile(
        "a JSON object that holds the rows", "a.json",
        json_text({"page": 1, "rows": [{'age': 31 + i % 5, 'ok': i % 2 > 0} for i in range(N)]}),
        '{"page": 1, "rows": [{"age": 31}]}', "the rows are those of 'rows'; left out: 'page'", "#rows",
        "24 rows", {"age": "numbers 31, 32, 33"},
    ),
    EverydayFile(
        "objects inside JSON rows", "a.jsonl",
        json_lines({"place": {"city": "Rome"}}, {"place": {"city": "Oslo"}}), '{"place": {"city": "Rome"}}',
        "objects inside rows are columns of their own: 'place.city'", "--drop place.city",
        "leaves no column", {"place.city": "categories 'Rome', 'Oslo', 'Rome'"},
    ),
    EverydayFile(
        "numbers and texts in one JSON column", "a.jsonl",
        json_lines({"x": 1.5, "v": 1}, {"x": "low", "v": 2}), '{"x": 1.5} / {"x": "low"}',
        "numbers as well as texts in 'x': all are read as texts", "--missing low", "float values",
        {"x": "categories '1.5', 'low', '1.5'"},
    ),
    # -- the column to predict
    EverydayFile(
        "classes with gaps", "a.csv", classes("ok", ["good", "bad", "", "good", "bad", "good"]),
        "x,ok / 0,good / 13,", "rows without a class, left out: 10 of 60", "--only-missing",
        "classes in ok: 10", target="ok",
    ),
    EverydayFile(
        "classes in several spellings", "a.csv", classes("ok", ["yes", "Yes", "no", "NO", "no", "yes"]),
        "yes; Yes; NO",
        "'ok' is read as spellings of 'no', 'yes' merged",
        "--kind ok=categorical", "NO 10", target="ok",
    ),
    EverydayFile(
        "a number to predict", "a.csv", classes("rent", [f'{7.5 * i + 300:.2f}' for i in range(40)]),
        "x,rent / 0,300.00", "looks like a number to predict (40 different numbers from 300 to 592.5)",
        "--classes", "(40 classes)", target="rent",
    ),
    EverydayFile(
        "many whole numbers to predict", "a.csv", classes("age", range(18, 85), 134), "x,age / 0,18",
        "looks like a number to predict (67 different whole numbers from 18 to 84)", "--classes",
        "(67 classes)", target="age",
    ),
    EverydayFile(
        "few whole numbers as classes", "a.csv", classes("stars", [1, 2, 3, 4, 5]), "x,stars / 0,1",
        "classes in stars: 1 12, 2 12, 3 12", "--regression", "5 different whole numbers from 1 to 5",
        target="stars",
    ),
)
# fmt: on

HEAD = "| file | cells | read as | said | to change it |\n|---|---|---|---|---|\n"
# A table of the files from the one that is named up to the one that the next table begins with.
TABLE = re.compile(r"<!-- files from: (.*) -->\n(?:.|\n)*?<!-- /files -->")


def filled(page: str) -> str:
    """The page with its tables made anew; every file is in one of them."""
    starts = TABLE.findall(page)
    kinds = [file.kind for file in FILES]
    ends = [*map(kinds.index, starts[1:]), len(FILES)]
    if kinds.index(starts[0]) or ends != sorted(ends):
        raise ValueError(f"the tables must begin with {kinds[0]!r} and follow the list, found {starts}")
    parts = {start: FILES[kinds.index(start) : end] for start, end in zip(starts, ends, strict=True)}
    return TABLE.sub(lambda found: _table(found[1], parts[found[1]]), page)


def _table(start: str, files: tuple[EverydayFile, ...]) -> str:
    return f"<!-- files from: {start} -->\n{HEAD}" + "".join(map(_line, files)) + "<!-- /files -->"


def _line(file: EverydayFile) -> str:
    read_as = "; ".join(f"{name}: {cells}" for name, cells in file.read_as.items())
    read_as = read_as or ("refused" if file.refused else "")
    cells = [file.kind, _code(file.cells), read_as, file.says, _code(file.options)]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", "⏎") for cell in cells) + " |\n"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
