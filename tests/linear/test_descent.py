"""Gradient descent, by all rows and by few: the textbook's steps, the same optimum, an honest account."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from posterior.engines import LocalDataset
from posterior.kernels.choice import using
from posterior.linear.basis import Basis
from posterior.linear.design import Design
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.losses import GaussianLoss, Loss, SoftmaxLoss, unpacked
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock, Scan
from posterior.linear.solvers.base import Progress
from posterior.linear.solvers.gradient_descent import GradientDescent, by_secant, largest_curvature
from posterior.linear.solvers.newton import Newton
from posterior.linear.solvers.sgd import SGD
from posterior.schema import Schema, read_table

BOTH = [GradientDescent(), SGD()]


def objective(X, y, loss, l2=0.01, weight=None, intercept=True):
    source = read_table(X)
    schema = Schema.infer(source)
    scan = Scan.of(LocalDataset(schema, schema.encode(source), y, weight), Design.of(schema))
    return Objective(scan, loss, ElasticNet(l2=l2), Basis.plain(X.shape[1], intercept))


def classes(n=300, d=4, K=2, seed=0):
    """Standardised, mildly correlated columns, and classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def problem(K=2, **settings):
    X, y = classes(K=K)
    return objective(X, y, SoftmaxLoss(K), **settings)


def thrown(solution, ob):
    """How far the coefficients are from Newton's, as shown to the user."""
    coef, level = ob.shown(solution.theta)
    best_coef, best_level = ob.shown(Newton().minimize(ob).theta)
    return max(np.abs(coef - best_coef).max(), np.abs(level - best_level).max())


# -- the optimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("momentum", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_gradient_descent_reaches_newtons_optimum(K, momentum, l2):
    ob = problem(K, l2=l2)
    solution = GradientDescent(momentum=momentum).minimize(ob)
    assert solution.converged
    assert solution.gradient <= 1e-8
    assert thrown(solution, ob) < 1e-6


@pytest.mark.crossed
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "solver",
    [
        SGD(),
        SGD(batch_size=1, max_iter=60),
        SGD(batch_size=4, decay="inverse"),
        SGD(batch_size=4, decay="inverse", average=False),
    ],
    ids=["default", "by row", "inverse", "last step"],
)
def test_shorter_and_shorter_stochastic_steps_reach_newtons_optimum(K, solver):
    ob = problem(K)
    assert thrown(replace(solver, tol=0.0).minimize(ob), ob) < 1e-2


@pytest.mark.parametrize("intercept", [True, False])
def test_both_solve_least_squares(intercept):
    X, _ = classes()
    y = X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + np.random.default_rng(1).normal(size=len(X))
    ob = objective(X, y, GaussianLoss(), l2=0.0, intercept=intercept)
    design = np.column_stack([X, np.ones(len(X))]) if intercept else X
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(GradientDescent().minimize(ob).theta, expected, atol=1e-6)
    np.testing.assert_allclose(SGD(batch_size=8).minimize(ob).theta, expected, atol=2e-2)


def test_momentum_needs_fewer_steps():
    ob = problem(l2=1e-4)
    assert (
        2 * GradientDescent(momentum=True).minimize(ob).iterations < GradientDescent().minimize(ob).iterations
    )


def test_of_many_optima_gradient_descent_finds_the_one_with_the_smallest_coefficients():
    X, y = classes()
    twice = objective(np.column_stack([X, X[:, 0]]), y, SoftmaxLoss(2), l2=0.0)
    once = objective(X, y, SoftmaxLoss(2), l2=0.0)
    coef = twice.shown(GradientDescent().minimize(twice).theta)[0][0]
    expected = once.shown(Newton().minimize(once).theta)[0][0]
    np.testing.assert_allclose(coef[[0, 4]], expected[0] / 2, atol=1e-6)


# -- the textbook's steps -------------------------------------------------------------------------


