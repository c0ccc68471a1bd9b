"""Bayes' rule over any composition of families: specification, statistics, model."""

from posterior.generative.column_weights import with_column_weights
from posterior.generative.folds import estimated, held_out_log_posterior, training_parts
from posterior.generative.leave_one_out import left_out_log_posterior, refuse_other_rows
from posterior.generative.leave_one_out_tuning import tune_left_out
from posterior.generative.model import FittedBlock, GenerativeModel
from posterior.generative.notes import (
    Note,
    sentences,
    unused_note,
    whole_zeros_and_ones_note,
    zeros_and_ones_note,
)
from posterior.generative.plan import NOT_WORTH_KEEPING, NOTHING, WITHOUT_EFFECT, Block
from posterior.generative.priors import Priors
from posterior.generative.spec import GenerativeSpec
from posterior.generative.statistics import ClassStatistics, union_of_classes
from posterior.generative.tuning import Tuning, refuse_rule, tune

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
    "Tuning",
    "estimated",
    "held_out_log_posterior",
    "left_out_log_posterior",
    "refuse_other_rows",
    "refuse_rule",
    "sentences",
    "training_parts",
    "tune",
    "tune_left_out",
    "union_of_classes",
    "unused_note",
    "whole_zeros_and_ones_note",
    "with_column_weights",
    "zeros_and_ones_note",
]
