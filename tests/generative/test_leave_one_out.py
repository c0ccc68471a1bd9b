"""The law of leave-one-out: every training row gets what a model fitted without it says."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_softmax
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from examples import few_examples
from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    TreeAugmented,
)
from posterior._blas import one_blas_thread
from posterior._linalg import dependent_columns, determination
from posterior.engines import LocalDataset, threads
from posterior.families import (
    BagOfWords,
    Bernoulli,
    Beta,
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    KernelDensity,
    Laplace,
    LogNormal,
    MixtureOfNormals,
    Multinomial,
    NegativeBinomial,
    NoClosedFormError,
    Normal,
    NormalDistribution,
    Poisson,
)
from posterior.generative import NOTHING, Block, GenerativeSpec
from posterior.notices import DataWarning
from posterior.schema import read_table


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.fit(X, y, sample_weight=weight)


def rows_of(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def refitted(model, X, y, weight, rows):
    """Fit again without each of some rows, the schema and the columns held fixed, and score the row."""
    fit = model.model_
    kept = [b for b in fit.blocks if b.columns]
    spec = GenerativeSpec(tuple(Block(b.columns, b.plan.family, NOTHING) for b in kept), fit.spec.priors)
    codes = np.searchsorted(fit.classes, y)

    def data(rows):
        encoded = fit.schema.encode(fit.schema.align(read_table(rows_of(X, rows))))
        return LocalDataset(fit.schema, encoded, codes[rows], None if weight is None else weight[rows])

    out = []
    for i in rows:
        others = np.flatnonzero(np.arange(len(y)) != i)
        refit = spec.fit(data(others), fit.classes)
        scores, log_prior = refit.log_joint(data(np.array([i])))[0], refit.log_prior.copy()
        if codes[i] not in codes[others]:
            scores[codes[i]] = log_prior[codes[i]] = -np.inf
        out.append(log_softmax(log_prior if np.isneginf(scores).all() else scores))
    return np.array(out)


def agree(found, expected, tolerance=1e-8):
    """To 1e-8, and beyond log posteriors of −100 to ten digits."""
    assert found.shape == expected.shape
    impossible = np.isneginf(expected)
    assert (np.isneginf(found) == impossible).all()
    found, expected = np.where(impossible, 0, found), np.where(impossible, 0, expected)
    error = np.abs(found - expected) / np.maximum(1, np.abs(expected) / 100)
    assert error.max() <= tolerance, (error.max(), np.argwhere(error > tolerance)[:5])


def check(model, X, y, weight=None, *, most=15):
    """Compare with refitting without the row: all rows of small classes, and `most` others."""
    fitted(model, X, y, weight)
    found = model.leave_one_out_log_proba(X, y, weight)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[codes] <= 6)
    others = np.flatnonzero(counts[codes] > 6)
    step = max(1, len(others) // most)
    rows = np.concatenate([rows, others[::step]])
    with one_blas_thread:  # many small fits
        agree(found[rows], refitted(model, X, y, weight, rows))


def gaussian(seed=0, n=200, d=4, K=3, sizes=None):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(K), sizes) if sizes is not None else rng.integers(0, K, n)
    mix = rng.normal(size=(K, d, d)) * 0.4 + np.eye(d)
    X = np.einsum("nd,nde->ne", rng.normal(size=(len(y), d)), mix[y]) + 1.5 * rng.normal(size=(K, d))[y]
    return X, y, rng


WEIGHTS = ["none", "whole", "real", "tiny", "equal"]


def weights(kind, n, seed=3):
    rng = np.random.default_rng(seed)
    return {
        "none": None,
        "whole": rng.integers(1, 4, n).astype(float),
        "real": rng.gamma(2.0, size=n) + 0.05,
        "tiny": (rng.gamma(2.0, size=n) + 0.05) * 1e-7,
        "equal": np.full(n, 0.3),
    }[kind]


GDA = GaussianDiscriminantAnalysis
GAUSSIAN = {
    "lda": LDA(),
    "lda-unbiased": LDA(bias=False),
    "qda": QDA(),
    "qda-unbiased": QDA(bias=False),
    "rda": GDA(tied=0.3),
    "rda-unbiased": GDA(tied=0.7, bias=False),
    "diagonal": GDA(shape="diagonal"),
    "diagonal-rda": GDA(shape="diagonal", tied=0.4, bias=False),
    "diagonal-tied": GDA(shape="diagonal", tied=1),
    "spherical": GDA(shape="spherical"),
    "spherical-rda": GDA(shape="spherical", tied=0.2, bias=False),
    "spherical-tied": GDA(shape="spherical", tied=1.0),
    "pool": GDA(on_singular="pool"),
    "nb": GaussianNB(),
    "nb-floor": GaussianNB(var_smoothing=0.7),
    "nb-tied": NaiveBayes(tied=True, weights=1.0),
    "nb-prior": NaiveBayes(tied=False, weights=1.0),
    "nb-strong-prior": GenerativeClassifier([(slice(None), Normal(variance_rows=75, bias=False))]),
    "normal-unbiased": GenerativeClassifier([(slice(None), Normal(bias=False))]),
    "normal-tied-unbiased": GenerativeClassifier([(slice(None), Normal(tied=True, bias=False, floor=0.1))]),
}
every_gaussian = pytest.mark.parametrize("model", GAUSSIAN.values(), ids=GAUSSIAN.keys())
every_weight = pytest.mark.parametrize("kind", WEIGHTS)


@pytest.mark.crossed
@every_gaussian
@every_weight
def test_every_gaussian_model_equals_refitting_without_the_row(model, kind):
    X, y, _ = gaussian()
    check(model, X, y, weights(kind, len(y)))


@every_gaussian
def test_offsets_and_scales_of_columns_cost_nothing(model):
    X, y, _ = gaussian(1, n=90)
    if "spherical" in str(model):
        check(model, X * 1e-3 + 1e6 * 1e-3, y)
    else:
        check(model, X * [1e-6, 1.0, 1e6, 10.0] + [1.0, 1e6, -1e12, 0.0], y)


@pytest.mark.parametrize("model", [LDA(), QDA(), GDA(tied=0.3), GaussianNB()], ids=str)
def test_classes_far_apart_cost_nothing(model):
    """The row's own class keeps the density that it has without the distance."""
    X, y, _ = gaussian(4, n=90)
    far = X + np.array([0, 2.0**30, -(2.0**31)])[y][:, None]
    fitted(model, far, y)
    found = model.leave_one_out_log_proba(far, y)
    assert (found[np.arange(90), y] == 0).all()
    near = X + np.array([0, 300.0, -700.0])[y][:, None]
    check(model, near, y)


