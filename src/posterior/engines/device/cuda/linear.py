"""Value and slope of the softmax loss in one reading of the rows."""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.engines.device.cuda.device import (
    CELLS,
    beside,
    folded,
    gpu,
    has_tensor_cores,
    is_aligned,
    kernel,
    room_of_block,
)
from posterior.engines.device.cuda.prediction import (
    LINEAR,
    MOST_ARGUMENTS,
    WHITENED,
    Parameters,
    as_arguments,
    scored,
)
from posterior.engines.device.cuda.score_sources import SLOPE
from posterior.engines.device.cuda.sums import SHARED, TILES, Cells
from posterior.engines.device.cuda.tensor_sources import SPLIT_SLOPE

# Rows from which on a kernel of our own is worth its launch, columns and classes that it takes.
FEWEST_ROWS, WIDEST, MOST_CLASSES = 500_000, 60, 32
# Threads of a block, and those of a processor.
THREADS, MOST_RESIDENT = 128, 768
# Tensor cores: classes and columns that they take, threads of a block and of a processor, tiles of a warp
# whose products are added in single precision, and what forces are multiplied by to have their digits.
FEWEST_SPLIT, MOST_SPLIT, WIDEST_SPLIT = 8, 16, 31
SPLIT_THREADS, SPLIT_RESIDENT, SPLIT_TILES, FORCE = 128, 384, 32, 4096.0
# By how much more than it is, relative to itself, the length of a row is told.
ROUNDING = 1e-4


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
        value, sums = slope_sums(cupy, cells, coef, offset, np.zeros(d) if shift is None else shift, rows)
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
    return scored(rows, tuple(range(d)), Parameters(LINEAR, arrays, lost), what)


def longest_row(rows: Any, turn: Floats, level: Floats, centre: Floats) -> float | None:
    """The most that ‖(x − centre)·turn + level‖ is, or a little more; None where there is no kernel."""
    d = len(turn)
    if gpu(rows.library) is None or rows.n_rows < FEWEST_ROWS or d > WIDEST:
        return None
    # The same length by a triangular factor, from the last column to the first.
    every = np.vstack([turn[::-1], level])
    factor = np.zeros((d + 1, d + 1))
    found = np.linalg.qr(every.T, mode="r")
    factor[: len(found)] = found
    white, added = factor[d - 1 :: -1, d - 1 :: -1][:d, :d], factor[d - 1 :: -1, d][:d]
    near = centre.astype(np.float32).astype(np.float64)
    spread = _largest(rows.here_and_there(range(d)), centre)
    lost = float((np.abs(white) @ spread + np.abs(added)).max(initial=0.0) * np.sqrt(d))
    arrays = {"WHITE": white.T[None], "MEAN": -added[None], "START": np.zeros(1), "SPREAD": spread}
    parameters = Parameters(WHITENED, arrays | {"PIVOT": near, "REST": centre - near}, lost)
    answers = scored(rows, tuple(range(d)), parameters, "joint")
    if answers is None:
        return None
    least = float(rows.library.scalar(rows.library.xp.min(answers)))
    return float(np.sqrt(max(-least, 0.0) + factor[d, d] ** 2)) * (1 + ROUNDING)


def slope_sums(
    cupy: Any, cells: Cells, coef: Floats, offset: Floats, shift: Floats, rows: Any
) -> tuple[float, Floats]:
    """Σ w ℓ, and the sums of forces times (x − shift, 1), (K, d + 1)."""
    # The shift as the cells have it; what is left of it goes to the offsets.
    near = shift.astype(cells.X.dtype).astype(np.float64)
    offset = offset - coef @ (shift - near)
    found = None
    if cells.X.dtype == np.float32 and cells.weight is None and _splits(*coef.shape):
        found = _split_sums(cupy, cells, coef, offset, near, _units(rows, near))
    if found is None or not np.isfinite(found).all():
        found = _whole_sums(cupy, cells, coef, offset, near)
    sums = found[1:].reshape(len(coef), -1)
    sums[:, :-1] -= np.outer(sums[:, -1], shift - near)
    return float(found[0]), sums


def _splits(n_classes: int, d: int) -> bool:
    """Whether tensor cores work out slopes, from numbers in two parts of half precision."""
    return FEWEST_SPLIT <= n_classes <= MOST_SPLIT and d <= WIDEST_SPLIT and has_tensor_cores()


