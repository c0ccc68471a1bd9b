"""Log densities of the blocks of a generative model: columns one by one, categories, counts of one total."""

from dataclasses import dataclass
from functools import singledispatch
from itertools import product
from typing import Any

import numpy as np
from sqlglot import exp

from posterior._types import Floats
from posterior.families import (
    BestOfDistribution,
    CategoricalDistribution,
    Distribution,
    MultinomialDistribution,
)
from posterior.families.sums import CLOSE, about_mean, safe_log
from posterior.generative import FittedBlock
from posterior.sql.cells import Cells
from posterior.sql.densities import density_of
from posterior.sql.expressions import (
    Expression,
    above,
    add,
    below,
    both,
    case,
    element,
    equal,
    every,
    is_gap,
    is_there,
    log,
    negative,
    number,
    or_else,
    ratio,
    size,
    some,
    subtract,
    times,
    total,
    whole,
)
from posterior.sql.log_functions import log_gamma, log_one_plus

# The largest joint table of categories that is written out, with a place for gaps in each column.
LARGEST_TABLE = 20_000


@dataclass(frozen=True)
class Term:
    """What columns add to the log density of each class, never NULL; `place` is whose weight it has.

    `shared` is what all classes have in common; `impossible` says that no class can have the row.
    """

    place: int
    by_class: list[Expression]
    shared: Expression | None = None
    impossible: Expression | None = None


@singledispatch
def terms_of(distribution: Distribution, block: FittedBlock, cells: Cells) -> list[Term]:
    """The terms of a block; by default those of columns that are independent given the class."""
    compared = distribution.in_single() if cells.schema.are_single(block.columns) else distribution
    return [_column_term(compared, j, place, cells) for j, place in enumerate(block.columns)]


@terms_of.register
def _(distribution: BestOfDistribution, block: FittedBlock, cells: Cells) -> list[Term]:
    pairs = zip(distribution.members, block.columns, strict=True)
    return [_column_term(member, 0, place, cells, own=j) for j, (member, place) in enumerate(pairs)]


def _column_term(distribution: Any, j: int, place: int, cells: Cells, own: int | None = None) -> Term:
    """The term of one column; a cell that is missing, or outside the support, adds nothing."""
    known = density_of(distribution)
    if known is None:
        raise _not_written(distribution, cells.schema.columns[place].name)
    x = cells.value(place)
    impossible = None
    if known.inside is not None:
        inside = cells.steps.let("x", case((known.inside(x), x)))
        impossible = both(is_there(x), is_gap(inside))
        x = inside
    found = known.write(distribution, j, x, cells.steps)
    nothing = number(0.0)
    by_class = [or_else(value, nothing) for value in found.by_class]
    shared = None if found.shared is None else or_else(found.shared, nothing)
    return Term(j if own is None else own, by_class, shared, impossible)


def _not_written(distribution: Any, name: str) -> ValueError:
    return ValueError(
        f"column {name!r} is described by {type(distribution).__name__}, whose density is not written in "
        "SQL; choose a family with a closed form for it, such as Normal, Gamma, Poisson or Categorical, or "
        "say how by posterior.sql.register_density"
    )


# -- categories ---------------------------------------------------------------------------------------


@terms_of.register
def _(distribution: CategoricalDistribution, block: FittedBlock, cells: Cells) -> list[Term]:
    codes = [cells.code(j) for j in block.columns]
    if distribution.unseen == "error":
        for j, code in zip(block.columns, codes, strict=True):
            cells.refuse(equal(code, whole(cells.schema.columns[j].size)))
    if distribution.joint:
        return [_joint_term(distribution, codes, block, cells)]
    tables = zip(codes, distribution.log_tables, distribution.log_unseen, strict=True)
    return [_category_term(j, *each, cells) for j, each in enumerate(tables)]


def _category_term(j: int, code: Expression, table: Floats, unseen: Floats, cells: Cells) -> Term:
    place = cells.steps.let("i", add(code, whole(1)))
    known = [[*row.tolist(), float(new)] for row, new in zip(table, unseen, strict=True)]
    return Term(j, [or_else(element(row, place), number(0.0)) for row in known])


