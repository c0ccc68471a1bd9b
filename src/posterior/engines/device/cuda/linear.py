"""Value and slope of the softmax loss in one reading of the rows."""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.engines.device.cuda.device import beside, gpu, is_aligned, module
from posterior.engines.device.cuda.prediction import Parameters, scored
from posterior.engines.device.cuda.sources import SLOPE
from posterior.engines.device.cuda.sums import TILES, Cells, folded

# Rows from which on a kernel of our own is worth its launch, columns and classes that it takes.
FEWEST_ROWS, WIDEST, MOST_CLASSES = 500_000, 60, 32
THREADS = 128


def softmax_slope(
    rows: Any, coef: Floats, offset: Floats, shift: Floats | None
) -> tuple[float, Floats, Floats] | None:
    """Σ w ℓ and its derivatives by coefficients (K, d) and levels (K,); None where there is no kernel."""
    n_classes, d = coef.shape
    if gpu(rows.library) is None or d > WIDEST or n_classes > MOST_CLASSES or rows.n_rows < FEWEST_ROWS:
        return None
    with beside(rows.library) as cupy:
        cells = Cells(rows, range(d))
        if not cells.known:
            return None
        value, sums = slope_sums(cupy, cells, coef, offset, np.zeros(d) if shift is None else shift)
        return value, sums[:, :-1], sums[:, -1]


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
    blocks, fours, size = (d + 4) // 4, -(-n_classes // 4), cells.X.dtype.itemsize
    # The shift as the cells have it; what is left of it goes to the offsets.
    near = shift.astype(cells.X.dtype).astype(np.float64)
    offset = offset - coef @ (shift - near)
    offsets = np.pad(offset, (0, 4 * fours - n_classes))
    numbers = np.concatenate([offsets, np.pad(coef, ((0, 0), (0, 4 * blocks - d))).ravel()])
    cells_room = threads * (4 * ((blocks | 1) + (fours | 1)) * size + 8 * (n_classes | 1))
    room = max(8 * len(numbers) + cells_room, 8 * threads)
    kernel = module(
        SLOPE,
        *cells.defines,
        ("ND", d),
        ("NT", threads),
        ("RPT", 1),
        ("MB", 1),
        ("TILES", TILES),
        ("VEC", int(cells.X.dtype == np.float32 and d % 4 == 0 and is_aligned(cells.X))),
    ).get_function("slope")
    kernel.max_dynamic_shared_size_bytes = room
    grid = -(-cells.n // (threads * TILES))
    part = cupy.empty((grid, n_classes * (d + 1) + 1))
    shifts = cupy.asarray(near.astype(cells.X.dtype))
    arguments = (*cells.pointers(shifts), cupy.asarray(numbers), part, np.int64(cells.n))
    kernel((grid,), (threads,), arguments, shared_mem=room)
    found, _ = folded(cupy, part)
    sums = found[1:].reshape(n_classes, d + 1)
    sums[:, :-1] -= np.outer(sums[:, -1], shift - near)
    return float(found[0]), sums