def test_the_first_step_of_gradient_descent_is_the_textbooks():
    X, y = classes()
    ob = objective(X, y, SoftmaxLoss(2))
    theta = GradientDescent(max_iter=1, step=0.7).minimize(ob).theta
    error = (y - 0.5) / len(y)
    np.testing.assert_allclose(theta, 0.7 * np.append(error @ X, error.sum()), rtol=1e-13)


def test_every_class_makes_the_same_first_step():
    X, y = classes(K=3)
    ob = objective(X, y, SoftmaxLoss(3))
    coef, level = ob.shown(GradientDescent(max_iter=1, step=0.7).minimize(ob).theta)
    error = (np.eye(3)[y] - 1 / 3).T / len(y)
    np.testing.assert_allclose(coef, 0.7 * error @ X, atol=1e-15)
    np.testing.assert_allclose(level, 0.7 * error.sum(axis=1), atol=1e-15)


def test_which_class_comes_first_is_irrelevant():
    X, y = classes(K=3)
    ours, theirs = (objective(X, labels, SoftmaxLoss(3)) for labels in (y, (y + 1) % 3))
    for solver in (GradientDescent(max_iter=7), SGD(max_iter=2)):
        coef = ours.shown(solver.minimize(ours).theta)[0]
        rolled = theirs.shown(solver.minimize(theirs).theta)[0]
        np.testing.assert_allclose(coef, rolled[[1, 2, 0]], atol=1e-13)


def test_an_epoch_of_two_classes_is_the_perceptrons_loop():
    X, y = classes(n=50)
    l2, rate = 0.1, 0.3
    solver = SGD(max_iter=1, batch_size=1, step=rate, decay="constant", average=False, seed=7)
    w, b = [0.0] * X.shape[1], 0.0
    for i in np.random.default_rng(7).permutation(len(y)):
        p = 1 / (1 + math.exp(-sum(wj * xj for wj, xj in zip(w, X[i], strict=True)) - b))
        w = [wj + rate * ((y[i] - p) * xj - l2 * wj) for wj, xj in zip(w, X[i], strict=True)]
        b += rate * (y[i] - p)
    theta = solver.minimize(objective(X, y, SoftmaxLoss(2), l2=l2)).theta
    np.testing.assert_allclose(theta, [*w, b], rtol=1e-11)


