"""Tables that nobody should have to fear, for every estimator and setting, and what becomes of them.

The contract: an estimator answers with numbers (probabilities that are finite and sum to one, the same for a
row alone and among others) or refuses with a ValueError or TypeError that it wrote itself. Never NaN, never
the error of a library underneath, never a RuntimeWarning. A case is made of its seed alone.
"""

import linecache
import os
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import posterior
from posterior import (
    LDA,
    QDA,
    AdditiveClassifier,
    BernoulliNB,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    OutlierRule,
    PoolClassifier,
    SoftmaxRegression,
    TreeAugmented,
)
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.precision import in_double
from posterior.families import (
    BestOf,
    Beta,
    Exponential,
    FewValues,
    FromScipy,
    Gamma,
    Histogram,
    KernelDensity,
    Laplace,
    LogNormal,
    MixtureOfNormals,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
)
from posterior.linear import SGD, GradientDescent
from posterior.notices import PosteriorWarning

EVERY = slice(None)


def described(family):
    """All columns of a table given to one family."""
    return GenerativeClassifier([(EVERY, family)])


ESTIMATORS = {
    "NaiveBayes": NaiveBayes(),
    "NaiveBayes tied": NaiveBayes(tied=True),
    "NaiveBayes alpha=0": NaiveBayes(alpha=0),
    "NaiveBayes auto": NaiveBayes(alpha="auto", tied="auto", cv=2),
    "NaiveBayes smoothed priors": NaiveBayes(prior_smoothing=1.0),
    "OneDependence": OneDependence(),
    "OneDependence auto": OneDependence(bins=3, class_rows="auto", pair_rows="auto", cv=2),
    "TreeAugmented": TreeAugmented(),
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(),
    "MultinomialNB": MultinomialNB(),
    "CategoricalNB": CategoricalNB(),
    "LDA": LDA(),
    "LDA shrunk": LDA(shrinkage="auto"),
    "QDA": QDA(),
    "QDA shrunk": QDA(reg_param=0.1),
    "QDA pooled": GaussianDiscriminantAnalysis(on_singular="pool"),
    "GDA between": GaussianDiscriminantAnalysis(tied=0.5, shrinkage="oas"),
    "GDA diagonal": GaussianDiscriminantAnalysis(tied=1.0, shape="diagonal", shrinkage="ledoit-wolf"),
    "GDA spherical": GaussianDiscriminantAnalysis(shape="spherical"),
    "GDA unbiased": GaussianDiscriminantAnalysis(bias=False),
    "GDA auto": GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", cv=2),
    "Normal": described(Normal()),
    "MultivariateNormal": described(MultivariateNormal()),
    "Laplace": described(Laplace()),
    "StudentT": described(StudentT()),
    "Histogram": described(Histogram()),
    "FewValues": described(FewValues()),
    "KernelDensity": described(KernelDensity()),
    "FromScipy": described(FromScipy("logistic")),
    "BestOf": described(BestOf()),
    "LogNormal": described(LogNormal()),
    "Exponential": described(Exponential()),
    "Gamma": described(Gamma()),
    "Beta": described(Beta()),
    "Poisson": described(Poisson()),
    "NegativeBinomial": described(NegativeBinomial()),
    "Multinomial": described(Multinomial()),
    "MixtureOfNormals": described(MixtureOfNormals(2)),
    "AdditiveClassifier": AdditiveClassifier(),
    "LogisticRegression": LogisticRegression(),
    "LogisticRegression degree 2": LogisticRegression(degree=2, missing="indicator"),
    "LogisticRegression gaps": LogisticRegression(missing="indicator"),
    "LogisticRegression free": LogisticRegression(C=np.inf, missing="indicator"),
    "LogisticRegression firth": LogisticRegression(penalty="firth"),
    "LogisticRegression lasso": LogisticRegression(l1_ratio=1.0, missing="indicator"),
    "LogisticRegression net": LogisticRegression(l1_ratio=0.5, standardize=True),
    "LogisticRegression auto": LogisticRegression(C="auto"),
    "LogisticRegression standardized": LogisticRegression(standardize=True, missing="indicator"),
    "LogisticRegression balanced": LogisticRegression(class_weight="balanced"),
    "LogisticRegression no intercept": LogisticRegression(fit_intercept=False),
    "LogisticRegression lbfgs": LogisticRegression(solver="lbfgs"),
    "LogisticRegression gd": LogisticRegression(solver=GradientDescent(max_iter=30)),
    "LogisticRegression sgd": LogisticRegression(solver=SGD(max_iter=5)),
    "SoftmaxRegression": SoftmaxRegression(C=10),
    "LeastSquaresClassifier": LeastSquaresClassifier(missing="indicator"),
    "LinearRegression": LinearRegression(missing="indicator"),
    "LinearRegression degree 2": LinearRegression(degree=2),
    "LinearRegression ridge": LinearRegression(penalty="l2", missing="indicator"),
    "LinearRegression lasso": LinearRegression(penalty="l1", missing="indicator"),
    "LinearRegression net": LinearRegression(penalty="elasticnet"),
    "LinearRegression laplace": LinearRegression(noise="laplace"),
    "LinearRegression sgd": LinearRegression(solver=SGD(max_iter=5)),
    "DecisionClassifier": DecisionClassifier(GaussianNB(), reject={"threshold": 0.8}),
    "DecisionClassifier calibrated": DecisionClassifier(LDA(), calibration="temperature", cv=2),
    "DecisionClassifier outliers": DecisionClassifier(NaiveBayes(), outliers=0.2),
    "DecisionClassifier logistic": DecisionClassifier(LogisticRegression(missing="indicator")),
    "CalibratedClassifier": CalibratedClassifier(NaiveBayes(), cv=2),
    "CalibratedClassifier logistic": CalibratedClassifier(LogisticRegression(), cv=2),
    "FusionClassifier": FusionClassifier([("a", NaiveBayes(), EVERY), ("b", GaussianNB(), EVERY)], cv=2),
    "FusionClassifier learnt": FusionClassifier(
        [("a", LDA(), EVERY), ("b", LogisticRegression(), EVERY)], weights="auto", cv=2
    ),
    "PoolClassifier": PoolClassifier(
        [("a", NaiveBayes()), ("b", LDA()), ("c", LogisticRegression(missing="indicator"))], cv=2
    ),
    "OutlierRule": OutlierRule(GaussianNB(), alpha=0.2),
    "OutlierRule chi2": OutlierRule(QDA(), alpha=0.2, method="chi2"),
}

