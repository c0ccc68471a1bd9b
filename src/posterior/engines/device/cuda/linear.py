"""Value and slope of the softmax loss in one reading of the rows."""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.engines.device.cuda.device import CELLS, beside, folded, gpu, is_aligned, module, room_of_block
from posterior.engines.device.cuda.prediction import MOST_ARGUMENTS, Parameters, as_arguments, scored
from posterior.engines.device.cuda.score_sources import SLOPE
from posterior.engines.device.cuda.sums import SHARED, TILES, Cells

# Rows from which on a kernel of our own is worth its launch, columns and classes that it takes.
FEWEST_ROWS, WIDEST, MOST_CLASSES = 500_000, 60, 32
# Threads of a block, and those of a processor.
THREADS, MOST_RESIDENT = 128, 768


def softmax_slope(
    rows: Any, coef: Floats, offset: Floats, shift: Floats | None
) -> tuple[float, Floats, Floats] | None:
    """Σ w ℓ and its derivatives by coefficients (K, d) and levels (K,); None where there is no kernel."""
    d = coef.shape[1]
    if not _has_kernel(rows, *coef.shape):
        return None
    with beside(rows.library) as cupy:
        cells = Cells(rows, range(d))
        if not cells.known:
            return None
        value, sums = slope_sums(cupy, cells, coef, offset, np.zeros(d) if shift is None else shift)
        return value, sums[:, :-1], sums[:, -1]


def _has_kernel(rows: Any, n_classes: int, d: int) -> bool:
    """Whether slopes of so many classes and columns are summed up by a kernel of our own."""
    if gpu(rows.library) is None or rows.n_rows < FEWEST_ROWS or d > WIDEST or n_classes > MOST_CLASSES:
        return False
    return _room(n_classes, d, 4 if rows.single else 8, THREADS) <= room_of_block()


def _room(n_classes: int, d: int, size: int, threads: int) -> int:
    """Bytes of shared memory: two tiles of rows, their forces, and numbers that are no arguments."""
    blocks, fours = -(-d // 4), -(-n_classes // 4)
    row, numbers = 4 * (2 * (blocks | 1) + (fours | 1)), 4 * (fours + (n_classes + 1) * blocks)
    return max(size * (threads * row + (0 if size * numbers <= MOST_ARGUMENTS else numbers)), 8 * threads)


def slope_rounding(rows: Any, n_classes: int, d: int) -> float:
    """How exact the value is, relative to itself: errors of many rows cancel out.

    Without a kernel of our own sums are in double precision.
    """
    if not rows.single or not _has_kernel(rows, n_classes, d):
        return float(np.finfo(np.float64).eps)
    return float(16 * np.finfo(np.float32).epsneg / np.sqrt(rows.n_rows))


def linear_answer(rows: Any, coef: Floats, level: Floats, centre: Floats, what: str) -> Any:
    """Softmax of linear scores (x − centre)·coef + level of all rows; None where there is no kernel."""
    d = coef.shape[1]
    if gpu(rows.library) is None:
        return None
    near = centre.astype(np.float32).astype(np.float64)
    arrays = {"COEF": coef, "START": level, "PIVOT": near, "REST": centre - near}
    spread = np.abs(coef).max(axis=1) * np.sqrt(d)
    lost = float((spread * np.maximum(1.0, np.abs(centre).max(initial=0.0))).max(initial=0.0))
    return scored(rows, tuple(range(d)), Parameters(1, arrays, lost), what)


def slope_sums(
    cupy: Any, cells: Cells, coef: Floats, offset: Floats, shift: Floats, threads: int = THREADS
) -> tuple[float, Floats]:
    """Σ w ℓ, and the sums of forces times (x − shift, 1), (K, d + 1)."""
    n_classes, d = coef.shape
    dtype = cells.X.dtype
    blocks, fours, size = -(-d // 4), -(-n_classes // 4), dtype.itemsize
    # The shift as the cells have it; what is left of it goes to the offsets.
    near = shift.astype(dtype).astype(np.float64)
    offset = offset - coef @ (shift - near)
    wide = np.pad(np.vstack([coef, near]), ((0, 0), (0, 4 * blocks - d)))
    numbers = np.concatenate([np.pad(offset, (0, 4 * fours - n_classes)), wide.ravel()]).astype(dtype)
    few = numbers.nbytes <= MOST_ARGUMENTS
    room = _room(n_classes, d, size, threads)
    kernel = module(
        SLOPE,
        *cells.defines,
        ("FT", CELLS[dtype.name]),
        ("ND", d),
        ("NT", threads),
        ("FEW", int(few)),
        ("MB", max(1, min(SHARED // (room + 1024), MOST_RESIDENT // threads))),
        ("TILES", TILES),
        ("VEC", int(is_aligned(cells.X) and d * size % 16 == 0)),
    ).get_function("slope")
    kernel.max_dynamic_shared_size_bytes = room
    grid = -(-cells.n // (threads * TILES))
    part = cupy.empty((grid, n_classes * (d + 1) + 1))
    in_memory, argument = as_arguments(cupy, numbers, few=few)
    arguments = (*cells.pointers(in_memory), part, np.int64(cells.n), argument)
    kernel((grid,), (threads,), arguments, shared_mem=room)
    found, _ = folded(cupy, part)
    sums = found[1:].reshape(n_classes, d + 1)
    sums[:, :-1] -= np.outer(sums[:, -1], shift - near)
    return float(found[0]), sums
