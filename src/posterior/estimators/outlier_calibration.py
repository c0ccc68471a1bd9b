"""Calibration of outlier rules: log densities of rows that a model was not trained with."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from posterior._text import first_true
from posterior._types import AnyArray, Floats, Ints
from posterior.decision.averaging import NUMBERS, averages, ordered_cells
from posterior.decision.outliers import conformal_p_values, conformal_threshold
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.callbacks import fit_inside
from posterior.estimators.classifiers import inside, weighting
from posterior.estimators.table_estimator import rows_for
from posterior.math import log_sum_exp
from posterior.schema import LabelledTable


@dataclass(frozen=True, eq=False)
class CalibrationScores:
    """Scores of rows that the model has not seen, with what their scores under other priors take.

    `log_density` is (n, K) and `y` (n,) where the model is generative and the classes of the rows known.
    `count` (K,) are the numbers of rows of each class among which they were drawn, `own_weight` is the weight
    of a row which is judged by them, `likelier` (K,) how much likelier each class has become. Where they are
    `averaged`, each stands for several rows (`summarized`).
    """

    score: Annotated[Floats, "n number"]
    weight: Annotated[Floats | None, "n >=0"] = None
    log_density: Annotated[Floats | None, "n K number"] = None
    y: Annotated[Ints | None, "n code"] = None
    count: Annotated[Floats | None, "K >=0"] = None
    own_weight: float = 1.0
    likelier: Annotated[Floats | None, "K >=0"] = None
    averaged: bool = False

    @property
    def total(self) -> float:
        """How many rows these are, counted with their weights."""
        return float(len(self.score) if self.weight is None else self.weight.sum())

    def misfit(self, n_classes: int) -> str:
        """What no held-out rows of so many classes are, in words; empty if nothing is wrong."""
        widths = [array.shape[-1] for array in (self.log_density, self.count) if array is not None]
        return first_true(
            {
                "no rows that were held out": not len(self.score) or not self.total > 0,
                "a row of no weight": not 0 < self.own_weight < np.inf,
                "rows held out of other classes": any(width != n_classes for width in widths),
                "a row of a class that is not there": self.y is not None
                and self.y.max(initial=0) >= n_classes,
            }
        )

    def summarized(self) -> "CalibrationScores":
        """Averages of rows with like scores, weighted by how many these are: for a model file.

        Each is lowered a little below its rows, so that p-values are never smaller than those by all rows.
        They are larger by at most four rows in n + 1, mostly by one, or by a fifteenth of themselves where
        there are many (by more where classes are many too).
        """
        if self.averaged:
            return self
        weight = np.ones(len(self.score)) if self.weight is None else self.weight
        y = np.zeros(len(self.score), dtype=np.int64) if self.y is None else self.y
        n_classes = 1 if self.log_density is None else self.log_density.shape[1]
        order = np.argsort(self.score, kind="stable")
        starts = ordered_cells(len(order), int(NUMBERS / (n_classes + 3) / len(np.unique(y))))
        cells = np.empty(len(order), dtype=np.int64)
        cells[order] = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        lowered = _lowered(averages(self.score, weight, cells)[0], self.score[order[starts]])
        pairs, own = np.unique(np.stack([cells, y], axis=1), axis=0, return_inverse=True)
        own, score, logs = own.reshape(-1), lowered[pairs[:, 0]], None
        if self.log_density is not None:  # densities beside the score are averaged as they are
            with np.errstate(invalid="ignore", divide="ignore"):
                apart = self.log_density - self.score[:, None]
                ratio, _ = averages(np.exp(np.where(np.isnan(apart), 0.0, apart)), weight, own)
                logs = score[:, None] + np.log(ratio)
        return replace(
            self,
            score=score,
            weight=np.bincount(own, weight).astype(np.float64),
            log_density=logs,
            y=None if self.y is None else pairs[:, 1],
            averaged=True,
        )

    def p_values(self, score: Any) -> Floats:
        """The p-values of other rows."""
        return conformal_p_values(score, self.score, weight=self.weight, test_weight=self.own_weight)

    def threshold(self, alpha: float) -> float:
        """The score below which p-values are `alpha` or less."""
        return conformal_threshold(self.score, alpha, weight=self.weight, test_weight=self.own_weight)

    def smallest_p_value(self) -> float:
        """The p-value of a row with a score below all of these."""
        return self.own_weight / (self.total + self.own_weight)

    def under(self, priors: Floats, classes: AnyArray) -> "CalibrationScores":
        """The same rows under other class priors, weighted by how much likelier their classes have become.

        A new row has the largest weight of a class, since its own class is not known.
        """
        if self.log_density is None or self.y is None or self.count is None:
            raise ValueError(
                "other priors change how often calibration rows of each class occur, and the classes of "
                "these rows are not known; call calibrate(X, y) with their classes"
            )
        unknown = (self.count == 0) & (priors > 0)
        if unknown.any():
            k = int(unknown.argmax())
            raise ValueError(
                f"class {classes.tolist()[k]!r} has a prior of {priors[k]:g} and no calibration row, so "
                "that how odd its rows look is not known; call calibrate(X, y) with rows of every class"
            )
        weight = np.ones(len(self.score)) if self.weight is None else self.weight
        total = self.count.sum()
        ratio = np.divide(priors * total, self.count, out=np.zeros_like(priors), where=self.count > 0)
        with np.errstate(divide="ignore"):
            score = log_sum_exp(self.log_density + np.log(priors))
        own = float(ratio.max())
        return replace(self, score=score, weight=weight * ratio[self.y], own_weight=own, likelier=ratio)


def _lowered(means: Floats, lowest: Floats) -> Floats:
    """Averages (c,) lowered to below the lowest of their rows, which cannot be told from them."""
    with np.errstate(invalid="ignore"):
        lowered = means - 1.25 * (means - lowest)
    if len(means) == 1:
        lowered = np.floor(10 * lowered) / 10
    return np.where(np.isnan(lowered), -np.inf, lowered)


def unwrapped(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The model at the end of pipelines and the like, and the rows as they reach it."""
    while (within := inside(estimator)) is not None:
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = within
    return estimator, X


