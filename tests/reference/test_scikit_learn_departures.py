"""Where scikit-learn 1.9.1 is wrong, and we are right: each test states both.

What scikit-learn does is asserted too, so that a test fails when a later version is mended and the
difference can be struck from the documentation.
"""

import numpy as np
import pytest
import sklearn.discriminant_analysis as theirs_da
import sklearn.naive_bayes as theirs_nb
from scipy.special import log_softmax
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.datasets import load_digits, load_iris, load_wine

import posterior
from posterior.notices import DataWarning, UnseenCategoryWarning


def agree(ours, exact):
    np.testing.assert_allclose(ours, exact, rtol=1e-8, atol=1e-8, equal_nan=False)


def worst(theirs, exact):
    return np.max(np.abs(theirs - exact) / (1 + np.abs(exact)))


def log_posterior(log_joint):
    return log_softmax(log_joint, axis=1)


# -- Gaussian naive Bayes -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the variance of class:posterior.notices.DataWarning")
def test_a_class_that_is_constant_in_a_column_is_lent_a_row_instead_of_being_a_spike():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = np.stack([rng.normal(y, 1.0), np.where(y == 0, 0.0, rng.integers(0, 2, 400))], axis=1)
    ours, theirs = posterior.GaussianNB().fit(X, y), theirs_nb.GaussianNB().fit(X, y)
    agree(ours.epsilon_, theirs.epsilon_)
    agree(ours.var_[:, 0], theirs.var_[:, 0])
    agree(ours.var_[1], theirs.var_[1])
    within = ((X[y == 1, 1] - X[y == 1, 1].mean()) ** 2).sum() / 400
    agree(theirs.var_[0, 1], theirs.epsilon_)
    agree(ours.var_[0, 1], within / 201 + ours.epsilon_)


def test_a_wide_column_drowns_a_narrow_one_as_in_scikit_learn_but_not_in_naive_bayes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = np.stack([rng.normal(0, 1e6, 400), rng.normal(3e-3 * y, 1e-3)], axis=1)
    theirs = theirs_nb.GaussianNB().fit(X, y)  # adds 1e-9 · 1e12 = 1e3 to a variance of 1e-6
    agree(posterior.GaussianNB().fit(X, y).predict_log_proba(X), theirs.predict_log_proba(X))
    assert theirs.score(X, y) < 0.6
    assert posterior.NaiveBayes().fit(X, y).score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore:the variance of class:posterior.notices.DataWarning")
def test_partial_fit_with_the_default_smoothing_is_fit():
    X, y = load_wine(return_X_y=True)
    X = X * np.where(np.arange(len(X)) < 60, 1e3, 1e-3)[:, None]  # parts of different spread
    models = []
    for module in (posterior, theirs_nb):
        whole, parts = module.GaussianNB().fit(X, y), module.GaussianNB()
        for rows in (slice(0, 60), slice(60, None)):
            parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        models.append((whole, parts))
    (whole, parts), (their_whole, their_parts) = models
    agree(parts.var_, whole.var_)
    agree(parts.predict_log_proba(X), whole.predict_log_proba(X))
    assert their_parts.epsilon_ != their_whole.epsilon_
    # The epsilon taken off before an update is not the one that was added.
    assert worst(their_parts.var_, their_whole.var_) > 1e-3


@pytest.mark.filterwarnings("ignore:the variance of class:posterior.notices.DataWarning")
def test_a_column_that_is_constant_in_one_class_gives_no_nan():
    X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [3.0, 5.0], [4.0, 6.0], [5.0, 8.0]])
    y = [0, 0, 0, 1, 1, 1]
    assert (posterior.GaussianNB(var_smoothing=0.0).fit(X, y).predict(X) == y).all()
    with np.errstate(all="ignore"):
        assert np.isnan(theirs_nb.GaussianNB(var_smoothing=0.0).fit(X, y).predict_proba(X)).any()


# -- discrete naive Bayes -------------------------------------------------------------------------


