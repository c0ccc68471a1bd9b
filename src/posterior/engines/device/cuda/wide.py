"""Products of many columns by class: a block of threads has some rows, a thread 8 by 8 of the products."""

from functools import cache
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.engines.device.cuda.device import fetched, is_aligned, kernel
from posterior.engines.device.cuda.sources import FOLD_MATRICES, WIDE_SCATTER

# Most columns whose products the threads of a block have in their registers.
MOST_COLUMNS = 256
# Rows of a tile, rows whose products are added in the precision of the cells, and blocks started at once.
TILE, ROWS, BLOCKS = 32, 4096, 2048


def wide_room(d: int, size: int = 4) -> int:
    """Bytes of two tiles of rows of d columns."""
    return 2 * TILE * 8 * -(-d // 8) * size


def wide_products(cupy: Any, cells: Any, *, pooled: bool) -> Floats:
    """Products of the columns about the pivots, (K or 1, d, d)."""
    d, n_classes, size = cells.d, cells.n_classes, cells.X.dtype.itemsize
    eights = -(-d // 8)
    pairs = eights * (eights + 1) // 2
    threads = -(-max(pairs, 256 // pairs * pairs) // 32) * 32
    room = max(wide_room(d, size), 8 * threads)
    order, parts = _in_one(cells.n) if pooled else _by_class(cupy, cells)
    run = kernel(
        WIDE_SCATTER,
        "wide_scatter",
        *cells.defines,
        ("ND", d),
        ("NT", threads),
        ("NR", TILE),
        ("POOLED", int(pooled)),
        ("VEC", int(is_aligned(cells.X) and d * size % 16 == 0)),
        room=room,
    )
    sets, size = 1 if pooled else n_classes, 64 * pairs
    total, place = cupy.zeros((sets, d, d)), cupy.asarray(_places(d))
    fold = kernel(FOLD_MATRICES, "fold_matrices")
    part = cupy.empty((min(len(parts), BLOCKS), size))
    for begin in range(0, len(parts), BLOCKS):
        some = parts[begin : begin + BLOCKS]
        arguments = (*cells.pointers(cells.pivot), order, cupy.asarray(some), part)
        run((len(some),), (threads,), arguments, shared_mem=room)
        first = cupy.asarray(np.searchsorted(some[:, 0], np.arange(sets + 1)).astype(np.int32))
        fold((-(-size // 256), sets), (256,), (part, first, place, np.int32(size), np.int32(d), total))
    return fetched(total)


@cache
def _places(d: int) -> AnyArray:
    """Where each of the 8 by 8 products of each pair of eights of columns goes in a matrix of d by d."""
    eights = -(-d // 8)
    one, other = np.triu_indices(eights)
    # The first four of an eight are in the first half of all columns, the others in the second.
    of_eight = np.arange(8) // 4 * 4 * eights + np.arange(8) % 4
    rows, columns = of_eight[:, None, None] + 4 * one, of_eight[:, None] + 4 * other
    twice = (one == other) & (rows > columns)
    known = (rows < d) & (columns < d) & ~twice
    return np.where(known, rows * d + columns, -1).astype(np.int32).ravel()


def _in_one(n: int) -> tuple[Any, Ints]:
    """No order, and the rows in parts: class 0, the first row, and the row after the last."""
    first = np.arange(0, n, ROWS)
    return np.uint64(0), np.stack([np.zeros_like(first), first, np.minimum(first + ROWS, n)], axis=1)


def _by_class(cupy: Any, cells: Any) -> tuple[Any, Ints]:
    """The rows in the order of their classes, and parts of it that have rows of one class each."""
    order = cupy.argsort(cells.codes, kind="stable")
    ends = np.cumsum(fetched(cupy.bincount(cells.codes, minlength=cells.n_classes)))
    parts = [
        np.stack([np.full(len(first), k), first, np.minimum(first + ROWS, end)], axis=1)
        for k, (begin, end) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True))
        if len(first := np.arange(begin, end, ROWS))
    ]
    return order.astype(np.int64, copy=False), np.concatenate(parts)