def _units(rows: Any, near: Floats) -> Floats:
    """Powers of two of about the size of what cells are apart from `near`, (d,); kept with the rows."""

    def make() -> Floats:
        largest = _largest(rows.here_and_there(range(len(near))), near)
        return np.exp2(np.ceil(np.log2(np.where(largest > 0, largest, 1.0))))

    found: Floats = rows.kept(("units", near.tobytes()), make)
    return found


def _largest(some: Floats, near: Floats) -> Floats:
    """The most that some rows are apart from `near`, (d,)."""
    apart = np.abs(some - near)
    found: Floats = np.where(np.isfinite(apart), apart, 0.0).max(axis=0, initial=0.0)
    return found


def _split_sums(
    cupy: Any, cells: Cells, coef: Floats, offset: Floats, near: Floats, unit: Floats
) -> Floats | None:
    """Value and slope (1 + K (d + 1),) by tensor cores; not finite where a cell is far beyond its unit."""
    n_classes, d = coef.shape
    blocks, size = -(-d // 4), n_classes * (d + 1) + 1
    scaled = coef * (unit / np.log(2)), 1 / unit, -near / unit
    numbers = _in_fours(offset / np.log(2), np.vstack(scaled)).astype(np.float32)
    if numbers.nbytes > MOST_ARGUMENTS:
        return None
    of_warp = 64 * 4 * (blocks | 1) * 4 + 32 * (16 * (d // 8 + 1) + 8 + 40) * 2
    room = SPLIT_THREADS // 32 * max(of_warp, size * 8)
    run = kernel(
        SPLIT_SLOPE,
        "split_slope",
        *cells.defines,
        ("ND", d),
        ("NT", SPLIT_THREADS),
        ("MB", max(1, min(SHARED // (room + 1024), SPLIT_RESIDENT // SPLIT_THREADS))),
        ("TILES", SPLIT_TILES),
        ("VEC", int(is_aligned(cells.X) and d % 4 == 0)),
        ("FORCE", f"{FORCE}f"),
        room=room,
    )
    grid = -(-cells.n // (2 * SPLIT_THREADS * SPLIT_TILES))
    part = cupy.empty((grid, size))
    _, argument = as_arguments(cupy, numbers, few=True)
    run((grid,), (SPLIT_THREADS,), (cells.X, cells.codes, part, np.int64(cells.n), argument), shared_mem=room)
    found = folded(cupy, part)[0]
    found[1:] = (found[1:].reshape(n_classes, d + 1) * np.append(unit, 1.0) / FORCE).ravel()
    return found


def _in_fours(offset: Floats, lines: Floats) -> Floats:
    """Offsets and lines of numbers of columns, one after the other, each filled up to a multiple of 4."""
    (n, d), fours = lines.shape, 4 * -(-len(offset) // 4)
    out = np.zeros(fours + n * 4 * -(-d // 4))
    out[: len(offset)] = offset
    out[fours:].reshape(n, -1)[:, :d] = lines
    return out


def _whole_sums(cupy: Any, cells: Cells, coef: Floats, offset: Floats, near: Floats) -> Floats:
    """Value and slope (1 + K (d + 1),) in the precision of the cells."""
    n_classes, d = coef.shape
    dtype, threads = cells.X.dtype, THREADS
    size = dtype.itemsize
    numbers = _in_fours(offset, np.vstack([coef, near])).astype(dtype)
    few = numbers.nbytes <= MOST_ARGUMENTS
    room = _room(n_classes, d, size, threads)
    run = kernel(
        SLOPE,
        "slope",
        *cells.defines,
        ("FT", CELLS[dtype.name]),
        ("ND", d),
        ("NT", threads),
        ("FEW", int(few)),
        ("MB", max(1, min(SHARED // (room + 1024), MOST_RESIDENT // threads))),
        ("TILES", TILES),
        ("VEC", int(is_aligned(cells.X) and d * size % 16 == 0)),
        room=room,
    )
    grid = -(-cells.n // (threads * TILES))
    part = cupy.empty((grid, n_classes * (d + 1) + 1))
    in_memory, argument = as_arguments(cupy, numbers, few=few)
    arguments = (*cells.pointers(in_memory), part, np.int64(cells.n), argument)
    run((grid,), (threads,), arguments, shared_mem=room)
    return folded(cupy, part)[0]
