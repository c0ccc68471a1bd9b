"""Unlabelled and held-out rows, checked, as estimates of their class shares take them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.bayes import log_normalized, with_prior
from posterior.decision.posteriors import checked, class_codes, same_rows
from posterior.math import NOT_ONE


@dataclass(frozen=True)
class WeightedPosteriors:
    """Log posteriors (n, K) of rows, with weights that are repetitions; class codes where they are known."""

    log_posterior: Floats
    weight: Floats
    codes: Ints | None = None

    @property
    def total(self) -> float:
        """Number of rows, repetitions counted."""
        return float(self.weight.sum())

    def of_class(self, k: int) -> Ints:
        """Positions of the rows of a class."""
        return np.flatnonzero(self.codes == k)

    def posteriors(self, old: Floats, new: Floats) -> Floats:
        """p(class | row) under other priors, (n, K)."""
        return np.asarray(np.exp(log_normalized(with_prior(self.log_posterior - np.log(old), np.log(new)))))

    def predictions(self) -> Floats:
        """The most probable class as an indicator, (n, K); the first of equals."""
        return np.asarray(np.eye(self.log_posterior.shape[1])[self.log_posterior.argmax(axis=1)])


def unlabelled(logs: Floats, sample_weight: Any, known: Bools, names: list[Any]) -> WeightedPosteriors:
    """The rows that count, and of them the columns of the classes that have a prior."""
    return _weighted(_kept(logs, known, names, "log_posterior"), sample_weight, "sample_weight")


def _kept(logs: Floats, known: Bools, names: list[Any], what: str) -> Floats:
    """The columns of the classes that have a prior; the others must be impossible in every row."""
    held = np.exp(logs[:, ~known]) > NOT_ONE
    if held.any():
        row, k = np.argwhere(held)[0].tolist()
        column = np.flatnonzero(~known)[k]
        raise ValueError(
            f"class {names[column]!r} has an old prior of 0, yet a posterior of "
            f"{np.exp(logs[row, column]):g} in row {row} of {what}; pass the priors that the posteriors have"
        )
    return np.asarray(logs[:, known])


def _weighted(logs: Floats, sample_weight: Any, what: str) -> WeightedPosteriors:
    if sample_weight is None:
        weight = np.ones(len(logs))
    else:
        weight = np.asarray(sample_weight, dtype=np.float64)
        same_rows(len(logs), **{what: weight})
        if weight.ndim != 1 or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError(f"{what} must hold one finite number ≥ 0 for each row")
    if not weight.sum() > 0:
        raise ValueError("no row counts: there is none, or every sample_weight is zero")
    return WeightedPosteriors(logs[weight > 0], weight[weight > 0])


def labelled_rows(held_out: Any, known: Bools, names: list[Any], classes: Any) -> WeightedPosteriors:
    """Held-out rows as they were given, with at least one of each class that has a prior."""
    if not isinstance(held_out, (tuple, list)) or len(held_out) not in {2, 3}:
        raise ValueError(
            "held_out must be (log_posterior, y) or (log_posterior, y, sample_weight) of rows of known "
            f"class, found {type(held_out).__name__}"
        )
    logs = checked(held_out[0], len(names))
    codes = class_codes(held_out[1], len(names), classes)
    same_rows(len(logs), **{"y of held_out": codes})
    weight = held_out[2] if len(held_out) == 3 else None
    rows = _weighted(_kept(logs, known, names, "held_out"), weight, "sample_weight of held_out")
    if weight is not None:
        codes = codes[np.asarray(weight) > 0]
    count = np.bincount(codes, minlength=len(names))
    if (count[~known] > 0).any():
        k = int(((count > 0) & ~known).argmax())
        raise ValueError(f"held_out has {count[k]} rows of class {names[k]!r}, whose old prior is 0")
    if (count[known] == 0).any():
        k = int(((count == 0) & known).argmax())
        raise ValueError(
            f"held_out has no row of class {names[k]!r}, so that nothing tells what its rows look like; "
            "add some, or give the class an old prior of 0 in the posteriors"
        )
    position = np.cumsum(known) - 1
    return WeightedPosteriors(rows.log_posterior, rows.weight, position[codes])
