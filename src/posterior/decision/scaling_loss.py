"""The log loss of scaled posteriors on rows held out, with its derivatives."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import block_diag, helmert

from posterior._types import Bools, Floats
from posterior.decision.newton import Derivatives
from posterior.decision.scores import scored_rows
from posterior.math import log_softmax
from posterior.notices import DataWarning, warn

# Beside the terms of a sum, what is so small may be rounding.
ROUNDING = 1e-13

# A log posterior below this is that of an impossible class whatever the temperature, or the weight of its
# model, and its square might overflow.
IMPOSSIBLE = -1e100


@dataclass(frozen=True, eq=False)
class ScalingRows:
    """Log posteriors and classes of rows, without those whose class has a posterior of zero.

    `target` (n, K) is 1 for the true class; or nearly, where labels are smoothed. `impossible` is the weight
    of the rows that are not here. `offset` (K,) is added to logs once they are scaled.
    """

    logs: Floats
    weight: Floats
    target: Floats
    impossible: float
    offset: Any = 0.0

    @classmethod
    def read(cls, log_posterior: Any, y: Any, classes: Any, sample_weight: Any) -> "ScalingRows":
        """Rows as users give them; says how many are left out."""
        logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
        logs = np.where(logs < IMPOSSIBLE, -np.inf, logs)
        possible = np.isfinite(logs[np.arange(len(codes)), codes])
        if not possible.all():
            warn(
                f"{(~possible).sum()} of {len(codes)} rows are of a class to which the posteriors give a "
                "probability of zero, which no scaling changes: these rows are left out of the fit",
                DataWarning,
            )
        target = (codes[:, None] == np.arange(logs.shape[1])).astype(np.float64)
        return cls(logs[possible], weight[possible], target[possible], float(weight[~possible].sum()))

    def beside(self, log_prior: Floats) -> Self:
        """The same rows as evidence, ln p(k | x) − ln π_k, to which priors are added when it is scaled."""
        return replace(self, logs=self.logs - log_prior, offset=log_prior)

    @cached_property
    def possible(self) -> Bools:
        """Where the posterior is not zero."""
        return np.isfinite(self.logs)

    @cached_property
    def finite(self) -> Floats:
        """Log posteriors, with 0 in place of −inf: a class that is impossible adds to no sum."""
        return np.where(self.possible, self.logs, 0.0)

    @property
    def all_right(self) -> bool:
        """Whether no row has a class more probable than its own."""
        return bool((self.logs <= (self.target * self.finite).sum(axis=1)[:, None]).all())

    def smoothed(self) -> Self:
        """The same rows, one in all being shared among the other classes that are possible (Platt 1999)."""
        other = self.possible & (self.target == 0)
        count = other.sum(axis=1, keepdims=True)
        moved = (count > 0) / (self.weight.sum() + 2)
        return replace(self, target=self.target * (1 - moved) + other * (moved / np.maximum(count, 1)))

    def loss(self, weight: Any, bias: Any) -> tuple[float, Floats]:
        """Total log loss of scaled posteriors, and these posteriors."""
        scaled = log_softmax(weight * self.logs + bias + self.offset)
        terms = np.multiply(self.target, scaled, where=self.target > 0, out=np.zeros(scaled.shape))
        return float(-(self.weight @ terms.sum(axis=1))), np.exp(scaled)


@dataclass(frozen=True, eq=False)
class TemperatureLoss:
    """Total log loss as a function of 1/T."""

    rows: ScalingRows

    def __call__(self, at: Floats) -> Derivatives:
        """Value and derivatives."""
        rows = self.rows
        value, fitted = rows.loss(at, 0.0)
        mean = (fitted * rows.finite).sum(axis=1, keepdims=True)
        gradient = rows.weight @ ((fitted - rows.target) * rows.finite).sum(axis=1)
        curvature = rows.weight @ (fitted * (rows.finite - mean) ** 2).sum(axis=1)
        return Derivatives(value, np.array([gradient]), np.array([[curvature]]), np.zeros(1))

    def is_constant(self) -> bool:
        """Whether every row is undecided or certain, so that no T is better than 1."""
        here = self(np.ones(1))
        return bool(max(abs(here.gradient[0]), here.hessian[0, 0]) <= ROUNDING * self.rows.weight.sum())


@dataclass(frozen=True, eq=False)
class VectorLoss:
    """Total log loss as a function of a weight for each class, and of biases, in K − 1 coordinates.

    The biases are those at `center`, log posteriors in the midst of the rows: where posteriors hardly vary,
    weights and biases at zero would be hard to tell apart.
    """

    rows: ScalingRows
    center: Floats

    @classmethod
    def about(cls, rows: ScalingRows, weight: float) -> "VectorLoss":
        """Centred on the rows that one weight for all classes leaves undecided."""
        _, fitted = rows.loss(weight, 0.0)
        unsure = rows.weight[:, None] * fitted * (1 - fitted)
        total = unsure.sum(axis=0)
        return cls(rows, (unsure * rows.finite).sum(axis=0) / np.where(total > 0, total, 1.0))

    def start(self, weight: float) -> Floats:
        """The coordinates of one weight for all classes and no bias."""
        return np.concatenate(
            [np.full(len(self.center), weight), helmert(len(self.center)) @ (weight * self.center)]
        )

    def parts(self, at: Floats) -> tuple[Floats, Floats]:
        """Weights, and biases that sum to zero."""
        K = len(self.center)
        bias = at[K:] @ helmert(K) - at[:K] * self.center
        return at[:K], np.asarray(bias - bias.mean())

    def __call__(self, at: Floats) -> Derivatives:
        """Value and derivatives."""
        rows, K = self.rows, len(self.center)
        value, fitted = rows.loss(*self.parts(at))
        logs = np.where(rows.possible, rows.finite - self.center, 0.0)
        surplus = rows.weight[:, None] * (fitted - rows.target)
        gradient = np.concatenate([(surplus * logs).sum(axis=0), surplus.sum(axis=0)])
        slopes = np.hstack([fitted * logs, fitted])
        share = rows.weight[:, None] * fitted
        squares, products, ones = ((share * logs**power).sum(axis=0) for power in (2, 1, 0))
        second = np.block([[np.diag(squares), np.diag(products)], [np.diag(products), np.diag(ones)]])
        basis = block_diag(np.eye(K), helmert(K))
        return Derivatives(
            value,
            basis @ gradient,
            basis @ (second - (slopes.T * rows.weight) @ slopes) @ basis.T,
            ROUNDING * np.diag(basis @ second @ basis.T),
        )
