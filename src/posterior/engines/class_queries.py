"""The queries whose answers are sums by class, in SQL that DuckDB and PostgreSQL share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posterior.engines.sql import quoted


@dataclass(frozen=True)
class Dialect:
    """Where databases differ.

    `finite` asks of a double {x} whether it is neither NaN nor infinite. `total` and `squares` are Σ z and
    Σ z² in the words that are fastest; `weighs` says whether weighted sums are faster than to send the rows.
    """

    finite: str
    total: str = "sum({z})"
    squares: str = "sum({z} * {z})"
    weighs: bool = True


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

    def moments(self, names: Sequence[str], pivots: Sequence[float], *, finite: bool) -> str:
        """Σ w z and Σ w z² of each column, z being less a pivot, `s` and `u`; `v` cells of `n` rows.

        To ask whether cells are `finite` takes time: without, sums that are not show that some cell is not.
        """
        sums = ", ".join(f"count(z{k}) AS v{k}, {self._sums(k, f'z{k}')}" for k in range(len(names)))
        rows = self._counting(self._cells(names, pivots, finite=finite))
        return f"SELECT t, count(*) AS n, {sums} FROM {rows} GROUP BY t"

    def weights(self, names: Sequence[str]) -> str:
        """Σ w over the cells of each column, `w`."""
        sums = ", ".join(f"sum(CASE WHEN z{k} IS NOT NULL THEN w END) AS w{k}" for k in range(len(names)))
        return f"SELECT t, {sums} FROM {self._counting(self._cells(names))} GROUP BY t"

    def infinities(self, names: Sequence[str]) -> str:
        """Of the cells that are not finite the smallest, without sign: databases take NaN for the largest."""
        odd = ", ".join(
            f"min(CASE WHEN x{k} IS NOT NULL AND z{k} IS NULL THEN abs(x{k}) END) AS i{k}"
            for k in range(len(names))
        )
        cells = [*self._cells(names), *(f"{_double(quoted(name))} AS x{k}" for k, name in enumerate(names))]
        return f"SELECT {odd} FROM {self._counting(cells)}"

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
            f"JOIN means ON t = of_class) AS apart GROUP BY t"
        )

    def ranges(self, names: Sequence[str]) -> str:
        """The smallest and the largest number of each column, `a` and `b`."""
        ends = ", ".join(f"min(z{k}) AS a{k}, max(z{k}) AS b{k}" for k in range(len(names)))
        return f"SELECT {ends} FROM {self._counting(self._cells(names))}"

    def levels(self, name: str, most: int) -> str:
        """The values `g` of a column, with their rows `n` and weights `w`; of very many, some."""
        weight = "count(*)" if self.weight is None else "sum(w)"
        rows = self._counting(self._values([name]), labelled=name != self.target)
        sums = f"count(*) AS n, {_double(weight)} AS w"
        return f"SELECT g0 AS g, {sums} FROM {rows} GROUP BY g0 LIMIT {most}"

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

    def _counting(self, cells: Sequence[str], *, labelled: bool = True) -> str:
        """The rows that count: class `t`, weight `w` if there is one, and these cells."""
        label = quoted(self.target)
        chosen, where = [f"{label} AS t"], [f"{label} IS NOT NULL"] if labelled else []
        if self.weight is not None:
            heavy = _double(quoted(self.weight))
            chosen.append(f"{heavy} AS w")
            where.append(f"({heavy} <> 0 OR {heavy} IS NULL)")
        query = f"SELECT {', '.join([*chosen, *cells])} FROM {self.rows}"
        if where:
            query += f" WHERE {' AND '.join(where)}"
        return f"({query}) AS counting"

    def _cells(self, names: Sequence[str], pivots: Sequence[float] = (), *, finite: bool = True) -> list[str]:
        """Numbers `z`, less their pivots, of finite cells or of all."""
        cells = []
        for k, name in enumerate(names):
            x = _double(quoted(name))
            z = f"{x} - {_number(pivots[k])}" if len(pivots) else x
            if finite and name in self.floats:
                z = f"CASE WHEN {self.dialect.finite.format(x=x)} THEN {z} END"
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
        if self.weight is not None:
            return f"sum(w * {z}) AS s{k}, sum(w * {z} * {z}) AS u{k}"
        return f"{self.dialect.total.format(z=z)} AS s{k}, {self.dialect.squares.format(z=z)} AS u{k}"


def _listed(letter: str, names: Sequence[str]) -> str:
    return ", ".join(f"{letter}{k}" for k in range(len(names)))


def _double(expression: str) -> str:
    return f"CAST({expression} AS DOUBLE PRECISION)"


def _number(value: float) -> str:
    """A double, to the bit: DuckDB takes 0.1 for a decimal, and 17 digits are lost to none."""
    return _double(f"'{value!r}'".replace("inf", "Infinity"))