@pytest.mark.parametrize("decay", ["constant", "sqrt", "inverse"])
def test_an_epoch_of_three_classes_with_weights_is_a_loop_over_batches(decay):
    X, y = classes(n=50, K=3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    l2, rate, size = 0.1, 0.3, 8
    ob = objective(X, y, SoftmaxLoss(3), l2=l2, weight=weight)
    solver = SGD(max_iter=2, tol=0.0, batch_size=size, step=rate, decay=decay, average=False, seed=3)
    W, b = np.zeros((3, X.shape[1])), np.zeros(3)
    shuffle, seen = np.random.default_rng(3), 0
    for _ in range(2):
        order = shuffle.permutation(len(y))
        for at in range(0, len(y), size):
            late = 1 + seen / len(y)
            eta = rate / {"constant": 1.0, "sqrt": math.sqrt(late), "inverse": late}[decay]
            rows = order[at : at + size]
            push, lift = np.zeros_like(W), np.zeros(3)
            for i in rows:
                p = np.exp(W @ X[i] + b)
                error = weight[i] / weight.mean() * (np.eye(3)[y[i]] - p / p.sum())
                push, lift = push + np.outer(error, X[i]) - l2 * W, lift + error
            W, b, seen = W + eta * push / size, b + eta * lift / size, seen + len(rows)
    coef, level = ob.shown(solver.minimize(ob).theta)
    np.testing.assert_allclose(coef, W, rtol=1e-10)
    np.testing.assert_allclose(level, b, rtol=1e-10)


def test_the_average_weighs_step_s_like_its_third_power():
    X, y = classes(n=60)
    rule = SGD(batch_size=1, step=0.3, decay="constant")
    theta, state, seen = np.zeros(5), None, []
    for i in range(len(y)):
        theta, state = rule.update(SoftmaxLoss(2), ElasticNet(), theta, RowBlock(X[[i]], y[[i]], None), state)
        seen.append(theta)
    s = np.arange(1.0, len(y) + 1)
    expected = np.average(seen, axis=0, weights=s * (s + 1) * (s + 2))
    np.testing.assert_allclose(rule.found(theta, state), expected, rtol=1e-12)


# -- when to stop, and what to say ----------------------------------------------------------------


def test_stochastic_descent_stops_when_the_mean_loss_changes_by_less_than_epsilon():
    X, y = classes()
    ob = objective(X, y, SoftmaxLoss(2))
    solver = SGD(batch_size=4, step=0.3, tol=1e-3, delay=100.0, seed=2)
    shuffle, theta, state, losses = np.random.default_rng(2), ob.zero(), None, []
    for _ in range(solver.max_iter):
        rows = RowBlock(X, y, None)
        order = shuffle.permutation(len(y))
        theta, state = solver.update(ob.loss, ob.penalty, theta, rows, state, order)
        losses.append(state.loss)
    fires = np.abs(np.diff(losses)) < solver.tol
    expected = int(fires.argmax()) + 2
    assert 3 < expected < 50
    solution = solver.minimize(ob)
    assert (solution.iterations, solution.converged) == (expected, True)
    short = replace(solver, max_iter=expected - 1).minimize(ob)
    assert (short.iterations, short.converged) == (expected - 1, False)


def test_the_first_row_costs_what_no_knowledge_costs():
    X, y = classes(K=3)
    state = SGD().update(SoftmaxLoss(3), ElasticNet(), np.zeros(10), RowBlock(X[:1], y[:1], None))[1]
    assert state.loss == pytest.approx(math.log(3), rel=1e-14)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", [*BOTH, GradientDescent(max_iter=20)])
def test_the_certificate_holds(K, solver):
    ob = problem(K)
    solution = solver.minimize(ob)
    assert solution.certificate.proven
    gap = solution.point.value - Newton().minimize(ob).point.value
    assert -1e-15 < gap <= solution.certificate.gap + 1e-15


def test_too_few_steps_are_not_called_an_optimum():
    solution = GradientDescent(max_iter=5).minimize(problem())
    assert (solution.iterations, solution.converged) == (5, False)
    assert solution.gradient > 1e-8


def test_the_last_secant_gives_the_gap_of_a_parabola():
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 1.0, 3.0])
    ob = objective(X, y, GaussianLoss(), l2=0.0, intercept=False)
    there, here = ob.slope(np.array([3.0])), ob.slope(np.array([2.0]))
    lowest = ob.slope(np.array([X[:, 0] @ y / (X[:, 0] @ X[:, 0])])).value
    found = by_secant(here, there)
    assert not found.proven
    assert found.gap == pytest.approx(here.value - lowest, rel=1e-12)
    assert by_secant(here, here) is None


def test_separated_classes_leave_only_an_estimate():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    solution = GradientDescent(max_iter=200).minimize(objective(X, y, SoftmaxLoss(2), l2=0.0))
    assert not solution.converged
    assert not solution.certificate.proven


def test_where_the_gradient_is_but_rounding_there_is_nothing_to_do():
    X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / 3, np.array([0, 1, 1, 0])
    X = np.repeat(X, 7, axis=0) + 0.1
    ob = objective(X, np.repeat(y, 7), SoftmaxLoss(2), l2=0.0)
    assert 0 < np.linalg.norm(ob.slope(ob.zero()).gradient) < 1e-15
    solution = GradientDescent().minimize(ob)
    assert (solution.iterations, solution.converged) == (0, True)


def test_a_tiny_step_is_not_taken_for_arrival():
    solution = GradientDescent(step=1e-25, max_iter=3).minimize(problem())
    assert (solution.iterations, solution.converged) == (3, False)


def test_the_automatic_step_always_leads_down():
    values = [step.value for step in GradientDescent(max_iter=60, path=True).minimize(problem(3)).path]
    assert (np.diff(values) < 0).all()


