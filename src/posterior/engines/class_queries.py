"""The queries whose answers are sums by class, in SQL that DuckDB and PostgreSQL share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posterior.engines.sql import quoted


@dataclass(frozen=True)
class Dialect:
    """Where databases differ.

    `finite` asks of a double {x} whether it is neither NaN nor infinite; `fence` keeps a subquery from being
    merged into the query around it, which would work out its columns wherever they are mentioned.
    """

    finite: str
    fence: str = ""


@dataclass(frozen=True)
class ClassQueries:
    """Sums of a table by its column `target`. Only rows that have a class and do not weigh nothing count.

    In the answers `t` is the class, and columns are numbered, so that no user's name has to be read back.
    `floats` are the columns that may hold NaN or infinity, `casts` the types that some are asked for as.
    """

    dialect: Dialect
    rows: str
    target: str
    weight: str | None
    floats: frozenset[str]
    casts: Mapping[str, str]

    def totals(self) -> str:
        """Number of rows `n` and weight `w` of each class, and how many weights are `odd`."""
        if self.weight is None:
            return f"SELECT t, count(*) AS n, count(*) AS w, 0 AS odd FROM {self._counting([])} GROUP BY t"
        fine = f"w >= 0 AND w < {_number(float('inf'))}"
        sums = f"count(*) AS n, sum(w) AS w, sum(CASE WHEN {fine} THEN 0 ELSE 1 END) AS odd"
        return f"SELECT t, {sums} FROM {self._counting([])} GROUP BY t"

    def first_rows(self, names: Sequence[str], n: int) -> str:
        """A few rows of numbers `z`."""
        return f"SELECT {_listed('z', names)} FROM {self._counting(self._cells(names))} LIMIT {n}"

    def moments(self, names: Sequence[str], pivots: Sequence[float]) -> str:
        """Σ w, Σ w z and Σ w z² of each column, z being less a pivot: `n`, `s`, `u`.

        `c` and `v` are how many cells are there, and how many of those are finite.
        """
        sums = [self._sums(k, f"z{k}") for k in range(len(names))]
        sums += [
            f"count(x{k}) AS c{k}, count(z{k}) AS v{k}" for k, name in enumerate(names) if name in self.floats
        ]
        return f"SELECT t, {', '.join(sums)} FROM {self._counting(self._cells(names, pivots))} GROUP BY t"

    def moments_about_means(self, names: Sequence[str]) -> str:
        """The same about the mean `p` of each class, as a double; the rows are read twice."""
        counting, places = self._counting(self._cells(names)), range(len(names))
        means = ", ".join(f"avg(z{k}) AS p{k}" for k in places)
        sums = ", ".join(f"{self._sums(k, f'd{k}')}, min(p{k}) AS p{k}" for k in places)
        apart = ", ".join(f"z{k} - p{k} AS d{k}, p{k}" for k in places)
        weight = "" if self.weight is None else ", w"
        return (
            f"WITH means AS MATERIALIZED (SELECT t AS of_class, {means} FROM {counting} GROUP BY t) "
            f"SELECT t, {sums} FROM (SELECT t{weight}, {apart} FROM {counting} "
            f"JOIN means ON t = of_class{self.dialect.fence}) AS apart GROUP BY t"
        )

    def infinities(self, names: Sequence[str]) -> str:
        """The smallest cell of each column that is not finite, without its sign: databases put NaN last."""
        odd = ", ".join(
            f"min(CASE WHEN x{k} IS NOT NULL AND z{k} IS NULL THEN abs({_double(f'x{k}')}) END) AS i{k}"
            for k in range(len(names))
        )
        return f"SELECT {odd} FROM {self._counting(self._cells(names))}"

    def ranges(self, names: Sequence[str]) -> str:
        """The smallest and the largest number of each column, `a` and `b`."""
        ends = ", ".join(f"min(z{k}) AS a{k}, max(z{k}) AS b{k}" for k in range(len(names)))
        return f"SELECT {ends} FROM {self._counting(self._cells(names))}"

    def values(self, names: Sequence[str]) -> str:
        """The weight `w` of each value of each column `g` in each class; the other columns are NULL."""
        weight = "count(*)" if self.weight is None else "sum(w)"
        sets = ", ".join(f"(t, g{k})" for k in range(len(names)))
        return (
            f"SELECT t, {_listed('g', names)}, {_double(weight)} AS w "
            f"FROM {self._counting(self._values(names))} GROUP BY GROUPING SETS ({sets})"
        )

    def pairs(self, a: str, b: str) -> str:
        """The pairs of values that two columns have in some row."""
        return f"SELECT DISTINCT t, g0, g1 FROM {self._counting(self._values([a, b]))}"

    def differing(self, a: str, b: str) -> str:
        """How many rows have other numbers in one column than in another."""
        return f"SELECT count(*) AS n FROM {self._counting(self._cells([a, b]))} WHERE z0 IS DISTINCT FROM z1"

    # -- parts of queries -------------------------------------------------------------------------

    def _counting(self, cells: Sequence[str]) -> str:
        """The rows that count: class `t`, weight `w` if there is one, and these cells."""
        label, chosen, where = quoted(self.target), [f"{quoted(self.target)} AS t"], ""
        if self.weight is not None:
            heavy = _double(quoted(self.weight))
            chosen.append(f"{heavy} AS w")
            where = f" AND ({heavy} <> 0 OR {heavy} IS NULL)"
        query = f"SELECT {', '.join([*chosen, *cells])} FROM {self.rows} WHERE {label} IS NOT NULL{where}"
        return f"({query}{self.dialect.fence}) AS counting"

    def _cells(self, names: Sequence[str], pivots: Sequence[float] = ()) -> list[str]:
        """Finite numbers `z`, less their pivots, and the cells `x` that may be none."""
        cells = []
        for k, name in enumerate(names):
            x = _double(quoted(name))
            z = f"{x} - {_number(pivots[k])}" if len(pivots) else x
            if name in self.floats:
                z = f"CASE WHEN {self.dialect.finite.format(x=x)} THEN {z} END"
                cells.append(f"{quoted(name)} AS x{k}")
            cells.append(f"{z} AS z{k}")
        return cells

    def _values(self, names: Sequence[str]) -> list[str]:
        return [
            f"CAST({quoted(name)} AS {self.casts[name]}) AS g{k}"
            if name in self.casts
            else f"{quoted(name)} AS g{k}"
            for k, name in enumerate(names)
        ]

    def _sums(self, k: int, z: str) -> str:
        if self.weight is None:
            return f"count({z}) AS n{k}, sum({z}) AS s{k}, sum({z} * {z}) AS u{k}"
        there = f"sum(CASE WHEN {z} IS NOT NULL THEN w END)"
        return f"{there} AS n{k}, sum(w * {z}) AS s{k}, sum(w * {z} * {z}) AS u{k}"


def _listed(letter: str, names: Sequence[str]) -> str:
    return ", ".join(f"{letter}{k}" for k in range(len(names)))


def _double(expression: str) -> str:
    return f"CAST({expression} AS DOUBLE PRECISION)"


def _number(value: float) -> str:
    """A double, to the bit: DuckDB takes 0.1 for a decimal, and 17 digits are lost to none."""
    return _double(f"'{value!r}'".replace("inf", "Infinity"))
