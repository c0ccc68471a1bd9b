"""Models of a table set against each other on rows they have not seen."""

from posterior.comparison.candidates import MODELS, Candidate, model_for
from posterior.comparison.choosing import NotForThisTableError
from posterior.comparison.comparison import Comparison, compare
from posterior.comparison.learning_curve import LearningCurve
from posterior.comparison.result import Result
from posterior.comparison.robustness import Robustness
from posterior.comparison.same_form import side_by_side

__all__ = [
    "MODELS",
    "Candidate",
    "Comparison",
    "LearningCurve",
    "NotForThisTableError",
    "Result",
    "Robustness",
    "compare",
    "model_for",
    "side_by_side",
]
