"""Separation: classes that a linear score predicts without error, by which columns, and what to do about it.

First comes a certificate that costs one pass over the rows and exists for almost all data (`finite_optimum`);
where it does not, the exact answer by linear programming.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import Bools, Floats, Ints
from posterior.linear.finite_optimum import has_finite_optimum, unpenalised_softmax
from posterior.linear.loss_sums import LinearScores
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.margins import ScaledRows, SeparatedRows
from posterior.linear.objective import Objective, Point
from posterior.linear.separating_directions import (
    FAINT,
    RANK,
    GaveUpError,
    free_directions,
    search,
    single_columns,
    sparsest,
    widest,
)
from posterior.notices import SeparationWarning, warn

__all__ = ["Separation", "find_separation", "has_finite_optimum"]

# Coefficients up to which linear programs are solved, and up to which a direction of few columns is sought.
LARGEST = 1000
SPARSE = 300
# How many names a message lists.
NAMED = 6


@dataclass(frozen=True, eq=False)
class Separation:
    """Classes that a linear score tells apart without error, so that their likelihood has no maximum.

    `columns` are those of a direction along which every row's own class gains on the others or keeps level;
    `alone` says that each of them is enough by itself, `partly` that other columns tell more rows apart, and
    `origins` from which columns of the table they come. `direction` are its coefficients, shown as those of a
    model are: one row for two classes, else one a class. `apart` counts, for every class, the rows whose
    margin over another class is positive in some such direction, out of `rows` in all; `n_rows` have any.

    `unbounded` marks the coefficients, shown likewise and with the intercept last, that go to infinity: those
    that are not zero in all directions which leave the other margins as they are. The rest converge to their
    estimates from the rows and classes that are not told apart (Albert & Anderson, 1984; Konis, 2007).
    Coefficients that no row determines, as of a column that repeats another, count as infinite unless
    whitened coordinates make them the shortest. None: not determined, for the `reason` given.
    """

    names: tuple[str, ...]
    intercept: bool
    columns: tuple[str, ...]
    alone: bool
    direction: Annotated[Floats, "R d any"]
    apart: Annotated[Ints, "K K code"]
    rows: Annotated[Ints, "K code"]
    n_rows: int
    unbounded: Annotated[Bools | None, "R p any"] = None
    reason: str = ""
    labels: tuple[Any, ...] = ()
    partly: bool = False
    origins: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every row is told apart from every other class."""
        others = ~np.eye(len(self.rows), dtype=bool)
        return bool((self.apart == self.rows[:, None])[others].all())

    @property
    def classes(self) -> tuple[tuple[int, int], ...]:
        """Pairs of classes of which some rows are told apart."""
        some = (self.apart + self.apart.T) > 0
        return tuple((int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(some, 1)), strict=True))

    @property
    def infinite(self) -> tuple[tuple[int, str], ...]:
        """Coefficients without a finite estimate: the class (1 where there are two) and the column."""
        return self._where(True)

    @property
    def finite(self) -> tuple[tuple[int, str], ...]:
        """Coefficients with a finite estimate."""
        return self._where(False)

    def _where(self, unbounded: bool) -> tuple[tuple[int, str], ...]:
        if self.unbounded is None:
            return ()
        first = int(len(self.unbounded) == 1)
        terms = self.names + ("intercept",) * self.intercept
        places = zip(*np.nonzero(self.unbounded == unbounded), strict=True)
        return tuple((int(k) + first, terms[j]) for k, j in places)

    def __str__(self) -> str:
        return self._found(self.labels or list(range(len(self.rows))))

    def message(self, labels: Sequence[Any]) -> str:
        """What was found, what it means and what can be done, with the classes called by their labels.

        >>> counts, rows, lost = np.array([[0, 3], [4, 0]]), np.array([3, 4]), np.ones((1, 2), dtype=bool)
        >>> found = Separation(("age",), True, ("age",), True, np.ones((1, 1)), counts, rows, 7, lost)
        >>> print(found.message(["no", "yes"]))
        complete separation of classes 'no' and 'yes' by column 'age' (7 of 7 rows): no finite
        maximum-likelihood estimate exists. ... Infinite: 'age', the intercept; finite: none. Remedies: a
        penalty (C=1.0); penalty="firth", which is finite for any data; or leaving out column 'age', unless
        others separate the classes too.
        """
        total = int(self.rows.sum())
        parts = [
            f"{self._found(labels)} ({self.n_rows:,} of {total:,} rows): no finite maximum-likelihood "
            "estimate exists.",
            "The solver stopped on the way to infinity; the probabilities are close to their limits, but the "
            "size of an infinite coefficient and its standard error mean nothing.",
            self._estimates(),
            'Remedies: a penalty (C=1.0); penalty="firth", which is finite for any data',
        ]
        leave = self.origins or self.columns
        some = 0 < len(leave) <= NAMED and not self.partly
        return " ".join(parts) + (
            f"; or leaving out {_listed('column', leave)}, unless others separate the classes too."
            if some
            else "."
        )

    def _found(self, labels: Sequence[Any]) -> str:
        kind = "complete" if self.complete else "quasi-complete"
        return f"{kind} separation of {self._who(labels)} by {self._by()}"

    def _by(self) -> str:
        if not self.columns:
            return "the intercept alone"
        listed = _listed("column", self.columns)
        if len(self.columns) > 1:
            listed = f"each of {listed}" if self.alone else f"{listed} together"
        return f"several columns, some rows already by {listed}" if self.partly else listed

    def _who(self, labels: Sequence[Any]) -> str:
        """Classes apart from all others, else the pairs."""
        K = len(self.rows)
        pairs = self.classes
        if K == 2:
            return f"classes {labels[0]!r} and {labels[1]!r}"
        if len(pairs) == K * (K - 1) // 2:
            return "all classes"
        alone = [k for k in range(K) if sum(k in pair for pair in pairs) == K - 1]
        if alone and all(set(pair) & set(alone) for pair in pairs):
            return f"{_listed('class', [labels[k] for k in alone])} from all others"
        told = [f"{labels[a]!r} from {labels[b]!r}" for a, b in pairs]
        return "classes " + _cut(told)

    def _estimates(self) -> str:
        if self.unbounded is None:
            return f"Which coefficients are finite was not determined: {self.reason}."
        terms = [repr(name) for name in self.names] + ["the intercept"] * self.intercept
        lost: Bools = np.any(self.unbounded, axis=0)
        finite = [term for term, gone in zip(terms, lost, strict=True) if not gone]
        infinite = [term for term, gone in zip(terms, lost, strict=True) if gone]
        told = f"Infinite: {_cut(infinite)}; " if infinite else ""
        return f"{told}finite: {_cut(finite) if finite else 'none'}."


