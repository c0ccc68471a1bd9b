"""Corruption of training rows: outliers, wrong labels, too few rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from posterior._types import Floats, Ints
from posterior.comparison.nested import SEEN_FIRST
from posterior.schema import LabelledTable

CorruptionKind: TypeAlias = Literal["none", "outliers", "far", "flipped", "few"]

TITLES: dict[CorruptionKind, str] = {
    "none": "as it is",
    "outliers": "{} outliers",
    "far": "{} far",
    "flipped": "{} flipped",
    "few": "{} of rows",
}
MEANING: dict[CorruptionKind, str] = {
    "outliers": "rows moved {distance:g} standard deviations in any direction",
    "far": "rows moved {distance:g} standard deviations away from the other classes (on the right side)",
    "flipped": "rows given the label of another class",
    "few": "only this share of the rows learnt from",
}


@dataclass(frozen=True)
class Corruption:
    """A kind of corruption, and the share of the rows that it changes."""

    kind: CorruptionKind = "none"
    amount: float = 0.0

    def __str__(self) -> str:
        return TITLES[self.kind].format(f"{100 * self.amount:g} %")


def corruptions_of(**shares: Any) -> tuple[Corruption, ...]:
    """No corruption, then each kind with each of its shares; a share of 0 is no corruption.

    >>> [str(corruption) for corruption in corruptions_of(outliers=(0, 0.01, 0.1), few=0.2)]
    ['as it is', '1 % outliers', '10 % outliers', '20 % of rows']
    """
    found = [Corruption()]
    for kind, given in shares.items():
        for share in np.atleast_1d(() if given is None else given).tolist():
            if isinstance(share, str | bool) or not 0 <= share < 1:
                raise ValueError(f"{kind} must be shares of the rows, from 0 to less than 1, found {share!r}")
            if share:
                found.append(Corruption(kind, share))  # type: ignore[arg-type]  # the keys are kinds
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class DrawnCorruption:
    """The corruption of the rows of one repeat, drawn once: more of a kind includes less of it.

    `train` are the rows to learn from, every beginning of them stratified. Rows are moved in the order of
    `moved`, by `distance` standard deviations within classes along a row of `directions`, (n, d), or away
    from the other classes; labels are changed in the order of `flipped`, by `step` classes.
    """

    train: LabelledTable
    columns: tuple[int, ...]
    distance: float
    moved: Ints
    directions: Floats
    flipped: Ints
    step: Ints

    @classmethod
    def drawn(cls, train: LabelledTable, distance: float, rng: np.random.Generator) -> Self:
        """Draw which rows are corrupted, and how."""
        n, columns = len(train), () if train.is_sparse else train.where("continuous")
        directions = rng.normal(size=(n, len(columns)))
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
        moved, flipped = rng.permutation(n), rng.permutation(n)
        step = rng.integers(1, len(train.classes), size=n)
        return cls(train, columns, distance, moved, directions, flipped, step)

    def of(self, corruption: Corruption) -> LabelledTable:
        """The rows after some corruption; the others are as they were."""
        n = len(self.train)
        m = round(corruption.amount * n)
        if corruption.kind == "flipped":
            rows = self.flipped[:m]
            codes = self.train.codes.copy()
            codes[rows] = (codes[rows] + self.step[rows]) % len(self.train.classes)
            return self.train.with_codes(codes)
        if corruption.kind == "few":
            return self.train.part(np.arange(min(n, max(m, SEEN_FIRST * len(self.train.classes)))))
        if corruption.kind == "none" or not m:
            return self.train
        rows = self.moved[:m]
        along = (
            self.directions[rows] if corruption.kind == "outliers" else self._outward[self.train.codes[rows]]
        )
        values = self._values.copy()
        values[rows] += self.distance * self._spread * along
        return self.train.with_values(dict(zip(self.columns, values.T, strict=True)))

    @cached_property
    def _values(self) -> Floats:
        return self.train.values(self.columns)

    @cached_property
    def _means(self) -> Floats:
        """Class means of the values that are there, (K, d); that of all classes where one has none."""
        there = ~np.isnan(self._values)
        is_in = np.eye(len(self.train.classes))[:, self.train.codes]
        total, count = is_in @ np.where(there, self._values, 0.0), is_in @ there
        overall = total.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
        return np.where(count > 0, total / np.maximum(count, 1), overall)

    @cached_property
    def _spread(self) -> Floats:
        """Standard deviation of each column within classes."""
        apart = self._values - self._means[self.train.codes]
        count = np.maximum((~np.isnan(apart)).sum(axis=0), 1)
        return np.asarray(np.sqrt(np.nansum(apart**2, axis=0) / count))

    @cached_property
    def _outward(self) -> Floats:
        """Unit vectors, in standard deviations, from the mean of the other classes to each class, (K, d)."""
        n = np.bincount(self.train.codes, minlength=len(self.train.classes))[:, None].astype(np.float64)
        total = (n * self._means).sum(axis=0)
        others = (total - n * self._means) / np.maximum(n.sum() - n, 1.0)
        away = (self._means - others) / np.where(self._spread > 0, self._spread, 1.0)
        return np.asarray(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300))
