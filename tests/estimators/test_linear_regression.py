"""Linear regression: the maximum of the likelihood under normal and Laplace noise."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from scipy.optimize import linprog
from sklearn import linear_model as theirs
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import LinearRegression
from posterior.linear import GradientDescent, LeastAbsolute, Newton
from posterior.notices import DataWarning


def rows(seed: int = 0, n: int = 200, d: int = 4, offset: float = 3.0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, d)) @ rng.normal(size=(d, d)) + offset
    y = X @ rng.normal(size=d) + rng.laplace(size=n) - 5.0
    return X, y, rng.uniform(0.2, 3.0, n)


# -- least squares --------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        LinearRegression(),
        LinearRegression(noise="laplace"),
        LinearRegression(penalty="l2"),
        LinearRegression(penalty="l1", alpha=0.1),
        LinearRegression(missing="indicator"),
    ]
)
@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
def test_estimator_keeps_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_only_the_import_line_changes(intercept: bool, weighted: bool, form: Any) -> None:
    X, y, weight = rows()
    given = {"sample_weight": weight} if weighted else {}
    table = form(X)
    if isinstance(table, pd.DataFrame):
        table.columns = list("abcd")
    ours = LinearRegression(fit_intercept=intercept).fit(table, y, **given)
    reference = theirs.LinearRegression(fit_intercept=intercept).fit(X, y, **given)
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-10)
    assert ours.coef_.shape == reference.coef_.shape
    assert ours.intercept_ == pytest.approx(reference.intercept_, rel=1e-10)
    np.testing.assert_allclose(ours.predict(table), reference.predict(X), rtol=1e-9)
    assert ours.score(table, y, **given) == pytest.approx(reference.score(X, y, **given), rel=1e-12)


def test_every_setting_of_scikit_learn_is_taken() -> None:
    settings = theirs.LinearRegression().get_params()
    X, y, _ = rows()
    np.testing.assert_allclose(
        LinearRegression(**settings).fit(X, y).coef_, theirs.LinearRegression(**settings).fit(X, y).coef_
    )


def test_whole_numbers_in_a_data_frame_are_numbers() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"rooms": rng.integers(1, 6, 80), "flag": rng.integers(0, 2, 80), "on": rng.random(80) < 0.5}
    )
    y = X["rooms"] * 2.0 + X["flag"] + rng.normal(size=80)
    np.testing.assert_allclose(
        LinearRegression().fit(X, y).coef_,
        theirs.LinearRegression().fit(X.astype(float), y).coef_,
        rtol=1e-10,
    )


def test_least_squares_solve_the_normal_equations() -> None:
    X, y, weight = rows(1)
    model = LinearRegression().fit(X, y, weight)
    Z = np.column_stack([np.ones(len(y)), X])
    beta = np.linalg.solve(Z.T @ (weight[:, None] * Z), Z.T @ (weight * y))
    np.testing.assert_allclose([model.intercept_, *model.coef_], beta, rtol=1e-11)


@pytest.mark.parametrize("n", [20, 200, 60_000])
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_normal_noise_takes_exactly_one_newton_step(n: int, penalty: str | None) -> None:
    X, y, _ = rows(2, n=n, offset=1e4)
    model = LinearRegression(penalty=penalty).fit(X, y + 1e6)
    assert model.n_iter_ == 1
    assert model.converged_
    assert model.certificate_ is not None
    assert model.certificate_.proven
    assert model.certificate_.gap <= 1e-15 * model.noise_scale_**2


def test_the_recorded_path_of_least_squares_has_one_step() -> None:
    X, y, _ = rows(3)
    path = LinearRegression(solver=Newton(path=True, stages=False)).fit(X, y).solution_.path
    assert len(path) == 2
    assert path[1].gradient <= 1e-12 * path[0].gradient


def test_statsmodels_finds_the_same_estimates_errors_and_likelihood() -> None:
    api = pytest.importorskip("statsmodels.api")
    X, y, _ = rows(4)
    model = LinearRegression().fit(X, y)
    reference = api.OLS(y, api.add_constant(X)).fit()
    frame = model.summary().frame
    np.testing.assert_allclose([model.intercept_, *model.coef_], reference.params, rtol=1e-10)
    np.testing.assert_allclose(frame["std err"], reference.bse, rtol=1e-9)
    np.testing.assert_allclose(frame["p"], reference.pvalues, rtol=1e-6, atol=1e-12)
    assert model.log_likelihood_ == pytest.approx(reference.llf, rel=1e-12)


def test_the_summary_names_the_target() -> None:
    X, y, _ = rows(4)
    assert str(LinearRegression().fit(X, pd.Series(y, name="price")).summary()).startswith("price")


@pytest.mark.parametrize("solver", ["lbfgs", "newton", GradientDescent()])
def test_every_smooth_solver_reaches_the_same_coefficients(solver: Any) -> None:
    X, y, _ = rows(5, offset=0.0)
    X = np.linalg.qr(X)[0] * 10
    model = LinearRegression(solver=solver).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_rescaling_columns_changes_no_prediction(scale: float) -> None:
    X, y, _ = rows(6)
    stretch = scale ** np.array([1.0, -1.0, 0.5, 0.0])
    for noise in ("normal", "laplace"):
        model = LinearRegression(noise=noise)
        plain, other = model.fit(X, y).predict(X), model.fit(X * stretch, y).predict(X * stretch)
        np.testing.assert_allclose(other, plain, atol=1e-10)


# -- penalties ------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-2, 1.0, 50.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_penalties_are_scaled_as_by_scikit_learn(alpha: float, intercept: bool, weighted: bool) -> None:
    X, y, weight = rows(7)
    given = {"sample_weight": weight} if weighted else {}
    exact: dict[str, Any] = {"alpha": alpha, "fit_intercept": intercept}
    pairs = [
        (LinearRegression(penalty="l2", **exact), theirs.Ridge(**exact)),
        (LinearRegression(penalty="l1", **exact), theirs.Lasso(**exact, tol=1e-14, max_iter=100_000)),
        (
            LinearRegression(penalty="elasticnet", l1_ratio=0.3, **exact),
            theirs.ElasticNet(**exact, l1_ratio=0.3, tol=1e-14, max_iter=100_000),
        ),
    ]
    for ours, reference in pairs:
        ours.fit(X, y, **given)
        reference.fit(X, y, **given)
        np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-6, atol=1e-8)
        assert ours.intercept_ == pytest.approx(reference.intercept_, rel=1e-6, abs=1e-8)
        np.testing.assert_array_equal(ours.coef_ == 0, reference.coef_ == 0)
        assert ours.converged_


def test_no_penalty_at_all_is_a_penalty_of_zero() -> None:
    X, y, _ = rows(8)
    plain = LinearRegression().fit(X, y).coef_
    for penalty in ("l2", "l1", "elasticnet"):
        np.testing.assert_allclose(
            LinearRegression(penalty=penalty, alpha=0.0).fit(X, y).coef_, plain, rtol=1e-6
        )


# -- Laplace noise --------------------------------------------------------------------------------


def test_laplace_noise_minimises_the_absolute_deviations() -> None:
    X, y, weight = rows(9, n=60, d=3)
    model = LinearRegression(noise="laplace").fit(X, y, weight)
    Z = np.column_stack([X, np.ones(60)])
    found = linprog(
        -y, A_eq=Z.T, b_eq=np.zeros(4), bounds=np.column_stack([-weight, weight]), method="highs-ds"
    )
    assert weight @ np.abs(y - model.predict(X)) == pytest.approx(-found.fun, rel=1e-9)
    np.testing.assert_allclose([*model.coef_, model.intercept_], -found.eqlin.marginals, rtol=1e-7)
    assert model.converged_
    assert model.certificate_ is not None
    assert (model.certificate_.by, model.certificate_.proven) == ("duality gap", True)
    assert model.certificate_.gap <= 1e-12 * model.noise_scale_


def test_an_outlier_moves_least_squares_and_not_least_absolute_deviations() -> None:
    X, y, _ = rows(10)
    robust, squares = LinearRegression(noise="laplace"), LinearRegression()
    plain = robust.fit(X, y).coef_
    worst = y.copy()
    worst[np.argmax(y - robust.predict(X))] += 1e6
    np.testing.assert_allclose(robust.fit(X, worst).coef_, plain, rtol=1e-9)
    assert np.abs(squares.fit(X, worst).coef_ - squares.fit(X, y).coef_).max() > 10


def test_a_solver_object_is_used_as_it_is() -> None:
    X, y, _ = rows(11)
    model = LinearRegression(noise="laplace", solver=LeastAbsolute(path=True)).fit(X, y)
    assert len(model.solution_.path) == model.n_iter_ + 2


# -- the noise ------------------------------------------------------------------------------------


def test_the_precision_of_normal_noise_is_that_of_the_residuals() -> None:
    X, y, weight = rows(12)
    model = LinearRegression().fit(X, y, weight)
    residual = y - model.predict(X)
    assert model.noise_precision_ == pytest.approx(weight.sum() / (weight @ residual**2), rel=1e-12)
    assert model.noise_scale_ == pytest.approx(model.noise_precision_**-0.5, rel=1e-14)


def test_the_scale_of_laplace_noise_is_the_mean_absolute_residual() -> None:
    X, y, weight = rows(12)
    model = LinearRegression(noise="laplace").fit(X, y, weight)
    assert model.noise_scale_ == pytest.approx(np.average(np.abs(y - model.predict(X)), weights=weight))
    assert model.noise_precision_ == pytest.approx(1 / stats.laplace(scale=model.noise_scale_).var())


@pytest.mark.parametrize(("noise", "family"), [("normal", stats.norm), ("laplace", stats.laplace)])
def test_the_likelihood_is_that_of_the_predictive_distribution_and_the_largest(
    noise: str, family: Any
) -> None:
    X, y, weight = rows(13)
    model = LinearRegression(noise=noise).fit(X, y, weight)
    predicted = model.predict_distribution(X)
    assert model.log_likelihood_ == pytest.approx(weight @ predicted.logpdf(y), rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(50):
        size = 10.0 ** rng.uniform(-6, -1)
        moved = model.predict(X) + X @ (size * rng.normal(size=4)) + size * rng.normal()
        scale = model.noise_scale_ * np.exp(size * rng.normal())
        assert weight @ family(moved, scale).logpdf(y) < model.log_likelihood_


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_the_predictive_distribution_has_the_predicted_mean_and_standard_deviation(noise: str) -> None:
    X, y, _ = rows(14)
    model = LinearRegression(noise=noise).fit(X, y)
    mean, std = model.predict(X[:5], return_std=True)
    predicted = model.predict_distribution(X[:5])
    np.testing.assert_array_equal(mean, model.predict(X[:5]))
    np.testing.assert_allclose(predicted.mean(), mean)
    np.testing.assert_allclose(predicted.std(), std)
    np.testing.assert_allclose(predicted.median(), mean)
    assert predicted.cdf(y[:5]).shape == (5,)


def test_rows_that_are_fitted_exactly_leave_no_noise() -> None:
    X, _, _ = rows(15)
    model = LinearRegression().fit(X, np.full(200, 2.0))
    assert (model.noise_scale_, model.noise_precision_, model.log_likelihood_) == (0.0, np.inf, np.inf)
    with pytest.raises(ValueError, match="fitted exactly"):
        model.predict_distribution(X)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_a_weight_counts_how_often_a_row_is_there(noise: str) -> None:
    X, y, _ = rows(16)
    count = np.random.default_rng(0).integers(0, 4, len(y))
    model = LinearRegression(noise=noise)
    weighted = clone(model).fit(X, y, count)
    repeated = clone(model).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    assert weighted.noise_scale_ == pytest.approx(repeated.noise_scale_, rel=1e-12)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-12)


# -- tables ---------------------------------------------------------------------------------------


def test_dependent_columns_are_named_and_share_the_shortest_coefficients() -> None:
    X, y, _ = rows(17)
    table = pd.DataFrame(X, columns=list("abcd")).assign(total=X[:, 0] + X[:, 1])
    for noise in ("normal", "laplace"):
        model = LinearRegression(noise=noise)
        with pytest.warns(DataWarning, match="'total' is a linear combination of 'a', 'b'"):
            model.fit(table, y)
        null = np.array([1.0, 1.0, 0.0, 0.0, -1.0])
        assert model.coef_ @ null == pytest.approx(0.0, abs=1e-9)
    with pytest.warns(DataWarning):
        model = LinearRegression().fit(table, y)
    np.testing.assert_allclose(model.coef_, theirs.LinearRegression().fit(table, y).coef_, rtol=1e-9)


def test_fewer_rows_than_columns_give_the_shortest_coefficients() -> None:
    X, y, _ = rows(18, n=8, d=20)
    reference = theirs.LinearRegression().fit(X, y)
    for noise in ("normal", "laplace"):
        with pytest.warns(
            DataWarning, match="there are 8 rows and 20 columns: the coefficients are not unique"
        ):
            model = LinearRegression(noise=noise).fit(X, y)
        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_categories_are_coded_against_their_first(noise: str) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=150), "state": rng.choice(["CA", "NY", "TX"], 150)})
    y = table["x"] + table["state"].map({"CA": 0.0, "NY": 2.0, "TX": -1.0}) + rng.laplace(size=150)
    model = LinearRegression(noise=noise).fit(table, y)
    coded = pd.get_dummies(table, drop_first=True, dtype=float)
    assert model.terms_ == ("x", "state[NY]", "state[TX]")
    np.testing.assert_allclose(model.coef_, LinearRegression(noise=noise).fit(coded, y).coef_, rtol=1e-9)


def test_gaps_are_filled_by_the_mean_and_an_indicator() -> None:
    X, y, _ = rows(19)
    X[::7, 1] = np.nan
    model = LinearRegression(missing="indicator").fit(X, y)
    filled = np.column_stack([np.where(np.isnan(X), np.nanmean(X, axis=0), X), np.isnan(X[:, 1])])
    np.testing.assert_allclose(model.coef_, theirs.LinearRegression().fit(filled, y).coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="x1"):
        LinearRegression().fit(X, y)


def test_degree_two_spans_all_squares_and_products() -> None:
    X, y, _ = rows(20)
    squares = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    reference = theirs.LinearRegression().fit(squares, y).predict(squares)
    np.testing.assert_allclose(LinearRegression(degree=2).fit(X, y).predict(X), reference, rtol=1e-8)


def test_a_saved_model_predicts_the_same_without_its_rows() -> None:
    X, y, _ = rows(21)
    model = LinearRegression().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.log_likelihood_ == model.log_likelihood_
    with pytest.raises(ValueError, match="fit again"):
        copy.summary()


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"noise": "cauchy"}, "noise='cauchy' is not known; choose one of"),
        ({"penalty": "l3"}, "penalty='l3' is not known"),
        ({"positive": True}, "positive=True .* not offered; use scikit-learn"),
        ({"penalty": "l2", "alpha": -1.0}, "alpha must be a number that is not negative, found -1"),
        ({"penalty": "l1", "alpha": np.nan}, "alpha must be a number"),
        ({"penalty": "elasticnet", "l1_ratio": 1.5}, "l1_ratio must be a number from 0"),
        ({"noise": "laplace", "penalty": "l2"}, "penalty='l2' goes with normal noise"),
        ({"noise": "laplace", "solver": "newton"}, "solver='newton' does not go with noise='laplace'"),
        ({"noise": "normal", "solver": LeastAbsolute()}, "does not go with noise='normal'"),
        ({"degree": 3}, "degree must be 1 or 2"),
        ({"missing": "drop"}, "missing must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], told: str) -> None:
    X, y, _ = rows()
    with pytest.raises(ValueError, match=told):
        LinearRegression(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (None, "requires y to be passed"),
        ("price", "y is the string 'price'; pass the column itself"),
        (np.ones((200, 2)), "y has 2 columns.*fit one model for each column"),
        (np.ones(150), "X has 200 rows and y has 150"),
        (np.array(["a"] * 200), r"y holds \['a'\], and LinearRegression predicts numbers"),
        (np.array([1.0, None] * 100), "Input y contains NaN: 100 of 200 rows"),
        (np.array([1.0, "x"] * 100, dtype=object), "y must be numbers"),
        (np.array([1.0, np.inf] * 100), "Input y contains infinity: 100 of 200 rows"),
        (np.full(200, 1j), "predicts numbers"),
    ],
)
def test_a_target_that_is_no_column_of_numbers_is_refused(y: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        LinearRegression().fit(rows()[0], y)


@pytest.mark.parametrize("settings", [{"noise": "laplace"}, {"penalty": "l1"}])
def test_no_standard_errors_are_made_up(settings: dict[str, Any]) -> None:
    X, y, _ = rows()
    model = LinearRegression(**settings).fit(X, y)
    with pytest.raises(ValueError, match="standard error"):
        model.summary()


# -- criteria -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"penalty": "l2", "alpha": 3.0}, {"fit_intercept": False}])
def test_criteria_are_those_of_the_summary(settings: dict[str, Any]) -> None:
    X, y, _ = rows()
    model = LinearRegression(**settings).fit(X, y)
    figures = model.summary().figures
    assert model.aic_ == pytest.approx(figures["AIC"])
    assert model.bic_ == pytest.approx(figures["BIC"])
    assert model.n_parameters_ == pytest.approx(figures["coefficients"])


@pytest.mark.parametrize("alpha", [0.01, 0.1, 10.0])
def test_under_a_lasso_the_coefficients_count_that_are_not_zero(alpha: float) -> None:
    X, y, _ = rows()
    model = LinearRegression(penalty="l1", alpha=alpha).fit(X, y)
    assert model.n_parameters_ == 1 + np.count_nonzero(model.coef_)


def test_least_absolute_deviations_count_all_coefficients() -> None:
    X, y, _ = rows()
    assert LinearRegression(noise="laplace").fit(X, y).n_parameters_ == 1 + X.shape[1]
