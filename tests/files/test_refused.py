"""What is no table, or no table yet: one line that says what was found and what to do."""

import gzip
import io
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posterior.files import FileError, batches, read, write_batches


def archive(**members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "/"), text)
    return content.getvalue()


# The first bit of the flags, in both places where a member is told, says that it is encrypted.
LOCKED = archive(**{"a.csv": "a,b\n1,2\n"})
LOCKED = LOCKED[:6] + b"\1" + LOCKED[7:]
LOCKED = LOCKED.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")


def parquet_of(table):
    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()


NOBODY = pa.table({"a": pa.array([], pa.int64())})
GOOD_ROWS = "a,b\n" + "1,2\n" * 3

REFUSED = {
    "empty": ("t.csv", "", {}, "is empty"),
    "blank": ("t.csv", "\n \n", {}, "is empty"),
    "empty jsonl": ("t.jsonl", "", {}, "is empty"),
    "empty parquet": ("t.parquet", "", {}, "does not begin as such a file does: it is empty"),
    "header only": ("t.csv", "a,b\n", {}, "has columns ('a', 'b') but no rows"),
    "header without end": ("t.csv", "a,b", {}, "has columns ('a', 'b') but no rows"),
    "parquet without rows": ("t.parquet", parquet_of(NOBODY), {}, "but no rows"),
    "png": ("t.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {}, "looks like a PNG image, not a table"),
    "jpeg": ("t", b"\xff\xd8\xff\xe0\0\x10JFIF", {}, "looks like a JPEG image, not a table"),
    "pdf": ("t.pdf", b"%PDF-1.7\n%\xe2\xe3", {}, "looks like a PDF document, not a table"),
    "pickle": ("t.pkl", pickle.dumps({"a": [1]}), {}, "looks like a Python pickle, not a table; write"),
    "office": ("t.docx", archive(word__document="x"), {}, "looks like an Office file, not a table"),
    "binary excel": ("t.xlsb", archive(xl__workbook="x"), {}, "save the sheet as .xlsx or CSV and read that"),
    "old excel": ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", {}, "looks like an old Excel or Word file"),
    "numpy": ("t.npy", b"\x93NUMPY\1\0", {}, "looks like a NumPy array"),
    "numpy arrays": ("t.npz", archive(**{"a.npy": "x", "b.npy": "x"}), {}, "looks like NumPy arrays (.npz)"),
    "archive": ("t.zip", archive(**{"a.csv": "", "b.csv": ""}), {}, "an archive of 2 files (a.csv, b.csv)"),
    "empty archive": ("t.zip", archive(**{"a/": ""}), {}, "is an archive of 0 files"),
    "cut sqlite": ("t.db", b"SQLite format 3\0", {}, "cannot be read as an SQLite database: file is not a"),
    "cut duckdb": ("t.duckdb", b"12345678DUCK", {}, "cannot be read as a DuckDB database: "),
    "no sqlite": ("t.db", "a,b\n1,2\n", {}, "is named .db, but does not begin as such"),
    "no excel": ("t.xlsx", "a,b\n1,2\n", {}, "is named .xlsx, but does not begin as such a file does"),
    "packed sqlite": ("t.db.gz", gzip.compress(b"SQLite format 3\0"), {}, "write it to a file, unpacked"),
    "web page": ("t.csv", "<!DOCTYPE html>\n<html>", {}, "looks like a web page, not a table"),
    "model file": ("t.posterior", b'\x40\0\0\0\0\0\0\0{"__metadata__":{}}', {}, "looks like a model file"),
    "feather 1": ("t.feather", b"FEA1\0\0", {}, "looks like a Feather file of version 1"),
    "junk": ("t.csv", bytes(range(256)) * 4, {}, "looks like binary data (its first bytes are b'\\x00"),
    "junk in gzip": ("t.csv.gz", gzip.compress(bytes(range(256))), {}, "looks like binary data"),
    "nul": ("t.csv", b"a,b\n" + b"1,2\n" * 99 + b"3,\0\n", {}, "holds a NUL byte in line 101"),
    "latin-1": ("t.csv", "a,b\n1,x\n2,é\n".encode("latin-1"), {}, "0xE9 in line 3; if it is from Windows"),
    "half a character": ("t.csv", "a,b\n1,é".encode()[:-1], {}, "is not UTF-8: byte 0xC3 in line 2"),
    "utf-16 unmarked": ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), {}, 'pass encoding="utf-16-le"'),
    "utf-16 cut": ("t.csv", "a,b\n1,2\n".encode("utf-16")[:-1], {}, "is not UTF-16"),
    "wrong encoding": ("t.csv", b"a,b\n1,\x81\n", {"encoding": "cp1252"}, "CP1252: byte 0x81 in line 2"),
    "ragged": ("t.csv", "a,b\n1,2\n3,4,5\n", {}, 'has 3 fields in line 3, where the header has 2: "3,4,5"'),
    "short": ("t.csv", "a,b,c\n1\n", {}, 'has 1 field in line 2, where the header has 3: "1"'),
    "ragged later": ("t.csv", 'a,b\n"1\n1",2\n\n3,4,5\n', {}, "has 3 fields in line 5"),
    "ragged first": ("t.csv", "1,2\n3\n", {"header": False}, "in line 2, where the first row has 2"),
    "quote after a space": ("t.csv", 'a, b\n1, "x, y"\n', {}, "must follow the delimiter without a space"),
    "twice": ("t.csv", "a,b,a\n1,2,3\n", {}, "two columns named 'a' (columns 1 and 3)"),
    "twice in data": ("t.csv", "5,1,5\n1,2,3\n", {}, "pass header=False (--no-header)"),
    "twice in jsonl array": ("t.json", "[1, 2]", {}, "holds a number in item 1; every row must be an object"),
    "names too few": ("t.csv", "1,2\n", {"header": False, "names": ["a"]}, "2 columns, but names gives 1: a"),
    "open quote": ("t.csv", 'a,b\n1,"x\n2,y\n', {}, "has a quote in line 2 that does not end with its cell"),
    "quotes across rows": ("t.csv", 'a,b\n1,"x\n2,y" z\n', {}, "pass quote=None (--quote none)"),
    "json": ("t.jsonl", '{"a": 1}\n{"a": }\n', {}, "is not JSON lines (one object in each line): line 2"),
    "pretty json": ("t.json", '{\n "a": 1\n}\n', {}, "is one JSON object that holds no list of rows"),
    "first line": ("t.json", '{"a": }\n{"a": 1}\n', {}, "JSON lines (one object in each line): line 1"),
    "json number": ("t.jsonl", '{"a": 1}\n3\n', {}, "holds a number in line 2; every row must be an object"),
    "json columns": ("t.json", '{"a": [1, 2], "b": {"0": 1}}', {}, "is one JSON object of columns; write"),
    "deep json": ("t.jsonl", '{"a": ' + "[" * 10**5 + "]" * 10**5 + "}", {}, "is not JSON lines"),
    "cut array": ("t.json", '[{"a": 1}', {}, "is not JSON: Expecting"),
    "no parquet": ("t.parquet", "a,b\n1,2\n", {}, "but does not begin as such a file does"),
    "cut parquet": ("t.parquet", parquet_of(pa.table({"a": [1]}))[:-9], {}, "be read as a Parquet file"),
    "cut arrow": ("t.arrow", b"ARROW1\0\0\xff\xff", {}, "cannot be read as an Arrow file, it may be damaged"),
    "cut gzip": ("t.csv.gz", gzip.compress(GOOD_ROWS.encode())[:-9], {}, "is damaged or cut short"),
    "locked zip": ("t.zip", LOCKED, {}, "is damaged or cut short: File 'a.csv' is encrypted"),
    "bad zip": ("t.zip", b"PK\x03\x04" + b"x" * 99, {}, "is damaged or cut short"),
    "not a number": ("t.csv", "a,b\n1,2\nx,3\n", {"types": {"a": "number"}}, "\"x\" in row 2 of column 'a'"),
    "no such column": ("t.csv", "a,b\n1,2\n", {"types": {"c": "text"}}, "has no column 'c'; it has 'a', 'b'"),
    "declared wrong": ("t.csv", "a,b\n1,2\n", {"format": "parquet"}, "cannot be read as a Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_the_message_says_what_was_found(tmp_path, case):
    name, content, options, words = REFUSED[case]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError, match=re.escape(words)) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path} ")
    assert len(message.splitlines()) == 1
    assert isinstance(caught.value, ValueError)