# -- columns --------------------------------------------------------------------------------------

DENORMAL = 5e-324
WORDS = (
    "",
    " ",
    "a",
    "A",
    "ß",
    "ё",
    "e\u0301",
    "é",
    "\u202eabc",
    "\x00",
    "nan",
    "inf",
    "1e999",
    "𝄞",
    "-0",
    "None",
)


def magnitudes(rng, n):
    """Powers of ten from the smallest to the largest that there are."""
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-323, 308.2, n), -1.7e308, 1.7e308)


def around(rng, n, y, size, offset=0.0):
    return offset + size * (rng.normal(size=n) + y)


NUMBERS = {
    "normal": lambda rng, n, y: around(rng, n, y, 1.0),
    "magnitudes": lambda rng, n, y: magnitudes(rng, n),
    "scaled": lambda rng, n, y: around(rng, n, y, 10.0 ** rng.integers(-320, 308)) / 8,
    "large": lambda rng, n, y: around(rng, n, y, 10.0 ** rng.integers(20, 62)),
    "small": lambda rng, n, y: around(rng, n, y, 10.0 ** rng.integers(-62, -20)),
    "wide": lambda rng, n, y: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-58, 58, n),
    "heavy": lambda rng, n, y: rng.standard_cauchy(n) * 10.0 ** rng.integers(-3, 30),
    "positive": lambda rng, n, y: np.abs(around(rng, n, y, 10.0 ** rng.integers(-320, 308))) / 8,
    "offset": lambda rng, n, y: around(rng, n, y, 1.0, 10.0 ** rng.integers(3, 308)),
    "edge": lambda rng, n, y: around(rng, n, y, 10.0 ** rng.integers(140, 160)),
    "low edge": lambda rng, n, y: around(rng, n, y, 10.0 ** rng.integers(-170, -130)),
    "largest": lambda rng, n, y: rng.choice([1.7e308, -1.7e308], n),
    "constant largest": lambda rng, n, y: np.full(n, 1.7e308),
    "denormal": lambda rng, n, y: DENORMAL * rng.integers(-3, 4, n),
    "one huge": lambda rng, n, y: np.where(
        np.arange(n) == n // 2, 10.0 ** rng.integers(100, 309), around(rng, n, y, 1.0)
    ),
    "one tiny": lambda rng, n, y: np.where(np.arange(n) == n // 2, 10.0 ** -rng.integers(100, 320), 0.0),
    "constant": lambda rng, n, y: np.full(n, rng.choice([0.0, -0.0, 3.5, 1e300, DENORMAL])),
    "two values": lambda rng, n, y: rng.choice([1.0, np.nextafter(1.0, 2.0)], n),
    "by class": lambda rng, n, y: y * 10.0 ** rng.integers(-300, 308),
    "count": lambda rng, n, y: rng.poisson(2 + y).astype(float),
    "huge count": lambda rng, n, y: np.floor(np.abs(magnitudes(rng, n))),
    "binary": lambda rng, n, y: (rng.random(n) < 0.5).astype(float),
    "gappy": lambda rng, n, y: np.where(rng.random(n) < 0.5, np.nan, around(rng, n, y, 1.0)),
    "gappy magnitudes": lambda rng, n, y: np.where(rng.random(n) < 0.3, np.nan, magnitudes(rng, n)),
    "all missing": lambda rng, n, y: np.full(n, np.nan),
    "infinite": lambda rng, n, y: np.where(rng.random(n) < 0.2, rng.choice([np.inf, -np.inf]), 1.0 * y),
}
PLAIN = ("normal", "count", "binary", "constant", "gappy", "large", "small", "wide", "heavy", "two values")
OTHERS = {
    "bool": lambda rng, n, y: rng.random(n) < 0.5,
    "int64": lambda rng, n, y: rng.integers(-(2**63), 2**63 - 1, n, endpoint=True),
    "uint64": lambda rng, n, y: rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True),
    "small int": lambda rng, n, y: rng.integers(-3, 4, n).astype(np.int8),
    "float32": lambda rng, n, y: np.clip(magnitudes(rng, n), -3e38, 3e38).astype(np.float32),
    "float16": lambda rng, n, y: np.clip(magnitudes(rng, n), -6e4, 6e4).astype(np.float16),
    "words": lambda rng, n, y: rng.choice(np.array(WORDS, dtype=object), n),
    "identifiers": lambda rng, n, y: np.array([f"id {i}" for i in range(n)], dtype=object),
    "mixed": lambda rng, n, y: np.array([(1, "a", 2.5, None, True)[i % 5] for i in range(n)], dtype=object),
    "object numbers": lambda rng, n, y: np.array([*magnitudes(rng, n - 1).tolist(), None], dtype=object),
    "big ints": lambda rng, n, y: np.array([10 ** int(k) for k in rng.integers(0, 400, n)], dtype=object),
    "dates": lambda rng, n, y: np.datetime64("2020-01-01") + rng.integers(0, 99, n),
    "tuples": lambda rng, n, y: pd.Series([(1, 2)] * n).to_numpy(),
    "complex": lambda rng, n, y: rng.normal(size=n) + 1j,
}


