"""What a fitted model says of the rows of a scan: a file of scores, or a lazy frame of Dask or Spark."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from os import PathLike
from typing import Any, TypedDict, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._loading import load_module
from posterior._plain import written
from posterior._types import AnyArray, Progress
from posterior.engines import ScannedTable
from posterior.estimators.device import device_accuracy, device_scores, is_device_array
from posterior.estimators.target import scanned_table

F = TypeVar("F", bound=Callable[..., Any])

# What the columns of a method's scores are called; those of classes have the label of the class behind.
NAMES = {
    "predict": "predicted",
    "predict_proba": "p",
    "predict_log_proba": "log_p",
    "predict_joint_log_proba": "log_joint",
    "class_log_density": "log_density",
    "decision_function": "score",
    "score_samples": "log_density",
    "p_values": "outlier_p",
}


class Writing(TypedDict, total=False):
    """How the scores of a scan are written: to which file, beside which columns, and who is told.

    `out` names a Parquet, Feather, CSV, TSV or JSON-lines file by its extension, `keep` are columns of the
    table that are copied, `progress(rows, all_rows, speed)` is called after each batch.
    """

    out: str | PathLike[str]
    keep: Sequence[str]
    progress: Progress


def scores_scans(method: F) -> F:
    """Let a method that scores a table take a scan, whose scores are written to a file.

    `model.predict_proba(scan, out="scores.parquet", keep=["id"])` reads batches in order, scores them by
    threads and writes them in order, in little memory; the file is there when all of it is. Of a frame of
    Dask or Spark the scores are a lazy frame of that library where `out` is left out.
    """
    arguments = signature(method)
    own_names = tuple(name for name in arguments.parameters if name not in ("self", "X", "writing"))
    known = frozenset(own_names) | {"X", *Writing.__annotations__}

    @wraps(method)
    def scored(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not known.issuperset(kwargs):
            raise _unknown_argument(self, method.__name__, own_names, kwargs.keys() - known)
        if isinstance(X, ScannedTable):
            writing = {name: kwargs.pop(name) for name in Writing.__annotations__ if name in kwargs}
            given = dict(arguments.bind(self, X, *args, **kwargs).arguments)
            own = {name: value for name, value in given.items() if name not in ("self", "X", "writing")}
            return score_scan(self, method.__name__, X, own, **writing)
        useless = [name for name in Writing.__annotations__ if name in kwargs]
        if useless:
            raise TypeError(
                f"{useless[0]}= is for rows that are read where they live; pass a scan, or leave it out"
            )
        if is_device_array(X) and hasattr(self, "_device_scores"):
            given = dict(arguments.bind(self, X, *args, **kwargs).arguments)
            own = {name: value for name, value in given.items() if name not in ("self", "X")}
            return device_scores(self, method.__name__, X, own)
        return method(self, X, *args, **kwargs)

    return cast("F", scored)


def _unknown_argument(
    estimator: Any, method: str, names: Sequence[str], unknown: AbstractSet[str]
) -> TypeError:
    """The error of an argument that a method does not have: what `**writing` takes is checked here."""
    takes = ", ".join(("X", *(f"{name}=" for name in names)))
    return TypeError(
        f"{type(estimator).__name__}.{method}() got an unexpected keyword argument {min(unknown)!r}; "
        f"it takes {takes}, and of a scan {', '.join(f'{name}=' for name in Writing.__annotations__)}"
    )


def score_scan(
    estimator: Any,
    method: str,
    table: Any,
    arguments: Mapping[str, Any],
    out: str | PathLike[str] | None = None,
    keep: Sequence[str] = (),
    progress: Progress | None = None,
) -> Any:
    """The scores of all rows of a scan: written to a file, or as a lazy frame."""
    check_is_fitted(estimator)
    scoring = load_module("posterior.engines.scoring")
    inputs = _inputs(estimator, table)
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    scorer = scoring.BatchScorer(MethodScores(estimator, method, dict(arguments)), inputs, kept)
    engine = table.engine
    if out is not None:
        return scoring.write_scores(engine, scorer, out, progress)
    scoring.refuse_columns(engine, kept)
    if not engine.is_lazy:
        raise ValueError(
            f"the scores of a scan do not fit in memory: write them to a file, {method}(scan, "
            "out='scores.parquet'), or score some rows: X, y, weight = scan.sample(100_000)"
        )
    known = scorer.for_rows(engine)
    return engine.scored(known.columns, known, known.schema)


@dataclass(frozen=True)
class MethodScores:
    """What a method of a fitted estimator says of a table, as columns. It can be pickled."""

    estimator: Any
    method: str
    arguments: Mapping[str, Any]

    def __call__(self, X: Any) -> dict[str, AnyArray]:
        """The columns of scores of some rows."""
        found = getattr(self.estimator, self.method)(X, **self.arguments)
        name = NAMES[self.method]
        if isinstance(found, tuple):  # a prediction and its standard deviation
            return {name: np.asarray(found[0]), f"{name}_std": np.asarray(found[1])}
        scores = np.asarray(found)
        if scores.ndim == 2:
            labels = self.estimator.classes_.tolist()
            return {class_column(name, label): scores[:, k] for k, label in enumerate(labels)}
        return {name: plain_labels(scores, self.estimator) if self.method == "predict" else scores}


class ScoresScans:
    """Adds to a classifier's `score` the accuracy of a scan."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted, by weight; a scan has its own classes and weights."""
        if not isinstance(X, ScannedTable):
            if y is None:
                raise TypeError("score needs the classes of the rows: score(X, y)")
            if is_device_array(X) and hasattr(self, "_device_codes"):
                return device_accuracy(self, X, y, sample_weight)
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]  # scikit-learn's
            return found
        predict: Any = self.predict  # type: ignore[attr-defined]  # of the classifier
        right, total = summed_answers(self, "RightAnswers", predict, X, y, sample_weight)
        return float(right / total)


