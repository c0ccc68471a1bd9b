"""Lasso and elastic net: the optimality conditions, other people's optima, and the duality gap as a proof."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.linear_model import ElasticNet as SkElasticNet
from sklearn.linear_model import Lasso, LogisticRegression

from posterior.engines import LocalDataset
from posterior.linear.basis import Basis, column_moments, moments
from posterior.linear.certificate import by_duality
from posterior.linear.design import Design
from posterior.linear.losses import GaussianLoss, SoftmaxLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.solvers.coordinate_descent import L1Quadratic, shortest_subgradient
from posterior.linear.solvers.newton import Newton
from posterior.linear.solvers.proximal_newton import ProximalNewton, hessian_along
from posterior.schema import Schema, read_table

LOSSES = {
    "binary": SoftmaxLoss(2),
    "three": SoftmaxLoss(3, symmetric=True),
    "four": SoftmaxLoss(4, symmetric=True),
    "gaussian": GaussianLoss(),
}


def scan_of(X, y, weight=None):
    table = read_table(X)
    schema = Schema.infer(table)
    return Scan.of(LocalDataset(schema, schema.encode(table), y, weight), Design.of(schema))


def scaled(X, y, loss, penalty, weight=None, intercept=True):
    scan = scan_of(X, y, weight)
    seen = column_moments(scan)
    variance = seen.scatter[0] / seen.weight[0]
    return Objective(scan, loss, penalty, Basis.scaled(seen.location.value[0], variance, intercept))


def table(kind, n=150, d=8, seed=0):
    """Correlated columns of which some matter, and a target for the loss."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 1.0
    return X, target(kind, X, rng)


def target(kind, X, rng):
    K = {"binary": 2, "three": 3, "four": 4, "gaussian": 1}[kind]
    coef = rng.normal(size=(X.shape[1], K)) * (rng.random((X.shape[1], K)) < 0.5)
    scores = X @ coef
    if kind == "gaussian":
        return scores[:, 0] + rng.normal(size=len(scores)) + 5.0
    y = (scores - scores.mean(axis=0) + rng.gumbel(size=scores.shape)).argmax(axis=1)
    y[:K] = np.arange(K)
    return y


def slopes(X, y, loss, coef, intercept, weight=None):
    """∂ mean loss / ∂ coefficients and intercepts, straight from the formulas."""
    w = np.ones(X.shape[0]) if weight is None else weight
    scores = X @ coef.T + intercept
    if isinstance(loss, GaussianLoss):
        error = scores - y[:, None]
    elif loss.n_scores == 1:
        error = 1 / (1 + np.exp(-scores)) - y[:, None]
    else:
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = p / p.sum(axis=1, keepdims=True) - np.eye(loss.n_classes)[y]
    error = error * (w / w.sum())[:, None]
    return (X.T @ error).T, error.sum(axis=0)


def fitted(objective, **settings):
    """The solution, and the coefficients and intercepts as the user reads them."""
    solution = ProximalNewton(**settings).minimize(objective)
    coef, level = objective.shown(solution.theta)
    return solution, coef, level - coef @ objective.basis.centre


def assert_optimal(X, y, objective, coef, intercept, weight=None, tol=1e-7):
    l1, l2 = objective.penalty.l1, objective.penalty.l2
    slope, level = slopes(X, y, objective.loss, coef, intercept, weight)
    zero = coef == 0
    assert (np.abs(slope[zero]) <= l1 + tol).all()
    np.testing.assert_allclose(slope[~zero], (-l1 * np.sign(coef) - l2 * coef)[~zero], rtol=0, atol=tol)
    if objective.basis.intercept:
        np.testing.assert_allclose(level, 0.0, atol=tol)


# -- the optimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [ElasticNet(0.03), ElasticNet(0.02, 0.05), ElasticNet(1e-4)], ids=str)
def test_the_optimality_conditions_hold(kind, form, weighted, penalty):
    X, y = table(kind)
    if form == "sparse":
        X = sparse.csr_array(np.where(np.random.default_rng(1).random(X.shape) < 0.6, X, 0.0))
    weight = np.random.default_rng(2).uniform(0.2, 3.0, X.shape[0]) if weighted else None
    objective = scaled(X, y, LOSSES[kind], penalty, weight)
    solution, coef, intercept = fitted(objective)
    assert solution.converged
    assert solution.certificate.proven
    assert solution.certificate.gap <= 1e-8 * objective.value(solution.point)
    assert_optimal(X, y, objective, coef, intercept, weight)


