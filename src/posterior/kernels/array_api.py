"""Sums and posteriors of a chunk of rows in the array API standard, for arrays of any library.

`xp` is the namespace of the arrays (https://data-apis.org/array-api). Rows are floating-point numbers (m, d)
with NaN for missing cells, `codes` class codes (m,), `weight` weights of rows of the same dtype as the rows,
or None. Nothing here leaves the device that the arrays are on.

Pivots (K, d) are a cell of each class in each column, so that the deviations, and the scatter, of what is
constant within a class are exactly 0.
"""

from typing import Any, NamedTuple

Array = Any


class MomentSums(NamedTuple):
    """Weight of the cells that are there, mean − pivot and centred sum of squares, each (K, d)."""

    weight: Array
    remainder: Array
    scatter: Array


class ScatterSums(NamedTuple):
    """Weight (K,), mean − pivot (K, d), scatter about the class means (K or 1, d, d)."""

    weight: Array
    remainder: Array
    scatter: Array
    third: Array | None
    fourth: Array | None


def indicators(xp: Any, codes: Array, n_classes: int, dtype: Any) -> Array:
    """One column for each class, 1 in the rows that have it, (m, K)."""
    classes = xp.arange(n_classes, dtype=codes.dtype, device=_device(codes))
    return xp.astype(codes[:, None] == classes[None, :], dtype)


def weighted(indicator: Array, weight: Array | None) -> Array:
    """Indicators times the weights of their rows."""
    return indicator if weight is None else indicator * weight[:, None]


def class_moments(
    xp: Any, rows: Array, codes: Array, weight: Array | None, n_classes: int, pivot: Array
) -> MomentSums:
    """Moments by class and column over the cells that are not missing, about pivots (K, d)."""
    one = indicators(xp, codes, n_classes, rows.dtype)
    by_class = xp.permute_dims(weighted(one, weight), (1, 0))
    there = xp.astype(~xp.isnan(rows), rows.dtype)
    apart = xp.where(xp.isnan(rows), xp.zeros_like(rows), rows - xp.take(pivot, codes, axis=0))
    total = by_class @ there
    safe = xp.where(total > 0, total, xp.ones_like(total))
    remainder = (by_class @ apart) / safe
    z = (apart - xp.take(remainder, codes, axis=0)) * there
    # What rounding left of the mean (Chan, Golub & LeVeque, 1983: the corrected two-pass algorithm).
    left = (by_class @ z) / safe
    scatter = by_class @ (z * z) - total * left * left
    return MomentSums(total, remainder + left, xp.where(scatter > 0, scatter, xp.zeros_like(scatter)))


def class_scatter(  # noqa: PLR0913  (as its twins in NumPy)
    xp: Any,
    rows: Array,
    codes: Array,
    weight: Array | None,
    n_classes: int,
    pivot: Array,
    *,
    pooled: bool,
    fourth: bool,
) -> ScatterSums:
    """Scatter about the class means of complete rows; on request also Σ w z_j² z_l and Σ w z_j² z_l²."""
    one = indicators(xp, codes, n_classes, rows.dtype)
    by_class = xp.permute_dims(weighted(one, weight), (1, 0))
    total = xp.sum(by_class, axis=1)
    safe = xp.where(total > 0, total, xp.ones_like(total))
    apart = rows - xp.take(pivot, codes, axis=0)
    remainder = (by_class @ apart) / safe[:, None]
    z = apart - xp.take(remainder, codes, axis=0)
    groups = [weight] if pooled else [weighted(one[:, k : k + 1], weight)[:, 0] for k in range(n_classes)]
    square = z * z if fourth else None
    sums, cubes, quarts = [], [], []
    for w in groups:
        heavy = z if w is None else z * w[:, None]
        sums.append(xp.permute_dims(heavy, (1, 0)) @ z)
        if square is not None:
            heavy = square if w is None else square * w[:, None]
            cubes.append(xp.permute_dims(heavy, (1, 0)) @ z)
            quarts.append(xp.permute_dims(heavy, (1, 0)) @ square)
    third, last = (xp.stack(cubes), xp.stack(quarts)) if fourth else (None, None)
    return ScatterSums(total, remainder, xp.stack(sums), third, last)


def precision(xp: Any, rows: Array) -> tuple[Array, Array]:
    """Columns with a number that is none of single precision, and with one off a grid of 1/1024, (d,)."""
    there = xp.isfinite(rows)
    grid = rows * 1024
    double = xp.astype(xp.astype(rows, xp.float32), rows.dtype) != rows
    return xp.any(there & double, axis=0), xp.any(there & (grid != xp.floor(grid)), axis=0)