class ScoresNumbers:
    """Adds to the `score` of a regression the R² of a scan."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², the share of the variance that is explained; a scan has its own numbers and weights."""
        if not isinstance(X, ScannedTable):
            if y is None:
                raise TypeError("score needs the numbers that the rows have: score(X, y)")
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]  # scikit-learn's
            return found
        predict: Any = self.predict  # type: ignore[attr-defined]  # of the regression
        return float(summed_answers(self, "PredictionErrors", predict, X, y, sample_weight).r_squared)


def summed_answers(
    estimator: Any, work: str, answer: Callable[..., Any], X: Any, y: Any, sample_weight: Any
) -> Any:
    """What a `work` of `posterior.engines.scoring` makes of a model's answers to all rows of a scan."""
    who = type(estimator).__name__
    table = scanned_table(X, y, sample_weight, who)
    check_is_fitted(estimator)
    scoring = load_module("posterior.engines.scoring")
    one = getattr(scoring, work)(answer, _inputs(estimator, table), table.target_name(who), table.weight)
    return scoring.summed(table.engine, one)


def _inputs(estimator: Any, table: Any) -> tuple[str, ...]:
    """The columns of a scan that a fitted estimator reads."""
    names, n = getattr(estimator, "feature_names_in_", None), getattr(estimator, "n_features_in_", 0)
    found: tuple[str, ...] = table.inputs_of(
        None if names is None else names.tolist(), n, type(estimator).__name__
    )
    return found


def class_column(name: str, label: Any) -> str:
    """What the column of a class is called.

    >>> class_column("p", "Adelie"), class_column("log_p", 1)
    ('p_Adelie', 'log_p_1')
    """
    return f"{name}_{written(label)}"


def plain_labels(answers: AnyArray, estimator: Any) -> AnyArray:
    """Answers of one type: words where some of all that may be answered are words and others are not."""
    possible = getattr(estimator, "actions_", getattr(estimator, "classes_", answers))
    if len({isinstance(answer, str) for answer in np.asarray(possible).tolist()}) < 2:
        return answers
    return np.array([written(answer) for answer in answers.tolist()], dtype=object)
