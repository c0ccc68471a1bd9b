"""The parts of the page, in their order. A new one is a function of the subject and a line in SECTIONS."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from posterior.report.blocks import PageBlock
from posterior.report.sections.chosen import the_chosen_model
from posterior.report.sections.coefficients import coefficients
from posterior.report.sections.densities import densities
from posterior.report.sections.effects import the_effects
from posterior.report.sections.importance import the_importance
from posterior.report.sections.leaderboard import leaderboard
from posterior.report.sections.method import glossary, method
from posterior.report.sections.next_steps import next_steps
from posterior.report.sections.odd_rows import odd_rows
from posterior.report.sections.plane import the_best_plane
from posterior.report.sections.table import the_table
from posterior.report.sections.texts import the_texts
from posterior.report.sections.threshold import the_threshold
from posterior.report.subject import Subject

__all__ = ["SECTIONS", "Part"]


class Part(NamedTuple):
    """A section to be: its key in addresses, its heading, and what builds it; no blocks, no section."""

    key: str
    title: str
    build: Callable[[Subject], Sequence[PageBlock]]


SECTIONS = (
    Part("table", "The table", the_table),
    Part("models", "The models", leaderboard),
    Part("chosen", "The recommended model", the_chosen_model),
    Part("threshold", "The threshold", the_threshold),
    Part("importance", "Which columns matter", the_importance),
    Part("effects", "What the values say", the_effects),
    Part("texts", "Word by word", the_texts),
    Part("plane", "Decision regions", the_best_plane),
    Part("densities", "What each class looks like", densities),
    Part("coefficients", "Coefficients", coefficients),
    Part("odd", "Odd rows", odd_rows),
    Part("next", "What to do next", next_steps),
    Part("method", "How it was done", method),
    Part("glossary", "What the words mean", glossary),
)
