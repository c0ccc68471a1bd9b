"""A design of curves: numbers with smooth functions of them, categories, gaps, and products of pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._text import first_true
from posterior._types import Bools, Floats, Ints
from posterior.dataset import Chunk, Dataset
from posterior.kernels.choice import compiled
from posterior.linear.curves import Curve, packed
from posterior.linear.design import Design, Matrix
from posterior.linear.scan import Scan

# What kinds of terms there are; those of one kind have strengths that are alike.
KINDS = ("line", "curve", "category", "gap", "product")
FILLED = "curves would fill a sparse table; pass a dense one (X.toarray()), or use LogisticRegression"
# Categories up to which a column takes part in products.
MOST_LEVELS = 10


@dataclass(frozen=True)
class Term:
    """What has one strength: a line, a curve, the levels of a category, a mark of gaps, or a product."""

    name: str
    kind: str


@dataclass(frozen=True, eq=False)
class AdditiveDesign(Design):
    """Numbers, levels, marks of gaps, then the functions of each curve, and the products of pairs.

    `curves` are those of the numbers, in their order; `pairs` are columns of the table whose products join
    in: positions of numbers, levels of categories, both counted from their means (`shares` for levels). All
    these are multiplied by `scale`; one whose scale is 0 does not come out.
    """

    curves: tuple[Curve, ...] = ()
    shares: Annotated[Floats, "l any"] = field(default_factory=lambda: np.zeros(0))
    pairs: tuple[tuple[int, int], ...] = ()
    scale: Annotated[Floats, "d >=0"] = field(default_factory=lambda: np.ones(0))

    @classmethod
    def learnt_from(cls, rows: Dataset, design: Design) -> "AdditiveDesign":
        """The design with the curves of these rows, its numbers in units of their standard deviations."""
        first = rows.every(rows.n_rows).map(
            lambda chunk: np.array([kernels.is_sparse(chunk.matrix(design.numbers))]), dense=design.dense
        )
        if first[0]:
            raise ValueError(FILLED)
        some = Scan.of(rows, replace(design, fill=None)).collected().counted()
        plain = cls(**{f.name: getattr(design, f.name) for f in fields(Design)})
        n, width = len(design.numbers), design._coded_width
        curves, spread = [], np.ones(n)
        for i in range(n):
            values = (
                some.matrix[:, i]
                if not kernels.is_sparse(some.matrix)
                else some.matrix[:, [i]].toarray()[:, 0]
            )
            there = ~np.isnan(values)
            curves.append(Curve.learnt(values[there], some.weights[there]))
            spread[i] = _spread(values[there], some.weights[there])
        coded = some.matrix[:, n : n + width]
        shares = (
            np.nan_to_num(np.asarray(some.weights @ coded).ravel()) / some.total if width else np.zeros(0)
        )
        found = replace(plain, curves=tuple(curves), shares=shares)
        return replace(found, scale=np.concatenate([1 / spread, np.ones(found._width - n)]))

    def with_pairs(self, pairs: Sequence[tuple[int, int]]) -> "AdditiveDesign":
        """The same with the products of some pairs of columns, each in its own units."""
        more = replace(self, pairs=tuple(pairs))
        before = self.scale[: self._width - self._product_width]
        return replace(more, scale=np.concatenate([before, np.ones(more._product_width)]))

    def with_strengths(self, strengths: Floats) -> "AdditiveDesign":
        """The same with terms divided by the roots of their strengths; an infinite one leaves a term out."""
        return replace(self, scale=self.scale / np.sqrt(strengths)[self.term_of])

    def impossible(self) -> str:
        """What no design is, in words; empty if all is well."""
        return (
            super().impossible()
            or first_true(
                {
                    "other curves than numbers": len(self.curves) != len(self.numbers),
                    "products that are not squares": bool(self.squares),
                    "shares of other levels": len(self.shares) != self._coded_width,
                    "products of columns that are not there": any(
                        i == j or not {i, j} <= self._paired.keys() for i, j in self.pairs
                    ),
                }
            )
            or ("" if len(self.scale) == self._width else "scales of other columns")
        )

    # -- terms ------------------------------------------------------------------------------------

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms, each of which has one strength."""
        return tuple(dict.fromkeys(self._term_by_feature))

    @cached_property
    def term_of(self) -> Ints:
        """The place of the term that each number belongs to."""
        place = {term: i for i, term in enumerate(self.terms)}
        return np.array([place[term] for term in self._term_by_feature], dtype=np.int64)

    @cached_property
    def _term_by_feature(self) -> list[Term]:
        columns = self.schema.columns
        numbers = [columns[j].name for j in self.numbers]
        found = [Term(name, "line") for name in numbers]
        found += [Term(columns[f.column].name, "category") for f in self.factors for _ in range(f.width)]
        found += [Term(numbers[i], "gap") for i in self.gaps]
        found += [
            Term(name, "curve")
            for name, curve in zip(numbers, self.curves, strict=True)
            for _ in range(curve.n_functions)
        ]
        for i, j in self.pairs:
            term = Term(f"{columns[i].name}:{columns[j].name}", "product")
            found += [term] * (self._paired[i] * self._paired[j])
        return found

    # -- what comes out ---------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers: `age`, `state[CA]`, `age[missing]`, `age~1`, `age:income`."""
        columns = self.schema.columns
        found = list(super().names)
        for j, curve in zip(self.numbers, self.curves, strict=True):
            found += [f"{columns[j].name}~{k + 1}" for k in range(curve.n_functions)]
        for i, j in self.pairs:
            found += [f"{a}:{b}" for a in self._paired_names(i) for b in self._paired_names(j)]
        return tuple(found[k] for k in self.kept)

    @property
    def made_of(self) -> tuple[tuple[int, ...], ...]:
        """The columns of the table that each number here is made of: one, or the two of a product."""
        found = [*super().made_of]
        for j, curve in zip(self.numbers, self.curves, strict=True):
            found += [(j,)] * curve.n_functions
        for i, j in self.pairs:
            found += [(i, j)] * (self._paired[i] * self._paired[j])
        return tuple(found[k] for k in self.kept)

    @cached_property
    def kept(self) -> Ints:
        """The places, among all numbers, of those that come out; of none the first, which is then zero."""
        found = np.flatnonzero(self.scale)
        return found if len(found) else np.arange(min(1, len(self.scale)))

    @property
    def n_features(self) -> int:
        """How many numbers come out."""
        return len(self.kept)

    @cached_property
    def _width(self) -> int:
        """How many numbers there would be if all came out."""
        return super().n_features + self._curve_width + self._product_width

    @property
    def _plain_width(self) -> int:
        """How many of them are numbers of the table, levels and marks of gaps."""
        return super().n_features

    @property
    def plain(self) -> bool:
        """Never: there are curves."""
        return False

    @property
    def polynomial(self) -> bool:
        """Never: there are curves."""
        return False

    @property
    def as_it_is(self) -> bool:
        """Never: the numbers are scaled."""
        return False

    @np.errstate(over="ignore", invalid="ignore")  # scores that are not finite are refused
    def matrix(self, chunk: Chunk) -> Matrix:
        """The numbers of some rows, (m, d), scaled."""
        raw = chunk.matrix(self.numbers)
        if kernels.is_sparse(raw):
            raise ValueError(FILLED)
        kept, first = self.kept, self._plain_width
        plain = kept[kept < first]
        base = super().matrix(chunk)[:, plain]
        curves = self._curves_kept
        curved, after = len(plain) + curves, first + self._curve_width
        gaps = np.isnan(raw)
        products = list(self._paired_products(chunk, raw, gaps))
        if kernels.is_sparse(base):
            functions = np.empty((len(raw), curves))
            self._write_curves(raw, gaps, functions)
            scaled = [base @ sparse.diags_array(self.scale[plain]), sparse.csr_array(functions)]
            if products:
                scaled.append(sparse.csr_array(np.hstack(products) * self.scale[kept[kept >= after]]))
            return sparse.csr_array(sparse.hstack(scaled, format="csr"))
        out = np.empty((len(raw), len(kept)))
        np.multiply(base, self.scale[plain], out=out[:, : len(plain)])
        self._write_curves(raw, gaps, out[:, len(plain) : curved])
        if products:
            np.multiply(np.hstack(products), self.scale[kept[kept >= after]], out=out[:, curved:])
        return out

    @cached_property
    def _curve_width(self) -> int:
        return sum(curve.n_functions for curve in self.curves)

    @cached_property
    def _curves_kept(self) -> int:
        """How many functions of curves come out."""
        return sum(curve.n_functions for curve in self._scaled_curves)

    def _write_curves(self, raw: Floats, gaps: Bools, out: Floats) -> None:
        """Write the scaled functions of all numbers; those of a gap are zero, as they are on average."""
        fast = compiled("curves", out.size, len(out))
        if fast is not None:
            fast.write_functions(raw, *self._packed_curves, out)
            return
        at = 0
        for i, curve in enumerate(self._scaled_curves):
            if curve.n_functions:
                values = curve.functions(np.where(gaps[:, i], curve.knots[0], raw[:, i]))
                out[:, at : at + curve.n_functions] = np.where(gaps[:, [i]], 0.0, values)
                at += curve.n_functions

    @cached_property
    def _scaled_curves(self) -> list[Curve]:
        """The curves with the scale of their functions in them, without those that do not come out."""
        ends = self._plain_width + np.cumsum([0, *(curve.n_functions for curve in self.curves)])
        found = []
        for curve, (a, b) in zip(self.curves, pairwise(ends.tolist()), strict=True):
            own = self.kept[(self.kept >= a) & (self.kept < b)]
            heights, bends = (part[:, own - a] * self.scale[own] for part in (curve.heights, curve.bends))
            found.append(replace(curve, heights=heights, bends=bends))
        return found

    @cached_property
    def _packed_curves(self) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
        return packed(self._scaled_curves)

    # -- products ---------------------------------------------------------------------------------

    @cached_property
    def _paired(self) -> dict[int, int]:
        """The columns that may take part in products, with how many numbers each brings."""
        numbers = {j: 1 for j, c in zip(self.numbers, self.curves, strict=True) if not c.flat}
        return numbers | {f.column: len(f.levels) for f in self.factors if 0 < len(f.levels) <= MOST_LEVELS}

    @property
    def pairable(self) -> tuple[int, ...]:
        """The columns that may take part in products."""
        return tuple(sorted(self._paired))

    @property
    def _product_width(self) -> int:
        return sum(self._paired[i] * self._paired[j] for i, j in self.pairs)

    def _paired_names(self, j: int) -> list[str]:
        name = self.schema.columns[j].name
        factor = next((f for f in self.factors if f.column == j), None)
        levels: Sequence[Any] = self.schema.columns[j].levels or ()
        return [name] if factor is None else [f"{name}[{levels[k]}]" for k in factor.levels]

    def paired_numbers(self, rows: Dataset) -> dict[int, Floats]:
        """What each column that may take part in products brings to them, (n, p) for all rows."""

        def numbers(chunk: Chunk) -> Floats:
            raw = chunk.matrix(self.numbers)
            found = dict(self._brought(chunk, raw, np.isnan(raw), self.pairable))
            return np.hstack([found[j] for j in self.pairable])

        every = rows.map(numbers, dense=self.dense)
        ends = np.cumsum([self._paired[j] for j in self.pairable])[:-1]
        return dict(zip(self.pairable, np.split(every, ends, axis=1), strict=True))

    def _brought(
        self, chunk: Chunk, raw: Floats, gaps: Bools, columns: Sequence[int]
    ) -> Iterator[tuple[int, Floats]]:
        """Positions of numbers and levels of categories, about their means and of variance about 1."""
        wanted = set(columns)
        for i, j in enumerate(self.numbers):
            if j in wanted:
                curve = self.curves[i]
                u = curve.position(np.where(gaps[:, i], curve.knots[0], raw[:, i]))
                yield j, np.where(gaps[:, i], 0.0, (u - curve.middle) / curve.spread)[:, None]
        at = 0
        for factor, block in zip(self.factors, self._coded(chunk, rare=False), strict=True):
            if factor.column in wanted:
                n = len(factor.levels)
                share = self.shares[at : at + n]
                size = np.sqrt((share * (1 - share)).sum()) or 1.0
                there = block[:, n:].sum(axis=1) == 0  # no gap
                yield factor.column, np.where(there[:, None], (block[:, :n] - share) / size, 0.0)
            at += factor.width

    def _paired_products(self, chunk: Chunk, raw: Floats, gaps: Bools) -> Iterator[Floats]:
        pairs = self.pairs_kept
        if pairs:
            brought = dict(self._brought(chunk, raw, gaps, [j for pair in pairs for j in pair]))
            for i, j in pairs:
                yield product_of(brought[i], brought[j])

    @cached_property
    def pairs_kept(self) -> list[tuple[int, int]]:
        """The pairs whose products come out; those of one pair have one scale."""
        at = self._plain_width + self._curve_width
        found = []
        for i, j in self.pairs:
            if self.scale[at]:
                found.append((i, j))
            at += self._paired[i] * self._paired[j]
        return found

    def spread_out(self, kept: Floats) -> Floats:
        """Values of the numbers that come out, (..., d), among zeros for the others."""
        out = np.zeros((*kept.shape[:-1], self._width))
        out[..., self.kept] = kept
        return out


def product_of(a: Floats, b: Floats) -> Floats:
    """Every number of one column times every number of another, (m, p·q)."""
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))


def _spread(values: Floats, weight: Floats) -> float:
    """The standard deviation, 1 where there is none."""
    if not len(values):
        return 1.0
    share = weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.sqrt(share @ (values - share @ values) ** 2))
    return spread if 0 < spread < np.inf else 1.0