def test_a_step_that_is_too_long_is_reported():
    X, y = classes()
    squares = objective(X, X[:, 0] + y, GaussianLoss())
    solution = GradientDescent(step=5.0).minimize(squares)
    assert not solution.converged
    assert solution.iterations < 100
    assert np.isfinite(solution.theta).all()
    with pytest.raises(ValueError, match=r"step=5.0 is too long .* standardise the columns"):
        SGD(step=5.0, decay="constant").minimize(squares)


def test_both_start_where_they_are_told():
    ob = problem()
    best = Newton().minimize(ob)
    assert GradientDescent().minimize(ob, best.theta).iterations == 0
    still = SGD(max_iter=1, step=1e-12).minimize(ob, best.theta)
    np.testing.assert_allclose(still.theta, best.theta, rtol=1e-9)


def test_the_path_is_kept_on_request():
    ob = problem()
    for solver in BOTH:
        solution = replace(solver, max_iter=4, path=True).minimize(ob)
        assert len(solution.path) == 5
        assert not solution.path[0].theta.any()
        np.testing.assert_array_equal(solution.path[-1].theta, solution.theta)
        for step in solution.path:
            point = ob.slope(step.theta)
            assert (step.value, step.n_rows) == (point.value, 300)
            assert step.gradient == np.linalg.norm(point.gradient)
        assert replace(solver, max_iter=4).minimize(ob).path == ()


# -- weights, seeds, forms ------------------------------------------------------------------------


def test_a_row_of_weight_two_is_two_rows_for_gradient_descent():
    X, y = classes(K=3)
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    heavy = objective(X, y, SoftmaxLoss(3), weight=weight)
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = objective(X[copies], y[copies], SoftmaxLoss(3))
    a, b = (GradientDescent(max_iter=50, path=True).minimize(ob) for ob in (heavy, repeated))
    for here, there in zip(a.path, b.path, strict=True):
        np.testing.assert_allclose(here.theta, there.theta, rtol=0, atol=1e-12)


def test_the_unit_of_the_weights_is_irrelevant():
    X, y = classes()
    for solver in BOTH:
        one, four = (objective(X, y, SoftmaxLoss(2), weight=np.full(len(y), w)) for w in (1.0, 4.0))
        np.testing.assert_array_equal(solver.minimize(one).theta, solver.minimize(four).theta)


def test_weighted_stochastic_steps_reach_the_weighted_optimum():
    X, y = classes()
    ob = objective(X, y, SoftmaxLoss(2), weight=np.where(y == 1, 3.0, 1.0))
    assert thrown(SGD(batch_size=8).minimize(ob), ob) < 1e-2


def test_the_same_seed_gives_the_same_bits():
    ob = problem(3)
    first, again, other = (SGD(max_iter=3, seed=seed, path=True).minimize(ob) for seed in (1, 1, 2))
    with threadpool_limits(limits=1, user_api="blas"):
        alone = SGD(max_iter=3, seed=1, path=True).minimize(ob)
    for a, b, c, d in zip(first.path[1:], again.path[1:], alone.path[1:], other.path[1:], strict=True):
        np.testing.assert_array_equal(a.theta, b.theta)
        np.testing.assert_array_equal(a.theta, c.theta)
        assert (a.theta != d.theta).all()


@pytest.mark.parametrize(
    "solver", [GradientDescent(max_iter=20), SGD(max_iter=2), SGD(max_iter=1, batch_size=1)]
)
@pytest.mark.parametrize("K", [2, 3])
def test_sparse_rows_give_what_dense_ones_give(solver, K):
    X, y = classes(K=K)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    a, b = (objective(form, y, SoftmaxLoss(K)) for form in (X, sparse.csr_array(X)))
    assert b.scan.sparse
    np.testing.assert_allclose(solver.minimize(a).theta, solver.minimize(b).theta, rtol=0, atol=1e-13)