@pytest.mark.crossed
@every_gaussian
@every_weight
def test_classes_of_one_two_and_few_rows_equal_refitting_without_the_row(model, kind):
    X, y, _ = gaussian(2, K=6, sizes=[40, 1, 2, 3, 5, 6])
    check(model, X, y, weights(kind, len(y)), most=15)


@every_gaussian
def test_more_columns_than_rows_in_every_class(model):
    X, y, _ = gaussian(5, d=8, sizes=[7, 7, 6])
    check(model, X, y)


@every_gaussian
def test_more_columns_than_rows(model):
    X, y, _ = gaussian(5, d=8, sizes=[3, 3, 1])
    check(model, X, y)


@every_gaussian
def test_a_column_constant_in_one_class_and_one_constant_in_every_class(model):
    X, y, _ = gaussian(6, n=40)
    X[y == 1, 2] = 3.0
    check(model, X, y)
    X[:, 2] = y
    check(model, X, y)


@every_gaussian
def test_a_row_that_is_all_the_spread_of_its_class(model):
    """The other rows of class 1 are the same: without the odd one the class has no spread at all."""
    X, y, _ = gaussian(7, n=40)
    X[y == 1] = 0.5
    X[np.flatnonzero(y == 1)[0]] += [1.0, 2.0, 0.0, -1.0]
    check(model, X, y, most=30)


