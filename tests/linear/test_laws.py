"""Laws of linear models: losses, objectives, coordinates, solvers and certificates, whatever the data."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from posterior.engines import LocalDataset, threads
from posterior.linear import (
    LBFGS,
    Design,
    ElasticNet,
    GaussianLoss,
    GradientDescent,
    Newton,
    Problem,
    Scan,
    SoftmaxLoss,
    solve,
)
from posterior.linear.certificate import by_curvature, by_duality, by_some_rows
from posterior.schema import Schema, read_table


def scan_of(X, y, weight=None):
    source = read_table(X)
    schema = Schema.infer(source)
    dataset = LocalDataset(schema, schema.encode(source), np.asarray(y), weight)
    return Scan.of(dataset, Design.of(schema))


def table(rng, n, d, K, noise=1.0):
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    scores = (X - X.mean(0)) / X.std(0) @ rng.normal(size=(d, K)) + noise * rng.gumbel(size=(n, K))
    y = scores.argmax(axis=1)
    y[:K] = range(K)
    return X, y


def central(f, x, step=1e-5):
    out = np.empty(len(x))
    for i in range(len(x)):
        e = np.zeros(len(x))
        e[i] = step
        out[i] = (f(x + e) - f(x - e)) / (2 * step)
    return out


LOSSES = {
    "logistic": SoftmaxLoss(2),
    "softmax": SoftmaxLoss(4),
    "symmetric softmax": SoftmaxLoss(3, symmetric=True),
    "gaussian": GaussianLoss(),
}


def target_of(loss, rng, n):
    return rng.normal(size=n) if isinstance(loss, GaussianLoss) else rng.integers(0, loss.n_classes, n)


@pytest.mark.crossed(each=2)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("coordinates", ["whitened", "scaled", "user"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gradient_and_hessian_equal_finite_differences(name, form, coordinates, intercept, weighted):
    loss = LOSSES[name]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 1.0] * (rng.random((60, 4)) < 0.7) + 0.5 * (
        form == "dense"
    )
    y = target_of(loss, rng, 60)
    weight = rng.uniform(0.5, 3, 60) if weighted else None
    scan = scan_of(X if form == "dense" else sparse.csr_array(X), y, weight)
    objective = Problem(scan, loss, ElasticNet(l2=0.03), intercept).objective(coordinates)
    theta = rng.normal(size=objective.size) * 0.3
    slope = objective.slope(theta)
    np.testing.assert_allclose(
        slope.gradient, central(lambda t: objective.slope(t).value, theta), rtol=1e-6, atol=1e-8
    )
    hessian = objective.curvature(theta)
    numeric = np.stack(
        [central(lambda t, i=i: objective.slope(t).gradient[i], theta) for i in range(len(theta))]
    )
    np.testing.assert_allclose(hessian, numeric, rtol=1e-5, atol=1e-7 * np.abs(hessian).max())


@pytest.mark.parametrize("n_columns", [3, 50])
def test_every_way_to_sum_a_hessian_agrees(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_columns))
    y = rng.integers(0, 3, 300)
    objective = Problem(scan_of(X, y), SoftmaxLoss(3)).objective("user")
    theta = rng.normal(size=objective.size) * 0.2
    scores = np.hstack([np.zeros((300, 1)), (np.hstack([X, np.ones((300, 1))]) @ theta.reshape(2, -1).T)])
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    Z = np.hstack([X, np.ones((300, 1))])
    expected = sum(
        np.kron(np.diag(p[i, 1:]) - np.outer(p[i, 1:], p[i, 1:]), np.outer(Z[i], Z[i])) for i in range(300)
    )
    np.testing.assert_allclose(objective.curvature(theta), expected / 300, rtol=1e-10, atol=1e-13)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 60), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_value_and_slope_add_up_over_parts(seed, n, cuts):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 3, n)
    theta = rng.normal(size=8)
    axes = Problem(scan_of(X, y), SoftmaxLoss(3)).basis("user")

    def of(rows):
        from posterior.linear import Objective

        return Objective(scan_of(X[rows], y[rows]), SoftmaxLoss(3), ElasticNet(), axes).slope(theta)

    whole = of(slice(None))
    edges = [0, *sorted(min(c, n) for c in cuts), n]
    parts = [of(slice(a, b)) for a, b in itertools.pairwise(edges) if b > a]
    assert np.isclose(sum(p.value * p.weight for p in parts), whole.value * n, rtol=1e-12)
    np.testing.assert_allclose(sum(p.gradient * p.weight for p in parts), whole.gradient * n, atol=1e-11 * n)


def test_scores_of_a_hundred_thousand_keep_their_digits():
    for loss in (SoftmaxLoss(2), SoftmaxLoss(3), SoftmaxLoss(3, symmetric=True)):
        scores = np.full((loss.n_scores, 2), 0.0)
        scores[-1] = [1e5, -1e5]
        value, slope = loss.slope(scores.copy(), np.array([0, 0]), None)
        assert np.isfinite(slope).all()
        assert np.isclose(value, 1e5 + np.log(loss.n_classes - 1), rtol=1e-15)
        bend = loss.curvature(scores.copy(), np.array([0, 0]), None)
        assert np.isfinite(bend).all()
        assert (bend[-1] >= 0).all()


def test_curvature_survives_where_one_minus_p_rounds_to_zero():
    bend = SoftmaxLoss(3).curvature(np.array([[50.0], [0.0]]), np.array([0]), None)
    assert np.isclose(bend[0, 0], 2 * np.exp(-50.0), rtol=1e-10)


@pytest.mark.parametrize("K", [2, 4])
def test_weight_two_is_the_row_twice(K):
    rng = np.random.default_rng(2)
    X, y = table(rng, 80, 3, K)
    weight = rng.integers(1, 4, 80).astype(float)
    rows = np.repeat(np.arange(80), weight.astype(int))
    penalty = ElasticNet(l2=1 / weight.sum())
    a = solve(Problem(scan_of(X, y, weight), SoftmaxLoss(K), penalty))
    b = solve(Problem(scan_of(X[rows], y[rows]), SoftmaxLoss(K), penalty))
    np.testing.assert_allclose(a.model.coef, b.model.coef, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("K", [2, 5])
def test_same_bits_with_any_number_of_threads(K):
    rng = np.random.default_rng(3)
    X, y = table(rng, 70_000, 4, K)

    def coef(n):
        with threads(n):
            return solve(Problem(scan_of(X, y), SoftmaxLoss(K), ElasticNet(l2=1e-5))).model.coef.tobytes()

    assert coef(1) == coef(2) == coef(5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_all_smooth_solvers_reach_the_same_optimum(K, l2):
    X, y = table(np.random.default_rng(4), 400, 3, K, noise=2.0)
    X = (X - X.mean(0)) / X.std(0)
    problem = Problem(scan_of(X, y), SoftmaxLoss(K), ElasticNet(l2=l2))
    solvers = [
        Newton(),
        Newton(reuse=0),
        LBFGS(),
        LBFGS(memory=3),
        GradientDescent(max_iter=20_000, tol=1e-9),
    ]
    fits = [solve(problem, s) for s in solvers]
    assert all(f.solution.converged for f in fits)
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.model.coef, fits[0].model.coef, atol=1e-6)
        np.testing.assert_allclose(fit.model.intercept, fits[0].model.intercept, atol=1e-6)


def test_newton_converges_quadratically():
    X, y = table(np.random.default_rng(5), 500, 4, 3, noise=2.0)
    fit = solve(Problem(scan_of(X, y), SoftmaxLoss(3)), Newton(reuse=0, tol=1e-15, path=True))
    steep = np.array([step.gradient for step in fit.solution.path])
    steep = steep[steep > 1e-14]
    # Once below 1e-2 each step squares the gradient, up to a constant.
    late = steep[steep < 1e-2]
    assert len(late) >= 2
    assert (late[1:] <= 50 * late[:-1] ** 2 + 1e-15).all()


def test_least_squares_takes_exactly_one_newton_step():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 5)) * [1, 100, 1e-3, 1, 1] + 1e3
    y = X @ rng.normal(size=5) + rng.normal(size=200)
    fit = solve(Problem(scan_of(X, y), GaussianLoss()))
    assert fit.solution.iterations == 1
    Z = np.hstack([X - X.mean(0), np.ones((200, 1))])
    expected = np.linalg.lstsq(Z, y, rcond=None)[0][:5]
    np.testing.assert_allclose(fit.model.coef[0], expected, rtol=1e-9)
    assert fit.solution.certificate.proven


@pytest.mark.parametrize("K", [2, 4])
def test_scales_and_offsets_change_no_unpenalised_prediction(K):
    rng = np.random.default_rng(7)
    X, y = table(rng, 500, 4, K, noise=3.0)
    scale = 10.0 ** np.array([6, -6, 3, -2])
    offset = np.array([0.0, 1e-3, 1e9, -1e4])
    one = solve(Problem(scan_of(X, y), SoftmaxLoss(K)))
    other = solve(Problem(scan_of(X * scale + offset, y), SoftmaxLoss(K)))
    moved = X * scale + offset
    a = one.model.posterior(scan_of(X, y))
    b = other.model.posterior(scan_of(moved, y))
    # 1e9 with spread 1e3 keeps about ten digits of the column itself.
    np.testing.assert_allclose(a, b, atol=1e-8)


def test_the_two_class_softmax_is_the_logistic_regression():
    X, y = table(np.random.default_rng(8), 200, 3, 2, noise=2.0)
    single = solve(Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=0.02)))
    pair = Problem(scan_of(X, y), SoftmaxLoss(2, symmetric=True), ElasticNet(l2=0.04))
    double = LBFGS().minimize(pair.objective("whitened"))
    coef, _ = pair.objective("whitened").shown(double.theta)
    # A pair ±w/2 pays half of what one vector w does.
    np.testing.assert_allclose(coef[1] - coef[0], single.model.coef[0], atol=1e-6)


@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_a_redundant_column_shares_its_coefficient_and_changes_nothing(l2):
    rng = np.random.default_rng(9)
    X, y = table(rng, 300, 3, 2, noise=2.0)
    wide = np.column_stack([X, X @ [1.0, 2.0, -1.0] + 7.0, np.full(300, 3.0)])
    fit = solve(Problem(scan_of(wide, y), SoftmaxLoss(2), ElasticNet(l2=l2)))
    assert {(f.column, f.problem) for f in fit.objective.basis.facts} == {(3, "redundant"), (4, "constant")}
    coef = fit.model.coef[0]
    # The shortest of all coefficient vectors with these scores has nothing along the silent directions.
    assert abs(coef @ [1.0, 2.0, -1.0, -1.0, 0.0]) < 1e-9 * np.abs(coef).max()
    assert coef[4] == 0
    if l2 == 0:
        plain = solve(Problem(scan_of(X, y), SoftmaxLoss(2)))
        np.testing.assert_allclose(
            fit.model.posterior(scan_of(wide, y)), plain.model.posterior(scan_of(X, y)), atol=1e-9
        )


def test_more_columns_than_rows_with_a_ridge():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(20, 40)), np.arange(20) % 2
    newton = solve(Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=0.1)), Newton())
    lbfgs = LBFGS().minimize(Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=0.1)).objective("scaled"))
    assert newton.solution.converged
    assert np.isclose(newton.solution.point.value, lbfgs.point.value, rtol=1e-12)


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 4),
    far=st.floats(0, 2),
    l2=st.sampled_from([0.0, 1e-3, 0.1]),
)
def test_no_certificate_promises_too_much(seed, K, far, l2):
    rng = np.random.default_rng(seed)
    X, y = table(rng, 60, 2, K, noise=2.0)
    problem = Problem(scan_of(X, y), SoftmaxLoss(K), ElasticNet(l2=l2))
    objective = problem.objective("whitened")
    best = Newton(tol=1e-12).minimize(objective)
    point = objective.slope(best.theta + far * rng.normal(size=objective.size))
    truth = point.value - best.point.value
    for proof in (
        by_curvature(objective, point, objective.curvature(point.theta)),
        by_curvature(objective, point, 0.3 * objective.curvature(point.theta) + 0.7 * objective.ridge()),
        by_duality(objective, point, objective.slope(objective.zero())),
    ):
        assert proof is None or proof.gap >= truth * (1 - 1e-9) - 1e-15


def test_a_sample_start_ends_at_the_same_optimum():
    rng = np.random.default_rng(11)
    X, y = table(rng, 50_000, 3, 3)
    problem = Problem(scan_of(X, y), SoftmaxLoss(3), ElasticNet(l2=1e-5))
    staged, plain = solve(problem, Newton()), solve(problem, Newton(stages=False))
    assert staged.solution.path == ()
    np.testing.assert_allclose(staged.model.coef, plain.model.coef, rtol=1e-6, atol=1e-8)
    assert staged.solution.certificate.proven
    assert staged.solution.certificate.gap < 1e-12


def test_rows_sorted_by_class_do_not_mislead_the_samples():
    rng = np.random.default_rng(12)
    X, y = table(rng, 50_000, 3, 3)
    order = np.argsort(y, kind="stable")
    penalty = ElasticNet(l2=1e-5)
    a = solve(Problem(scan_of(X[order], y[order]), SoftmaxLoss(3), penalty))
    b = solve(Problem(scan_of(X, y), SoftmaxLoss(3), penalty))
    np.testing.assert_allclose(a.model.coef, b.model.coef, rtol=1e-6, atol=1e-8)


# -- what once went wrong ---------------------------------------------------------------------------


def test_a_column_that_the_sample_does_not_show_leads_nowhere_astray():
    rng = np.random.default_rng(0)
    n = 40_000
    X = np.column_stack([rng.normal(size=n), np.arange(n) % 2])
    y = (X[:, 0] + rng.logistic(size=n) > 0).astype(int)
    fit = solve(Problem(scan_of(X, y), SoftmaxLoss(2)))
    plain = solve(Problem(scan_of(X, y), SoftmaxLoss(2)), Newton(stages=False))
    assert fit.solution.converged
    assert np.isclose(fit.solution.point.value, plain.solution.point.value, rtol=1e-12)


def test_a_sample_proves_no_more_than_all_rows_would():
    rng = np.random.default_rng(1)
    for K in (2, 4):
        X, y = table(rng, 45_000, 3, K)
        objective = Problem(scan_of(X, y), SoftmaxLoss(K)).objective("whitened")
        best = Newton(tol=1e-12).minimize(objective)
        for far in (1e-5, 1e-4, 1e-3):
            move = rng.normal(size=objective.size)
            point = objective.slope(best.theta + far * move / np.linalg.norm(move))
            some, every = (
                by_some_rows(objective, point),
                by_curvature(objective, point, objective.curvature(point.theta)),
            )
            truth = point.value - best.point.value
            assert every.gap >= truth * (1 - 1e-6)
            assert some is None or some.gap >= every.gap * (1 - 1e-6)


@pytest.mark.parametrize("decrement", [1.0, 1e-9])  # a short step needs a bound of the reach only
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_no_row_moves_further_than_its_reach(K, d, decrement):
    from posterior.linear.certificate import _reach

    rng = np.random.default_rng(2)
    X, y = table(rng, 200, d, K)
    objective = Problem(scan_of(X, y), SoftmaxLoss(K)).objective("whitened")
    theta = rng.normal(size=objective.size) * (0.5 if d < 10 else 0.1)
    hessian = objective.curvature(theta)
    reach = _reach(objective, hessian, decrement)
    vectors = np.linalg.eigh(hessian)[1].T
    for move in [*vectors, *rng.normal(size=(50, objective.size))]:
        step = move / np.sqrt(move @ hessian @ move)
        coef, level = objective.free(step)
        change = np.hstack([np.zeros((200, 1)), (X - objective.basis.centre) @ coef.T + level])
        assert np.ptp(change, axis=1).max() <= reach * (1 + 1e-9)


@pytest.mark.parametrize("l2", [0.0, 2e-3])
@pytest.mark.parametrize("case", ["a gross row", "a near copy"])
def test_columns_are_redundant_only_if_every_row_says_so(case, l2):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = (X @ [1, -1, 0.5] + rng.logistic(size=500) > 0).astype(int)
    if case == "a gross row":
        X[0] *= 1e9
    else:
        X[:, 2] = X[:, 0] + 1e-7 * rng.normal(size=500)
    problem = Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=l2))
    fit = solve(problem)
    assert fit.solution.converged
    assert fit.objective.basis.facts == ()
    if case == "a gross row":
        # The gross row is fitted by a slope that costs nothing, or lost.
        reduced = solve(Problem(scan_of(X[1:], y[1:]), SoftmaxLoss(2), ElasticNet(l2=l2)))
        assert abs(fit.solution.point.value - reduced.solution.point.value) < 0.1
    elif l2 == 0:
        apart = np.column_stack([X[:, :2], (X[:, 2] - X[:, 0]) * 1e7])
        exact = solve(Problem(scan_of(apart, y), SoftmaxLoss(2)))
        assert np.isclose(fit.solution.point.value, exact.solution.point.value, rtol=1e-7)


def test_newton_does_not_go_uphill_on_weights_of_many_sizes():
    first = [0.6232, -0.4046, -0.1026, 1.2511, 0.2827, -0.0148, 0.9613]
    X = np.column_stack([first, [0.4294, 0.6131, 2.1124, -0.3657, -1.0376, 0.845, -0.4426]])
    weight = np.array([28.76, 2.38, 0.00533, 0.0237, 3.5, 865.2, 0.00697])
    fit = solve(Problem(scan_of(X, [1, 1, 1, 2, 1, 2, 0], weight), SoftmaxLoss(3)))
    assert fit.solution.converged
    assert np.isclose(fit.solution.point.value, 0.00168153, rtol=1e-5)


def test_nothing_to_learn_is_learnt_at_once():
    for loss in (SoftmaxLoss(2), GaussianLoss()):
        fit = solve(Problem(scan_of(np.zeros((5, 1)), [0, 1, 0, 1, 1]), loss, intercept=False))
        assert fit.solution.converged
        assert fit.model.coef.tolist() == [[0.0]]


def test_columns_whose_squares_overflow_are_refused_by_name():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 2)) * [1e160, 1.0]
    for penalty in (ElasticNet(), ElasticNet(l2=0.1), ElasticNet(l1=0.1)):
        with pytest.raises(ValueError, match="column 'x0' holds values so large"):
            solve(Problem(scan_of(X, np.arange(50) % 2), SoftmaxLoss(2), penalty))


@pytest.mark.parametrize("gross", [1e6, 1e8, 1e10, 1e12, 1e14])
def test_rows_far_out_that_are_fitted_anyway_change_nothing(gross):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = (x + rng.logistic(size=400) > 0).astype(int)
    fit = solve(Problem(scan_of(x[:, None], y), SoftmaxLoss(2), ElasticNet(l2=1 / 400)))
    X, classes = np.append(x, [gross, -gross])[:, None], np.append(y, [1, 0])
    among = solve(Problem(scan_of(X, classes), SoftmaxLoss(2), ElasticNet(l2=1 / 402)))
    assert among.solution.converged
    assert among.model.coef == pytest.approx(fit.model.coef, rel=1e-6)
    assert 402 * among.solution.point.value == pytest.approx(400 * fit.solution.point.value, rel=1e-9)