def test_a_category_not_seen_in_training_is_left_out_instead_of_refused():
    X = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 1]])
    y = [0, 0, 0, 1, 1]
    model = posterior.CategoricalNB().fit(X, y)
    with pytest.warns(UnseenCategoryWarning, match="x1"):
        found = model.predict_log_proba([[1, 7]])
    agree(found, posterior.CategoricalNB().fit(X[:, :1], y).predict_log_proba([[1]]))
    with pytest.raises(IndexError):
        theirs_nb.CategoricalNB().fit(X, y).predict_log_proba([[1, 7]])


def test_the_number_of_categories_is_that_of_all_parts():
    X, y = np.array([[0], [1], [5], [0], [1], [2]]), np.array([0, 0, 1, 1, 0, 1])
    found = []
    for module in (posterior, theirs_nb):
        model = module.CategoricalNB()
        for rows in (slice(0, 3), slice(3, None)):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        found.append(model)
    ours, theirs = found
    assert ours.n_categories_.tolist() == posterior.CategoricalNB().fit(X, y).n_categories_.tolist() == [6]
    assert theirs.n_categories_.tolist() == [3]  # those of the last part; its tables do have 6
    agree(ours.feature_log_prob_[0], theirs.feature_log_prob_[0])


def test_a_category_of_weight_zero_is_a_category_not_seen():
    X, y, weight = np.array([[0], [1], [2], [1]]), [0, 0, 1, 1], [1.0, 1.0, 0.0, 1.0]
    ours, theirs = (m.CategoricalNB().fit(X, y, sample_weight=weight) for m in (posterior, theirs_nb))
    without = posterior.CategoricalNB().fit(X[[0, 1, 3]], [0, 0, 1])
    agree(ours.feature_log_prob_[0], without.feature_log_prob_[0])
    assert (ours.n_categories_.tolist(), theirs.n_categories_.tolist()) == ([2], [3])


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB"])
def test_maximum_likelihood_gives_probabilities_where_scikit_learn_gives_nan(name):
    X, y = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]), [0, 0, 1, 1]
    ours = getattr(posterior, name)(alpha=0.0).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), np.eye(2)[y])
    with np.errstate(all="ignore"):
        theirs = getattr(theirs_nb, name)(alpha=0.0).fit(X, y)
        assert np.isnan(theirs.predict_proba(X)).any()


def test_bernoulli_takes_an_alpha_for_each_column():
    X, y, alpha = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]]), [0, 0, 1, 1], [0.5, 1.0, 2.0]
    ours = posterior.BernoulliNB(alpha=alpha).fit(X, y)
    ones = np.array([X[:2].sum(axis=0), X[2:].sum(axis=0)])
    agree(ours.feature_log_prob_, np.log((ones + alpha) / (2 + 2 * np.array(alpha))))
    with pytest.raises(ValueError, match="broadcast"):
        theirs_nb.BernoulliNB(alpha=alpha).fit(X, y)


def test_bernoulli_keeps_its_digits_where_a_feature_is_almost_always_on():
    X, y, alpha = np.array([[1.0], [1.0], [0.0], [1.0]]), [0, 0, 1, 1], 1e-12
    exact = np.array([[np.log(alpha) - np.log(2 + 2 * alpha), np.log(0.5)]])
    ours, theirs = (m.BernoulliNB(alpha=alpha, fit_prior=False).fit(X, y) for m in (posterior, theirs_nb))
    agree(ours.predict_joint_log_proba([[0.0]]), exact + np.log(0.5))
    assert worst(theirs.predict_joint_log_proba([[0.0]]), exact + np.log(0.5)) > 1e-7


# -- linear discriminant analysis -----------------------------------------------------------------

LINE = np.array([[-1.5], [-0.5], [0.5], [1.5]]), np.array([0, 0, 1, 1])  # means ∓1, variance 1/4


def test_log_posteriors_of_lda_are_exact_however_small():
    X = np.array([[-1e5 / 8], [-5.0], [0.0], [5.0], [1e5 / 8]])
    odds = 8 * X.ravel()  # ln p(1|x) − ln p(0|x) = 2x / ¼
    exact = -np.logaddexp(0, np.stack([odds, -odds], axis=1))
    ours, theirs = (m.LinearDiscriminantAnalysis().fit(*LINE) for m in (posterior, theirs_da))
    agree(ours.decision_function(X), odds)
    agree(ours.predict_log_proba(X), exact)
    assert exact.min() == -1e5
    agree(theirs.decision_function(X), odds)
    floor = np.log(np.finfo(float).smallest_normal)
    found = theirs.predict_log_proba(X)
    agree(found[[0, 4]].min(axis=1), floor)  # −708 instead of −100 000
    agree(found[3, 0], floor)  # −708 instead of −40: 1 − expit(40) is 0
    agree(found[1, 1], -40.0)


