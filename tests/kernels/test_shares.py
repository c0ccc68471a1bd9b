"""Parts of the rows that threads take one after the other: what becomes of them where one thread fails."""

import numpy as np
import pytest

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
