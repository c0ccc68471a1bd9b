"""Learning curves: how the loss on unseen rows falls with the number of rows learnt from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from posterior._text import aligned
from posterior._types import DataFrame, Floats, Progress
from posterior.comparison.crossover import Crossover, find_crossover
from posterior.comparison.experiments import CollectedWarnings, Scores, margin, scores_of, spread
from posterior.comparison.fixed_candidates import (
    Approach,
    FixedCandidate,
    chosen,
    learning_curve_candidates,
    pairs_to_compare,
)
from posterior.comparison.nested import checked_repeats, checked_share, checked_sizes, nested_split
from posterior.comparison.printing import as_json, loss_text, with_error
from posterior.estimators.held_out import GrowingFit
from posterior.estimators.parameters import Classifier, Kinds, Labels, Numbers, TableLike
from posterior.estimators.target import labelled_table
from posterior.schema import LabelledTable
from posterior.schema.decode import table_of

Metric: TypeAlias = Literal["log_loss", "error_rate"]
METRICS: tuple[Metric, ...] = ("log_loss", "error_rate")


@dataclass(frozen=True, eq=False)
class Curve:
    """One model's losses on rows held out, (n_sizes, n_repeats), by the number of rows learnt from."""

    name: str
    title: str
    approach: Approach
    sizes: tuple[int, ...]
    log_losses: Floats
    error_rates: Floats

    @cached_property
    def log_loss(self) -> Floats:
        """Mean log loss at each size, in nats; NaN for a model without probabilities."""
        return spread(self.log_losses)[0]

    @cached_property
    def log_loss_se(self) -> Floats:
        """Standard error of `log_loss` over the repeats."""
        return spread(self.log_losses)[1]

    @cached_property
    def error_rate(self) -> Floats:
        """Mean share of rows put in the wrong class at each size."""
        return spread(self.error_rates)[0]

    @cached_property
    def error_rate_se(self) -> Floats:
        """Standard error of `error_rate` over the repeats."""
        return spread(self.error_rates)[1]

    def repeated(self, metric: Metric) -> Floats:
        """The losses of every repeat, (n_sizes, n_repeats)."""
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(map(repr, METRICS))}, found {metric!r}")
        return self.log_losses if metric == "log_loss" else self.error_rates


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Learning curves: held-out losses of several models by the number of training rows, and their crossings.

    In each repeat some rows are held out, and the others are learnt from in growing numbers: the same rows
    for every model, each size holding the rows of the sizes before. Standard errors are over repeats, which
    all draw from one table; differences are paired, repeat by repeat.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> curves = LearningCurve.of(penguins.X, penguins.y, sizes=[20, 200], repeats=3)
    >>> [curve.name for curve in curves.curves]
    ['tied-naive-bayes', 'lda', 'logistic', 'ridge-logistic']
    >>> bool((curves["lda"].log_loss[1] < curves["lda"].log_loss[0]).all())
    True
    """

    curves: tuple[Curve, ...]
    sizes: tuple[int, ...]
    repeats: int
    n_test: int
    seed: int
    pairs: tuple[tuple[str, str], ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    container: str = "numpy"

    @classmethod
    def of(  # noqa: PLR0913 -- each is something that a user may want to say
        cls,
        X: TableLike,
        y: Labels | None,
        *,
        models: Mapping[str, Classifier] | None = None,
        sizes: Numbers | None = None,
        repeats: int = 10,
        test_size: float = 0.3,
        kinds: Kinds | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Measure the curves of a table.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers, categories and gaps as they are.
        y : array-like of shape (n_samples,)
            The class of each row.
        models : mapping from names to estimators, default=None
            What to compare. None takes models of one form that differ in how they are estimated (Ng & Jordan,
            2002): naive Bayes with variances tied over the classes and LDA, which fit p(row | class), against
            logistic or softmax regression, which fits p(class | row), by maximum likelihood (with a penalty
            too weak to show, C = 1e6, unless classes are separated and there is no maximum) and with a ridge
            (C = 1, in units of the columns' standard deviations). Columns that are not continuous are
            independent given the class in LDA too.
        sizes : sequence of int, default=None
            Numbers of rows to learn from; None doubles them, about, from 10 to all that are not held out.
        repeats : int, default=10
            How often rows are drawn anew.
        test_size : float, default=0.3
            Share of each class that is held out; two rows of each class at least are learnt from.
        kinds : mapping, default=None
            Kinds of columns that differ from what would be inferred.
        seed : int, default=0
            The same seed draws the same rows.
        progress : callable, default=None
            Called as `progress(done, total, what)`.

        Returns
        -------
        curves : LearningCurve
            The losses; print it.

        """
        rows = labelled_table(X, y, who=cls.__name__, kinds=kinds)
        share, n_repeats = checked_share(test_size), checked_repeats(repeats)
        candidates, left_out = chosen(models, rows, learning_curve_candidates)
        splits = [nested_split(rows.codes, share, np.random.default_rng([seed, r])) for r in range(n_repeats)]
        order, test = splits[0]
        tried = checked_sizes(sizes, len(order), len(rows.classes))
        notices, results = CollectedWarnings(), np.full((len(candidates), len(tried), n_repeats, 2), np.nan)
        for r, (order, test) in enumerate(splits):
            held_out = rows.part(test)
            for m, candidate in enumerate(candidates):
                if progress is not None:
                    progress(r * len(candidates) + m, n_repeats * len(candidates), candidate.title)
                growing = GrowingFit(candidate.estimator, rows, order)
                for s, n in enumerate(tried):
                    results[m, s, r] = _scored(candidate, growing, n, notices, held_out)
        if progress is not None:
            progress(n_repeats * len(candidates), n_repeats * len(candidates), "done")
        for candidate, errors in zip(candidates, results[..., 1], strict=True):
            notices.refuse_failure(candidate, errors)
        curves = tuple(
            Curve(c.name, c.title, c.approach, tried, results[m, ..., 0], results[m, ..., 1])
            for m, c in enumerate(candidates)
        )
        pairs = pairs_to_compare(candidates)
        container = rows.schema.container
        return cls(curves, tried, n_repeats, len(test), seed, pairs, left_out, notices.told, container)

    def __getitem__(self, name: str) -> Curve:
        """The curve of a model."""
        for curve in self.curves:
            if curve.name == name:
                return curve
        raise KeyError(f"no model is called {name!r}; there are {', '.join(c.name for c in self.curves)}")

    def difference(self, first: str, second: str, metric: Metric = "log_loss") -> tuple[Floats, Floats]:
        """Mean loss of the first model less that of the second at each size, and its paired error."""
        return spread(self._differences(first, second, metric))

    def crossover(self, first: str, second: str, metric: Metric = "log_loss") -> Crossover | None:
        """Where one of two models overtakes the other for good; None where the better was never behind."""
        return find_crossover(self.sizes, self._differences(first, second, metric), (first, second))

    @property
    def crossovers(self) -> dict[tuple[str, str], Crossover | None]:
        """The crossover, in log loss, of every pair of models that learn in different ways."""
        return {pair: self.crossover(*pair) for pair in self.pairs}

    def _differences(self, first: str, second: str, metric: Metric) -> Floats:
        with np.errstate(invalid="ignore"):  # where both are infinite
            return self[first].repeated(metric) - self[second].repeated(metric)

    @property
    def frame(self) -> DataFrame:
        """A data frame with a row for each model and size."""
        columns: dict[str, Any] = {
            "model": [curve.name for curve in self.curves for _ in self.sizes],
            "approach": [curve.approach for curve in self.curves for _ in self.sizes],
            "rows": [n for _ in self.curves for n in self.sizes],
        }
        for name in ("log_loss", "log_loss_se", "error_rate", "error_rate_se"):
            columns[name] = np.concatenate([getattr(curve, name) for curve in self.curves])
        return table_of(columns, self.container)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain numbers and strings, for JSON; what is not finite is None."""
        curves = [
            {"name": c.name, "title": c.title, "approach": c.approach}
            | {name: as_json(getattr(c, name)) for name in ("log_loss", "log_loss_se")}
            | {name: as_json(getattr(c, name)) for name in ("error_rate", "error_rate_se")}
            for c in self.curves
        ]
        crossings = [
            {"models": [a, b], "metric": metric, "crossover": None if found is None else vars(found)}
            for a, b in self.pairs
            for metric in METRICS
            for found in [self.crossover(a, b, metric)]
        ]
        return {
            "sizes": list(self.sizes),
            "repeats": self.repeats,
            "test_rows": self.n_test,
            "seed": self.seed,
            "curves": curves,
            "crossovers": crossings,
            "findings": list(self.findings),
            "left_out": dict(self.left_out),
            "notices": list(self.notices),
        }

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence for each pair of models that learn in different ways."""
        return tuple(self._sentence(*pair) for pair in self.pairs)

    def _sentence(self, first: str, second: str) -> str:
        by_errors = self.crossover(first, second, "error_rate")
        if np.isnan(self._differences(first, second, "log_loss")).all():  # one has no probabilities
            return self._passing(by_errors) if by_errors else self._ahead(first, second, "error_rate")
        by_loss = self.crossover(first, second)
        told = self._passing(by_loss) if by_loss else self._ahead(first, second, "log_loss")
        if by_errors is None or not by_errors.is_clear:
            return told
        return f"{told} By error rate {self[by_errors.late].title} overtakes at about {by_errors.rows:,.0f}."

    def _passing(self, found: Crossover) -> str:
        until = f" (clearly up to {found.clear_until:,})" if found.clear_until else ""
        since = f" (clearly from {found.clear_from:,})" if found.clear_from else ""
        early, late = self[found.early].title, self[found.late].title
        if found.late_before:
            return (
                f"{late} is better from about {found.rows:,.0f} rows on{since}; below that the curves cross "
                f"more than once: {early} is ahead at {_listed(found.early_at)} rows, {late} at "
                f"{_listed(found.late_before)}."
            )
        return f"{early} is better up to about {found.rows:,.0f} rows{until}, {late} from there on{since}."

    def _ahead(self, first: str, second: str, metric: Metric) -> str:
        means, errors = self.difference(first, second, metric)
        mean, error, n = float(means[-1]), float(errors[-1]), self.sizes[-1]
        if np.isnan(mean):
            return f"{self[first].title} and {self[second].title} cannot be compared at {n:,} rows."
        if mean == 0:
            return f"{self[first].title} and {self[second].title} do not differ at {n:,} rows."
        better, other = (second, first) if mean > 0 else (first, second)
        by = loss_text(abs(mean)) + ("" if np.isnan(error) else f" ± {loss_text(error)}")
        chance = ", which may be chance" if abs(mean) <= margin(error, self.repeats) else ""
        titles = f"{self[better].title} is better than {self[other].title}"
        if (means * mean > 0).all():
            return f"{titles} at every size that was tried, by {by} at {n:,} rows{chance}."
        return f"{titles} by {by} at {n:,} rows{chance}, and behind at no size that was tried."

    def __str__(self) -> str:
        head = ["rows", *(curve.title for curve in self.curves)]
        body = [
            [f"{n:,}", *(with_error(c.log_loss[s], c.log_loss_se[s], c.error_rate[s]) for c in self.curves)]
            for s, n in enumerate(self.sizes)
        ]
        title = (
            f"log loss ± standard error (error rate) on {self.n_test:,} rows held out, {self.repeats} repeats"
        )
        left_out = [f"{name} left out: {reason}" for name, reason in self.left_out.items()]
        return "\n".join([title, "", *aligned([head, *body], left=0), "", *self.findings, *left_out])


def _listed(sizes: Sequence[int]) -> str:
    """Numbers of rows in words: "10, 20 and 40"."""
    *first, last = (f"{n:,}" for n in sizes)
    return f"{', '.join(first)} and {last}" if first else last


def _scored(
    candidate: FixedCandidate,
    growing: GrowingFit,
    n: int,
    notices: CollectedWarnings,
    held_out: LabelledTable,
) -> Scores:
    """Scores of the model of the first n rows; NaN where it could not be fitted."""
    return notices.quietly(
        candidate.name, f"{n} rows", lambda: scores_of(growing.up_to(n), held_out), Scores()
    )