# -- tables ---------------------------------------------------------------------------------------


@dataclass
class Case:
    """A table, a target, weights, rows to predict, and who is to learn from them."""

    seed: int
    estimator: str
    kinds: tuple[str, ...]
    container: str
    weights: str
    X: Any
    y: Any
    weight: Any
    new: Any

    def __str__(self):
        return (
            f"seed {self.seed}: {self.estimator} on {self.container} of {list(self.kinds)}, weights "
            f"{self.weights!r}\nto see it again: python tests/support/hostile_tables.py {self.seed}"
        )


def as_array(columns, order="C"):
    return np.array(np.column_stack([np.asarray(c, dtype=np.float64) for c in columns]), order=order)


def as_frame(columns):
    return pd.DataFrame({f"c{j}": c for j, c in enumerate(columns)})


def locked(array):
    array.flags.writeable = False
    return array


def narrow(columns, kind, largest):
    return np.clip(as_array(columns), -largest, largest).astype(kind)


CONTAINERS = {
    "array": as_array,
    "Fortran array": lambda c: as_array(c, "F"),
    "read-only array": lambda c: locked(as_array(c)),
    "float32 array": lambda c: narrow(c, np.float32, 3e38),
    "float16 array": lambda c: narrow(c, np.float16, 6e4),
    "every other column": lambda c: np.repeat(as_array(c), 2, axis=1)[:, ::2],
    "list": lambda c: as_array(c).tolist(),
    "csr": lambda c: sparse.csr_array(as_array(c)),
    "csc matrix": lambda c: sparse.csc_matrix(as_array(c)),
    "pandas": as_frame,
    "pandas nullable": lambda c: as_frame(c).convert_dtypes(),
    "pandas categories": lambda c: as_frame(c).astype({"c0": "category"}),
    "pandas objects": lambda c: as_frame(c).astype(object),
    "polars": lambda c: pl.DataFrame(dict(as_frame(c)), strict=False),
    "arrow": lambda c: pa.table(dict(as_frame(c))),
}


