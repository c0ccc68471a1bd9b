"""Losses and a solver from outside the library work wherever ours do, by what they declare."""

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.base import clone

from posterior import LinearRegression, LogisticRegression
from posterior.engines import LocalDataset
from posterior.linear import (
    SGD,
    Design,
    ElasticNet,
    GradientDescent,
    LeastAbsolute,
    Problem,
    Scan,
    register_solver,
    solve,
)
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.leave_one_out import leave_one_out_log_proba, leave_one_out_scores
from posterior.persistence import ModelFileError, load, register, registry, save
from posterior.persistence.saving import written
from posterior.plot import SolverPathDisplay
from posterior.schema import Schema, read_table

spec = importlib.util.spec_from_file_location("linear_parts", Path(__file__).parent / "linear_parts.py")
parts = importlib.util.module_from_spec(spec)
sys.modules["linear_parts"] = parts
spec.loader.exec_module(parts)
parts.register_all()
ConjugateGradients, LogCosh, PoissonLoss = parts.ConjugateGradients, parts.LogCosh, parts.PoissonLoss


def numbers(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 2, d) + 5
    y = X @ (rng.normal(size=d) / np.logspace(-1, 2, d)) + 3 + rng.standard_t(2, size=n)
    return X, y


def scan_of(X, y, weight=None):
    table = read_table(X)
    schema = Schema.infer(table)
    return Scan.of(LocalDataset(schema, schema.encode(table), y, weight), Design.of(schema))


def by_scipy(loss, X, y, l2=0.0, weight=None):
    """The same minimum by a general optimiser, in the columns' own units."""
    w = np.ones(len(y)) if weight is None else weight
    unit = np.append(X.std(axis=0), 1.0)

    def value(v):
        b = v / unit
        total, g = loss.slope((X @ b[:-1] + b[-1])[None], y, w)
        slope = np.append(g[0] @ X, g.sum()) / w.sum() + l2 * np.append(b[:-1], 0.0)
        return total / w.sum() + l2 / 2 * b[:-1] @ b[:-1], slope / unit

    found = optimize.minimize(
        value, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    return found.x / unit, found.fun


# -- a loss -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [LogCosh(), LogCosh(0.3), PoissonLoss()])
def test_slope_and_curvature_are_finite_differences(loss):
    rng = np.random.default_rng(1)
    scores, target = rng.normal(size=(1, 50)), rng.integers(0, 5, 50).astype(float)
    step = 1e-6
    up, down = (loss.slope(scores + s, target, None) for s in (step, -step))
    values = [loss.values(scores + s, target) for s in (step, -step)]
    np.testing.assert_allclose(
        loss.slope(scores, target, None)[1][0], (values[0] - values[1]) / (2 * step), atol=1e-8
    )
    np.testing.assert_allclose(
        loss.curvature(scores, target, None), (up[1] - down[1]) / (2 * step), atol=1e-8
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [LogCosh(), LogCosh(0.3)])
def test_a_regression_takes_a_loss_and_reaches_its_optimum(loss, weighted):
    X, y = numbers()
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float) if weighted else None
    model = LinearRegression(noise=loss).fit(X, y, weight)
    expected, value = by_scipy(loss, X, y, weight=weight)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, rtol=1e-4, atol=1e-5)
    assert model.converged_
    assert model.solution_.point.value <= value * (1 + 1e-12)
    assert model.certificate_.proven
    assert model.certificate_.gap < 1e-12


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "proximal", GradientDescent(max_iter=20_000)])
def test_every_solver_minimises_a_loss_from_outside(solver):
    X, y = numbers()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearRegression(noise=LogCosh(), penalty="l2", solver=solver).fit(X, y)
    expected, _ = by_scipy(LogCosh(), X, y, l2=1.0 / len(y))
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-6)


def test_a_lasso_with_a_loss_from_outside_fulfils_its_optimality_conditions():
    X, y = numbers()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearRegression(noise=LogCosh(), penalty="l1", alpha=0.15).fit(X, y)
    g = LogCosh().slope(model.predict(X)[None], y, None)[1][0] @ X / len(y)
    zero = model.coef_ == 0
    assert zero.any()
    assert not zero.all()
    np.testing.assert_allclose(g[~zero], -0.15 * np.sign(model.coef_[~zero]), atol=1e-7)
    assert (np.abs(g[zero]) <= 0.15 + 1e-7).all()


