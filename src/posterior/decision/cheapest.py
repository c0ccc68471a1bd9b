"""Expected costs row by row, and the cheapest action where rounding and underflow have no say."""

from collections.abc import Iterator
from math import fsum

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels.choice import compiled

CELLS = 1 << 16  # rows are taken so many cells at a time
CLOSE = 1e-9  # sums of non-negative terms are exact to far more digits than this
SAME = 1e-14  # terms that cancel to less than this are summed exactly
LARGEST = 960  # costs are scaled to below this power of two: the smallest stay, and sums stay finite
SMALL = 1e-290  # below this, products of probabilities and costs lose digits
TINY = SMALL * 2.0**LARGEST  # the same beside scaled costs


def probabilities(logs: Floats) -> Floats:
    """Probabilities from their logs, row by row in memory: the last bit may depend on the layout."""
    return np.exp(np.ascontiguousarray(logs))


def expected(logs: Floats, costs: Floats) -> Floats:
    """Σ_k p_k·cost(k, a), (n, A), class after class: a row costs the same to the last bit in any company.

    A product of matrices does not promise that, and a threshold on the costs of other rows relies on it.
    """
    proba = probabilities(logs)
    if costs.ndim == 2:
        return _expected_in_columns(proba, costs)
    out = np.zeros((len(proba), costs.shape[-1]))
    for start, stop in _parts(len(proba), costs):
        part = out[start:stop]
        for k in range(proba.shape[1]):
            part += proba[start:stop, k, None] * _of_rows(costs, start, stop)[..., k, :]
    return out


def _expected_in_columns(proba: Floats, costs: Floats) -> Floats:
    """The same sums with rows side by side, which is much faster where actions are few."""
    out = np.zeros((costs.shape[-1], len(proba)))
    for start in range(0, len(proba), CELLS):
        columns = np.ascontiguousarray(proba[start : start + CELLS].T)
        for action, of_action in enumerate(costs.T.tolist()):
            total = out[action, start : start + CELLS]
            for share, cost in zip(columns, of_action, strict=True):
                total += share * cost
    return out.T


def cheapest(logs: Floats, costs: Floats) -> tuple[Ints, Floats]:
    """The action of least expected cost, (n,), the first of equals, and that cost.

    Rows whose two best actions are closer than rounding can tell are compared by their regrets.
    """
    if costs.shape[-1] == 1:
        return np.zeros(len(logs), dtype=np.int64), expected(logs, costs)[:, 0]
    # The last column is how large the terms of the sums are at most, and so how much is lost to rounding.
    size = np.abs(costs).max(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        action, least, unsure = _cheapest(logs, np.concatenate([costs, size], axis=-1))
    if unsure.any():
        action[unsure] = _by_regret(logs[unsure], costs if costs.ndim == 2 else costs[unsure])
    return action, least


def _cheapest(logs: Floats, costs: Floats) -> tuple[Ints, Floats, Bools]:
    """The action of least expected cost, that cost, and where rounding may decide.

    The last column of `costs` is no action but the size of the others.
    """
    fast = compiled("costs", logs.size, len(logs)) if costs.ndim == 2 else None
    if fast is not None:
        action, least, unsure = np.empty(len(logs), np.int64), np.empty(len(logs)), np.empty(len(logs), bool)
        by_action = np.ascontiguousarray(costs.T)
        fast.find_cheapest(probabilities(logs), by_action, CLOSE, SMALL, action, least, unsure)
        return action, least, unsure
    found = expected(logs, costs)
    least, second = found[:, 0].copy(), np.full(len(found), np.inf)
    action = np.zeros(len(found), dtype=np.int64)
    for j, cost in enumerate(found[:, 1:-1].T, start=1):
        action[cost < least] = j
        np.minimum(second, np.maximum(least, cost), out=second)
        np.minimum(least, cost, out=least)
    return action, least, ~(second - least > CLOSE * found[:, -1] + SMALL)  # so are sums that are not finite


def _by_regret(logs: Floats, costs: Floats) -> Ints:
    """The action of least expected cost, (n,), the first of equals.

    Costs are taken as regrets, less that of the cheapest action for the class: this changes no decision and
    keeps the digits of costs such as 1e8 + 1. Rows whose two best actions are closer than the sums can tell
    are decided by comparing actions in pairs.
    """
    action = np.zeros(len(logs), dtype=np.int64)
    for start, stop in _parts(len(logs), costs):
        part, table = logs[start:stop], _scaled(_of_rows(costs, start, stop))
        regret = expected(part, table - table.min(axis=-1, keepdims=True))
        chosen = regret.argmin(axis=1)
        close = _close(regret)
        if close.any():
            chosen[close] = _by_pairs(part[close], table if table.ndim == 2 else table[close])
        action[start:stop] = chosen
    return action


def _parts(n_rows: int, costs: Floats) -> Iterator[tuple[int, int]]:
    K, A = costs.shape[-2:]
    step = max(1, CELLS // (max(K, A) if costs.ndim == 2 else K * A))
    return ((start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def _of_rows(costs: Floats, start: int, stop: int) -> Floats:
    return costs if costs.ndim == 2 else costs[start:stop]


def _scaled(costs: Floats) -> Floats:
    """Costs times a power of two, the largest then below 2^960: exact, and differences stay finite."""
    _, exponent = np.frexp(np.abs(costs).max(axis=(-2, -1), keepdims=True))
    return np.asarray(np.ldexp(costs, LARGEST - exponent))


def _close(regret: Floats) -> Bools:
    """Rows whose two least sums are not told apart for certain."""
    two = np.partition(regret, 1, axis=1)
    return np.asarray(two[:, 1] - two[:, 0] <= CLOSE * two[:, 1] + TINY)


def _by_pairs(logs: Floats, costs: Floats) -> Ints:
    """The cheapest action of each row, each compared with the best of those before it.

    Only the classes in which two actions differ matter, and only relative to the likeliest of these:
    with zero-one costs this compares two log posteriors, and no probability is too small.
    """
    rows, best = np.arange(len(logs)), np.zeros(len(logs), dtype=np.int64)
    for action in range(1, costs.shape[-1]):
        before = costs[:, best].T if costs.ndim == 2 else costs[rows, :, best]
        dearer = costs[..., action] - before
        among = np.where(dearer != 0, logs, -np.inf)
        top = among.max(axis=1, keepdims=True)
        top[np.isneginf(top)] = 0.0
        best[_signs(np.exp(among - top) * dearer) < 0] = action
    return best


def _signs(terms: Floats) -> Floats:
    """The signs of sums of terms, (n,); where they all but cancel, of their exact sums.

    Or rounding would tell apart sums of the same terms in another order. The difference of two is exact.
    """
    total = terms.sum(axis=1)
    unsure = (np.abs(total) <= SAME * np.abs(terms).sum(axis=1)) & (np.count_nonzero(terms, axis=1) > 2)
    total[unsure] = [fsum(row) for row in terms[unsure].tolist()]
    return np.asarray(np.sign(total))
