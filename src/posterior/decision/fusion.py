"""Posteriors of models that see different columns, made into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._types import Floats, Ints
from posterior.bayes import log_normalized, with_prior
from posterior.decision.pool import Pool
from posterior.decision.posteriors import checked, class_codes, row_weights, same_rows
from posterior.decision.scaling_loss import IMPOSSIBLE
from posterior.math import NOT_ONE
from posterior.notices import DataWarning, warn


def fuse(log_posteriors: Any, log_prior: Any, *, weights: Any = None) -> Floats:
    """Combine log posteriors of several models into one, counting the prior once, (n, K).

    ln p(k | x₁ … x_M) = ln π_k + Σ_m w_m (ln p(k | x_m) − ln π_k) + a constant of the row. With weights of
    one this is Bayes' rule for blocks of columns that are independent given the class, and exact; other
    weights make it the log-linear opinion pool (Genest & Zidek 1986, section 3.3).

    A class that one model calls impossible is impossible. A row that the models leave no class, since one
    rules out what another allows, gets the priors: they say nothing together. A model of weight 0 is not
    there, whatever it says.

    Parameters
    ----------
    log_posteriors : sequence of M arrays of shape (n, K)
        Log posteriors of each model, all under the same priors (`shift_priors` brings them there).
    log_prior : array of shape (K,)
        Logs of those priors.
    weights : array of shape (M,), default=None
        Weights of the models, not negative; None is one for each.

    >>> blood, scan = np.log([[0.7, 0.3]]), np.log([[0.6, 0.4]])  # each alone: rather not ill
    >>> np.exp(fuse([blood, scan], np.log([0.9, 0.1]))).round(3)
    array([[0.28, 0.72]])

    """
    prior = _log_prior(log_prior)
    return log_normalized(with_prior(fusion_parts(log_posteriors, prior, weights=weights).sum(axis=0), prior))


def fusion_parts(log_posteriors: Any, log_prior: Any, *, weights: Any = None) -> Floats:
    """The contribution of each model in `fuse`, w_m (ln p(k | x_m) − ln π_k), (M, n, K).

    A model of weight 0 adds nothing.

    >>> blood, scan = np.log([[0.7, 0.3]]), np.log([[0.6, 0.4]])
    >>> parts = fusion_parts([blood, scan], np.log([0.9, 0.1]))
    >>> (parts[:, :, 1] - parts[:, :, 0]).round(2)  # log likelihood ratios of being ill
    array([[1.35],
           [1.79]])
    """
    prior = _log_prior(log_prior)
    models = _models(log_posteriors, len(prior))
    parts = np.zeros((len(models), *models[0].shape))
    for m, weight in enumerate(model_weights(weights, len(models)).tolist()):
        if weight > 0:
            parts[m] = weight * _log_ratio(models[m], prior, m)
    return parts


def fusion_weights(
    log_posteriors: Any,
    y: Any,
    log_prior: Any,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    spread: float = 1.0,
    names: Sequence[str] | None = None,
) -> Floats:
    """Weights for `fuse` that minimise the log loss on held-out rows, (M,).

    A softmax regression with one slope for each model and none negative, convex; each weight has a normal
    prior of mean 1 and standard deviation `spread`. With a spread of 1, to be one off costs half a nat, once,
    whatever the number of rows: it keeps the weights finite where the models tell the classes apart without
    error, and lets models that say the same share their weight equally. The log loss of these rows is never
    above that of weights of one.

    A model that gives the true class of a row a probability of zero would make the loss infinite: its weight
    is 0, and a warning says so. One that only rules out classes rightly, and is of no other use, keeps that
    say by the smallest weight there is.

    Parameters
    ----------
    log_posteriors, log_prior
        As for `fuse`, for rows that the models have not seen.
    y : array of shape (n,)
        True classes: codes, or labels where `classes` is given.
    classes : array of shape (K,), default=None
        Labels of the classes in the order of the columns.
    sample_weight : array of shape (n,), default=None
        Weight 2 is the row twice.
    spread : float, default=1.0
        Standard deviation of the prior of the weights.
    names : sequence of M strings, default=None
        What to call the models in messages.

    >>> right = np.log(np.tile([0.8, 0.2], (1000, 1)))  # as it is for 800 of these rows
    >>> y = np.repeat([0, 1], [800, 200])
    >>> fusion_weights([right, right], y, np.log([0.5, 0.5])).round(2)  # the same model twice
    array([0.5, 0.5])

    """
    rows = LearningRows.of(log_posteriors, y, log_prior, classes, sample_weight, names)
    weights, kept = np.zeros(len(rows.ratios)), rows.usable
    if kept:
        weights[kept] = rows.best_weights(kept, np.ones(len(kept)), spread)
    return weights


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows that weights of models are learnt from: what each model adds to the log prior, (n, K), in each.

    `usable` are the models that call no true class impossible.
    """

    ratios: list[Floats]
    prior: Floats
    codes: Ints
    row_weight: Floats
    usable: list[int]

    @classmethod
    def of(
        cls,
        log_posteriors: Any,
        y: Any,
        log_prior: Any,
        classes: Any,
        sample_weight: Any,
        names: Sequence[str] | None,
    ) -> Self:
        """The rows that count, checked; a warning names models that call a true class impossible."""
        prior = _log_prior(log_prior)
        models = _models(log_posteriors, len(prior))
        models = [np.where(logs < IMPOSSIBLE, -np.inf, logs) for logs in models]
        codes = class_codes(y, len(prior), classes)
        same_rows(len(models[0]), y=codes)
        row_weight = row_weights(sample_weight, len(codes))
        rows = np.flatnonzero(row_weight)
        _refuse_impossible(codes[rows], prior)
        ratios = [_log_ratio(logs[rows], prior, m) for m, logs in enumerate(models)]
        usable = _without_infinite_loss(ratios, codes[rows], names)
        return cls(ratios, prior, codes[rows], row_weight[rows], usable)

    def best_weights(self, models: list[int], centre: Floats, spread: float) -> Floats:
        """Weights of some models with a normal prior about a centre, none negative, that lose least.

        A model that only rules out classes rightly keeps that say by the smallest weight there is.
        """
        if not (np.isfinite(spread) and spread > 0):
            raise ValueError(f"spread is a standard deviation, a positive number; found {spread!r}")
        ratios = [self.ratios[m] for m in models]
        pool = Pool.of(ratios, self.prior, self.codes, self.row_weight, centre, spread**-2)
        found = pool.best_weights()
        vetoes = np.array([np.isneginf(ratio).any() for ratio in ratios])
        found[vetoes & (found == 0)] = np.finfo(np.float64).tiny
        return found

    def loss(self, weights: Floats) -> float:
        """The log loss of all rows, added up, of the fused posteriors."""
        kept = [m for m in self.usable if weights[m] > 0]
        if not kept:
            return float(-self.row_weight @ self.prior[self.codes])
        ratios = [self.ratios[m] for m in kept]
        at = weights[kept]
        return Pool.of(ratios, self.prior, self.codes, self.row_weight, at, 1.0)(at).value


