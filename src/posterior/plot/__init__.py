"""Pictures of models, of how good they are and of how they were found; matplotlib is needed to draw them."""

from posterior.plot.best_plane import best_plane
from posterior.plot.coefficients import CoefficientDisplay
from posterior.plot.comparison import ComparisonDisplay
from posterior.plot.confusion import ConfusionDisplay
from posterior.plot.cost import CostThresholdDisplay
from posterior.plot.coverage import RiskCoverageDisplay
from posterior.plot.densities import DensityDisplay
from posterior.plot.effects import EffectDisplay
from posterior.plot.importance import ImportanceDisplay
from posterior.plot.learning import LearningCurveDisplay
from posterior.plot.panels import ClassPanelDisplay
from posterior.plot.paths import SolverPathDisplay
from posterior.plot.precision_recall import PrecisionRecallDisplay
from posterior.plot.regions import DecisionRegionDisplay
from posterior.plot.reliability import ReliabilityDisplay
from posterior.plot.roc import RocDisplay

__all__ = [
    "ClassPanelDisplay",
    "CoefficientDisplay",
    "ComparisonDisplay",
    "ConfusionDisplay",
    "CostThresholdDisplay",
    "DecisionRegionDisplay",
    "DensityDisplay",
    "EffectDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "RocDisplay",
    "SolverPathDisplay",
    "best_plane",
]
