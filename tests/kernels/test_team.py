"""Threads of the operating system that run a kernel beside the calling thread."""

import os

import numpy as np
import pytest

from posterior.kernels.compiled import team
from posterior.kernels.compiled.jit import LINE, NUMBERS, TABLE, kernel
from posterior.kernels.compiled.sharing import COUNTER, take_next


@kernel(
    f"boolean({NUMBERS}, float64, boolean, {LINE}, {COUNTER}, int64, {TABLE}, {LINE})",
    f"boolean(Array(float32, 1, 'C', True), float64, boolean, {LINE}, {COUNTER}, int64, {TABLE}, {LINE})",
    own=("room",),
)
def add_slowly(numbers, factor, fails, total, counter, most, found, room):  # noqa: PLR0917  (as kernels have)
    """The sum of all numbers, times a factor, in each part: in memory that must be the thread's own."""
    for _ in range(most):
        p = take_next(counter)
        if p >= len(found):
            break
        for j in range(len(room)):
            room[j] = p
        for i in range(len(numbers)):
            for j in range(len(room)):
                room[j] += factor * numbers[i]
        for j in range(len(room)):
            found[p, j] = room[j]
        total[p] += 1.0
        if fails and p == len(found) // 2:
            return False
    return True


@kernel(f"void({COUNTER}, int64, {LINE})")
def ask_for_too_much(counter, most, found):
    """Ask for more memory than there is, in every part."""
    for _ in range(most):
        p = take_next(counter)
        if p >= len(found):
            break
        found[p] = np.empty(1 << 58)[p]


def arguments(n_parts=40, *, fails=False, dtype=np.float64, most=2):
    numbers = np.arange(1000, dtype=dtype)
    counter, found = np.zeros(1, np.int64), np.zeros((n_parts, 16))
    return numbers, 0.5, fails, np.zeros(n_parts), counter, most, found, np.empty(16)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("workers", [1, 2, 7, 100])
def test_every_part_is_done_once_in_memory_of_its_own(workers, dtype):
    given = arguments(dtype=dtype)
    assert team.share_out(add_slowly, given[4], 40, lambda: given, workers)
    np.testing.assert_array_equal(given[3], 1.0)
    np.testing.assert_array_equal(given[6], 0.5 * 1000 * 999 / 2 + np.arange(40.0)[:, None] * np.ones(16))


@pytest.mark.parametrize("workers", [1, 4])
def test_one_thread_that_says_no_is_heard(workers):
    given = arguments(fails=True)
    assert not team.share_out(add_slowly, given[4], 40, lambda: given, workers)


def test_without_threads_of_the_system_the_calling_one_does_it_all(monkeypatch):
    monkeypatch.setattr(team, "begin_threads", lambda *_: None)
    given = arguments()
    assert team.share_out(add_slowly, given[4], 40, lambda: given, 4)
    np.testing.assert_array_equal(given[3], 1.0)


def test_without_posix_threads_those_of_python_work(monkeypatch):
    monkeypatch.setattr(team, "POSIX", False)
    given = arguments()

    def own():
        return *given[:-1], np.empty(16)

    assert team.share_out(add_slowly, given[4], 40, own, 4)
    np.testing.assert_array_equal(given[3], 1.0)
    np.testing.assert_array_equal(given[6][:, 0], 0.5 * 1000 * 999 / 2 + np.arange(40.0))


class Interrupted:
    """A kernel that Ctrl-C cuts short in the calling thread."""

    entry = staticmethod(add_slowly.entry)

    def __call__(self, *given):
        raise KeyboardInterrupt


def test_after_ctrl_c_no_thread_goes_on():
    given = arguments(1_000_000)
    with pytest.raises(KeyboardInterrupt):
        team.share_out(Interrupted(), given[4], 1_000_000, lambda: given, 4)
    done = int(given[3].sum())
    assert done < 1_000_000
    assert not team.Team._running
    assert done == int(given[3].sum())


def test_ctrl_c_while_threads_begin_ends_them(monkeypatch):
    def interrupted(*given):
        begin(*given)
        raise KeyboardInterrupt

    begin = team.begin_threads
    monkeypatch.setattr(team, "begin_threads", interrupted)
    given = arguments(1_000_000)
    with pytest.raises(KeyboardInterrupt):
        team.share_out(add_slowly, given[4], 1_000_000, lambda: given, 4)
    assert given[3].sum() < 1_000_000
    assert not team.Team._running


def test_ctrl_c_while_threads_are_awaited_keeps_no_rows(monkeypatch):
    def interrupted(threads):
        wait(threads)
        raise KeyboardInterrupt

    wait = team.await_threads
    monkeypatch.setattr(team, "await_threads", interrupted)
    given = arguments()
    with pytest.raises(KeyboardInterrupt):
        team.share_out(add_slowly, given[4], 40, lambda: given, 4)
    np.testing.assert_array_equal(given[3], 1.0)
    assert not team.Team._running


def test_threads_that_ctrl_c_left_behind_end_before_others_have_their_memory():
    given, later = arguments(4000), arguments()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(team, "await_threads", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            team.share_out(add_slowly, given[4], 4000, lambda: given, 4)
    (left,) = team.Team._running.values()
    assert team.share_out(add_slowly, later[4], 40, lambda: later, 4)
    assert not left._threads.any()
    assert not team.Team._running
    np.testing.assert_array_equal(given[3], 1.0)
    np.testing.assert_array_equal(later[6][:, 0], 0.5 * 1000 * 999 / 2 + np.arange(40.0))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on Windows")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_waits_for_no_thread_of_its_parent(monkeypatch):
    monkeypatch.setitem(team.Team._running, 1, None)
    child = os.fork()
    if not child:
        os._exit(len(team.Team._running))
    assert os.waitpid(child, 0)[1] == 0


def test_memory_that_a_thread_cannot_have_is_an_error():
    counter = np.zeros(1, np.int64)
    given = counter, 1, np.zeros(6)
    with pytest.raises(MemoryError):
        team.share_out(ask_for_too_much, counter, 6, lambda: given, 3)
    assert not team.Team._running


def test_a_kernel_with_other_arguments_is_refused():
    @kernel(f"void(UniTuple(int64, 2), {COUNTER}, int64)")
    def odd(pair, counter, most):
        counter[0] = 1

    with pytest.raises(TypeError, match="not arrays or numbers"):
        odd.entry(((1, 2), np.zeros(1, np.int64), 1), team.Entry)
