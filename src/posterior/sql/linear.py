"""Linear models as SQL: what each column of the table adds to the scores of the classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.linear import Design, LinearModel
from posterior.linear.design import Factor
from posterior.linear.scaled_design import ScaledDesign
from posterior.sql.cells import Cells
from posterior.sql.expressions import (
    Expression,
    add,
    element,
    is_gap,
    number,
    or_else,
    times,
    total,
    whole,
)
from posterior.sql.log_functions import TINY, deviation
from posterior.sql.scores import Scores


def linear_scores(design: Design, model: LinearModel, classes: AnyArray, cells: Cells) -> Scores:
    """The scores of a linear model; the first of two classes has 0."""
    found = [cells.steps.let("score", score) for score in scores_of(design, model, cells)]
    zero = [cells.steps.let("score", number(0.0))] if len(found) == 1 else []
    return Scores(classes, [*zero, *found])


@singledispatch
def scores_of(design: Design, model: LinearModel, cells: Cells) -> list[Expression]:
    """The scores of a design, one for each row of coefficients."""
    parts = Parts(design, model, cells)
    terms = [*parts.numbers(), *parts.factors(), *parts.products()]
    return parts.summed(terms)


@scores_of.register
def _(design: ScaledDesign, model: LinearModel, cells: Cells) -> list[Expression]:
    plain = Design(
        design.schema, design.numbers, design.factors, design.fill, design.gaps, design.squares, design.centre
    )
    return scores_of(plain, design.unscaled(model), cells)


@dataclass(frozen=True, eq=False)
class Parts:
    """The terms of a linear model by column, each with a value for each score."""

    design: Design
    model: LinearModel
    cells: Cells

    def summed(self, terms: list[list[Expression]]) -> list[Expression]:
        """The scores: the level, and what each column adds."""
        return [
            total([number(level), *(term[k] for term in terms)])
            for k, level in enumerate(self.model.level.tolist())
        ]

    def numbers(self) -> Iterator[list[Expression]]:
        """coef·(x − centre), with what stands for a gap and its mark."""
        design, model = self.design, self.model
        first_mark = len(design.numbers) + sum(f.width for f in design.factors)
        marks = {i: first_mark + place for place, i in enumerate(design.gaps)}
        for i, j in enumerate(design.numbers):
            x = self.cells.value(j)
            if design.fill is None:
                self.cells.refuse(is_gap(x))
            z = deviation(self.cells.steps, x, float(model.centre[i]), 0.0, 1.0)
            there, gone = np.zeros(len(model.coef)), np.zeros(len(model.coef))
            if design.fill is not None:
                gone = model.coef[:, i] * (design.fill[i] - model.centre[i])
            if i in marks:
                mark, centre = model.coef[:, marks[i]], model.centre[marks[i]]
                there, gone = -mark * centre, gone + mark * (1 - centre)
            yield [
                or_else(_line(slope, z, here), number(absent))
                for slope, here, absent in zip(
                    model.coef[:, i].tolist(), there.tolist(), gone.tolist(), strict=True
                )
            ]

    def factors(self) -> Iterator[list[Expression]]:
        """A look-up by code: the coefficient of the level, less the centres of all."""
        at = len(self.design.numbers)
        for factor in self.design.factors:
            code = self.cells.code(factor.column)
            if self.design.fill is None:
                self.cells.refuse(is_gap(code))
            yield self.looked_up(code, self.table(factor, at))
            at += factor.width

    def table(self, factor: Factor, at: int) -> Floats:
        """What each code of a factor adds to each score, (R, V + 2): levels, one that is new, and a gap."""
        size = self.design.schema.columns[factor.column].size
        columns = slice(at, at + factor.width)
        coef, centre = self.model.coef[:, columns], self.model.centre[columns]
        table = np.repeat(-(coef @ centre)[:, None], size + 2, axis=1)
        table[:, list(factor.levels)] += coef[:, : len(factor.levels)]
        if factor.gap:
            table[:, -1] += coef[:, -1]
        return np.asarray(table)

    def looked_up(self, code: Expression, table: Floats) -> list[Expression]:
        """The column of a table (R, V + 2) at a code, the last one for a gap."""
        place = self.cells.steps.let("i", add(code, whole(1)))
        return [or_else(element(row[:-1], place), number(row[-1])) for row in table.tolist()]

    def products(self) -> Iterator[list[Expression]]:
        """Products of numbers about their centre, those of one number together: z_i (Σ_j coef z_j)."""
        design, model, steps = self.design, self.model, self.cells.steps
        if not design.squares or design.centre is None:
            return
        first = len(design.names) - len(design.squares)
        of = {pair: first + place for place, pair in enumerate(design.squares)}
        z = [self._about_centre(i) for i in range(len(design.numbers))]
        at_centre = -(model.coef[:, first:] @ model.centre[first:])
        yield [number(value) for value in at_centre.tolist()]
        for i in range(len(z)):
            partners = [(j, of[i, j]) for j in range(i, len(z)) if (i, j) in of]
            if partners:
                yield [
                    times(
                        z[i], steps.let("m", total([times(number(kept(row[f])), z[j]) for j, f in partners]))
                    )
                    for row in model.coef
                ]

    def _about_centre(self, i: int) -> Expression:
        design, x = self.design, self.cells.value(self.design.numbers[i])
        centre = float(design.centre[i]) if design.centre is not None else 0.0
        z = deviation(self.cells.steps, x, centre, 0.0, 1.0)
        if design.fill is None:
            return z
        filled = float(design.fill[i]) - centre
        return self.cells.steps.let("z", or_else(z, number(0.0 if abs(filled) < TINY else filled)))


def _line(slope: float, z: Expression, constant: float) -> Expression:
    line = times(number(kept(slope)), z)
    return add(line, number(constant)) if constant else line


def kept(coef: float) -> float:
    """A coefficient, 0 where it is so small that its products might vanish, which PostgreSQL refuses."""
    return 0.0 if abs(coef) < TINY else float(coef)
