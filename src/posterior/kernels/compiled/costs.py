"""Expected costs of actions, and the cheapest one."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels.compiled.jit import LINE, ROWS, TABLE, kernel

TILE = 64


# Every product is rounded before it is added, as NumPy does: a row costs the same in a table of any size.
@kernel(f"void({ROWS}, int64, {ROWS}, {TABLE}, {TABLE})", fastmath=frozenset())
def expect(proba: Floats, start: int, costs: Floats, shares: Floats, expected: Floats) -> None:
    """Expected costs of a tile of rows, side by side."""
    for r in range(min(TILE, len(proba) - start)):
        for k in range(len(shares)):
            shares[k, r] = proba[start + r, k]
    for a in range(len(costs)):
        for r in range(TILE):
            expected[a, r] = 0.0
        for k in range(len(shares)):
            cost = costs[a, k]
            for r in range(TILE):
                expected[a, r] += shares[k, r] * cost


@kernel(f"void({ROWS}, {ROWS}, float64, float64, int64[::1], {LINE}, boolean[::1])", fastmath=frozenset())
def find_cheapest(
    proba: Floats, costs: Floats, close: float, small: float, action: Ints, least: Floats, unsure: Bools
) -> None:
    """The action of least expected cost of each row, the first of equals, and that cost.

    `costs` has a row for each action and a last one with the largest size that a cost of the class has. Two
    best actions that differ by no more than `close` times the expected size, plus `small`, are `unsure`;
    so is a row whose size is not finite.
    """
    n, last = len(proba), len(costs) - 1
    shares, expected = np.zeros((proba.shape[1], TILE)), np.empty((len(costs), TILE))
    best, lowest, second = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    for start in range(0, n, TILE):
        expect(proba, start, costs, shares, expected)
        for r in range(TILE):
            best[r], lowest[r], second[r] = 0.0, expected[0, r], np.inf
        for a in range(1, last):
            for r in range(TILE):
                cost, before = expected[a, r], lowest[r]
                larger = before if cost < before else cost
                best[r] = a if cost < before else best[r]
                lowest[r] = cost if cost < before else before
                second[r] = larger if larger < second[r] else second[r]
        for r in range(min(TILE, n - start)):
            i = start + r
            action[i], least[i] = int(best[r]), lowest[r]
            unsure[i] = not (second[r] - lowest[r] > close * expected[last, r] + small)
