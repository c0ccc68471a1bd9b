"""What a person should know about the best model before it is used."""

from collections.abc import Sequence

import numpy as np

from posterior._text import listed
from posterior._types import AnyArray, Bools, Ints
from posterior.comparison.candidates import STRENGTHS
from posterior.comparison.measures import NOISE
from posterior.comparison.recommendation import Ranking
from posterior.comparison.result import Result
from posterior.decision import calibration_error

# An error of this size matters to decisions, if chance seldom makes one as large.
POOR, SELDOM = 0.02, 0.01
DRAWS, FEWEST = 200, 50


def advice(best: Result, codes: Ints, knowable: Bools, *, leaks: bool = False) -> list[str]:
    """What stands out of the held-out rows of the best model, with what to do about it.

    `leaks` says that columns which may give the class away are named elsewhere.
    """
    told = []
    if best.accuracy == 1.0 and not leaks:
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
                'them, calibrate them by a DecisionClassifier with calibration="temperature"'
            )
    return told


def nothing_knowable(*, in_time: bool) -> str:
    """Why no model can be measured where no class of a held-out row could be learnt."""
    what, remedy = (
        ("the time order leaves", "compare without time, or pass times at which classes occur again")
        if in_time
        else ("the groups leave", "compare without groups, or pass groups of which several share a class")
    )
    return (
        f"{what} no row whose class occurs in the rows that it is predicted from, so that no model can be "
        f"measured; {remedy}"
    )


def unknowable_rows(classes: AnyArray, codes: Ints) -> list[str]:
    """What is said of rows whose class no model could know."""
    if not len(codes):
        return []
    names = [
        f"{label!r} ({n})"
        for label, n in zip(classes.tolist(), np.bincount(codes).tolist(), strict=False)
        if n
    ]
    return [
        f"rows whose class is in none of the rows that they are predicted from: {', '.join(names)}; no model "
        "could know it, so that the log loss leaves them out, which would be infinite; the other measures "
        "count them as they are"
    ]


def overtaking(ranking: Ranking, n_learnt: int) -> list[Result]:
    """The models that might be the best if there were any number of rows to learn from.

    Estimating p parameters from n rows costs about p / 2n nats a row (Akaike, 1973), and more rows can save
    no more than that. A model that is further behind, beyond noise, stays behind. One whose parameters are
    not counted is taken to have as many as the largest of the others.
    """
    most, found = max((result.n_parameters or 0 for result in ranking.results), default=0), []
    for result in ranking.results[1:]:
        behind = ranking.behind(result)
        if behind is None:
            continue
        n_parameters = most if result.n_parameters is None else result.n_parameters
        saved = 0.0 if ranking.by_cost else n_parameters / (2 * n_learnt)
        if behind.value - saved <= NOISE * behind.error:
            found.append(result)
    return found


def drawn_rows(best: Result, others: Sequence[Result], n: int, n_rows: int) -> str:
    """Whether the rows that were not drawn could change which model is recommended."""
    told = f"compared on {n:,} of {n_rows:,} rows, drawn by class"
    if not others:
        return f"{told}: all of them would recommend the same model (max_rows=None takes all)"
    names = listed([result.title for result in others])
    return (
        f"{told}: {best.title} and {names} are as good to within noise and what more rows can teach; "
        "max_rows=None compares them on all"
    )
