"""Moments and scatter by class in one reading of the rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from posterior._types import Floats
from posterior.engines.device.cuda.device import (
    CELLS,
    CODES,
    as_cupy,
    beside,
    fetched,
    folded,
    gpu,
    has_tensor_cores,
    is_aligned,
    kernel,
    processors,
    room_of_block,
    shares,
)
from posterior.engines.device.cuda.scatter_sources import SPLIT_SCATTER
from posterior.engines.device.cuda.sources import MOMENTS, PIVOTS, SCATTER
from posterior.engines.device.cuda.wide import MOST_COLUMNS, wide_products, wide_room
from posterior.stats import Location, Moments, Scatter

# Classes that a block of threads keeps apart, columns whose products it keeps, and most threads of a block.
MOST_CLASSES, NARROW, MOST_THREADS, THREADS = 48, 32, 512, 256
# Bytes of a tile of rows whose moments, and whose products, are summed up.
TILE_BYTES, SCATTER_BYTES = 32_000, 48_000
# A pivot this many standard deviations from the mean has cost digits: the rows are read again about the mean.
FAR = 8.0
# Bytes of shared memory of a processor.
SHARED = 227_000
# Tiles whose products are added in the precision of the cells.
TILES = 64
# Rows by which pivots are chosen.
SAMPLE = 512
# Tensor cores: classes and columns that they take, threads of a block, blocks of a processor by the eights of
# columns, and tiles of a warp whose products are added in single precision.
SPLIT_CLASSES, SPLIT_COLUMNS, SPLIT_THREADS, SPLIT_TILES = 16, 31, 128, 128
SPLIT_BLOCKS = {1: 4, 2: 4, 3: 3, 4: 2}


class Cells:
    """What the kernels are handed of some columns: cells, codes, weights, and a pivot of each class."""

    def __init__(self, rows: Any, columns: Sequence[int]) -> None:
        library = rows.library
        self.X = as_cupy(library, rows.block(columns))
        self.codes = as_cupy(library, rows.codes)
        self.weight = (
            None if rows.weight is None else as_cupy(library, rows.weight).astype(np.float64, copy=False)
        )
        self.n, self.d = self.X.shape
        self.n_classes = rows.n_classes
        self.types = CELLS.get(self.X.dtype.name), CODES.get(self.codes.dtype.name)
        self.pivot: Any = None
        self.pivot64: Any = None
        self.spread: Any = None

    @property
    def known(self) -> bool:
        """Whether there are kernels for these types."""
        return None not in self.types and self.n_classes <= MOST_CLASSES

    @property
    def defines(self) -> list[tuple[str, Any]]:
        """Types and what rows have, for the compiler."""
        return [
            ("XT", self.types[0]),
            ("CT", self.types[1]),
            ("NK", self.n_classes),
            ("WEIGHTED", int(self.weight is not None)),
        ]

    def set_pivots(self, cupy: Any, given: Floats | None = None) -> None:
        """Choose a number near the cells of each class and column, (K, d), by rows here and there."""
        shape = self.n_classes, self.d
        if given is not None:
            self.pivot = cupy.asarray(given.astype(self.X.dtype))
            self.pivot64, self.spread = self.pivot.astype(np.float64).ravel(), None
            return
        some = min(self.n, SAMPLE)
        step, defines = self.n // some, [d for d in self.defines if d[0] in ("XT", "CT")]
        self.pivot, self.pivot64 = cupy.empty(shape, self.X.dtype), cupy.empty(shape[0] * shape[1])
        self.spread = cupy.empty(shape, self.X.dtype)
        chosen = (
            self.X,
            self.codes,
            np.int64(step),
            np.int32(some),
            np.int32(self.d),
            self.pivot,
            self.pivot64,
            self.spread,
        )
        kernel(PIVOTS, "pivots", *defines)((self.n_classes,), (256,), chosen)

    def pointers(self, near: Any) -> tuple[Any, ...]:
        """The arguments that all kernels begin with; `near` are pivots, or other numbers."""
        weight = np.uint64(0) if self.weight is None else self.weight
        return self.X, self.codes, weight, near


def class_moments(rows: Any, columns: Sequence[int]) -> Moments | None:
    """Weight, mean and sum of squares of every class and column."""
    if gpu(rows.library) is None:
        return None
    with beside(rows.library) as cupy:
        cells = Cells(rows, columns)
        if not cells.known:
            return None
        cells.set_pivots(cupy)
        sums, pivot = _moment_sums(cupy, cells, gaps=False)
        if not np.isfinite(sums).all():
            sums, pivot = _moment_sums(cupy, cells, gaps=True)
        found = _moments(sums, pivot)
        if np.isfinite(sums).all() and _is_far(found.weight, sums[1], found.scatter):
            cells.set_pivots(cupy, found.location.value)
            found = _moments(*_moment_sums(cupy, cells, gaps=True))
        return found


def _is_far(weight: Floats, total: Floats, squares: Floats) -> bool:
    """Whether a pivot was so far from the mean that sums of squares about it lost digits."""
    safe = np.maximum(weight, 1e-300)
    return bool(((total / safe) ** 2 > FAR**2 * squares / safe)[(weight > 0) & (total != 0)].any())


def _moments(sums: Floats, pivot: Floats) -> Moments:
    weight, total, squares = sums
    with np.errstate(all="ignore"):
        mean = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.0)
        scatter = np.maximum(squares - total * mean, 0.0)
    pivot = np.where(weight > 0, pivot, 0.0)
    return Moments(weight, Location.sum(pivot, mean), scatter, np.zeros(pivot.shape[1]))


def _moment_sums(cupy: Any, cells: Cells, *, gaps: bool) -> tuple[Floats, Floats]:
    """Weight, sum and sum of squares about the pivots, (3, K, d), and the pivots (K, d)."""
    n_classes, width, size = cells.n_classes, cells.d, cells.X.dtype.itemsize
    nd = min(width, MOST_THREADS // n_classes)
    blocks = -(-width // nd)
    nd = -(-width // blocks)
    groups = max(1, THREADS // (n_classes * nd))
    threads = -(-groups * n_classes * nd // 32) * 32
    most = min(TILE_BYTES, room_of_block() // 2)
    tile = max(32, min(512, most // (nd * size) // 32 * 32))
    vector = blocks == 1 and is_aligned(cells.X)
    room = max(2 * tile * nd * size, 8 * threads)
    beside = 2 * tile + 4 * (tile // 32 + 1) * (n_classes + 1) + 1024
    per_processor = max(1, min(2048 // threads, SHARED // (room + beside)))
    run = kernel(
        MOMENTS,
        "moments",
        *cells.defines,
        ("ND", nd),
        ("NT", threads),
        ("NR", tile),
        ("GAPS", int(gaps)),
        ("VEC", int(vector)),
        ("MB", per_processor),
        room=room,
    )
    grid = max(1, min(processors() * per_processor // blocks, -(-cells.n // tile)))
    part = cupy.empty((grid, 3 * n_classes * width))
    arguments = (*cells.pointers(cells.pivot), part, np.int64(cells.n), np.int32(width))
    run((grid, blocks), (threads,), arguments, shared_mem=room)
    sums, pivot = folded(cupy, part, cells.pivot64)
    return sums.reshape(3, n_classes, width), pivot.reshape(n_classes, width)


def class_scatter(rows: Any, columns: Sequence[int], *, pooled: bool) -> Scatter | None:
    """Weight, mean and scatter matrix of every class, or one of all; None where rows have gaps."""
    if gpu(rows.library) is None:
        return None
    with beside(rows.library) as cupy:
        cells = Cells(rows, columns)
        products = _products_of(cells, pooled=pooled) if cells.known else None
        if products is None:
            return None
        cells.set_pivots(cupy)
        for _ in range(2):
            found = _scatter(products(cupy, cells, pooled=pooled), pooled=pooled)
            if found is None:
                return None
            scatter, far = found
            if not far:
                break
            cells.set_pivots(cupy, scatter.location.value)
        diagonal = np.diagonal(scatter.scatter, axis1=1, axis2=2).sum(axis=0)
        sd = np.sqrt(diagonal / max(float(scatter.weight.sum()), 1e-300))
        largest = np.abs(scatter.location.value).max(axis=0) + 6 * sd
        return replace(scatter, rounding=np.finfo(cells.X.dtype).eps * largest)


class ScatterSums(NamedTuple):
    """Products about the pivots (K or 1, d, d), class weights (K,), sums about pivots, and these (K, d)."""

    products: Floats
    weight: Floats
    total: Floats
    pivot: Floats


def _products_of(cells: Cells, *, pooled: bool) -> Callable[..., ScatterSums] | None:
    """What sums up products of so many columns and classes."""
    blocks = -(-cells.d // 4)
    pairs = (1 if pooled else cells.n_classes) * blocks * (blocks + 1) // 2
    if cells.d <= NARROW and pairs <= 1024:
        return _narrow_sums
    # Double precision has fast products in the array's own library.
    known = cells.X.dtype == np.float32 and cells.d <= MOST_COLUMNS
    return _wide_sums if known and wide_room(cells.d) <= room_of_block() else None


def _scatter(sums: ScatterSums, *, pooled: bool) -> tuple[Scatter, bool] | None:
    """The scatter from sums about pivots, and whether these were far from the means; None with gaps."""
    products, weight, total, pivot = sums
    n_classes, d = total.shape
    if not (np.isfinite(products).all() and np.isfinite(total).all()):
        return None
    mean = total / np.maximum(weight, 1e-300)[:, None]
    if pooled:
        root = np.sqrt(weight)[:, None] * mean
        matrix = products - root.T @ root
    else:
        matrix = products - weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    diagonal = np.einsum("gjj->gj", matrix)
    np.einsum("gjj->gj", matrix)[...] = np.maximum(diagonal, 0.0)
    group = np.zeros(n_classes, dtype=np.int64) if pooled else np.arange(n_classes)
    spread = diagonal[group] / np.maximum(weight.sum() if pooled else weight, 1e-300).reshape(-1, 1)
    far = bool((mean**2 > FAR**2 * spread)[(weight > 0)[:, None] & (mean != 0)].any())
    seen = (weight > 0)[:, None]
    place = Location.sum(np.where(seen, pivot, 0.0), mean)
    return Scatter(weight, place, matrix, np.zeros(d), pooled=pooled), far


def _narrow_sums(cupy: Any, cells: Cells, *, pooled: bool) -> ScatterSums:
    """Products of few columns: one matrix of all classes by tensor cores, if they can, else in blocks."""
    if pooled and _splits(cells):
        found = _split_sums(cupy, cells)
        if np.isfinite(found.products).all():
            return found
    return _scatter_sums(cupy, cells, pooled=pooled)


def _splits(cells: Cells) -> bool:
    """Whether tensor cores work out products, from numbers in two parts of half precision."""
    known = cells.n_classes <= SPLIT_CLASSES and cells.d <= SPLIT_COLUMNS and cells.spread is not None
    return known and cells.X.dtype == np.float32 and cells.weight is None and has_tensor_cores()


def _split_sums(cupy: Any, cells: Cells) -> ScatterSums:
    """Products by tensor cores; not finite where a cell is thousands of standard deviations away."""
    n_classes, d = cells.n_classes, cells.d
    fours, eights = -(-d // 4), d // 8 + 1
    of_warp = 32 * (16 * (fours | 1) + 2 * (16 * eights + 8 + 24))
    room = max(SPLIT_THREADS // 32 * of_warp, 64 * eights * (32 * ((eights + 1) // 2) + 16))
    blocks = SPLIT_BLOCKS[eights]
    run = kernel(
        SPLIT_SCATTER,
        "split_scatter",
        *cells.defines,
        ("ND", d),
        ("NT", SPLIT_THREADS),
        ("MB", blocks),
        ("VEC", int(is_aligned(cells.X) and d % 4 == 0)),
        room=room,
    )
    tiles, grid = shares(cells.n, blocks, SPLIT_THREADS, SPLIT_TILES)
    part = cupy.empty((grid, d * d + 2 * n_classes * d))
    arguments = (cells.X, cells.codes, cells.pivot, cells.spread, part, np.int64(cells.n), np.int32(tiles))
    run((grid,), (SPLIT_THREADS,), arguments, shared_mem=room)
    return _unfolded(cupy, cells, part, 1)


def _scatter_sums(cupy: Any, cells: Cells, *, pooled: bool) -> ScatterSums:
    """Products in blocks of 4 by 4 columns."""
    n_classes, d, size = cells.n_classes, cells.d, cells.X.dtype.itemsize
    blocks = -(-d // 4)
    sets = 1 if pooled else n_classes
    pairs = sets * blocks * (blocks + 1) // 2
    threads = -(-max(pairs, THREADS // pairs * pairs) // 32) * 32
    most = min(SCATTER_BYTES, room_of_block() - (n_classes * 4 * blocks + 256) * size)
    tile = max(32, min(256, most // (4 * blocks * size) // 32 * 32))
    room = max((tile + n_classes) * 4 * blocks * size + tile * size, 8 * threads)
    vector = cells.X.dtype == np.float32 and d % 4 == 0 and is_aligned(cells.X)
    run = kernel(
        SCATTER,
        "scatter",
        *cells.defines,
        ("ND", d),
        ("NT", threads),
        ("NR", tile),
        ("POOLED", int(pooled)),
        ("VEC", int(vector)),
        ("SPT", -(-n_classes * blocks // threads)),
        ("TILES", TILES),
        ("MB", max(1, min(1024 // threads, 200_000 // room))),
        room=room,
    )
    grid = -(-cells.n // (tile * TILES))
    part = cupy.empty((grid, sets * d * d + 2 * n_classes * d))
    run((grid,), (threads,), (*cells.pointers(cells.pivot), part, np.int64(cells.n)), shared_mem=room)
    return _unfolded(cupy, cells, part, sets)


def _wide_sums(cupy: Any, cells: Cells, *, pooled: bool) -> ScatterSums:
    """Products of many columns about the means of the classes, which a first reading finds."""
    sums, pivot = _moment_sums(cupy, cells, gaps=False)
    weight, total, _ = sums
    if not np.isfinite(total).all():
        return ScatterSums(np.full((1, cells.d, cells.d), np.nan), weight[:, 0], total, pivot)
    mean = total / np.maximum(weight, 1e-300)
    cells.set_pivots(cupy, pivot + mean)
    near = fetched(cells.pivot64).reshape(pivot.shape)
    rest = weight * ((pivot - near) + mean)
    return ScatterSums(wide_products(cupy, cells, pooled=pooled), weight[:, 0].copy(), rest, near)


def _unfolded(cupy: Any, cells: Cells, part: Any, sets: int) -> ScatterSums:
    """The sums of blocks of threads (B, sets d² + 2 K d), added up."""
    n_classes, d = cells.n_classes, cells.d
    sums, pivot = folded(cupy, part, cells.pivot64)
    matrices, rest = sums[: sets * d * d].reshape(sets, d, d), sums[sets * d * d :]
    total, weight = rest.reshape(2, n_classes, d)
    return ScatterSums(matrices, weight[:, 0].copy(), total, pivot.reshape(n_classes, d))
