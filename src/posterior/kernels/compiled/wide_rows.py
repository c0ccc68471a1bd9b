"""Posteriors of many classes, row by row where the scores lie.

A tile of 64 rows that are turned to lie side by side has no room in the cache with so many classes. Here the
scores of one row are side by side, and so are its exponentials.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior._types import Bools, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, LINE, LOWEST, NUMBERS, TABLE, exp, kernel
from posterior.kernels.compiled.row_scores import BEST, POSTERIORS, SCORES
from posterior.kernels.compiled.series import log1p
from posterior.kernels.compiled.tile_vectors import DOUBLE, WORD, _load, _store

# Scores in a register.
WIDTH = 8
VECTOR = ir.VectorType(DOUBLE, WIDTH)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def extremes_of_places(t: Any, numbers: Any, n: Any, out: Any) -> Any:
    """Of every eighth of n numbers the largest, the smallest and a sum that is 0 where all are finite.

    n is a multiple of eight; `out` is the address of three times eight numbers.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, n, out = arguments
        starts = (-math.inf, math.inf, 0.0)
        top, low, mark = found = [cgutils.alloca_once(builder, VECTOR) for _ in starts]
        for each, start in zip(found, starts, strict=True):
            builder.store(ir.Constant(VECTOR, [start] * WIDTH), each)
        with cgutils.for_range(builder, builder.lshr(n, WORD(3))) as loop:
            at = builder.add(numbers, builder.mul(loop.index, WORD(8 * WIDTH)))
            x = _load(builder, at, VECTOR, 8)
            for sign, each in ((">", top), ("<", low)):
                so_far = builder.load(each)
                builder.store(builder.select(builder.fcmp_ordered(sign, x, so_far), x, so_far), each)
            nothing = builder.fmul(x, ir.Constant(VECTOR, [0.0] * WIDTH))
            builder.store(builder.fadd(builder.load(mark), nothing), mark)
        for i, each in enumerate(found):
            _store(builder, builder.load(each), builder.add(out, WORD(8 * WIDTH * i)), 8)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, whole, whole), generate


@kernel(f"float64({LINE}, {TABLE})", inner=True)
def extremes(row: Floats, found: Floats) -> float:
    """The largest score of a row, which is `found[0, 0]`.

    The smallest is `found[1, 0]`, and `found[2, 0]` is 0 where all are finite.
    """
    n = len(row)
    whole = n // WIDTH * WIDTH
    extremes_of_places(row.ctypes.data, whole, found.ctypes.data)
    top, low, mark = found[0, 0], found[1, 0], found[2, 0]
    for r in range(1, WIDTH):
        top = found[0, r] if found[0, r] > top else top
        low = found[1, r] if found[1, r] < low else low
        mark += found[2, r]
    for k in range(whole, n):
        top = row[k] if row[k] > top else top
        low = row[k] if row[k] < low else low
        mark += 0.0 * row[k]
    found[0, 0], found[1, 0], found[2, 0] = top, low, mark
    return float(top)


@kernel(f"void({LINE}, float64, float64, {LINE})", inner=True)
def take_shares(row: Floats, peak: float, low: float, share: Floats) -> None:
    """Write the exponentials of scores less the largest, down to the smallest numbers there are."""
    if low - peak > LOWEST:
        for k in range(len(row)):
            share[k] = exp(row[k] - peak)
        return
    for k in range(len(row)):  # the root has an exponential where the number itself has none
        x = row[k] - peak
        root = exp(0.5 * x)
        share[k] = root * root if x > 2 * LOWEST else 0.0


@kernel(f"float64({LINE})", fastmath=ANY_ORDER, inner=True)
def total_of(numbers: Floats) -> float:
    """The sum."""
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k]
    return total


@kernel(f"int64({LINE}, float64)", inner=True)
def first_of(row: Floats, number: float) -> int:
    """The first place of a number that is there."""
    for k in range(len(row)):
        if row[k] == number:
            return k
    return 0


@kernel(f"int64({TABLE}, {NUMBERS}, {NUMBERS}, int64, int64[::1], boolean[::1])")
def finish_rows(scores: Floats, level: Floats, log_prior: Floats, what: int, best: Ints, odd: Bools) -> int:
    """Add levels (K,), if there are any, to each row of scores, and turn them into what is asked for.

    In place, or the likeliest class, the first of equals, in `best`; scores without levels stay as they are
    then. A row without a finite largest score gets the priors. Marks rows with a score that is not finite as
    odd, and returns how many they are.
    """
    n, n_classes = scores.shape
    found, share = np.empty((3, WIDTH)), np.empty(n_classes)
    count = 0
    for i in range(n):
        row = scores[i]
        if len(level) > 0:
            for k in range(n_classes):
                row[k] += level[k]
        peak = extremes(row, found)
        odd[i] = found[2, 0] != 0.0
        count += odd[i]
        if what == SCORES:
            continue
        if what == BEST and abs(peak) < np.inf:
            best[i] = first_of(row, peak)
            continue
        if not abs(peak) < np.inf:
            for k in range(n_classes):
                share[k] = log_prior[k]
            peak = extremes(share, found)
            if what == BEST:
                best[i] = first_of(share, peak)
                continue
            for k in range(n_classes):
                row[k] = share[k]
        take_shares(row, peak, found[1, 0], share)
        if what == POSTERIORS:
            part = 1.0 / total_of(share)
            for k in range(n_classes):
                row[k] = share[k] * part
            continue
        share[first_of(row, peak)] = 0.0  # so that a log posterior of −1e-20 is kept
        others = log1p(total_of(share))
        for k in range(n_classes):
            row[k] = (row[k] - peak) - others
    return count
