"""What a person should know about the best model before it is used."""

from posterior._types import Bools, Ints
from posterior.comparison.candidates import STRENGTHS
from posterior.comparison.result import Result
from posterior.decision import calibration_error

# An error of this size matters to decisions, if chance seldom makes one as large.
POOR, SELDOM = 0.02, 0.01
DRAWS, FEWEST = 200, 50


def advice(best: Result, codes: Ints, knowable: Bools) -> list[str]:
    """What stands out of the held-out rows of the best model, with what to do about it."""
    told = []
    if best.accuracy == 1.0:
        told.append(
            f"{best.title} predicts every held-out row right: make sure that no column gives the class away, "
            "as one would that is filled in only after the class is known"
        )
    if best.approach == "discriminative" and getattr(best.estimator, "C", None) == STRENGTHS[-1]:
        told.append(
            f"{best.title} does best with the weakest penalty that was tried: the classes can be told apart "
            "all but without error, and posteriors near 0 and 1 are as sure as the penalty lets them be"
        )
    if best.log_proba is not None and best.calibration_error is not None and knowable.sum() >= FEWEST:
        # Whether chance makes as much is asked of one repeat, whose rows are drawn once each.
        found = calibration_error(codes[knowable], best.log_proba[knowable], n_simulations=DRAWS)
        if found.value > POOR and found.p_value < SELDOM:
            told.append(
                f"the posteriors of {best.title} have a calibration error of {best.calibration_error:.3f}, "
                f"where chance alone would make it {found.expected_if_calibrated:.3f}: before acting on "
                'them, calibrate them, as DecisionClassifier(model, calibration="temperature") does'
            )
    return told
