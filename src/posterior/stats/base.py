"""Statistics: what a model needs to know of some rows, and no more.

The one law: the statistics of disjoint rows add up to those of their union.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_type_hints

import numpy as np

from posterior._types import Floats, Ints
from posterior.stats.location import Location, place

Problem = Literal["empty", "constant", "identifier", "duplicate", "redundant", "wordless"]
# Statistics that differ by less, relative to the spread of their column, are of the same rows.
ALIKE = 1e-6
# Sums up to here can be added to others without becoming infinite.
LARGEST_SUM = 1e306
# Values whose squares are finite, and coefficients of values so small that their squares are not zero.
LARGEST_VALUE, LARGEST_COEF = 1e150, 1e200
# What rounding may make of sums that should be equal, relative to them.
ROUNDING = 1e-9
# Sums of squares below this may have lost digits, or all.
VANISHING = 1e-280
Recoding = Sequence["Ints | None"]


@dataclass(frozen=True)
class ColumnFact:
    """Something worth saying about a column, `of` naming the columns it repeats or combines."""

    column: int
    problem: Problem
    of: tuple[int, ...] = ()


class FieldSums:
    """A dataclass of sums over rows: two of them add up field by field.

    A field of which something else than the sum is taken is named with the function that takes it.

    >>> @dataclass(frozen=True)
    ... class Range(FieldSums, largest=max):
    ...     rows: int
    ...     largest: float
    >>> Range(2, 7.0) + Range(3, 5.0)
    Range(rows=5, largest=7.0)
    """

    _combined: ClassVar[Mapping[str, Callable[[Any, Any], Any]]]

    def __init_subclass__(cls, **combined: Callable[[Any, Any], Any]) -> None:
        super().__init_subclass__()
        cls._combined = combined

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # of a dataclass
        both = ((name, getattr(self, name), getattr(other, name)) for name in names)
        return type(self)(*(self._combined.get(name, add)(a, b) for name, a, b in both))


class Fill(NamedTuple):
    """A column that was left out, as intercept + Σ coef · others.

    A value further than `slack` from that breaks the rule, which no row of training did.
    """

    intercept: float
    coef: Floats
    slack: float = float("inf")


@cache
def _declared_axes(kind: type) -> dict[str, tuple[str, ...]]:
    """The axes of the arrays of a class, as in `Annotated[Floats, "K d >=0"]`: K and d."""
    hints = get_type_hints(kind, include_extras=True)
    shapes = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
    return {name: tuple(shape.split()[:-1]) for name, shape in shapes.items()}


class Statistics(ABC):
    """Immutable sums over rows, the class being the first axis of every array.

    Those that are to be in model files are dataclasses whose arrays say their shape and bounds beside their
    type, as in `Annotated[Floats, "K d >=0"]`: K classes, d columns, and no negative number. What is done for
    other classes (`reindex`) and for some of the columns (`marginal`) follows from that.
    """

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """The statistics of both sets of rows together."""

    def reindex(self, classes: Ints, n_classes: int) -> Self:
        """Make room for more classes: class `i` becomes `classes[i]`, the others are empty."""
        return self._placed(classes, n_classes)

    def marginal(self, columns: Sequence[int]) -> Self:
        """The statistics of some of the columns."""
        return self._some_columns(columns)

    def _placed(self, classes: Ints, n_classes: int, letters: str = "K") -> Self:
        """Arrays whose first axis is declared as one of these letters, with room for more classes."""

        def placed(part: Any, axes: tuple[str, ...]) -> Any:
            if axes[0] not in letters:
                return part
            if isinstance(part, Statistics):
                return part.reindex(classes, n_classes)
            if isinstance(part, Location):
                return Location(*(place(array, classes, n_classes) for array in (part.pivot, part.remainder)))
            return place(part, classes, n_classes)

        return self._changed(placed)

    def _some_columns(self, columns: Sequence[int], letters: str = "d") -> Self:
        """Some places along every axis that is declared as one of these letters."""
        keep = np.asarray(columns, dtype=np.int64)

        def some(part: Any, axes: tuple[str, ...]) -> Any:
            if isinstance(part, Statistics):
                return part.marginal(columns)
            for axis, letter in enumerate(axes):
                part = part[(slice(None),) * axis + (keep,)] if letter in letters else part
            return part

        return self._changed(some)

    def _changed(self, change: Callable[[Any, tuple[str, ...]], Any]) -> Self:
        """The same with each array, or each of several, changed by its axes as they are declared."""
        found = {}
        for name, axes in _declared_axes(type(self)).items():
            part = getattr(self, name)
            if part is not None:
                several = isinstance(part, tuple)
                found[name] = tuple(change(a, axes) for a in part) if several else change(part, axes)
        return replace(self, **found)  # type: ignore[type-var]  # a dataclass

    def recode(self, recoding: Recoding, sizes: Sequence[int]) -> Self:
        """Follow a change of category codes; only statistics of categories have any."""
        return self

    def resembles(self, other: Self) -> bool:
        """Whether both could be statistics of the same rows, to rounding."""
        return all(
            np.allclose(a, b, rtol=ALIKE, atol=ALIKE * 1e-3 * float(np.abs(a).max(initial=0.0)))
            for a, b in zip(self._sums(), other._sums(), strict=True)
        )

    def _sums(self) -> tuple[Floats, ...]:
        """The arrays that tell rows from others."""
        return ()

    @abstractmethod
    def impossible(self, weight: Floats) -> str:
        """What no rows of these class weights (K,) add up to, in words; empty if nothing is wrong.

        Statistics that were computed are possible. Those read from a file may be anything.
        """

    def misfit(self, sizes: Sequence[int], *, joint: bool) -> str:
        """What are no sums of columns with so many categories, 0 for numbers; empty if nothing is wrong.

        Asked of statistics from a file, of which K and d are right; `joint` columns are one variable.
        """
        return ""

    @property
    def magnitude(self) -> float:
        """About the largest number among the rows, for statistics of numbers; not finite if one was not."""
        return 0.0

    @property
    def degree(self) -> int:
        """1 where numbers are squared, 2 where their squares are squared too."""
        return 1

    @property
    def faint(self) -> Ints:
        """Columns whose sum of squares, in statistics that have it, is zero or nearly so."""
        return np.zeros(0, dtype=np.int64)

    @property
    def class_weight(self) -> Floats:
        """The weight of each class (K,), of statistics that families make of parts: no row has a gap."""
        raise NotImplementedError

    @property
    def unread(self) -> float:
        """Weight of the rows that had gaps and could not be counted."""
        return 0.0

    @property
    def has_gaps(self) -> bool:
        """Whether some rows have gaps that must be filled in before anything can be estimated."""
        return False

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are constant, repeated, redundant or mere identifiers."""
        return ()

    def fill(self, fact: ColumnFact) -> Fill | None:
        """What gives back a column that was left out, from those of `fact.of`, if anything does."""
        return None


