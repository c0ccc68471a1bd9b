"""Pages that take long to read, spread evenly over the processes that read them; and as many that write.

Sphinx cuts the sorted list of pages into pieces, and hands the next one to a process that is free. In the
order of the alphabet all pages of the course are in one piece, and those for practitioners in the last: one
process ran them alone while the others had nothing left to do.
"""

import gc
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.parallel import make_chunks

# What a page does while it is read, by words in it: a kernel is started and cells are run, or examples are.
RUNS = (("{code-cell}", 2), ("{drawn}", 1))


def weight_of(path: Path) -> tuple[int, int]:
    """How long a page may take: what it runs first, then how much there is of it."""
    text = path.read_text(encoding="utf-8")
    return max((weight for words, weight in RUNS if words in text), default=0), len(text)


def as_run(n_pieces: int, n_processes: int) -> list[int]:
    """The order in which Sphinx reads pieces: one for each process, then from the last backwards.

    >>> as_run(5, 2)
    [0, 1, 4, 3, 2]
    """
    return [*range(n_pieces)[:n_processes], *reversed(range(n_pieces)[n_processes:])]


def dealt(names: list[str], weights: list[tuple[int, int]], sizes: list[int], n_processes: int) -> list[str]:
    """Names in an order in which pieces of these sizes have about the same weight: dealt out like cards.

    The pieces that are read last, one for each process or a few more, hold the lightest: each process has had
    as many of the heavier ones as the others, and nobody waits long for the last.

    >>> dealt(["a", "b", "c", "d", "e"], [(2, 1), (2, 1), (0, 1), (0, 1), (0, 1)], [1, 1, 1, 1, 1], 2)
    ['a', 'b', 'e', 'd', 'c']
    """
    heaviest_first = sorted(range(len(names)), key=lambda i: (-weights[i][0], -weights[i][1], names[i]))
    pieces: list[list[str]] = [[] for _ in sizes]
    order = as_run(len(sizes), n_processes)
    n_first = max(len(order) // n_processes - 1, 0) * n_processes
    for some in (order[:n_first], order[n_first:]):
        for turn in range(max((sizes[k] for k in some), default=0)):
            for k in some:
                if turn < sizes[k]:
                    pieces[k].append(names[heaviest_first.pop(0)])
    return [name for piece in pieces for name in piece]


def spread(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Put the pages into an order that keeps every process busy."""
    if app.parallel < 2 or not docnames:
        return
    sizes = [len(piece) for piece in make_chunks(docnames, app.parallel)]
    weights = [weight_of(Path(env.doc2path(name))) for name in docnames]
    docnames[:] = dealt(docnames, weights, sizes, app.parallel)


def write_with_all(app: Sphinx) -> None:
    """Write with as many processes as read: Sphinx takes one less, and does less than they itself."""
    builder: Any = app.builder
    write = builder._write_parallel
    builder._write_parallel = lambda docnames, nproc: write(docnames, nproc=nproc + 1)


def let_be(app: Sphinx, *rest: Any) -> None:
    """Look for garbage seldom, and not in what is here to stay: modules, and what is known of all pages."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def setup(app: Sphinx) -> dict[str, Any]:
    """Take part before pages are read, and before they are written."""
    app.connect("builder-inited", write_with_all)
    app.connect("env-before-read-docs", spread)
    app.connect("env-before-read-docs", let_be)
    app.connect("write-started", let_be)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
