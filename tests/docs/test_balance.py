"""In which order pages are read: heavy ones first, and the lightest last."""

import doctest
import os
import time

import pytest

from places import REPOSITORY, module_from


@pytest.fixture
def balance():
    pytest.importorskip("sphinx", reason="the site has packages of its own")
    return module_from(REPOSITORY / "docs" / "_ext" / "balance.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be copied")
def test_pieces_are_read_in_the_order_that_is_reckoned_with(balance, tmp_path):
    from sphinx.util.parallel import ParallelTasks

    def note(number):
        with (tmp_path / "order").open("a") as order:
            order.write(f"{number}\n")
        time.sleep(0.0 if number else 0.5)  # the others wait meanwhile

    tasks = ParallelTasks(1)
    for number in range(5):
        tasks.add_task(lambda each: note(each[0]), [number])
    tasks.join()
    assert [int(line) for line in (tmp_path / "order").read_text().split()] == balance.as_run(5, 1)


@pytest.mark.parametrize("n_processes", [1, 2, 3, 8])
@pytest.mark.parametrize("sizes", [[4, 4, 4, 4, 3], [5], [2, 2], [1] * 9, []])
def test_every_page_is_read_once_and_the_pieces_read_last_are_the_lightest(balance, sizes, n_processes):
    names = [f"page{k}" for k in range(sum(sizes))]
    weights = [(k % 3, k) for k in range(len(names))]
    order = balance.dealt(names, weights, sizes, n_processes)
    assert sorted(order) == sorted(names)
    pieces = [order[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]
    run = [pieces[k] for k in balance.as_run(len(sizes), n_processes)]
    weight = dict(zip(names, weights, strict=True))
    # As many of the heavy pieces for each process, and at least one of the light ones.
    n_light = min(len(run), n_processes + len(run) % n_processes)
    early, last = run[: len(run) - n_light], run[len(run) - n_light :]
    heavy = [weight[name] for piece in early for name in piece]
    assert len(early) % n_processes == 0
    assert not heavy or min(heavy) >= max(weight[name] for piece in last for name in piece)


def test_its_examples_are_true(balance):
    assert doctest.testmod(balance).failed == 0
