"""Parts of the rows that threads take one after the other: what becomes of them where one thread fails."""

import threading

import numpy as np
import pytest

from posterior import QDA, GaussianNB, threads
from posterior.engines import local
from posterior.kernels.choice import using
from posterior.kernels.compiled import moments, scatter
from posterior.kernels.shares import take_parts


def test_parts_are_taken_until_none_is_left():
    taken = np.zeros(1, np.int64)
    take_parts(taken, 5, lambda: taken.__iadd__(2))
    assert taken[0] == 6
    take_parts(taken, 5, lambda: pytest.fail("all parts are taken"))


def test_a_thread_that_fails_leaves_no_parts_to_the_others():
    taken = np.zeros(1, np.int64)

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_parts(taken, 5, fail)
    take_parts(taken, 5, lambda: pytest.fail("there should be no parts left"))


class Interrupted:
    """A kernel that Ctrl-C cuts short in the main thread; other threads wait for that, and then go on.

    Not in its first call, which may be about the last chunk, that one thread sums up alone.
    """

    def __init__(self, kernel):
        self.kernel, self.own, self.others, self.raised = kernel, 0, 0, threading.Event()

    def __call__(self, *given):
        if threading.current_thread() is not threading.main_thread():
            self.raised.wait()
            self.others += 1
        elif self.own:
            self.raised.set()
            raise KeyboardInterrupt
        else:
            self.own += 1
        return self.kernel(*given)


X = np.random.default_rng(0).normal(size=(256 * 400, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "module", "name"),
    [
        (GaussianNB(), moments, "of_rows"),
        (QDA(), scatter, "sum_parts"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_ctrl_c_ends_the_sums_of_all_threads(model, module, name, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    for each in (moments, scatter):
        monkeypatch.setattr(each, "MOST", 1)
    kernel = Interrupted(getattr(module, name))
    monkeypatch.setattr(module, name, kernel)
    with using("compiled"), threads(2), pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert kernel.others < 100  # of 400 parts
