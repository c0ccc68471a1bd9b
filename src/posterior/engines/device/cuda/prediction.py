"""Scores of rows and what is made of them in one kernel: the table is read once."""

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np

from posterior._types import Floats
from posterior.engines.device.arrays import ArrayLibrary
from posterior.engines.device.cuda.device import (
    CELLS,
    as_cupy,
    beside,
    fetched,
    given_back,
    gpu,
    is_aligned,
    module,
    processors,
)
from posterior.engines.device.cuda.sources import ANSWERS, FEW
from posterior.families import MultivariateNormalDistribution, NormalDistribution
from posterior.math import LOG_2PI

MODES = {"posterior": 0, "log_posterior": 1, "best": 2, "joint": 3, "density": 3, "evidence": 4}
RELATIVE = frozenset({"posterior", "log_posterior", "best"})
# Columns that a thread holds in registers, classes, bytes of shared memory, and digits that single precision
# may lose.
WIDEST, MOST_CLASSES, MOST_SHARED, MOST_LOST = 64, 256, 200_000, 500.0
THREADS = 128
# Blocks of a processor for which the compiler keeps registers, by the kind of scores and rows of a thread.
MOST_BLOCKS = {(0, 2): 6, (1, 2): 6, (2, 4): 4}
# Parameters that fit the first cache of constants.
FEW_NUMBERS = 240


class Parameters(NamedTuple):
    """What a kernel has in constant memory: the kind of scores, their arrays, and how many digits they lose.

    `lost` is about how many times the rounding of a cell a score is off by.
    """

    kind: int
    arrays: dict[str, Floats]
    lost: float


def answer(model: Any, rows: Any, what: str, log_prior: Floats) -> Any:
    """The answers about all rows; None without a kernel for this model, or with a row out of the ordinary."""
    if gpu(rows.library) is None or len(model.distributions) != 1:
        return None
    if model.rules and what not in RELATIVE:
        return None
    ((block, distribution),) = model.distributions
    weight = model.weight_of(block) if what not in ("evidence", "density") else np.ones(len(block.columns))
    found = _parameters(distribution, weight, relative=what in RELATIVE)
    if found is None:
        return None
    start = found.arrays["START"] + (0.0 if what == "density" else log_prior)
    found = found._replace(arrays=found.arrays | {"START": start})
    return scored(rows, block.columns, found, what)


# The parameters of distributions that were asked before.
_known: "weakref.WeakKeyDictionary[Any, dict[Any, Parameters | None]]" = weakref.WeakKeyDictionary()


def _parameters(distribution: Any, weight: Floats, *, relative: bool) -> Parameters | None:
    """What a kernel needs of a distribution, worked out once; None where there is no kernel for it."""
    make = PARAMETERS.get(type(distribution))
    if make is None:
        return None
    kept, key = _known.setdefault(distribution, {}), (relative, weight.tobytes())
    if key not in kept:
        kept[key] = make(distribution, weight, relative)
    return kept[key]