def addable(*sums: Floats) -> bool:
    """Whether sums can be added to others of their size, and again, without becoming infinite."""
    return all(bool(np.abs(each).sum() <= LARGEST_SUM) for each in sums)


def within(part: Floats, whole: Floats) -> bool:
    """Whether every weight is one of a part of the rows: neither negative nor more than that of the whole."""
    slack = ROUNDING * float(whole.max(initial=0.0))
    return bool((part >= -slack).all() and (part <= whole + slack).all())


def marked_repeats(mark: Floats, line: Callable[[int], bytes], skip: set[int]) -> list[ColumnFact]:
    """Columns that repeat an earlier one; only those with equal marks are looked at closely, by `line`."""
    bits = np.ascontiguousarray(mark).view(np.int64)
    ordered = np.sort(bits)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    alike = [j for j in np.flatnonzero(np.isin(bits, twice)).tolist() if j not in skip] if len(twice) else []
    found = duplicate_facts([line(j) for j in alike], set())
    return [ColumnFact(alike[f.column], f.problem, tuple(alike[j] for j in f.of)) for f in found]


def duplicate_facts(fingerprints: Sequence[bytes], skip: set[int]) -> list[ColumnFact]:
    """Columns whose statistics equal, to the bit, those of an earlier column."""
    first: dict[bytes, int] = {}
    facts = []
    for j, mark in enumerate(fingerprints):
        if j in skip:
            continue
        if mark in first:
            facts.append(ColumnFact(j, "duplicate", (first[mark],)))
        else:
            first[mark] = j
    return facts
