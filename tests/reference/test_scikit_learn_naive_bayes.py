"""Our naive Bayes classifiers against scikit-learn's, to 1e-8, wherever scikit-learn's answer is right.

The cases are scikit-learn's own data sets.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import posterior
from posterior.kernels.choice import using

ATTRIBUTES = {
    "GaussianNB": ("theta_", "var_", "class_prior_", "class_count_", "classes_"),
    "BernoulliNB": ("feature_count_", "feature_log_prob_", "class_log_prior_", "class_count_", "classes_"),
    "MultinomialNB": ("feature_count_", "feature_log_prob_", "class_log_prior_", "class_count_", "classes_"),
    "CategoricalNB": ("n_categories_", "class_log_prior_", "class_count_", "classes_"),
}
TEN = np.arange(1, 11) / 55


@cache
def digits():
    return load_digits(return_X_y=True)


@cache
def table(name):
    """Named tables: X and y, digits without the columns that scikit-learn divides by zero for."""
    if name in LOADERS:
        return LOADERS[name](return_X_y=True)
    X, y = digits()
    on = np.array([(X > 0)[::2][y[::2] == k].mean(axis=0) for k in range(10)])
    spread = np.array([X[::2][y[::2] == k].std(axis=0) for k in range(10)])
    return {
        "digits": (X, y),
        "digits as bits": ((X > 8).astype(float), y),
        "digits as five categories": ((X // 4).astype(int), y),
        "digits varying in every class": (X[:, (spread > 0).all(axis=0)], y),
        "digits on and off in every class": (X[:, ((on > 0) & (on < 1)).all(axis=0)], y),
        "two digits": (X[y < 2], y[y < 2]),
        "named digits": (X, np.array([f"digit {k}" for k in y])),
    }[name]


LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def both(name, **params):
    return getattr(posterior, name)(**params), getattr(sklearn.naive_bayes, name)(**params)


def agree(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8, equal_nan=False)
    assert np.shape(ours) == np.shape(theirs)


def agree_in_everything(ours, theirs, X):
    name = type(ours).__name__
    for attribute in ATTRIBUTES[name]:
        if attribute == "classes_":
            np.testing.assert_array_equal(ours.classes_, theirs.classes_, strict=True)
        else:
            agree(getattr(ours, attribute), getattr(theirs, attribute))
    if name == "CategoricalNB":
        for attribute in ("category_count_", "feature_log_prob_"):
            mine, others = getattr(ours, attribute), getattr(theirs, attribute)
            assert isinstance(mine, list)
            assert len(mine) == len(others)
            for a, b in zip(mine, others, strict=True):
                agree(a, b)
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        agree(getattr(ours, method)(X), getattr(theirs, method)(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X), strict=True)


def weights(n):
    return np.random.default_rng(0).choice([0.5, 1.0, 1.75, 3.0], size=n)


def halves(name, estimator):
    """Rows to learn from and rows to predict; CategoricalNB of scikit-learn cannot meet new categories."""
    X, y = table(name)
    rows = np.minimum(X, X[::2].max(axis=0)) if type(estimator).__name__ == "CategoricalNB" else X
    return X[::2], y[::2], rows


GAUSSIAN = [("GaussianNB", {}, name) for name in ("iris", "wine", "cancer", "digits varying in every class")]
GAUSSIAN += [
    ("GaussianNB", {"priors": [0.2, 0.3, 0.5]}, "wine"),
    ("GaussianNB", {"priors": np.array([0.9, 0.1])}, "cancer"),
]
BERNOULLI = [
    ("BernoulliNB", params, name)
    for name in ("digits as bits", "two digits", "named digits")
    for params in ({}, {"alpha": 0.01}, {"fit_prior": False})
]
BERNOULLI += [
    ("BernoulliNB", {"binarize": None}, "digits as bits"),
    ("BernoulliNB", {"binarize": 8.0}, "digits"),
    ("BernoulliNB", {"binarize": 7.5, "class_prior": TEN}, "digits"),
    ("BernoulliNB", {"binarize": 3.0}, "iris"),
    ("BernoulliNB", {"binarize": 100.0, "class_prior": [0.3, 0.7]}, "cancer"),
    ("BernoulliNB", {"alpha": 0.0, "force_alpha": True}, "digits on and off in every class"),
]
MULTINOMIAL = [
    ("MultinomialNB", params, name)
    for name in ("digits", "two digits", "wine", "named digits")
    for params in ({}, {"alpha": 1e-3}, {"fit_prior": False})
]
MULTINOMIAL += [
    ("MultinomialNB", {"alpha": np.linspace(0.1, 2.0, 64)}, "digits"),
    ("MultinomialNB", {"alpha": list(np.linspace(0.1, 2.0, 64)), "class_prior": TEN}, "digits"),
    ("MultinomialNB", {"alpha": 0.0, "force_alpha": True}, "digits on and off in every class"),
    ("MultinomialNB", {"alpha": 0.0, "force_alpha": True}, "iris"),
]
CATEGORICAL = [
    ("CategoricalNB", params, "digits as five categories")
    for params in (
        {},
        {"alpha": 0.25},
        {"fit_prior": False},
        {"class_prior": TEN},
        {"min_categories": 7},
        {"min_categories": np.arange(64) % 9},
    )
]
CATEGORICAL += [
    ("CategoricalNB", {"alpha": 0.0, "force_alpha": True}, "digits as bits"),
    ("CategoricalNB", {"min_categories": 17}, "two digits"),
]
# What scikit-learn adds to variances takes no notice of weights, and in partial_fit only of the last part.
UNSMOOTHED = [(name, {"var_smoothing": 0.0, **params}, data) for name, params, data in GAUSSIAN]
CASES = GAUSSIAN + UNSMOOTHED + BERNOULLI + MULTINOMIAL + CATEGORICAL
IDS = [f"{name}-{'-'.join(params)}-{data}" for name, params, data in CASES]
WEIGHTED, WEIGHTED_IDS = CASES[len(GAUSSIAN) :], IDS[len(GAUSSIAN) :]


# scikit-learn takes the logarithm of zero where alpha is 0.
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:sklearn")
@pytest.mark.parametrize(("name", "params", "data"), CASES, ids=IDS)
def test_naive_bayes_agrees_with_scikit_learn(name, params, data):
    ours, theirs = both(name, **params)
    X, y, rows = halves(data, ours)
    agree_in_everything(ours.fit(X, y), theirs.fit(X, y), rows)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:sklearn")
@pytest.mark.parametrize(("name", "params", "data"), WEIGHTED, ids=WEIGHTED_IDS)
def test_weighted_naive_bayes_agrees_with_scikit_learn(name, params, data):
    ours, theirs = both(name, **params)
    X, y, rows = halves(data, ours)
    weight = weights(len(y))
    agree_in_everything(ours.fit(X, y, weight), theirs.fit(X, y, sample_weight=weight), rows)


@pytest.mark.parametrize(
    ("name", "params", "data"),
    [
        ("GaussianNB", {"var_smoothing": 0.0}, "wine"),
        ("BernoulliNB", {}, "digits"),
        ("MultinomialNB", {}, "digits"),
        ("CategoricalNB", {"min_categories": 5}, "digits as five categories"),
    ],
)
def test_rows_of_weight_zero_count_for_nothing_as_in_scikit_learn(name, params, data):
    ours, theirs = both(name, **params)
    X, y, rows = halves(data, ours)
    weight = weights(len(y)) * (np.arange(len(y)) % 5 > 0)
    agree_in_everything(ours.fit(X, y, weight), theirs.fit(X, y, sample_weight=weight), rows)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "params", "data"),
    [
        ("GaussianNB", {"var_smoothing": 0.0}, "wine"),
        ("GaussianNB", {"var_smoothing": 0.0, "priors": [0.9, 0.1]}, "cancer"),
        ("BernoulliNB", {"binarize": 8.0}, "digits"),
        ("MultinomialNB", {"alpha": 0.5}, "digits"),
        ("MultinomialNB", {"fit_prior": False}, "wine"),
        ("CategoricalNB", {"min_categories": 5}, "digits as five categories"),
    ],
)
def test_partial_fit_agrees_with_scikit_learns_partial_fit(name, params, data, weighted):
    ours, theirs = both(name, **params)
    X, y, rows = halves(data, ours)
    weight = weights(len(y)) if weighted else np.ones(len(y))
    classes = np.unique(y)
    for start in range(0, len(y), 30):
        part = slice(start, start + 30)
        for model in (ours, theirs):
            model.partial_fit(X[part], y[part], classes=classes, sample_weight=weight[part])
    agree_in_everything(ours, theirs, rows)


@pytest.mark.parametrize("layout", [csr_matrix, csc_matrix, csr_array, csc_array])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "params"),
    [("BernoulliNB", {}), ("BernoulliNB", {"binarize": 8.0}), ("MultinomialNB", {})],
    ids=["bits", "threshold", "counts"],
)
def test_sparse_rows_agree_with_scikit_learns_and_with_dense_rows(name, params, weighted, layout):
    ours, theirs = both(name, **params)
    X, y, rows = halves("digits", ours)
    weight = weights(len(y)) if weighted else None
    dense = both(name, **params)[0].fit(X, y, sample_weight=weight)
    ours.fit(layout(X), y, sample_weight=weight)
    agree_in_everything(ours, theirs.fit(layout(X), y, sample_weight=weight), layout(rows))
    agree(ours.predict_log_proba(layout(rows)), dense.predict_log_proba(rows))


def test_a_negative_threshold_is_refused_as_in_scikit_learn():
    X, y = table("two digits")
    for given in (X, csr_matrix(X)):
        with pytest.raises(ValueError, match="binarize must be None or not negative"):
            posterior.BernoulliNB(binarize=-1.0).fit(given, y)


@pytest.mark.parametrize("threshold", [0.4, 0.5, 0.6])
def test_every_threshold_takes_any_numbers_as_in_scikit_learn(threshold):
    X, y = table("iris")
    ours, theirs = both("BernoulliNB", binarize=threshold)
    agree_in_everything(ours.fit(X, y), theirs.fit(X, y), X)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, pd.DataFrame, csr_matrix])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 1.1, 1.5])
@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_cells_in_single_precision_are_compared_in_single_precision(layout, threshold, mode):
    X, y = table("iris")
    X = layout(X.astype(np.float32))  # of which some cells are the threshold, rounded
    ours, theirs = both("BernoulliNB", binarize=threshold)
    with using(mode):
        agree_in_everything(ours.fit(X, y), theirs.fit(X, y), X)


def strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]


def near_threshold(n, threshold, precision):
    """Cells that are the threshold, its neighbours and other numbers, in some precision; and classes."""
    rng = np.random.default_rng(0)
    rounded = float(np.float32(threshold))
    return rng.choice([0.0, threshold, rounded, 0.5, 2.0], (n, 4)).astype(precision), np.arange(n) % 3


@pytest.mark.crossed
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, strided, pd.DataFrame, csr_matrix])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
@pytest.mark.parametrize(
    ("first", "then"),
    [(np.float32, np.float64), (np.float64, np.float32), (np.float32, np.float32)],
    ids=["single, double", "double, single", "single"],
)
@pytest.mark.parametrize("n", [12, 9000])
@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_each_table_is_compared_in_its_own_precision(layout, threshold, first, then, n, mode):
    X, y = near_threshold(n, threshold, first)
    rows, _ = near_threshold(n, threshold, then)
    ours, theirs = both("BernoulliNB", binarize=threshold)
    with using(mode):
        ours.fit(layout(X), y)
        theirs.fit(X, y)
        found, expected = ours.predict_proba(layout(rows)), theirs.predict_proba(rows)
        # Answers to single precision are in single precision.
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 if found.dtype == np.float32 else 1e-12)
        for part in (X, rows):
            for model in (ours, theirs):
                model.partial_fit(layout(part) if model is ours else part, y)
        agree(ours.feature_count_, theirs.feature_count_)
    assert ours.model_.distributions[0][1].threshold == threshold


@pytest.mark.parametrize(
    ("name", "data"),
    [
        # Elsewhere scikit-learn's ln(1 − exp(ln p)) has lost all but five digits at p = 1 − 1e-12.
        ("BernoulliNB", "digits on and off in every class"),
        ("MultinomialNB", "digits"),
        ("CategoricalNB", "digits as five categories"),
    ],
)
def test_force_alpha_false_raises_alpha_to_the_same_smallest_value_with_a_warning(name, data):
    ours, theirs = both(name, alpha=0.0, force_alpha=False)
    X, y, rows = halves(data, ours)
    for model in (ours, theirs):
        with pytest.warns(UserWarning, match="alpha too small will result in numeric errors"):
            model.fit(X, y)
    agree_in_everything(ours, theirs, rows)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "CategoricalNB"])
@pytest.mark.parametrize("alpha", [-1.0, [1.0, 2.0, 3.0]], ids=["negative", "too few"])
def test_an_alpha_that_scikit_learn_refuses_is_refused(name, alpha):
    X, y = table("digits as five categories")
    for model in both(name, alpha=alpha):
        with pytest.raises(ValueError, match="alpha"):
            model.fit(X, y)


def test_categorical_nb_refuses_an_array_of_alphas_as_scikit_learn_does():
    X, y = table("digits as five categories")
    for model in both("CategoricalNB", alpha=np.ones(64)):
        with pytest.raises(ValueError, match="alpha"):
            model.fit(X, y)


@pytest.mark.parametrize("least", [[2, 2], 2.5], ids=["too few", "fractional"])
def test_min_categories_that_scikit_learn_refuses_are_refused_by_name(least):
    X, y = table("digits as five categories")
    ours, theirs = both("CategoricalNB", min_categories=least)
    with pytest.raises(ValueError, match=r"broadcast|min_categories"):
        theirs.fit(X, y)
    with pytest.raises(ValueError, match="min_categories"):
        ours.fit(X, y)
