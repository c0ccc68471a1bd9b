"""Bayes' rule over any composition of families: specification, statistics, model."""

from posterior.generative.model import FittedBlock, GenerativeModel
from posterior.generative.notes import Note, summary
from posterior.generative.plan import NOT_WORTH_KEEPING, NOTHING, WITHOUT_EFFECT, Block
from posterior.generative.priors import Priors, given_priors
from posterior.generative.spec import GenerativeSpec
from posterior.generative.statistics import ClassStatistics, union_of_classes

__all__ = [
    "NOTHING",
    "NOT_WORTH_KEEPING",
    "WITHOUT_EFFECT",
    "Block",
    "ClassStatistics",
    "FittedBlock",
    "GenerativeModel",
    "GenerativeSpec",
    "Note",
    "Priors",
    "given_priors",
    "summary",
    "union_of_classes",
]
