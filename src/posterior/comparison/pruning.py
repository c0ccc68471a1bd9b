"""Candidates that a part of a large table shows to be clearly behind, which are not tried further."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from posterior._types import Floats
from posterior.comparison.candidates import Approach, Candidate
from posterior.comparison.choosing import EstimatorChoice, settled
from posterior.comparison.fixed_candidates import n_parameters_of
from posterior.comparison.folds import deal
from posterior.comparison.held_out import class_scores
from posterior.comparison.measures import Mean, clustered
from posterior.comparison.printing import loss_text
from posterior.comparison.sampling import sample_rows
from posterior.decision import log_loss_terms
from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.schema import LabelledTable

# Rows that candidates learn from at first, and how many times more in each round that follows.
FIRST, GROWTH = 5_000, 4
# There is a round if the table has so many times the rows that candidates learn from in it.
ENOUGH = 4
# A candidate is dropped that is behind by so many standard errors, twice what noise is taken to be.
CLEARLY = 4.0
# What is no model of a row, or has no probabilities, costs little and is not dropped; a pool is made last.
STAY = ("baseline", "discriminant", "pool", "reference")

Chosen = tuple[Candidate, EstimatorChoice]


@dataclass(frozen=True)
class Pruned:
    """A candidate that was not tried further: its log loss on a part of the rows, and how far behind.

    It learnt from `n_learnt` rows and was `behind` the `leader` on the same number of others.
    """

    name: str
    title: str
    approach: Approach
    log_loss: float
    behind: float
    behind_se: float
    leader: str
    n_learnt: int

    @property
    def reason(self) -> str:
        """Why it was not tried further.

        >>> Pruned("qda", "QDA", "generative", 1.092, 0.781, 0.0601, "logistic", 5000).reason
        'log loss 1.092 after learning from 5,000 rows, 0.781 ± 0.060 behind logistic'
        """
        return (
            f"log loss {loss_text(self.log_loss)} after learning from {self.n_learnt:,} rows, "
            f"{loss_text(self.behind)} ± {loss_text(self.behind_se)} behind {self.leader}"
        )


@dataclass(frozen=True, eq=False)
class _Tried:
    """What a candidate lost in each row of a round, None where that is not known, and its parameters."""

    chosen: Chosen
    losses: Floats | None = None
    n_parameters: float = np.nan


def pruned(candidates: Sequence[Chosen], table: LabelledTable) -> tuple[list[Chosen], list[Pruned]]:
    """The candidates that a large table is worth trying with, and those that are clearly behind.

    Successive halving (Jamieson & Talwalkar 2016), by evidence instead of by half: in rounds of more and more
    rows each candidate learns from some and predicts as many others, and one is dropped that is behind the
    best of the round by four standard errors of the difference, and by what more rows can still teach it:
    p / 2n nats a row for p parameters learnt from n rows (Akaike, 1973). Settings that held-out rows choose
    are chosen in the first round, and kept.
    """
    kept, dropped = list(candidates), []
    for learnt, others in _rounds(table):
        tried = [_tried(each, learnt, others) for each in kept]
        behind = _behind(tried, others, len(learnt))
        names = {each.name for each in behind}
        dropped += behind
        kept = [each.chosen for each in tried if each.chosen[0].name not in names]
    return kept, dropped


def _rounds(table: LabelledTable) -> Iterator[tuple[LabelledTable, LabelledTable]]:
    """Rows to learn from, and as many others; whole groups where rows belong together."""
    size = FIRST
    while ENOUGH * size <= len(table):
        some = table.part(sample_rows(table.codes, 2 * size, table.groups))
        half = deal(some.codes, folds=2, repeats=1, groups=some.groups)[0].numbers == 0
        yield some.part(half), some.part(~half)
        size *= GROWTH


def _tried(chosen: Chosen, learnt: LabelledTable, others: LabelledTable) -> _Tried:
    """What a candidate loses in a round."""
    candidate, choice = chosen
    if candidate.approach in STAY:
        return _Tried(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator = settled(choice, learnt)
            model = fit_table(clone(estimator), learnt)
        except (ValueError, np.linalg.LinAlgError):
            return _Tried(chosen)  # the comparison will say what is wrong
        if not hasattr(model, "predict_log_proba"):
            return _Tried(chosen)
        logs = np.full((len(others), len(others.classes)), -np.inf)
        places = np.searchsorted(others.classes, model.classes_)
        logs[:, places] = class_scores(model, rows_for(model, others))
    known = np.isin(others.codes, places)
    losses = np.where(known, log_loss_terms(others.codes, logs), 0.0)
    return _Tried((candidate, replace(choice, taken=estimator)), losses, n_parameters_of(model))


def _behind(tried: Sequence[_Tried], others: LabelledTable, n_learnt: int) -> list[Pruned]:
    """Those that are clearly behind the best, whatever more rows could teach them."""
    known = [(each, each.losses) for each in tried if each.losses is not None]
    finite = [(each, losses) for each, losses in known if np.isfinite(losses).all()]
    if not finite:
        return []
    best, least = min(finite, key=lambda pair: float(pair[1].mean()))
    most = float(np.nanmax([each.n_parameters for each, _ in finite] + [0.0]))
    found = []
    for each, losses in finite:
        mean = Mean.of(clustered(losses - least, others.groups))
        free = most if np.isnan(each.n_parameters) else each.n_parameters
        if mean.value - free / (2 * n_learnt) > CLEARLY * mean.error:
            candidate, leader = each.chosen[0], best.chosen[0].title
            loss = float(losses.mean())
            found.append(
                Pruned(candidate.name, candidate.title, candidate.approach, loss, *mean, leader, n_learnt)
            )
    return found