def class_sums(xp: Any, rows: Array, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Weighted column sums by class, (K, d), of rows without missing cells."""
    by_class = weighted(indicators(xp, codes, n_classes, rows.dtype), weight)
    return xp.permute_dims(by_class, (1, 0)) @ rows


def class_weights(xp: Any, codes: Array, weight: Array | None, n_classes: int, dtype: Any) -> Array:
    """The weight of each class, (K,)."""
    return xp.sum(weighted(indicators(xp, codes, n_classes, dtype), weight), axis=0)


def category_table(
    xp: Any, levels: Array, codes: Array, weight: Array | None, shape: tuple[int, int], dtype: Any
) -> Array:
    """The weight of every level of a column by class, (K, V); cells outside 0…V−1 are not counted."""
    n_classes, n_levels = shape
    by_class = weighted(indicators(xp, codes, n_classes, dtype), weight)
    return xp.permute_dims(by_class, (1, 0)) @ indicators(xp, levels, n_levels, dtype)


def posteriors(xp: Any, scores: Array, log_prior: Array, *, logs: bool) -> Array:
    """Posteriors, or their logarithms, from log joints (m, K); an impossible row gets the priors."""
    peak = xp.max(scores, axis=1, keepdims=True)
    impossible = xp.isinf(peak) & (peak < 0)
    prior = xp.zeros_like(scores) + log_prior
    scores = xp.where(impossible, prior, scores)
    peak = xp.where(impossible, xp.max(prior, axis=1, keepdims=True), peak)
    below = scores - peak
    shares = xp.exp(below)
    if not logs:
        return shares / xp.sum(shares, axis=1, keepdims=True)
    first = xp.argmax(below, axis=1)
    places = xp.arange(scores.shape[1], dtype=first.dtype, device=_device(scores))
    others = xp.where(first[:, None] == places[None, :], xp.zeros_like(shares), shares)
    # ln(1 + the others) keeps a log posterior of −1e-20.
    return below - xp.log1p(xp.sum(others, axis=1, keepdims=True))


def best(xp: Any, scores: Array, log_prior: Array) -> Array:
    """Code of the most probable class of each row, the first of equals; an impossible row has the priors."""
    peak = xp.max(scores, axis=1, keepdims=True)
    impossible = xp.isinf(peak) & (peak < 0)
    return xp.argmax(xp.where(impossible, xp.zeros_like(scores) + log_prior, scores), axis=1)


def evidence(xp: Any, scores: Array) -> Array:
    """Log densities ln Σ_k exp(score_k) of rows, (m,)."""
    peak = xp.max(scores, axis=1, keepdims=True)
    safe = xp.where(xp.isinf(peak), xp.zeros_like(peak), peak)
    return (xp.log(xp.sum(xp.exp(scores - safe), axis=1, keepdims=True)) + safe)[:, 0]


def _device(array: Array) -> Any:
    """Where an array is; None for arrays of a library that has one device."""
    return getattr(array, "device", None)


class SoftmaxSlope(NamedTuple):
    """Σ w (ln Σ exp η − η of the class), and its derivatives by coefficients (K, d) and by levels (K,)."""

    value: Array
    pull: Array
    level: Array


def softmax_slope(
    xp: Any, rows: Array, codes: Array, weight: Array | None, coef: Array, offset: Array
) -> SoftmaxSlope:
    """Value and slope of the softmax loss with scores x·coef_k + offset_k, (K, d) and (K,)."""
    scores = rows @ xp.permute_dims(coef, (1, 0)) + offset
    own = indicators(xp, codes, coef.shape[0], rows.dtype)
    below = scores - xp.max(scores, axis=1, keepdims=True)
    shares = xp.exp(below)
    others = shares * (1.0 - own)
    # What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
    rest = xp.sum(others, axis=1, keepdims=True)
    mine = xp.sum(shares * own, axis=1, keepdims=True)
    total = rest + mine
    loss = xp.where(
        rest < mine,
        xp.log1p(rest / xp.where(mine > 0, mine, xp.ones_like(mine))),
        xp.log(total) - xp.sum(below * own, axis=1, keepdims=True),
    )
    force = xp.where(own > 0, xp.zeros_like(others) - rest / total, others / total)
    if weight is not None:
        force, loss = force * weight[:, None], loss * weight[:, None]
    return SoftmaxSlope(xp.sum(loss), xp.permute_dims(force, (1, 0)) @ rows, xp.sum(force, axis=0))


def softmax_curvature(
    xp: Any, rows: Array, weight: Array | None, coef: Array, offset: Array, first: int
) -> Array:
    """Σ w ∂²ℓ (x, 1)(x, 1)' of every pair a ≤ b of the scores from `first` on, (pairs, d + 1, d + 1)."""
    scores = rows @ xp.permute_dims(coef, (1, 0)) + offset
    shares = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    shares = shares / xp.sum(shares, axis=1, keepdims=True)
    ones = xp.ones((rows.shape[0], 1), dtype=rows.dtype, device=_device(rows))
    wide = xp.concat([rows, ones], axis=1)
    turned = xp.permute_dims(wide, (1, 0))
    blocks = []
    for a in range(first, coef.shape[0]):
        for b in range(a, coef.shape[0]):
            if a == b:  # 1 − p without its rounding
                bend = shares[:, a] * (xp.sum(shares[:, :a], axis=1) + xp.sum(shares[:, a + 1 :], axis=1))
            else:
                bend = -shares[:, a] * shares[:, b]
            bend = bend if weight is None else bend * weight
            blocks.append(turned @ (wide * bend[:, None]))
    return xp.stack(blocks)
