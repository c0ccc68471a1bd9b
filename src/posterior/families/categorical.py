"""The categorical family: one column, or the joint table of several."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from posterior import kernels
from posterior._pool import each
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.families.base import Distribution, Family, LeftOut, SumsOf
from posterior.families.left_out.parts import loses_digits
from posterior.families.parameters import Parameter, level_name, most_telling
from posterior.families.sums import ALPHAS, check_alpha, safe_log, sum_of_products
from posterior.math import sum_to_one
from posterior.schema import Codes
from posterior.stats import CategoryCounts
from posterior.stats.counts import tables_misfit

LARGEST_TABLE = 1 << 26
# The largest number of cells of a joint table that are listed.
LISTED_CELLS = 1000
# With more cells than this, threads share out the tables.
MANY_CELLS = 1 << 20
Unknown = Literal["marginalize", "smooth", "error"]


class CategoricalDistribution(Distribution):
    """Probabilities of categories by class: a (K, V_j) table for each column, or one joint (K, V_1, …, V_m).

    Built by hand it takes one table, and the names of its categories (for a joint table, a list of
    names for each column). A code that training had not seen scores `log_unseen`.

    >>> balls = CategoricalDistribution([[4/5, 1/5], [3/5, 2/5]], categories=["blue", "red"])
    >>> np.exp(balls.log_density(np.array([[0], [-1]])))
    array([[0.8, 0.6],
           [1. , 1. ]])
    """

    kind = "categorical"
    reads = ("codes",)
    parts: ClassVar[Mapping[str, Any]] = {
        "log_tables": Annotated[tuple[Floats, ...], "K ... log"],
        "joint": bool,
        "log_unseen": Annotated[tuple[Floats, ...], "K log"],
        "unseen": Unknown,
        "categories": tuple[tuple[Any, ...], ...] | None,
    }

    def __init__(
        self, probability: ArrayLike, categories: Sequence[Any] | None = None, *, joint: bool | None = None
    ) -> None:
        p = np.array(probability, dtype=np.float64)
        if p.ndim < 2 or not (p >= 0).all() or not np.allclose(p.reshape(len(p), -1).sum(axis=1), 1):
            raise ValueError(
                "probability must be (n_classes, n_categories), not negative, and sum to 1 in each class"
            )
        self._set((safe_log(p),), p.ndim > 2 if joint is None else joint, (np.zeros(len(p)),), "marginalize")
        if categories is not None:
            names = [categories] if p.ndim == 2 else list(categories)
            if [len(c) for c in names] != list(p.shape[1:]):
                raise ValueError(f"categories must name {p.shape[1:]} categories, found {categories!r}")
            self.categories = tuple(tuple(c) for c in names)

    def _set(
        self, log_tables: tuple[Floats, ...], joint: bool, log_unseen: tuple[Floats, ...], unseen: str
    ) -> None:
        self.log_tables, self.joint, self.log_unseen, self.unseen = log_tables, joint, log_unseen, unseen
        self.n_classes = len(log_tables[0]) if log_tables else 0
        self.n_columns = log_tables[0].ndim - 1 if joint else len(log_tables)

    @classmethod
    def from_logs(
        cls, log_tables: tuple[Floats, ...], *, joint: bool, log_unseen: tuple[Floats, ...], unseen: str
    ) -> Self:
        """The distribution with these log tables, one for each column or a joint one."""
        self = cls.__new__(cls)
        self._set(log_tables, joint, log_unseen, unseen)
        return self

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The distribution of these parts, with the names of its categories."""
        rest = dict(parts)
        categories = rest.pop("categories")
        self = cls.from_logs(**rest)
        self.categories = categories
        return self

    def impossible(self) -> str:
        """One table for each column or a joint one, of probabilities that sum to one in each class."""
        if not self.log_tables or len(self.log_tables) != len(self.log_unseen):
            return "no table of probabilities"
        if self.joint and len(self.log_tables) != 1:
            return "more than one joint table"
        for table in self.log_tables:
            if table.ndim != 2 and not self.joint:
                return "a joint table of columns that are apart"
            if table.size and not sum_to_one(np.exp(table).reshape(len(table), -1)):
                return "probabilities that do not sum to one"
        return ""

    def misfit(self, sizes: Sequence[int]) -> str:
        """Tables that have no place for a category, or places for others."""
        return tables_misfit(self.log_tables, sizes, joint=self.joint)

    @property
    def separable(self) -> bool:  # type: ignore[override]
        """Whether there is a table for each column."""
        return not self.joint

    @property
    def n_events(self) -> int:
        """The cells of a joint table."""
        return int(self.log_tables[0][0].size) if self.joint else 0

    @cached_property
    def _lookup(self) -> tuple[Floats, ...]:
        """Tables (V + 2, K) to be read by code: the last but one row is unseen, the last (−1) missing."""
        return tuple(
            np.vstack([t.T, unseen, np.zeros(self.n_classes)])
            for t, unseen in zip(self.log_tables, self.log_unseen, strict=True)
        )

    @cached_property
    def _look_ups(self) -> kernels.LookUps | kernels.LongLookUps:
        if self.n_classes > kernels.MATRIX_CLASSES:
            return kernels.LongLookUps(self.log_tables, self.log_unseen)
        return kernels.LookUps(self._lookup)

    def log_terms(self, block: "Codes | AnyArray") -> Floats:
        """Log density by column, (n, b, K), 0 for a missing cell; a joint table is shared out evenly."""
        codes = block.array if isinstance(block, Codes) else block
        if not self.joint:
            terms = np.empty((*codes.shape, self.n_classes))
            for j, lookup in enumerate(self._lookup):
                terms[:, j] = lookup[codes[:, j]]
            return terms
        return np.repeat(self._log_joint(codes)[:, None] / self.n_columns, self.n_columns, axis=1)

    def log_density(self, block: "Codes | AnyArray") -> Floats:
        """Look-ups, added over independent columns."""
        codes = block.array if isinstance(block, Codes) else block
        if self.joint:
            return self._log_joint(codes)
        out = np.zeros((len(codes), self.n_classes))
        self._look_ups.add(codes, out)
        return out

    def add_relative(self, block: "Codes | AnyArray", out: Floats) -> None:
        """Look-ups, added to what is there."""
        codes = block.array if isinstance(block, Codes) else block
        if self.joint:
            out += self._log_joint(codes)
        else:
            self._look_ups.add(codes, out)

    def _log_joint(self, codes: AnyArray) -> Floats:
        """Cells of the joint table, summed over the columns that are missing or unseen in a row."""
        table = self.log_tables[0]
        new = codes >= np.asarray(table.shape[1:])
        out = np.zeros((len(codes), self.n_classes))
        probability = np.exp(table)
        for rows, gone in kernels.missing_patterns((codes < 0) | new):
            if gone.all():
                continue
            axes = tuple(np.flatnonzero(gone) + 1)
            part = table if not axes else safe_log(probability.sum(axis=axes))
            cells = tuple(codes[rows][:, ~gone].T)
            out[rows] = part[(slice(None), *cells)].T
        if self.unseen == "smooth":
            out[new.any(axis=1)] = self.log_unseen[0]
        return out

    def marginal(self, columns: Sequence[int]) -> "CategoricalDistribution":
        """The distribution of some of the columns."""
        if not self.joint:
            return self.from_logs(
                tuple(self.log_tables[j] for j in columns),
                joint=False,
                log_unseen=tuple(self.log_unseen[j] for j in columns),
                unseen=self.unseen,
            )
        table = self.log_tables[0]
        gone = tuple(j + 1 for j in range(table.ndim - 1) if j not in set(columns))
        part = safe_log(np.exp(table).sum(axis=gone))
        return self.from_logs((part,), joint=True, log_unseen=self.log_unseen, unseen=self.unseen)

    def sample(self, y: Ints, rng: np.random.Generator) -> Ints:
        """One row of codes for each class code."""
        columns = []
        for table in self.log_tables:
            p = np.exp(table).reshape(self.n_classes, -1).cumsum(axis=1)
            if p.shape[1] == 0:
                columns.append(np.full((len(y), 1), -1))
                continue
            u = rng.random(len(y)) * p[y, -1]
            cell = np.minimum((u[:, None] >= p[y]).sum(axis=1), p.shape[1] - 1)
            columns.append(np.stack(np.unravel_index(cell, table.shape[1:]), axis=1))
        return np.concatenate(columns, axis=1).astype(np.int64)

    @property
    def n_parameters(self) -> int:
        """Cells less one, for each class and table."""
        return sum(self.n_classes * max(t[0].size - 1, 0) for t in self.log_tables)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The probability of every level, or cell; of very many cells, those that tell classes apart most."""
        if not self.joint:
            return [
                Parameter((column,), f"p({level_name(known, code)})", np.exp(log_p))
                for column, known, logs in zip(names, levels, self.log_tables, strict=True)
                for code, log_p in enumerate(logs.T)
            ]
        table = self.log_tables[0]
        cells = table.reshape(self.n_classes, -1)
        found = []
        for cell in np.sort(most_telling(cells, LISTED_CELLS)):
            codes = np.unravel_index(cell, table.shape[1:])
            event = ", ".join(level_name(known, int(code)) for known, code in zip(levels, codes, strict=True))
            found.append(Parameter(tuple(names), f"p({event})", np.exp(cells[:, cell])))
        return found

    def log_likelihood(self, statistics: CategoryCounts) -> float:
        """Σ count · ln p."""
        pairs = zip(statistics.tables, self.log_tables, strict=True)
        return float(sum(sum_of_products(count, log_p) for count, log_p in pairs))


@dataclass(frozen=True)
class Categorical(Family[CategoryCounts]):
    """The categorical family, with additive smoothing; categories need no one-hot encoding.

    `alpha` is added to the count of every category (Laplace's rule with 1, maximum likelihood with 0, or
    "auto"). With `hierarchical=True` the α V rows that are so added to a class are shared out as the V
    categories are in all classes together, (n_v + 1) / (N + V), not evenly: what a class has not shown is as
    rare in it as everywhere, and a class of few rows says little. Several columns are independent given the
    class, or with `joint=True` one table of all their combinations. `unknown` says what to do with a category
    that training has not seen: "marginalize" leaves the cell out, "smooth" gives it the probability of a
    further category that was never counted, α/(N + α(V+1)), and "error" refuses. With `repeats=False` nobody
    looks for columns that repeat another one.

    >>> rows = Categorical().summarize(Codes(np.array([[0], [1], [1]]), (2,)), np.array([0, 0, 0]), None, 1)
    >>> np.exp(Categorical(alpha=1).estimate(rows).log_tables[0])
    array([[0.4, 0.6]])
    """

    alpha: Any = 1.0
    joint: bool = False
    unknown: Unknown = "marginalize"
    repeats: bool = field(default=True, compare=False, repr=False)
    hierarchical: bool = False
    reads: ClassVar[Any] = "codes"
    read_as: ClassVar[str | None] = "categorical"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}
    kinds: ClassVar[frozenset[str]] = frozenset({"categorical", "binary"})

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if np.ndim(self.alpha):
            raise ValueError(f"alpha must be a single number for Categorical, found {self.alpha!r}")
        if self.unknown not in ("marginalize", "smooth", "error"):
            raise ValueError(f"unknown must be 'marginalize', 'smooth' or 'error', found {self.unknown!r}")

    @property
    def sums_of(self) -> SumsOf:
        """Each column is counted by itself, unless they are joined."""
        return "" if self.joint else "values"

    def summarize(self, block: Codes, y: Ints, weight: Floats | None, n_classes: int) -> CategoryCounts:
        """Weight of every category by class."""
        cells = n_classes * prod(block.sizes)
        if self.joint and cells > LARGEST_TABLE:
            raise ValueError(
                f"a joint table of columns with {list(block.sizes)} categories has {cells:,} "
                f"cells, more than {LARGEST_TABLE:,}; join fewer columns, or leave joint=True out"
            )
        return CategoryCounts.of(
            block.array, block.sizes, y, weight, n_classes, joint=self.joint, marked=self.repeats
        )

    def estimate(self, statistics: CategoryCounts) -> CategoricalDistribution:
        """Smoothed relative frequencies; a class without any row takes the shares that smooth the others."""
        self.refuse_open()
        found: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(statistics.tables)

        def estimate(j: int) -> None:
            found[j] = self._log_probabilities(statistics.tables[j])

        if sum(counts.size for counts in statistics.tables) > MANY_CELLS:
            each(estimate, len(found))
        else:
            for j in range(len(found)):
                estimate(j)
        logs, unseen = zip(*found, strict=True) if found else ((), ())
        return CategoricalDistribution.from_logs(
            logs, joint=self.joint, log_unseen=unseen, unseen=self.unknown
        )

    def _log_probabilities(self, counts: Floats) -> tuple[Floats, Floats]:
        """Log probabilities of the cells of a table, and of a category that is not there."""
        n_cells = max(counts[0].size, 1)
        weight = counts.sum(axis=tuple(range(1, counts.ndim)), keepdims=True)
        total = weight + self.alpha * n_cells
        share = self._shares(counts)
        logs = counts + self.alpha * n_cells * share
        with np.errstate(divide="ignore", invalid="ignore"):  # a probability of zero is meant
            np.divide(logs, total, out=logs)
            if not (total > 0).all():
                np.copyto(logs, share, where=total <= 0)
            np.log(logs, out=logs)
        rest = weight.reshape(-1) + self.alpha * (n_cells + 1)
        # A further category has the share of one that was never counted.
        new = (n_cells + 1) / (counts.sum() + n_cells + 1) if self.hierarchical else 1.0
        p = np.divide(self.alpha * new, rest, out=np.zeros(len(counts)), where=rest > 0)
        return logs, safe_log(p) if self.unknown == "smooth" else np.zeros(len(counts))

    def _shares(self, counts: Floats) -> Floats:
        """How the rows that are added are shared out among the cells of a table, (1, V_1, …)."""
        n_cells = max(counts[0].size, 1)
        if not self.hierarchical:
            return np.full((1, *counts.shape[1:]), 1 / n_cells)
        return np.asarray((counts.sum(axis=0, keepdims=True) + 1) / (counts.sum() + n_cells))

    def leave_one_out(
        self, statistics: CategoryCounts, distribution: CategoricalDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """The cells of the own class change by the weight of the row, and the shares of all of them.

        A gap was never counted.
        """

        def left_out(block: "Codes | AnyArray", y: Ints, weight: Floats | None) -> LeftOut:
            codes = block.array if isinstance(block, Codes) else block
            out, delicate = np.zeros((len(y), len(statistics.tables[0]))), np.zeros(len(y), dtype=np.bool_)
            parts = [codes] if self.joint else list(codes.T[:, :, None])
            for j, (counts, part) in enumerate(zip(statistics.tables, parts, strict=True)):
                terms = distribution.log_density(codes) if self.joint else distribution._lookup[j][part[:, 0]]
                rows = np.flatnonzero(((part >= 0) & (part < counts.shape[1:])).all(axis=1))
                if len(rows):
                    cells = np.ravel_multi_index(tuple(part[rows].T), counts.shape[1:])
                    w = np.ones(len(rows)) if weight is None else weight[rows]
                    table = counts.reshape(len(counts), -1)
                    terms[rows], delicate_rows = self._logs_without(table, cells, y[rows], w)
                    delicate[rows] |= delicate_rows
                out += terms
            return LeftOut(out, delicate)

        return left_out

    def _logs_without(self, counts: Floats, cells: Ints, y: Ints, weight: Floats) -> tuple[Floats, Bools]:
        """Log probabilities (n, K) of cells without a row of that weight that was counted in each."""
        n_cells, rows = counts.shape[1], np.arange(len(y))
        share = np.full(len(y), 1 / n_cells)
        if self.hierarchical:
            share = np.maximum(counts.sum(axis=0)[cells] - weight, 0.0) + 1
            share /= np.maximum(counts.sum() - weight, 0.0) + n_cells
        before, total = counts[:, cells].T, np.tile(counts.sum(axis=1), (len(y), 1))
        left, rest = before.copy(), total.copy()
        left[rows, y] -= weight
        rest[rows, y] -= weight
        added = self.alpha * n_cells * share[:, None]
        delicate = loses_digits(left, before, added) | loses_digits(rest, total, self.alpha * n_cells)
        left, rest = np.maximum(left, 0.0) + added, np.maximum(rest, 0.0) + self.alpha * n_cells
        p = np.divide(left, rest, out=np.tile(share[:, None], (1, len(counts))), where=rest > 0)
        return safe_log(p), delicate[rows, y]
