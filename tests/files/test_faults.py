"""What goes wrong around files: full disks, folders of others, killed processes, input that changes."""

import os
import pwd
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from posterior.files import FileError, batches, read, tables, write_batches, writing
from posterior.files.left_over import remove_left_over

LARGE = pa.table({"x": np.random.default_rng(0).normal(size=200_000)})
ROOT = os.geteuid() == 0


@pytest.fixture
def small_disk(tmp_path):
    """A disk of one mebibyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        pytest.skip(f"no small disk can be had here: {error}")
    if done.returncode:
        pytest.skip(f"no small disk can be had here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.jsonl"])
def test_a_full_disk_is_told_in_one_line_and_leaves_what_was_there(small_disk, name):
    write_batches(small_disk / name, [LARGE[:10]])
    before = (small_disk / name).read_bytes()
    with pytest.raises(FileError, match="cannot be written: no space left on device") as caught:
        write_batches(small_disk / name, [LARGE])
    assert len(str(caught.value).splitlines()) == 1
    assert [path.name for path in small_disk.iterdir()] == [name]
    assert (small_disk / name).read_bytes() == before


def test_a_pipe_that_the_temporary_folder_cannot_hold_is_told(small_disk, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    feeding = ["sh", "-c", "echo a,b; yes 1,2 | head -c 3000000"]
    words = r"cannot be kept in .*: no space left on device; write it to a file"
    with subprocess.Popen(feeding, stdout=subprocess.PIPE) as feed:  # noqa: S603
        with pytest.raises(FileError, match=words):
            read(f"/dev/fd/{feed.stdout.fileno()}")
        feed.stdout.close()
    assert not list(small_disk.iterdir())


def test_a_file_that_may_not_be_so_large_is_told(tmp_path):
    program = (
        "import resource, sys; from posterior.files import write_batches; import numpy as np, pyarrow as pa;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY));"
        "write_batches(sys.argv[1], [pa.table({'x': np.random.normal(size=200_000)})])"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "t.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert "cannot be written: file too large" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def as_nobody(work):
    """Return what a function says when it is called by a user who owns nothing."""
    source, sink = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads; the child runs alone
        child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setuid(pwd.getpwnam("nobody").pw_uid)
            told = work()
        except BaseException as error:  # told to the parent
            told = f"{type(error).__name__}: {error}"
        os.write(sink, str(told).encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as told:
        words = told.read()
    os.waitpid(child, 0)
    return words


@pytest.fixture
def folder_of_root():
    """A folder that everyone may read, and only root may write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(not ROOT, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_is_refused(folder_of_root):
    place = folder_of_root / "t.csv"
    place.write_text("a\n1\n")
    told = as_nobody(lambda: write_batches(place, [LARGE[:10]]))
    assert told == f"FileError: {place} cannot be written: permission denied"
    assert place.read_text() == "a\n1\n"
    assert [path.name for path in folder_of_root.iterdir()] == ["t.csv"]


@pytest.mark.skipif(not ROOT, reason="only root can become somebody else")
def test_a_file_of_somebody_else_is_refused(folder_of_root):
    place = folder_of_root / "t.csv"
    place.write_text("a\n1\n")
    assert read(place).num_rows == 1  # which imports what nobody may not be able to
    assert as_nobody(lambda: read(place).num_rows) == "1"
    place.chmod(0o600)
    assert as_nobody(lambda: read(place)) == f"FileError: {place} cannot be read: permission denied"


WRITER = """
import sys, time
from posterior.files import writing
with writing(sys.argv[1]) as file:
    file.write(b"half of it")
    file.flush()
    print(flush=True)
    time.sleep(600)
"""


def half_written(place):
    """Start a process that is writing a file."""
    work = subprocess.Popen([sys.executable, "-c", WRITER, str(place)], stdout=subprocess.PIPE)  # noqa: S603
    work.stdout.readline()
    return work


def make_old(folder):
    for path in folder.glob(".*.part"):
        os.utime(path, (0, 0))


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else_is(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("before")
    others = [".t.csv.part", ".t.csv.posterior-mine.part", ".u.csv.posterior-0123456789abcdef.part", "t.part"]
    for name in others:
        (tmp_path / name).write_text("of the user")
        os.utime(tmp_path / name, (0, 0))
    earlier = tmp_path / ".t.csv.posterior-k3_x9q_a.part"  # by a name of an earlier version
    earlier.write_text("half")
    with half_written(place) as killed, half_written(place) as running:
        killed.kill()
        killed.wait()
        parts = {path.name for path in tmp_path.iterdir()} - {*others, "t.csv", earlier.name}
        assert len(parts) == 2
        assert all(re.fullmatch(r"\.t\.csv\.posterior-[0-9a-f]{16}\.part", name) for name in parts)
        assert place.read_text() == "before"
        remove_left_over(place)  # both are young
        assert parts | {earlier.name} <= {path.name for path in tmp_path.iterdir()}
        make_old(tmp_path)
        with writing(place) as file:
            file.write(b"after")
        assert place.read_text() == "after"
        left = {path.name for path in tmp_path.iterdir()} - {*others, "t.csv", earlier.name}
        assert len(left) == 1  # that of the process that is running
        assert left < parts
        running.kill()
    assert not earlier.exists()
    assert {*others} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.long
def test_a_killed_command_leaves_no_half_file_under_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7 + 3 * (i % 2)},{'ab'[i % 2]}\n" for i in range(60))
    Path("t.csv").write_text("x,k\n" + rows)
    command = [sys.executable, "-m", "posterior"]
    fit = [*command, "fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m"]
    subprocess.run(fit, check=True, capture_output=True)  # noqa: S603
    predict = [*command, "predict", "m", "-", "-o", "out.csv", "-q"]
    with subprocess.Popen(predict, stdin=subprocess.PIPE) as work:  # noqa: S603
        work.stdin.write(b"x\n" + b"1\n2\n" * 5_000_000)
        work.stdin.flush()
        while not list(tmp_path.glob(".out.csv.*")):
            assert work.poll() is None
        work.send_signal(signal.SIGKILL)
    assert not Path("out.csv").exists()
    make_old(tmp_path)
    subprocess.run(predict, input=b"x\n1\n2\n", check=True)  # noqa: S603
    assert read("out.csv").num_rows == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "out.csv", "t.csv"]