def test_predictions_have_the_noise_that_the_loss_declares():
    X, y = numbers()
    model = LinearRegression(noise=LogCosh()).fit(X, y)
    mean, std = model.predict(X[:3], return_std=True)
    np.testing.assert_allclose(std, np.pi / 2)
    np.testing.assert_allclose(model.predict_distribution(X[:3]).pdf(mean + 1), stats.hypsecant.pdf(1.0))


def test_standard_errors_are_those_of_the_information_where_declared():
    X, y = numbers(n=500)
    model = LinearRegression(noise=LogCosh()).fit(X, y)
    bend = LogCosh().curvature(model.predict(X)[None], y, None)[0]
    Z = np.hstack([np.ones((len(y), 1)), X])
    expected = np.linalg.inv((Z * bend[:, None]).T @ Z)
    summary = model.summary()
    np.testing.assert_allclose(summary.covariance, expected, rtol=1e-6)
    assert "z" in summary.columns
    assert "odds ratio" not in summary.columns
    value = LogCosh().values(model.predict(X)[None], y).sum()
    null = optimize.minimize_scalar(lambda c: LogCosh().values(np.full((1, len(y)), c), y).sum())
    assert summary.figures["log-likelihood"] == pytest.approx(-value - len(y) * np.log(np.pi), rel=1e-12)
    assert summary.figures["null deviance"] == pytest.approx(2 * null.fun, rel=1e-9)


def test_a_loss_that_declares_nothing_is_refused_where_it_must_be_by_one_line_that_helps():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.3, -0.2])).astype(float)
    model = LinearRegression(noise=PoissonLoss()).fit(X, y)
    expected, _ = by_scipy(PoissonLoss(), X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-6)
    assert np.isnan(model.noise_scale_)
    assert not model.certificate_.proven
    for ask in (model.summary, lambda: model.predict_distribution(X), lambda: model.log_likelihood_):
        with pytest.raises(ValueError, match="PoissonLoss") as told:
            ask()
        assert "\n" not in str(told.value)
    with pytest.raises(ValueError, match="PoissonLoss has none"):
        LinearRegression(noise=PoissonLoss(), solver="gd").fit(X, y)
    with pytest.raises(ValueError, match="LeastAbsolute"):
        LinearRegression(noise=LogCosh(), solver=LeastAbsolute()).fit(X, y)
    with pytest.raises(ValueError, match="LeastAbsolute minimises losses with kinks"):
        solve(Problem(scan_of(X, y), LogCosh()), LeastAbsolute())
    problem = Problem(scan_of(X, y), LogCosh(), jeffreys=True)
    with pytest.raises(ValueError, match="Firth"):
        JeffreysObjective(problem.scan, problem.loss, ElasticNet(), problem.basis("whitened"))


def test_what_is_no_loss_of_a_number_is_no_noise():
    X, y = numbers(n=20)
    with pytest.raises(ValueError, match="choose one of"):
        LinearRegression(noise=LogCosh).fit(X, y)
    with pytest.raises(ValueError, match="choose one of"):
        LinearRegression(noise=["normal"]).fit(X, y)


def test_leaving_out_each_row_is_refitting_without_it():
    X, y = numbers(n=25, d=2)
    problem = Problem(scan_of(X, y), LogCosh(), ElasticNet(l2=0.1))
    fit = solve(problem)
    scores = leave_one_out_scores(fit.objective, fit.solution.theta).ravel()
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        without = solve(Problem(scan_of(X[rest], y[rest]), LogCosh(), ElasticNet(l2=0.1 * 25 / 24)))
        assert scores[i] == pytest.approx(without.model.scores(X[[i]])[0, 0], abs=0.02)
    with pytest.raises(ValueError, match="log probabilities of classes"):
        leave_one_out_log_proba(fit.objective, fit.solution.theta)


def test_a_loss_may_be_cloned_and_pickled_with_its_estimator():
    X, y = numbers()
    model = clone(LinearRegression(noise=LogCosh(0.5))).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.noise == LogCosh(0.5)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# -- a solver -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["conjugate-gradients", ConjugateGradients(path=True)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_solver_reaches_the_optimum_by_its_name_or_as_an_object(solver, n_classes):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = (2 * X[:, [0, 1, 2][:n_classes]] + rng.gumbel(size=(200, n_classes))).argmax(axis=1)
    model, ours = (LogisticRegression(solver=s).fit(X, y) for s in (solver, "auto"))
    np.testing.assert_allclose(model.coef_, ours.coef_, atol=1e-9)
    assert model.converged_
    chosen, ours = (LogisticRegression(C="auto", solver=s).fit(X, y) for s in (solver, "auto"))
    np.testing.assert_allclose(chosen.C_, ours.C_, rtol=1e-6)