# -- updates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("step", ["auto", 0.2])
def test_updates_with_parts_are_one_update_with_the_whole(form, step):
    X, y = classes(K=3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    rule = SGD(batch_size=8, step=step)
    loss, penalty = SoftmaxLoss(3), ElasticNet(l2=0.1)
    theta, state = rule.update(loss, penalty, np.zeros(10), RowBlock(form(X), y, weight))
    parts, at = (np.zeros(10), Progress()), 0
    for end in (80, 80, 160, 300):
        part = RowBlock(form(X[at:end]), y[at:end], weight[at:end])
        parts, at = rule.update(loss, penalty, parts[0], part, parts[1]), end
    np.testing.assert_array_equal(parts[0], theta)
    np.testing.assert_array_equal(rule.found(*parts), rule.found(theta, state))
    assert (parts[1].steps, parts[1].rows) == (state.steps, state.rows) == (38, 300)


def test_updates_without_an_intercept_have_no_level():
    X, y = classes()
    rule = SGD(batch_size=1, step=0.1, average=False)
    theta, _ = rule.update(SoftmaxLoss(2), ElasticNet(), np.zeros(4), RowBlock(X[:1], y[:1], None))
    np.testing.assert_allclose(theta, 0.1 * (y[0] - 0.5) * X[0], rtol=1e-14)


def test_updates_leave_what_they_are_given_alone():
    X, y = classes()
    given, rule = np.ones(5), SGD()
    _, state = rule.update(SoftmaxLoss(2), ElasticNet(), given, RowBlock(X, y, None))
    kept = state.average.copy()
    rule.update(SoftmaxLoss(2), ElasticNet(), given, RowBlock(X, y, None), state)
    assert (given == 1).all()
    np.testing.assert_array_equal(state.average, kept)


# -- how long a step may be -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", [SoftmaxLoss(2), SoftmaxLoss(4), SoftmaxLoss(4, symmetric=True), GaussianLoss()]
)
def test_no_scores_have_a_larger_curvature_than_the_bound(loss):
    scores = np.random.default_rng(0).normal(size=(loss.n_scores, 500)) * 3
    scores[:, 0] = 0.0
    bends = unpacked(loss.curvature(scores, np.zeros(500, dtype=int), None), loss.n_scores)
    largest = np.linalg.eigvalsh(bends.transpose(2, 0, 1))[:, -1].max()
    assert 0.9 * loss.curvature_bound < largest <= loss.curvature_bound * (1 + 1e-12)


@pytest.mark.parametrize("d", [30, 210])
def test_the_bound_on_the_curvature_is_close(d):
    X = np.random.default_rng(0).standard_t(4, size=(400, d)) + 0.5
    y = np.arange(400) % 2
    rows = np.column_stack([X, np.ones(400)])
    exact = 0.25 * np.linalg.eigvalsh(rows.T @ rows / 400)[-1] + 0.01
    bound = largest_curvature(objective(X, y, SoftmaxLoss(2)))
    assert exact * (1 - 1e-12) <= bound < 1.1 * exact


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", BOTH)
def test_a_penalty_with_kinks_is_refused(solver):
    lasso = replace(problem(), penalty=ElasticNet(l1=0.1))
    with pytest.raises(ValueError, match=r"l1=0\.1 has none where a coefficient is 0; use ProximalNewton"):
        solver.minimize(lasso)


@pytest.mark.parametrize("solver", BOTH)
def test_firths_penalty_is_refused(solver):
    ob = problem(l2=0.0)
    with pytest.raises(ValueError, match="Firth's penalty is not; use FisherScoring"):
        solver.minimize(JeffreysObjective(ob.scan, ob.loss, ob.penalty, ob.basis))


def test_a_loss_of_unknown_curvature_needs_a_step():
    class Sharp(SoftmaxLoss):
        curvature_bound = Loss.curvature_bound

    for solver in BOTH:
        ob = replace(problem(), loss=Sharp(2))
        with pytest.raises(ValueError, match="Sharp has none; pass a number"):
            solver.minimize(ob)
        assert replace(solver, step=0.1).minimize(ob).point.value < math.log(2)