def columns_of(kinds, rng, n, y):
    every = NUMBERS | OTHERS
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return [every[kind](rng, n, y) for kind in kinds]


def weights_of(kind, rng, n):
    with np.errstate(over="ignore", under="ignore"):
        return {
            "none": None,
            "ones": np.ones(n),
            "whole": rng.integers(1, 4, n),
            "some zero": rng.integers(0, 2, n),
            "all zero": np.zeros(n),
            "tiny": np.full(n, 1e-310),
            "small": 10.0 ** -rng.integers(1, 60) * rng.random(n),
            "large": 10.0 ** rng.integers(1, 60) * rng.random(n),
            "posteriors": 10.0 ** -rng.choice([0.0, 1.0, 20.0, 150.0, 320.0], n),
            "huge beside tiny": rng.choice([1e308, 1e-308], n),
            "spread": np.abs(magnitudes(rng, n)),
            "real": rng.gamma(1.0, size=n),
            "negative": rng.normal(size=n),
            "missing": np.where(rng.random(n) < 0.3, np.nan, 1.0),
        }[kind]


WEIGHTS = (
    *("none",) * 20,
    *("ones", "whole", "real", "posteriors") * 2,
    *("some zero", "all zero", "tiny", "small", "large", "huge beside tiny", "spread", "negative", "missing"),
)


def target_of(rng, n, regression):
    """Classes, sometimes one or one with a single row; or numbers, sometimes wild ones."""
    codes = np.concatenate([np.arange(min(2, n)), rng.integers(0, rng.choice([1, 2, 2, 3]), max(n - 2, 0))])
    if regression:
        shape = rng.choice(
            ["normal", "heavy", "large", "small", "scaled", "magnitudes", "constant", "offset"]
        )
        with np.errstate(over="ignore", under="ignore"):
            return codes, NUMBERS[shape](rng, n, codes)
    if rng.random() < 0.03:
        codes = np.zeros(n, dtype=np.int64)
    named = rng.choice(3)
    if named == 0:
        return codes, np.array(["b", "a", "ж"])[codes]
    return codes, codes if named == 1 else codes == 1


