"""Whether probabilities mean what they say: frequencies beside predictions, and a test."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from posterior._text import Printed
from posterior._types import Floats
from posterior.decision.bins import Binned, Events, bin_sums, calibrated_range, wilson
from posterior.decision.posteriors import class_names
from posterior.decision.scaling import Scaling, fit_temperature, fit_vector
from posterior.decision.scores import log_loss, scored_rows
from posterior.notices import DataWarning
from posterior.schema.decode import table_of

TOP = "top label"
# What makes posteriors count as off: a test that says so, and something to gain.
TESTED = {"temperature": fit_temperature, "vector": fit_vector}
SIGNIFICANT, RELEVANT, NEGLIGIBLE, OFTEN = 0.01, 0.02, 1e-4, 0.01


@dataclass(frozen=True, eq=False)
class Bins:
    """Predicted probabilities of one event and observed frequencies, bin by bin; empty bins are left out.

    `low` and `high` are Wilson's confidence interval of the frequency; `band_low` and `band_high` the
    central range in which it would lie if the predictions were exact.
    """

    predicted: Floats
    observed: Floats
    weight: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Printed):
    """Observed frequencies against predicted probabilities, for each class and for the most probable class.

    >>> log_posterior = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> print(reliability_curve(["a", "b", "b", "b"], log_posterior, classes=["a", "b"], n_bins=2))
    class      predicted  observed     95 % interval   if calibrated  weight
    a              0.250     0.000     0.000 … 0.658   0.000 … 1.000       2
    a              0.850     0.500     0.095 … 0.905   0.500 … 1.000       2
    b              0.150     0.500     0.095 … 0.905   0.000 … 0.500       2
    b              0.750     1.000     0.342 … 1.000   0.000 … 1.000       2
    top label      0.700     1.000     0.207 … 1.000   0.000 … 1.000       1
    top label      0.833     0.667     0.208 … 0.939   0.333 … 1.000       3
    """

    by_class: dict[Any, Bins]
    top: Bins
    confidence: float

    def frame(self) -> Any:
        """A data frame with a row for each bin; the curve of the most probable class is "top label"."""
        curves = [*self.by_class.items(), (TOP, self.top)]
        labels = [label for label, bins in curves for _ in bins.predicted]
        column = np.empty(len(labels), dtype=object)
        column[:] = labels
        fields = ("predicted", "observed", "weight", "low", "high", "band_low", "band_high")
        values = {name: np.concatenate([getattr(bins, name) for _, bins in curves]) for name in fields}
        return table_of({"class": column} | values, "pandas")

    def __str__(self) -> str:
        curves = [*((str(label), bins) for label, bins in self.by_class.items()), (TOP, self.top)]
        width = max(5, *(len(label) for label, _ in curves))
        interval = f"{100 * self.confidence:g} % interval"
        lines = [f"{'class':<{width}}  predicted  observed  {interval:>16}  {'if calibrated':>14}  weight"]
        for label, b in curves:
            lines += [
                f"{label:<{width}}  {b.predicted[i]:9.3f}  {b.observed[i]:8.3f}  "
                f"{b.low[i]:8.3f} … {b.high[i]:.3f}  {b.band_low[i]:6.3f} … {b.band_high[i]:.3f}  "
                f"{b.weight[i]:6g}"
                for i in range(len(b.predicted))
            ]
        return "\n".join(lines)


def reliability_curve(
    y: Any,
    log_posterior: Any,
    *,
    classes: Any = None,
    n_bins: int = 10,
    strategy: str = "quantile",
    sample_weight: Any = None,
    confidence: float = 0.95,
) -> ReliabilityCurve:
    """Observed frequencies against predicted probabilities, in bins.

    One curve for each class against the others, and one for the most probable class: how often it was the
    right one. Frequencies have Wilson's (1927) interval. Beside it stands the range in which they would lie
    if the predictions in the bin were exact (Bröcker & Smith 2007), from the distribution of the sum of
    the rows, given the predictions.

    Parameters
    ----------
    y : array of shape (n,)
        True classes: codes 0 … K−1, or labels where `classes` names them.
    log_posterior : array of shape (n, K)
        Log posteriors.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns.
    n_bins : int, default=10
        Number of bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of as equal weight as can be, equal predictions together; or of equal width, each with its
        right end.
    sample_weight : array of shape (n,), default=None
        Weight 2 is the row twice, weight 0 the row not at all.
    confidence : float, default=0.95
        Of the intervals and of the ranges.

    >>> log_posterior = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])
    >>> reliability_curve([0, 1, 1, 1], log_posterior, n_bins=2).by_class[1].observed
    array([0.5, 1. ])

    """
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    refuse_confidence(confidence)
    names = class_names(classes, logs.shape[1])
    by_class = Events.of_classes(logs, codes, weight).binned(n_bins, strategy)
    top = Events.of_top(logs, codes, weight).binned(n_bins, strategy)
    return ReliabilityCurve(
        {name: _curve(by_class, k, confidence) for k, name in enumerate(names)},
        _curve(top, 0, confidence),
        confidence,
    )


def refuse_confidence(confidence: float) -> None:
    """Raise the error of a confidence that is none."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies between 0 and 1, such as 0.95, found {confidence!r}")


