"""Scores of rows and what is made of them in one kernel: the table is read once."""

import weakref
from typing import Any, NamedTuple

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.engines.device.cuda.device import (
    CELLS,
    as_cupy,
    beside,
    fetched,
    given_back,
    gpu,
    has_tensor_cores,
    is_aligned,
    kernel,
    processors,
    room_of_block,
)
from posterior.engines.device.cuda.score_sources import ANSWERS
from posterior.engines.device.cuda.sums import SHARED
from posterior.families import MultivariateNormalDistribution, NormalDistribution
from posterior.math import LOG_2PI

MODES = {"posterior": 0, "log_posterior": 1, "best": 2, "joint": 3, "density": 3, "evidence": 4}
RELATIVE = frozenset({"posterior", "log_posterior", "best"})
# Columns that a thread holds in registers, classes, bytes of shared memory, and digits that single precision
# may lose.
WIDEST, MOST_CLASSES, MOST_SHARED, MOST_LOST = 64, 256, 200_000, 500.0
# Kinds of scores: of single columns, linear, squared lengths of whitened rows, the same by tensor cores.
COLUMNS, LINEAR, WHITENED, WHITENED_IN_PARTS = range(4)
# Threads of a block, and those of a processor, by the kind of scores.
THREADS, MOST_RESIDENT = 128, (768, 768, 384, 384)
# Whitened rows by tensor cores: most columns, and digits that numbers in two parts may lose.
SPLIT_COLUMNS, SPLIT_LOST = 32, 125.0
# Bytes of arguments that every driver takes, less those of the other arguments.
MOST_ARGUMENTS = 4000


class Parameters:
    """What a kernel needs to know: the kind of scores, their arrays, and how many digits they lose.

    `lost` is about how many times the rounding of a cell a score is off by.
    """

    def __init__(self, kind: int, arrays: dict[str, Floats], lost: float) -> None:
        self.kind, self.arrays, self.lost = kind, arrays, lost
        self._packed: dict[int, Floats] = {}
        self._ready: dict[Any, tuple[Any, Any]] = {}

    @property
    def n_classes(self) -> int:
        """How many classes have a score."""
        return len(self.arrays["START"])

    def raised(self, start: Floats) -> "Parameters":
        """The same with something added to the score of each class."""
        return Parameters(self.kind, self.arrays | {"START": self.arrays["START"] + start}, self.lost)

    def packed(self, kind: int) -> Floats:
        """All numbers in the order in which the kernel of a kind has them."""
        if kind not in self._packed:
            self._packed[kind] = _packed(kind, self.arrays)
        return self._packed[kind]

    def numbers(self, cupy: Any, plan: "Plan") -> tuple[Any, Any]:
        """The numbers in the memory of the device, and as an argument of the kernel: one of them."""
        key = cupy.cuda.runtime.getDevice(), plan.kind, plan.dtype, plan.few
        if key not in self._ready:
            self._ready[key] = as_arguments(cupy, self.packed(plan.kind).astype(plan.dtype), few=plan.few)
        return self._ready[key]


def as_arguments(cupy: Any, numbers: AnyArray, *, few: bool) -> tuple[Any, Any]:
    """Numbers in the memory of the device and nothing else, or nothing and the numbers as one argument."""
    if not few:
        return cupy.asarray(numbers), np.uint8(0)
    argument = np.zeros((), dtype=[("v", numbers.dtype, (len(numbers),))])
    argument["v"] = numbers
    return np.uint64(0), argument


def answer(model: Any, rows: Any, what: str, log_prior: Floats) -> Any:
    """The answers about all rows; None without a kernel for this model, or with a row out of the ordinary."""
    if gpu(rows.library) is None or len(model.distributions) != 1:
        return None
    if model.rules and what not in RELATIVE:
        return None
    ((block, distribution),) = model.distributions
    weight = model.weight_of(block) if what not in ("evidence", "density") else np.ones(len(block.columns))
    prior = np.zeros(model.n_classes) if what == "density" else log_prior
    found = _parameters(distribution, weight, prior, relative=what in RELATIVE)
    return None if found is None else scored(rows, block.columns, found, what)


