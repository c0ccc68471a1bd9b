"""Products of many columns by class: a block of threads has some rows, a thread 8 by 8 of the products."""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.engines.device.cuda.device import fetched, folded, is_aligned, module
from posterior.engines.device.cuda.sources import WIDE_SCATTER

# Most columns whose products the threads of a block have in their registers.
MOST_COLUMNS = 256
# Rows of a tile, rows whose products are added in the precision of the cells, and blocks started at once.
TILE, ROWS, BLOCKS = 32, 4096, 1024


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
    kernel = module(
        WIDE_SCATTER,
        *cells.defines,
        ("ND", d),
        ("NT", threads),
        ("NR", TILE),
        ("POOLED", int(pooled)),
        ("VEC", int(is_aligned(cells.X) and d * size % 16 == 0)),
    ).get_function("wide_scatter")
    kernel.max_dynamic_shared_size_bytes = room
    total = np.zeros((1 if pooled else n_classes, d, d))
    for first in range(0, len(parts), BLOCKS):
        some = parts[first : first + BLOCKS]
        part = cupy.empty((len(some), d * d))
        arguments = (*cells.pointers(cells.pivot), order, cupy.asarray(some), part)
        kernel((len(some),), (threads,), arguments, shared_mem=room)
        for k in np.unique(some[:, 0]).tolist():
            mine = np.flatnonzero(some[:, 0] == k)
            total[k] += folded(cupy, part[mine[0] : mine[-1] + 1])[0].reshape(d, d)
    return total


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
