"""The parameters of a distribution, one by one, by the names that statisticians give them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from posterior._types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Parameter:
    """One parameter of some columns, with its value in each class, (K,); NaN where a class has none.

    >>> Parameter(("bill_length_mm",), "mean", np.array([38.8, 48.8, 47.5])).values
    array([38.8, 48.8, 47.5])
    """

    columns: tuple[str, ...]
    name: str
    values: Floats


def by_column(names: Sequence[str], tables: Mapping[str, Floats]) -> list[Parameter]:
    """Parameters that come as tables (K, d), column by column."""
    return [
        Parameter((column,), name, values[:, j].copy())
        for j, column in enumerate(names)
        for name, values in tables.items()
    ]


def of_normals(
    names: Sequence[str], mean: Floats, covariance: Floats, *, full: bool, lead: str = ""
) -> Iterator[Parameter]:
    """Means, standard deviations and, where covariances are `full`, the correlations of every two columns.

    Means are (K, d) and covariances (K, d, d); `lead` goes before each name.
    """
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    yield from by_column(names, {f"{lead}mean": mean, f"{lead}standard deviation": sd})
    for i, j in combinations(range(len(names)), 2) if full else ():
        yield Parameter(
            (names[i], names[j]), f"{lead}correlation", covariance[:, i, j] / (sd[:, i] * sd[:, j])
        )


def level_name(levels: Sequence[Any] | None, code: int) -> str:
    """What a code stands for; the code itself where nobody gave it a name."""
    return str(code if levels is None or code >= len(levels) else levels[code])


def most_telling(log_probability: Floats, most: int) -> Ints:
    """Places of the events (K, V) whose log probabilities differ most between classes, those first.

    Of events that differ equally, as all do that are impossible in some class, the likeliest come first.
    """
    peak = log_probability.max(axis=0)
    with np.errstate(invalid="ignore"):  # −inf in every class
        spread = np.nan_to_num(peak - log_probability.min(axis=0), nan=0.0, posinf=np.inf)
    return np.lexsort((-peak, -spread))[:most]
