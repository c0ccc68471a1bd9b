"""What the pictures of held-out posteriors share: how they read them, and where they draw."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from posterior._types import Floats
from posterior.decision import log_probabilities
from posterior.decision.posteriors import checked
from posterior.estimators.classifiers import classes_of, log_posterior_of
from posterior.math import NOT_ONE
from posterior.plot.style import our_style, pyplot


class Display(ABC):
    """A picture: `plot` draws it on `ax_`, which is in `figure_`."""

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on a figure of its own."""

    def _drawn_on(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class PosteriorDisplay(Display):
    """A picture of posteriors and true classes; the rows should be such as the model has not seen."""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> Self:
        """The picture for a fitted classifier, ours or not, on rows of known class.

        Settings are those of `from_predictions`.
        """
        settings = {"classes": classes_of(estimator)} | settings
        return cls.from_predictions(y, log_posterior_of(estimator, X), **settings)

    @classmethod
    @abstractmethod
    def from_predictions(cls, *args: Any, **settings: Any) -> Self:
        """The picture for true classes and posteriors, or their logs, (n, K)."""


def read_posteriors(posterior: Any) -> Floats:
    """Log posteriors (n, K) from posteriors or from their logs, whichever they are.

    They cannot be mistaken: posteriors of a row sum to one, and no log of one is above zero.

    >>> read_posteriors([[0.25, 0.75]]), read_posteriors(np.log([[0.25, 0.75]]))
    (array([[-1.38629436, -0.28768207]]), array([[-1.38629436, -0.28768207]]))
    """
    values = np.asarray(posterior)
    numbers = values.dtype.kind in "fiub"
    return log_probabilities(values) if numbers and (values > NOT_ONE).any() else checked(values)


@contextmanager
def drawing(ax: Any = None, **figure: Any) -> Iterator[Any]:
    """Axes to draw on: those given, as they are, or new ones, with our settings until all is drawn."""
    if ax is not None:
        yield ax
        return
    with our_style():
        drawn, axes = pyplot().subplots(**figure)
        try:
            yield axes
        except BaseException:
            pyplot().close(drawn)  # nobody would have a hold on it
            raise