@pytest.mark.parametrize("kind", LOSSES)
def test_without_an_intercept_they_hold_too(kind):
    X, y = table(kind)
    objective = scaled(X, y, LOSSES[kind], ElasticNet(0.05, 0.01), intercept=False)
    solution, coef, intercept = fitted(objective)
    assert (intercept == 0).all()
    assert solution.certificate.gap <= 1e-8 * objective.value(solution.point)
    assert_optimal(X, y, objective, coef, intercept)


@pytest.mark.parametrize("kind", ["binary", "three", "gaussian"])
def test_columns_of_all_scales(kind):
    """The penalty counts the user's coefficients, so that columns in small units are the first to go."""
    X, y = table(kind)
    X = X * 10.0 ** np.array([-4, 4, 0, -1, 2, 3, -2, 0])
    l1 = 0.03
    objective = scaled(X, y, LOSSES[kind], ElasticNet(l1))
    solution, coef, intercept = fitted(objective)
    assert solution.converged
    assert (coef[:, 0] == 0).all()
    assert coef[:, 1].any()
    assert_optimal(X, y, objective, coef, intercept)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_a_large_penalty_leaves_the_shares_of_the_classes(K):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 6)) + 2.0, np.sort(rng.integers(0, K, 200) * rng.integers(0, 2, 200))
    objective = scaled(X, y, SoftmaxLoss(K, symmetric=K > 2), ElasticNet(10.0))
    solution, coef, intercept = fitted(objective)
    assert (coef == 0).all()
    assert solution.converged
    log_share = np.log(np.bincount(y) / len(y))
    expected = log_share[1:] - log_share[0] if K == 2 else log_share - log_share.mean()
    np.testing.assert_allclose(intercept, expected, rtol=1e-12, atol=1e-14)


