"""What the families share that know of columns what two of them do together: levels, counts, smoothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Rows
from posterior.families.base import Distribution, Family, is_open
from posterior.families.levels import Levels, learnt_levels, names_of_levels, read_levels
from posterior.schema import Codes, Mixed
from posterior.stats import LevelPairs
from posterior.stats.level_pairs import placed

# The largest table of pairs of levels by class, in cells: 128 MiB.
LARGEST_TABLE = 1 << 24
# Rows that the frequencies in all classes are worth in each, of levels and of pairs of levels.
CLASS_ROWS = (30.0, 10.0, 3.0, 1.0, 0.3)
PAIR_ROWS = (100.0, 30.0, 10.0, 5.0, 2.0, 1.0)


@dataclass(frozen=True)
class LevelFamily(Family[LevelPairs]):
    """A family of columns of any kinds but texts, which it reads as levels and counts two by two.

    Categories are levels as they are, and so are the values of a column of numbers that has up to 10 of them;
    other numbers are cut into `bins` of about equal weight. `levels` are those of numbers: they are learnt
    from the first rows seen, unless given, and stay.

    Frequencies are smoothed, so that no level and no pair that a class has seldom shown decides alone: those
    of a column in all rows towards even ones (one row), and those in a class towards these (`class_rows`);
    those among the rows with a level of another column towards the former, and those in a class towards these
    (`pair_rows` each). Towards what all classes share: to be smoothed says nothing of the class.
    """

    bins: int = 5
    class_rows: Any = 3.0
    pair_rows: Any = 5.0
    levels: Levels | None = None
    reads: ClassVar[Any] = "mixed"
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count", "binary", "categorical"})
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"class_rows": CLASS_ROWS, "pair_rows": PAIR_ROWS}

    def __post_init__(self) -> None:
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer) or self.bins < 2:
            raise ValueError(f"bins must be a whole number from 2 on, found {self.bins!r}")
        for name in ("class_rows", "pair_rows"):
            given = getattr(self, name)
            if is_open(given):
                continue
            if not isinstance(given, int | float | np.number) or not 0 < given < np.inf:
                raise ValueError(
                    f"{name} must be a positive number or 'auto', found {given!r}: without any smoothing a "
                    "pair that training did not show would make a class impossible"
                )

    def marginal(self, columns: Sequence[int]) -> Self:
        """The family of some of the columns, whose levels stay."""
        return self if self.levels is None else replace(self, levels=tuple(self.levels[j] for j in columns))

    def prepared(self, rows: Rows, columns: tuple[int, ...]) -> Self:
        """The family that knows the levels of its columns of numbers."""
        known = list(self.levels or [None] * len(columns))
        kinds = [rows.schema.columns[j].kind for j in columns]
        unknown = [
            i
            for i, (kind, levels) in enumerate(zip(kinds, known, strict=True))
            if kind in ("continuous", "count") and not (levels is not None and levels.middles)
        ]
        if not unknown and self.levels is not None:
            return self
        for i in unknown:
            known[i] = learnt_levels(rows, columns[i], self.bins, known[i])
        return replace(self, levels=tuple(known))

    @property
    def chosen_anew(self) -> bool:
        """Whether numbers are cut by quantiles, which are others in some of the rows."""
        return any(levels is not None and not levels.given for levels in self.levels or ())

    def check(self, block: "Codes | Mixed", names: Sequence[str]) -> None:
        """Levels must be known, and not too many of them."""
        known = self.levels or (None,) * len(names)
        for name, size, levels in zip(names, block.sizes, known, strict=True):
            if size == 0 and levels is None and not np.isnan(block.array[:, names.index(name)]).all():
                raise ValueError(f"column {name!r}: the levels of its numbers are not known; use fit")

    def summarize(self, block: "Codes | Mixed", y: Ints, weight: Floats | None, n_classes: int) -> LevelPairs:
        """Weight of every pair of levels by class."""
        levels, sizes = read_levels(block, self.levels)
        cells = n_classes * sum(sizes) ** 2
        if cells > LARGEST_TABLE:
            raise ValueError(
                f"pairs of {sum(sizes):,} levels in {n_classes} classes are {cells:,} cells, more than "
                f"{LARGEST_TABLE:,}; use fewer columns, fewer bins, or NaiveBayes, which counts no pairs"
            )
        return LevelPairs.of(levels, sizes, y, weight, n_classes)

    def misfit(self, statistics: LevelPairs, sizes: Sequence[int]) -> str:
        """Counts of other levels than those of the columns."""
        return statistics.misfit(sizes, joint=True) or levels_misfit(self.levels, statistics.sizes, sizes)

    def smoothed(self, statistics: LevelPairs) -> "Smoothed":
        """The smoothed frequencies."""
        self.refuse_open()
        return Smoothed.of(statistics, float(self.class_rows), float(self.pair_rows))


def levels_misfit(known: Levels | None, own: Sequence[int], sizes: Sequence[int]) -> str:
    """What is wrong with the levels of numbers among columns of `own` levels and `sizes` categories."""
    if known is None:
        fitting = list(own) == list(sizes)
    else:
        fitting = len(known) == len(own) == len(sizes) and all(
            n == size if levels is None else size == 0 and n == levels.size
            for levels, n, size in zip(known, own, sizes, strict=True)
        )
    return "" if fitting else "levels of other columns"


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Frequencies of levels: in all rows (V,), by class (K, V), and by class given a level (K, V, V)."""

    statistics: LevelPairs
    class_rows: float
    pair_rows: float
    overall: Floats
    single: Floats

    @classmethod
    def of(cls, statistics: LevelPairs, class_rows: float, pair_rows: float) -> "Smoothed":
        """Smooth the counts of single levels."""
        column = statistics.column
        counts = statistics.single
        total, each = counts.sum(axis=0), np.array(statistics.sizes, dtype=np.float64)[column]
        overall = (total + 1 / each) / (statistics.by_column(total)[column] + 1)
        rows = statistics.by_column(counts)[:, column]
        single = (counts + class_rows * overall) / (rows + class_rows)
        return cls(statistics, class_rows, pair_rows, overall, single)

    def log_given(self) -> Floats:
        """Logs of p(level | class, other level), (K, V, V), the other level first; 0 within a column."""
        counts, column, strength = self.statistics.counts, self.statistics.column, self.pair_rows
        total = counts.sum(axis=0)
        in_all = (total + strength * self.overall) / (self.statistics.by_column(total)[:, column] + strength)
        out: Floats = counts + strength * in_all
        out /= self.statistics.by_column(counts)[:, :, column] + strength
        np.log(out, out=out)
        out[:, column[:, None] == column] = 0.0
        return out


class LevelDistribution(Distribution):
    """A distribution of levels, of which `levels` are those of columns of numbers."""

    kind = "categorical"
    reads = ("mixed", "codes")
    sizes: tuple[int, ...]
    levels: Levels | None

    def places(self, block: "Codes | Mixed | AnyArray") -> AnyArray:
        """The levels of rows (n, b), numbered through all columns; −1 is missing."""
        if isinstance(block, np.ndarray):
            block = Codes(block, self.sizes)
        return placed(read_levels(block, self.levels)[0], self.sizes)

    def drawn(self, levels: Ints) -> Floats:
        """Rows of levels (n, b) as codes of categories and numbers."""
        out = levels.astype(np.float64)
        for j, own in enumerate(self.levels or ()):
            if own is not None:
                out[:, j] = own.drawn(levels[:, j])
        return out

    def level_names(self, levels: Sequence[Sequence[Any] | None]) -> list[list[str]]:
        """What the levels of each column are called."""
        own = self.levels or (None,) * self.n_columns
        return [names_of_levels(*each) for each in zip(levels, own, self.sizes, strict=True)]

    def misfit(self, sizes: Sequence[int]) -> str:
        """Levels of other columns."""
        return levels_misfit(self.levels, self.sizes, sizes)
