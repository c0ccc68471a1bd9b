"""Class priors that have changed, estimated from rows whose class is not known."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.stats import beta

from posterior._text import Printed, aligned
from posterior._types import Bools, Floats
from posterior.bayes import given_priors
from posterior.decision.posteriors import checked, class_names
from posterior.decision.shares import (
    Found,
    UnidentifiedError,
    by_confusion,
    by_corrected_likelihood,
    by_likelihood,
)
from posterior.decision.unlabelled import WeightedPosteriors, labelled_rows, unlabelled
from posterior.schema.decode import table_of


@dataclass(frozen=True, repr=False)
class PriorEstimate(Printed):
    """Class priors of unlabelled rows, with intervals and a test of whether they are still the old ones.

    Attributes
    ----------
    classes : list
        Names of the classes, in the order of the columns.
    old, priors : ndarray of shape (K,)
        The priors that were in the posteriors, and those estimated.
    low, high : ndarray of shape (K,)
        Interval of each prior; NaN without bootstrap samples.
    confidence : float
        Probability with which each interval is to cover its prior.
    uncorrected : ndarray of shape (K,)
        The estimate before held-out rows corrected it: of "em" the maximum-likelihood one, of "confusion" the
        shares of the predicted classes.
    statistic, df, p_value : float, int, float
        Test that the class frequencies have not changed; printing says that they have where p_value is below
        1 − confidence.
    method : str
        "em" or "confusion".
    n_iter, gap : int, float
        Iterations of the maximisation, and a proven bound on the mean log-likelihood of a row that was left
        to gain.

    >>> found = estimate_priors(np.log([[0.99, 0.01]] * 3 + [[0.01, 0.99]]), "uniform")
    >>> found.priors.round(2), found.low.round(2), found.high.round(2)
    (array([0.76, 0.24]), array([0.2, 0.  ]), array([1. , 0.8]))

    """

    classes: list[Any]
    old: Annotated[Floats, "K any"]
    priors: Annotated[Floats, "K any"]
    low: Annotated[Floats, "K any"]
    high: Annotated[Floats, "K any"]
    confidence: float
    uncorrected: Annotated[Floats, "K any"]
    statistic: float
    df: int
    p_value: float
    method: str
    n_iter: int
    gap: float

    def frame(self) -> Any:
        """One row for each class, as a pandas data frame."""
        columns: dict[str, Any] = {
            "class": self.classes,
            "old": self.old,
            "prior": self.priors,
            "low": self.low,
            "high": self.high,
        }
        return table_of(columns, "pandas")

    def __str__(self) -> str:
        head = ("class", "old", "now", f"{self.confidence:.0%}".replace("%", " % interval"))
        body = [
            (str(name), f"{old:.3f}", f"{now:.3f}", f"{low:.3f} – {high:.3f}")
            for name, old, now, low, high in zip(
                self.classes, self.old, self.priors, self.low, self.high, strict=True
            )
        ]
        return "\n".join([*aligned([head, *body]), self._verdict()])

    def _verdict(self) -> str:
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        if self.p_value < 1 - self.confidence:
            return f"class frequencies have changed ({p})"
        return f"no sign of a change in class frequencies ({p})"


def estimate_priors(  # noqa: PLR0913  (all but two have defaults)
    log_posterior: Any,
    old: Any,
    *,
    method: str = "em",
    held_out: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    n_bootstrap: int = 500,
    random_state: Any = 0,
) -> PriorEstimate:
    """Estimate the class priors of unlabelled rows from their posteriors under the old priors.

    What has changed is taken to be the class frequencies only: p(row | class) is as in training. Pass the
    answer to `shift_priors` as `new`.

    Parameters
    ----------
    log_posterior : array of shape (n, K)
        Log posteriors of the unlabelled rows under the old priors.
    old : array of shape (K,), "uniform", or a mapping from class to number
        The priors in those posteriors, as a rule the class frequencies in training. A class whose old prior
        is zero stays at zero.
    method : {"em", "confusion"}, default="em"
        "em" maximises the likelihood of the rows (Saerens, Latinne & Decaestecker 2002), by Newton steps.
        "confusion" uses only which class is most probable (Lipton, Wang & Smola 2018) and needs `held_out`;
        the intervals are wider.
    held_out : (log_posterior, y) or (log_posterior, y, sample_weight), default=None
        Rows of known class that were not used in training, or not for their own posteriors (leave-one-out,
        out-of-fold), with posteriors under the same old priors. With them "em" no longer takes the posteriors
        as exact: the estimate is corrected for what they get wrong, and the intervals allow for both sets of
        rows being samples. Every class needs some.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns; without them y holds codes 0 … K−1.
    sample_weight : array of shape (n,), default=None
        How often each unlabelled row counts.
    confidence : float, default=0.95
        Coverage of the intervals, which are bootstrap percentiles, no narrower than if the classes of the
        unlabelled rows were known.
    n_bootstrap : int, default=500
        Number of bootstrap samples; 0 for no intervals.
    random_state : int or numpy Generator, default=0
        Where the bootstrap samples come from.

    Returns
    -------
    estimate : PriorEstimate
        Print it.

    Notes
    -----
    The test without held-out rows is the likelihood ratio against `old` (Saerens et al. 2002, section 2.4),
    with K − 1 degrees of freedom. It and the intervals take the posteriors and `old` as exactly known; where
    both come from a training sample not much larger than the unlabelled one, the test says "changed" too
    often (12 to 14 times in 100, not 5, with 2,000 rows in training and 1,000 unlabelled) and the intervals
    are too short (cover 86 to 95 times in 100, and hardly ever where the posteriors are overconfident): pass
    `held_out`.
    With held-out rows the test asks whether the unlabelled rows have the class frequencies of the held-out
    rows: a two-sample test of equal mean posteriors for "em", of equal frequencies of the predicted classes
    for "confusion" (by permutation where fewer than five are expected somewhere).

    Shares of classes that no row tells apart are not identified, and refused. Where held-out rows tell them
    apart by chance only, the intervals come out wide.

    >>> from posterior import LDA
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(2, 1000)
    >>> model = LDA().fit(rng.normal(size=(1000, 1)) + 2 * y[:, None], y)
    >>> new = rng.normal(size=(500, 1)) + 2 * (rng.random((500, 1)) < 0.2)
    >>> print(estimate_priors(model.predict_log_proba(new), model.priors_, classes=["well", "ill"]))
    class    old    now  95 % interval
    well   0.463  0.792  0.744 – 0.844
    ill    0.537  0.208  0.156 – 0.256
    class frequencies have changed (p < 0.001)

    """
    logs = checked(log_posterior)
    names = class_names(classes, logs.shape[1])
    before = given_priors(old, np.asarray(names))
    known = before > 0
    _refuse_settings(method, held_out, confidence, n_bootstrap)
    rows = unlabelled(logs, sample_weight, known, names)
    labelled = None if held_out is None else labelled_rows(held_out, known, names, classes)
    rng = np.random.default_rng(random_state)
    try:
        found = _found(method, rows, labelled, before[known], n_bootstrap, rng)
    except UnidentifiedError as error:
        kept = [name for name, has_prior in zip(names, known.tolist(), strict=True) if has_prior]
        raise _unidentified(error, kept, method) from None
    limits = _interval(found.draws, found.share, rows.total, confidence)
    return PriorEstimate(
        classes=names,
        old=before,
        priors=_spread_out(found.share, known),
        low=_spread_out(limits[0], known),
        high=_spread_out(limits[1], known),
        confidence=confidence,
        uncorrected=_spread_out(found.uncorrected, known),
        statistic=found.change.statistic,
        df=found.change.df,
        p_value=found.change.p_value,
        method=method,
        n_iter=found.n_iter,
        gap=found.gap,
    )


def _interval(draws: Floats, share: Floats, n_rows: float, confidence: float) -> Floats:
    """Bootstrap percentiles, no narrower than if the classes of the rows were known; NaN without draws.

    A bootstrap never draws a class that the rows do not show; Clopper & Pearson (1934) say what as many rows
    of known class leave open.
    """
    if not len(draws):
        return np.full((2, len(share)), np.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    if len(share) == 1:
        return np.stack([low, high])
    count = np.clip(n_rows * share, 0.0, n_rows)
    rest = n_rows - count
    least = np.where(count > 0, beta.ppf(tail, np.maximum(count, 1e-12), rest + 1), 0.0)
    most = np.where(rest > 0, beta.ppf(1 - tail, count + 1, np.maximum(rest, 1e-12)), 1.0)
    return np.stack([np.minimum(low, least), np.maximum(high, most)])


def _found(
    method: str,
    rows: WeightedPosteriors,
    labelled: WeightedPosteriors | None,
    old: Floats,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> Found:
    if labelled is None:
        return by_likelihood(rows, old, n_bootstrap, rng)
    if method == "em":
        return by_corrected_likelihood(rows, labelled, old, n_bootstrap, rng)
    return by_confusion(rows, labelled, n_bootstrap, rng)


def _spread_out(values: Floats, known: Bools) -> Floats:
    """Values of the classes that have a prior, and zero for the others."""
    out = np.zeros(len(known))
    out[known] = values
    return out


def _refuse_settings(method: str, held_out: Any, confidence: float, n_bootstrap: int) -> None:
    if method not in {"em", "confusion"}:
        raise ValueError(f'method must be "em" or "confusion", found {method!r}')
    if method == "confusion" and held_out is None:
        raise ValueError(
            'method="confusion" learns from rows of known class how often each class is taken for another; '
            "pass held_out=(log_posterior, y), for example from model.leave_one_out_log_proba(X, y)"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence!r}")
    if isinstance(n_bootstrap, bool) or not isinstance(n_bootstrap, (int, np.integer)) or n_bootstrap < 0:
        raise ValueError(f"n_bootstrap must be a whole number ≥ 0, found {n_bootstrap!r}")


def _unidentified(error: UnidentifiedError, names: list[Any], method: str) -> ValueError:
    which = ", ".join(repr(names[k]) for k in error.positions)
    if method == "confusion":
        return ValueError(
            f"the shares of classes {which} cannot be told apart: the table of predicted by true classes of "
            "the held-out rows is singular, as it is where a class is never predicted; use "
            'method="em", or pass log posteriors shifted to uniform priors (both sets, by shift_priors) with '
            'old="uniform", under which rare classes are predicted too'
        )
    return ValueError(
        f"the shares of classes {which} cannot be told apart: the posteriors of the {error.rows} rows do not "
        "distinguish them; merge these classes, or use a model that tells them apart"
    )
