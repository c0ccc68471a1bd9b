"""Acting on probabilities: functions of log posteriors, which know no model."""

from posterior.decision.calibration_error import CalibrationError, calibration_error
from posterior.decision.confusion import ConfusionTable, confusion_table
from posterior.decision.cost_table import Costs
from posterior.decision.costs import average_cost, decide, expected_cost
from posterior.decision.coverage import RiskCoverage, risk_coverage_curve
from posterior.decision.detection import DetectionCurve, detection_curve
from posterior.decision.explanation import Explanation
from posterior.decision.fusion import fuse, fusion_parts, fusion_weights
from posterior.decision.outliers import chi2_p_values, conformal_p_values, conformal_threshold
from posterior.decision.pooling import pool_weights
from posterior.decision.posteriors import log_probabilities
from posterior.decision.priors import effective_priors, shift_priors
from posterior.decision.reject import (
    Coverage,
    HeldOutDecisions,
    LearntRejectRule,
    RejectionCost,
    RejectRule,
    Threshold,
    least_expected_cost,
    register_reject_rule,
)
from posterior.decision.reliability import (
    CalibrationTest,
    ReliabilityCurve,
    calibration_test,
    reliability_curve,
)
from posterior.decision.scaling import (
    CalibrationMap,
    Scaling,
    fit_temperature,
    fit_vector,
    register_calibrator,
)
from posterior.decision.scores import brier_score, brier_terms, log_loss, log_loss_terms
from posterior.decision.shift import PriorEstimate, estimate_priors

__all__ = [
    "CalibrationError",
    "CalibrationMap",
    "CalibrationTest",
    "ConfusionTable",
    "Costs",
    "Coverage",
    "DetectionCurve",
    "Explanation",
    "HeldOutDecisions",
    "LearntRejectRule",
    "PriorEstimate",
    "RejectRule",
    "RejectionCost",
    "ReliabilityCurve",
    "RiskCoverage",
    "Scaling",
    "Threshold",
    "average_cost",
    "brier_score",
    "brier_terms",
    "calibration_error",
    "calibration_test",
    "chi2_p_values",
    "conformal_p_values",
    "conformal_threshold",
    "confusion_table",
    "decide",
    "detection_curve",
    "effective_priors",
    "estimate_priors",
    "expected_cost",
    "fit_temperature",
    "fit_vector",
    "fuse",
    "fusion_parts",
    "fusion_weights",
    "least_expected_cost",
    "log_loss",
    "log_loss_terms",
    "log_probabilities",
    "pool_weights",
    "register_calibrator",
    "register_reject_rule",
    "reliability_curve",
    "risk_coverage_curve",
    "shift_priors",
]
