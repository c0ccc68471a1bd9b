"""Models of a table set against each other on rows they have not seen."""

from posterior.comparison.candidates import MODELS, Candidate, register_candidate
from posterior.comparison.choosing import EstimatorChoice, NotForThisTableError
from posterior.comparison.comparison import Comparison, compare
from posterior.comparison.facts import TableFacts
from posterior.comparison.importance import ColumnImportance, Importance
from posterior.comparison.learning_curve import LearningCurve
from posterior.comparison.model_names import model_for, unused_by
from posterior.comparison.regression import REGRESSIONS, RegressionComparison
from posterior.comparison.result import Result
from posterior.comparison.robustness import Robustness
from posterior.comparison.same_form import side_by_side

__all__ = [
    "MODELS",
    "REGRESSIONS",
    "Candidate",
    "ColumnImportance",
    "Comparison",
    "EstimatorChoice",
    "Importance",
    "LearningCurve",
    "NotForThisTableError",
    "RegressionComparison",
    "Result",
    "Robustness",
    "TableFacts",
    "compare",
    "model_for",
    "register_candidate",
    "side_by_side",
    "unused_by",
]