def test_a_row_without_end_is_refused(tmp_path, monkeypatch):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", 1 << 20)
    (tmp_path / "t.csv").write_text("a,b\n1," + "x" * (3 << 20) + "\n")
    with pytest.raises(FileError, match="has a row of more than 1 MiB"):
        read(tmp_path / "t.csv")
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "' + "x" * (6 << 20) + '"}\n')
    with pytest.raises(FileError, match="has a line of more than 4 MiB"):
        read(tmp_path / "t.jsonl")


def test_a_long_text_is_no_reason_to_refuse(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1," + "x" * 10**6 + "\n")
    assert len(read(tmp_path / "t.csv")["b"][0].as_py()) == 10**6


def test_a_quote_that_never_closes_is_found_at_the_end_of_a_long_file(tmp_path, monkeypatch):
    for module in ("sources", "text", "decoding"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", 256)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n" * 200 + '2,"left\n3,open\n')
    with pytest.raises(FileError, match=r'has a quote before "left" that is never closed; .*quote=None'):
        read(tmp_path / "t.csv")


def test_names_that_are_nearly_right_are_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(GOOD_ROWS)
    says = [
        ("peple.csv", "peple.csv does not exist; did you mean 'people.csv'?"),
        (tmp_path / "people.cvs", f"; did you mean '{tmp_path / 'people.csv'}'?"),
        ("penguin", "; did you mean 'penguins'?"),
        ("zzz", "zzz does not exist; the bundled tables are penguins, pokemon, sms, voters"),
        ("zzz.csv", "zzz.csv does not exist"),
        ("there/people.csv", "does not exist, nor does the folder 'there'"),
        ("https://example.org/people.csv", "it looks like a web address: download it first"),
        (tmp_path, "is a folder; name a file in it, such as"),
        ("~/no-such-file-here.csv", "~/no-such-file-here.csv does not exist"),
    ]
    for path, words in says:
        with pytest.raises(FileError, match=re.escape(words)):
            read(path)
        with pytest.raises(FileError, match=re.escape(words)):
            batches(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_somebody_else_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(GOOD_ROWS)
    path.chmod(0)
    with pytest.raises(FileError, match="cannot be read: permission denied"):
        read(path)


def test_a_system_that_refuses_is_quoted(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(GOOD_ROWS)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"t\.csv cannot be read: permission denied"):
        read(path)


def test_the_keyboard_is_no_table(monkeypatch):
    class Keyboard:
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard())
    with pytest.raises(FileError, match="standard input is the keyboard; pipe a table in"):
        read("-")


def test_batches_say_at_once_what_is_wrong_with_a_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(FileError, match="has 1 field in line 3"):
        batches(path)
    with pytest.raises(FileError, match="has 1 field in line 3"):
        batches(path, types={"a": "number"})


def test_batches_of_a_file_without_rows_tell_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    (table,) = batches(path, types={"a": "number"})
    assert table.schema == pa.schema({"a": pa.float64(), "b": pa.string()})
    assert table.num_rows == 0


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_a_cell_that_has_not_the_type_of_training_is_named(tmp_path, form):
    path = tmp_path / f"t.{form}"
    write_batches(path, [pa.table({"age": ["1"] * 70_000 + ["abc"], "b": ["x"] * 70_001})])
    with pytest.raises(
        FileError, match=re.escape("has \"abc\" in row 70001 of column 'age', which is not a number")
    ):
        list(batches(path, types={"age": "number"}))


def test_a_key_that_comes_late_in_a_stream_is_not_lost(tmp_path, monkeypatch):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", 256)
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n' * 100 + '{"a": 1, "late": 2}\n')
    assert read(path).column_names == ["a", "late"]
    with pytest.raises(
        FileError, match="has 'late' only in later rows; write it in the first row too, as null"
    ):
        list(batches(path, types={"late": "number"}))
    assert {part.num_columns for part in batches(path, types={"a": "number"})} == {1}


def test_errors_leave_no_file_open_and_no_copy_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source, sink = os.pipe()
    os.write(sink, b"a,b\n1\n")
    os.close(sink)
    with io.TextIOWrapper(os.fdopen(source, "rb")) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(FileError, match="standard input has 1 field in line 2"):
            read("-")
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_the_message_says_how_to_get_it():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from posterior.files import read, writing\n"
        "try:\n    read('penguins.csv')\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 -- our own program
    assert done.stdout.strip() == "reading files needs pyarrow: pip install 'posterior[cli]'"
