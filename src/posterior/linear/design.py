"""From the columns of a table to the numbers that are multiplied by coefficients.

Numbers stand for themselves, categories become one 0/1 column a level, gaps a mean and an indicator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._text import first_true
from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Rows
from posterior.math import are_places
from posterior.notices import CountedRows, RowCount
from posterior.schema import Schema
from posterior.schema.columns import Alike
from posterior.stats.base import FieldSums

# Dense numbers (m, d) or a sparse matrix of that shape.
Matrix: TypeAlias = Any
Missing: TypeAlias = Literal["error", "indicator"]

# More 0/1 columns than this are kept sparse.
WIDE = 256
# Products of more columns than this are too many.
MOST_SQUARED = 500


class Factor(NamedTuple):
    """A column of categories: its place in the table, and the codes that have a column of their own.

    `seen` are all codes that training showed; the `reference` among them, if any, has no column.
    """

    column: int
    seen: tuple[int, ...]
    reference: bool
    gap: bool = False

    @property
    def levels(self) -> tuple[int, ...]:
        """The codes with a column."""
        return self.seen[1:] if self.reference or len(self.seen) <= 2 else self.seen

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return len(self.levels) + self.gap


@dataclass(frozen=True, eq=False)
class Design:
    """Which numbers are made of a row, and what they are called.

    `numbers` are the columns read as they are; `fill` their values for a gap (None: a gap is refused), and
    `gaps` those that have an indicator. `squares` are pairs of numbers whose product is a column, both
    counted from their `centre`.

    >>> from posterior.schema import Schema, read_table
    >>> import pandas as pd
    >>> table = read_table(pd.DataFrame({"age": [31.5, 40.2, 28.9], "state": ["CA", "NY", "CA"]}))
    >>> Design.of(Schema.infer(table)).names
    ('age', 'state[NY]')
    """

    schema: Schema
    numbers: tuple[int, ...]
    factors: tuple[Factor, ...] = ()
    fill: Annotated[Floats | None, "n value"] = None
    gaps: tuple[int, ...] = ()
    squares: tuple[tuple[int, int], ...] = ()
    centre: Annotated[Floats | None, "n value"] = None

    @classmethod
    def of(cls, schema: Schema, *, reference: bool = True, missing: Missing = "error") -> "Design":
        """The design of a table; with `reference` the first level of a category has no column of its own."""
        numbers, factors = [], []
        for j, column in enumerate(schema.columns):
            if column.ignored:
                continue
            if column.kind == "text":
                raise ValueError(
                    f"column {column.name!r} is text, which has no coefficients of its own; turn it into "
                    "numbers first (a pipeline with scikit-learn's TfidfVectorizer), or leave it out"
                )
            if column.categories is None:
                numbers.append(j)
            else:
                factors.append(Factor(j, tuple(range(column.size)), reference))
        design = cls(schema, tuple(numbers), tuple(factors))
        if not numbers and not factors:
            raise ValueError("there is no column to learn from; pass a table with at least one")
        return design if missing == "error" else replace(design, fill=np.zeros(len(numbers)))

    def impossible(self) -> str:
        """What no design is, in words: columns of the right kind, each used once; empty if all is well."""
        n, columns = len(self.numbers), self.schema.columns
        used = (*self.numbers, *(factor.column for factor in self.factors))
        if not used or not are_places(used, len(self.schema)):
            return "a column that is used twice, or not there"
        numbers = [columns.example] if isinstance(columns, Alike) else [columns[j] for j in self.numbers]
        coded = [(list(f.seen), columns[f.column]) for f in self.factors]
        gaps = bool(self.gaps) or any(factor.gap for factor in self.factors)
        return first_true(
            {
                "a column that is read as a number and is none": any(
                    c.categories is not None or c.kind == "text" or c.ignored for c in numbers
                ),
                "a column without categories": any(c.categories is None or c.ignored for _, c in coded),
                "a category that is not there": any(
                    codes != sorted(set(codes)) or not are_places(codes, c.size) for codes, c in coded
                ),
                "gaps that nobody fills in": gaps and self.fill is None,
                "gaps of numbers that are not there": not are_places(self.gaps, n),
                "other means than numbers": self.fill is not None and len(self.fill) != n,
                "products of what is not there": not all(0 <= i < n for pair in self.squares for i in pair),
                "other centres than numbers": self.centre is not None and len(self.centre) != n,
                "products without a centre": self.squares and self.centre is None,
            }
        )

    # -- what a pass over the rows teaches --------------------------------------------------------

    def learns_means(self, degree: int) -> bool:
        """Whether means and gaps of rows are needed: to fill gaps, or as the centre of products."""
        return self.fill is not None or degree == 2

    def learnt(self, rows: Rows, degree: int, seen: "_Seen | None" = None) -> "Design":
        """The design with the means, gaps and levels of these rows, and products where `degree` is 2.

        `seen` are their means and gaps, where they were summed up before.
        """
        if degree == 2 and len(self.numbers) > MOST_SQUARED:
            raise ValueError(
                f"degree=2 makes a column of every product of two, at most of {MOST_SQUARED} columns; found "
                f"{len(self.numbers)}: add the products you want as columns of their own"
            )
        if not self.learns_means(degree):
            return self._with_levels(rows)
        if seen is None:
            seen = rows.reduce(self.means_and_gaps, dense=len(self.numbers))
        mean = seen.total / np.maximum(seen.weight, 1e-300)
        design = self._with_levels(rows)
        if self.fill is not None:
            holes = tuple(np.flatnonzero(seen.gaps).tolist())
            both = zip(design.factors, seen.unknown, strict=True)
            design = replace(
                design, fill=mean, gaps=holes, factors=tuple(f._replace(gap=bool(u)) for f, u in both)
            )
        return design._squared(mean) if degree == 2 else design

    def _with_levels(self, rows: Rows) -> "Design":
        """The design without the levels that a data frame lists and no row has."""
        if not any(self.schema.columns[f.column].levels_fixed for f in self.factors):
            return self
        counts = self._level_counts(rows, self.factors)
        seen = [tuple(np.flatnonzero(each).tolist()) for each in counts]
        factors = tuple(f._replace(seen=s) for f, s in zip(self.factors, seen, strict=True))
        return replace(self, factors=factors)

    def _level_counts(self, rows: Rows, factors: Sequence[Factor]) -> list[Floats]:
        """How many rows have each level of some factors, one pass over the rows."""
        sizes = [self.schema.columns[f.column].size for f in factors]

        def counted(chunk: Chunk) -> Floats:
            counts = []
            for f, size in zip(factors, sizes, strict=True):
                codes = chunk.codes((f.column,)).array[:, 0]
                counts.append(np.bincount(codes[(codes >= 0) & (codes < size)], minlength=size))
            return np.concatenate(counts).astype(np.float64)

        return np.split(rows.reduce(counted, dense=len(self.numbers)), np.cumsum(sizes)[:-1])

    def unseen(self, rows: Rows) -> dict[str, dict[Any, int]]:
        """Rows by column and level whose level a data frame lists and training did not show."""
        found: dict[str, dict[Any, int]] = {}
        some = [f for f in self.factors if len(f.seen) != self.schema.columns[f.column].size]
        for f, counts in zip(some, self._level_counts(rows, some) if some else (), strict=True):
            column = self.schema.columns[f.column]
            levels = column.levels or ()
            new = {levels[k]: int(n) for k, n in enumerate(counts.tolist()) if n and k not in f.seen}
            if new:
                found[column.name] = new
        return found

    def refuse_gaps(self, rows: Rows) -> None:
        """Refuse missing values, naming their columns."""
        if not rows.reduce(self.count_gaps, dense=len(self.numbers)):
            return
        seen = rows.reduce(self.means_and_gaps, dense=len(self.numbers))
        places = [*self.numbers, *(f.column for f in self.factors)]
        found = zip(places, [*seen.gaps.tolist(), *seen.unknown.tolist()], strict=True)
        told = [f"column {self.schema.columns[j].name!r} ({int(n)} rows)" for j, n in found if n]
        shown = ", ".join(told[:5]) + (f", … ({len(told)} columns)" if len(told) > 5 else "")
        raise ValueError(
            f"Input X contains NaN: missing values in {shown}; fill them in, leave those rows or columns "
            'out, or pass missing="indicator" (the mean of training plus a column that says so)'
        )

    def new_gaps(self, rows: Rows) -> CountedRows | None:
        """What to say of missing values in columns that had none in training, and so have no indicator."""
        if not rows.reduce(self.count_gaps, dense=len(self.numbers)):
            return None
        seen = rows.reduce(self.means_and_gaps, dense=len(self.numbers))
        new = [
            (j, n) for i, (j, n) in enumerate(zip(self.numbers, seen.gaps, strict=True)) if i not in self.gaps
        ]
        new += [(f.column, n) for f, n in zip(self.factors, seen.unknown, strict=True) if not f.gap]
        names = self.schema.names
        told = tuple(RowCount(f"column {names[j]!r} (", int(n), " rows)") for j, n in new if n)
        if not told:
            return None
        what = "the mean of training is put in, and a missing category adds nothing"
        return CountedRows(
            told[:5], start="missing values in ", joint=", ", end=f", which had none in training: {what}"
        )

    def count_gaps(self, chunk: Chunk) -> int:
        """How many blocks of these rows have a gap; a sum settles the usual case."""
        matrix = chunk.matrix(self.numbers)
        values = matrix.data if kernels.is_sparse(matrix) else matrix
        codes = chunk.codes(tuple(f.column for f in self.factors)).array if self.factors else None
        return int(kernels.has_missing(values)) + int(codes is not None and bool((codes < 0).any()))

    @np.errstate(over="ignore", invalid="ignore")  # numbers too large for a sum are refused elsewhere
    def means_and_gaps(self, chunk: Chunk) -> "_Seen":
        """Weight, weighted sum and gaps of every number, and the gaps of every category."""
        w = np.ones(chunk.n_rows) if chunk.weight is None else chunk.weight
        matrix = chunk.matrix(self.numbers)
        if kernels.is_sparse(matrix):
            lost = np.isnan(matrix.data)
            gaps = np.bincount(matrix.indices[lost], minlength=len(self.numbers)).astype(np.float64)
            heavy = np.repeat(w, np.diff(matrix.indptr))
            missed = np.bincount(matrix.indices[lost], heavy[lost], minlength=len(self.numbers))
            weight, total = w.sum() - missed, w @ kernels.with_data(matrix, np.nan_to_num(matrix.data))
        else:
            lost = np.isnan(matrix)
            gaps, weight = lost.sum(axis=0).astype(np.float64), w @ ~lost
            total = w @ np.where(lost, 0.0, matrix)
        codes = chunk.codes(tuple(f.column for f in self.factors)).array
        return _Seen(weight, np.asarray(total), gaps, (codes < 0).sum(axis=0).astype(np.float64))

    def _squared(self, mean: Floats) -> "Design":
        binary = [self.schema.columns[j].kind == "binary" for j in self.numbers]
        pairs = combinations_with_replacement(range(len(self.numbers)), 2)
        squares = tuple((i, j) for i, j in pairs if i != j or not binary[i])
        return replace(self, squares=squares, centre=mean)

    # -- what comes out ---------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`."""
        columns = self.schema.columns
        numbers = [columns[j].name for j in self.numbers]
        names = list(numbers)
        for f in self.factors:
            levels: Sequence[Any] = columns[f.column].levels or ()
            names += [f"{columns[f.column].name}[{levels[k]}]" for k in f.levels]
            names += [f"{columns[f.column].name}[missing]"] * f.gap
        names += [f"{numbers[i]}[missing]" for i in self.gaps]
        names += [f"{numbers[i]}^2" if i == j else f"{numbers[i]}:{numbers[j]}" for i, j in self.squares]
        return tuple(names)

    @property
    def made_of(self) -> tuple[tuple[int, ...], ...]:
        """The columns of the table that each column here is made of: one, or the two of a product."""
        every: list[tuple[int, ...]] = [(j,) for j in self.numbers]
        every += [(f.column,) for f in self.factors for _ in range(f.width)]
        every += [(self.numbers[i],) for i in self.gaps]
        pairs = ((self.numbers[i], self.numbers[j]) for i, j in self.squares)
        return (*every, *(tuple(dict.fromkeys(pair)) for pair in pairs))

    def origins(self, features: Sequence[int]) -> tuple[str, ...]:
        """The columns of the table that some of the columns here are made of, each once."""
        made = self.made_of
        used = dict.fromkeys(j for feature in features for j in made[feature])
        return tuple(self.schema.columns[j].name for j in used)

    @property
    def n_features(self) -> int:
        """How many columns come out."""
        coded = sum(f.width for f in self.factors)
        return len(self.numbers) + coded + len(self.gaps) + len(self.squares)

    @property
    def plain(self) -> bool:
        """Whether the columns of the table are used as they are."""
        return not (self.factors or self.gaps or self.squares)

    @property
    def polynomial(self) -> bool:
        """Whether scores are linear or quadratic functions of the numbers in the table."""
        return True

    @property
    def as_it_is(self) -> bool:
        """Whether the numbers of a row are those of the table, gaps and all."""
        return self.plain and self.fill is None

    @property
    def dense(self) -> int:
        """How many columns are read as values."""
        return self.n_features if self._coded_width <= WIDE else len(self.numbers)

    @property
    def _coded_width(self) -> int:
        return sum(f.width for f in self.factors)

    def matrix(self, chunk: Chunk) -> Matrix:
        """The numbers of some rows, (m, d); NaN where a gap is to be refused."""
        numbers = chunk.matrix(self.numbers)
        if self.as_it_is:
            return numbers
        rare = kernels.is_sparse(numbers) or self._coded_width > WIDE
        holes = self._holes(numbers)
        numbers = self._filled(numbers)
        blocks = [
            numbers,
            *self._coded(chunk, rare),
            holes,
            self._products(numbers),
        ]
        blocks = [block for block in blocks if block is not None]
        if len(blocks) == 1:
            return blocks[0]
        if rare:
            return sparse.csr_array(sparse.hstack([sparse.csr_array(b) for b in blocks], format="csr"))
        return np.hstack(blocks)

    def _holes(self, numbers: Matrix) -> Matrix | None:
        if not self.gaps:
            return None
        part = numbers[:, list(self.gaps)]
        if not kernels.is_sparse(part):
            return np.isnan(part).astype(np.float64)
        part = kernels.with_data(part, np.isnan(part.data).astype(np.float64))
        part.eliminate_zeros()
        return part

    def _filled(self, numbers: Matrix) -> Matrix:
        if self.fill is None:
            return numbers
        if not kernels.is_sparse(numbers):
            return np.where(np.isnan(numbers), self.fill, numbers)
        lost = np.isnan(numbers.data)
        return kernels.with_data(numbers, np.where(lost, self.fill[numbers.indices], numbers.data))

    def _coded(self, chunk: Chunk, rare: bool) -> Iterator[Matrix]:
        """The columns of each factor."""
        if self.factors:
            codes = chunk.codes(tuple(f.column for f in self.factors)).array
            for factor, own in zip(self.factors, codes.T, strict=True):
                yield self._factor_columns(own.astype(np.int64), factor, rare)

    @cached_property
    def _sizes(self) -> dict[int, int]:
        """How many categories the column of each factor has."""
        return {f.column: self.schema.columns[f.column].size for f in self.factors}

    def _factor_columns(self, codes: AnyArray, factor: Factor, rare: bool) -> Matrix:
        """One 0/1 column a level; a category that training did not see is in none of them."""
        lost = codes < 0
        if lost.any() and self.fill is None:
            return _refused(codes, factor.width)
        size = self._sizes[factor.column]
        places = np.full(size + 2, -1)  # one more for a level that is new, and the last for none
        places[list(factor.levels)] = range(len(factor.levels))
        places[-1] = factor.width - 1 if factor.gap else -1
        place = places[np.where(lost, size + 1, np.minimum(codes, size))]
        rows = np.flatnonzero(place >= 0)
        if rare:
            shape = (len(codes), factor.width)
            return sparse.csr_array((np.ones(len(rows)), (rows, place[rows])), shape=shape)
        out = np.zeros((len(codes), factor.width))
        out[rows, place[rows]] = 1.0
        return out

    def _products(self, numbers: Matrix) -> Matrix | None:
        if not self.squares:
            return None
        if kernels.is_sparse(numbers):
            raise ValueError(
                "degree=2 would fill a sparse table with products; pass a dense table, or add the products "
                "you want as columns of their own"
            )
        a, b = (list(side) for side in zip(*self.squares, strict=True))
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused
            z = numbers - self.centre
            return z[:, a] * z[:, b]


@dataclass(frozen=True, eq=False)
class _Seen(FieldSums):
    """Weight, weighted sum and gaps of every number, and the gaps of every category."""

    weight: Floats
    total: Floats
    gaps: Floats
    unknown: Floats


def _refused(codes: AnyArray, width: int) -> Floats:
    """NaN for a missing category, which whoever reads the rows refuses by its name."""
    return np.where(codes[:, None] < 0, np.nan, np.zeros((1, width)))
