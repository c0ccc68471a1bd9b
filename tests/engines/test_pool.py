"""Work on several threads: the pool is kept, errors come out, and threads of the pool work alone."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from posterior import GaussianNB, _pool, threads
from posterior._blas import one_blas_thread
from posterior._pool import each, n_threads, pool
from posterior.engines import local
from posterior.engines.workers import in_order
from posterior.schema import read_table
from posterior.stats import Moments
from posterior.stats.adding import NoRowsError


@pytest.mark.parametrize("n", [1, 2, 5])
def test_all_pieces_are_done_once(n):
    done = []
    with threads(n):
        each(done.append, 100)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("n", [1, 3])
def test_the_error_of_a_piece_is_raised_and_the_pool_goes_on(n):
    def work(i):
        if i >= 7:
            raise ValueError(f"piece {i}")

    with threads(n):
        with pytest.raises(ValueError, match=r"^piece 7$"):
            each(work, 8)
        each(lambda i: None, 8)


@pytest.mark.parametrize("n", [1, 2])
def test_an_error_does_not_keep_the_rows_of_the_work(n):
    class Rows:
        pass

    rows = Rows()
    alive = weakref.ref(rows)

    def work(i, rows=rows):
        if i == 3:
            raise ValueError(f"piece {i} of {rows}")

    gc.disable()  # which would find them sooner or later
    try:
        with threads(n), pytest.raises(ValueError, match="piece 3") as caught:
            each(work, 8)
        del rows, work, caught
        meeting = threading.Barrier(2)  # where all of the pool have put down what they worked on
        here = [pool(2).submit(meeting.wait, 60) for _ in range(2)]
        assert sorted(each_one.result() for each_one in here) == [0, 1]
        assert alive() is None
    finally:
        gc.enable()


def test_a_thread_of_the_pool_works_alone():
    with threads(2):
        assert pool(2).submit(n_threads).result() == 1
        assert n_threads() == 2


def test_work_is_done_where_the_pool_is_busy():
    busy, done = threading.Event(), []
    waiting = [pool(2).submit(busy.wait) for _ in range(2)]
    with threads(2):
        each(done.append, 10)
    busy.set()
    assert sorted(done) == list(range(10))
    assert all(each_one.result() for each_one in waiting)


def test_work_of_any_size_is_done_by_the_same_threads():
    before = set(threading.enumerate())
    with threads(7):
        for n in range(2, 8):
            meeting = threading.Barrier(n)  # so that each piece has a thread of its own
            each(lambda _, meeting=meeting: meeting.wait(60), n)
    assert len(set(threading.enumerate()) - before) <= 7


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chunks_that_are_summed_up_together_have_the_bits_of_chunks_alone(gap, dtype, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 8192)
    rng = np.random.default_rng(0)
    X = rng.normal(1e4, 1.0, (90_000, 3)).astype(dtype)
    y, weight = rng.integers(4, size=len(X)), rng.uniform(0.5, 2.0, len(X))
    if gap:
        X[50_000, 1] = np.nan
    found = []
    for kept in (49, 200, 1 << 20):  # sums of 1, 4 and all chunks
        monkeypatch.setattr(local, "KEPT_CELLS", kept)
        model = GaussianNB().fit(X, y, weight)
        found.append(model.theta_.tobytes() + model.var_.tobytes())
    assert len(set(found)) == 1


def test_of_no_rows_there_are_no_sums_and_no_answers():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GaussianNB().fit(X, np.arange(40) % 2).model_
    nothing = model.schema.encode(read_table(X).take(np.zeros(0, np.int64)))
    rows = local.LocalDataset(model.schema, nothing, np.zeros(0, np.int64))
    assert model.best(rows).shape == (0,)
    with pytest.raises(NoRowsError):
        model.spec.summarize(rows, np.array([0, 1]))


def test_all_threads_of_a_pool_run_before_its_first_piece_of_work():
    found = pool(5)  # so that no Ctrl-C meets one that begins
    assert len([each for each in threading.enumerate() if each in found._threads]) == 5


def test_blas_has_one_thread_inside_and_as_many_as_before_afterwards():
    def limits():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(limits=2, user_api="blas"):
        before = limits()
        with one_blas_thread:
            with one_blas_thread:
                assert set(limits()) == {1}
            assert set(limits()) == {1}  # the outer one still holds it
        assert limits() == before


@pytest.mark.parametrize("n", [1, 2])
def test_blas_is_not_held_for_results_that_nobody_takes(n):
    """A generator that is kept, as by the traceback of an error, holds nothing once its work is done."""
    held = []
    with threads(n):
        left = in_order(lambda _: held.append(one_blas_thread._depth), range(9))
        next(left)
        pool(n).submit(lambda: None).result()
        for _ in range(1_000):
            if one_blas_thread._depth == 0:
                break
            time.sleep(0.01)
        assert one_blas_thread._depth == 0
        left.close()
    assert held
    assert min(held) > 0


def test_blas_that_is_loaded_later_is_held_to_one_thread_too():
    told = """
import numpy
from posterior._blas import one_blas_thread
from threadpoolctl import threadpool_info, threadpool_limits
with one_blas_thread:
    pass
import scipy.linalg  # which has a BLAS of its own
with threadpool_limits(limits=2, user_api="blas"), one_blas_thread:
    print({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
"""
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)  # noqa: S603 -- our own
    assert done.stdout.strip() == "{1}"


@pytest.mark.parametrize(
    ("said", "found"), [("1", 1), ("3,2", 3), (" 2 ", 2), ("64", 4), ("", 4), ("all", 4), ("0", 1), ("-1", 4)]
)
def test_no_more_threads_than_openmp_is_allowed(said, found, monkeypatch):
    monkeypatch.setattr(_pool, "_quota", lambda: 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert n_threads() == found
    with threads(5):
        assert n_threads() == 5


def test_no_more_threads_than_the_quota_of_a_container_allows(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    _pool._quota.cache_clear()
    try:
        assert n_threads() == 3
    finally:
        _pool._quota.cache_clear()


def test_workers_of_joblib_share_out_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    n = joblib.cpu_count()
    assert joblib.Parallel(n_jobs=n)(joblib.delayed(n_threads)() for _ in range(n)) == [1] * n


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on Windows")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_works_out_what_another_thread_was_at():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    held, forked = threading.Event(), threading.Event()

    def hold():
        # As while the pooled moments of some other rows are worked out; Python 3.12 has no such lock.
        with getattr(vars(Moments)["_pooled"], "lock", nullcontext()):
            held.set()
            forked.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)  # it would wait for ever
        Moments.of(X, y, None, 2).pooled()
        os._exit(0)
    forked.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