# The parameters of distributions that were asked before, and most sets of priors and weights kept of one.
_known: "weakref.WeakKeyDictionary[Any, dict[Any, Parameters | None]]" = weakref.WeakKeyDictionary()
MOST_KEPT = 8


def _parameters(distribution: Any, weight: Floats, prior: Floats, *, relative: bool) -> Parameters | None:
    """What a kernel needs of a distribution, worked out once; None where there is no kernel for it."""
    make = PARAMETERS.get(type(distribution))
    if make is None:
        return None
    kept, key = _known.setdefault(distribution, {}), (relative, weight.tobytes(), prior.tobytes())
    if key not in kept:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = make(distribution, weight, relative)
        kept[key] = None if found is None else found.raised(prior)
    return kept[key]


def scored(rows: Any, columns: Any, found: Parameters, what: str) -> Any:
    """What the kernel says of all rows, or None if that is not finite or there is no such kernel."""
    library = rows.library
    n_classes, d = found.n_classes, len(columns)
    if d > WIDEST or n_classes > MOST_CLASSES:
        return None
    with beside(library) as cupy:
        X = as_cupy(library, rows.block(columns))
        if X.dtype.name not in CELLS:
            return None
        plan = _plan(found, X.dtype.name, d, MODES[what])
        out = _run(cupy, plan, found, X)
        if out is None and plan.kind == WHITENED_IN_PARTS:
            out = _run(cupy, _plan(found, X.dtype.name, d, MODES[what], in_parts=False), found, X)
        return None if out is None else given_back(library, out)


