"""True classes against what was said, as a picture: counts, and shares of each true class."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._types import Bools, Floats
from posterior.decision import ConfusionTable, confusion_table, decide
from posterior.decision.posteriors import class_names
from posterior.estimators.classifiers import classes_of
from posterior.plot.captions import label, write_title
from posterior.plot.display import Display, drawing, read_posteriors
from posterior.plot.style import COLOURS, FAINT, INK, WIDTH

# Up to so many columns there is room for shares under the counts, and for counts at all.
ROOMY, CROWDED = 8, 30
# The grey of a cell without rows, so that the table keeps its lines.
EMPTY = 0.965


@dataclass(eq=False)
class ConfusionDisplay(Display):
    """Confusion matrix: number of rows by true and predicted class, and their share of the true class.

    A row is a true class, and its shares sum to one; right answers are blue and wrong ones orange, the
    darker the larger the share. With rejecting or actions that are no classes there are more columns than
    rows, and nothing in these is right or wrong: they are grey.

    >>> import matplotlib.pyplot as plt
    >>> said = ["cat", "dog", "dog", "dog"]
    >>> display = ConfusionDisplay.from_predictions(["cat", "cat", "dog", "dog"], said).plot()
    >>> display.table.counts.tolist(), display.shares.tolist()
    ([[1.0, 1.0], [0.0, 2.0]], [[0.5, 0.5], [0.0, 1.0]])
    >>> plt.close(display.figure_)
    """

    table: ConfusionTable

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """The picture for a fitted classifier on rows of known class that it has not seen."""
        classes = classes_of(estimator)
        actions = getattr(estimator, "actions_", classes)
        said = estimator.predict(X)
        return cls.from_predictions(y, said, classes=classes, actions=actions, sample_weight=sample_weight)

    @classmethod
    def from_predictions(
        cls, y: Any, said: Any, *, classes: Any = None, actions: Any = None, sample_weight: Any = None
    ) -> Self:
        """The picture for true classes y and what was said: labels, or posteriors (n, K) or their logs.

        Of posteriors the likeliest class is taken. `classes` and `actions` name the rows and columns;
        without them they are the labels that occur, or the codes 0 … K−1 of posteriors.
        """
        said = np.asarray(said)
        if said.ndim == 2:
            logs = read_posteriors(said)
            classes = class_names(classes, logs.shape[1])
            said = np.array(classes, dtype=object)[decide(logs)]
        if classes is None:
            classes = sorted({*np.asarray(y).tolist(), *said.tolist()})
        return cls(confusion_table(y, said, classes=classes, actions=actions, sample_weight=sample_weight))

    @property
    def shares(self) -> Floats:
        """Shares of each true class, (K, A); NaN for a class without rows."""
        counts = self.table.counts
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def plot(self, ax: Any = None) -> Self:
        """Draw a cell for each class and action, with the count and, where there is room, the share."""
        K, A = self.table.counts.shape
        room = 1.3 + min(0.45 * K, 5.0)
        with drawing(ax, figsize=(min(WIDTH, 2.2 + 0.75 * A) if A <= ROOMY else WIDTH, room)) as axes:
            axes.imshow(self._colours(), aspect="auto")
            for k in range(K):
                for a in range(A):
                    self._write_cell(axes, k, a)
            letters = 14 if A <= ROOMY else 10
            turned = (
                {"rotation": 90} if A > ROOMY and max(len(str(n)) for n in self.table.actions) > 3 else {}
            )
            axes.set_xticks(range(A), [label(name, letters) for name in self.table.actions], **turned)
            axes.set_yticks(range(K), [label(name) for name in self.table.classes])
            axes.tick_params(length=0)
            axes.set_xticks(np.arange(A + 1) - 0.5, minor=True)
            axes.set_yticks(np.arange(K + 1) - 0.5, minor=True)
            axes.grid(which="minor", color="white", linewidth=1.5 if A <= ROOMY else 0.5)
            axes.tick_params(which="minor", length=0)
            axes.spines[:].set_visible(False)
            axes.set(xlabel="said", ylabel="true class")
            write_title(axes, self._title())
        return self._drawn_on(axes)

    def _title(self) -> str:
        total, right = self.table.counts.sum(), self.table.counts[self._right].sum()
        answered = self.table.counts[:, self._is_class].sum()
        if not answered:
            return f"{total:,.10g} rows"
        others = f"; {total - answered:,.10g} with another action" if answered < total else ""
        return f"{right:,.10g} of {answered:,.10g} rows right ({100 * right / answered:.3g} %){others}"

    @property
    def _right(self) -> Bools:
        """Which cells are right answers, (K, A)."""
        return np.array([[name == done for done in self.table.actions] for name in self.table.classes])

    def _colours(self) -> Floats:
        """Colours of the cells, (K, A, 3); small shares are raised to be seen."""
        depth = 0.85 * np.sqrt(np.nan_to_num(self.shares))[..., None]
        wrong = np.where(self._is_class[:, None], _rgb(COLOURS[1]), _rgb(FAINT))
        full = np.where(self._right[..., None], _rgb(COLOURS[0]), wrong)
        return np.where(depth > 0, 1 - depth * (1 - full), EMPTY)

    @property
    def _is_class(self) -> Bools:
        """Which actions are answers, (A,)."""
        return np.array([done in self.table.classes for done in self.table.actions])

    def _write_cell(self, axes: Any, k: int, a: int) -> None:
        count, share, size = self.table.counts[k, a], self.shares[k, a], max(self.table.counts.shape)
        if not count or size > CROWDED:
            return
        dark = self._right[k, a] and share > 0.4
        words = f"{count:,.6g}" if size > ROOMY else f"{count:,.6g}\n{100 * share:.3g} %"
        fonts = 9.0 if size <= ROOMY else max(5.5, 9.5 - 0.2 * size)
        axes.text(a, k, words, ha="center", va="center", fontsize=fonts, color="white" if dark else INK)


def _rgb(colour: str) -> Floats:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
