"""Boundaries as equations: what the forms say is what the model predicts, under any priors."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_iris

import posterior

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
PRIORS = [0.6, 0.3, 0.1]
FAR = X + 1e6


MODELS = {
    "logistic": posterior.LogisticRegression(),
    "quadratic logistic": posterior.LogisticRegression(degree=2),
    "lasso": posterior.LogisticRegression(penalty="l1"),
    "plain coordinates": posterior.LogisticRegression(solver="gd", max_iter=50),
    "standardized": posterior.LogisticRegression(standardize=True, degree=2),
    "with indicators of gaps": posterior.LogisticRegression(missing="indicator"),
    "lda": posterior.LDA(),
    "qda": posterior.QDA(),
    "naive Bayes": posterior.GaussianNB(),
}
LINEAR = {"logistic", "lasso", "plain coordinates", "with indicators of gaps", "lda"}
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning"),
]


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    rows = X.copy()
    if request.param == "with indicators of gaps":
        rows[::9, 1] = np.nan
    return request.param, MODELS[request.param].fit(rows, NAMES)


def reweighted(model, priors):
    """Log posteriors of the rows under other priors, by Bayes' rule."""
    return log_softmax(model.predict_log_proba(X) + np.log(priors) - np.log(model.priors_), axis=1)


@pytest.mark.parametrize("priors", [None, PRIORS])
def test_the_form_of_two_classes_is_their_log_odds(case, priors):
    _, model = case
    logs = model.predict_log_proba(X) if priors is None else reweighted(model, priors)
    for a, b in [(0, 1), (2, 0), (1, 2)]:
        form = model.quadratic_form(*np.unique(NAMES)[[a, b]], priors=priors)
        np.testing.assert_allclose(form(X), logs[:, a] - logs[:, b], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("priors", [None, PRIORS])
def test_linear_forms_are_log_posteriors_where_boundaries_are_straight(case, priors):
    name, model = case
    if name not in LINEAR:
        with pytest.raises(ValueError, match="boundaries are not linear"):
            model.linear_form(priors=priors)
        return
    logs = model.predict_log_proba(X) if priors is None else reweighted(model, priors)
    form = model.linear_form(priors=priors)
    np.testing.assert_allclose(log_softmax(form(X), axis=1), logs, rtol=1e-7, atol=1e-7)
    assert form.columns == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("name", ["logistic", "quadratic logistic", "lda", "qda"])
def test_the_predicted_class_changes_at_the_points_and_nowhere_else(name, priors):
    model = MODELS[name].fit(X[:, [2]], NAMES)
    points, winners = model.decision_points(priors=priors)
    grid = np.linspace(-5.0, 20.0, 2001)[:, None]
    logs = model.predict_log_proba(grid)
    if priors is not None:
        logs = logs + np.log(priors) - np.log(model.priors_)
    expected = model.classes_[logs.argmax(axis=1)]
    np.testing.assert_array_equal(winners[np.searchsorted(points, grid[:, 0])], expected)


@pytest.mark.parametrize("degree", [1, 2])
def test_two_classes_have_one_boundary_wherever_the_numbers_lie(degree):
    two = Y > 0
    model = posterior.LogisticRegression(degree=degree).fit(FAR[two][:, [2]], NAMES[two])
    near = posterior.LogisticRegression(degree=degree).fit(X[two][:, [2]], NAMES[two])
    points, winners = model.decision_points()
    np.testing.assert_allclose(points - 1e6, near.decision_points()[0], atol=1e-5)
    assert winners.tolist() == near.decision_points()[1].tolist()
    odds = model.predict_log_proba(points[:, None])
    np.testing.assert_allclose(odds[:, 0], odds[:, 1], atol=1e-5)


def test_a_class_with_prior_zero_has_no_region():
    for name in ("logistic", "lda"):
        model = MODELS[name].fit(X[:, [2]], NAMES)
        _, winners = model.decision_points(priors=[0.5, 0.0, 0.5])
        assert winners.tolist() == ["setosa", "virginica"]


def test_new_priors_are_those_of_a_refit_with_rows_weighted_for_generative_models():
    weight = np.array([1.0, 2.0, 4.0])[Y]
    refit = posterior.QDA().fit(X, NAMES, sample_weight=weight)
    form = (
        posterior.QDA().fit(X, NAMES).quadratic_form("setosa", "virginica", priors=weight[[0, 50, 100]] / 7)
    )
    np.testing.assert_allclose(form(X), refit.quadratic_form("setosa", "virginica")(X), rtol=1e-8)


def test_class_frequencies_are_weighted_and_not_known_after_partial_fit():
    weight = np.array([1.0, 2.0, 5.0])[Y]
    model = posterior.LogisticRegression().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.priors_, [1 / 8, 2 / 8, 5 / 8])
    balanced = posterior.LogisticRegression(class_weight="balanced").fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(balanced.priors_, np.ones(3) / 3)
    streamed = posterior.LogisticRegression().partial_fit(X, Y)
    assert streamed.linear_form().coef.shape == (3, 4)
    with pytest.raises(ValueError, match="after fit only"):
        streamed.linear_form(priors=PRIORS)
    assert not hasattr(model.partial_fit(X, Y), "priors_")


def test_priors_can_be_changed_after_a_model_file(tmp_path):
    model = posterior.LogisticRegression().fit(X, NAMES)
    posterior.save(model, tmp_path / "model")
    loaded = posterior.load(tmp_path / "model")
    for form in (model, loaded):
        found = form.quadratic_form("setosa", "virginica", priors=PRIORS)(X)
    np.testing.assert_array_equal(found, model.quadratic_form("setosa", "virginica", priors=PRIORS)(X))


def test_categories_are_refused_by_name():
    rows = [["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", 4.0]]
    model = posterior.LogisticRegression().fit(rows, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"'x0'.*categories are no numbers"):
        model.decision_points()


def test_wrong_priors_are_refused():
    model = posterior.LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        model.linear_form(priors=[0.5, 0.5])
