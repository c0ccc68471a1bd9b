"""Additive models as SQL: the curves of numbers, and products of pairs of columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from posterior._types import Floats
from posterior.linear import LinearModel
from posterior.linear.additive_design import AdditiveDesign
from posterior.linear.curves import Curve
from posterior.linear.design import Factor
from posterior.sql.cells import Cells
from posterior.sql.expressions import (
    Expression,
    above,
    add,
    below,
    case,
    element,
    is_gap,
    is_there,
    number,
    or_else,
    size,
    subtract,
    times,
    total,
    whole,
)
from posterior.sql.linear import Parts, kept
from posterior.sql.log_functions import TINY, deviation


def additive_scores(design: AdditiveDesign, model: LinearModel, cells: Cells) -> list[Expression]:
    """The scores of a design of curves, one for each row of coefficients."""
    coef, centre = design.spread_out(model.coef), design.spread_out(model.centre)
    scaled = replace(model, coef=coef * design.scale, centre=_divided(centre, design.scale))
    parts = CurveParts(design, scaled, cells)
    return parts.summed([*parts.numbers(), *parts.factors(), *parts.curves(), *parts.pairs()])


def _divided(centre: Floats, scale: Floats) -> Floats:
    """Centres before they were scaled; those of columns that are left out do not matter."""
    return np.divide(centre, scale, out=np.zeros_like(centre), where=scale > 0)


@dataclass(frozen=True, eq=False)
class CurveParts(Parts):
    """The terms of an additive model."""

    design: AdditiveDesign

    @property
    def _first(self) -> int:
        design = self.design
        return len(design.numbers) + sum(f.width for f in design.factors) + len(design.gaps)

    def curves(self) -> Iterator[list[Expression]]:
        """The curve of each number under each class: a cubic spline of its position, 0 for a gap."""
        at = self._first
        for i, curve in enumerate(self.design.curves):
            columns = slice(at, at + curve.n_functions)
            at += curve.n_functions
            coef, centre = self.model.coef[:, columns], self.model.centre[columns]
            if not coef.any():
                continue
            place = _Place.of(curve, self.cells.value(self.design.numbers[i]), self.cells)
            levels = -(coef @ centre)
            yield [
                add(number(level), or_else(place.spline(curve, row), number(0.0)))
                for level, row in zip(levels.tolist(), coef, strict=True)
            ]

    def pairs(self) -> Iterator[list[Expression]]:
        """What each pair of columns adds: every number of one times every number of the other."""
        at = self._first + sum(curve.n_functions for curve in self.design.curves)
        brought = self._brought()
        for first, second in self.design.pairs:
            a, b = brought[first], brought[second]
            columns = slice(at, at + len(a) * len(b))
            at += len(a) * len(b)
            coef = self.model.coef[:, columns]
            levels = -(coef @ self.model.centre[columns])
            yield [
                add(number(level), self._product(row.reshape(len(a), len(b)), a, b))
                for level, row in zip(levels.tolist(), coef, strict=True)
            ]

    def _product(self, coef: Floats, a: list[Expression], b: list[Expression]) -> Expression:
        lines = []
        for x, row in zip(a, coef.tolist(), strict=True):
            parts = [times(number(c), y) for c, y in zip(row, b, strict=True) if abs(c) >= TINY]
            if parts:
                lines.append(times(x, self.cells.steps.let("m", total(parts))))
        return total(lines)

    def _brought(self) -> dict[int, list[Expression]]:
        """What each column of a pair brings to products, named, 0 for a gap."""
        wanted = {j for pair in self.design.pairs for j in pair}
        found: dict[int, list[Expression]] = {}
        for curve, j in zip(self.design.curves, self.design.numbers, strict=True):
            if j in wanted:
                place = _Place.of(curve, self.cells.value(j), self.cells)
                z = deviation(self.cells.steps, place.position, curve.middle, 0.0, curve.spread)
                found[j] = [self.cells.steps.let("z", or_else(z, number(0.0)))]
        at = 0
        for factor in self.design.factors:
            if factor.column in wanted:
                found[factor.column] = self._levels_brought(factor, at)
            at += factor.width
        return found

    def _levels_brought(self, factor: Factor, at: int) -> list[Expression]:
        n, size = len(factor.levels), self.design.schema.columns[factor.column].size
        share = self.design.shares[at : at + n]
        spread = np.sqrt((share * (1 - share)).sum()) or 1.0
        table = np.repeat(-share[:, None], size + 2, axis=1)
        table[range(n), list(factor.levels)] += 1.0
        table /= spread
        # A gap that has a mark is none of the levels, and brings nothing.
        table[:, -1] = 0.0 if factor.gap else table[:, -1]
        table[np.abs(table) < TINY] = 0.0
        code = self.cells.code(factor.column)
        return [self.cells.steps.let("z", value) for value in self.looked_up(code, table)]


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a number lies on a curve: interval between knots, from 1, and the position; NULL for a gap."""

    interval: Expression
    position: Expression
    cells: Cells

    @classmethod
    def of(cls, curve: Curve, x: Expression, cells: Cells) -> "_Place":
        steps, knots = cells.steps, curve.knots
        if curve.flat:
            return cls(x, steps.let("u", case((is_gap(x), x), otherwise=number(0.5))), cells)
        ends = [(below(x, number(knot)), whole(i + 1)) for i, knot in enumerate(knots[1:-1].tolist())]
        last = whole(len(knots) - 1)
        at = steps.let("i", case(*ends, (is_there(x), last)))
        low, high = number(knots[0]), number(knots[-1])
        inside = steps.let("x", case((below(x, low), low), (above(x, high), high), otherwise=x))
        width, rise = np.diff(knots), np.diff(curve.places)
        scaled = times(subtract(inside, _at(knots[:-1], at)), _at(1 / width, at))
        t = steps.let("t", _flushed(steps.let("t", scaled)))
        first, second = curve.slopes[:-1] * width, curve.slopes[1:] * width
        between = (curve.places[:-1], first, 3 * rise - 2 * first - second, first + second - 2 * rise)
        u = steps.let("u", _cubic(between, t, at))
        before = times(subtract(x, low), number(kept(curve.slopes[0])))
        beyond = times(subtract(x, high), number(kept(curve.slopes[-1])))
        straight = case((below(x, low), before), (above(x, high), beyond), otherwise=number(0.0))
        return cls(at, steps.let("u", add(u, straight)), cells)

    def spline(self, curve: Curve, coef: Floats) -> Expression:
        """The functions of a curve, weighted: one cubic polynomial for each interval, lines beyond."""
        steps, places, u = self.cells.steps, curve.places, self.position
        first, last = number(places[0]), number(places[-1])
        inside = steps.let("x", case((below(u, first), first), (above(u, last), last), otherwise=u))
        width = np.diff(places)
        right = times(subtract(inside, _at(places[:-1], self.interval)), _at(1 / width, self.interval))
        r = steps.let("r", _flushed(steps.let("r", right)))
        heights, bends = curve.heights @ coef, curve.bends @ coef
        sixth = width**2 / 6
        slope = np.diff(heights) - sixth * (2 * bends[:-1] + bends[1:])
        between = (heights[:-1], slope, 3 * sixth * bends[:-1], sixth * np.diff(bends))
        rise = np.diff(heights) / width
        start = rise[0] - width[0] / 6 * (2 * bends[0] + bends[1])
        end = rise[-1] + width[-1] / 6 * (bends[-2] + 2 * bends[-1])
        before = times(subtract(u, first), number(kept(start)))
        beyond = times(subtract(u, last), number(kept(end)))
        straight = case((below(u, first), before), (above(u, last), beyond), otherwise=number(0.0))
        return add(_cubic(between, r, self.interval), straight)


def _at(numbers: Floats, place: Expression) -> Expression:
    return element(numbers.tolist(), place)


def _cubic(coef: tuple[Floats, ...], t: Expression, place: Expression) -> Expression:
    """A polynomial in t with other coefficients in each interval, by Horner's rule."""
    coef = tuple(np.where(np.abs(c) < TINY, 0.0, c) for c in coef)
    value = _at(coef[-1], place)
    for each in coef[-2::-1]:
        value = add(_at(each, place), times(t, value))
    return value


def _flushed(t: Expression) -> Expression:
    """A named number, 0 where its products might vanish."""
    return case((below(size(t), number(TINY)), number(0.0)), otherwise=t)
