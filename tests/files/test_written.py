"""Files that are written whole or not at all."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from posterior.files import FileError, read, write_batches, writing


def interrupted(path, error):
    with writing(path) as file:
        file.write(b"half")
        raise error


def test_a_file_gets_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with writing(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, GeneratorExit])
def test_an_exception_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(error):
        interrupted(path, error)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def interrupts(at, place):
    """Write a file and be interrupted before one instruction of our code; say if there were so many."""
    left = at

    def trace(frame, event, _):
        nonlocal left
        if not frame.f_code.co_filename.endswith(("files/writing.py", "files/left_over.py")):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and left >= 0:
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with writing(place) as file:
            file.write(b"after")
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


# What is not bound yet is closed by its deletion.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_an_interrupt_at_any_instruction_leaves_a_whole_file_and_nothing_else(tmp_path):
    place = tmp_path / "report.html"
    seen = []
    at = 0
    place.write_text("before")
    while interrupts(at, place):
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"], at
        seen.append(place.read_text())
        place.write_text("before")
        at += 1
    assert place.read_text() == "after"
    assert seen == sorted(seen, reverse=True)  # "before" up to the moment in which it is renamed
    assert {*seen} == {"before", "after"}


def test_rows_that_fail_halfway_leave_no_file(tmp_path):
    def tables():
        yield pa.table({"x": [1]})
        raise KeyboardInterrupt

    for form in ("csv", "csv.gz", "csv.zst", "jsonl", "parquet", "arrow"):
        with pytest.raises(KeyboardInterrupt):
            write_batches(tmp_path / f"t.{form}", tables())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_a_new_file_or_of_the_one_replaced(tmp_path):
    mask = os.umask(0o027)
    try:
        with writing(tmp_path / "new") as file:
            file.write(b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    with writing(tmp_path / "new") as file:
        file.write(b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_goes_on_pointing_at_the_file(tmp_path):
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "after"


@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_a_device_is_written_and_not_replaced():
    with writing("/dev/null") as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("path", ["-", None])
def test_a_dash_is_standard_output(capsysbinary, path):
    with writing(path) as file:
        file.write(b"hello")
    assert capsysbinary.readouterr().out == b"hello"
    write_batches(path, [pa.table({"a": [1]}), pa.table({"a": [2]})])
    assert capsysbinary.readouterr().out == b"a\n1\n2\n"


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl", "tsv"])
def test_every_format_goes_through_a_pipe(tmp_path, form):
    code = "import pyarrow as pa, sys; from posterior.files import write_batches\n"
    code += "write_batches('-', [pa.table({'a': [1]})], format=sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, form], capture_output=True, check=True)  # noqa: S603 -- our own program
    (tmp_path / f"t.{form}").write_bytes(done.stdout)
    assert read(tmp_path / f"t.{form}").to_pydict() == {"a": [1]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("there/t.csv", "cannot be written: there is no folder"),
        ("", "cannot be written: it is a folder; name a file in it"),
        ("t.xlsx", "cannot be written: .xlsx is none of .csv, .tsv, .jsonl, .parquet, .arrow"),
        ("t.csv.zip", "cannot be written: .zip is not supported; choose .gz, .bz2, .xz or .zst"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_named(tmp_path, name, words):
    with pytest.raises(FileError, match=words.replace(".", r"\.")) as caught:
        write_batches(tmp_path / name, [pa.table({"a": [1]})])
    assert str(caught.value).startswith(str(tmp_path / name))
    assert len(str(caught.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    with pytest.raises(FileError, match="cannot be written: no space left on device"):
        interrupted(tmp_path / "t", OSError(28, "No space left on device"))
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_gone_is_no_mistake(tmp_path):
    with pytest.raises(BrokenPipeError):
        interrupted(tmp_path / "t", BrokenPipeError)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="unknown format 'xml'; choose one of csv, tsv"):
        write_batches(tmp_path / "t.csv", [], format="xml")


def test_numbers_have_all_their_digits(tmp_path):
    values = [0.1, 1 / 3, 1e22, 5e-324, -0.0, 2.0, float(np.nextafter(1, 2)), 123456789012345680.0]
    for form in ("csv", "jsonl"):
        write_batches(tmp_path / f"t.{form}", [pa.table({"x": values, "y": values})])
        found = read(tmp_path / f"t.{form}")
        assert found["x"].to_pylist() == values
    assert (tmp_path / "t.csv").read_text().splitlines()[6] == "2.0,2.0"


def test_cells_are_quoted_only_where_they_must_be(tmp_path):
    cells = [
        "plain",
        "two words",
        "a,b",
        'say "hi"',
        "two\nlines",
        " padded ",
        "NA",
        "",
        None,
        "=1+1",
        "-5",
        "ü",
    ]
    write_batches(tmp_path / "t.csv", [pa.table({"x": cells, "n": range(len(cells))})])
    assert (tmp_path / "t.csv").read_bytes().decode() == (
        'x,n\nplain,0\ntwo words,1\n"a,b",2\n"say ""hi""",3\n"two\nlines",4\n" padded ",5\n'
        '"NA",6\n"",7\n,8\n\'=1+1,9\n-5,10\nü,11\n'
    )


def test_a_gap_in_the_only_column_is_a_row(tmp_path):
    write_batches(tmp_path / "t.csv", [pa.table({"x": [1, None, 3]})])
    assert read(tmp_path / "t.csv")["x"].to_pylist() == [1, None, 3]


def test_json_has_no_word_for_what_is_no_number(tmp_path):
    table = pa.table({"x": [float("nan"), float("inf"), 1.0], "y": [[1.0, float("nan")], None, []]})
    write_batches(tmp_path / "t.jsonl", [table])
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert rows == [{"x": None, "y": [1.0, None]}, {"x": None, "y": None}, {"x": 1.0, "y": []}]


def test_nan_is_a_gap_in_delimited_text(tmp_path):
    write_batches(tmp_path / "t.csv", [pa.table({"x": [float("nan"), 1.5], "y": [1, 2]})])
    assert (tmp_path / "t.csv").read_text() == "x,y\n,1\n1.5,2\n"


def test_columns_of_other_types_are_written_as_texts(tmp_path):
    table = pa.table(
        {
            "day": pa.array([0, None], pa.date32()),
            "colour": pa.array(["red", None]).dictionary_encode(),
            "set": [["a", "b"], None],
            "flag": [True, None],
        }
    )
    write_batches(tmp_path / "t.csv", [table])
    assert (
        tmp_path / "t.csv"
    ).read_text() == 'day,colour,set,flag\n1970-01-01,red,"[""a"", ""b""]",true\n,,,\n'


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for packing in ("", ".gz", ".bz2", ".xz", ".zst"):
        for name in ("one", "two"):
            write_batches(tmp_path / f"{name}.csv{packing}", [pa.table({"x": [1, 2]})])
        one, two = (tmp_path / f"{name}.csv{packing}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_no_tables_are_an_empty_file(tmp_path):
    write_batches(tmp_path / "t.csv", [])
    with pytest.raises(FileError, match="is empty"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["a" * 255, "😀" * 63], ids=["letters", "pictures"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, name):
    with writing(tmp_path / name) as file:
        file.write(b"all of it")
    assert (tmp_path / name).read_bytes() == b"all of it"
    assert [path.name for path in tmp_path.iterdir()] == [name]
