"""Tables from files: formats, packings, types, gaps, batches, pipes."""

import gzip
import json
import zipfile
from contextlib import nullcontext
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from places import DATA
from posterior import datasets
from posterior.files import FileError, Reading, batches, default_target, is_bundled, read, write_batches
from posterior.notices import DataWarning

FORMATS = ("csv", "tsv", "txt", "jsonl", "ndjson", "json", "parquet", "arrow", "feather", "ipc")
PACKINGS = ("", ".gz", ".bz2", ".xz", ".zst", ".lz4")

PEOPLE = pa.table(
    {
        "name": ["Ann", 'Bob "B"', "Çağla,\nthird", None, "NA", "日本", " padded"],
        "age": [31, 42, None, 7, -1, 0, 2**53],
        "height": [1.5, 2.0, 0.1, None, 1e22, -1e-7, 5e-324],
        "member": [True, False, None, True, True, False, False],
        "zip": ["00123", "10001", None, "00000", "7", "8", "9"],
    }
)


def needs(name):
    path = DATA / name
    return pytest.param(path, marks=pytest.mark.skipif(not path.exists(), reason=f"{name} is not here"))


@pytest.fixture
def file(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def shrink_blocks(monkeypatch, size):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", size)


def types(table):
    return {field.name: str(field.type) for field in table.schema}


# Formats and packings


@pytest.mark.parametrize(("form", "packing"), list(product(FORMATS, PACKINGS)))
def test_what_is_written_is_read(tmp_path, form, packing):
    path = tmp_path / f"people.{form}{packing}"
    write_batches(path, [PEOPLE.slice(0, 3), PEOPLE.slice(3)])
    assert read(path, trim=False).equals(PEOPLE)


@pytest.mark.parametrize(("form", "packing"), list(product(FORMATS, ("", ".gz"))))
def test_what_is_in_a_file_counts_and_not_its_name(tmp_path, form, packing):
    plain = tmp_path / f"people.{form}{packing}"
    write_batches(plain, [PEOPLE])
    unnamed = tmp_path / "people"
    unnamed.write_bytes(plain.read_bytes())
    assert read(unnamed, trim=False).equals(PEOPLE)
    if form in {"parquet", "arrow"}:
        misnamed = plain.rename(tmp_path / "people.csv")
        assert read(misnamed).equals(PEOPLE)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("rows", [1, 2, 7, 100])
def test_batches_together_are_the_table(tmp_path, form, rows):
    path = tmp_path / f"people.{form}"
    write_batches(path, [PEOPLE])
    parts = list(batches(path, rows=rows))
    assert pa.concat_tables(parts).equals(read(path))
    assert [part.num_rows for part in parts[:-1]] == [rows] * (len(parts) - 1)
    assert all(part.schema == parts[0].schema for part in parts)


def test_an_archive_of_one_file_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/a.csv", "x,y\n1,a\n")
        archive.writestr("__MACOSX/._a.csv", b"\0")
    assert read(tmp_path / "a.zip").to_pylist() == [{"x": 1, "y": "a"}]


def test_gzip_members_one_after_the_other_are_one_file(file):
    path = file(gzip.compress(b"x\n1\n") + gzip.compress(b"2\n"), "x.csv.gz")
    assert read(path)["x"].to_pylist() == [1, 2]


def test_arrow_streams_and_parquet_row_groups_are_read(tmp_path):
    with pyarrow.ipc.new_stream(tmp_path / "s.arrow", PEOPLE.schema) as writer:
        writer.write_table(PEOPLE, max_chunksize=2)
    assert read(tmp_path / "s.arrow").equals(PEOPLE)
    pq.write_table(PEOPLE, tmp_path / "p.parquet", row_group_size=2)
    assert read(tmp_path / "p.parquet").equals(PEOPLE)
    pyarrow.feather.write_feather(PEOPLE, tmp_path / "f.feather", compression="lz4")
    assert read(tmp_path / "f.feather").equals(PEOPLE)


def test_columns_with_types_keep_them(tmp_path):
    table = pa.table(
        {
            "day": pa.array([1, 2], pa.date32()),
            "colour": pa.array(["red", "blue"]).dictionary_encode(),
            "small": pa.array([1, 2], pa.int8()),
            "words": pa.array(["a", "b"], pa.large_string()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert types(found)["day"] == "date32[day]"
    assert types(found)["small"] == "int8"
    assert types(found)["words"] == "string"
    assert found["colour"].to_pylist() == ["red", "blue"]


def test_dictionaries_that_differ_between_batches_are_read(tmp_path):
    parts = [pa.table({"c": pa.array([word]).dictionary_encode()}) for word in ("red", "blue")]
    with pyarrow.ipc.new_stream(tmp_path / "c.arrow", parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    assert read(tmp_path / "c.arrow")["c"].to_pylist() == ["red", "blue"]


# Types


@pytest.mark.parametrize(
    ("cells", "arrow_type", "values"),
    [
        (["1", "-2", ""], "int64", [1, -2, None]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["1e5", "+3", ".5", "5."], "double", [1e5, 3.0, 0.5, 5.0]),
        (["inf", "-Infinity"], "double", [np.inf, -np.inf]),
        (["99999999999999999999", "1"], "double", [1e20, 1.0]),
        (["true", "FALSE", "NA"], "bool", [True, False, None]),
        (["true", "1"], "string", ["true", "1"]),
        (["1", "x"], "string", ["1", "x"]),
        (["00123", "10001"], "string", ["00123", "10001"]),
        (["-007", "1.50"], "string", ["-007", "1.50"]),
        (["0", "0.5", "-0.25"], "double", [0.0, 0.5, -0.25]),
        (["0x1F", "1"], "string", ["0x1F", "1"]),
        (["1_000", "2"], "string", ["1_000", "2"]),
        (["2024-01-31", "2024-02-01"], "string", ["2024-01-31", "2024-02-01"]),
        (["12:30", "2024-02-01T00:00:00"], "string", ["12:30", "2024-02-01T00:00:00"]),
        (["", "NA"], "null", [None, None]),
    ],
)
def test_a_column_of_text_gets_the_narrowest_type_for_all_its_cells(file, cells, arrow_type, values):
    found = read(file("x,other\n" + "".join(f"{cell},o\n" for cell in cells)))
    assert str(found["x"].type) == arrow_type
    assert found["x"].to_pylist() == values


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("late", "arrow_type", "first"), [("1.5", "double", 1.0), ('"x"', "string", "1"), ("null", "int64", 1)]
)
def test_a_cell_far_down_the_file_has_its_say(file, monkeypatch, form, late, arrow_type, first):
    shrink_blocks(monkeypatch, 256)
    cells = ["1"] * 1000 + [late]
    if form == "csv":
        path = file("x,y\n" + "".join(f"{cell},b\n" for cell in cells))
    else:
        path = file("".join(f'{{"x": {cell}, "y": "b"}}\n' for cell in cells), "t.jsonl")
    told = late == '"x"' and form == "jsonl"
    with pytest.warns(DataWarning, match="numbers as well as texts in 'x'") if told else nullcontext():
        table = read(path)
    assert str(table["x"].type) == arrow_type
    assert table["x"][0].as_py() == first
    parts = list(batches(path, rows=10))
    assert pa.concat_tables(parts).equals(table)
    assert {str(part["x"].type) for part in parts} == {arrow_type}


def test_a_column_of_its_own_type_holds_numbers_or_is_as_it_is_written(file, monkeypatch):
    shrink_blocks(monkeypatch, 64)
    lines = [f'{{"x": {cell}, "y": "1,5"}}\n' for cell in ("null", "null", 1.234, 2, "null") * 20]
    own = {"x": "own", "y": "own"}
    whole = pa.concat_tables(batches(file("".join(lines), "t.jsonl"), types=own, rows=7))
    assert [str(kind) for kind in whole.schema.types] == ["double", "string"]
    assert whole["x"].to_pylist() == [None, None, 1.234, 2.0, None] * 20
    assert next(batches(file("x,y\n1.234,007\n"), types=own)).to_pylist() == [{"x": "1.234", "y": "007"}]
    with pytest.raises(FileError, match="has numbers as well as texts in column 'x'; write all of them"):
        list(batches(file("".join([*lines, '{"x": "1,5"}\n']), "t.jsonl"), types=own))


def test_what_turns_out_to_be_a_text_is_kept_as_it_was_written(file, monkeypatch):
    shrink_blocks(monkeypatch, 64)
    cells = [*(f"{i}.50" for i in range(100)), "none"]
    assert read(file("x,y\n" + "".join(f"{cell},1\n" for cell in cells)))["x"].to_pylist() == cells


def test_types_that_are_given_hold(file):
    path = file("code,month,id\n1,01,007\n2,02,008\n")
    assert types(read(path)) == {"code": "int64", "month": "string", "id": "string"}
    assert types(read(path, types={"code": "text", "month": "number"})) == {
        "code": "string",
        "month": "double",
        "id": "string",
    }
    (part,) = batches(path, types={"code": "number"})
    assert part.to_pylist() == [
        {"code": 1.0, "month": "01", "id": "007"},
        {"code": 2.0, "month": "02", "id": "008"},
    ]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_given_types_hold_for_columns_that_have_others(tmp_path, form):
    path = tmp_path / f"t.{form}"
    write_batches(path, [pa.table({"a": [1, 2], "b": ["1.5", None], "c": [1, 2]})])
    found = read(path, types={"a": "text", "b": "number"})
    assert found.to_pydict() == {"a": ["1", "2"], "b": [1.5, None], "c": [1, 2]}


# Gaps


def test_the_usual_gaps_are_gaps_in_numbers_and_in_texts(file):
    words = ["", "NA", "NaN", "nan", "null", "NULL", "N/A"]
    path = file("x,y\n1,a\n" + "".join(f"{word},{word}\n" for word in words))
    found = read(path)
    assert types(found) == {"x": "int64", "y": "string"}
    assert found["x"].to_pylist() == [1] + [None] * len(words)
    assert found["y"].to_pylist() == ["a"] + [None] * len(words)


def test_quoted_na_is_namibia_and_quoted_nothing_is_a_gap(file):
    assert read(file('x,y\n"NA",""\nNA,b\n')).to_pylist() == [{"x": "NA", "y": None}, {"x": None, "y": "b"}]


def test_words_that_the_user_names_are_gaps_quoted_or_not(file):
    path = file('x,y\n?,"?"\n1,b\n -999,-\n')
    found = read(path, missing=("?", "-999", "-"))
    assert found.to_pydict() == {"x": [None, 1, None], "y": [None, "b", None]}
    assert types(found)["x"] == "int64"


def test_only_the_named_words_are_gaps_where_the_usual_ones_are_not(file):
    path = file("country,y\nNA,1\nDE,\n,3\n")
    assert read(path, missing="", usual_missing=False)["country"].to_pylist() == ["NA", "DE", None]
    assert read(path, usual_missing=False)["country"].to_pylist() == ["NA", "DE", ""]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow"])
def test_formats_that_can_write_a_gap_have_no_usual_words_but_heed_named_ones(tmp_path, form):
    path = tmp_path / f"t.{form}"
    write_batches(path, [pa.table({"x": ["NA", "?", "", None]})])
    assert read(path)["x"].to_pylist() == ["NA", "?", "", None]
    assert read(path, missing="?")["x"].to_pylist() == ["NA", None, "", None]


# Delimited text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_line_ends_are_found_out(file, end, last, delimiter):
    rows = [["a", "b", "c"], ["1", "x y", "2.5"], ["2", "u", ""]]
    text = end.join(delimiter.join(row) for row in rows) + (end if last else "")
    expected = [{"a": 1, "b": "x y", "c": 2.5}, {"a": 2, "b": "u", "c": None}]
    assert read(file(text, "t.txt")).to_pylist() == expected
    assert read(file(text, "t.csv")).to_pylist() == expected


def test_blank_lines_are_no_rows(file):
    assert read(file("\n\na,b\n\n1,2\n\n\n3,4\n\n")).to_pylist() == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_spaces_around_cells_are_dropped_unless_wanted(file):
    path = file("age, class\n39, State-gov\n50 , ?\n")
    assert read(path, missing="?").to_pydict() == {"age": [39, 50], "class": ["State-gov", None]}
    assert read(path, trim=False)["class"].to_pylist() == [" State-gov", " ?"]


def test_a_quote_after_a_space_is_a_quote_if_the_cell_has_no_delimiter(file):
    path = file('a, "b c"\n1, "x ""y"""\n"NA", "NA"\n2, z "q"\n')
    assert read(path).to_pydict() == {"a": ["1", "NA", "2"], "b c": ['x "y"', "NA", 'z "q"']}


def test_commas_that_mean_points_are_read_where_the_user_says_so(file):
    path = file("a;b\n1,5;x\n-2;y\n")
    assert read(path, decimal=",")["a"].to_pylist() == [1.5, -2.0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"])
def test_encodings_are_read(file, encoding):
    path = file("naïve;b\né;1\nü;2\n".encode(encoding))
    marked = encoding in {"utf-8", "utf-8-sig", "utf-16"}
    found = read(path) if marked else read(path, encoding=encoding)
    assert found.to_pydict() == {"naïve": ["é", "ü"], "b": [1, 2]}


def test_a_character_cut_by_a_block_is_whole(file, monkeypatch):
    shrink_blocks(monkeypatch, 61)
    words = ["日本語" * k for k in range(1, 6)] * 20
    assert read(file("x,y\n" + "".join(f"{word},1\n" for word in words)))["x"].to_pylist() == words


def test_a_header_may_be_missing_replaced_or_incomplete(file):
    path = file("1,a")
    assert read(path, header=False).to_pylist() == [{"column_1": 1, "column_2": "a"}]
    assert read(path, header=False, names=("n", "s")).to_pylist() == [{"n": 1, "s": "a"}]
    path = file(',x,\n0,5,"p, q"\n')
    assert read(path).to_pylist() == [{"column_1": 0, "x": 5, "column_3": "p, q"}]
    assert read(path, names=["a", "b", "c"]).column_names == ["a", "b", "c"]


def test_quotes_can_be_ordinary_characters(file):
    path = file('ham\tsay "hi\nspam\t"win" now\nham\tbye "\n', "sms.tsv")
    found = read(path, quote=None, header=False, names=("label", "text"))
    assert found["text"].to_pylist() == ['say "hi', '"win" now', 'bye "']


def test_quotes_inside_a_cell_without_quotes_are_part_of_it(file):
    assert read(file('a,b\n5" pipe,"x" y\n'))["a"].to_pylist() == ['5" pipe']


@pytest.mark.parametrize("row", ["x", "x,1", '"x\ny",1'])
def test_one_row_is_a_table(file, row):
    assert read(file("a,b\n" + row + ",2\n" if row == "x" else "a,b\n" + row)).num_rows == 1


def test_one_column_is_a_table(file):
    assert read(file("text\nhello\nworld; and you\n")).to_pydict() == {"text": ["hello", "world; and you"]}
    assert read(file('x\n1\n""\n3\n'))["x"].to_pylist() == [1, None, 3]


# JSON


def test_objects_may_lack_keys_and_mix_types(file):
    text = '{"a": 1, "b": "x"}\n\n{"a": 1.5, "c": [1, {"d": 2}]}\n{"b": true, "a": null}'
    with pytest.warns(DataWarning, match="t.jsonl: lists and the like are read as their text: 'c'"):
        found = read(file(text, "t.jsonl"))
    assert types(found) == {"a": "double", "b": "string", "c": "string"}
    assert found.to_pydict() == {
        "a": [1.0, 1.5, None],
        "b": ["x", None, "true"],
        "c": [None, '[1, {"d": 2}]', None],
    }


def test_an_array_of_objects_is_a_table(file):
    path = file('[{"a": 1},\n {"a": 2, "b": false}]', "t.json")
    assert read(path).to_pydict() == {"a": [1, 2], "b": [None, False]}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_integers_of_any_size_are_numbers_unless_all_are_too_long(file, form):
    columns = {"a": [2**63 - 1, 1], "b": [2**63, 1], "c": [2**63, 10**21]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if form == "jsonl":
        path = file("".join(f"{json.dumps(row)}\n" for row in rows), "t.jsonl")
    else:
        path = file("\n".join(["a,b,c", *(",".join(map(str, row.values())) for row in rows)]))
    found = read(path)
    assert types(found) == {"a": "int64", "b": "double", "c": "string"}
    assert found["c"].to_pylist() == [str(2**63), str(10**21)]


def test_objects_inside_objects_are_columns(file):
    text = '{"id": 1, "place": {"city": "Rome", "at": {"x": 1.5}}}\n{"id": 2, "place": {"city": "Oslo"}}\n'
    told = "objects inside rows are columns of their own: 'place.city', 'place.at.x'"
    with pytest.warns(DataWarning, match=told):
        found = read(file(text, "t.jsonl"))
    assert found.to_pylist() == [
        {"id": 1, "place.city": "Rome", "place.at.x": 1.5},
        {"id": 2, "place.city": "Oslo", "place.at.x": None},
    ]


# Real files


@pytest.mark.parametrize("path", [needs("adult_train.csv")])
def test_the_census_is_read(path):
    found = read(path, missing="?")
    assert found.num_rows == 32561
    assert [name for name, kind in types(found).items() if kind == "int64"] == [
        "age",
        "fnlwgt",
        "education-num",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
    ]
    assert {name: found[name].null_count for name in found.column_names if found[name].null_count} == {
        "workclass": 1836,
        "occupation": 1843,
        "native-country": 583,
    }
    assert pa.concat_tables(batches(path, missing="?", rows=5000)).equals(found)


@pytest.mark.parametrize("path", [needs("sms_spam.tsv")])
def test_messages_full_of_quotes_are_read(path):
    with pytest.raises(FileError, match=r"quote in line \d+ .* quote=None"):
        read(path)
    found = read(path, quote=None, header=False, names=("label", "text"))
    assert found.num_rows == 5574
    assert set(found["label"].to_pylist()) == {"ham", "spam"}


@pytest.mark.parametrize("path", [needs("house_votes_84.csv")])
def test_votes_that_were_not_given_are_gaps(path):
    found = read(path, missing="?")
    cells = pa.concat_arrays([chunk for column in found.columns for chunk in column.chunks])
    assert found.num_rows == 435
    assert cells.null_count == path.read_text().count("?")
    assert set(cells.drop_null().to_pylist()) == {"y", "n", "democrat", "republican"}


# Bundled tables


def test_a_bundled_name_gives_its_table_unless_a_file_is_in_the_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read("penguins").equals(datasets.load("penguins", "pyarrow").frame)
    assert default_target("penguins") == "species"
    assert [part.num_rows for part in batches("voters", rows=150)] == [150, 150, 100]
    Path("penguins").write_text("x\n1\n")
    assert not is_bundled("penguins")
    assert read("penguins").to_pydict() == {"x": [1]}
    assert default_target("penguins") is None


# Options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"format": "docx"},
            "unknown format 'docx'; choose one of csv, tsv, jsonl, parquet, arrow, excel, sqlite, duckdb",
        ),
        ({"encoding": "klingon"}, "unknown encoding 'klingon'"),
        ({"delimiter": "::"}, "delimiter must be one plain character, not '::'"),
        ({"quote": "\n"}, "quote must be one plain character"),
        ({"quote": ",", "delimiter": ","}, "cannot both be ','"),
        ({"decimal": "·"}, "decimal must be"),
        ({"names": ["a", "a"]}, "names holds 'a' twice"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        Reading(**options)


def test_names_in_one_string_are_refused():
    with pytest.raises(TypeError, match="names must be a list"):
        Reading(names="abc")


def test_words_for_characters_are_understood():
    assert Reading(delimiter="tab", quote="none").delimiter == "\t"
    assert Reading(quote="").quote is None
    assert Reading(missing="?").missing == ("?",)


def test_a_format_can_be_declared(file):
    path = file("a\tb,c\n1\t2\n", "table.dat")
    assert read(path, format="tsv").column_names == ["a", "b,c"]
    assert read(file('{"a": 1}\n', "table.csv"), format="jsonl").to_pydict() == {"a": [1]}


def test_types_of_unknown_names_are_refused(file):
    with pytest.raises(ValueError, match="'date' of column 'a' is unknown; choose one of boolean, integer"):
        read(file("a\n1\n"), types={"a": "date"})
    with pytest.raises(ValueError, match="rows must be at least 1"):
        batches(file("a\n1\n"), rows=0)
