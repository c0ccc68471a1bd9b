"""From log joint densities to posteriors, log posteriors, the likeliest class and the evidence."""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import LOWEST, NUMBERS, ROWS, exp, kernel
from posterior.kernels.compiled.series import log1p

TILE = 64


@kernel(f"int64({ROWS}, int64, {NUMBERS}, float64[:, ::1], float64[::1], float64[::1])", inner=True)
def load(scores: Floats, start: int, log_prior: Floats, tile: Floats, peak: Floats, mark: Floats) -> int:
    """Turn a tile of rows so that they lie side by side, less the largest score of each.

    A row without a finite largest score gets the priors. Returns how many rows have a score that is not
    finite; `mark` is room for one number a row.
    """
    n_classes = len(tile)
    for r in range(TILE):
        for k in range(n_classes):
            tile[k, r] = scores[start + r, k]
    for r in range(TILE):
        peak[r], mark[r] = -np.inf, 0.0
    for k in range(n_classes):
        for r in range(TILE):
            peak[r] = tile[k, r] if tile[k, r] > peak[r] else peak[r]
            mark[r] += 0.0 * tile[k, r]  # NaN once a score is not finite
    check = 0.0
    for r in range(TILE):
        check += mark[r]
    odd = 0
    if check != 0.0:
        for r in range(TILE):
            if mark[r] != 0.0:
                odd += 1
            if not abs(peak[r]) < np.inf:
                peak[r] = -np.inf
                for k in range(n_classes):
                    tile[k, r] = log_prior[k]
                    peak[r] = max(peak[r], log_prior[k])
    for k in range(n_classes):
        for r in range(TILE):
            tile[k, r] -= peak[r]
    return odd


@kernel("void(float64[:, ::1])", inner=True)
def exponentials(tile: Floats) -> None:
    """Exponentials of numbers that are not positive, down to the smallest numbers there are."""
    lowest = 0.0
    for k in range(len(tile)):
        for r in range(TILE):
            lowest = tile[k, r] if tile[k, r] < lowest else lowest
    if lowest > LOWEST:
        for k in range(len(tile)):
            for r in range(TILE):
                tile[k, r] = exp(tile[k, r])
        return
    for k in range(len(tile)):
        for r in range(TILE):  # the root has an exponential where the number itself has none
            root = exp(0.5 * tile[k, r])
            tile[k, r] = root * root if tile[k, r] > 2 * LOWEST else 0.0


@kernel(f"int64(float64[:, ::1], {NUMBERS})")
def to_posteriors(scores: Floats, log_prior: Floats) -> int:
    """Turn log joint densities, up to a term of the row, into posteriors, in place; rows are whole tiles.

    Returns how many rows have a score that is not finite.
    """
    n, n_classes = scores.shape
    tile, peak, total = np.empty((n_classes, TILE)), np.empty(TILE), np.empty(TILE)
    odd = 0
    for start in range(0, n, TILE):
        odd += load(scores, start, log_prior, tile, peak, total)
        exponentials(tile)
        for r in range(TILE):
            total[r] = 0.0
        for k in range(n_classes):
            for r in range(TILE):
                total[r] += tile[k, r]
        for r in range(TILE):
            total[r] = 1.0 / total[r]
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] *= total[r]
        for r in range(TILE):
            for k in range(n_classes):
                scores[start + r, k] = tile[k, r]
    return odd


@kernel(f"int64(float64[:, ::1], {NUMBERS})")
def to_log_posteriors(scores: Floats, log_prior: Floats) -> int:
    """Turn log joint densities, up to a term of the row, into log posteriors; as `to_posteriors` does."""
    n, n_classes = scores.shape
    tile, logs = np.empty((n_classes, TILE)), np.empty((n_classes, TILE))
    peak, others, waiting = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    odd = 0
    for start in range(0, n, TILE):
        odd += load(scores, start, log_prior, tile, peak, others)
        for k in range(n_classes):
            for r in range(TILE):
                logs[k, r] = tile[k, r]
        exponentials(tile)
        for r in range(TILE):
            others[r], waiting[r] = 0.0, 1.0
        for k in range(n_classes):
            for r in range(TILE):
                first = waiting[r] if logs[k, r] == 0.0 else 0.0  # of the largest, which is no other
                others[r] += 0.0 if first == 1.0 else tile[k, r]
                waiting[r] -= first
        for r in range(TILE):
            others[r] = log1p(others[r])  # which keeps a log posterior of −1e-20
        for r in range(TILE):
            for k in range(n_classes):
                scores[start + r, k] = logs[k, r] - others[r]
    return odd


@kernel(f"int64({ROWS}, {NUMBERS}, int64[::1])")
def find_best(scores: Floats, log_prior: Floats, best: Ints) -> int:
    """The class with the largest score in each row, the first of equals.

    A row without a finite largest score gets the class with the largest prior. Returns how many rows have a
    score that is not finite.
    """
    n, n_classes = scores.shape
    odd = 0
    for i in range(n):
        largest, at, mark = scores[i, 0], 0, 0.0 * scores[i, 0]
        for k in range(1, n_classes):
            mark += 0.0 * scores[i, k]  # NaN once a score is not finite
            if scores[i, k] > largest:
                largest, at = scores[i, k], k
        if mark != 0.0:
            odd += 1
        if not abs(largest) < np.inf:
            at = 0
            for k in range(1, n_classes):
                if log_prior[k] > log_prior[at]:
                    at = k
        best[i] = at
    return odd


@kernel(f"void({ROWS}, float64[::1])")
def sum_up(joint: Floats, out: Floats) -> None:
    """The logarithm of Σ_k exp(joint_k) in each row."""
    n, n_classes = joint.shape
    for i in range(n):
        peak, at = joint[i, 0], 0
        for k in range(1, n_classes):
            if joint[i, k] > peak:
                peak, at = joint[i, k], k
        if not abs(peak) < np.inf:
            out[i] = peak
            continue
        others = 0.0
        for k in range(n_classes):
            if k != at and joint[i, k] - peak > LOWEST:
                others += exp(joint[i, k] - peak)
        out[i] = peak + np.log1p(others)


def normalize(scores: Floats, log_prior: Floats, logs: bool) -> int:
    """What `to_log_posteriors` or `to_posteriors` does, for any number of rows."""
    change = to_log_posteriors if logs else to_posteriors
    whole = len(scores) // TILE * TILE
    odd = change(scores[:whole], log_prior)
    rest = len(scores) - whole
    if rest:
        tile = np.zeros((TILE, scores.shape[1]))
        tile[:rest] = scores[whole:]
        odd += change(tile, log_prior)
        scores[whole:] = tile[:rest]
    return odd
