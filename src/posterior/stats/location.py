"""Class means kept as pivot + remainder, so that large offsets cost no digits."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Location:
    """A mean for each class and column, as the exact sum of a number and a small remainder.

    With a mean of 1e8 and a standard deviation of 1 a single double leaves an error of 1e-8 standard
    deviations in every mean; two doubles leave none.

    >>> mean = Location.at([[1e8, 2.0]])
    >>> mean.deviation(np.array([[1e8 + 3.0, 2.0]]), 0)
    array([[3., 0.]])
    """

    pivot: Annotated[Floats, "K d value"]
    remainder: Annotated[Floats, "K d value"]

    @classmethod
    def at(cls, value: "ArrayLike | Location") -> "Location":
        """The location with these means; a location is returned as it is."""
        if isinstance(value, Location):
            return value
        pivot = np.array(value, dtype=np.float64)
        return cls(pivot, np.zeros_like(pivot))

    @classmethod
    def sum(cls, pivot: Floats, remainder: Floats) -> "Location":
        """The exact sum of two numbers, as the nearest double and what it lacks (Knuth's two-sum).

        The pivot of a kernel is a cell of some row; this one is the mean, and no row can be told from it.
        """
        total = pivot + remainder
        moved = total - pivot
        lost = (pivot - (total - moved)) + (remainder - moved)
        return cls(total, np.where(np.isfinite(lost), lost, 0.0))

    @property
    def value(self) -> Floats:
        """The means as plain numbers."""
        return self.pivot + self.remainder

    def __sub__(self, other: "Location") -> Floats:
        return (self.pivot - other.pivot) + (self.remainder - other.remainder)

    def __getitem__(self, index: Any) -> "Location":
        return Location(self.pivot[index], self.remainder[index])

    def deviation(self, values: Floats, k: int | None = None) -> Floats:
        """Rows minus the mean of class `k`, or minus the mean where there is only one."""
        pivot, remainder = (self.pivot, self.remainder) if k is None else (self.pivot[k], self.remainder[k])
        z = np.subtract(values, pivot, order="C")  # the same bits from any memory layout
        z -= remainder
        return np.asarray(z)

    def average(self, share: Floats) -> "Location":
        """The weighted average over classes, kept about the pivot of the class with the largest share."""
        anchor = self[int(np.argmax(share))]
        remainder = anchor.remainder + share @ (self - anchor)
        return Location(np.ascontiguousarray(anchor.pivot), np.ascontiguousarray(remainder))


class Merged(NamedTuple):
    """The merged location with what the second moments need: weights and the shift between the means."""

    weight: Floats
    location: Location
    shift: Floats
    share: Floats


def merge_locations(a_weight: Floats, a: Location, b_weight: Floats, b: Location) -> Merged:
    """Chan, Golub & LeVeque (1979): exact whatever the offset, the pivot of the first non-empty part kept.

    Weights are (K, d), or (K, 1) where all columns of a row are there or none.
    """
    weight = a_weight + b_weight
    share = np.divide(b_weight, weight, out=np.zeros_like(weight), where=weight > 0)
    both = (a_weight > 0) & (b_weight > 0)
    shift = np.where(both, b - a, 0.0)
    use_b = a_weight == 0
    pivot = np.where(use_b, b.pivot, a.pivot)
    remainder = np.where(use_b, b.remainder, a.remainder + share * shift)
    return Merged(weight, Location(pivot, remainder), shift, share)


def place(array: Floats, classes: Ints, n_classes: int) -> Floats:
    """Move rows of the class axis to `classes` in an array with room for `n_classes`."""
    out = np.zeros((n_classes, *array.shape[1:]))
    out[classes] = array
    return out