def test_settings_reach_a_solver_that_is_named():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    with pytest.warns(UserWarning, match="stopped after 1 steps"):
        model = LogisticRegression(solver="conjugate-gradients", max_iter=1).fit(X, y)
    assert model.n_iter_ == 1


def test_a_solver_and_a_loss_from_outside_work_together():
    X, y = numbers()
    model = LinearRegression(noise=LogCosh(), solver=ConjugateGradients()).fit(X, y)
    expected, _ = by_scipy(LogCosh(), X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, rtol=1e-4, atol=1e-5)


def test_a_solver_that_cannot_take_kinks_is_told_from_one_that_can():
    X, y = numbers()
    with pytest.raises(ValueError, match="ConjugateGradients needs a smooth objective"):
        LinearRegression(penalty="l1", solver=ConjugateGradients()).fit(X, y)
    with pytest.raises(ValueError, match="LeastAbsolute"):
        LinearRegression(noise="laplace", solver=ConjugateGradients()).fit(X, y)


def test_paths_are_drawn_of_a_solver_from_outside():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + rng.normal(size=60)
    display = SolverPathDisplay.from_estimator(
        LinearRegression(noise=LogCosh()), X, y, solvers=["conjugate-gradients", "newton"], resolution=8
    ).plot()
    path = display.paths[0]
    assert path.name == "ConjugateGradients"
    assert path.arrived
    assert path.gap[-1] < 1e-12 < path.gap[0]
    plt.close(display.figure_)


@pytest.mark.parametrize(
    ("name", "kind", "error"),
    [
        ("newton", ConjugateGradients, ValueError),
        ("auto", ConjugateGradients, ValueError),
        ("mine", LogCosh, TypeError),
        ("mine", SGD(), TypeError),
        ("mine", "newton", TypeError),
    ],
)
def test_names_that_are_taken_and_what_is_no_solver_are_refused(name, kind, error):
    with pytest.raises(error):
        register_solver(name, kind)
    with pytest.raises(ValueError, match="is not known"):
        LogisticRegression(solver="mine").fit([[0.0], [1.0]], [0, 1])


# -- model files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"noise": LogCosh(0.7)},
        {"noise": LogCosh(), "penalty": "l2", "solver": ConjugateGradients(path=True)},
        {"noise": PoissonLoss(), "solver": "conjugate-gradients"},
    ],
)
def test_models_with_parts_from_outside_are_saved_and_loaded(settings, tmp_path):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.3, -0.2])).astype(float)
    model = LinearRegression(**settings).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.noise_scale_ == model.noise_scale_ or np.isnan(again.noise_scale_)
    assert again.certificate_ == model.certificate_
    if model.noise == LogCosh(0.7):
        assert str(again.summary()) == str(model.summary())


def test_a_part_that_nobody_registered_has_no_place_in_a_file():
    X, y = numbers(n=50)

    class Unknown(LogCosh):
        pass

    with pytest.raises(ModelFileError, match="Unknown"):
        written(LinearRegression(noise=Unknown()).fit(X, y))


def test_a_file_with_a_part_that_is_not_registered_says_what_to_do(tmp_path, monkeypatch):
    X, y = numbers(n=50)
    save(LinearRegression(noise=LogCosh()).fit(X, y), tmp_path / "model")
    monkeypatch.delitem(registry.BY_TAG, "linear_parts.log-cosh")  # as where nobody registered it
    with pytest.raises(ModelFileError, match=r"register its class first"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("tag", "kind", "error"),
    [
        ("plain", LogCosh, ValueError),
        ("linear_parts.poisson-loss", LogCosh, ValueError),
        ("linear_parts.other", LogCosh, ValueError),
        ("linear_parts.other", dict, TypeError),
        ("linear_parts.other", LogCosh(), TypeError),
    ],
)
def test_tags_that_are_taken_and_what_is_no_dataclass_are_refused(tag, kind, error):
    with pytest.raises(error):
        register(tag, kind)