@pytest.mark.parametrize("tied", [0.0, 1e-9, 0.3, 0.999, 1.0])
@given(seed=st.integers(0, 2**32 - 1))
@few_examples
def test_rows_classes_and_weights_of_any_size(tied, seed):
    rng = np.random.default_rng(seed)
    K, d = rng.integers(2, 5), rng.integers(1, 5)
    X, y, _ = gaussian(seed, n=int(rng.integers(12, 40)), d=d, K=K)
    y[:2] = 0, 1
    shape = rng.choice(["full", "diagonal", "spherical"])
    weight = [None, rng.gamma(1.0, size=len(y)) + 1e-3][rng.integers(2)]
    check(GDA(tied=tied, shape=shape, bias=bool(rng.integers(2))), X, y, weight, most=12)


@every_gaussian
def test_one_row_weighs_nearly_all(model):
    """What remains of the class is a difference that keeps no digit."""
    X, y, _ = gaussian(8, n=40)
    weight = np.ones(len(y))
    weight[5] = 1e18
    check(model, X, y, weight, most=30)


@pytest.mark.crossed
@every_gaussian
@pytest.mark.parametrize("far", [1e2, 1e3, 1e4])
def test_a_leverage_just_below_one(model, far):
    """The row is nearly all of a column's spread; only one column, for all would be as good as collinear."""
    X, y, _ = gaussian(9, n=60)
    X[4, 1] *= far
    check(model, X, y, most=30)