def test_the_smallest_penalty_without_coefficients_is_the_steepest_slope():
    X, y = table("gaussian")
    highest = float(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y))
    assert not fitted(scaled(X, y, GaussianLoss(), ElasticNet(highest * 1.001)))[1].any()
    assert np.count_nonzero(fitted(scaled(X, y, GaussianLoss(), ElasticNet(highest * 0.999)))[1]) == 1


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_scikit_learn_reaches_the_same_optimum(K, l1_ratio):
    X, y = table({2: "binary", 3: "three"}[K])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    C = 0.5
    theirs = LogisticRegression(solver="saga", C=C, l1_ratio=l1_ratio, tol=1e-10, max_iter=20_000).fit(X, y)
    each = 1 / (C * len(y))
    penalty = ElasticNet(l1_ratio * each, (1 - l1_ratio) * each)
    objective = scaled(X, y, SoftmaxLoss(K, symmetric=K > 2), penalty)
    _, coef, intercept = fitted(objective)
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(intercept - intercept.mean() * (K > 2), theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_reaches_the_same_least_squares_optimum(l1_ratio, weighted):
    X, y = table("gaussian")
    weight = np.random.default_rng(4).uniform(0.1, 2.0, len(y)) if weighted else None
    model = Lasso(alpha=0.2) if l1_ratio == 1 else SkElasticNet(alpha=0.2, l1_ratio=l1_ratio)
    theirs = model.set_params(tol=1e-14, max_iter=100_000).fit(X, y, weight)
    penalty = ElasticNet(0.2 * l1_ratio, 0.2 * (1 - l1_ratio))
    _, coef, intercept = fitted(scaled(X, y, GaussianLoss(), penalty, weight))
    np.testing.assert_allclose(coef[0], theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(intercept[0], theirs.intercept_, atol=1e-6)
    assert ((coef[0] == 0) == (theirs.coef_ == 0)).all()


@pytest.mark.parametrize("K", [2, 3])
def test_without_kinks_it_ends_where_newton_does(K):
    X, y = table({2: "binary", 3: "three"}[K])
    objective = scaled(X, y, SoftmaxLoss(K), ElasticNet(l2=0.01))
    ours, newtons = ProximalNewton().minimize(objective), Newton(tol=1e-12).minimize(objective)
    np.testing.assert_allclose(ours.theta, newtons.theta, atol=1e-8)


def test_a_column_twice_and_a_constant_one_are_harmless():
    X, y = table("three")
    X = np.column_stack([X, X[:, 0], np.full(len(y), 7.0)])
    objective = scaled(X, y, LOSSES["three"], ElasticNet(0.01))
    solution, coef, intercept = fitted(objective)
    assert solution.converged
    assert (coef[:, -1] == 0).all()
    assert_optimal(X, y, objective, coef, intercept)
    alone = fitted(scaled(X[:, :8], y, LOSSES["three"], ElasticNet(0.01)))[0]
    np.testing.assert_allclose(solution.point.loss, alone.point.loss, rtol=1e-7)


def test_separated_classes_have_a_finite_optimum():
    X = np.linspace(-1.0, 1.0, 60)[:, None] * [1.0, 2.0]
    y = (X[:, 0] > 0).astype(np.int64)
    objective = scaled(X, y, SoftmaxLoss(2), ElasticNet(1e-4))
    solution, coef, intercept = fitted(objective)
    assert solution.converged
    assert_optimal(X, y, objective, coef, intercept)


# -- how it gets there ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "three", "gaussian"])
def test_a_wide_sparse_table_needs_few_columns(kind):
    rng = np.random.default_rng(5)
    n, d = 2000, 5000
    X = sparse.random_array((n, d), density=0.01, format="csr", rng=rng)
    signal = X[:, :20].toarray() @ (6 * rng.normal(size=(20, 3)))
    y = signal[:, 0] + rng.normal(size=n) if kind == "gaussian" else signal.argmax(axis=1)
    y = np.minimum(y, 1) if kind == "binary" else y
    l1 = 0.01 if kind == "gaussian" else 0.002
    objective = scaled(X, y, LOSSES[kind], ElasticNet(l1))
    solution, coef, intercept = fitted(objective)
    assert solution.converged
    assert solution.certificate.gap <= 1e-8 * objective.value(solution.point)
    assert 5 <= np.count_nonzero(coef) <= 600
    assert solution.iterations <= 12
    assert_optimal(X, y, objective, coef, intercept)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_hessian_along_some_coordinates_is_a_part_of_the_whole(kind, form):
    X, y = table(kind)
    weight = np.random.default_rng(6).uniform(0.5, 2.0, len(y))
    objective = scaled(
        sparse.csr_array(X) if form == "sparse" else X, y, LOSSES[kind], ElasticNet(0.1, 0.3), weight
    )
    rng = np.random.default_rng(7)
    use = rng.random(objective.shape) < 0.5
    use[:, -1] = True
    theta = np.where(use, rng.normal(size=use.shape), 0.0).ravel()
    active = np.flatnonzero(use.ravel())
    everything = hessian_along(objective, theta, np.arange(objective.size))
    part = hessian_along(objective, theta, active)
    np.testing.assert_allclose(part, everything[np.ix_(active, active)], rtol=1e-10, atol=1e-12)


def test_the_path_falls_and_the_last_steps_square_the_error():
    X, y = table("three")
    solution = fitted(scaled(X, y, LOSSES["three"], ElasticNet(0.01)), path=True)[0]
    values = [step.value for step in solution.path]
    assert len(values) == solution.iterations + 1
    assert all(b <= a + 1e-15 for a, b in pairwise(values))
    third, second, last = (step.gradient for step in solution.path[-3:])
    assert last <= max(10 * second**2, 1e-14)
    assert second <= 10 * third**2


def test_it_starts_where_it_is_told_unless_that_is_worse_than_nothing():
    X, y = table("binary")
    objective = scaled(X, y, LOSSES["binary"], ElasticNet(0.01))
    first = ProximalNewton().minimize(objective)
    assert ProximalNewton().minimize(objective, first.theta).iterations == 0
    far = ProximalNewton().minimize(objective, np.full(objective.size, 1e4))
    np.testing.assert_allclose(far.theta, first.theta, atol=1e-8)


def test_too_few_steps_are_admitted():
    X, y = table("binary")
    objective = scaled(X, y, LOSSES["binary"], ElasticNet(0.01))
    early = fitted(objective, max_iter=1)[0]
    assert not early.converged
    assert early.iterations == 1
    above = objective.value(early.point) - objective.value(fitted(objective)[0].point)
    assert 1e-6 < above <= early.certificate.gap


def test_coordinates_that_hide_the_kinks_are_refused():
    X, y = table("three")
    scan = scan_of(X, y)
    whitened = Objective(scan, LOSSES["three"], ElasticNet(0.1), Basis.whitened(moments(scan), scan.n_rows))
    with pytest.raises(ValueError, match="scaled coordinates"):
        ProximalNewton().minimize(whitened)
    with pytest.raises(ValueError, match="each of the 3 classes, found 2"):
        ProximalNewton().minimize(scaled(X, y, SoftmaxLoss(3), ElasticNet(0.1)))


@given(st.integers(0, 10_000), st.integers(1, 8), st.booleans())
def test_a_kinked_quadratic_is_minimised(seed, d, deficient):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(max(d - 2, 1) if deficient else d + 3, d))
    H, g = A.T @ A, A.T @ rng.normal(size=len(A))
    cost = np.where(rng.random(d) < 0.3, 0.0, rng.uniform(0.01, 2.0, d))
    start = rng.normal(size=d) * (rng.random(d) < 0.5)
    x = L1Quadratic(H, g, start, cost).minimum(1e-10)
    left = shortest_subgradient(x, g + H @ (x - start), cost)
    assert np.abs(left).max() <= 1e-10


@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([0.0, 1e-3, 1.0]))
def test_a_kinked_quadratic_with_flat_groups_is_minimised(seed, K, ridge):
    """A number added to a group changes its costs alone, as with the classes' coefficients of a column."""
    rng = np.random.default_rng(seed)
    groups = np.arange(3 * K).reshape(3, K)
    A = rng.normal(size=(30, 3 * K))
    for group in groups:
        A[:, group] -= A[:, group].mean(axis=1, keepdims=True)
    cost, extra = np.repeat(rng.uniform(0.1, 3.0, 3), K), np.full(3 * K, ridge)
    H, g = A.T @ A + np.diag(extra), A.T @ rng.normal(size=30) * 3
    x = L1Quadratic(H, g, np.zeros(3 * K), cost, extra, groups).minimum(1e-9)
    left = shortest_subgradient(x, g + H @ x, cost)
    assert np.abs(left).max() <= 1e-9


