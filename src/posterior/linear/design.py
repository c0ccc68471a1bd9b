"""From the columns of a table to the numbers that are multiplied by coefficients.

Numbers stand for themselves, categories become one 0/1 column a level, gaps a mean and an indicator.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Rows
from posterior.schema import Schema

# Dense numbers (m, d) or a sparse matrix of that shape.
Matrix: TypeAlias = Any
Missing: TypeAlias = Literal["error", "indicator"]

# More 0/1 columns than this are kept sparse.
WIDE = 256


class Factor(NamedTuple):
    """A column of categories: its place in the table, and which of its levels have a column of their own."""

    column: int
    first: int
    size: int
    gap: bool

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return self.size - self.first + self.gap


@dataclass(frozen=True, eq=False)
class Design:
    """Which numbers are made of a row, and what they are called.

    `numbers` are the columns read as they are; `fill` their values for a gap (None: a gap is refused), and
    `gaps` those that have an indicator. `squares` are pairs of numbers whose product is a column, both
    counted from their `centre`.
    """

    schema: Schema
    numbers: tuple[int, ...]
    factors: tuple[Factor, ...] = ()
    fill: Floats | None = None
    gaps: tuple[int, ...] = ()
    squares: tuple[tuple[int, int], ...] = ()
    centre: Floats | None = None

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
                first = int(reference or column.size <= 2)
                factors.append(Factor(j, min(first, column.size), column.size, False))
        design = cls(schema, tuple(numbers), tuple(factors))
        if not numbers and not factors:
            raise ValueError("there is no column to learn from; pass a table with at least one")
        return design if missing == "error" else replace(design, fill=np.zeros(len(numbers)))

    # -- what a pass over the rows teaches --------------------------------------------------------

    def learnt(self, rows: Rows, degree: int) -> "Design":
        """The design with the means and gaps of these rows, and products of columns where `degree` is 2."""
        if self.fill is None and degree == 1:
            return self
        seen = rows.reduce(self._seen, dense=len(self.numbers))
        mean = seen.total / np.maximum(seen.weight, 1e-300)
        design = self
        if self.fill is not None:
            holes = tuple(np.flatnonzero(seen.gaps).tolist())
            factors = tuple(f._replace(gap=bool(u)) for f, u in zip(self.factors, seen.unknown, strict=True))
            design = replace(self, fill=mean, gaps=holes, factors=factors)
        return design._squared(mean) if degree == 2 else design

    def refuse_gaps(self, rows: Rows) -> None:
        """Refuse missing values, naming their columns."""
        if not rows.reduce(self._gaps, dense=len(self.numbers)):
            return
        seen = rows.reduce(self._seen, dense=len(self.numbers))
        places = [*self.numbers, *(f.column for f in self.factors)]
        found = zip(places, [*seen.gaps.tolist(), *seen.unknown.tolist()], strict=True)
        told = [f"column {self.schema.columns[j].name!r} ({int(n)} rows)" for j, n in found if n]
        shown = ", ".join(told[:5]) + (f", … ({len(told)} columns)" if len(told) > 5 else "")
        raise ValueError(
            f"Input X contains NaN: missing values in {shown}; fill them in, leave those rows or columns "
            'out, or pass missing="indicator" (the mean of training plus a column that says so)'
        )

    def _gaps(self, chunk: Chunk) -> int:
        """How many blocks of these rows have a gap; a sum settles the usual case."""
        matrix = chunk.matrix(self.numbers)
        values = matrix.data if kernels.is_sparse(matrix) else matrix
        codes = chunk.codes(tuple(f.column for f in self.factors)).array if self.factors else None
        return int(kernels.has_missing(values)) + int(codes is not None and bool((codes < 0).any()))

    def _seen(self, chunk: Chunk) -> "_Seen":
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
            names += [f"{columns[f.column].name}[{level}]" for level in levels[f.first :]]
            names += [f"{columns[f.column].name}[missing]"] * f.gap
        names += [f"{numbers[i]}[missing]" for i in self.gaps]
        names += [f"{numbers[i]}^2" if i == j else f"{numbers[i]}:{numbers[j]}" for i, j in self.squares]
        return tuple(names)

    def origins(self, features: Sequence[int]) -> tuple[str, ...]:
        """The columns of the table that some of the columns here are made of, each once."""
        every = [(j,) for j in self.numbers]
        every += [(f.column,) for f in self.factors for _ in range(f.width)]
        every += [(self.numbers[i],) for i in self.gaps]
        made = [*every, *((self.numbers[i], self.numbers[j]) for i, j in self.squares)]
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
    def dense(self) -> int:
        """How many columns are read as values."""
        return self.n_features if self._coded_width <= WIDE else len(self.numbers)

    @property
    def _coded_width(self) -> int:
        return sum(f.width for f in self.factors)

    def matrix(self, chunk: Chunk) -> Matrix:
        """The numbers of some rows, (m, d); NaN where a gap is to be refused."""
        numbers = chunk.matrix(self.numbers)
        if self.plain and self.fill is None:
            return numbers
        rare = kernels.is_sparse(numbers) or self._coded_width > WIDE
        holes = self._holes(numbers)
        numbers = self._filled(numbers)
        blocks = [
            numbers,
            *(self._coded(chunk, f, rare) for f in self.factors),
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

    def _coded(self, chunk: Chunk, factor: Factor, rare: bool) -> Matrix:
        """One 0/1 column a level; a category that training did not see is in none of them."""
        codes = chunk.codes((factor.column,)).array[:, 0].astype(np.int64)
        lost = codes < 0
        if lost.any() and self.fill is None:
            return _refused(codes, factor.width)
        place = np.where(codes >= factor.size, -1, codes - factor.first)
        place = np.where(lost, factor.width - 1 if factor.gap else -1, place)
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
        z = numbers - self.centre
        a, b = (list(side) for side in zip(*self.squares, strict=True))
        return z[:, a] * z[:, b]


@dataclass(frozen=True, eq=False)
class _Seen:
    """Weight, weighted sum and gaps of every number, and the gaps of every category."""

    weight: Floats
    total: Floats
    gaps: Floats
    unknown: Floats

    def __add__(self, other: "_Seen") -> "_Seen":
        return _Seen(
            self.weight + other.weight,
            self.total + other.total,
            self.gaps + other.gaps,
            self.unknown + other.unknown,
        )


def _refused(codes: AnyArray, width: int) -> Floats:
    """NaN for a missing category, which whoever reads the rows refuses by its name."""
    return np.where(codes[:, None] < 0, np.nan, np.zeros((1, width)))
