"""What was found of one regression."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._loading import load_module
from posterior._text import readable
from posterior._types import Floats, Ints
from posterior.comparison.measures import Mean, clustered
from posterior.comparison.regression.models import FittedNumbers

# The share of the numbers that an interval is to hold.
LEVEL = 0.9


def distribution_of(noise: str, middle: Floats, scale: Floats | float) -> Any:
    """What numbers about their middle may be: of `scipy.stats`, normal or Laplace."""
    stats = load_module("scipy.stats")  # takes a while to import
    return {"normal": stats.norm, "laplace": stats.laplace}[noise](loc=middle, scale=scale)


@dataclass(frozen=True, eq=False)
class HeldOutNumbers:
    """What models that had not seen the rows say of them, (n,): the middle and the spread of each number."""

    middle: Floats
    scale: Floats
    noise: str

    @classmethod
    def empty(cls, n_rows: int, noise: str) -> "HeldOutNumbers":
        """Nothing said yet."""
        return cls(np.full(n_rows, np.nan), np.full(n_rows, np.nan), noise)

    def put(self, rows: Ints, said: FittedNumbers) -> None:
        """Take over what is said of some rows."""
        self.middle[rows], self.scale[rows] = said.middle, said.scale

    def losses(self, y: Floats) -> Floats:
        """Minus the log density of each number."""
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = -distribution_of(self.noise, self.middle, self.scale).logpdf(y)
        return np.asarray(
            np.where(self.scale > 0, loss, np.inf)
        )  # a model without noise is sure, and never right

    def inside(self, y: Floats) -> Floats:
        """1 where a number is in its interval, else 0."""
        half = distribution_of(self.noise, np.zeros(len(y)), self.scale).ppf((1 + LEVEL) / 2)
        return np.asarray(np.abs(y - self.middle) <= half, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """A regression's measures on rows that it had not seen.

    `log_score` is the mean of minus the log density of the numbers, in nats; `r_squared` the share of the
    squared error of the mean that it removes, `absolute_error` the mean of |number − prediction|,
    `root_mean_squared_error` the root of that of squares, `coverage` the share of the numbers in their 90 %
    intervals, which are `interval_width` wide on average. By row: `losses` and `predicted`, means over
    repeats.
    """

    name: str
    title: str
    about: str
    log_score: float
    log_score_se: float
    r_squared: float
    absolute_error: float
    absolute_error_se: float
    root_mean_squared_error: float
    coverage: float
    interval_width: float
    fit_seconds: float
    losses: Floats = field(repr=False)
    predicted: Floats = field(repr=False)
    estimator: Any = field(repr=False)

    @property
    def absolute_error_text(self) -> str:
        """The absolute error and its standard error in plain numbers, both to the same place."""
        error = readable(self.absolute_error_se, 2)
        places = len(error.partition(".")[2])
        plain = "e" not in error and self.absolute_error < 1e12
        value = f"{self.absolute_error:,.{places}f}" if plain else readable(self.absolute_error, 4)
        return f"{value} ± {error}"

    @classmethod
    def of(
        cls, found: list[HeldOutNumbers], y: Floats, mean_squares: float, groups: Ints | None, **about: Any
    ) -> "RegressionResult":
        """The result of what was said in each repeat; `mean_squares` is the squared error of the mean."""
        losses = np.mean([each.losses(y) for each in found], axis=0)
        absolute = np.mean([np.abs(y - each.middle) for each in found], axis=0)
        squares = float(np.mean([(y - each.middle) ** 2 for each in found]))
        widths = [
            2 * distribution_of(each.noise, np.zeros(len(y)), each.scale).ppf((1 + LEVEL) / 2)
            for each in found
        ]
        score, error = Mean.of(clustered(losses, groups)), Mean.of(clustered(absolute, groups))
        return cls(
            log_score=score.value,
            log_score_se=score.error,
            r_squared=1 - squares / mean_squares,
            absolute_error=error.value,
            absolute_error_se=error.error,
            root_mean_squared_error=squares**0.5,
            coverage=float(np.mean([each.inside(y) for each in found])),
            interval_width=float(np.mean(widths)),
            losses=losses,
            predicted=np.mean([each.middle for each in found], axis=0),
            **about,
        )
