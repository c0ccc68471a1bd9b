"""Sections through a fitted classifier: one or two columns vary, and something is done about the others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.forms import QuadraticScores
from posterior.math import log_softmax
from posterior.schema import Schema

Score: TypeAlias = Callable[[Floats], Floats]
Values: TypeAlias = dict[int, Any]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is done at points of a section: positions in `labels`, the actions first.

    Behind them, where they are used, are the label of rows that go unanswered and that of outliers.
    """

    labels: tuple[Any, ...]
    n_actions: int
    codes: Callable[[Floats], Ints]


@dataclass(frozen=True, eq=False)
class Section:
    """Scores of points (n, c) of a few columns, (n, K): log posteriors up to a term of the point.

    Not so where the classifier has no posterior (`proper` is false): only the largest means something. A
    generative model has `log_density` and `log_prior`, whose sum is the score where columns have no weights;
    `quadratic` is the score as a form, where it is one. `others` says what became of the other columns. What
    a classifier decides may be something else than the most probable class: `decisions` are known of ours,
    and `remark` tells those who show the posterior alone.
    """

    columns: tuple[str, ...]
    classes: AnyArray
    score: Score
    others: str = ""
    log_density: Score | None = None
    log_prior: Floats | None = None
    quadratic: QuadraticScores | None = None
    proper: bool = True
    decisions: Decisions | None = None
    remark: str = ""

    @property
    def told(self) -> str:
        """What is said of a picture of the posterior."""
        return "; ".join(filter(None, [self.others, self.remark]))

    def log_posterior(self, points: Floats) -> Floats:
        """Log posteriors (n, K); where every class is impossible the priors, as in prediction."""
        scores = self.score(points)
        impossible = np.isneginf(scores.max(axis=1, keepdims=True))
        nothing = np.zeros(len(self.classes)) if self.log_prior is None else self.log_prior
        return log_softmax(np.where(impossible, nothing, scores), axis=1)


def table_of(schema: Schema, values: Values, n: int = 1) -> Any:
    """A table of the user's kind: values and codes by column, one or n of each; the rest is missing."""
    columns = []
    for j, column in enumerate(schema.columns):
        empty: Any = None if column.kind == "text" else -1 if column.size else np.nan
        value = values.get(j, empty)
        dtype = object if column.kind == "text" else None
        columns.append(np.broadcast_to(np.asarray(value, dtype=dtype), n))
    return schema.decode(columns)
