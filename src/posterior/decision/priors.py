"""Other class frequencies than those of training, by Bayes' rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.bayes import given_priors, log_normalized, with_prior
from posterior.decision.posteriors import checked, class_codes, class_names, row_weights


def shift_priors(log_posterior: Any, old: Any, new: Any, *, classes: Any = None) -> Floats:
    """Log posteriors under other class priors: divided by the old, multiplied by the new, renormalised.

    Exact for a model whose posteriors are p(row | class) times the old priors: the same as a model with
    the new priors (Elkan 2001, section 3; Saerens, Latinne & Decaestecker 2002, equation 2.4).
    A row that only classes with a new prior of zero could have produced gets the new priors.

    Parameters
    ----------
    log_posterior : array of shape (n, K)
        Log posteriors under the old priors.
    old, new : array of shape (K,), "uniform", or a mapping from class to number
        Class priors in training, and those to be. A mapping needs `classes`.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns.

    >>> balanced = np.log([[0.1, 0.9]])
    >>> np.exp(shift_priors(balanced, old="uniform", new=[0.999, 0.001])).round(3)
    array([[0.991, 0.009]])

    """
    logs = checked(log_posterior)
    return PriorShift.between(old, new, np.asarray(class_names(classes, logs.shape[1]))).apply(logs)


@dataclass(frozen=True, eq=False)
class PriorShift:
    """A change of class priors, checked: what is taken off log densities, and what is added."""

    log_old: Floats
    log_new: Floats

    @classmethod
    def between(cls, old: Any, new: Any, names: AnyArray) -> "PriorShift":
        """From the priors that posteriors have to those that they shall have."""
        before, after = given_priors(old, names), given_priors(new, names)
        refuse_unlearnt(before, after, names)
        with np.errstate(divide="ignore"):
            log_old, log_new = np.log(before), np.log(after)
        log_old[before == 0] = 0.0
        return cls(log_old, log_new)

    def apply(self, logs: Floats) -> Floats:
        """Log posteriors under the new priors, from checked ones, (n, K)."""
        return log_normalized(with_prior(logs - self.log_old, self.log_new))


def refuse_unlearnt(before: Floats, after: Floats, names: AnyArray) -> None:
    """Refuse to give a prior to a class that had none."""
    unlearnt = (before == 0) & (after > 0)
    if unlearnt.any():
        k = int(unlearnt.argmax())
        raise ValueError(
            f"class {names.tolist()[k]!r} has an old prior of 0 and a new one of {after[k]:g}: posteriors "
            "under which a class cannot occur do not tell how likely it is otherwise; train with that class"
        )


def effective_priors(
    y: Any, *, class_weight: Any = None, sample_weight: Any = None, classes: Any = None
) -> Floats:
    """Class priors in training: class frequencies times sample and class weights.

    These are the `old` priors when a class weight, or over- or undersampling, is to be undone: pass the
    classes as the learner saw them. The priors of the rows as they came are the same without weights.
    "balanced" makes all classes that occur equal, as most learners do; some (scikit-learn's trees and
    histogram gradient boosting) balance the rows before they are weighted.

    >>> y = [0] * 999 + [1]
    >>> effective_priors(y), effective_priors(y, class_weight="balanced")
    (array([0.999, 0.001]), array([0.5, 0.5]))
    """
    given = np.asarray(y)
    labels = np.unique(given) if classes is None else np.asarray(classes)
    names = labels.tolist()
    codes = class_codes(given, len(names), names)
    if not len(codes):
        raise ValueError("y is empty: without rows there are no class frequencies")
    count = np.bincount(codes, row_weights(sample_weight, len(codes)), len(names)).astype(np.float64)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f'class_weight must be None, "balanced" or a mapping, found {class_weight!r}')
        count = (count > 0).astype(np.float64)
    elif isinstance(class_weight, Mapping):
        unknown = [k for k in class_weight if k not in names]
        if unknown:
            raise ValueError(f"class_weight names {unknown}, expected some of the classes {names}")
        factor = np.array([class_weight.get(k, 1.0) for k in names], dtype=np.float64)
        if not ((factor >= 0) & (factor < np.inf)).all() or not (count * factor).any():
            raise ValueError(
                f"class_weight={dict(class_weight)} must be finite and not negative, and leave some class a "
                "weight"
            )
        count *= factor
    elif class_weight is not None:
        raise ValueError(f'class_weight must be None, "balanced" or a mapping, found {class_weight!r}')
    return np.asarray(count / count.sum())
