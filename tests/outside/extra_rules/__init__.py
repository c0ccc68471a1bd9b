"""A package of somebody else: reject rules and calibrators, added to posterior by its register calls."""

from extra_rules.calibrators import Sharpened, fit_bias, fit_power
from extra_rules.reject import ErrorRate, Margin, RiskBelow
from posterior.decision import register_calibrator, register_reject_rule
from posterior.persistence import register

__all__ = ["ErrorRate", "Margin", "RiskBelow", "Sharpened", "fit_bias", "fit_power"]

register_reject_rule("margin", Margin)
register_reject_rule("error_rate", ErrorRate)
register_calibrator("bias", fit_bias)
register_calibrator("power", fit_power)
register("extra_rules.margin", Margin)
register("extra_rules.error-rate", ErrorRate)
register("extra_rules.risk-below", RiskBelow)
register("extra_rules.sharpened", Sharpened)
