"""Stochastic gradient descent: a step after every few rows, in one loop over all of them.

Reference: `SGD.update` in `posterior.linear`, whose steps these are.
"""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, TABLE, kernel, step
from posterior.kernels.compiled.series import log1p, share
from posterior.kernels.layouts import in_rows
from posterior.kernels.memory import weights_of
from posterior.kernels.reference import is_sparse

# How much the average favours late steps: step s of many has a weight like s³.
LATE = 3
# The loss has so many classes (0: squared errors); rows of a batch, l2 penalty, steps made before; what turns
# derivatives by the scores into a step, and the length of every step.
RULE = f"int64, int64, float64, int64, {ROWS}, {NUMBERS}"
# Coefficients of each score, with or without a level behind; their average, if one is asked for.
STATE = f"{TABLE}, {TABLE}"


@step
def _forces(n_classes: int, scores: Floats, target: float, w: float, out: Floats) -> float:
    """Write the derivatives of the loss of a row by its scores; the loss."""
    R = len(scores)
    if n_classes == 0:
        off = scores[0] - target
        out[0] = w * off
        return float(0.5 * (w * off) * off)
    if R == 1:
        sign = 1.0 - 2.0 * target
        wrong = scores[0] * sign
        e = share(-abs(wrong))
        out[0] = w * sign * ((1.0 if wrong > 0 else e) / (1.0 + e))
        return float(w * (max(wrong, 0.0) + log1p(e)))
    first, y = n_classes - R, int(target)
    peak = 0.0 if first else scores[0]
    for c in range(R):
        peak = max(peak, scores[c])
    below = peak - (0.0 if y < first else scores[y - first])
    others = share(-peak) if first and y > 0 else 0.0
    for c in range(R):
        out[c] = share(scores[c] - peak)
        if c != y - first:
            others += out[c]
    own = share(-below)
    pace = w / (others + own)
    for c in range(R):
        out[c] *= pace
    if y >= first:
        out[y - first] = -others * pace
    if others < own:
        return float(w * log1p(others / own))
    return float(w * (below + log1p(others + own - 1.0)))


@step
def _product(a: Floats, b: Floats) -> float:
    """Σ a b: every fourth product, then the four sums."""
    n = len(b)
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    whole = n // 4 * 4
    for j in range(0, whole, 4):
        p += a[j] * b[j]
        q += a[j + 1] * b[j + 1]
        r += a[j + 2] * b[j + 2]
        s += a[j + 3] * b[j + 3]
    for j in range(whole, n):
        p += a[j] * b[j]
    return (p + q) + (r + s)


@step
def _turned(even: Floats, force: Floats, out: Floats) -> None:
    for c in range(len(out)):
        out[c] = 0.0
        for b in range(len(out)):
            out[c] += even[c, b] * force[b]


@step
def _end_step(
    pace: float, penalty: float, n_rows: int, made: int, d: int, place: Floats, average: Floats, pull: Floats
) -> None:
    """Shrink the coefficients, take the step along the derivatives of a batch, and move the average."""
    R, width = place.shape
    shrink, late = 1.0 - pace * n_rows * penalty, (1.0 + LATE) / (made + LATE)
    for c in range(R):
        for j in range(d):
            place[c, j] = place[c, j] * shrink - pace * pull[c, j]
        if width > d:
            place[c, d] -= pace * pull[c, d]
    for c in range(len(average)):
        for j in range(width):
            average[c, j] += late * (place[c, j] - average[c, j])


@kernel(f"float64({ROWS}, {NUMBERS}, {NUMBERS}, {CODES}, {RULE}, {STATE})")
def descend(
    X: Floats,
    target: Floats,
    weight: Floats,
    order: Ints,
    n_classes: int,
    batch: int,
    penalty: float,
    made: int,
    even: Floats,
    rates: Floats,
    place: Floats,
    average: Floats,
) -> float:
    """Make the steps of all rows in their order; the loss of the rows, each just before its step."""
    R, width = place.shape
    d, value = X.shape[1], 0.0
    scores, force, turned, pull = np.zeros(R), np.zeros(R), np.zeros(R), np.zeros((R, width))
    for number in range(len(rates)):
        begin = number * batch
        end = min(begin + batch, len(order))
        pull[:] = 0.0
        for t in range(begin, end):
            i = order[t]
            x, w = X[i], weight[i] if len(weight) else 1.0
            for c in range(R):
                scores[c] = _product(place[c], x) + (place[c, d] if width > d else 0.0)
            value += _forces(n_classes, scores, target[i], w, force)
            _turned(even, force, turned)
            for c in range(R):
                for j in range(d):
                    pull[c, j] += turned[c] * x[j]
                if width > d:
                    pull[c, d] += turned[c]
        pace = rates[number] / batch
        _end_step(pace, penalty, end - begin, made + number + 1, d, place, average, pull)
    return value


@kernel(f"float64({NUMBERS}, {CODES}, {CODES}, int64, {NUMBERS}, {NUMBERS}, {CODES}, {RULE}, {STATE})")
def descend_sparse(
    data: Floats,
    indices: Ints,
    indptr: Ints,
    d: int,
    target: Floats,
    weight: Floats,
    order: Ints,
    n_classes: int,
    batch: int,
    penalty: float,
    made: int,
    even: Floats,
    rates: Floats,
    place: Floats,
    average: Floats,
) -> float:
    """The same of sparse rows."""
    R, width = place.shape
    value = 0.0
    scores, force, turned, pull = np.zeros(R), np.zeros(R), np.zeros(R), np.zeros((R, width))
    for number in range(len(rates)):
        begin = number * batch
        end = min(begin + batch, len(order))
        pull[:] = 0.0
        for t in range(begin, end):
            i = order[t]
            w = weight[i] if len(weight) else 1.0
            for c in range(R):
                scores[c] = place[c, d] if width > d else 0.0
                for at in range(indptr[i], indptr[i + 1]):
                    scores[c] += place[c, indices[at]] * data[at]
            value += _forces(n_classes, scores, target[i], w, force)
            _turned(even, force, turned)
            for c in range(R):
                for at in range(indptr[i], indptr[i + 1]):
                    pull[c, indices[at]] += turned[c] * data[at]
                if width > d:
                    pull[c, d] += turned[c]
        pace = rates[number] / batch
        _end_step(pace, penalty, end - begin, made + number + 1, d, place, average, pull)
    return value


def steps(
    table: Any,
    target: AnyArray,
    weight: Floats | None,
    order: Ints,
    rule: tuple[int, int, float, int, Floats, Floats],
    place: Floats,
    average: Floats | None,
) -> float:
    """Make the steps of a `RULE` for all rows in their order: moves coefficients (R, d or d + 1) and average.

    The loss of the rows, each taken just before its step.
    """
    order = np.ascontiguousarray(order, dtype=np.int64)
    y, w = np.ascontiguousarray(target, dtype=np.float64), weights_of(weight)
    kept = np.zeros((0, place.shape[1])) if average is None else average
    if not is_sparse(table):
        return float(descend(in_rows(table), y, w, order, *rule, place, kept))
    cells = table.tocsr()
    data = np.ascontiguousarray(cells.data, dtype=np.float64)
    indices, indptr = (np.ascontiguousarray(each, dtype=np.int64) for each in (cells.indices, cells.indptr))
    return float(descend_sparse(data, indices, indptr, table.shape[1], y, w, order, *rule, place, kept))