def _curve(binned: Binned, column: int, confidence: float) -> Bins:
    """One event's bins."""
    events = binned.events
    weight, probability = events.weight, events.probability[:, column]
    place = binned.place[:, column] - column * binned.n_bins
    total, predicted, happened = (
        bin_sums(place, weight * values, binned.n_bins)
        for values in (1.0, probability, events.happened[:, column])
    )
    used = np.flatnonzero(total)
    total, predicted = total[used], predicted[used] / total[used]
    observed = np.minimum(happened[used] / total, 1.0)
    rows = [place == bin_ for bin_ in used]
    ranges = [calibrated_range(probability[r], weight[r], confidence) for r in rows]
    band_low, band_high = np.array(ranges).T
    return Bins(predicted, observed, total, *wilson(observed, total, confidence), band_low, band_high)


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationTest(Printed):
    """A likelihood-ratio test of whether scaled posteriors fit the true classes better than the given ones.

    `log_loss` is that of the posteriors, `gain` how much less it is after scaling, in nats a row, both over
    the rows whose class is not impossible; `impossible` is the share of the others.

    >>> test = calibration_test([0, 0, 1] * 100, np.log([[0.99, 0.01]] * 300))
    >>> test.is_off, test.fault
    (True, 'are too sure of themselves')
    """

    statistic: float
    df: int
    p_value: float
    scaling: Scaling
    log_loss: float
    gain: float
    impossible: float

    @property
    def temperature(self) -> float:
        """Above 1 if the posteriors are too sure of themselves; NaN for vector scaling."""
        return self.scaling.temperature

    @property
    def is_off(self) -> bool:
        """Whether the posteriors should not be taken at their word.

        Either more than 1 % of the rows are of a class to which they gave a probability of zero; or the test
        says that they can be improved (p < 0.01) and there is something to gain: more than 2 % of the log
        loss and more than 1e-4 nats a row. In a large table everything is significant; by Pinsker's
        inequality, 2 % of a log loss of 0.5 are posteriors wrong by at most 0.07 on average.
        """
        gains = self.gain > max(RELEVANT * self.log_loss, NEGLIGIBLE)
        return self.impossible > OFTEN or (self.p_value < SIGNIFICANT and gains)

    @property
    def fault(self) -> str:
        """What is wrong with the posteriors, where something is."""
        if self.impossible > OFTEN:
            return "give a probability of zero to classes that occur"
        if np.isnan(self.temperature):
            return "are not calibrated"
        return "are too sure of themselves" if self.temperature > 1 else "are not sure enough of themselves"

    @property
    def remedy(self) -> str:
        """What can be done about it."""
        if self.impossible > OFTEN:
            return (
                "no scaling changes a zero; smooth them (larger leaves, more trees) or use another classifier"
            )
        return 'pass calibration="temperature" or "vector", or improve the model'

    @property
    def words(self) -> str:
        """What the rows say, in a sentence."""
        if self.impossible > OFTEN:
            return (
                f"{100 * self.impossible:.2g} % of the held-out rows are of a class to which the posteriors "
                "give a probability of zero"
            )
        how = self.fault if self.is_off else "are calibrated, as far as these tell"
        scaled = f"log loss {self.log_loss:.3g}, {self.log_loss - self.gain:.3g} after scaling"
        scaled += f" ({self._significance})"
        if not np.isnan(self.temperature):
            scaled = f"temperature {self.temperature:.2g}, {scaled}"
        return f"held-out rows say that the posteriors {how}: {scaled}"

    @property
    def _significance(self) -> str:
        """The p-value, and which way it points."""
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        if self.p_value >= SIGNIFICANT:
            return f"{p}: chance alone would gain as much"
        if self.is_off:
            return f"{p}: chance alone would not gain as much"
        return f"{p}: more than chance would gain, but too little to matter"

    def __str__(self) -> str:
        return self.words


def calibration_test(
    y: Any,
    log_posterior: Any,
    *,
    method: str = "temperature",
    priors: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> CalibrationTest:
    """Test on held-out rows whether posteriors are calibrated.

    The recalibration of Cox (1958) as a likelihood-ratio test: if the posteriors are calibrated, twice the
    log likelihood that `method`, "temperature" or "vector" scaling, gains is distributed as χ² with one
    degree of freedom for each of its parameters. `priors` are the class priors in the posteriors, where a
    temperature is to leave them as they are. The other parameters are those of `log_loss`.

    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(size=2000)
    >>> y = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int)
    >>> too_sure = np.stack([-np.log1p(np.exp(2 * odds)), -np.log1p(np.exp(-2 * odds))], axis=1)
    >>> print(calibration_test(y, too_sure))
    held-out rows say that the posteriors are too sure of themselves: temperature 2, log loss 0.651, 0.598
    after scaling (p < 0.001: chance alone would not gain as much)
    """
    if method not in TESTED:
        raise ValueError(f"method must be one of {sorted(TESTED)}, found {method!r}")
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the result says it
        scaling = TESTED[method](logs, codes, priors=priors, sample_weight=weight)
    scaling = replace(scaling, classes=tuple(class_names(classes, logs.shape[1])))
    possible = np.isfinite(logs[np.arange(len(codes)), codes])
    share = float(weight[~possible].sum() / weight.sum())
    if not possible.any():
        return CalibrationTest(0.0, 0, 1.0, scaling, np.inf, 0.0, share)
    logs, codes, weight = logs[possible], codes[possible], weight[possible]
    before = log_loss(codes, logs, sample_weight=weight)
    gain = max(before - log_loss(codes, scaling.apply(logs), sample_weight=weight), 0.0)
    statistic = 2 * float(weight.sum()) * gain
    p_value = float(chi2.sf(statistic, scaling.n_free)) if scaling.n_free else 1.0
    return CalibrationTest(statistic, scaling.n_free, p_value, scaling, before, gain, share)