def test_lda_keeps_its_digits_far_from_the_origin():
    X, y = load_iris(return_X_y=True)
    X = np.round(X * 8) / 8  # multiples of 1/8, which an offset of 2^30 leaves exact
    near = posterior.LinearDiscriminantAnalysis().fit(X, y).predict_log_proba(X)
    agree(posterior.LinearDiscriminantAnalysis().fit(X + 2.0**30, y).predict_log_proba(X + 2.0**30), near)
    theirs = theirs_da.LinearDiscriminantAnalysis().fit(X + 2.0**30, y)
    assert worst(theirs.predict_log_proba(X + 2.0**30), near) > 1e-8


def unlike_classes():
    """Two classes of different spread, so that it matters how their covariances are weighted."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [60, 40, 20])
    return rng.normal(size=(120, 3)) * (1.0 + y)[:, None] + np.eye(3)[y] * 3, y


def test_given_priors_do_not_re_weight_the_covariance_whatever_the_solver():
    # Priors say how common the classes are where the model is used; Σ is estimated from the rows there are.
    # In scikit-learn 1.9.1 solver="svd" does so, but "lsqr" and "eigen" take Σ_k prior_k · S_k instead.
    X, y = unlike_classes()
    priors = [0.05, 0.05, 0.9]
    within = sum((y == k).sum() * np.cov(X[y == k].T, bias=True) for k in range(3)) / len(y)
    exact = log_posterior(
        np.log(priors)
        + np.stack([multivariate_normal(X[y == k].mean(axis=0), within).logpdf(X) for k in range(3)], axis=1)
    )
    svd = theirs_da.LinearDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    agree(svd.predict_log_proba(X), exact)
    for solver in ("svd", "lsqr", "eigen"):
        ours = posterior.LinearDiscriminantAnalysis(solver=solver, priors=priors).fit(X, y)
        agree(ours.predict_log_proba(X), exact)
        agree(ours.covariance_, within)
    for solver in ("lsqr", "eigen"):
        theirs = theirs_da.LinearDiscriminantAnalysis(solver=solver, priors=priors).fit(X, y)
        assert worst(theirs.predict_log_proba(X), exact) > 0.1
    # And the covariance_ that its svd solver stores is not the one it used.
    assert worst(svd.covariance_, within) > 0.1


def test_shrunk_directions_make_the_shrunk_covariance_the_identity_and_are_those_of_the_class_means():
    X, y = unlike_classes()
    ours, theirs = (
        m.LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.9).fit(X, y) for m in (posterior, theirs_da)
    )
    agree(ours.covariance_, theirs.covariance_)
    agree(ours.scalings_.T @ ours.covariance_ @ ours.scalings_, np.eye(2))
    # Three class means lie in a plane, whose two directions hold all that is between the classes;
    # scikit-learn takes the difference of two shrunk covariances for it, which has rank three.
    agree(ours.explained_variance_ratio_.sum(), 1.0)
    assert theirs.explained_variance_ratio_.sum() < 0.999
    apart = ours.means_ - ours.xbar_
    mahalanobis = np.einsum("ki,ij,kj->k", apart, np.linalg.inv(ours.covariance_), apart)
    agree((ours.transform(ours.means_) ** 2).sum(axis=1), mahalanobis)
    centred = theirs.transform(theirs.means_) - theirs.priors_ @ theirs.transform(theirs.means_)
    assert worst((centred**2).sum(axis=1), mahalanobis) > 1e-3


def test_automatic_shrinkage_does_not_depend_on_the_units():
    # A column without spread within one class gets the pooled standard deviation here and 1 there.
    X, y = unlike_classes()
    X[y == 0, 2] = 7.0
    unit = np.array([1.0, 1.0, 1e3])
    found = [
        [m.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(Z, y).predict_log_proba(Z)]
        for m in (posterior, theirs_da)
        for Z in (X, X * unit)
    ]
    agree(found[0], found[1])
    assert worst(np.array(found[2]), np.array(found[3])) > 1e-3


# -- quadratic discriminant analysis --------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4])
def test_qda_answers_where_a_class_has_few_rows(n):
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:100, 100 : 100 + n]
    with pytest.warns(DataWarning, match="of class 2 is not determined by its"):
        ours = posterior.QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])
    # The stated rule: its covariance is blended with the pooled one, weight d/(n+d), or 1 where it has none.
    own = [
        np.cov(X[keep][y[keep] == k].T, bias=True) if k < 2 or n > 1 else np.zeros((4, 4)) for k in range(3)
    ]
    pooled = (50 * own[0] + 50 * own[1] + n * own[2]) / len(keep)
    blend = 4 / (n + 4) if n > 1 else 1.0
    own[2] = (1 - blend) * own[2] + blend * pooled
    exact = np.stack(
        [multivariate_normal(X[keep][y[keep] == k].mean(axis=0), own[k]).logpdf(X) for k in range(3)], axis=1
    )
    agree(ours.predict_log_proba(X), log_posterior(np.log(ours.priors_) + exact))
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=r"ill defined|not full rank"):
        theirs_da.QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])


@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
def test_qda_answers_on_the_digits():
    X, y = load_digits(return_X_y=True)
    assert posterior.QuadraticDiscriminantAnalysis().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        theirs_da.QuadraticDiscriminantAnalysis().fit(X[::2], y[::2])


def test_qda_does_not_depend_on_the_units():
    X, y = load_iris(return_X_y=True)
    centimetres = posterior.QuadraticDiscriminantAnalysis().fit(X, y).predict_log_proba(X)
    metres = X / 100
    agree(posterior.QuadraticDiscriminantAnalysis().fit(metres, y).predict_log_proba(metres), centimetres)
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        theirs_da.QuadraticDiscriminantAnalysis().fit(metres, y)


# -- what scikit-learn does not have --------------------------------------------------------------


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_discriminant_analysis_takes_weights_and_parts(name):
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 3 + 1
    doubled = getattr(posterior, name)().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    agree(getattr(posterior, name)().fit(X, y, weight).predict_log_proba(X), doubled.predict_log_proba(X))
    parts = getattr(posterior, name)()
    for rows in (slice(0, 70), slice(70, None)):
        parts.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    agree(parts.predict_log_proba(X), doubled.predict_log_proba(X))
    assert not hasattr(getattr(theirs_da, name), "partial_fit")


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_every_solver_takes_shrinkage(shrinkage):
    X, y = load_wine(return_X_y=True)
    for name, solver in (("LinearDiscriminantAnalysis", "lsqr"), ("QuadraticDiscriminantAnalysis", "eigen")):
        ours = getattr(posterior, name)(solver="svd", shrinkage=shrinkage).fit(X, y)
        theirs = getattr(theirs_da, name)(solver=solver, shrinkage=shrinkage).fit(X, y)
        agree(ours.predict_proba(X), theirs.predict_proba(X))
        with pytest.raises(NotImplementedError, match="shrinkage not supported"):
            getattr(theirs_da, name)(solver="svd", shrinkage=shrinkage).fit(X, y)


def test_reg_param_acts_with_every_solver():
    X, y = load_iris(return_X_y=True)
    svd = theirs_da.QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    ours = posterior.QuadraticDiscriminantAnalysis(solver="eigen", reg_param=0.1).fit(X, y)
    agree(ours.predict_log_proba(X), svd.predict_log_proba(X))
    theirs = theirs_da.QuadraticDiscriminantAnalysis(solver="eigen", reg_param=0.1).fit(X, y)  # passed over
    plain = theirs_da.QuadraticDiscriminantAnalysis(solver="eigen").fit(X, y)
    agree(theirs.predict_log_proba(X), plain.predict_log_proba(X))


@pytest.mark.parametrize("how", [{"shrinkage": 0.5}, {"covariance_estimator": OAS()}], ids=str)
def test_qda_refuses_reg_param_beside_another_way_to_regularise_instead_of_passing_over_one(how):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="reg_param"):
        posterior.QuadraticDiscriminantAnalysis(solver="eigen", reg_param=0.1, **how).fit(X, y)