def _listed(kind: str, names: Sequence[Any]) -> str:
    plural = "es" if kind.endswith("s") else "s"
    return f"{kind}{plural if len(names) > 1 else ''} {_cut([repr(name) for name in names])}"


def _cut(told: Sequence[str]) -> str:
    more = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return ", ".join(told[:NAMED]) + more


# -- the search ----------------------------------------------------------------------------------------


def find_separation(objective: Objective, point: Point) -> Separation | None:
    """The separation of the classes of an unpenalised softmax regression; None where an optimum exists.

    `point` is anywhere, best where a solver stopped. The search holds a few thousand rows at a time. Where it
    would take too long it is given up with a warning, and None is returned.

    >>> from posterior.engines import LocalDataset
    >>> from posterior.linear.basis import Basis, moments
    >>> from posterior.linear.design import Design
    >>> from posterior.linear.penalties import ElasticNet
    >>> from posterior.linear.scan import Scan
    >>> from posterior.schema import Schema, read_table
    >>> table = read_table(np.array([[1.0, 7.0], [2.0, 5.0], [3.0, 6.0], [4.0, 6.0], [5.0, 5.0], [6.0, 7.0]]))
    >>> schema = Schema.infer(table)
    >>> rows = LocalDataset(schema, schema.encode(table), np.array([0, 0, 0, 1, 1, 1]))
    >>> scan = Scan.of(rows, Design.of(schema))
    >>> objective = Objective(scan, SoftmaxLoss(2), ElasticNet(), Basis.whitened(moments(scan), scan.n_rows))
    >>> print(find_separation(objective, objective.slope(objective.zero())))
    complete separation of classes 0 and 1 by column 'x0'
    """
    unpenalised_softmax(objective)
    with one_blas_thread:
        table = ScaledRows.of(objective)
        single = single_columns(table)
        settled, reason = _settled(table, _start(objective, point, table), single)
        if settled:
            return _described(objective, table, settled, single is not None, reason)
    if reason:
        warn(
            f"whether the classes are separated is not known: {reason}. Coefficients that are large beyond "
            "reason would be a sign of it; a penalty (C=1.0) makes them finite",
            SeparationWarning,
        )
    return None