def _without_infinite_loss(ratios: list[Floats], codes: Any, names: Sequence[str] | None) -> list[int]:
    """The models that call no true class impossible; a warning names the others."""
    wrong = [int(np.isneginf(ratio[np.arange(len(codes)), codes]).sum()) for ratio in ratios]
    told = [
        f"{_called(m, names)} gives the true class a probability of zero in {n} of {len(codes)} rows"
        for m, n in enumerate(wrong)
        if n
    ]
    if told:
        warn(
            "; ".join(told) + ": any weight would make the log loss infinite, so the weight is 0; smooth "
            "the model, or give the weights yourself",
            DataWarning,
        )
    return [m for m, n in enumerate(wrong) if not n]


def _called(m: int, names: Sequence[str] | None) -> str:
    return f"log_posteriors[{m}]" if names is None else f"model {names[m]!r}"


def _log_ratio(logs: Floats, prior: Floats, m: int) -> Floats:
    """What a model adds, ln p(k | x) − ln π_k, (n, K); 0 for classes of prior zero."""
    never = np.isneginf(prior)
    known = logs[:, never] > -np.inf
    if known.any():
        row, k = np.argwhere(known)[0].tolist()
        column = int(np.flatnonzero(never)[k])
        raise ValueError(
            f"class {column} has a prior of zero, and log_posteriors[{m}] gives it "
            f"{np.exp(logs[row, column]):g} in row {row}; a class without a prior has no posterior: bring "
            "the model to these priors first (posterior.decision.shift_priors)"
        )
    with np.errstate(invalid="ignore"):
        return np.where(never, 0.0, logs - prior)


def _log_prior(log_prior: Any) -> Floats:
    prior = np.asarray(log_prior, dtype=np.float64)
    if prior.ndim != 1 or not len(prior):
        raise ValueError(f"log_prior must have shape (classes,), found {prior.shape}")
    with np.errstate(over="ignore"):
        total = float(np.exp(prior).sum())
    if not abs(total - 1.0) <= NOT_ONE:
        hint = ""
        if (prior >= 0).all() and abs(prior.sum() - 1.0) <= NOT_ONE:
            hint = "; these are probabilities: pass their logs, numpy.log(prior)"
        raise ValueError(
            f"log_prior must be logs of priors that sum to 1 (within {NOT_ONE:g}), found "
            f"{prior.tolist()}, whose exponentials sum to {total:g}{hint}"
        )
    return prior


def _models(log_posteriors: Any, n_classes: int) -> list[Floats]:
    if isinstance(log_posteriors, np.ndarray) and log_posteriors.ndim != 3:
        raise ValueError(
            "log_posteriors must be a sequence of arrays (rows, classes), one for each model; found one "
            f"array of shape {log_posteriors.shape}"
        )
    models: list[Floats] = []
    for m, logs in enumerate(log_posteriors):
        try:
            models.append(checked(logs, n_classes))
        except ValueError as error:
            raise ValueError(f"log_posteriors[{m}]: {error}") from error
        if len(models[m]) != len(models[0]):
            raise ValueError(
                f"log_posteriors[{m}] has {len(models[m])} rows and log_posteriors[0] {len(models[0])}; "
                "every model must see the same rows"
            )
    if not models:
        raise ValueError("log_posteriors is empty; pass those of at least one model")
    return models


def model_weights(weights: Any, n_models: int) -> Floats:
    """One weight for each model, checked; None is one for each."""
    if weights is None:
        return np.ones(n_models)
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_models,) or not (np.isfinite(found).all() and (found >= 0).all()):
        raise ValueError(
            f"weights must be {n_models} finite numbers, one for each model, none negative; found {weights}"
        )
    return found


def _refuse_impossible(codes: Any, prior: Floats) -> None:
    impossible = np.isneginf(prior[codes])
    if impossible.any():
        raise ValueError(
            f"y holds class {codes[impossible][0]} in {impossible.sum()} rows, and its prior is zero; leave "
            "these rows out, or give the class a prior"
        )
