"""Regressions of a table on rows that they have not seen, and which of them to use."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from posterior._text import aligned, readable
from posterior._types import Bools, Floats, Ints, Progress
from posterior.comparison.choosing import best_of
from posterior.comparison.folds import deal
from posterior.comparison.measures import Mean, clustered, exceeds_noise
from posterior.comparison.regression.models import REGRESSIONS, Regression, regressions_named
from posterior.comparison.regression.result import LEVEL, HeldOutNumbers, RegressionResult
from posterior.comparison.regression.table import NumberTable, described_numbers, number_table, without_number
from posterior.comparison.sampling import MAX_ROWS, checked_max_rows, drawn_words, rows_to_compare
from posterior.notices import overheard
from posterior.schema import Folds, Schema

# A share of the variance that no honest column explains.
ALL_BUT = 0.9999


@dataclass(frozen=True, eq=False)
class RegressionComparison:
    """Regressions of a table by cross-validation, the best first by their log score, and which to use.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins().frame.dropna(subset="body_mass_g")
    >>> comparison = RegressionComparison.of(penguins, "body_mass_g", repeats=1)
    >>> [result.name for result in comparison.results][-1], round(comparison.recommended.r_squared, 2)
    ('mean', 0.87)
    """

    results: tuple[RegressionResult, ...]
    schema: Schema
    y: Floats = field(repr=False)
    rows: Ints = field(repr=False)
    groups: Ints | None = field(repr=False)
    n_rows: int
    folds: str
    seed: int
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(  # noqa: PLR0913  (each of these is a question that users ask)
        cls,
        X: Any,
        y: Any,
        *,
        models: Sequence[Any] | Mapping[str, Any] | None = None,
        folds: int | None = None,
        repeats: int | None = None,
        groups: Any = None,
        time: Any = None,
        kinds: Any = None,
        seed: int = 0,
        max_rows: int | None = MAX_ROWS,
        progress: Progress | None = None,
    ) -> Self:
        """Try regressions on held-out rows; the arguments are those of `Comparison.of`.

        `y` is the number of each row, or the name of the column that holds it; rows without one are left out.
        `models` are some of `REGRESSIONS`, by name, and `LinearRegression` with settings of your own, or
        `{"my name": LinearRegression(degree=2)}`.
        """
        chosen, most = regressions_named(models), checked_max_rows(max_rows)
        with overheard() as heard:
            table = number_table(X, y, groups=groups, time=time, kinds=kinds)
        told = [*filter(None, [without_number(table)]), *heard]
        schema, n_rows = table.schema, len(table)
        if (some := rows_to_compare(table.part_of, most, table.groups)) is not None:
            table = table.drawn(some)
        dealt = deal(
            table.part_of,
            folds=folds,
            repeats=repeats,
            groups=table.groups,
            time=table.time,
            seed=seed,
            evenly="small and large numbers in each",
        )
        trial, left_out = _Trial(table, dealt), dict[str, str]()
        found: list[RegressionResult] = []
        for done, regression in enumerate(chosen):
            if progress is not None:
                progress(done, len(chosen), regression.title)
            try:
                found.append(trial.result(regression))
            except (ValueError, np.linalg.LinAlgError) as error:
                left_out[regression.name] = f"it failed: {error}"
        if not found:
            raise ValueError(f"no regression could be tried on this table: {'; '.join(left_out.values())}")
        return cls(
            results=tuple(sorted(found, key=lambda result: result.log_score)),
            schema=schema,
            y=trial.y,
            rows=table.places[trial.scored],
            groups=trial.groups,
            n_rows=n_rows,
            folds=dealt[0].words + ("" if some is None else drawn_words(len(some), n_rows)),
            seed=seed,
            left_out=left_out,
            notes=(*dict.fromkeys(told), *_advice(found)),
        )

    @property
    def recommended(self) -> RegressionResult:
        """The best result."""
        return self.results[0]

    @cached_property
    def ties(self) -> tuple[RegressionResult, ...]:
        """The other results behind the best by no more than two standard errors of that."""
        return tuple(result for result in self.results[1:] if not exceeds_noise(self._behind(result)))

    def _behind(self, result: RegressionResult) -> Floats:
        with np.errstate(invalid="ignore"):
            return clustered(result.losses - self.recommended.losses, self.groups)

    @property
    def recommendation(self) -> str:
        """Which regression to use and why."""
        best = self.recommended
        if "mean" in {result.name for result in (best, *self.ties)}:
            return (
                "Nothing beats the mean of all rows by log score: these rows do not show that the columns "
                "say anything of the number; more rows or other columns are needed."
            )
        ties = [
            f"{r.title} (difference {readable(Mean.of(self._behind(r)).value, 2)})" for r in self.ties[:3]
        ]
        tied = f"; {' and '.join(ties)} {'ties' if len(ties) == 1 else 'tie'} with it" if ties else ""
        score = f"log score {best.log_score:.3f} ± {best.log_score_se:.3f} (lower is better)"
        inside = f"{100 * best.coverage:.0f} % of the numbers lie in their {100 * LEVEL:.0f} % intervals"
        only = (
            " By squared error the mean of all rows is no worse: the columns say nothing of where the number "
            "lies, and what is better is the shape of the noise."
        )
        return (
            f"Use {best.name} ({best.about}): off by {readable(best.absolute_error)} on average, "
            f"R² {best.r_squared:.3f}, {score}; {inside}{tied}.{only if best.r_squared <= 0 else ''}"
        )

    def __str__(self) -> str:
        heads = ["model", "log score ↓", "R²", "absolute error", "RMSE", f"in {100 * LEVEL:.0f} % interval"]
        lines = [
            [
                r.name,
                f"{r.log_score:.3f} ± {r.log_score_se:.3f}",
                f"{r.r_squared:.3f}",
                r.absolute_error_text,
                readable(r.root_mean_squared_error, 4),
                f"{100 * r.coverage:.1f} %",
            ]
            for r in self.results
        ]
        told = [f"not tried: {name} ({reason})" for name, reason in self.left_out.items()]
        told += [f"note: {note}" for note in self.notes]
        about = f"{described_numbers(self.y)}; {self.folds}"
        return "\n".join([about, *aligned([heads, *lines]), *told, "", self.recommendation])


def _advice(results: Sequence[RegressionResult]) -> list[str]:
    best = max(results, key=lambda result: result.r_squared)
    if best.r_squared < ALL_BUT:
        return []
    return [
        f"{best.title} predicts the number all but exactly (R² {best.r_squared:.6f}): make sure that no "
        "column is the number itself in other units, or is filled in only after it is known"
    ]


class _Trial:
    """The rows and folds on which all regressions are tried alike."""

    def __init__(self, table: NumberTable, dealt: tuple[Folds, ...]) -> None:
        self.table, self.dealt = table, dealt
        self.scored = dealt[0].predicted
        self.y = table.y[self.scored]
        self.groups = None if table.groups is None else table.groups[self.scored]

    @cached_property
    def mean_squares(self) -> float:
        """The mean squared error of the mean of the rows learnt from."""
        mean = REGRESSIONS["mean"]
        (said,) = self._said(mean, mean.estimators(self.table), self.dealt[0])
        return float(((self.y - said.middle) ** 2).mean())

    def result(self, regression: Regression) -> RegressionResult:
        """The result of a regression; of several strengths each fold has the best of the other folds."""
        estimators = regression.estimators(self.table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = [self._said(regression, estimators, folds) for folds in self.dealt]
            best = self._best(said[0], np.ones(len(self.y), np.bool_))
            start = time.perf_counter()
            fitted_to(estimators[best], self.table.design, self.table.y)
            seconds = time.perf_counter() - start
        return RegressionResult.of(
            [self._by_other_folds(found, folds) for found, folds in zip(said, self.dealt, strict=True)],
            self.y,
            self.mean_squares,
            self.groups,
            name=regression.name,
            title=regression.title,
            about=regression.about(self.table, estimators[best]),
            fit_seconds=seconds,
            estimator=estimators[best],
        )

    def _said(self, regression: Regression, estimators: Sequence[Any], folds: Folds) -> list[HeldOutNumbers]:
        """What each estimator says of the rows that are predicted, by models that have not seen them."""
        table = self.table
        found = [HeldOutNumbers.empty(len(table), regression.noise) for _ in estimators]
        for learnt, held_out in folds.parts():
            there, new = table.design.take(learnt), table.design.take(held_out)
            for estimator, said in zip(estimators, found, strict=True):
                fitted = fitted_to(estimator, there, table.y[learnt])
                said.put(held_out, regression.said(fitted, new))
        return [HeldOutNumbers(f.middle[self.scored], f.scale[self.scored], f.noise) for f in found]

    def _by_other_folds(self, found: Sequence[HeldOutNumbers], folds: Folds) -> HeldOutNumbers:
        """Each fold by the estimator that does best on the others, or in time on those before it."""
        fold = folds.numbers[self.scored]
        out = HeldOutNumbers.empty(len(self.y), found[0].noise)
        for f in np.unique(fold):
            best, mine = found[self._best(found, fold < f if folds.forward else fold != f)], fold == f
            out.middle[mine], out.scale[mine] = best.middle[mine], best.scale[mine]
        return out

    def _best(self, found: Sequence[HeldOutNumbers], rows: Bools) -> int:
        """Which does best on some rows; the middle one where there is none."""
        if not rows.any():
            return len(found) // 2
        return best_of(np.stack([each.losses(self.y) for each in found]), rows)


def fitted_to(estimator: Any, X: Any, y: Floats) -> Any:
    """A fit of an estimator, which stays as it is."""
    return clone(estimator).fit(X, y)
