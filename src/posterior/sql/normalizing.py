"""Bayes' rule in SQL: from scores to log posteriors, without overflow and without loss of small ones."""

from dataclasses import dataclass

import numpy as np

from posterior._types import Floats
from posterior.sql.expressions import (
    Expression,
    above,
    add,
    case,
    equal,
    exponential,
    largest,
    number,
    subtract,
    times,
    total,
    whole,
)
from posterior.sql.log_functions import log_one_plus
from posterior.sql.steps import Steps


@dataclass(frozen=True, eq=False)
class LogPosterior:
    """Log posteriors of each class, and the code of the likeliest, the first of equals; all of them named."""

    by_class: list[Expression]
    best: Expression


def log_posterior(steps: Steps, scores: list[Expression], log_prior: Floats | None = None) -> LogPosterior:
    """Named scores less the log of the sum of their exponentials; an impossible row gets the priors."""
    peak = steps.let("peak", largest(scores))
    shifted = []
    for k, score in enumerate(scores):
        less = subtract(score, peak)
        if log_prior is not None:
            instead = number(float(log_prior[k] - log_prior.max()))
            less = case((above(peak, number(-np.inf)), less), otherwise=instead)
        shifted.append(steps.let("u", less))
    zero = number(0.0)
    best = steps.let("best", case(*((equal(u, zero), whole(k)) for k, u in enumerate(shifted))))
    # ln(1 + the others) keeps a log posterior of −1e-20.
    others = [case((equal(best, whole(k)), zero), otherwise=exponential(u)) for k, u in enumerate(shifted)]
    rest = steps.let("others", log_one_plus(steps, steps.let("others", total(others))))
    return LogPosterior([steps.let("log_posterior", subtract(u, rest)) for u in shifted], best)


def affine(steps: Steps, logs: LogPosterior, weight: Floats, bias: Floats) -> list[Expression]:
    """Log posteriors times a weight plus a bias, both by class, named: scores of other posteriors."""
    found = []
    for log_p, w, b in zip(logs.by_class, weight.tolist(), bias.tolist(), strict=True):
        scaled = log_p if w == 1 else times(number(w), log_p)
        found.append(steps.let("score", add(scaled, number(b))))
    return found
