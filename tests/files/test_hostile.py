"""Files that would harm: endless ones, formulas, codecs that are none, and names that a terminal obeys."""

import csv
import io
import os
import re
import signal
import subprocess
import sys
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posterior._text import escaped
from posterior.cli.app import run
from posterior.files import FileError, Reading, batches, read, write_batches

ENDLESS = {
    "NUL bytes": b"\0",
    "one line": b"a",
    "one header": b",",
    "one array": b"[",
}


def bomb(path, unit, size=1 << 28):
    """Write a small file that unpacks to 256 MiB."""
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(packer.compress(unit * (1 << 20)))
        file.write(packer.flush())


def temporary_folder(monkeypatch, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.mark.parametrize("reading", [read, batches])
def test_a_pipe_without_end_is_refused_at_its_first_bytes(monkeypatch, tmp_path, reading):
    folder = temporary_folder(monkeypatch, tmp_path)
    with pytest.raises(FileError, match="nothing but NUL bytes"):
        reading("/dev/zero")
    assert not list(folder.iterdir())


def test_a_file_of_nothing_but_holes_is_refused(tmp_path):
    with (tmp_path / "t.csv").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(FileError, match="nothing but NUL bytes"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("unit", ENDLESS.values(), ids=list(ENDLESS))
def test_what_unpacks_to_far_more_is_refused_before_it_is_unpacked(tmp_path, unit):
    bomb(tmp_path / "t.csv.gz", unit)
    before = pa.default_memory_pool().bytes_allocated()
    with pytest.raises(FileError) as caught:
        read(tmp_path / "t.csv.gz")
    assert len(str(caught.value).splitlines()) == 1
    assert pa.default_memory_pool().bytes_allocated() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv.gz"]


def test_a_pipe_that_is_kept_has_a_limit(monkeypatch, tmp_path):
    monkeypatch.setattr("posterior.files.kept.LONGEST_PIPE", 1 << 20)
    folder = temporary_folder(monkeypatch, tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feed = subprocess.Popen(["sh", "-c", f"yes 1,2 > {pipe}"], stderr=subprocess.DEVNULL)  # noqa: S603, S607
    try:
        with pytest.raises(FileError, match="is a pipe of more than"):
            read(pipe)
    finally:
        feed.kill()
        feed.wait()
    assert not list(folder.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing can be killed here")
def test_a_killed_reader_of_a_pipe_leaves_nothing(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    program = "import sys; from posterior.files import read; print(flush=True); read('-')"
    with subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    ) as work:
        work.stdout.readline()
        work.stdin.write(b"a,b\n" + b"1,2\n" * 2_000_000)
        work.stdin.flush()  # returns when most of it has been taken
        held = [os.readlink(link) for link in _descriptors(work.pid)]
        work.send_signal(signal.SIGKILL)
    assert not _descriptors(os.getpid()) or any(str(folder) in name for name in held)
    assert not list(folder.iterdir())


def _descriptors(process):
    folder = f"/proc/{process}/fd"
    return [f"{folder}/{name}" for name in os.listdir(folder)] if os.path.isdir(folder) else []


def test_a_header_may_be_longer_than_what_is_looked_at_first(monkeypatch, tmp_path):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", 64)
    names = [f"column number {i}" for i in range(200)]
    rows = "\n".join(",".join(str(i + j) for i in range(200)) for j in range(30))
    (tmp_path / "t.csv").write_text("\n\n" + ",".join(names) + "\n" + rows + "\n")
    table = read(tmp_path / "t.csv")
    assert table.column_names == names
    assert table["column number 7"].to_pylist() == list(range(7, 37))
    monkeypatch.setattr("posterior.files.text.LONGEST_LINE", 1000)
    with pytest.raises(FileError, match="has a first line of more than"):
        read(tmp_path / "t.csv")


def test_columns_of_few_rows_are_typed_as_those_of_many(monkeypatch, tmp_path):
    cells = {
        "i": ["1", "2"], "n": ["1", "2.5"], "t": ["x", "1"], "e": ["", "NA"], "b": ["true", "False"],
        "z": ["007", "1"], "big": ["1", str(1 << 70)], "gap": ["", "3"], "half": ["1.5", ""],
    }  # fmt: skip
    columns = {f"{name}{k}": values for k in range(40) for name, values in cells.items()}
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    together = read(tmp_path / "t.csv")
    monkeypatch.setattr("posterior.files.cells.GROUP_CELLS", 1)
    assert read(tmp_path / "t.csv").equals(together)
    kinds = {name: str(together.schema.field(f"{name}0").type) for name in cells}
    assert kinds == {
        "i": "int64", "n": "double", "t": "string", "e": "null", "b": "bool",
        "z": "string", "big": "double", "gap": "int64", "half": "double",
    }  # fmt: skip


CODECS = ["zlib_codec", "rot13", "hex", "base64", "bz2", "uu", "quopri", "idna", "punycode", "undefined"]


@pytest.mark.parametrize("encoding", [*CODECS, "nonsense", "a\0b", ""])
def test_a_codec_that_is_no_encoding_of_text_is_refused(encoding):
    with pytest.raises(ValueError, match="encoding") as caught:
        Reading(encoding=encoding)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "hz"])
def test_encodings_of_text_are_read(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("a,b\n1,x\n".encode(encoding))
    assert read(tmp_path / "t.csv", encoding=encoding).to_pydict() == {"a": [1], "b": ["x"]}


texts = st.lists(st.text("'=+-@\t\r\"\n,a1.ei ", min_size=1), min_size=1)
RUN = re.compile("[=+\\-@\t\r]")


def is_number(text):
    return re.fullmatch(
        r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?|[+-]?(inf|nan|infinity)", text, re.IGNORECASE
    )


@settings(deadline=None)
@given(texts, st.sampled_from(["csv", "tsv"]))
def test_no_text_is_written_as_a_formula_and_all_are_read_as_they_were(tmp_path_factory, cells, form):
    path = tmp_path_factory.mktemp("formulas") / f"t.{form}"
    write_batches(path, [pa.table({"=name": cells, "n": list(range(len(cells)))})])
    table = read(path, types={"=name": "text"}, trim=False)
    assert table["=name"].to_pylist() == cells
    content = path.read_bytes().decode()
    for row in csv.reader(io.StringIO(content, newline=""), delimiter="," if form == "csv" else "\t"):
        assert not RUN.match(row[0]) or is_number(row[0])


def test_formulas_are_written_as_they_are_where_that_is_asked_for(tmp_path):
    table = pa.table({"a": ["=1+2", "-1.5", "x"], "b": [-1.5, 2.0, -3.0]})
    for values in (table, table.set_column(0, "a", table["a"].dictionary_encode())):
        write_batches(tmp_path / "t.csv", [values])
        assert (tmp_path / "t.csv").read_text() == "a,b\n'=1+2,-1.5\n-1.5,2.0\nx,-3.0\n"
        write_batches(tmp_path / "t.csv", [values], raw=True)
        assert (tmp_path / "t.csv").read_text() == "a,b\n=1+2,-1.5\n-1.5,2.0\nx,-3.0\n"
    write_batches(tmp_path / "t.jsonl", [table])
    assert read(tmp_path / "t.jsonl")["a"].to_pylist() == ["=1+2", "-1.5", "x"]
    (tmp_path / "t.jsonl").write_text('{"a": "\'=1+2"}\n')
    assert read(tmp_path / "t.jsonl")["a"].to_pylist() == ["'=1+2"]


TURNED = "\u202eevil\u2066\u200b\u200f\ufeff\x9b\u2028"


def test_names_and_cells_that_turn_the_direction_of_writing_are_shown(tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7 + 3 * (i % 2)},{'ab'[i % 2]}{TURNED}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"x{TURNED},k\n{rows}")
    commands = (
        ["compare", "t.csv", "-t", "k", "--models", "lda", "--repeats", "1", "--report", "r.html"],
        ["fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m"],
        ["inspect", "m"],
        ["explain", "m", "t.csv"],
        ["compare", "t.csv", "-t", f"no{TURNED}"],
    )
    for command in commands:
        run(command)
    told = b"".join(capsysbinary.readouterr()).decode() + (tmp_path / "r.html").read_text()
    assert r"\u202eevil" in told
    assert not set(told) & set(TURNED) - set("evil")


def test_letters_that_other_scripts_need_stay():
    assert escaped("می\u200cخواهم 👩\u200d🔬") == "می\u200cخواهم 👩\u200d🔬"
    assert escaped("age\u200d") == r"age\u200d"
    assert escaped("\u200cage") == r"\u200cage"
    assert escaped("two\nlines\tof naïve “text”") == "two\nlines\tof naïve “text”"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_leaves_ends_a_command_as_it_ends_cat(tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "x" * 100 + "\n")
    program = (
        "import sys; from posterior.cli import app; from posterior import datasets, files;"
        "sys.exit(app.run(['data', 'penguins']))"
    )
    with subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as work:
        work.stdout.close()
        told = work.stderr.read()
    assert (work.returncode, told) == (141, b"")
