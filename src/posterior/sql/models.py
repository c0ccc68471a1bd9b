"""Which fitted classifiers can be written as SQL, and what each becomes."""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from posterior.decision.rule import DecisionRule
from posterior.estimators import CalibratedClassifier, DecisionClassifier
from posterior.estimators.fitted_classifier import Adjustment
from posterior.estimators.generative_prediction import GenerativePrediction
from posterior.estimators.linear_probabilities import LinearProbabilities
from posterior.linear.additive_design import AdditiveDesign
from posterior.schema import Schema
from posterior.sql.cells import Cells
from posterior.sql.curves import additive_scores
from posterior.sql.decision import adjusted, decided
from posterior.sql.expressions import Expression
from posterior.sql.generative import generative_scores
from posterior.sql.linear import linear_scores, scores_of
from posterior.sql.normalizing import LogPosterior, log_posterior
from posterior.sql.scores import Scores

KNOWN = (
    "naive Bayes and other generative classifiers, LDA, QDA, logistic and softmax regression, additive "
    "models, and DecisionClassifier or CalibratedClassifier around one of these"
)


scores_of.register(AdditiveDesign, additive_scores)


@dataclass(frozen=True, eq=False)
class Answer:
    """What is said of a row: log posteriors, and a decision, which is the place of one of `labels`."""

    logs: LogPosterior
    decision: Expression
    labels: tuple[Any, ...]
    scores: Scores


@singledispatch
def answer_of(model: Any, cells: Cells, *, joint: bool) -> Answer:
    """What a fitted classifier says of a row."""
    raise _unknown(model)


@singledispatch
def schema_of(model: Any) -> Schema:
    """The columns that a fitted classifier reads."""
    raise _unknown(model)


def _unknown(model: Any) -> TypeError:
    return TypeError(f"{type(model).__name__} is not written in SQL; to_sql knows {KNOWN}")


@schema_of.register
def _(model: GenerativePrediction) -> Schema:
    return model.schema_


@schema_of.register
def _(model: LinearProbabilities) -> Schema:
    return model.schema_


@schema_of.register(DecisionClassifier)
@schema_of.register(CalibratedClassifier)
def _(model: Any) -> Schema:
    return schema_of(model.estimator_)


def _likeliest(scores: Scores, cells: Cells) -> Answer:
    logs = log_posterior(cells.steps, scores.by_class, scores.log_prior)
    return Answer(logs, logs.best, tuple(scores.labels), scores)


@answer_of.register
def _(model: GenerativePrediction, cells: Cells, *, joint: bool) -> Answer:
    return _likeliest(generative_scores(model.model_, cells, joint=joint), cells)


@answer_of.register
def _(model: LinearProbabilities, cells: Cells, *, joint: bool) -> Answer:
    return _likeliest(linear_scores(model.design_, model._current, model.classes_, cells), cells)


@answer_of.register
def _(model: CalibratedClassifier, cells: Cells, *, joint: bool) -> Answer:
    adjustment = Adjustment(model.learnt_.to_observed(), model.scaling_)
    rule = DecisionRule(tuple(model.classes_.tolist()))
    return _acted_on(model.estimator_, adjustment, rule, cells)


@answer_of.register
def _(model: DecisionClassifier, cells: Cells, *, joint: bool) -> Answer:
    decider = model._decider()
    return _acted_on(model.estimator_, decider.adjustment, decider.rule, cells)


def _acted_on(model: Any, adjustment: Adjustment, rule: DecisionRule, cells: Cells) -> Answer:
    """What a classifier inside another says, adjusted and acted on; its log joints are under other priors."""
    found = answer_of(model, cells, joint=False)
    logs = adjusted(adjustment, found.logs, cells.steps)
    scores = Scores(found.scores.classes, found.scores.by_class)
    return Answer(logs, decided(rule, logs, cells.steps), rule.labels, scores)