def _joint_term(
    distribution: CategoricalDistribution, codes: list[Expression], block: FittedBlock, cells: Cells
) -> Term:
    """A look-up in the joint table, which has one more place in each column for a gap: the sum over it."""
    table = distribution.log_tables[0]
    shape = tuple(size + 1 for size in table.shape[1:])
    if np.prod(shape) > LARGEST_TABLE:
        names = ", ".join(repr(cells.schema.columns[j].name) for j in block.columns)
        raise ValueError(
            f"columns {names}: their joint table has {np.prod(shape):,} cells, at most {LARGEST_TABLE:,} are "
            "written out; describe them by Categorical() one by one"
        )
    full = with_sums(table)
    places = []
    for code, levels in zip(codes, table.shape[1:], strict=True):
        known = case((below(code, whole(levels)), code), otherwise=whole(levels))
        places.append(cells.steps.let("i", known))
    place: Expression = places[0]
    for one, levels in zip(places[1:], shape[1:], strict=True):
        place = add(times(place, whole(levels)), one)
    place = cells.steps.let("i", add(place, whole(1)))
    found = [element(row.ravel().tolist(), place) for row in full]
    if distribution.unseen == "smooth":
        new = some([equal(c, whole(size)) for c, size in zip(codes, table.shape[1:], strict=True)])
        unseen = distribution.log_unseen[0].tolist()
        found = [case((new, number(u)), otherwise=value) for u, value in zip(unseen, found, strict=True)]
    return Term(0, found)


def with_sums(log_table: Floats) -> Floats:
    """A joint table (K, V_1, …) with one more place in each column, for the sum over it: (K, V_1+1, …)."""
    found = np.zeros((len(log_table), *(size + 1 for size in log_table.shape[1:])))
    probability = np.exp(log_table)
    axes = range(1, log_table.ndim)
    for gone in product([False, True], repeat=log_table.ndim - 1):
        summed = tuple(axis for axis, is_gone in zip(axes, gone, strict=True) if is_gone)
        part = safe_log(probability.sum(axis=summed)) if summed else log_table
        index = (slice(None), *(-1 if is_gone else slice(0, -1) for is_gone in gone))
        found[index] = 0.0 if len(summed) == len(gone) else part
    return found


# -- counts of one total ------------------------------------------------------------------------------


@terms_of.register
def _(distribution: MultinomialDistribution, block: FittedBlock, cells: Cells) -> list[Term]:
    """Σ x ln p, less n ln Σ p over the counts that are there, where some are not; about the mean of p."""
    steps, zero = cells.steps, number(0.0)
    values = [cells.value(j) for j in block.columns]
    inside = [steps.let("x", case((exp.GTE(this=x, expression=zero), x))) for x in values]
    counts = [steps.let("n", or_else(x, zero)) for x in inside]
    n = steps.let("n", total(counts))
    there = [steps.let("h", case((is_gap(x), zero), otherwise=number(1.0))) for x in inside]
    gappy = steps.let("b", below(total(there), number(len(there) - 0.5)))

    def sum_there(each: Floats) -> Expression:
        """The sum of numbers of the columns that are there, by name."""
        return steps.let("f", total([times(number(a), h) for a, h in zip(each.tolist(), there, strict=True)]))

    by_class, p = [], distribution.probability
    logs, excess = about_mean(p)
    means = (p - excess)[0]
    mean = sum_there(means)
    divisor = case((above(mean, zero), mean), otherwise=number(1.0))
    for k in range(distribution.n_classes):
        own = steps.let("m", total([_share(x, a) for x, a in zip(counts, logs[k].tolist(), strict=True)]))
        share, apart = sum_there(p[k]), steps.let("d", ratio(sum_there(excess[k]), divisor))
        far = subtract(log(share), log(mean))
        rescaling = case((below(size(apart), number(CLOSE)), log_one_plus(steps, apart)), otherwise=far)
        rescaled = every([gappy, above(own, number(-np.inf)), above(share, zero)])
        by_class.append(case((rescaled, subtract(own, times(n, rescaling))), otherwise=own))
    impossible = some([both(is_there(x), is_gap(one)) for x, one in zip(values, inside, strict=True)])
    of_mean = case((both(gappy, above(mean, zero)), times(n, log(mean))), otherwise=zero)
    of_means = [_share(x, float(np.log(m))) for x, m in zip(counts, means, strict=True) if m > 0]
    shared = subtract(total(of_means), of_mean) if of_means else zero
    if distribution.ordered:
        return [Term(0, by_class, shared, impossible)]
    orders = [negative(log_gamma(steps, steps.let("y", add(x, number(1.0))))) for x in counts]
    all_orders = log_gamma(steps, steps.let("y", add(n, number(1.0))))
    return [Term(0, by_class, total([shared, all_orders, *orders]), impossible)]


def _share(count: Expression, log_share: float) -> Expression:
    if log_share == -np.inf:
        return case((above(count, number(0.0)), number(log_share)), otherwise=number(0.0))
    return times(count, number(log_share))
