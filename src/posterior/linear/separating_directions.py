"""Directions that separate classes (directions of recession of a softmax likelihood), by linear programming.

With a_ij·b the margin of row i over class j ≠ y_i, the mean loss has no minimum exactly if there is a b with
all a_ij·b ≥ 0 and not all 0 (Albert & Anderson, 1984). A program for all rows would be too large; one for the
rows with the smallest margins, to which those are added that its answer gets wrong, soon has the same answer.

Albert, A. & Anderson, J. A. (1984). On the existence of maximum likelihood estimates in logistic regression
    models. Biometrika 71, 1-10.
Geyer, C. J. (2009). Likelihood inference in exponential families and directions of recession. Electronic
    Journal of Statistics 3, 259-289.
Konis, K. (2007). Linear programming algorithms for detecting separated data in binary logistic regression
    models. D.Phil. thesis, University of Oxford.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import optimize, sparse

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.loss_sums import LinearScores
from posterior.linear.margins import ScaledRows, SmallestMargins

# Pairs that a program starts with and gets in a round, numbers it may hold, rounds, steps in all of them.
ROOM = 1000
CELLS = 1 << 23
ROUNDS, FEW_ROUNDS = 100, 8
STEPS = 20_000
# Directions have no scale, so that a wide box makes the solver's absolute tolerance a small relative one.
BOX = 1e3
TOLERANCE = 1e-10
# A share of the largest coefficient that counts as none, and of the largest singular value.
FAINT = 1e-7
RANK = 1e-11


# Budget of one linear program in multiply–adds: a step of the simplex method goes over its non-zeros once.
# A program that needs more is given up (a few seconds; almost all take less than one). It is a number of
# steps, and not a time, so that the same table gets the same answer on every machine.
WORK = 1 << 31


class GaveUpError(RuntimeError):
    """A linear program that is too large, or took too many steps; says which."""


class Program:
    """Linear constraints a_ij·b ≥ 0 on a direction b, for the pairs met so far."""

    def __init__(self, table: ScaledRows) -> None:
        self.table = table
        self.rows = np.zeros((0, table.shape[0] * table.shape[1]))
        self.steps = STEPS

    @property
    def room(self) -> int:
        """How many pairs a round adds: more where there are more unknowns."""
        return max(ROOM, 2 * self.rows.shape[1])

    def add(self, found: SmallestMargins) -> None:
        """Add constraints for these pairs."""
        rows = np.vstack([self.rows, found.matrix(self.table.n_classes, self.table.intercept)])
        if rows.size > CELLS:
            raise GaveUpError(
                f"the linear program grew to {rows.shape[0]:,} rows by {rows.shape[1]:,} columns"
            )
        self.rows = rows

    def highest(self, gain: Floats) -> Floats | None:
        """The direction within the box whose gain is highest; None where no direction gains."""
        b = self._solved(-gain, [(-BOX, BOX)] * len(gain))
        return b if gain @ b > 0 else None

    def widest(self) -> Floats | None:
        """The direction within the box whose smallest margin is largest; None where that is not positive."""
        size = self.rows.shape[1]
        solve: Any = optimize.linprog
        answer = solve(
            np.append(np.zeros(size), -1.0),
            A_ub=np.hstack([-self.rows, np.ones((len(self.rows), 1))]),
            b_ub=np.zeros(len(self.rows)),
            bounds=[*[(-BOX, BOX)] * size, (None, None)],
            method="highs",
            options={"maxiter": max(self.steps, 1)},
        )
        self.steps -= int(answer.nit)
        return np.asarray(answer.x[:size]) if answer.status == 0 and answer.x[size] > 0 else None

    def sparsest(self, gain: Floats) -> Floats:
        """The direction of a given gain with the smallest Σ|b|, levels not counted."""
        size, steepest = len(gain), float(np.abs(gain).max())
        cost = np.ones(self.table.shape)
        cost[:, len(self.table.kept) :] = 0.0
        twice = self._solved(
            np.tile(cost.ravel(), 2),
            (0, None),
            A_eq=np.hstack([gain, -gain])[None] / steepest,
            b_eq=np.array([BOX]),
            twice=True,
        )
        b = twice[:size] - twice[size:]
        return np.where(np.abs(b) > FAINT * np.abs(b).max(), b, 0.0)

    def _solved(self, cost: Floats, bounds: Any, *, twice: bool = False, **equal: Floats) -> Floats:
        rows = sparse.csr_array(-self.rows)
        rows = sparse.hstack([rows, -rows], format="csr") if twice else rows
        solve: Any = optimize.linprog
        largest = float(np.abs(cost).max())
        affordable = WORK // max(rows.nnz, 1)
        # Small costs matter, so that they are scaled only where the solver does not cope with large ones.
        for unit, tolerance in (1.0, TOLERANCE), (largest, TOLERANCE), (largest, 100 * TOLERANCE):
            answer = solve(
                cost / unit,
                A_ub=rows,
                b_ub=np.zeros(rows.shape[0]),
                bounds=bounds,
                method="highs-ds",
                options={
                    "maxiter": max(min(self.steps, affordable), 1),
                    "primal_feasibility_tolerance": tolerance,
                    "dual_feasibility_tolerance": tolerance,
                },
                **equal,
            )
            self.steps -= answer.nit
            if answer.status == 0:
                return np.asarray(answer.x)
            if self.steps <= 0 or answer.status == 1:
                break
        raise GaveUpError(
            f"a linear program of {rows.shape[0]:,} by {rows.shape[1]:,} was not solved within its budget"
        )


def search(table: ScaledRows, start: LinearScores, settled: Sequence[LinearScores]) -> LinearScores | None:
    """A direction that tells some of the undecided pairs apart and gets none of them wrong, if there is one.

    A pair that is settled stays so whatever is added, in small measure, to the direction that settled it.
    Searching on until nothing is found settles every pair that any direction can (Geyer, 2009).
    """
    program = Program(table)
    seen = table.smallest_margins(start, settled, program.room)
    if not len(seen.key):
        return None
    if seen.smallest > table.strict(start):
        return start
    gain = table.total(settled).ravel()
    for _ in range(ROUNDS):
        program.add(seen)
        b = program.highest(gain)
        if b is None:
            return None
        line = table.direction(b)
        seen = table.smallest_margins(line, settled, program.room)
        if seen.smallest >= -table.slack(line):
            return line if seen.largest > table.strict(line) else None
    raise GaveUpError(f"{ROUNDS} linear programs did not settle it")


def widest(table: ScaledRows, start: LinearScores) -> tuple[LinearScores, Program] | None:
    """A direction that tells all pairs apart beyond doubt, if one is soon found, and the pairs that it met.

    Its smallest margin is the largest among the pairs met, so that few readings of the rows find it.
    """
    program, line = Program(table), start
    for _ in range(FEW_ROUNDS):
        seen = table.smallest_margins(line, (), program.room)
        program.add(seen)
        if seen.smallest > table.strict(line):
            return line, program
        b = program.widest()
        if b is None:
            return None
        line = table.direction(b)
    return None


def sparsest(table: ScaledRows, start: LinearScores, met: Program | None = None) -> LinearScores:
    """A direction that gets no pair wrong and needs few columns, where there is one at all.

    `met` has pairs that are close under the direction to start from, where they were looked for before.
    """
    program = met or Program(table)
    seen = table.smallest_margins(start, (), program.room) if met is None else None
    gain = table.total(()).ravel()
    for _ in range(ROUNDS):
        if seen is not None:
            program.add(seen)
        line = table.direction(program.sparsest(gain))
        seen = table.smallest_margins(line, (), program.room)
        if seen.smallest >= -table.slack(line):
            return line
    raise GaveUpError(f"{ROUNDS} linear programs did not settle it")


def free_directions(table: ScaledRows, settled: Sequence[LinearScores]) -> Floats:
    """An orthonormal basis, (R·(kept + level), q), of the directions that move none of the undecided pairs.

    What they leave alone has a finite estimate, that of the undecided pairs; nothing else has. One direction
    that mixes all of the basis at random shows whether there is a pair that any of it moves.
    """
    size = table.shape[0] * table.shape[1]
    rows, basis = np.zeros((0, size)), np.eye(size)
    rounding = EPSILON * (table.size[table.kept] / table.scale[table.kept]).max(initial=0.0)
    coarse = zero = max(RANK, 8 * float(rounding))
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        mix = rng.normal(size=basis.shape[1])
        line = table.direction(basis @ mix)
        seen = table.smallest_margins(line, settled, max(ROOM, 2 * size), by_size=True)
        if max(seen.largest, -seen.smallest) <= max(zero * float(np.linalg.norm(mix)), table.slack(line)):
            return basis
        more = seen.matrix(table.n_classes, table.intercept)
        rows = np.asarray(np.linalg.qr(np.vstack([rows, more]), mode="r"))
        _, values, turned = np.linalg.svd(rows)
        zero = coarse * float(values[0])
        basis = turned[int((values > zero).sum()) :].T
        if not basis.shape[1]:
            return basis
    raise GaveUpError(f"{ROUNDS} rounds did not settle which coefficients are finite")


def single_columns(table: ScaledRows) -> LinearScores | None:
    """A direction that uses every column which is enough to tell classes apart, if there is one.

    A column is, exactly if there is a value (0 where there is no intercept) that no row of some classes
    exceeds and no row of the others falls short of: where the highest of several lines changes, it changes
    from one group of them to the rest.
    """
    there = np.flatnonzero(table.ranges.rows)
    low, high = table.ranges.low[there], table.ranges.high[there]
    order = np.lexsort((high, low), axis=0)
    left = np.maximum.accumulate(np.take_along_axis(high, order, axis=0), axis=0)[:-1]
    right = np.take_along_axis(low, order, axis=0)[1:]
    cuts = (left <= right) if table.intercept else (left <= 0) & (right >= 0)
    cuts &= table.scale > 0
    columns = np.flatnonzero(cuts.any(axis=0))
    if not len(columns):
        return None
    order, cuts, scale = there[order[1:, columns]], cuts[:, columns], table.scale[columns]
    place = (left / 2 + right / 2)[:, columns] - table.centre[columns] if table.intercept else 0.0
    slopes, levels = np.zeros((2, table.n_classes, len(columns)))
    np.put_along_axis(slopes, order, np.cumsum(cuts, axis=0) / scale, axis=0)
    np.put_along_axis(levels, order, -np.cumsum(cuts * place, axis=0) / scale, axis=0)
    coef = np.zeros((table.n_classes - 1, len(table.scale)))
    coef[:, columns] = slopes[1:] - slopes[0]
    return table.line(coef, (levels[1:] - levels[0]).sum(axis=1))