# -- the proof ------------------------------------------------------------------------------------


def lowest(objective):
    """The minimum from scipy, of the split x = a − b with a, b ≥ 0 where the penalty has kinks."""
    cost = np.zeros(objective.shape)
    cost[:, : objective.basis.n_coordinates] = objective.penalty.l1 * objective.basis.directions
    cost = cost.ravel()
    kinked = np.flatnonzero(cost)

    def smooth(z):
        theta = z[: objective.size].copy()
        theta[kinked] -= z[objective.size :]
        point = objective.slope(theta)
        gradient = np.concatenate([point.gradient + cost, -point.gradient[kinked] + cost[kinked]])
        return point.value + cost @ z[: objective.size] + cost[kinked] @ z[objective.size :], gradient

    bounds = [(0 if c else None, None) for c in cost] + [(0, None)] * len(kinked)
    options = {"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-10}
    found = optimize.minimize(smooth, np.zeros(len(bounds)), jac=True, bounds=bounds, options=options)
    return float(found.fun)


PENALTIES = [
    ElasticNet(0.05),
    ElasticNet(0.02, 0.1),
    ElasticNet(0.1, 1e-6),
    ElasticNet(l2=0.01),
    ElasticNet(l2=2.0),
]


@pytest.mark.crossed
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize(
    "loss", [SoftmaxLoss(2), SoftmaxLoss(2, symmetric=True), *list(LOSSES.values())[1:]], ids=str
)
def test_the_gap_at_the_solution_bounds_what_another_solver_finds(loss, penalty):
    kind = (
        {2: "binary", 3: "three", 4: "four"}[loss.n_classes] if isinstance(loss, SoftmaxLoss) else "gaussian"
    )
    X, y = table(kind, n=60, d=4)
    objective = scaled(X, y, loss, penalty)
    solution = ProximalNewton().minimize(objective)
    value = objective.value(solution.point)
    other = lowest(objective)
    assert value <= other * (1 + 1e-12)
    assert value - solution.certificate.gap <= other
    assert other <= value * (1 + 1e-6)


@given(
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from(PENALTIES),
    st.sampled_from(["plain", "scaled", "whitened"]),
    st.booleans(),
    st.integers(0, 1000),
    st.floats(-6.0, 2.0),
)
def test_the_gap_is_a_bound_at_any_point(kind, penalty, coordinates, intercept, seed, log_size):
    """Whatever θ, its coordinates, weights, intercept and penalty: F(θ) − min F ≤ gap."""
    X, y = table(kind, n=40, d=3, seed=seed % 5)
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 2.0, len(y)) if seed % 2 else None
    best = scaled(X, y, LOSSES[kind], penalty, weight, intercept)
    solution = ProximalNewton().minimize(best)
    scan = best.scan
    axes = {
        "plain": lambda: Basis.plain(3, intercept),
        "scaled": lambda: best.basis,
        "whitened": lambda: Basis.whitened(moments(scan), scan.n_rows, intercept),
    }[coordinates]()
    objective = Objective(scan, LOSSES[kind], penalty, axes)
    theta = rng.normal(size=objective.size) * 10.0**log_size
    if seed % 3:
        coef, level = best.shown(solution.theta)
        theta += objective.theta(coef, level + coef @ (axes.centre - best.basis.centre))
    point = objective.slope(theta)
    value = objective.value(point)
    gap = by_duality(objective, point, objective.slope(objective.zero())).gap
    minimum = best.value(solution.point)
    assert gap >= (value - minimum) * (1 - 1e-12)
    # The dual point is never worse than none at all, whose bound is zero.
    assert gap <= value * (1 + 1e-12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l2", [1e-4, 0.1])
def test_the_gap_bounds_a_ridge_fit_stopped_early(K, l2):
    X, y = table({2: "binary", 3: "three"}[K])
    scan = scan_of(X, y)
    objective = Objective(scan, SoftmaxLoss(K), ElasticNet(l2=l2), Basis.whitened(moments(scan), scan.n_rows))
    minimum = Newton(tol=1e-13).minimize(objective).point.value
    origin = objective.slope(objective.zero())
    gaps = []
    for tol in (1e-1, 1e-3, 1e-10):
        point = Newton(tol=tol).minimize(objective).point
        gaps.append(by_duality(objective, point, origin).gap)
        assert gaps[-1] >= point.value - minimum
    assert gaps[-1] <= 1e-10
    assert gaps[0] > gaps[1] > gaps[-1]


@pytest.mark.parametrize("kind", ["binary", "three", "gaussian"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_the_gap_does_not_count_on_centred_columns(kind, penalty):
    """With the right coefficients and other levels the bound is tight, and columns off zero would show."""
    X, y = table(kind, n=60, d=3)
    X = X + 10.0
    best = scaled(X, y, LOSSES[kind], penalty)
    solution, coef, intercept = fitted(best)
    minimum = best.value(solution.point)
    objective = Objective(best.scan, LOSSES[kind], penalty, Basis.plain(3))
    origin = objective.slope(objective.zero())
    rng = np.random.default_rng(8)
    for size in 10.0 ** np.linspace(-4, 0, 15):
        point = objective.slope(objective.theta(coef, intercept + size * rng.normal(size=intercept.shape)))
        assert by_duality(objective, point, origin).gap >= objective.value(point) - minimum


def test_nothing_is_proven_without_a_penalty():
    X, y = table("binary")
    objective = scaled(X, y, SoftmaxLoss(2), ElasticNet())
    origin = objective.slope(objective.zero())
    assert by_duality(objective, origin, origin) is None