def case_of(seed):
    """The case of a seed."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(ESTIMATORS)))
    n = int(rng.choice([1, 2, 3, 5, 8, 12, 20], p=[0.02, 0.05, 0.08, 0.2, 0.25, 0.2, 0.2]))
    codes, y = target_of(rng, n, "LinearRegression" in name)
    kinds = [str(k) for k in rng.choice(PLAIN, int(rng.integers(1, 5)))]
    if rng.random() < 0.7:  # one column that most estimators refuse hides what they make of others
        kinds[0] = str(rng.choice(list(NUMBERS)))
    if rng.random() < 0.3:
        kinds[-1] = str(rng.choice(list(OTHERS)))
    numeric = all(kind in NUMBERS for kind in kinds)
    frames = [c for c in CONTAINERS if c.startswith("pandas")] + ["polars", "arrow"]
    container = str(rng.choice(list(CONTAINERS) if numeric else frames))
    columns = columns_of(kinds, rng, n, codes)
    if rng.random() < 0.1:  # the same rows again and again
        columns = [c[np.zeros(n, dtype=np.int64)] for c in columns]
    if rng.random() < 0.05:
        columns.append(columns[0])
        kinds.append(kinds[0])
    later = columns if rng.random() < 0.5 else [c.copy() for c in columns]
    if later is not columns:  # rows that training did not have, of the same columns
        for j, kind in enumerate(kinds):
            if kind in NUMBERS and columns[j].dtype.kind == "f":
                other = str(
                    rng.choice(["magnitudes", "normal", "gappy magnitudes", "all missing", "edge", kind])
                )
                later[j] = columns_of([other], rng, n, codes)[0]
    weights = str(rng.choice(WEIGHTS))
    weight = weights_of(weights, rng, n)
    return Case(seed, name, tuple(kinds), container, weights, *_held(container, columns, y, weight, later))


def _held(container, columns, y, weight, later):
    try:
        return CONTAINERS[container](columns), y, weight, CONTAINERS[container](later)
    except (TypeError, ValueError, OverflowError, NotImplementedError, pa.ArrowException, PolarsError):
        # Such a table cannot be made at all.
        return as_frame(columns), y, weight, as_frame(later)


# -- what becomes of it ---------------------------------------------------------------------------

OURS = str(Path(posterior.__file__).parent)
# Checks of scikit-learn that are called on purpose, for messages that its users know.
BORROWED = (
    "sklearn/utils/multiclass.py",
    "sklearn/utils/validation.py",
    "sklearn/utils/_param_validation.py",
)
EXPECTED_WARNINGS = (PosteriorWarning, ConvergenceWarning, DataConversionWarning)


class HostileError(AssertionError):
    """What must not happen, with the case in which it did."""


def is_ours(error):
    """Whether an error was raised by our code in so many words, or by a check that it called for that."""
    at = error.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    file = at.tb_frame.f_code.co_filename
    if file.replace(os.sep, "/").endswith(BORROWED):
        return True
    return file.startswith(OURS) and linecache.getline(file, at.tb_lineno).strip().startswith("raise")


def outcome(case):
    """What an estimator makes of a case: "answers", or why it refuses; HostileError for anything else."""
    model = clone(ESTIMATORS[case.estimator])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = _attempt(case, model)
    foreign = [w for w in told if not issubclass(w.category, EXPECTED_WARNINGS)]
    foreign = [w for w in foreign if "to renormalize" not in str(w.message)]
    if foreign:
        raise HostileError(f"{foreign[0].category.__name__}: {foreign[0].message}\n{case}")
    return answer


def _attempt(case, model):
    refused = _refusal(case, lambda: model.fit(case.X, case.y, **_weighting(case)))
    if refused:
        return refused
    for name in ("partial_fit", "transform"):
        if hasattr(model, name):
            used = clone(model) if name == "partial_fit" else model
            args = (case.X, case.y) if name == "partial_fit" else (case.new,)
            found: list[Any] = []
            _refusal(case, lambda: found.append(getattr(used, name)(*args)))
            if found and name == "transform":
                _demand(np.isfinite(found[0]).all(), "coordinates that are not finite", case)
            elif found:
                _refusal(case, lambda: _judge(case, used, case.X))
    return (
        _refusal(case, lambda: _judge(case, model, case.X))
        or _refusal(case, lambda: _judge(case, model, case.new))
        or "answers"
    )


def _weighting(case):
    return {} if case.weight is None else {"sample_weight": case.weight}


def _refusal(case, work):
    """Do something; why it was refused, if it was."""
    try:
        work()
    except HostileError:
        raise
    except (ValueError, TypeError) as error:
        if not is_ours(error) or "\n" in str(error).strip():
            raise HostileError(f"{type(error).__name__} of others: {error}\n{case}") from error
        return f"refuses: {_words(str(error))}"
    except Exception as error:
        raise HostileError(f"{type(error).__name__}: {error}\n{case}") from error
    return None


def _words(message):
    """The first words of a message without what belongs to the case."""
    plain = "".join(" " if c.isdigit() or c in "'\"[](),.:+-" else c for c in message)
    return " ".join(plain.split()[:6])


def _demand(holds, what, case):
    if not holds:
        raise HostileError(f"{what}\n{case}")


def _row(X, i):
    if isinstance(X, list):
        return X[i : i + 1]
    if isinstance(X, pd.DataFrame):
        return X.iloc[i : i + 1]
    if isinstance(X, pl.DataFrame | pa.Table):
        return X.slice(i, 1)
    return X[[i]] if sparse.issparse(X) else X[i : i + 1]


def _size(model, row):
    """About the largest number that is added up for a row: its rounding is what a score may be off by."""
    inner = [*getattr(model, "estimators_", []), *([e] if (e := getattr(model, "estimator_", None)) else [])]
    if inner:
        return max(_size(one, row) for one in inner)
    if isinstance(model, LinearEstimator):
        terms = model.model_.log_terms(model._reading(row))[1]
        return float(np.abs(terms).sum() + (np.abs(model.model_.coef) @ np.abs(model.model_.centre)).max())
    return float(np.abs(np.nan_to_num(model.class_log_density(row), neginf=0.0)).max())


def _judge(case, model, X):
    """Hold what a fitted model says of rows to the contract; in single precision it is rounded, no more."""
    with in_double():
        _judge_in_double(case, model, X)


def _judge_in_double(case, model, X):
    if isinstance(model, OutlierRule):
        _demand(not np.isnan(model.score_samples(X)).any(), "scores that are NaN", case)
        _demand(((p := model.p_values(X)) >= 0).all() and (p <= 1).all(), "p-values beyond 0 and 1", case)
        model.predict(X)
        return
    if not is_classifier(model):
        found = model.predict(X)
        _demand(np.isfinite(found).all(), f"predictions that are not finite: {found}", case)
        return
    predicted = model.predict(X)
    for name in ("decision_function", "score_samples", "class_log_density", "predict_joint_log_proba"):
        if hasattr(model, name):
            scores = getattr(model, name)(X)
            _demand(not np.isnan(scores).any(), f"{name} is NaN", case)
            _demand(not np.isposinf(scores).any() or name == "decision_function", f"{name} is infinite", case)
    if not hasattr(model, "predict_proba"):
        return
    proba, logs = model.predict_proba(X), model.predict_log_proba(X)
    _demand(np.isfinite(proba).all() and not np.isnan(logs).any(), f"probabilities {proba}", case)
    _demand((np.abs(proba.sum(axis=1) - 1) <= 1e-9).all(), f"sums {proba.sum(axis=1)}", case)
    _demand(np.allclose(np.exp(logs), proba, rtol=1e-6, atol=1e-12), "logs are not those of the others", case)
    if not isinstance(model, DecisionClassifier) and len(model.classes_) > 1:
        best = model.classes_[proba.argmax(axis=1)]
        sure = np.sort(proba, axis=1)[:, -1] - np.sort(proba, axis=1)[:, -2] > 1e-9
        _demand((predicted == best)[sure].all(), "another class is predicted than the most probable", case)
    for i in (0, len(proba) - 1):
        alone = model.predict_log_proba(_row(X, i))[0]
        same = np.abs(np.exp(alone) - proba[i]).max() <= 1e-9 + 1e-13 * _size(model, _row(X, i))
        _demand(same, f"row {i} alone {np.exp(alone)}, among others {proba[i]}", case)


def outcomes(n, seed):
    """How often each thing became of `n` cases; the first failure is raised."""
    counts = Counter()
    for i in range(n):
        case = case_of(seed + i)
        counts[outcome(case)] += 1
    return counts


def survey(n, seed):
    """Outcomes of `n` cases with the failures counted instead of raised, and a few of them."""
    counts, failures = Counter(), {}
    for i in range(n):
        try:
            counts[outcome(case_of(seed + i))] += 1
        except HostileError as error:
            kind = "FAILS: " + " ".join(str(error).split("\n")[0].split()[:8])
            counts[kind] += 1
            failures.setdefault(kind, []).append(str(error))
    return counts, failures


if __name__ == "__main__":
    import sys

    shown = case_of(int(sys.argv[1]))
    print(shown, shown.X, shown.y, shown.weight, shown.new, sep="\n")
    print(outcome(shown))
