"""Our LDA and QDA against scikit-learn's, to 1e-8, wherever scikit-learn's answer is right.

scikit-learn's LDA takes the logarithm of rounded probabilities, so its log posteriors are compared through
its scores; its QDA refuses variances below an absolute `tol`, which is therefore 0 here. Both faults have
their tests in test_scikit_learn_departures.py.
"""

from functools import cache

import numpy as np
import pytest
import sklearn.discriminant_analysis
from scipy.special import log_softmax
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import posterior


@cache
def table(name):
    """Named tables: X and y."""
    if name in LOADERS:
        return LOADERS[name](return_X_y=True)
    if name == "two wines":
        X, y = load_wine(return_X_y=True)
        return X[y > 0], np.array(["low", "high"])[y[y > 0] - 1]
    if name == "cancer in standard units":  # lstsq solves on the raw scale, where eight digits are all it has
        X, y = load_breast_cancer(return_X_y=True)
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    X, y = load_digits(return_X_y=True)
    return X[:, X.std(axis=0) > 0], y


LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def both(name, **params):
    return getattr(posterior, name)(**params), getattr(sklearn.discriminant_analysis, name)(**params)


def agree(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8, equal_nan=False)
    assert np.shape(ours) == np.shape(theirs)


def agree_up_to_sign(ours, theirs):
    """Each column is a direction, which has no sign."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    agree(ours * np.sign((ours * theirs).sum(axis=0)), theirs)


def agree_in_posteriors(ours, theirs, X):
    """Predictions and posteriors; scores up to a constant for each row, which has no effect on either."""
    mine, others = ours.decision_function(X), theirs.decision_function(X)
    if len(theirs.classes_) == 2:
        agree(mine, others)
        others = np.stack([np.zeros(len(X)), others], axis=1)
    else:
        agree(mine - mine[:, :1], others - others[:, :1])
    agree(ours.predict_log_proba(X), log_softmax(others, axis=1))
    agree(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X), strict=True)


def agree_in_attributes(ours, theirs, attributes):
    for attribute in attributes:
        agree(getattr(ours, attribute), getattr(theirs, attribute))


def halves(name):
    X, y = table(name)
    return X[::2], y[::2], X


# -- linear ---------------------------------------------------------------------------------------

TABLES = ("iris", "wine", "two wines", "cancer", "cancer in standard units", "digits")
COMMON = ("means_", "priors_", "covariance_")


@pytest.mark.parametrize("data", TABLES)
def test_lda_agrees_with_scikit_learns_svd_solver(data):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", store_covariance=True))
    agree_in_posteriors(ours, theirs, rows)
    agree_in_attributes(ours, theirs, (*COMMON, "xbar_", "explained_variance_ratio_"))
    agree_up_to_sign(ours.scalings_, theirs.scalings_)
    agree_up_to_sign(ours.transform(rows), theirs.transform(rows))


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("data", ["two wines", "cancer in standard units"])
def test_lda_with_two_classes_has_the_coefficients_of_every_solver(data, solver):
    X, y, _ = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", solver=solver))
    agree_in_attributes(ours, theirs, ("coef_", "intercept_"))


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]], ids=["frequencies", "given"])
@pytest.mark.parametrize("data", ["iris", "wine"])
def test_lda_with_more_classes_has_the_coefficients_of_the_svd_solver(data, priors):
    X, y, _ = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", priors=priors))
    agree_in_attributes(ours, theirs, ("coef_", "intercept_"))


@pytest.mark.parametrize("data", ["iris", "wine", "digits"])
def test_lda_with_more_classes_has_the_decision_function_of_the_svd_solver(data):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis"))
    agree(ours.decision_function(rows), theirs.decision_function(rows))


@pytest.mark.parametrize("data", ["iris", "wine", "two wines"])
def test_lda_decision_function_is_the_linear_function_of_its_coefficients(data):
    X, y, rows = halves(data)
    for model in both("LinearDiscriminantAnalysis"):
        scores = rows @ model.fit(X, y).coef_.T + model.intercept_
        agree(model.decision_function(rows), scores.ravel() if scores.shape[1] == 1 else scores)


@pytest.mark.parametrize("data", ["iris", "wine"])
def test_lda_coefficients_differ_between_classes_as_those_of_every_solver_do(data):
    X, y, _ = halves(data)
    for solver in ("svd", "lsqr", "eigen"):
        ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", solver=solver))
        agree(ours.coef_ - ours.coef_[0], theirs.coef_ - theirs.coef_[0])
        agree(ours.intercept_ - ours.intercept_[0], theirs.intercept_ - theirs.intercept_[0])


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"shrinkage": 0.0},
        {"shrinkage": 0.3},
        {"shrinkage": 1.0},
        {"shrinkage": "auto"},
        {"covariance_estimator": OAS()},
        {"covariance_estimator": LedoitWolf()},
        {"covariance_estimator": ShrunkCovariance(shrinkage=0.2)},
        {"covariance_estimator": EmpiricalCovariance()},
    ],
    ids=str,
)
@pytest.mark.parametrize("data", ["iris", "wine", "two wines", "cancer in standard units"])
def test_lda_agrees_with_scikit_learns_other_solvers(data, how, solver):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", solver=solver, **how))
    agree_in_posteriors(ours, theirs, rows)
    agree_in_attributes(ours, theirs, COMMON)


@pytest.mark.parametrize("data", ["iris", "wine", "two wines", "cancer in standard units"])
def test_lda_agrees_with_the_directions_of_scikit_learns_eigen_solver(data):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", solver="eigen"))
    agree_in_attributes(ours, theirs, ("explained_variance_ratio_",))
    agree_up_to_sign(ours.scalings_, theirs.scalings_[:, : ours.scalings_.shape[1]])
    # That solver does not centre.
    others = theirs.transform(rows)
    agree_up_to_sign(ours.transform(rows), others - (ours.xbar_ @ theirs.scalings_)[: others.shape[1]])


@pytest.mark.parametrize("priors", [[0.2, 0.3, 0.5], np.array([0.6, 0.3, 0.1])], ids=["list", "array"])
@pytest.mark.parametrize("data", ["iris", "wine"])
def test_lda_with_given_priors_agrees_with_scikit_learns_svd_solver(data, priors):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", priors=priors))
    agree_in_posteriors(ours, theirs, rows)
    agree_in_attributes(ours, theirs, ("means_", "priors_", "xbar_", "explained_variance_ratio_"))
    agree_up_to_sign(ours.scalings_, theirs.scalings_)
    agree_up_to_sign(ours.transform(rows), theirs.transform(rows))


def test_lda_priors_that_do_not_sum_to_one_are_divided_by_their_sum_with_a_warning():
    X, y, rows = halves("wine")
    ours, theirs = both("LinearDiscriminantAnalysis", priors=[1.0, 2.0, 1.0])
    for model in (ours, theirs):
        with pytest.warns(UserWarning, match="The priors do not sum to 1. Renormalizing"):
            model.fit(X, y)
    agree(ours.priors_, theirs.priors_)
    agree_in_posteriors(ours, theirs, rows)


@pytest.mark.parametrize(
    "n_components", [3, *(pytest.param(n, marks=pytest.mark.long) for n in (None, 1, 9))]
)
def test_lda_n_components_shortens_transform_as_in_scikit_learn(n_components):
    X, y, rows = halves("digits")
    ours, theirs = (m.fit(X, y) for m in both("LinearDiscriminantAnalysis", n_components=n_components))
    agree_in_attributes(ours, theirs, ("explained_variance_ratio_",))
    agree_up_to_sign(ours.scalings_, theirs.scalings_)
    agree_up_to_sign(ours.transform(rows), theirs.transform(rows))
    agree_up_to_sign(ours.fit_transform(X, y), theirs.fit_transform(X, y))
    agree_in_posteriors(ours, theirs, rows)


def test_lda_refuses_more_components_than_there_are_as_scikit_learn_does():
    X, y, _ = halves("iris")
    for model in both("LinearDiscriminantAnalysis", n_components=3):
        with pytest.raises(ValueError, match="n_components cannot be larger than"):
            model.fit(X, y)


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_shrinkage_and_a_covariance_estimator_exclude_each_other_as_in_scikit_learn(name):
    X, y, _ = halves("iris")
    for model in both(name, solver="eigen", shrinkage=0.1, covariance_estimator=OAS()):
        with pytest.raises(ValueError, match="Only one of the two can be set"):
            model.fit(X, y)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_constant_columns_have_no_effect_in_either_lda():
    X, y = load_digits(return_X_y=True)
    ours, theirs = (m.fit(X[::2], y[::2]) for m in both("LinearDiscriminantAnalysis", store_covariance=True))
    agree_in_posteriors(ours, theirs, X)
    agree_in_attributes(ours, theirs, (*COMMON, "xbar_", "explained_variance_ratio_"))
    agree_up_to_sign(ours.scalings_, theirs.scalings_)


# -- quadratic ------------------------------------------------------------------------------------


def agree_in_axes(ours, theirs):
    for attribute in ("covariance_", "scalings_", "rotations_"):
        mine, others = getattr(ours, attribute), getattr(theirs, attribute)
        assert isinstance(mine, list)
        for a, b in zip(mine, others, strict=True):
            (agree_up_to_sign if attribute == "rotations_" else agree)(a, b)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"solver": "eigen"},
        {"reg_param": 0.1},
        {"reg_param": 0.9},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": 1e-3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": OAS()},
        {"solver": "eigen", "covariance_estimator": LedoitWolf()},
    ],
    ids=str,
)
@pytest.mark.parametrize("data", ["iris", "wine", "two wines", "cancer in standard units"])
def test_qda_agrees_with_scikit_learn(data, how):
    X, y, rows = halves(data)
    ours, theirs = both("QuadraticDiscriminantAnalysis", store_covariance=True, tol=0.0, **how)
    ours.fit(X, y), theirs.fit(X, y)
    agree_in_posteriors(ours, theirs, rows)
    agree(ours.predict_log_proba(rows), theirs.predict_log_proba(rows))
    agree_in_attributes(ours, theirs, ("means_", "priors_"))
    agree_in_axes(ours, theirs)


@pytest.mark.parametrize("data", ["iris", "wine"])
def test_qda_with_more_classes_has_the_decision_function_of_scikit_learn(data):
    X, y, rows = halves(data)
    ours, theirs = (m.fit(X, y) for m in both("QuadraticDiscriminantAnalysis"))
    agree(ours.decision_function(rows), theirs.decision_function(rows))


@pytest.mark.parametrize("how", [{}, {"solver": "eigen", "shrinkage": "auto"}, {"reg_param": 0.2}], ids=str)
@pytest.mark.parametrize(
    ("data", "priors"), [("wine", [0.2, 0.3, 0.5]), ("cancer in standard units", np.array([0.05, 0.95]))]
)
def test_qda_with_given_priors_agrees_with_scikit_learn(data, priors, how):
    X, y, rows = halves(data)
    ours, theirs = both("QuadraticDiscriminantAnalysis", priors=priors, store_covariance=True, tol=0.0, **how)
    ours.fit(X, y), theirs.fit(X, y)
    agree_in_posteriors(ours, theirs, rows)
    agree_in_attributes(ours, theirs, ("means_", "priors_"))
    agree_in_axes(ours, theirs)


def test_qda_of_all_digits_agrees_with_scikit_learn_where_reg_param_makes_it_possible():
    X, y, rows = halves("digits")
    ours, theirs = (m.fit(X, y) for m in both("QuadraticDiscriminantAnalysis", reg_param=0.1))
    agree_in_posteriors(ours, theirs, rows)


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_constant_columns_have_no_effect_on_either_qda():
    X, y = load_digits(return_X_y=True)
    ours, theirs = (m.fit(X[::2], y[::2]) for m in both("QuadraticDiscriminantAnalysis", reg_param=0.1))
    agree_in_posteriors(ours, theirs, X)