def test_stochastic_descent_wants_the_columns_own_coordinates():
    ob = replace(problem(), basis=Basis.scaled(np.ones(4), np.full(4, 2.0)))
    with pytest.raises(ValueError, match=r"Basis\.plain"):
        SGD().minimize(ob)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(step=0.0), "step=0.0 is no length"),
        (lambda: SGD(step="short"), "step='short' is no length"),
        (lambda: SGD(batch_size=0), "batch_size=0 is no number of rows"),
        (lambda: SGD(decay="cubic"), "decay='cubic' is not known; pass one of constant, sqrt, inverse"),
        (lambda: SGD(delay=-1.0), "delay=-1.0 is no number of rows"),
    ],
)
def test_impossible_settings_are_refused_when_they_are_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---------------------------------------------------------------- steps in one compiled loop


def some_rows(seed, n, d, K, *, weighted, thin):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4 if thin else 1.0)
    y = rng.integers(0, K, n) if K else X @ rng.normal(size=d) + rng.normal(size=n)
    weight = rng.integers(0, 3, n) * rng.random(n) if weighted else None
    return RowBlock(sparse.csr_array(X) if thin else X, y, weight)


@pytest.mark.crossed(each=2)
@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("level", [True, False])
@pytest.mark.parametrize(
    "loss", [GaussianLoss(), SoftmaxLoss(2), SoftmaxLoss(4), SoftmaxLoss(3, symmetric=True)]
)
def test_compiled_steps_are_those_of_the_reference(loss, level, average, batch, weighted, thin):
    rows = some_rows(0, 301, 6, loss.n_classes, weighted=weighted, thin=thin)
    rule, penalty = SGD(batch_size=batch, average=average), ElasticNet(l2=0.01)
    theta = np.random.default_rng(1).normal(size=loss.n_scores * (6 + level)) * 0.1
    order = np.random.default_rng(2).permutation(301)
    ends = []
    for mode in ("reference", "compiled"):
        with using(mode):
            place, state = rule.update(loss, penalty, theta, rows, None, order)
            ends.append(rule.update(loss, penalty, place, rows, state))  # which goes on from there
    (truth, told), (found, said) = ends
    np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(said.loss, told.loss, rtol=1e-12)
    assert (said.steps, said.rows) == (told.steps, told.rows)
    if average:
        np.testing.assert_allclose(said.average, told.average, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2]])
def test_compiled_steps_do_not_depend_on_the_layout_of_rows(layout):
    rows, rule, penalty = some_rows(0, 100, 5, 3, weighted=False, thin=False), SGD(batch_size=1), ElasticNet()
    with using("compiled"):
        truth = rule.update(SoftmaxLoss(3), penalty, np.zeros(12), rows)[0]
        other = rule.update(SoftmaxLoss(3), penalty, np.zeros(12), rows._replace(matrix=layout(rows.matrix)))[
            0
        ]
    assert (truth == other).all()


@pytest.mark.parametrize("K", [2, 3])
def test_compiled_steps_stay_exact_at_scores_of_a_hundred_thousand(K):
    X, y = np.array([[1e5], [-1e5], [1e5], [-1e5]]), np.array([0, 0, 1, 1])
    rule = SGD(batch_size=1, step=1e-6, decay="constant", average=False)
    theta, ends = np.eye(K - 1, 1).ravel(), []
    for mode in ("reference", "compiled"):
        with using(mode):
            ends.append(rule.update(SoftmaxLoss(K), ElasticNet(), theta, RowBlock(X, y, None)))
    np.testing.assert_allclose(ends[1][0], ends[0][0], rtol=1e-14)
    np.testing.assert_allclose(ends[1][1].loss, ends[0][1].loss, rtol=1e-14)


def test_compiled_steps_that_are_too_long_are_refused():
    rows, rule = (
        some_rows(0, 200, 5, 0, weighted=False, thin=False),
        SGD(batch_size=1, step=1e3, decay="constant"),
    )
    with using("compiled"), pytest.raises(ValueError, match="too long for these columns"):
        rule.update(GaussianLoss(), ElasticNet(), np.zeros(6), rows)