@pytest.mark.parametrize(
    "options",
    [
        {"priors": [0.2, 0.5, 0.3]},
        {"priors": "uniform"},
        {"priors": {0: 0.0, 1: 0.4, 2: 0.6}},
        {"prior_smoothing": 2.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["none", "real"])
def test_priors_are_those_of_the_other_rows_or_as_given(options, kind):
    X, y, _ = gaussian(3, sizes=[30, 20, 1])
    for model in (GDA(**options), GDA(tied=1, **options), NaiveBayes(tied=False, weights=1.0, **options)):
        check(model, X, y, weights(kind, len(y)))


def test_without_its_only_row_a_class_is_absent():
    X, y, _ = gaussian(3, sizes=[30, 20, 1])
    for model in (LDA(), QDA(priors=[0.3, 0.3, 0.4]), GDA(prior_smoothing=1.0), GaussianNB()):
        logs = fitted(model, X, y).leave_one_out_log_proba(X, y)
        assert np.isneginf(logs[50, 2])
        assert np.isfinite(np.delete(logs, 50, axis=0)).all()
        assert np.exp(logs[50]).sum() == pytest.approx(1)


def test_where_no_class_would_be_left_the_priors_stay():
    model = fitted(GaussianNB(priors=[0.0, 1.0]), [[0.0], [1.0], [5.0]], [0, 0, 1])
    logs = model.leave_one_out_log_proba([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert np.exp(logs[2]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "model",
    [
        LDA(priors=[0.2, 0.3, 0.4, 0.1]),
        GDA(prior_smoothing=1),
        GDA(tied=0.4, prior_smoothing=1),
        GDA(shape="diagonal", prior_smoothing=1),
        NaiveBayes(prior_smoothing=1, tied=False, weights=1.0),
        NaiveBayes(prior_smoothing=1, tied=True, weights=1.0),
    ],
    ids=str,
)
def test_a_class_without_any_row_leans_on_the_others(model):
    X, y, _ = gaussian(3, n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    rows = np.arange(0, 60, 4)
    found = model.leave_one_out_log_proba(X, y)
    agree(found[rows], refitted(model, X, y, None, rows))


@pytest.mark.parametrize("residual", [1e-14, 1e-12, 1e-9, 1e-3])
def test_determination_says_how_clear_a_column_is_of_being_dependent(residual):
    """Above 1 exactly where no column is found to depend on others, and in proportion to the residual."""
    covariance = np.array([[1.0, 1.0], [1.0, 1.0 + residual]]) * [[4.0, 2e3], [2e3, 1e6]]
    clear = determination(covariance, np.zeros(2))
    assert (clear > 1) == (not dependent_columns(covariance, 1.0, np.zeros(2)))
    further = covariance + np.diag([0.0, 9 * residual * 1e6])
    assert determination(further, np.zeros(2)) == pytest.approx(10 * clear, rel=0.1)
    assert determination(covariance - np.eye(2), np.zeros(2)) == 0


# -- columns of other kinds -----------------------------------------------------------------------


def mixed(seed=0, n=200, gaps=0.12):
    """A column for every family, with gaps."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=n) * (1 + y) + y,
            "width": rng.normal(size=n) + 1e6,
            "income": np.exp(rng.normal(size=n) + 0.5 * y),
            "wait": rng.exponential(1.0 + y),
            "visits": rng.poisson(1.0 + y).astype(float),
            "left": (rng.random(n) < 0.2 + 0.2 * y).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "town": rng.choice(["A", "B"], n),
            "road": np.where(rng.random(n) < 0.5, "x", np.where(y > 1, "y", "z")),
        }
    )
    first = np.arange(n) < 40  # every category stays, whichever row is left out
    gone = (rng.random(frame.shape) < gaps) & ~first[:, None]
    return frame.mask(gone), np.array(["a", "b", "c"])[y], rng


def by_family(alpha=1.0, **normal):
    return GenerativeClassifier(
        [
            (["height", "width"], Normal(**normal)),
            ("income", LogNormal(**normal)),
            ("wait", Exponential()),
            ("visits", Poisson(alpha=alpha)),
            ("left", Bernoulli(alpha=alpha)),
            ("colour", Categorical(alpha=alpha)),
            (["town", "road"], Categorical(alpha=alpha, joint=True)),
        ],
        kinds={"visits": "count"},
    )


MIXED = {
    "smoothed": by_family(),
    "lightly": by_family(alpha=1e-9),
    "maximum likelihood": by_family(alpha=0),
    "tied": by_family(tied=True),
    "unbiased": by_family(bias=False),
    "tied unbiased": by_family(tied=True, bias=False),
    "high floor": by_family(floor=0.9),
    "naive Bayes": NaiveBayes(tied=False, weights=1.0),
    "one-dependence": OneDependence(),
    "one-dependence, lightly": OneDependence(class_rows=0.01, pair_rows=1e-6),
    "negative binomial": GenerativeClassifier([("visits", NegativeBinomial())]),
    "negative binomial, maximum likelihood": GenerativeClassifier([("visits", NegativeBinomial(alpha=0))]),
    "histogram": GenerativeClassifier([(["height", "income", "wait"], Histogram())]),
    "histogram of five bins": GenerativeClassifier([(["height", "wait"], Histogram(bins=5, alpha=0.3))]),
    "kernel density": GenerativeClassifier([(["height", "income", "wait"], KernelDensity())]),
    "gamma": GenerativeClassifier([(["income", "wait"], Gamma())]),
    "gamma, high floor": GenerativeClassifier([(["income", "wait"], Gamma(floor=0.9))]),
}


@pytest.mark.crossed
@pytest.mark.parametrize("model", MIXED.values(), ids=MIXED.keys())
@every_weight
def test_mixed_columns_with_gaps_equal_refitting_without_the_row(model, kind):
    X, y, _ = mixed()
    check(model, X, y, weights(kind, len(y)))


@pytest.mark.crossed
@pytest.mark.parametrize("model", MIXED.values(), ids=MIXED.keys())
@pytest.mark.parametrize("kind", ["none", "real"])
def test_columns_that_a_class_hardly_shows(model, kind):
    """Class c has one or two values in some columns and none in another."""
    X, y, _ = mixed(1, n=70)
    own = np.flatnonzero(y == "c")
    X.loc[own[1:], "height"] = np.nan
    X.loc[own[2:], "width"] = np.nan
    X.loc[own, "wait"] = np.nan
    X.loc[own[1:], "visits"] = np.nan
    X.loc[own[:-1], "income"] = np.nan
    X.loc[own[1:], "left"] = np.nan
    check(model, X, y, weights(kind, len(y)), most=30)


@pytest.mark.parametrize("floor", [1e-15, 0.9])
@every_weight
def test_shares_with_gaps_equal_refitting_without_the_row(floor, kind):
    y = np.arange(60) % 3
    rng = np.random.default_rng(0)
    X = rng.beta(1.0 + y[:, None], 2.0, size=(60, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    check(GenerativeClassifier([([0, 1], Beta(floor=floor))]), X, y, weights(kind, 60))


@pytest.mark.parametrize(
    "families", [{"wait": Exponential(floor=0.9)}, {"visits": Poisson(alpha=0.3)}], ids=str
)
def test_floors_and_smoothing_towards_all_classes_move_with_the_row(families):
    X, y, _ = mixed(2, n=80)
    X["visits"] = X["visits"].where(y != "a", 0.0)
    X["wait"] = X["wait"].where(y != "a", 0.0)
    column = next(iter(families))
    model = GenerativeClassifier([(column, families[column])], kinds={"visits": "count"})
    check(model, X, y, most=30)


@pytest.mark.crossed
@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB(),
        BernoulliNB(alpha=0),
        BernoulliNB(alpha=[0.5] * 30),
        MultinomialNB(),
        MultinomialNB(alpha=0),
        MultinomialNB(alpha=[0.1, 2.0] * 15),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@every_weight
def test_words_equal_refitting_without_the_row(model, form, kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], [40, 30, 20, 1])
    X = rng.poisson(0.2 + 0.4 * rng.random((4, 30))[y] * (rng.random((4, 30)) < 0.8)[y]).astype(float)
    X[:, 7] = 0
    X[3] = 0
    check(model, sparse.csr_array(X) if form == "sparse" else X, y, weights(kind, len(y)), most=30)


@pytest.mark.parametrize("ordered", [True, False])
def test_counts_with_gaps_were_never_counted(ordered):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 30)
    X = rng.poisson(1.0 + y[:, None], size=(60, 4)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    model = GenerativeClassifier([(slice(None), Multinomial(ordered=ordered))])
    check(model, X, y, most=30)


@pytest.mark.parametrize(
    "model", [CategoricalNB(), CategoricalNB(alpha=0), CategoricalNB(min_categories=9)], ids=str
)
@every_weight
def test_categories_equal_refitting_without_the_row(model, kind):
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [50, 40, 1])
    X = np.stack([rng.integers(0, 5, 91), (y + rng.integers(0, 3, 91)) % 4], axis=1)
    check(model, X, y, weights(kind, len(y)))


def test_texts_equal_refitting_without_the_row():
    rng = np.random.default_rng(3)
    words = np.array(["so", "it", "goes", "cheap", "watches", "noon"])
    y = np.repeat(["ham", "spam"], 20)
    texts = [" ".join(rng.choice(words, rng.integers(1, 6))) for _ in y]
    X = pd.DataFrame({"text": texts, "length": rng.normal(size=40)})
    for model in (
        GenerativeClassifier([("text", BagOfWords()), ("length", Normal())]),
        GenerativeClassifier([("text", BagOfWords("bernoulli", hashing=64))]),
    ):
        check(model, X, y)


RARE = [
    BagOfWords(),
    BagOfWords(alpha=0.1),
    BagOfWords(alpha=0),
    BagOfWords("bernoulli"),
    BagOfWords("bernoulli", alpha=0),
    BagOfWords(vectorizer=CountVectorizer(binary=True)),
    BagOfWords(vectorizer=CountVectorizer(min_df=2)),
    BagOfWords(vectorizer=CountVectorizer(max_features=10)),
]


def rare_words():
    """Texts many of whose words no other text has; one has no others, one is missing, one class is small."""
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 41)
    y = np.repeat(["ham", "spam", "eggs"], [14, 12, 6])
    draw = [share if label == "ham" else share[::-1] for label in y]
    texts = [
        " ".join(f"w{j}" for j in rng.choice(40, rng.integers(1, 8), p=p / p.sum())) + f" only{i % 29}"
        for i, p in enumerate(draw)
    ]
    texts[5], texts[7] = "nobody else", None
    return pd.DataFrame({"text": texts, "length": rng.normal(size=len(y))}), y


def refitted_by_parts(family, X, y, weight, folds):
    """Posteriors of each part of the rows by a model fitted to the others, which are all that it knows."""
    out = np.empty((len(y), 3))
    for fold in np.unique(folds):
        rest = folds != fold
        w = None if weight is None else weight[rest]
        model = fitted(NaiveBayes(families={"text": family}, tied=False, weights=1.0), X[rest], y[rest], w)
        out[~rest] = model.predict_log_proba(X[~rest])
    return out


@every_weight
@pytest.mark.parametrize("family", RARE, ids=str)
def test_words_that_only_held_out_texts_have_are_not_known(family, kind):
    X, y = rare_words()
    weight = weights("whole" if kind != "none" and family.chosen_anew else kind, len(y))
    model = fitted(NaiveBayes(families={"text": family}, tied=False, weights=1.0), X, y, weight)
    folds = np.arange(len(y)) % 5
    found = model.k_fold_log_proba(X, y, cv=folds, sample_weight=weight)
    agree(found, refitted_by_parts(family, X, y, weight, folds))
    if family.chosen_anew:
        with pytest.raises(NoClosedFormError, match="min_df, max_df or max_features choose its words anew"):
            model.leave_one_out_log_proba(X, y, weight)
        return
    found = model.leave_one_out_log_proba(X, y, weight)
    agree(found, refitted_by_parts(family, X, y, weight, np.arange(len(y))))


# -- what stays as fitted --------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LDA(), QDA(), GDA(tied=0.3)], ids=str)
def test_columns_left_out_stay_out(model):
    X, y, _ = gaussian(3, n=60)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["Total"] = frame.sum(axis=1)
    frame["same"] = 1.0
    fitted(model, frame, y)
    without = model.leave_one_out_log_proba(frame, y)
    agree(without, fitted(model, frame[list("abcd")], y).leave_one_out_log_proba(frame[list("abcd")], y))
    check(model, frame, y)


def test_settings_chosen_by_cross_validation_stay():
    X, y, _ = gaussian(3, n=80)
    model = GDA(tied="auto", shape="auto").fit(X, y)
    settled = model.model_.blocks[0].plan.family
    chosen = GDA(tied=settled.tied, shape=settled.shape).fit(X, y)
    agree(model.leave_one_out_log_proba(X, y), chosen.leave_one_out_log_proba(X, y), 1e-12)


def test_the_fitted_model_is_unchanged_by_a_call():
    X, y, _ = mixed(n=80)
    for model in (by_family(), NaiveBayes(tied=True, weights=1.0)):
        fitted(model, X, y)
        logs = model.predict_log_proba(X)
        before = pickle.dumps(model)
        model.leave_one_out_log_proba(X, y)
        assert pickle.dumps(model) == before
        assert (model.predict_log_proba(X) == logs).all()


def test_order_of_the_rows_parts_and_threads_are_irrelevant():
    X, y, rng = gaussian(0, n=3000)
    for model in (LDA(), QDA(), GDA(tied=0.3), GaussianNB()):
        whole = fitted(model, X, y).leave_one_out_log_proba(X, y)
        order = rng.permutation(len(y))
        agree(model.leave_one_out_log_proba(X[order], y[order]), whole[order], 1e-12)
        parts = type(model)(**model.get_params())
        for rows in np.array_split(order, 3):
            parts.partial_fit(X[rows], y[rows])
        agree(parts.leave_one_out_log_proba(X, y), whole, 1e-9)
        with threads(1):
            assert (model.leave_one_out_log_proba(X, y) == whole).all()


def test_more_rows_than_a_chunk_and_rows_to_refit_among_them():
    X, y, _ = gaussian(0, K=4, sizes=[40_000, 30_000, 2, 1])
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    model = fitted(QDA(), X, y)
    found = model.leave_one_out_log_proba(X, y)
    rows = np.concatenate([np.flatnonzero(y > 1), [0, 40_000, 70_000]])
    agree(found[rows], refitted(model, X, y, None, rows))


def test_rows_of_weight_zero_are_predicted():
    X, y, rng = gaussian(3, n=60)
    weight = rng.integers(0, 3, 60).astype(float)
    labels = np.where(weight > 0, y, 9)  # the class of a row that does not count does not matter
    model = fitted(QDA(), X, labels, weight)
    found = model.leave_one_out_log_proba(X, labels, weight)
    rows = np.flatnonzero(weight)
    agree(found[rows], refitted(model, X[rows], y[rows], weight[rows], range(len(rows))))
    assert (found[weight == 0] == model.predict_log_proba(X[weight == 0])).all()


def test_a_row_of_weight_two_goes_as_a_whole():
    X, y, rng = gaussian(3, n=60)
    weight = rng.integers(1, 4, 60)
    twice = np.repeat(np.arange(60), weight)
    model = fitted(GDA(tied=0.3), X, y, weight.astype(float))
    whole = model.leave_one_out_log_proba(X, y, weight)
    plain = fitted(GDA(tied=0.3), X[twice], y[twice])
    single = plain.leave_one_out_log_proba(X[twice], y[twice])
    agree(whole[weight == 1], single[np.isin(twice, np.flatnonzero(weight == 1))])
    assert (np.abs(whole[weight > 1] - single[np.unique(twice, return_index=True)[1]][weight > 1]) > 0).any()


# -- refusals -----------------------------------------------------------------------------------------


def unit_covariance():
    return LDA(covariance_estimator=EmpiricalCovariance())


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (GDA(shrinkage=0.1), "shrinkage changes"),
        (GDA(shrinkage="oas", tied=1), "shrinkage changes"),
        (LDA(shrinkage="auto"), "shrinkage"),
        (QDA(reg_param=0.1), "shrinkage"),
        (unit_covariance(), "PlugInNormal"),
        (GenerativeClassifier([([0, 1], Laplace()), ([2, 3], Normal())]), "Laplace"),
        (GenerativeClassifier([([0, 1], MixtureOfNormals(2)), ([2, 3], Normal())]), "MixtureOfNormals"),
    ],
    ids=str,
)
def test_models_without_a_closed_form_say_why_and_what_to_use(model, reason):
    X, y, _ = gaussian(3, n=60)
    fitted(model, X, y)
    with pytest.raises(NoClosedFormError, match=reason) as refused:
        model.leave_one_out_log_proba(X, y)
    assert "k_fold_log_proba" in str(refused.value)
    assert "column 'x0', 'x1'" in str(refused.value)


def test_gaps_filled_in_by_em_have_no_closed_form():
    X, y, _ = gaussian(3, n=60)
    X[4, 2] = np.nan
    model = fitted(QDA(), X, y)
    with pytest.raises(NoClosedFormError, match=r"filled in by EM.*k_fold_log_proba"):
        model.leave_one_out_log_proba(X, y)


def test_given_distributions_have_no_training_rows():
    normal = NormalDistribution([[0.0], [1.0]], [[1.0], [1.0]])
    model = GenerativeClassifier.from_distributions([0, 1], None, [("x", normal)])
    with pytest.raises(NoClosedFormError, match=r"no training rows.*k_fold_log_proba"):
        model.leave_one_out_log_proba(pd.DataFrame({"x": [0.0, 1.0]}), [0, 1])


def test_a_refusal_of_singular_covariances_names_the_row():
    X, y, _ = gaussian(2, sizes=[30, 30, 5])
    model = GDA(on_singular="error").fit(X, y)
    with pytest.raises(ValueError, match=r"without row 60, of class 2"):
        model.leave_one_out_log_proba(X, y)


def test_other_rows_than_those_of_training_are_refused():
    X, y, _ = gaussian(3, n=60)
    model = QDA().fit(X, y)
    with pytest.raises(ValueError, match=r"class \d weighs \d+ in these rows, expected \d+ .*training rows"):
        model.leave_one_out_log_proba(X[:50], y[:50])
    with pytest.raises(ValueError, match="sample_weight that was passed to fit"):
        model.leave_one_out_log_proba(X, y, np.full(60, 2.0))
    with pytest.raises(ValueError, match=r"class 7, which is not one of the classes"):
        model.leave_one_out_log_proba(X, np.where(np.arange(60) == 9, 7, y))
    with pytest.raises(ValueError, match="labels of another type"):
        model.leave_one_out_log_proba(X, y.astype(str))
    with pytest.raises(NotFittedError):
        QDA().leave_one_out_log_proba(X, y)


@pytest.mark.parametrize("model", [LDA(), QDA(), GaussianNB(), NaiveBayes(tied=False, weights=1.0)], ids=str)
def test_other_rows_with_the_same_class_counts_are_refused(model):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    model.fit(X, y)
    for table, classes in ((rng.normal(size=X.shape), y), (X, rng.permutation(y)), (X - X.mean(axis=0), y)):
        with pytest.raises(ValueError, match=r"these are not the training rows: .*'x0', 'x3'"):
            model.leave_one_out_log_proba(table, classes)
    order = rng.permutation(150)
    np.testing.assert_allclose(
        model.leave_one_out_log_proba(X[order], y[order]),
        model.leave_one_out_log_proba(X, y)[order],
        atol=1e-12,
    )


@pytest.mark.parametrize("model", [LDA(), QDA(), GaussianNB(), GDA(shape="diagonal")], ids=str)
def test_training_rows_are_known_again_even_with_means_of_zero_and_units_far_apart(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4))
    X -= np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    X *= [1e-6, 1.0, 1.0, 1e6]
    assert np.isfinite(model.fit(X, y).leave_one_out_log_proba(X, y)).all()
    other = X.copy()
    other[:, 0] = 1e-6 * rng.normal(size=300)
    with pytest.raises(ValueError, match="these are not the training rows"):
        model.leave_one_out_log_proba(other, y)


@every_weight
@pytest.mark.parametrize("seed", range(3))
def test_trees_equal_refitting_without_the_row_even_where_it_decides_the_tree(seed, kind):
    X, y, rng = mixed(seed, n=90, gaps=0.0)
    X["twin"] = np.where(rng.random(90) < 0.8, X["colour"], X["road"])  # a tie that few rows decide
    check(TreeAugmented(), X, y, weights(kind, len(y)), most=30)


def test_trees_of_rows_with_gaps_are_not_left_out_in_closed_form():
    X, y, _ = mixed()
    with pytest.raises(NoClosedFormError, match="gaps are integrated out along the whole tree"):
        TreeAugmented().fit(X, y).leave_one_out_log_proba(X, y)
