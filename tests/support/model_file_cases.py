"""Fitted models of all sorts, for tests of model files: one line each."""

import re
import warnings
from functools import cache
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

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
from posterior.families import (
    BagOfWords,
    Bernoulli,
    BernoulliDistribution,
    BestOf,
    Beta,
    Categorical,
    CategoricalDistribution,
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
    NormalDistribution,
    Poisson,
    StudentT,
)
from posterior.linear import SGD, GradientDescent, Newton
from posterior.persistence.loading import read
from posterior.persistence.saving import written

N = 60
RNG = np.random.default_rng(7)
K = np.arange(N) % 3
Y = np.array(["ash", "birch", "cedar"])[K]
NUMBERS = RNG.normal(size=(N, 3)) @ np.array([[1.0, 0.6, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]]) + K[:, None]
GAPS = np.where(RNG.random((N, 3)) < 0.1, np.nan, NUMBERS)
COUNTS = RNG.poisson(0.5 + np.column_stack([K, 2 - K, np.ones(N), np.ones(N)])).astype(float)
WORDS = np.array(["cheap", "meeting", "noon", "pills", "été", "at"])
TEXTS = np.array([" ".join(WORDS[(RNG.integers(6, size=4) + k) % 6]) for k in K], dtype=object)[:, None]
MIXED = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "visits": COUNTS[:, 0].astype(int),
        "colour 🎨\n": pd.Series(np.array(["blue", "green", "red"])[RNG.integers(3, size=N)]).mask(K == 1),
        "member": NUMBERS[:, 1] > 1,
        "grade": pd.Categorical(
            np.array(["low", "high"])[RNG.integers(2, size=N)], ["low", "high"], ordered=True
        ),
    }
)
READ = pd.DataFrame(
    {
        "Unnamed: 0": np.arange(N),
        "income": [f"{v:.2f} €".replace(".", ",") for v in 1000 * NUMBERS[:, 0]],
        "signup": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 30_000, N), unit="h"),
        "region": np.array(["North", "NORTH", "South"])[RNG.integers(3, size=N)],
        "born": [f"{d}.{m}.1990" for d, m in zip(RNG.integers(1, 29, N), K + 1, strict=True)],
    }
)
WIDE = pd.DataFrame(
    {f"visit {j}": COUNTS[:, j % 4] for j in range(30)}
    | {f"colour {j}": np.array(["blue", "green", "red"])[(K + j) % 3] for j in range(10)}
)
POLARS = pl.DataFrame({"size": NUMBERS[:, 0], "kind": [["a", "b", None][i] for i in RNG.integers(3, size=N)]})
ARROW = pa.table(
    {"size": NUMBERS[:, 0], "on": pa.array((NUMBERS[:, 1] > 1).tolist()), "code": ["x", "y"] * (N // 2)}
)
TOTAL = np.column_stack([NUMBERS, NUMBERS.sum(axis=1), np.full(N, 4.0)])
MANY = np.arange(N) % 23
TARGET = NUMBERS @ [1.0, -2.0, 0.5] + RNG.normal(size=N)
BLOCK = [
    (["size"], MultivariateNormal()),
    (re.compile("^col"), Categorical(unknown="smooth")),
    ("visits", Poisson),
]
COSTS = {a: {b: float(a != b) for b in np.unique(Y)} | {"look again": 0.2} for a in np.unique(Y)}

# name: an estimator, a table, and what is learnt from it
CASES = {
    "naive Bayes of a mixed table": (NaiveBayes(kinds={"visits": "count"}), MIXED, Y),
    "naive Bayes of a wide table": (NaiveBayes(), WIDE, Y),
    "naive Bayes of columns that are not what their type says": (NaiveBayes(), READ, Y),
    "logistic regression of columns that are not what their type says": (LogisticRegression(), READ, Y),
    "naive Bayes of a polars table": (NaiveBayes(), POLARS, Y),
    "naive Bayes of an arrow table": (
        NaiveBayes(priors={"ash": 0.5, "birch": 0.25, "cedar": 0.25}),
        ARROW,
        Y,
    ),
    "naive Bayes chosen by folds": (NaiveBayes(alpha="auto", tied="auto", cv=StratifiedKFold(3)), MIXED, Y),
    "naive Bayes of categories of any type": (
        NaiveBayes(kinds={0: "categorical"}),
        np.array([[v] for v in ("a", 1, 2.5, "", None, "é") * 10], dtype=object),
        Y,
    ),
    "naive Bayes of a column without a value": (
        NaiveBayes(),
        np.column_stack([NUMBERS[:, 0], np.full(N, np.nan)]),
        Y,
    ),
    "naive Bayes of texts": (NaiveBayes(kinds={0: "text"}), TEXTS, Y),
    "naive Bayes of hashed texts": (
        NaiveBayes(kinds={0: "text"}, families={"text": BagOfWords("bernoulli", hashing=32, alpha=0.1)}),
        TEXTS,
        Y,
    ),
    "naive Bayes of pairs of words": (
        NaiveBayes(
            kinds={0: "text"}, families={0: BagOfWords(vectorizer=CountVectorizer(ngram_range=(1, 2)))}
        ),
        TEXTS,
        Y,
    ),
    "naive Bayes of given words": (
        NaiveBayes(kinds={0: "text"}, families={0: BagOfWords(vectorizer=CountVectorizer(vocabulary=WORDS))}),
        TEXTS,
        Y,
    ),
    "naive Bayes of words hashed by settings": (
        NaiveBayes(
            kinds={0: "text"},
            families={
                0: BagOfWords(vectorizer=HashingVectorizer(n_features=16, alternate_sign=False, norm=None))
            },
        ),
        TEXTS,
        Y,
    ),
    "blocks of a mixed table": (GenerativeClassifier(BLOCK, remainder="auto"), MIXED, Y),
    "blocks by any selection": (
        GenerativeClassifier(
            [(slice(0, 1), Normal), ([False, True, False], Laplace()), (np.array([2]), Normal())]
        ),
        NUMBERS,
        Y,
    ),
    "families of positive numbers": (
        GenerativeClassifier([(0, Poisson()), (1, Exponential()), (2, LogNormal()), (3, Laplace())]),
        COUNTS + 1,
        K,
    ),
    "a negative binomial": (GenerativeClassifier([([0, 1], NegativeBinomial())]), COUNTS, K),
    "a Student t": (GenerativeClassifier([([0, 1], StudentT())]), NUMBERS, K),
    "a histogram": (GenerativeClassifier([([0, 1], Histogram())]), NUMBERS, K),
    "few values": (GenerativeClassifier([([0, 1], FewValues())]), COUNTS, K),
    "a kernel density": (GenerativeClassifier([([0, 1], KernelDensity())]), NUMBERS, K),
    "a gamma of scipy": (GenerativeClassifier([([0, 1], FromScipy("gamma", {"loc": 0}))]), COUNTS + 1, K),
    "the best of several": (GenerativeClassifier([([0, 1], BestOf())]), NUMBERS, K),
    "the best of several for positive numbers": (NaiveBayes(families="auto"), COUNTS + 1, K),
    "a gamma": (GenerativeClassifier([([0, 1], Gamma()), (2, Poisson())]), COUNTS + 1, K),
    "a beta": (GenerativeClassifier([([0, 1], Beta())]), (COUNTS + 1) / (COUNTS.max() + 2), K),
    "a joint table": (GenerativeClassifier([(["code", "on"], Categorical(joint=True))]), ARROW, Y),
    "counts as one variable": (GenerativeClassifier([(slice(None), Multinomial(alpha=0.5))]), COUNTS, Y),
    "a Bernoulli for each column": (
        GenerativeClassifier([(slice(None), Bernoulli(alpha=0.5))]),
        (COUNTS > 1) * 1.0,
        Y,
    ),
    "mixtures of normals": (GenerativeClassifier([([0, 1, 2], MixtureOfNormals(2))]), NUMBERS, Y),
    "mixtures chosen by folds": (
        GenerativeClassifier([(slice(0, 2), MixtureOfNormals("auto", shape="diagonal"))], cv=3),
        NUMBERS,
        Y,
    ),
    "one-dependence estimators": (OneDependence(), MIXED, Y),
    "one-dependence estimators of given cuts": (OneDependence(cuts={0: [0.0, 1.0]}, cv=3), GAPS, Y),
    "one-dependence estimators beside texts": (OneDependence(kinds={0: "text"}), TEXTS, Y),
    "a tree of columns": (TreeAugmented(), MIXED, Y),
    "a tree chosen by folds": (TreeAugmented(pair_rows="auto", cv=3), NUMBERS, Y),
    "Gaussian naive Bayes": (GaussianNB(), NUMBERS, Y),
    "Gaussian naive Bayes of gaps": (GaussianNB(), GAPS, K * 2.0),
    "Gaussian naive Bayes of one column": (GaussianNB(priors=[0.5, 0.5]), NUMBERS[:, :1], K == 1),
    "Gaussian naive Bayes of many classes": (GaussianNB(), NUMBERS, MANY),
    "Bernoulli naive Bayes of a sparse table": (BernoulliNB(), sparse.csr_array(COUNTS), Y),
    "multinomial naive Bayes of a sparse table": (
        MultinomialNB(alpha=[1, 2, 3, 4]),
        sparse.csr_array(COUNTS),
        Y,
    ),
    "categorical naive Bayes": (CategoricalNB(min_categories=9), COUNTS.astype(int), Y),
    "LDA": (LDA(), NUMBERS, Y),
    "LDA of gaps": (LDA(), GAPS, Y),
    "LDA of redundant columns": (LDA(shrinkage="auto"), TOTAL, Y),
    "QDA": (QDA(reg_param=0.1), pd.DataFrame(NUMBERS, columns=[1, 2, 3]), Y),
    "QDA of gaps": (QDA(), GAPS, Y),
    "Gaussians by Ledoit and Wolf": (GaussianDiscriminantAnalysis(shrinkage="ledoit-wolf"), NUMBERS, Y),
    "Gaussians chosen by folds": (
        GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", cv=np.arange(N) // 20),
        NUMBERS,
        Y,
    ),
    "Gaussians of gaps chosen by folds": (GaussianDiscriminantAnalysis(shape="auto", cv=3), GAPS, Y),
    "logistic regression": (LogisticRegression(C=np.inf), NUMBERS, K == 1),
    "logistic regression of a mixed table": (LogisticRegression(missing="indicator"), MIXED, Y),
    "logistic regression of some columns": (
        LogisticRegression(columns=["size", "member"], missing="indicator"),
        MIXED,
        Y,
    ),
    "curves": (AdditiveClassifier(), NUMBERS, Y),
    "curves of a mixed table": (AdditiveClassifier(), MIXED, Y),
    "logistic regression by Firth": (LogisticRegression(penalty="firth"), NUMBERS, Y),
    "logistic regression without an optimum": (LogisticRegression(C=np.inf), NUMBERS[:6], K[:6]),
    "logistic regression chosen by leaving out": (LogisticRegression(C="auto"), NUMBERS, Y),
    "logistic regression of a sparse table": (LogisticRegression(), sparse.csr_array(COUNTS), Y),
    "the steps of Newton": (LogisticRegression(solver=Newton(path=True)), NUMBERS, Y),
    "the steps of a descent": (
        LogisticRegression(solver=GradientDescent(max_iter=3, path=True)),
        NUMBERS,
        K == 1,
    ),
    "lasso": (LogisticRegression(penalty="l1", C=0.5), NUMBERS, Y),
    "softmax regression of squares": (SoftmaxRegression(degree=2), NUMBERS, K),
    "linear regression": (LinearRegression(), MIXED[["visits", "member", "grade"]], TARGET),
    "median regression": (LinearRegression(noise="laplace"), NUMBERS, TARGET),
    "elastic net": (LinearRegression(penalty="elasticnet", alpha=0.1), NUMBERS, TARGET),
    "least squares": (
        LeastSquaresClassifier(),
        POLARS.drop_nulls(),
        Y[POLARS["kind"].is_not_null().to_numpy()],
    ),
    "a decision": (DecisionClassifier(NaiveBayes(), costs=COSTS, reject={"cost": 0.1}), MIXED, Y),
    "a calibrated decision": (
        DecisionClassifier(
            LDA(), calibration="vector", reject={"coverage": 0.8}, outliers=0.05, priors="uniform"
        ),
        NUMBERS,
        Y,
    ),
    "a decision of a logistic regression": (
        DecisionClassifier(LogisticRegression(), outliers=OutlierRule(GaussianNB(), alpha=0.1)),
        NUMBERS,
        Y,
    ),
    "a fusion": (
        FusionClassifier(
            [("a", GaussianNB(), [0, 1]), ("b", LogisticRegression(), slice(2, 3))], weights="auto"
        ),
        pd.DataFrame(NUMBERS, columns=list("xyz")),
        Y,
    ),
    "a pool": (
        PoolClassifier([("a", GaussianNB()), ("b", LogisticRegression()), ("c", LDA())], cv=3),
        pd.DataFrame(NUMBERS, columns=list("xyz")),
        Y,
    ),
    "an outlier rule": (OutlierRule(LDA(), alpha=0.2), NUMBERS, Y),
    "an outlier rule by distance": (OutlierRule(QDA(), method="chi2"), NUMBERS, Y),
    "a calibrated classifier": (CalibratedClassifier(GaussianNB()), TOTAL, Y),
    "a frozen classifier calibrated": (
        CalibratedClassifier(FrozenEstimator(GaussianNB().fit(NUMBERS, Y)), method="vector"),
        NUMBERS,
        Y,
    ),
}


def _given():
    """A model of given distributions."""
    balls = CategoricalDistribution([[4 / 5, 1 / 5], [3 / 5, 2 / 5]], categories=["blue", "red"])
    coin = BernoulliDistribution([[0.5], [0.9]])
    width = NormalDistribution([[0.0], [1.0]], [[1.0], [4.0]])
    blocks = [("ball", balls), ("coin", coin), ("width", width)]
    return GenerativeClassifier.from_distributions(["B1", "B2"], [2 / 3, 1 / 3], blocks)


def _streamed():
    """A logistic regression that has learnt from two parts of a table."""
    model = LogisticRegression(solver=SGD(seed=3, batch_size=4))
    return model.partial_fit(NUMBERS[:30], Y[:30]).partial_fit(NUMBERS[30:], Y[30:])


def _changed():
    """A decision that was changed after it was learnt, of coefficients that were made sparse."""
    model = DecisionClassifier(FrozenEstimator(LogisticRegression().fit(NUMBERS, Y).sparsify()))
    return model.fit(NUMBERS, Y).set_decision(reject={"threshold": 0.9}, calibration="temperature")


def _around():
    """A decision around a classifier that was fitted before, and never fitted itself."""
    return DecisionClassifier(
        GaussianNB().fit(NUMBERS, Y), priors="uniform", training_priors=[0.5, 0.25, 0.25]
    )


def _frozen_rule():
    """An outlier rule around a model that was fitted before, calibrated with other rows."""
    return OutlierRule(FrozenEstimator(LDA().fit(NUMBERS[:40], Y[:40]))).fit(NUMBERS[40:], Y[40:])


MADE = {
    "a decision around a fitted classifier": (_around, NUMBERS, Y),
    "an outlier rule around a frozen model": (_frozen_rule, NUMBERS, Y),
    "given distributions": (
        _given,
        pd.DataFrame({"ball": ["red", None], "coin": [0, 1], "width": [0.3, None]}),
        None,
    ),
    "a streamed logistic regression": (_streamed, NUMBERS, Y),
    "a decision that was changed": (_changed, NUMBERS, Y),
}
NAMES = [*CASES, *MADE]


# Small files of every kind of part, for tests that open them by the thousand.
SMALL = [
    "naive Bayes of a mixed table",
    "naive Bayes of an arrow table",
    "naive Bayes chosen by folds",
    "naive Bayes of texts",
    "naive Bayes of hashed texts",
    "families of positive numbers",
    "a joint table",
    "mixtures of normals",
    "multinomial naive Bayes of a sparse table",
    "categorical naive Bayes",
    "LDA of redundant columns",
    "QDA of gaps",
    "Gaussians by Ledoit and Wolf",
    "given distributions",
    "logistic regression",
    "logistic regression of a mixed table",
    "logistic regression without an optimum",
    "softmax regression of squares",
    "a streamed logistic regression",
    "linear regression",
    "least squares",
    "a calibrated decision",
    "a decision of a logistic regression",
    "a fusion",
    "an outlier rule",
    "a frozen classifier calibrated",
]


def able(method):
    """The names of cases whose estimators have a method."""
    kinds = {name: type(estimator) for name, (estimator, _, _) in CASES.items()} | {
        "given distributions": GenerativeClassifier,
        "a streamed logistic regression": LogisticRegression,
        "a decision that was changed": DecisionClassifier,
        "a decision around a fitted classifier": DecisionClassifier,
        "an outlier rule around a frozen model": OutlierRule,
    }
    return [name for name in NAMES if hasattr(kinds[name], method)]


@cache
def case(name):
    """A fitted model, its table and its target; nobody may change them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in MADE:
            make, X, y = MADE[name]
            return make(), X, y
        estimator, X, y = CASES[name]
        return estimator.fit(X, y), X, y


def to_bytes(model, keep="rows"):
    """The model file of a model."""
    return b"".join(bytes(part) for part in written(model, keep=keep))


def from_bytes(data):
    """The model in a model file."""
    return read(BytesIO(data), len(data))
