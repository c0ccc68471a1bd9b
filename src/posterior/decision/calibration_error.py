"""The expected calibration error, with what it would be if the posteriors were calibrated."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._text import Printed
from posterior._types import Floats
from posterior.decision.bins import Binned, Events, bin_sums
from posterior.decision.posteriors import class_names
from posterior.decision.reliability import refuse_confidence
from posterior.decision.scores import scored_rows

# Numbers that a block of draws may hold at a time (8 MiB).
BLOCK = 1 << 20
KINDS = {"top": Events.of_top, "classwise": Events.of_classes}


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationError(Printed):
    """Mean distance of observed frequencies from predicted probabilities, over bins.

    Even calibrated posteriors have an error above zero in a sample: `expected_if_calibrated` is its mean
    then, `quantile_if_calibrated` what it exceeds with probability 1 − confidence, and `p_value` the
    probability of one as large as this. `low` and `high` are a confidence interval of the error in the
    long run; as this is smaller than the error in a sample, the interval may lie below `value`. `by_class`
    holds the error of each class, of which the class-wise one is the mean.

    >>> right = np.log([[0.75, 0.25]] * 40)
    >>> error = calibration_error([0, 0, 0, 1] * 10, right)
    >>> error.value, error.p_value
    (0.0, 1.0)
    """

    value: float
    low: float
    high: float
    expected_if_calibrated: float
    quantile_if_calibrated: float
    p_value: float
    by_class: dict[Any, float]
    confidence: float

    def __str__(self) -> str:
        return (
            f"calibration error {self.value:.4f} ({100 * self.confidence:g} % interval {self.low:.4f} … "
            f"{self.high:.4f}); if calibrated {self.expected_if_calibrated:.4f} on average, up to "
            f"{self.quantile_if_calibrated:.4f} (p = {self.p_value:.2g})"
        )


def calibration_error(  # noqa: PLR0913  (each of these has been asked for)
    y: Any,
    log_posterior: Any,
    *,
    kind: str = "top",
    n_bins: int = 15,
    strategy: str = "uniform",
    classes: Any = None,
    sample_weight: Any = None,
    n_simulations: int = 500,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> CalibrationError:
    """Expected calibration error: mean over bins of |observed frequency − mean prediction|, by weight.

    For the most probable class ("top": Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017), or for each class
    against the others, and the mean of these ("classwise": Kull et al. 2019). In a sample it is above zero
    even if the posteriors are calibrated, the more so the more bins: compare it with
    `expected_if_calibrated`, from labels drawn from the posteriors (Vaicenavicius et al. 2019). The interval
    allows for that bias: it holds the multiples λ of the deviations found in the bins under which an error
    as large, and one as small, is not too rare (a bootstrap of inverted tests: Carpenter 1999). It is about
    the error in these bins, which are held fixed, and takes it to be spread over them: of an error in few of
    many bins it covers less often than it says (80 to 90 times in 100), lying too high.

    Parameters
    ----------
    y : array of shape (n,)
        True classes: codes 0 … K−1, or labels where `classes` names them.
    log_posterior : array of shape (n, K)
        Log posteriors.
    kind : {"top", "classwise"}, default="top"
        Which probabilities are looked at.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        As in `reliability_curve`; uniform is what published numbers use.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns.
    sample_weight : array of shape (n,), default=None
        Weight 2 is the row twice, weight 0 the row not at all.
    n_simulations : int, default=500
        Number of bootstrap samples, and of draws of calibrated labels; 0 for none, and NaN in their place.
    confidence : float, default=0.95
        Of the interval and of `quantile_if_calibrated`.
    random_state : int or numpy Generator, default=0
        Where random numbers come from.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> y = (rng.random(500) < p).astype(int)
    >>> print(calibration_error(y, np.log(np.stack([1 - p, p], axis=1))))
    calibration error 0.0336 (95 % interval 0.0000 … 0.0439); if calibrated 0.0393 on average, up to 0.0592
    (p = 0.68)

    """
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    refuse_confidence(confidence)
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {list(KINDS)}, found {kind!r}")
    names = class_names(classes, logs.shape[1])
    binned = KINDS[kind](logs, codes, weight).binned(n_bins, strategy)
    surplus = binned.events.happened - binned.events.probability
    deviation = binned.sums(surplus) / weight.sum()
    by_column = np.abs(deviation).reshape(-1, binned.n_bins).sum(axis=1)
    value = float(by_column.mean())
    rng = np.random.default_rng(random_state)
    noise = _bootstrap(binned, surplus, n_simulations, rng) - deviation
    calibrated = _mean_errors(_calibrated(binned, n_simulations, rng), len(by_column))
    low, high = _interval(deviation, noise, confidence)
    return CalibrationError(
        value,
        low * value,
        high * value,
        float(calibrated.mean()) if n_simulations else np.nan,
        float(np.quantile(calibrated, confidence)) if n_simulations else np.nan,
        # As large but for rounding counts as large.
        float((1 + (calibrated >= value - 1e-12).sum()) / (1 + n_simulations)) if n_simulations else np.nan,
        dict(zip(names, by_column.tolist(), strict=True)) if kind == "classwise" else {},
        confidence,
    )


def _mean_errors(deviation: Floats, n_columns: int) -> Floats:
    """Errors from the deviations of bins (draws, places): summed over bins, averaged over columns."""
    return np.asarray(np.abs(deviation).sum(axis=1) / n_columns)


def _interval(deviation: Floats, noise: Floats, confidence: float) -> tuple[float, float]:
    """Multiples of the deviations under which, with the noise, an error as found is not in a tail."""
    found = np.abs(deviation).sum()
    if not len(noise):
        return np.nan, np.nan
    if not found > 0:
        return 0.0, 0.0

    def exceeds(multiple: float) -> float:
        return float((np.abs(multiple * deviation + noise).sum(axis=1) >= found * (1 - 1e-12)).mean())

    def crossing(share: float) -> float:
        low, high = 0.0, float(1 + np.abs(noise).sum(axis=1).max() / found)
        if exceeds(low) >= share:
            return low
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if exceeds(middle) < share else (low, middle)
        return high

    # Posteriors that fit better than chance lets calibrated ones have an error of up to what was found.
    return crossing(0.5 - confidence / 2), crossing(0.5 + confidence / 2) or 1.0


def _bootstrap(binned: Binned, surplus: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Deviations of bins in resampled rows, (draws, places).

    How often a row is drawn is Poisson, which for many rows is the same as drawing n of n. Parts of a row,
    of a weight that is not a whole number, are drawn together.
    """
    weight, matrix = binned.events.weight, binned.matrix(surplus)
    whole, part = np.floor(weight), weight - np.floor(weight)
    size = max(BLOCK // len(weight), 1)
    draws = np.empty((n_draws, binned.n_places))
    for start in range(0, n_draws, size):
        shape = (min(size, n_draws - start), len(weight))
        counts = rng.poisson(whole, shape).astype(np.float64)
        if part.any():
            counts += part * rng.poisson(1.0, shape)
        total = np.maximum(
            counts.sum(axis=1), np.finfo(np.float64).tiny
        )  # a sample without a row deviates by 0
        draws[start : start + size] = (matrix @ counts.T).T / total[:, None]
    return draws


def _calibrated(binned: Binned, n_draws: int, rng: np.random.Generator) -> Floats:
    """Deviations of bins if the classes are drawn from the posteriors, (draws, places)."""
    events = binned.events
    weight, expected = events.weight, binned.sums(events.probability)
    whole, part = np.floor(weight), weight - np.floor(weight)
    # Rows drawn once, parts of rows, and the few that are repeated.
    single = np.concatenate([np.flatnonzero(whole == 1), np.flatnonzero(part)])
    mass = np.concatenate([np.ones((whole == 1).sum()), part[part > 0]])
    often = np.flatnonzero(whole > 1)
    shares = np.hstack([events.probability, np.maximum(1 - events.probability.sum(axis=1, keepdims=True), 0)])
    shares /= shares.sum(axis=1, keepdims=True)
    limits, place = np.cumsum(shares, axis=1)[single, :-1], binned.place[single]
    draws = np.empty((n_draws, binned.n_places))
    for i in range(n_draws):
        label = (limits <= rng.random((len(single), 1))).sum(axis=1)
        happened = np.flatnonzero(label < place.shape[1])
        draws[i] = bin_sums(place[happened, label[happened]], mass[happened], binned.n_places) - expected
        if len(often):
            counts = rng.multinomial(whole[often].astype(np.int64), shares[often])[:, :-1]
            draws[i] += bin_sums(binned.place[often].ravel(), counts.ravel(), binned.n_places)
    return np.asarray(draws / weight.sum())