def scored(rows: Any, columns: Any, found: Parameters, what: str) -> Any:
    """What the kernel says of all rows, or None if that is not finite or there is no such kernel."""
    library = rows.library
    n_classes, d = len(found.arrays["START"]), len(columns)
    if d > WIDEST or n_classes > MOST_CLASSES:
        return None
    with beside(library) as cupy:
        X = as_cupy(library, rows.block(columns))
        if X.dtype.name not in CELLS:
            return None
        fast = X.dtype == np.float32 and found.lost < MOST_LOST
        few = fast and found.kind == 0 and n_classes * d <= FEW_NUMBERS
        if few and what in ("posterior", "log_posterior") and d % 4 == 0 and is_aligned(X):
            return _few(cupy, library, X, found, MODES[what])
        numbers = _packed(found, n_classes, d).astype(np.float32 if fast else np.float64)
        mode, each = MODES[what], _rows_per_thread(found.kind, d, fast=fast)
        shape = X.shape[0] if mode in (2, 4) else (X.shape[0], n_classes)
        out = cupy.empty(shape, np.int64 if mode == 2 else X.dtype)
        blocks, wide = -(-d // 4), n_classes | 1
        cells = (
            THREADS
            * each
            * max(4 * (blocks + 1 - blocks % 2) * X.dtype.itemsize, wide * numbers.dtype.itemsize)
        )
        room = -(-len(numbers) // 4) * 4 * numbers.dtype.itemsize + cells
        if room > MOST_SHARED:
            return None
        kernel = module(
            ANSWERS,
            ("XT", CELLS[X.dtype.name]),
            ("FT", "float" if fast else "double"),
            ("OT", "long long" if mode == 2 else CELLS[X.dtype.name]),
            ("ND", d),
            ("NK", n_classes),
            ("SK", wide),
            ("NT", THREADS),
            ("RPT", each),
            ("MB", MOST_BLOCKS.get((found.kind, each), 1)),
            ("KIND", found.kind),
            ("MODE", mode),
            ("SINGLE", int(fast)),
            ("VEC", int(X.dtype == np.float32 and d % 4 == 0 and is_aligned(X))),
        ).get_function("answer")
        kernel.max_dynamic_shared_size_bytes = room
        par, odd = cupy.asarray(numbers), cupy.zeros(1, np.int32)
        grid = min(-(-X.shape[0] // (THREADS * each)), processors() * (2048 // THREADS))
        kernel((grid,), (THREADS,), (X, par, out, np.int64(X.shape[0]), odd), shared_mem=room)
        return None if fetched(odd)[0] else given_back(library, out)


def _few(cupy: Any, library: ArrayLibrary, X: Any, found: Parameters, mode: int) -> Any:
    """Posteriors, or their logs, by the kernel for few columns and classes; None if not all are finite."""
    n_classes, d = found.arrays["SCALE"].shape
    kernel = module(FEW, ("ND", d), ("NK", n_classes), ("NT", 256), ("MODE", mode))
    numbers = {
        name: np.ascontiguousarray(found.arrays[name], dtype=np.float32)
        for name in ("PIVOT", "REST", "START", "SCALE", "APART")
    }
    out, odd = cupy.empty((X.shape[0], n_classes), X.dtype), cupy.zeros(1, np.int32)
    level = cupy.asarray(found.arrays["LEVEL"].astype(np.float32))
    arguments = (X, level, out, np.int64(X.shape[0]), odd)
    with _constants:  # until the kernel has ended: other threads have other parameters
        _set_constants(cupy, kernel, numbers)
        kernel.get_function("few")((-(-X.shape[0] // 256),), (256,), arguments)
        strange = bool(fetched(odd)[0])
    return None if strange else given_back(library, out)


# Constant memory belongs to a module, and a module to all threads; what was last written to it.
_constants = threading.Lock()
_written: dict[tuple[int, int], bytes] = {}


def _set_constants(cupy: Any, kernel: Any, numbers: dict[str, Any]) -> None:
    """Write parameters to constant memory, unless they are there."""
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream().ptr
    place, told = (runtime.getDevice(), id(kernel)), b"".join(a.tobytes() for a in numbers.values())
    if _written.get(place) == told:
        return
    for name, array in numbers.items():
        target = kernel.get_global(name).ptr
        runtime.memcpyAsync(target, array.ctypes.data, array.nbytes, runtime.memcpyHostToDevice, stream)
    _written[place] = told


def _rows_per_thread(kind: int, d: int, *, fast: bool) -> int:
    """Rows that share what a thread reads of the parameters, as many as registers hold."""
    if not fast or d > 32:
        return 1
    return 4 if kind == 2 and d <= 24 else 2


def _packed(found: Parameters, n_classes: int, d: int) -> Floats:
    """The parameters as one array, columns in fours, in the order in which the kernel has them."""
    arrays, blocks = found.arrays, -(-d // 4)

    def fours(array: Floats) -> Floats:
        return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 4 * blocks - d)])

    head = np.concatenate([fours(arrays["PIVOT"]), fours(arrays["REST"]), arrays["START"]])
    head = np.pad(head, (0, -len(head) % 4))
    if found.kind == 0:
        pairs = [fours(a).reshape(n_classes, blocks, 4) for a in (arrays["SCALE"], -arrays["APART"])]
        own = np.stack(pairs, axis=2).reshape(n_classes, -1)
        return np.concatenate([head, fours(arrays["LEVEL"]).ravel(), own.ravel()])
    if found.kind == 1:
        return np.concatenate([head, fours(arrays["COEF"]).ravel()])
    square = np.zeros((n_classes, 4 * blocks, 4 * blocks))
    square[:, :d, :d] = arrays["WHITE"].transpose(0, 2, 1)
    strips = [square[:, 4 * b : 4 * b + 4, : 4 * b + 4].reshape(n_classes, -1) for b in range(blocks)]
    own = np.concatenate([fours(arrays["MEAN"]), *strips], axis=1)
    return np.concatenate([head, own.ravel()])


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
    return Parameters(0, arrays | _split(centre), float(np.abs(apart).sum(axis=1).max(initial=0.0)))


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
        return Parameters(1, {"COEF": coef, "START": -0.5 * w * (means**2).sum(axis=1)} | centre, lost)
    if not w > 0:
        return None
    d, n_classes = distribution.n_columns, distribution.n_classes
    white = np.broadcast_to(white, (n_classes, d, d)) * np.sqrt(0.5 * w)
    apart = np.abs(means) * np.sqrt(0.5 * w)
    lost = float((np.einsum("kji,kj->ki", np.abs(white), np.broadcast_to(sd, (n_classes, d))) + apart).max())
    level = w * distribution._levels
    return Parameters(
        2, {"WHITE": white, "MEAN": means * np.sqrt(0.5 * w), "START": level} | centre, lost * np.sqrt(d)
    )


PARAMETERS: dict[type, Any] = {
    NormalDistribution: _normal,
    MultivariateNormalDistribution: _multivariate,
}
