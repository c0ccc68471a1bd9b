"""Files of several tables, Excel, SQLite, DuckDB and JSON: which is read, and that none is changed."""

import datetime
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile

import duckdb
import pyarrow as pa
import pytest
import xlsxwriter

from posterior.cli.app import run
from posterior.files import FileError, batches, read
from posterior.notices import DataWarning

ROWS = [
    {"age": 31, "city": "Rome", "income": 1.5, "member": True},
    {"age": None, "city": "Oslo", "income": 2.0, "member": False},
    {"age": 42, "city": None, "income": -3.25, "member": True},
]
NAMES = list(ROWS[0])


def excel(path, sheets, hidden=()):
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, cell in enumerate(row):
                    sheet.write(i, j, cell)
            if name in hidden:
                sheet.hide()
    return path


def cells(rows=ROWS):
    return [NAMES, *([row[name] for name in NAMES] for row in rows)]


def sqlite(path, **tables):
    with sqlite3.connect(path) as file:
        for name, rows in tables.items():
            title = '"' + name.replace('"', '""') + '"'
            file.execute(f"CREATE TABLE {title} (age, city, income, member)")
            put = f"INSERT INTO {title} VALUES (?, ?, ?, ?)"  # noqa: S608
            file.executemany(put, [list(row.values()) for row in rows])
    file.close()
    return path


def duck(path, **tables):
    with duckdb.connect(str(path)) as file:
        for name, rows in tables.items():
            title = '"' + name.replace('"', '""') + '"'
            file.execute(f"CREATE TABLE {title} (age BIGINT, city VARCHAR, income DOUBLE, member BOOLEAN)")
            put = f"INSERT INTO {title} VALUES (?, ?, ?, ?)"  # noqa: S608
            file.executemany(put, [list(row.values()) for row in rows])
    return path


def of_json(path, **tables):
    path.write_text(json.dumps(tables, indent=1))
    return path


def of_excel(path, **tables):
    return excel(path, {name: cells(rows) for name, rows in tables.items()})


MAKERS = {
    "t.xlsx": (of_excel, "sheet"),
    "t.db": (sqlite, "table"),
    "t.duckdb": (duck, "table"),
    "t.json": (of_json, "list of rows"),
}


def written(rows, name):
    """Rows as a file gives them: SQLite knows no true and false."""
    return [{**row, "member": int(row["member"])} for row in rows] if name == "t.db" else rows


@pytest.mark.parametrize("name", MAKERS)
def test_the_only_table_is_read_without_being_named(tmp_path, name):
    path = MAKERS[name][0](tmp_path / name, people=ROWS)
    before = path.read_bytes()
    assert read(path).to_pylist() == written(ROWS, name)
    assert read(f"{path}#people").to_pylist() == written(ROWS, name)
    assert pa.concat_tables(batches(path, rows=2)).to_pylist() == written(ROWS, name)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.filterwarnings("ignore:.*the rows are those of:posterior.notices.DataWarning")
def test_of_several_tables_one_is_named(tmp_path, name):
    make, word = MAKERS[name]
    path = make(tmp_path / name, people=ROWS, places=ROWS[:1])
    assert read(f"{path}#places").to_pylist() == written(ROWS[:1], name)
    assert len(read(f"{path}#People")) == 3
    several = f"{path} holds 2 {word}s ('people', 'places'); name one: {path}#people"
    with pytest.raises(FileError, match=re.escape(several)):
        read(path)
    with pytest.raises(FileError, match=re.escape(f"has no {word} named 'pets'; it has 'people', 'places'")):
        read(f"{path}#pets")


@pytest.mark.parametrize("name", ["t.db", "t.duckdb"])
def test_names_are_never_run(tmp_path, name):
    evil = 'x"; DROP TABLE people; --'
    path = MAKERS[name][0](tmp_path / name, **{evil: ROWS, "people": ROWS})
    assert len(read(f"{path}#{evil}")) == 3
    assert len(read(f"{path}#people")) == 3


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_of_one_table_has_no_names(tmp_path, name):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(FileError, match="holds one table without a name; leave out #people"):
        read(f"{tmp_path / name}#people")


def test_a_file_may_have_a_hash_in_its_name(tmp_path):
    (tmp_path / "t#1.csv").write_text("a,b\n1,2\n")
    assert read(tmp_path / "t#1.csv").column_names == ["a", "b"]
    path = of_excel(tmp_path / "u#1.xlsx", **{"2024#2": ROWS, "other": ROWS})
    assert len(read(f"{path}#2024#2")) == 3


