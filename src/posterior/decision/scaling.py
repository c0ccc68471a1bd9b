"""Posteriors made calibrated: their logs scaled, as held-out rows ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np

from posterior._text import Printed
from posterior._types import Floats
from posterior.bayes import given_priors
from posterior.decision.newton import Minimum, minimize
from posterior.decision.posteriors import checked, class_names
from posterior.decision.scaling_loss import ScalingRows, TemperatureLoss, VectorLoss
from posterior.math import log_softmax
from posterior.schema.decode import table_of

# Weights of log posteriors, and so temperatures, are sought from a millionth to a million, about.
LEAST, MOST = 2.0**-20, 2.0**20


@runtime_checkable
class CalibrationMap(Protocol):
    """A fitted calibration: maps log posteriors to calibrated ones.

    `str` of it is shown to users. `by_class` says whether it can change the frequency of each class.

    >>> import numpy as np
    >>> from posterior.decision import fit_temperature
    >>> softer = fit_temperature(np.log([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01]]), [0, 0, 1])
    >>> isinstance(softer, CalibrationMap)
    True
    >>> np.exp(softer.calibrated(np.log([[0.99, 0.01]]))).round(2)
    array([[0.67, 0.33]])
    """

    @property
    def by_class(self) -> bool:
        """Whether each class has parameters of its own."""

    def calibrated(self, logs: Floats) -> Floats:
        """Calibrated log posteriors from checked ones, (n, K); each row sums to one."""


@dataclass(frozen=True, eq=False, repr=False)
class Scaling(Printed):
    """Log posteriors times a weight plus a bias for each class, renormalised; a zero stays a zero.

    With one weight 1/T for all classes it is temperature scaling: of the posteriors without bias, and of the
    evidence beside the priors with biases (1 − 1/T) ln π.

    `smoothed` says that the rows of the fit had no finite optimum, so that one row in all was taken to be of
    other classes; `impossible` is the weight of rows left out, whose class had a posterior of zero;
    `n_free` is how many parameters the rows determine.

    >>> scaling = fit_temperature(np.log([[0.9, 0.1]] * 3), [0, 0, 1])
    >>> print(scaling)
    temperature 3.17
    >>> np.exp(scaling.apply(np.log([[0.9, 0.1], [0.6, 0.4]]))).round(3)
    array([[0.667, 0.333],
           [0.532, 0.468]])
    """

    weight: Annotated[Floats, "K >0"]
    bias: Annotated[Floats, "K finite"]
    classes: tuple[Any, ...]
    smoothed: bool = False
    impossible: float = 0.0
    n_free: int = 0
    by_class: bool = False

    @property
    def temperature(self) -> float:
        """T where every class has the weight 1/T; NaN otherwise."""
        same = (self.weight == self.weight[0]).all() and not self.by_class
        return float(1 / self.weight[0]) if same else float("nan")

    def apply(self, log_posterior: Any) -> Floats:
        """Scaled log posteriors, (n, K)."""
        return self.calibrated(checked(log_posterior, len(self.weight)))

    def calibrated(self, logs: Floats) -> Floats:
        """Scaled log posteriors from checked ones, (n, K)."""
        return log_softmax(self.weight * logs + self.bias)

    def frame(self) -> Any:
        """A data frame with the weight and the bias of each class."""
        return table_of(
            {"class": list(self.classes), "weight": self.weight, "bias": self.bias}, container="pandas"
        )

    def __str__(self) -> str:
        if not np.isnan(self.temperature):
            return f"temperature {self.temperature:.3g}"
        names = [str(name) for name in self.classes]
        width = max(map(len, names))
        rows = zip(names, self.weight, self.bias, strict=True)
        return "\n".join(f"{name:<{width}}  weight {w:.3g}  bias {b:+.3g}" for name, w, b in rows)


def fit_temperature(
    log_posterior: Any, y: Any, *, priors: Any = None, classes: Any = None, sample_weight: Any = None
) -> Scaling:
    """Temperature scaling: the T with the smallest log loss of p^(1/T), renormalised (Guo et al. 2017).

    With the class priors that are in the posteriors, only the evidence beside them is tempered:
    π (p/π)^(1/T). A classifier that counts its evidence several times, as naive Bayes does with columns
    that say the same, has counted its priors once; without them a rare class is made too likely.

    Fit it to rows that the model has not seen. It is the maximum likelihood, for T between 1e-6 and 1e6. If
    every row is right there is none: the log loss falls for ever as T goes to 0. Then labels are smoothed
    as by Platt (1999): with n rows, each is of another class with probability 1/(n + 2).
    A row whose class has a posterior of zero costs the same at every T; it is left out, with a warning.

    >>> round(fit_temperature(np.log([[0.9, 0.1]] * 10), [0] * 9 + [1]).temperature, 9)
    1.0
    """
    rows = ScalingRows.read(log_posterior, y, classes, sample_weight)
    K = rows.logs.shape[1]
    names, log_prior = tuple(class_names(classes, K)), np.zeros(K)
    if priors is not None:
        prior = given_priors(priors, np.asarray(names))
        log_prior = np.log(prior, where=prior > 0, out=log_prior)  # a class without prior is at −inf anyway
        rows = rows.beside(log_prior)
    smoothed = rows.all_right
    found = _best_temperature(rows.smoothed() if smoothed else rows)
    weight = float(found.at[0])
    bias = (1 - weight) * log_prior
    return Scaling(np.full(K, weight), bias - bias.mean(), names, smoothed, rows.impossible, found.rank)


def fit_vector(
    log_posterior: Any, y: Any, *, priors: Any = None, classes: Any = None, sample_weight: Any = None
) -> Scaling:
    """Vector scaling: a weight and a bias for each class with the smallest log loss (Guo et al. 2017).

    Scores w_k ln p_k + b_k, through the softmax. On the rows of the fit the scaled posteriors of each class
    then sum to its count. Weights are positive, between 1e-6 and 1e6, so that a larger posterior remains a
    larger one; biases sum to zero, and take up whatever `priors` are in the posteriors. With two classes this
    is beta calibration (Kull, Silva Filho & Flach 2017). Where no finite optimum exists, and for rows whose
    class has a posterior of zero, see `fit_temperature`.

    >>> scaling = fit_vector(np.log([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.4, 0.6]] * 2), [0, 1, 0, 1] * 2)
    >>> np.exp(scaling.apply(np.log([[0.9, 0.1], [0.4, 0.6]]))).round(2)
    array([[0.71, 0.29],
           [0.34, 0.66]])
    """
    rows = ScalingRows.read(log_posterior, y, classes, sample_weight)
    smoothed = rows.all_right
    loss, found = _best_vector(rows.smoothed() if smoothed else rows)
    if not smoothed and not found.exists:
        smoothed = True
        loss, found = _best_vector(rows.smoothed())
    names = tuple(class_names(classes, rows.logs.shape[1]))
    return Scaling(*loss.parts(found.at), names, smoothed, rows.impossible, found.rank, by_class=True)


# How posteriors are calibrated, by name; `register_calibrator` adds one.
CALIBRATORS: dict[str, Callable[..., CalibrationMap]] = {"temperature": fit_temperature, "vector": fit_vector}


def register_calibrator(name: str, fit: Callable[..., CalibrationMap]) -> None:
    """Register a calibration method under a name, for `calibration=` and `method=`.

    `fit(log_posterior, y, *, priors, classes, sample_weight)` gets log posteriors (n, K) of held-out rows,
    class codes, and the class frequencies that are in the posteriors (or None); it gives a `CalibrationMap`,
    often a `Scaling`. For model files it must be a `Scaling`, or of a class that
    `posterior.persistence.register` knows.

    >>> register_calibrator("vector", fit_vector)  # the same again is allowed
    >>> register_calibrator("vector", fit_temperature)
    Traceback (most recent call last):
    ...
    ValueError: there is a calibrator 'vector' already, fit_vector; choose another name
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"a calibrator must have a name such as 'my_method', found {name!r}")
    if not callable(fit):
        raise TypeError(f"a calibrator must be a function, found {fit!r}")
    if CALIBRATORS.setdefault(name, fit) is not fit:
        known = getattr(CALIBRATORS[name], "__name__", CALIBRATORS[name])
        raise ValueError(f"there is a calibrator {name!r} already, {known}; choose another name")


def _best_temperature(rows: ScalingRows) -> Minimum:
    loss = TemperatureLoss(rows)
    if loss.is_constant():
        return Minimum(np.ones(1), True, 0)
    # Where posteriors of a hundred nats are wrong, there is no curvature to see at T = 1: start from the
    # power of two below the optimum, where there is.
    below, above = -20, 20
    while above - below > 1:
        middle = (below + above) // 2
        falls = loss(np.array([2.0**middle])).gradient[0] < 0
        below, above = (middle, above) if falls else (below, middle)
    return minimize(loss, np.array([2.0**below]), np.array([LEAST]), np.array([MOST]))


def _best_vector(rows: ScalingRows) -> tuple[VectorLoss, Minimum]:
    weight = float(_best_temperature(rows).at[0])
    loss = VectorLoss.about(rows, weight)
    start = loss.start(weight)
    is_weight = np.arange(len(start)) < len(loss.center)
    low, high = np.where(is_weight, LEAST, -np.inf), np.where(is_weight, MOST, np.inf)
    return loss, minimize(loss, start, low, high)
