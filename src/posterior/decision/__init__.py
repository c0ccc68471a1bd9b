"""Acting on probabilities: functions of log posteriors, which know no model."""

from posterior.decision.posteriors import log_probabilities
from posterior.decision.priors import effective_priors, shift_priors

__all__ = [
    "effective_priors",
    "log_probabilities",
    "shift_priors",
]