# -- Excel ----------------------------------------------------------------------------------------


def test_a_sheet_is_read_as_the_csv_that_it_would_be_saved_as(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        day, hour = book.add_format({"num_format": "dd/mm/yyyy"}), book.add_format({"num_format": "hh:mm"})
        sheet = book.add_worksheet()
        sheet.write_row(3, 2, ["whole", "part", "day", "at", "code", "gap", "wrong", "double"])
        sheet.write_row(4, 2, [1, 1.25, None, None, "007", "NA"])
        sheet.write_datetime(4, 4, datetime.datetime(2024, 12, 31), day)
        sheet.write_datetime(4, 5, datetime.time(13, 30), hour)
        sheet.write_formula(4, 8, "=1/0", None, "#DIV/0!")
        sheet.write_formula(4, 9, "=C5*2", None, 2)
        sheet.write_row(6, 2, [12345678901, 2, None, None, "010", " x "])  # after an empty row
    table = read(tmp_path / "t.xlsx")
    assert table.to_pylist() == [
        {
            "whole": 1, "part": 1.25, "day": "2024-12-31", "at": "13:30:00", "code": "007", "gap": None,
            "wrong": None, "double": 2,
        },
        {
            "whole": 12345678901, "part": 2.0, "day": None, "at": None, "code": "010", "gap": "x",
            "wrong": None, "double": None,
        },
    ]  # fmt: skip
    assert table.schema.field("whole").type == pa.int64()
    assert read(tmp_path / "t.xlsx", usual_missing=False, trim=False)["gap"].to_pylist() == ["NA", " x "]
    assert read(tmp_path / "t.xlsx", types={"whole": "text"})["whole"].to_pylist() == ["1", "12345678901"]


def test_hidden_and_empty_sheets_are_passed_over_unless_named(tmp_path):
    path = excel(tmp_path / "t.xlsx", {"data": cells(), "Sheet2": [], "lists": cells()}, hidden=["lists"])
    assert len(read(path)) == 3
    assert len(read(f"{path}#lists")) == 3
    with pytest.raises(FileError, match="has nothing in sheet 'Sheet2'"):
        read(f"{path}#Sheet2")
    with pytest.raises(FileError, match="holds no sheet with rows"):
        read(excel(tmp_path / "u.xlsx", {"a": [], "b": []}))


def test_a_workbook_may_come_packed_or_by_a_pipe(tmp_path):
    path = of_excel(tmp_path / "t.xlsx", people=ROWS, places=ROWS[:1])
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(path, "t.xlsx")
    assert len(read(f"{tmp_path / 't.zip'}#people")) == 3
    work = "from posterior.files import read; print(len(read('-#places')))"
    with path.open("rb") as file:
        found = subprocess.run([sys.executable, "-c", work], stdin=file, capture_output=True, check=True)  # noqa: S603
    assert found.stdout == b"1\n"


def test_header_and_names_work_as_in_text(tmp_path):
    path = excel(tmp_path / "t.xlsx", {"a": [[1, 2], [3, 4]]})
    assert read(path, header=False).to_pylist()[0] == {"column_1": 1, "column_2": 2}
    assert read(path, header=False, names=["x", "y"])["y"].to_pylist() == [2, 4]
    with pytest.raises(FileError, match="two columns named 'a'"):
        read(excel(tmp_path / "u.xlsx", {"a": [["a", "a"], [3, 4]]}))


def rewritten(path, change):
    """A workbook with one of its documents changed."""
    content = {}
    with zipfile.ZipFile(path) as archive:
        for part in archive.namelist():
            content[part] = archive.read(part)
    change(content)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in content.items():
            archive.writestr(part, text)
    return path


def test_a_workbook_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("posterior.files.workbooks.MOST_BYTES", 1 << 22)

    def change(content):
        sheet = content["xl/worksheets/sheet1.xml"]
        content["xl/worksheets/sheet1.xml"] = sheet.replace(b"<sheetData>", b"<sheetData>" + b" " * (1 << 23))

    path = rewritten(of_excel(tmp_path / "t.xlsx", people=ROWS), change)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(FileError, match="unpacks to more than 4 MiB; save the sheet as CSV"):
        read(path)


def test_a_workbook_that_lies_about_its_size_is_not_unpacked_further(tmp_path):
    path = rewritten(of_excel(tmp_path / "t.xlsx", people=ROWS), lambda content: None)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    told = size.to_bytes(4, "little")
    assert content.count(told) >= 2
    path.write_bytes(bytes(content).replace(told, (size // 2).to_bytes(4, "little")))
    with pytest.raises(FileError, match="is damaged or cut short"):
        read(path)


@pytest.mark.parametrize(
    "far",
    [b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', b"<row r='1048576'><c r='&#88;FD9'/></row>"],
)
def test_a_cell_at_the_end_of_the_world_is_refused(tmp_path, far):
    def change(content):
        sheet = content["xl/worksheets/sheet1.xml"]
        content["xl/worksheets/sheet1.xml"] = sheet.replace(b"</sheetData>", far + b"</sheetData>")

    path = rewritten(of_excel(tmp_path / "t.xlsx", people=ROWS), change)
    with pytest.raises(FileError, match="has a sheet of 1,048,576 rows and 16,384 columns; save the sheet"):
        read(path)


def test_one_text_in_all_cells_is_refused_where_it_is_long(tmp_path, monkeypatch):
    path = excel(tmp_path / "t.xlsx", {"a": [["text", "n"], *[["x" * 30_000, 1]] * 100]})
    assert path.stat().st_size < 1 << 16
    monkeypatch.setattr("posterior.files.workbooks.MOST_TEXT", 1 << 20)
    with pytest.raises(FileError, match="has more than 1 MiB of text in the cells of a sheet"):
        read(path)


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "no XML": lambda content: b"PK",
    "no encoding": lambda content: content.replace(b"UTF-8", b"UTF-0"),
    "other place": lambda content: content.replace(b'r="A1"', b'r="A1B"'),
    "endless entities": lambda content: content.replace(
        b"<worksheet",
        b"<!DOCTYPE x [<!ENTITY a '" + b"a" * 10_000 + b"'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 99) for i in range(8))
        + b"]><worksheet",
        1,
    ).replace(b"<sheetData>", b"<sheetData>&i;"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_workbook_is_refused_in_one_line(tmp_path, damage):
    def change(content):
        part = "xl/worksheets/sheet1.xml"
        content[part] = DAMAGE[damage](content[part])

    with pytest.raises(FileError, match="damaged") as caught:
        read(rewritten(of_excel(tmp_path / "t.xlsx", people=ROWS), change))
    assert len(str(caught.value).splitlines()) == 1


def test_an_archive_in_an_archive_is_no_workbook(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    with pytest.raises(FileError, match="is a ZIP archive in another, and no Excel workbook"):
        read(tmp_path / "t.zip")


# -- databases ------------------------------------------------------------------------------------


def test_cells_of_sqlite_have_types_of_their_own(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as file:
        file.execute("CREATE TABLE t (n INTEGER, mixed, code TEXT, short BLOB, long BLOB)")
        file.execute("INSERT INTO t VALUES (1, 2, '12', x'00ff', zeroblob(1000))")
        file.execute("INSERT INTO t VALUES (NULL, 2.5, '?', NULL, NULL)")
        file.execute("CREATE VIEW adults AS SELECT n AS age FROM t WHERE n > 0")
    file.close()
    assert read(f"{tmp_path / 't.db'}#t", missing="?").to_pylist() == [
        {"n": 1, "mixed": 2.0, "code": "12", "short": "00FF", "long": "(1000 bytes)"},
        {"n": None, "mixed": 2.5, "code": None, "short": None, "long": None},
    ]
    assert read(f"{tmp_path / 't.db'}#adults").to_pylist() == [{"age": 1}]


def test_a_column_of_sqlite_has_one_type_in_all_blocks(tmp_path):
    rows = [{"age": i, "city": "x" * 50, "income": 1, "member": True} for i in range(5000)]
    rows[4000]["income"] = "unknown"
    path = sqlite(tmp_path / "t.db", people=rows)
    parts = list(batches(path, rows=1000))
    assert [len(part) for part in parts] == [1000] * 5
    assert pa.concat_tables(parts)["age"].to_pylist() == list(range(5000))
    assert parts[0].schema.field("income").type == pa.string()
    assert parts[4]["income"][0].as_py() == "unknown"


def test_a_write_ahead_log_is_neither_made_nor_lost(tmp_path):
    path = sqlite(tmp_path / "t.db", people=ROWS)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    assert len(read(path)) == 3
    assert os.listdir(tmp_path) == ["t.db"]
    writer = sqlite3.connect(path)
    writer.execute("INSERT INTO people VALUES (1, 'Bonn', 2, 1)")
    writer.commit()
    assert len(read(path)) == 4
    (tmp_path / "copy").mkdir()
    for name in ("t.db", "t.db-wal"):
        (tmp_path / "copy" / name).write_bytes((tmp_path / name).read_bytes())
    with pytest.raises(FileError, match=r"has changes in t\.db-wal that are not in it yet"):
        read(tmp_path / "copy" / "t.db")
    assert sorted(os.listdir(tmp_path / "copy")) == ["t.db", "t.db-wal"]
    writer.close()


def test_a_view_of_duckdb_reads_no_other_file(tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    path = duck(tmp_path / "t.duckdb", people=ROWS)
    with duckdb.connect(str(path)) as file:
        file.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")  # noqa: S608
        file.execute(
            "CREATE SCHEMA other; CREATE TABLE other.t AS SELECT 1.50 AS price, DATE '2024-12-31' AS day"
        )
    with pytest.raises(FileError, match="cannot be read as a DuckDB database"):
        read(f"{path}#v")
    found = read(f"{path}#other.t")
    assert found.to_pylist() == [{"price": 1.5, "day": datetime.date(2024, 12, 31)}]
    assert found.schema.field("price").type == pa.float64()


def test_names_that_are_no_text_are_refused(tmp_path):
    path = sqlite(tmp_path / "t.db", people=ROWS)
    path.write_bytes(path.read_bytes().replace(b"income", b"inc\xffme"))
    with pytest.raises(FileError, match="cannot be read as an SQLite database"):
        read(path)


def test_a_database_in_a_pipe_is_refused(tmp_path):
    path = sqlite(tmp_path / "t.db", people=ROWS)
    work = "from posterior.files import read; read('-')"
    with path.open("rb") as file:
        found = subprocess.run([sys.executable, "-c", work], stdin=file, capture_output=True, check=False)  # noqa: S603
    assert b"standard input is a database in a pipe or a packed file; write it to a file" in found.stderr


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        (
            "t.xlsx",
            "python_calamine",
            "reading Excel files needs python-calamine: pip install 'posterior[excel]'",
        ),
        ("t.duckdb", "duckdb", "reading DuckDB files needs duckdb: pip install 'posterior[duckdb]'"),
    ],
)
def test_a_reader_that_is_not_installed_is_asked_for(tmp_path, monkeypatch, capsys, name, module, message):
    path = MAKERS[name][0](tmp_path / name, people=ROWS)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=re.escape(message)):
        read(path)
    assert run(["compare", str(path), "--target", "city"]) == 2
    assert message in capsys.readouterr().err
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert len(read(tmp_path / "t.csv")) == 1


# -- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
def test_what_stands_beside_the_rows_of_a_json_object_is_named(tmp_path, indent):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"count": 3, "rows": ROWS, "notes": ["a"]}, indent=indent))
    with pytest.warns(DataWarning, match="the rows are those of 'rows'; left out: 'count', 'notes'"):
        assert read(path).to_pylist() == ROWS


def test_one_object_on_one_line_is_a_row(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": [1, 2]}')
    with pytest.warns(DataWarning, match="lists and the like are read as their text: 'b'"):
        assert read(tmp_path / "t.jsonl").to_pylist() == [{"a": 1, "b": "[1, 2]"}]


# -- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.xlsx", "t.db", "t.duckdb"])
def test_commands_read_tables_by_name_and_do_not_write_over_them(tmp_path, capsys, name):
    rows = [
        {"age": 20 + i % 40, "city": "ab"[(i % 40) > 20], "income": i / 7, "member": True} for i in range(120)
    ]
    path = MAKERS[name][0](tmp_path / name, people=rows, others=ROWS)
    model = str(tmp_path / "m.posterior")
    assert run(["fit", f"{path}#people", "-t", "city", "--model", "naive-bayes", "-o", model]) == 0
    assert run(["predict", model, f"{path}#people", "-o", str(tmp_path / "p.csv")]) == 0
    assert len(read(tmp_path / "p.csv")) == 120
    before = path.read_bytes()
    assert run(["predict", model, f"{path}#people", "-o", str(path)]) == 2
    assert "is what is read, and would be lost" in capsys.readouterr().err
    assert path.read_bytes() == before
