"""Rows that were summed up by class where they live."""

from collections.abc import Callable
from dataclasses import dataclass

from posterior._types import Floats
from posterior.dataset import Rows
from posterior.stats.moments import Moments


@dataclass(frozen=True, eq=False)
class ClassSums:
    """What a database says of its rows: class weights (K,), moments of some columns, values of others.

    `values` are weighted rows, few of them, that have in each such column by itself the sums of all rows;
    None where nobody asked. `same` tells of two columns of a schema whether they agree in every row.
    """

    weight: Floats
    n_rows: int
    moments: Moments
    values: Rows | None
    same: Callable[[int, int], bool]
