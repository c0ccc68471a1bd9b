"""What becomes of models when the rows they learn from are corrupted, or few."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from posterior._text import aligned
from posterior._types import DataFrame, Floats, Progress
from posterior.comparison.corruption import MEANING, Corruption, DrawnCorruption, corruptions_of
from posterior.comparison.experiments import CollectedWarnings, margin, scores_of, spread
from posterior.comparison.fixed_candidates import (
    FixedCandidate,
    chosen,
    n_parameters_of,
    robustness_candidates,
)
from posterior.comparison.nested import checked_repeats, checked_share, nested_split
from posterior.comparison.printing import as_json, loss_text
from posterior.estimators.parameters import Classifier, Kinds, Labels, Numbers, TableLike
from posterior.estimators.table_estimator import fit_table
from posterior.estimators.target import labelled_table
from posterior.schema import LabelledTable
from posterior.schema.decode import table_of

NAN = float("nan")


class TrialScores(NamedTuple):
    """One fit: losses on clean rows held out and on the rows learnt from, and parameters."""

    log_loss: float = NAN
    error_rate: float = NAN
    train_log_loss: float = NAN
    n_parameters: float = NAN


@dataclass(frozen=True, eq=False)
class Robustness:
    """Robustness of models: train on corrupted rows, test on clean rows.

    `trials` (n_corruptions, n_models, n_repeats, 4) holds the log loss and error rate on rows held out, the
    log loss on the rows learnt from, and the number of parameters. Every model meets the same rows, and
    corruption of 5 % includes that of 1 %, so that differences are paired, repeat by repeat.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> found = Robustness.of(penguins.X, penguins.y, outliers=0.1, flipped=None, few=None, repeats=2)
    >>> found.names
    ('qda', 'lda', 'naive-bayes', 'tied-naive-bayes', 'logistic', 'ridge-logistic', 'least-squares')
    >>> [str(corruption) for corruption in found.corruptions]
    ['as it is', '10 % outliers', '10 % far']
    """

    candidates: tuple[FixedCandidate, ...]
    corruptions: tuple[Corruption, ...]
    trials: Floats
    distance: float
    n_train: int
    n_test: int
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    container: str = "numpy"

    @classmethod
    def of(  # noqa: PLR0913 -- each is something that a user may want to say
        cls,
        X: TableLike,
        y: Labels,
        *,
        models: Mapping[str, Classifier] | None = None,
        outliers: Numbers | float = (0.01, 0.1),
        flipped: Numbers | float = (0.05, 0.2),
        few: Numbers | float = (0.1,),
        distance: float = 10.0,
        repeats: int = 10,
        test_size: float = 0.3,
        kinds: Kinds | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Corruption the rows of a table that models learn from, and test them on the others.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers, categories and gaps as they are.
        y : array-like of shape (n_samples,)
            The class of each row.
        models : mapping from names to estimators, default=None
            What to test. None takes QDA and its remedies (LDA: one covariance; naive Bayes: diagonal ones;
            tied naive Bayes: both), logistic regression by maximum likelihood and with a ridge, and least
            squares. Columns that are not continuous are independent given the class in QDA and LDA too.
        outliers : float or sequence of float, default=(0.01, 0.1)
            Shares of the rows to move far out: in any direction ("outliers"), and away from the other
            classes, to the right side of every sensible boundary ("far").
        flipped : float or sequence of float, default=(0.05, 0.2)
            Shares of the rows whose label is changed to that of another class, at random.
        few : float or sequence of float, default=(0.1,)
            Shares of the rows to learn from instead of all; two of each class at least.
        distance : float, default=10.0
            How far to move rows, in standard deviations within classes, over all continuous columns.
        repeats : int, default=10
            How often rows are drawn anew.
        test_size : float, default=0.3
            Share of each class that is held out, and stays as it is.
        kinds : mapping, default=None
            Kinds of columns that differ from what would be inferred.
        seed : int, default=0
            The same seed draws the same rows and the same corruption.
        progress : callable, default=None
            Called as `progress(done, total, what)`.

        Returns
        -------
        robustness : Robustness
            The losses; print it.

        """
        rows = labelled_table(X, y, who=cls.__name__, kinds=kinds)
        share, n_repeats = checked_share(test_size), checked_repeats(repeats)
        corruptions = corruptions_of(outliers=outliers, far=outliers, flipped=flipped, few=few)
        if not np.isfinite(distance):
            raise ValueError(f"distance must be a finite number of standard deviations, found {distance!r}")
        candidates, left_out = chosen(models, rows, robustness_candidates)
        if rows.is_sparse or not rows.where("continuous"):
            corruptions = tuple(d for d in corruptions if d.kind not in ("outliers", "far"))
            left_out["outliers"] = "there is no continuous column to move, or the table is sparse"
        notices, total = CollectedWarnings(), n_repeats * len(corruptions)
        trials = np.full((len(corruptions), len(candidates), n_repeats, len(TrialScores._fields)), np.nan)
        for r in range(n_repeats):
            rng = np.random.default_rng([seed, r])
            order, test = nested_split(rows.codes, share, rng)
            held_out, drawn_corruption = (
                rows.part(test),
                DrawnCorruption.drawn(rows.part(order), distance, rng),
            )
            for i, corruption in enumerate(corruptions):
                if progress is not None:
                    progress(r * len(corruptions) + i, total, str(corruption))
                train = drawn_corruption.of(corruption)
                for m, c in enumerate(candidates):
                    attempt = partial(_scored, c, train, held_out)
                    trials[i, m, r] = notices.quietly(c.name, str(corruption), attempt, TrialScores())
        if progress is not None:
            progress(total, total, "done")
        for m, c in enumerate(candidates):
            notices.refuse_failure(c, trials[:, m, :, 1])
        container = rows.schema.container
        return cls(
            candidates,
            corruptions,
            trials,
            distance,
            len(order),
            len(test),
            seed,
            left_out,
            notices.told,
            container,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return tuple(c.name for c in self.candidates)

    @property
    def repeats(self) -> int:
        """How often rows were drawn anew."""
        return int(self.trials.shape[2])

    @property
    def log_loss(self) -> Floats:
        """Mean log loss on rows held out, (n_corruptions, n_models)."""
        return spread(self.trials[..., 0])[0]

    @property
    def error_rate(self) -> Floats:
        """Mean share of rows held out that were put in the wrong class, (n_corruptions, n_models)."""
        return spread(self.trials[..., 1])[0]

    @property
    def gap(self) -> Floats:
        """Overfitting, (n_corruptions, n_models): log loss on rows held out less that on training rows."""
        return spread(self.trials[..., 0] - self.trials[..., 2])[0]

    @property
    def n_parameters(self) -> Floats:
        """Free parameters of each model of the clean rows; NaN where they cannot be counted."""
        return np.asarray(self.trials[0, :, 0, 3])

    def rise(self, metric: str = "error_rate") -> tuple[Floats, Floats]:
        """Rise of the loss above that of clean rows, and its paired error, (n_corruptions, n_models)."""
        losses = self.trials[..., ("log_loss", "error_rate").index(metric)]
        with np.errstate(invalid="ignore"):  # where both are infinite
            return spread(losses - losses[:1])

    @property
    def frame(self) -> DataFrame:
        """A data frame with a row for each corruption and model."""
        k = len(self.candidates)
        columns: dict[str, Any] = {
            "corruption": [d.kind for d in self.corruptions for _ in range(k)],
            "amount": [d.amount for d in self.corruptions for _ in range(k)],
            "model": [name for _ in self.corruptions for name in self.names],
        }
        for j, metric in enumerate(("log_loss", "error_rate")):
            columns[metric], columns[f"{metric}_se"] = (v.ravel() for v in spread(self.trials[..., j]))
            columns[f"{metric}_rise"], columns[f"{metric}_rise_se"] = (v.ravel() for v in self.rise(metric))
        columns["train_log_loss"] = spread(self.trials[..., 2])[0].ravel()
        columns["gap"] = self.gap.ravel()
        columns["n_parameters"] = self.trials[:, :, 0, 3].ravel()
        return table_of(columns, self.container)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain numbers and strings, for JSON; what is not finite is None."""
        arrays = {"log_loss": self.log_loss, "error_rate": self.error_rate, "gap": self.gap}
        return {
            "models": list(self.names),
            "corruptions": [{"kind": d.kind, "amount": d.amount} for d in self.corruptions],
            "n_parameters": as_json(self.n_parameters),
            **{name: [as_json(row) for row in values] for name, values in arrays.items()},
            "findings": list(self.findings),
            "left_out": dict(self.left_out),
            "notices": list(self.notices),
        }

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence for the largest corruption of each kind: which models it hurts, and which least."""
        severe = {
            d.kind: i for i, d in sorted(enumerate(self.corruptions), key=lambda item: _severity(item[1]))
        }
        return tuple(self._finding(i) for i in sorted(severe.values()) if i)

    def _finding(self, i: int) -> str:
        rise, error = (values[i] for values in self.rise("error_rate"))
        hurt = np.flatnonzero(rise > margin(error, self.repeats)).tolist()
        if not hurt:
            return f"{self.corruptions[i]}: the error rate of no model rises by more than chance."
        rates, best = 100 * self.error_rate, int(np.nanargmin(rise))
        named = ", ".join(
            f"{self.candidates[m].title} ({rates[0, m]:.1f} to {rates[i, m]:.1f} %)"
            for m in sorted(hurt, key=lambda m: -rise[m])
        )
        by = f"{100 * rise[best]:+.1f} ± {100 * error[best]:.1f} points"
        least = "" if best in hurt else f"; least for {self.candidates[best].title} ({by})"
        return f"{self.corruptions[i]}: the error rate rises by more than chance for {named}{least}."

    def __str__(self) -> str:
        rates, errors = 100 * self.error_rate, self.rise("error_rate")
        losses, changes = self.log_loss, self.rise("log_loss")
        kinds = [kind for kind in MEANING if any(d.kind == kind for d in self.corruptions)]
        few = [i for i, d in enumerate(self.corruptions) if d.kind in ("none", "few")]
        gaps = [["overfitting", "parameters", *(str(self.corruptions[i]) for i in few)]]
        gaps += [
            [c.title, _count(self.n_parameters[m]), *(loss_text(self.gap[i, m]) for i in few)]
            for m, c in enumerate(self.candidates)
        ]
        return "\n".join(
            [
                f"Learnt from {self.n_train:,} rows, tested on {self.n_test:,} clean ones, "
                f"{self.repeats} repeats; * changed by more than chance (95 %, paired)",
                *(f"  {kind}: {MEANING[kind].format(distance=self.distance)}" for kind in kinds),
                "",
                *aligned(self._table("error rate, %", lambda i, m: f"{rates[i, m]:.1f}", errors)),
                "",
                *aligned(self._table("log loss", lambda i, m: loss_text(losses[i, m]), changes)),
                "",
                *aligned(gaps),
                "  overfitting: log loss on rows held out less that on the rows learnt from",
                "",
                *self.findings,
                *(f"{name} left out: {reason}" for name, reason in self.left_out.items()),
            ]
        )

    def _table(
        self, head: str, text: Callable[[int, int], str], rise: tuple[Floats, Floats]
    ) -> list[list[str]]:
        changed = np.abs(rise[0]) > margin(rise[1], self.repeats)
        rows = [[head, *map(str, self.corruptions)]]
        for m, candidate in enumerate(self.candidates):
            cells = [text(i, m) + ("*" if changed[i, m] else " ") for i in range(len(self.corruptions))]
            rows.append([candidate.title, *cells])
        return rows


def _severity(corruption: Corruption) -> float:
    return -corruption.amount if corruption.kind == "few" else corruption.amount


def _count(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.0f}"


def _scored(candidate: FixedCandidate, train: LabelledTable, test: LabelledTable) -> TrialScores:
    """Fit a model to some rows and score it on others."""
    model = fit_table(candidate.fresh(), train)
    log_loss, error_rate = scores_of(model, test)
    on_train = scores_of(model, train).log_loss
    return TrialScores(log_loss, error_rate, on_train, n_parameters_of(model))
