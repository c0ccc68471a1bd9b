"""Kernels are compiled for the types of their calls and no others; what is kept on disk never harms."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event

from posterior.kernels.compiled import kept
from posterior.kernels.compiled.jit import TABLE, kernel, step

TWO = [f"float64(Array({each}, 1, 'C', True))" for each in ("float64", "int64")]
NUMBERS, WHOLE = np.arange(4.0), np.arange(4)


def fresh():
    """A function of two types that nobody called, whose inner one is as new."""

    @step
    def twice(x):
        return 2.0 * x

    @kernel(*TWO)
    def doubled(x):
        total = 0.0
        for i in range(len(x)):
            total += twice(x[i])
        return total

    return doubled


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path / "posterior"


class Compiled(event.Listener):
    """The functions that are compiled inside the block."""

    def on_start(self, about):
        self.names.append(about.data["dispatcher"].py_func.__name__)

    def on_end(self, about):
        pass

    def __enter__(self):
        self.names = []
        event.register("numba:compile", self)
        return self.names

    def __exit__(self, *_):
        event.unregister("numba:compile", self)


def test_only_the_types_of_a_call_are_compiled(folder):
    function = fresh()
    with Compiled() as names:
        assert function(NUMBERS) == function(NUMBERS) == 12.0
    assert names.count("doubled") == 1
    assert len(list(folder.iterdir())) == 1
    with Compiled() as names:
        assert function(WHOLE) == 12.0
    assert names.count("doubled") == 1
    assert len(list(folder.iterdir())) == 2


def test_what_is_kept_is_not_compiled_again():
    fresh()(NUMBERS)
    with Compiled() as names:
        assert fresh()(NUMBERS) == 12.0
    assert names == []


def test_types_that_are_not_declared_are_refused():
    with Compiled() as names, pytest.raises(TypeError, match="doubled is compiled for"):
        fresh()(np.arange(4, dtype=np.float32))
    assert names == []


def test_arguments_that_do_not_tell_signatures_apart_must_fit_too():
    @kernel("float64(float64[::1], int64)")
    def first(x, i):
        return x[i]

    with pytest.raises(TypeError, match="No matching definition"):
        first(np.zeros((2, 2)), 0)


def test_inner_kernels_are_for_compiled_code():
    @kernel(f"float64({TABLE})", inner=True)
    def corner(x):
        return x[0, 0]

    @kernel(f"float64({TABLE})")
    def twice(x):
        return corner(x) + corner(x)

    assert twice(np.ones((1, 1))) == 2.0
    with pytest.raises(TypeError, match="by compiled code only"):
        corner(np.ones((1, 1)))


@pytest.mark.parametrize("damage", [b"", b"x" * 100, None], ids=["empty", "other", "one bit"])
def test_a_damaged_file_is_made_again(folder, damage):
    fresh()(NUMBERS)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    with Compiled() as names:
        assert fresh()(NUMBERS) == 12.0
    assert "doubled" in names
    assert len(file.read_bytes()) > 1000
    with Compiled() as names:
        assert fresh()(NUMBERS) == 12.0
    assert names == []


def test_where_nothing_can_be_written_it_is_compiled_all_the_same(folder):
    folder.write_text("in the way")
    assert fresh()(NUMBERS) == 12.0


def test_a_disk_that_is_full_costs_nothing_but_time(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert fresh()(NUMBERS) == 12.0
    assert list(folder.iterdir()) == []


def test_without_a_home_code_is_kept_beside_the_source_or_nowhere(monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(kept.AppDirs, "user_cache_dir", "~/.cache/numba")
    assert kept.folders() == [kept.HERE / "__pycache__"]


def test_code_beside_a_source_that_is_read_only_is_read_and_new_code_goes_to_the_user(tmp_path, monkeypatch):
    beside, own = tmp_path / "beside", tmp_path / "own"
    monkeypatch.setattr(kept, "folders", lambda: [beside, own])
    fresh()(NUMBERS)
    assert len(list(beside.iterdir())) == 1
    write = kept._write

    def refused(file, content):
        if file.parent == beside:
            raise PermissionError(13, "Permission denied")
        write(file, content)

    monkeypatch.setattr(kept, "_write", refused)
    with Compiled() as names:
        function = fresh()
        function(NUMBERS)
        assert names == []
        function(WHOLE)
    assert "doubled" in names
    assert (len(list(beside.iterdir())), len(list(own.iterdir()))) == (1, 1)


def test_functions_made_for_other_inner_ones_have_files_of_their_own(folder):
    def make(inner):
        @kernel(TWO[0])
        def first(x):
            return inner(x[0])

        return first

    @step
    def one(x):
        return x + 1.0

    @step
    def two(x):
        return x + 2.0

    assert [make(one)(NUMBERS), make(two)(NUMBERS)] == [1.0, 2.0]
    assert len(list(folder.iterdir())) == 2


def test_other_sources_have_other_files(monkeypatch):
    before = kept.file_name("f", "void(int64)", ())
    monkeypatch.setattr(kept, "_sources", lambda: b"of another version")
    assert kept.file_name("f", "void(int64)", ()) != before


def test_sources_changed_since_they_were_imported_are_not_those_of_the_code_at_hand(folder, monkeypatch):
    stamps = kept._stamps()
    fresh()(NUMBERS)
    (file,) = folder.iterdir()
    file.write_bytes(b"")
    monkeypatch.setattr(kept, "_stamps", lambda: [*stamps, ("new.py", 1, 1)])
    with Compiled() as names:
        assert fresh()(NUMBERS) == fresh()(NUMBERS) == 12.0
    assert names.count("doubled") == 2
    assert file.read_bytes() == b""


PROGRAM = """
import sys
import numpy as np
from posterior.kernels.compiled import sums
types = [np.int64, np.int32] if sys.argv[1] == "0" else [np.int32, np.int64]
for each in types:
    count = np.zeros(4, np.int64)
    assert sums.count_small(np.array([0, 1, 1, 3, 3, 3], each), count)
    assert count.tolist() == [1, 2, 0, 3]
print("right")
"""


@pytest.mark.long
def test_first_processes_may_come_together(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):  # who compiles, and then who reads
        command = [sys.executable, "-c", PROGRAM]
        running = [
            subprocess.Popen(  # noqa: S603 -- our own
                [*command, str(i % 2)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
            for i in range(4)
        ]
        for process in running:
            out, err = process.communicate(timeout=300)
            assert (process.returncode, out) == (0, "right\n"), err
    files = sorted(file.name for file in (tmp_path / "posterior").iterdir())
    assert len(files) == 2
    assert all(name.endswith(".nbc") for name in files)