def refuse_other_models(model: Any, what: str) -> GenerativeEstimator:
    """A fitted generative classifier; any other model is refused."""
    if not isinstance(model, GenerativeEstimator):
        raise TypeError(
            f"{what} needs the density of a row in each class, which {type(model).__name__} does not give; "
            "use a generative classifier of this library, such as NaiveBayes() or LDA()"
        )
    return model


def trained(estimator: Any, table: LabelledTable) -> Any:
    """A clone of the estimator, fitted to these rows."""
    params = {} if table.weight is None else weighting(estimator, table.weight)
    labels = table.labels if table.is_labelled else None
    return fit_inside(clone(estimator), rows_for(estimator, table), labels, **params)


def split(table: LabelledTable, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of training and rows held out, drawn at random.

    Not by class: only rows held out whatever their class are exchangeable with a new one. A class that
    training would lack gets its first row back.
    """
    n, codes = len(table), table.codes
    is_held = np.zeros(n, dtype=np.bool_)
    is_held[rng.permutation(n)[: min(max(round(share * n), 1), n - 1)]] = True
    if table.is_labelled:
        for code in np.setdiff1d(codes[is_held], codes[~is_held]):
            is_held[np.flatnonzero(codes == code)[0]] = False
    if not is_held.any():
        raise ValueError(
            f"no row is left to be held out (n_samples={n}); pass more rows, or fit the estimator by "
            "yourself and pass it inside FrozenEstimator with other rows"
        )
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def distances(estimator: Any, X: Any, priors: Any, *, reports_unseen: bool = True) -> tuple[Floats, Ints]:
    """Squared distances from classes that can occur, and the number of cells that each row has."""
    model, rows = unwrapped(estimator, X)
    model = refuse_other_models(model, 'method="chi2"')
    data = model._dataset(rows, reports_unseen=reports_unseen)
    try:
        squared, cells = model.model_.squared_distance(data)
    except ValueError as error:
        raise ValueError(f"{error}; use method='conformal', which holds for any model") from error
    given = model._log_prior(priors)
    can_occur = ~np.isneginf(model.model_.log_prior if given is None else given)
    return np.asarray(squared[:, can_occur]), cells