def changing(path, change):
    """Read a file in small pieces, and change it after the first."""
    parts = batches(path, types={"a": "number"}, rows=100)
    found = [next(parts)]
    change(path)
    found.extend(parts)
    return pa.concat_tables(found)


def rows_of(value, n=20_000):
    return "a\n" + f"{value}\n" * n


def replaced(path):
    other = path.with_name("other.csv")
    other.write_text(rows_of(2))
    other.replace(path)


def truncated(path):
    os.truncate(path, 2000)


def grown(path):
    with path.open("a") as file:
        file.write("2\n" * 100)


def overwritten(path):
    os.utime(path, (0, 0))
    with path.open("r+") as file:
        file.write(rows_of(2))


@pytest.fixture
def path(tmp_path, monkeypatch):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", 1 << 10)
    path = tmp_path / "t.csv"
    path.write_text(rows_of(1))
    os.utime(path, (0, 0))
    return path


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was(path):
    assert changing(path, replaced)["a"].to_pylist() == [1] * 20_000


@pytest.mark.parametrize("change", [truncated, grown, overwritten])
def test_a_file_that_is_written_to_while_it_is_read_is_refused(path, change):
    with pytest.raises(FileError, match="was written to while it was read; read it again"):
        changing(path, change)


def test_both_readings_of_a_file_are_of_the_same_version(path, monkeypatch):
    """Without types a file is read twice; what takes its name between the two is another file."""
    surveyed = tables._surveyed

    def survey_and_replace(*given):
        types = surveyed(*given)
        path.with_name("other.csv").write_text(rows_of("x"))
        path.with_name("other.csv").replace(path)
        return types

    monkeypatch.setattr(tables, "_surveyed", survey_and_replace)
    assert pa.concat_tables(batches(path, rows=100))["a"].to_pylist() == [1] * 20_000