def _run(cupy: Any, plan: "Plan", found: Parameters, X: Any) -> Any:
    """The answers of the kernel in an array of CuPy; None if one is not finite or it needs too much room."""
    if plan.room > min(MOST_SHARED, room_of_block()):
        return None
    n, d = X.shape
    shape = n if plan.mode in (2, 4) else (n, found.n_classes)
    out, odd = cupy.empty(shape, np.int64 if plan.mode == 2 else X.dtype), cupy.zeros(1, np.int32)
    vectors = is_aligned(X) and (d * X.dtype.itemsize) % 16 == 0
    run = kernel(ANSWERS, "answer", *plan.defines, ("VEC", int(vectors)), room=plan.room)
    in_memory, as_arguments = found.numbers(cupy, plan)
    grid = min(-(-n // (plan.threads * plan.each)), processors() * plan.blocks)
    arguments = (X, in_memory, out, np.int64(n), odd, as_arguments)
    run((grid,), (plan.threads,), arguments, shared_mem=plan.room)
    return None if fetched(odd)[0] else out


class Plan(NamedTuple):
    """How a kernel is compiled and started: rows a thread, threads, shared memory, blocks at once."""

    kind: int
    mode: int
    each: int
    threads: int
    room: int
    blocks: int
    few: bool
    dtype: str
    defines: tuple[tuple[str, Any], ...]


def _plan(found: Parameters, cells: str, d: int, mode: int, *, in_parts: bool = True) -> Plan:
    """Which kernel for these parameters and columns, and of what size; numbers may be taken in two parts."""
    n_classes, size = found.n_classes, np.dtype(cells).itemsize
    fast = cells == "float32" and found.lost < MOST_LOST
    dtype = "float32" if fast else "float64"
    split = in_parts and fast and found.kind == WHITENED and _splits(found, d)
    kind = WHITENED_IN_PARTS if split else found.kind
    unit, numbers = np.dtype(dtype).itemsize, len(found.packed(kind))
    few = fast and kind in (COLUMNS, LINEAR) and numbers * unit <= MOST_ARGUMENTS
    each, threads = _rows_per_thread(kind, d, fast=fast)
    blocks = -(-d // 4)
    # A row of scores is as wide as in the answer, or an odd number where that spreads them over the memory.
    wide = n_classes if n_classes % 4 and cells == dtype else n_classes | 1
    tile = 4 * (blocks + 1 - blocks % 2) * size
    room = threads * each * (tile + wide * unit) + (0 if few else -(-numbers // 4) * 4 * unit)
    at_once = max(1, min(SHARED // (room + 1024), MOST_RESIDENT[kind] // threads))
    defines = {
        "XT": CELLS[cells],
        "FT": CELLS[dtype],
        "OT": "long long" if mode == 2 else CELLS[cells],
        "ND": d,
        "NK": n_classes,
        "SK": wide,
        "NT": threads,
        "RPT": each,
        "MB": at_once,
        "KIND": kind,
        "MODE": mode,
        "FEW": int(few),
    }
    return Plan(kind, mode, each, threads, room, at_once, few, dtype, tuple(defines.items()))


def _splits(found: Parameters, d: int) -> bool:
    """Whether whitened rows are worked out by tensor cores, from numbers in two parts."""
    lost = np.einsum("kji,j->ki", np.abs(found.arrays["WHITE"]), found.arrays["SPREAD"]).max()
    return d <= SPLIT_COLUMNS and float(lost) < SPLIT_LOST and has_tensor_cores()


def _rows_per_thread(kind: int, d: int, *, fast: bool) -> tuple[int, int]:
    """Rows that share what a thread reads of the parameters, as many as registers hold; and threads."""
    if not fast or d > 32 or kind == WHITENED_IN_PARTS:
        return 1, THREADS
    return (4, THREADS) if kind == WHITENED and d <= 24 else (2, THREADS)


def _packed(kind: int, arrays: dict[str, Floats]) -> Floats:
    """The parameters as one array, columns in fours, in the order in which the kernel has them."""
    n_classes, d = len(arrays["START"]), len(arrays["PIVOT"])
    blocks = -(-d // 4)

    def fours(array: Floats) -> Floats:
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 4 * blocks - d)])

    head = np.concatenate([fours(arrays["PIVOT"]), fours(arrays["REST"]), arrays["START"]])
    head = np.pad(head, (0, -len(head) % 4))
    if kind == COLUMNS:
        pairs = [fours(a).reshape(n_classes, blocks, 4) for a in (arrays["SCALE"], -arrays["APART"])]
        own = np.stack(pairs, axis=2).reshape(n_classes, -1)
        return np.concatenate([head, fours(arrays["LEVEL"]).ravel(), own.ravel()])
    if kind == LINEAR:
        return np.concatenate([head, fours(arrays["COEF"]).ravel()])
    if kind == WHITENED_IN_PARTS:
        return _whitening(arrays, head)
    square = np.zeros((n_classes, 4 * blocks, 4 * blocks))
    square[:, :d, :d] = arrays["WHITE"].transpose(0, 2, 1)
    strips = [square[:, 4 * b : 4 * b + 4, : 4 * b + 4].reshape(n_classes, -1) for b in range(blocks)]
    own = np.concatenate([fours(arrays["MEAN"]), *strips], axis=1)
    return np.concatenate([head, own.ravel()])


def _whitening(arrays: dict[str, Floats], head: Floats) -> AnyArray:
    """What whitens rows by tensor cores, in single precision: parts of half precision are two to a number.

    Whitened column i is made of columns 0 … i. Two classes are side by side, in tiles of eight columns.
    """
    n_classes, d = arrays["MEAN"].shape
    eights, pairs, half = -(-d // 8), -(-n_classes // 2), 0 < d % 8 <= 4
    own = eights - half
    # A power of two for each column, so that cells are about 1; the factors have what is left.
    unit = 2.0 ** np.round(np.log2(np.where(arrays["SPREAD"] > 0, arrays["SPREAD"], 1.0)))
    factors, means = np.zeros((2 * pairs, 8 * eights, 8 * eights)), np.zeros((2 * pairs, 8 * eights))
    factors[:n_classes, :d, :d] = arrays["WHITE"].transpose(0, 2, 1) * unit
    means[:n_classes, :d] = arrays["MEAN"]
    factors, means = factors.reshape(pairs, 2, eights, 8, eights, 8), -means.reshape(pairs, 2, eights, 8)
    tiles = [(factors[:, k, i], means[:, k, i], i + 1) for k in range(2) for i in range(own)]
    if half:
        shared = [np.concatenate([a[:, k, own, :4] for k in range(2)], axis=1) for a in (factors, means)]
        tiles.append((shared[0], shared[1], eights))
    words = [mean.astype(np.float32) for _, mean, _ in tiles]
    # Thread 4 g + c has columns 2 c and 2 c + 1 of an eight, for whitened column g of the tile.
    g, c = np.divmod(np.arange(32), 4)
    for tile, _, needed in tiles:
        taken = np.stack([tile[:, g, :needed, 2 * c], tile[:, g, :needed, 2 * c + 1]], axis=-1)
        high = taken.astype(np.float16)
        low = (taken - high).astype(np.float16)
        each = np.stack([high, low], axis=-2).view(np.float32)[..., 0].transpose(1, 0, 2, 3)
        even = needed // 2 * 2
        words += [each[:, :, h : h + 2].reshape(pairs, 128) for h in range(0, even, 2)]
        words += [each[:, :, even:].reshape(pairs, -1)]
    scale = np.pad(1 / unit, (0, 4 * -(-d // 4) - d)).astype(np.float32)
    return np.concatenate([head.astype(np.float32), scale, np.concatenate(words, axis=1).ravel()])


def _split(centre: Any) -> dict[str, Floats]:
    """A centre as a number of single precision and the rest, so that little is lost of large offsets."""
    value = centre.pivot.astype(np.float32).astype(np.float64)
    return {"PIVOT": value, "REST": (centre.pivot - value) + centre.remainder}


def _normal(distribution: NormalDistribution, weight: Floats, _relative: bool) -> Parameters:
    """Standard scores of columns about a common centre."""
    n_classes = distribution.n_classes
    centre = distribution.location.average(np.full(n_classes, 1 / n_classes))
    scale = np.sqrt(0.5 * weight / distribution.variance)
    apart = (distribution.location - centre) * scale
    level = -0.5 * weight * (np.log(distribution.variance) + LOG_2PI)
    arrays = {"SCALE": scale, "APART": apart, "LEVEL": level, "START": level.sum(axis=1)}
    return Parameters(COLUMNS, arrays | _split(centre), float(np.abs(apart).sum(axis=1).max(initial=0.0)))


def _multivariate(
    distribution: MultivariateNormalDistribution, weight: Floats, relative: bool
) -> Parameters | None:
    """The linear form where classes share a covariance and only they matter; else whitened rows."""
    if distribution.n_columns > 64:
        return None
    w, centre = float(weight[0]), _split(distribution._centre)
    white = np.stack([white for white, _ in distribution._whiteners])
    means = distribution._white_means
    sd = np.sqrt(np.einsum("gjj->gj", distribution.covariance))
    if distribution.tied and relative:
        coef = w * (means @ white[0].T)
        lost = float((np.abs(coef) * sd).sum(axis=1).max())
        return Parameters(LINEAR, {"COEF": coef, "START": -0.5 * w * (means**2).sum(axis=1)} | centre, lost)
    if not w > 0:
        return None
    d, n_classes = distribution.n_columns, distribution.n_classes
    white = np.broadcast_to(white, (n_classes, d, d)) * np.sqrt(0.5 * w)
    apart = np.abs(means) * np.sqrt(0.5 * w)
    lost = float((np.einsum("kji,kj->ki", np.abs(white), np.broadcast_to(sd, (n_classes, d))) + apart).max())
    level = w * distribution._levels
    spread = np.hypot(sd, distribution.location - distribution._centre).max(axis=0)
    arrays = {"WHITE": white, "MEAN": means * np.sqrt(0.5 * w), "START": level, "SPREAD": spread}
    return Parameters(WHITENED, arrays | centre, lost * np.sqrt(d))


PARAMETERS: dict[type, Any] = {
    NormalDistribution: _normal,
    MultivariateNormalDistribution: _multivariate,
}
