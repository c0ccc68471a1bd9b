"""What must hold of models around others: rows held out, priors and weights are of the models inside."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior._types import Floats
from posterior.decision.scaling import CALIBRATORS, CalibrationMap
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.classifiers import bare
from posterior.estimators.fitted_classifier import FittedClassifier
from posterior.estimators.members import FittedMember
from posterior.estimators.odd_features import TypicalRows, feature_positions
from posterior.estimators.outlier_calibration import CalibrationScores
from posterior.generative import GenerativeModel
from posterior.math import sum_to_one
from posterior.persistence.checks import are_places, refuse_unless
from posterior.persistence.checks.tables import check_classes

OTHER_SCALING = "a scaling of other classes"


def _check_probabilities(classifier: Any) -> None:
    """A classifier that has learnt something, and gives probabilities."""
    fitted = isinstance(classifier, BaseEstimator) and hasattr(classifier, "classes_")
    refuse_unless(fitted and hasattr(classifier, "predict_log_proba"), "no classifier where one belongs")


def _check_priors(priors: Floats | None, n_classes: int) -> None:
    proper = priors is None or (priors.shape == (n_classes,) and (priors >= 0).all() and sum_to_one(priors))
    refuse_unless(proper, "priors that do not sum to one")


def check_learnt(learnt: FittedClassifier) -> None:
    """Priors, rows held out and scalings are of the classes of the model."""
    _check_probabilities(learnt.model)
    n_classes, rows = len(learnt.classes), learnt.held_out
    _check_priors(learnt.priors, n_classes)
    _check_priors(learnt.observed, n_classes)
    if rows is not None:
        refuse_unless(
            len(rows.y) and rows.log_posterior.shape[1] == n_classes, "rows held out of other classes"
        )
        refuse_unless(rows.y.max() < n_classes, "a row of a class that is not there")
        refuse_unless(sum_to_one(np.exp(rows.log_posterior)), "posteriors that do not sum to one")
        refuse_unless(rows.weight is None or rows.weight.any(), "rows of no weight")
    for method, scaling in learnt._scalings.items():
        refuse_unless(method in CALIBRATORS, f"calibration by {method!r:.40}, which is not registered")
        _check_scaling(scaling, n_classes)


def _check_scaling(scaling: Any, n_classes: int) -> None:
    known = isinstance(scaling, CalibrationMap)
    refuse_unless(known and len(getattr(scaling, "weight", range(n_classes))) == n_classes, OTHER_SCALING)


def check_decision(classifier: Any) -> None:
    """The settings go together, and with what was learnt."""
    classifier._decider()


def check_calibrated(classifier: Any) -> None:
    """The scaling is of the classes of the model."""
    _check_scaling(classifier.scaling_, len(classifier.learnt_.classes))


def check_rule(rule: Any) -> None:
    """Around a generative model, with rows of its columns and classes."""
    inner = bare(rule.estimator_)
    known = isinstance(inner, GenerativeEstimator) and hasattr(inner, "model_")
    refuse_unless(known, "an outlier rule around no generative model")
    rule._refuse_settings()
    _check_typical(rule._typical, inner.model_)
    refuse_unless(rule._calibration is not None or rule.method == "chi2", "no rows that were held out")
    if rule._calibration is not None:
        _check_calibration(rule._calibration, inner.model_.n_classes)
        rule._calibration.threshold(rule.alpha)


def _check_typical(typical: TypicalRows | None, model: GenerativeModel) -> None:
    names = tuple(model.schema.names[j] for j in feature_positions(model))
    refuse_unless(typical is not None and typical.names == names, "typical rows of other columns")
    assert typical is not None  # noqa: S101 -- for the type checker
    shape = (len(names), model.n_classes)
    refuse_unless(
        typical.term.shape == shape and len(typical.columns) == len(names), "typical rows of others"
    )
    refuse_unless(np.array_equal(typical.classes, model.classes), "typical rows of other classes")


def _check_calibration(rows: CalibrationScores, n_classes: int) -> None:
    refuse_unless(len(rows.score) and rows.total > 0, "no rows that were held out")
    refuse_unless(0 < rows.own_weight < np.inf, "a row of no weight")
    widths = [array.shape[-1] for array in (rows.log_density, rows.count) if array is not None]
    refuse_unless(all(width == n_classes for width in widths), "rows held out of other classes")
    refuse_unless(rows.y is None or rows.y.max() < n_classes, "a row of a class that is not there")


def check_fusion(fusion: Any) -> None:
    """Members know the same classes and read columns of the same table."""
    check_classes(fusion.classes_)
    members, weights = fusion.members_, fusion.weights_
    _check_priors(fusion.priors_, len(fusion.classes_))
    proper = weights.shape == (len(members),) and ((weights >= 0) & (weights < np.inf)).all()
    refuse_unless(members and proper, "other weights than members")
    for member in members:
        _check_member(member, fusion)


def _check_member(member: FittedMember, fusion: Any) -> None:
    _check_probabilities(member.model)
    _check_priors(member.priors, len(fusion.classes_))
    refuse_unless(np.array_equal(member.model.classes_, fusion.classes_), "members of different classes")
    refuse_unless(are_places(member.columns, fusion.n_features_in_), "a member that reads a column twice")
    refuse_unless(member.model.n_features_in_ == len(member.columns), "a member that reads other columns")