def find_complete_separation(objective: Objective, point: Point) -> Separation | None:
    """The separation of all rows beyond doubt, if a few readings of them find one.

    `point` is where a solver stopped on some of the rows, best on its way to infinity.
    """
    unpenalised_softmax(objective)
    with one_blas_thread:
        table = ScaledRows.of(objective)
        single = single_columns(table)
        found = None if single is not None else widest(table, _start(objective, point, table))
        if found is None:
            return None
        line, met = found
        if table.shape[0] * table.shape[1] <= SPARSE:
            with suppress(GaveUpError):
                line = sparsest(table, line, met)
        rows = table.ranges.rows
        apart = np.where(np.eye(len(rows), dtype=np.bool_), 0, rows[:, None])
        separated = SeparatedRows(apart, int(rows.sum()))
        contrasts = SoftmaxLoss(table.n_classes).contrasts
        every = np.eye(table.shape[0] * table.shape[1])
        unbounded = _unbounded(objective, table, every, contrasts)
        return _separation(objective, table, line, separated, unbounded)


def _settled(
    table: ScaledRows, start: LinearScores, single: LinearScores | None
) -> tuple[list[LinearScores], str]:
    """Directions that together tell apart all that can be, or why these may not be all of them."""
    settled = [] if single is None else [single]
    size = table.shape[0] * table.shape[1]
    if size > LARGEST:
        return settled, f"there are {size:,} coefficients, and linear programs take up to {LARGEST:,}"
    try:
        while found := search(table, start, settled):
            settled.append(found)
    except GaveUpError as error:
        return settled, str(error)
    return settled, ""


def _start(objective: Objective, point: Point, table: ScaledRows) -> LinearScores:
    """The scores at a point, held against the first class."""
    coef, level = objective.free(point.theta)
    level = level + coef @ (table.centre - objective.basis.centre)
    if len(coef) == table.n_classes:
        coef, level = coef[1:] - coef[0], level[1:] - level[0]
    return table.line(coef, level)


def _described(
    objective: Objective, table: ScaledRows, settled: list[LinearScores], alone: bool, reason: str
) -> Separation:
    contrasts = SoftmaxLoss(table.n_classes).contrasts
    line, unbounded = settled[0], None
    try:
        if reason:
            raise GaveUpError(reason)
        unbounded = _unbounded(objective, table, free_directions(table, settled), contrasts)
        if not alone and table.shape[0] * table.shape[1] <= SPARSE:
            line = sparsest(table, line)
    except GaveUpError as error:
        reason = str(error)
    found = _separation(objective, table, line, table.count_separated(settled), unbounded)
    return replace(found, alone=alone, reason=reason, partly=len(settled) > 1)


def _separation(
    objective: Objective,
    table: ScaledRows,
    line: LinearScores,
    separated: SeparatedRows,
    unbounded: Bools | None,
) -> Separation:
    """What a direction separates, in words of the design."""
    names = objective.scan.design.names
    contrasts = SoftmaxLoss(table.n_classes).contrasts
    size = (np.abs(line.coef) * table.scale).max(axis=0)
    used = np.flatnonzero(size > FAINT * size.max(initial=0.0))
    direction = contrasts @ line.coef / max(float(size.max(initial=0.0)), 1e-300)
    return Separation(
        names,
        table.intercept,
        tuple(names[j] for j in used),
        False,
        direction,
        separated.apart,
        table.ranges.rows,
        separated.rows,
        unbounded,
        "",
        origins=objective.scan.design.origins(used.tolist()),
    )


def _unbounded(objective: Objective, table: ScaledRows, basis: Floats, contrasts: Floats) -> Bools:
    """Which coefficients, as shown, any direction of the basis changes, on the scale of the columns."""
    sizes = np.zeros((len(contrasts), len(table.scale) + table.intercept))
    doubt = np.full_like(sizes, FAINT)
    for b in basis.T:
        coef, level = _shortest(objective, table, table.direction(b))
        coef = np.where(np.abs(coef) * table.scale > RANK, coef, 0.0)
        terms = coef * table.scale
        if table.intercept:
            terms = np.hstack([terms, (level - coef @ table.centre)[:, None]])
            doubt[:, -1] += 1e-13 * (np.abs(coef) @ np.abs(table.centre)).max()
        sizes += np.square(contrasts @ terms)
    return np.asarray(np.sqrt(sizes) > doubt)


def _shortest(objective: Objective, table: ScaledRows, line: LinearScores) -> tuple[Floats, Floats]:
    """Coefficients and levels at the table's centre, shortest where columns depend on others."""
    basis, coef = objective.basis, line.coef
    level = line.offset if line.shift is not None else line.offset + coef @ table.centre
    if basis.directions.ndim == 1 or basis.n_coordinates == len(coef[0]):
        return coef, level
    way = basis.centre - table.centre
    short = basis.shown_coef(basis.coordinates(coef))
    return short, level + coef @ way - short @ way
