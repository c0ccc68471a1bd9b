"""What DuckDB and PostgreSQL say differently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from posterior.sql.expressions import (
    Expression,
    above,
    at_most,
    both,
    equal,
    number,
    size,
    some,
)

# Numbers beyond it have squares that overflow beside others; a table with them cannot be learnt from either.
LARGEST = 1e120
# As many rows as there may be, in a subquery, so that PostgreSQL does not know the number when it plans. It
# then reckons with a tenth of the rows and of the cost, which counts each of our thousands of additions and
# products as much as one of a function call. By the whole cost it would compile a query with its highest
# optimisation before it runs (`jit`): 11 s for the densities of nine columns, whose 100,000 rows take 3 s.
ALL_ROWS = exp.Subquery(this=exp.select(exp.Literal.number(2**63 - 1)))


def _finite_by_function(x: Expression) -> Expression:
    return exp.Anonymous(this="ISFINITE", expressions=[x])


def _finite_by_comparison(x: Expression) -> Expression:
    return both(above(x, number(float("-inf"))), exp.LT(this=x, expression=number(float("inf"))))


@dataclass(frozen=True)
class Dialect:
    """A database: its name in sqlglot, how it asks whether a number is finite, and what it makes of names.

    DuckDB has a function for finite numbers; its comparisons may be decided by the bounds that a Parquet file
    gives of its columns, which say nothing of NaN. PostgreSQL has none, and NaN is above infinity there.
    """

    name: str
    is_finite: Callable[[Expression], Expression]
    longest_name: int | None = None
    folds_case: bool = False
    limit: Expression | None = None

    def is_used(self, x: Expression) -> Expression:
        """Whether a number is there, finite and not too large."""
        return both(self.is_finite(x), at_most(size(x), number(LARGEST)))

    def is_refused(self, x: Expression) -> Expression:
        """Whether a number is infinite or too large; NaN, which is a gap, is not."""
        large = both(self.is_finite(x), above(size(x), number(LARGEST)))
        return some([large, equal(x, number(float("inf"))), equal(x, number(float("-inf")))])

    def names(self, wanted: Sequence[str]) -> list[str]:
        """The names of the columns that come out: cut where they are too long, no two of them the same."""
        found: dict[str, str] = {}
        for place, name in enumerate(wanted):
            one, tries = self._cut(name, ""), 0
            while self._folded(one) in found:
                one, tries = self._cut(name, f"_{place + tries}"), tries + 1
            found[self._folded(one)] = one
        return list(found.values())

    def _folded(self, name: str) -> str:
        return name.lower() if self.folds_case else name

    def _cut(self, name: str, end: str) -> str:
        if self.longest_name is None:
            return name + end
        room = self.longest_name - len(end.encode())
        return name.encode()[:room].decode(errors="ignore") + end


DIALECTS = {
    "duckdb": Dialect("duckdb", _finite_by_function, folds_case=True),
    "postgres": Dialect("postgres", _finite_by_comparison, longest_name=63, limit=ALL_ROWS),
}
# What else the same databases are called.
ALSO = {"postgresql": "postgres"}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    known = DIALECTS.get(ALSO.get(name, name)) if isinstance(name, str) else None
    if known is None:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, found {name!r}")
    return known
