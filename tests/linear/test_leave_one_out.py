"""Leave-one-out from leverages is leave-one-out by brute force, and chooses the same penalty."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import Lasso, LogisticRegression, LogisticRegressionCV

from posterior import threads
from posterior.datasets import load_penguins
from posterior.engines import LocalDataset, local
from posterior.linear import leave_one_out
from posterior.linear.basis import Basis, moments
from posterior.linear.design import Design
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.leave_one_out import (
    leave_one_out_log_proba,
    leave_one_out_loss,
    leave_one_out_scores,
)
from posterior.linear.losses import GaussianLoss, Loss, SoftmaxLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.penalty_strength import choose_strength
from posterior.linear.scan import Scan
from posterior.linear.solvers.newton import Newton
from posterior.math import log_softmax
from posterior.schema import Schema, read_table

TIGHT = Newton(tol=1e-12)


def objective_of(X, y, loss, strength, *, weight=None, intercept=True, axes="whitened", l1=0.0):
    """Σ w ℓ + ½ strength ‖coef‖² + l1 ‖coef‖₁, divided by the total weight."""
    source = read_table(X)
    schema = Schema.infer(source)
    rows = LocalDataset(schema, schema.encode(source), y, weight)
    scan = Scan.of(rows, Design.of(schema))
    total = len(y) if weight is None else weight.sum()
    seen = moments(scan)
    at = {
        "whitened": lambda: Basis.whitened(seen, scan.n_rows, intercept),
        "scaled": lambda: Basis.scaled(
            seen.location.value[0], np.diagonal(seen.scatter[0]) / seen.weight[0], intercept
        ),
        "plain": lambda: Basis.plain(scan.n_features, intercept),
    }[axes]()
    return Objective(scan, loss, ElasticNet(l1=l1 / total, l2=strength / total), at)


def softmax_data(n, d=3, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def newton(Z, y, K, weight, ridge, B):
    """Softmax regression in ten lines: coefficients (K − 1, D) of all classes but the first."""
    R, D = B.shape
    for _ in range(100):
        p = np.exp(log_softmax(np.hstack([np.zeros((len(Z), 1)), Z @ B.T]), axis=1))[:, 1:]
        g = ((p - (y[:, None] == np.arange(1, K))) * weight[:, None]).T @ Z + (ridge @ B.ravel()).reshape(
            R, D
        )
        V = weight[:, None, None] * (p[:, :, None] * np.eye(R) - p[:, :, None] * p[:, None, :])
        H = np.einsum("nab,ni,nj->aibj", V, Z, Z, optimize=True).reshape(R * D, R * D) + ridge
        step = np.linalg.solve(H, g.ravel())
        B = B - step.reshape(R, D) / max(1.0, np.abs(Z @ step.reshape(R, D).T).max() / 5)
        if g.ravel() @ step < 1e-18:
            return B
    raise AssertionError("the reference did not converge")


def by_refitting(X, y, K, strength, weight=None, intercept=True):
    """Scores of each row under the model really fitted without it."""
    weight = np.ones(len(y)) if weight is None else weight
    Z = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    E = SoftmaxLoss(K).contrasts
    counted = np.ones(Z.shape[1])
    counted[X.shape[1] :] = 0.0
    ridge = strength * np.kron(E.T @ E, np.diag(counted))
    whole = newton(Z, y, K, weight, ridge, np.zeros((K - 1, Z.shape[1])))
    out = np.empty((len(y), K - 1))
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        out[i] = newton(Z[keep], y[keep], K, weight[keep], ridge, whole) @ Z[i]
    return out


def log_losses(scores, y):
    return SoftmaxLoss(scores.shape[1] + 1).values(scores.T, y)


# -- against brute force --------------------------------------------------------------------------


@pytest.mark.crossed
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_it_is_close_to_refitting_without_each_row(K, intercept, weighted, form):
    X, y = softmax_data(100, K=K)
    weight = np.where(np.arange(100) % 3 == 0, 2.0, 0.75) if weighted else None
    refitted = by_refitting(X, y, K, 1.0, weight, intercept)
    ob = objective_of(form(X), y, SoftmaxLoss(K), 1.0, weight=weight, intercept=intercept)
    theta = TIGHT.minimize(ob).theta
    w = np.ones(100) if weight is None else weight
    brute = np.average(log_losses(refitted, y), weights=w)

    one_step = leave_one_out_scores(ob, theta, refits=0)
    assert one_step.shape == (100, K - 1)
    assert np.abs(one_step - refitted).mean() < 5e-3
    assert abs(np.average(log_losses(one_step, y), weights=w) / brute - 1) < 1e-2

    scores = leave_one_out_scores(ob, theta)
    assert np.abs(scores - refitted).max() < 2e-2
    assert abs(leave_one_out_loss(ob, theta).mean / brute - 1) < 2e-3


@pytest.mark.parametrize("K", [2, 3])
def test_the_error_of_one_step_falls_as_rows_are_added(K):
    errors = []
    for n in (50, 100, 200):
        X, y = softmax_data(n, K=K)
        ob = objective_of(X, y, SoftmaxLoss(K), 1.0)
        scores = leave_one_out_scores(ob, TIGHT.minimize(ob).theta, refits=0)
        errors.append(np.abs(scores - by_refitting(X, y, K, 1.0)).mean())
    # The step's error is of second order in the leverage, which is of order 1/n.
    assert errors[1] < errors[0] / 2
    assert errors[2] < errors[1] / 2


@pytest.mark.parametrize("strength", [1e-1, 1e-3])
def test_rows_that_move_far_are_refitted(strength):
    X, y = load_iris(return_X_y=True)
    brute = log_losses(by_refitting(X, y, 3, strength), y).mean()
    ob = objective_of(X, y, SoftmaxLoss(3), strength)
    theta = TIGHT.minimize(ob).theta
    assert abs(leave_one_out_loss(ob, theta).mean / brute - 1) < 5e-3
    if strength == 1e-3:  # almost separated: one step alone is a third too low
        one_step = leave_one_out_scores(ob, theta, refits=0)
        assert log_losses(one_step, y).mean() < 0.8 * brute


def test_a_given_number_of_refits_goes_to_the_rows_that_move_most():
    X, y = load_iris(return_X_y=True)
    ob = objective_of(X, y, SoftmaxLoss(3), 0.01)
    theta = TIGHT.minimize(ob).theta
    one_step, two, all_of_them = (leave_one_out_scores(ob, theta, refits=k) for k in (0, 2, 150))
    coef, level = ob.free(theta)
    step = np.hstack([np.zeros((150, 1)), one_step - (X - ob.basis.centre) @ coef.T - level])
    moved = np.ptp(step, axis=1)
    changed = np.flatnonzero((two != one_step).any(axis=1))
    assert sorted(changed) == sorted(np.argsort(-moved)[:2])
    assert np.array_equal(two[changed], all_of_them[changed])


# -- squared error is exact -----------------------------------------------------------------------


def press(X, y, strength, weight, intercept):
    """Predictions without each row, y − e / (1 − h) with the hat matrix of weighted ridge."""
    Z = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    ridge = strength * np.diag([1.0] * X.shape[1] + [0.0] * intercept)
    hat = Z @ np.linalg.solve(Z.T @ (Z * weight[:, None]) + ridge, Z.T * weight)
    return y - (y - hat @ y) / (1 - np.diagonal(hat))


@pytest.mark.parametrize("strength", [0.0, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_squared_error_gives_the_textbook_press(strength, intercept, form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 1]
    y = X @ [1, 0.1, -3, 2] + rng.normal(size=60) + 7
    weight = rng.integers(1, 4, 60) / 2.0
    ob = objective_of(form(X), y, GaussianLoss(), strength, weight=weight, intercept=intercept)
    theta = TIGHT.minimize(ob).theta
    expected = press(X, y, strength, weight, intercept)
    np.testing.assert_allclose(leave_one_out_scores(ob, theta)[:, 0], expected, rtol=1e-10, atol=1e-10)
    mean, error = leave_one_out_loss(ob, theta)
    losses = (y - expected) ** 2 / 2
    assert mean == pytest.approx(np.average(losses, weights=weight), rel=1e-10)
    assert error == pytest.approx(np.sqrt(np.sum((weight * (losses - mean)) ** 2)) / weight.sum(), rel=1e-9)


def test_more_columns_than_rows_are_no_hindrance_under_ridge():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 40)), rng.normal(size=20)
    ob = objective_of(X, y, GaussianLoss(), 5.0)
    scores = leave_one_out_scores(ob, TIGHT.minimize(ob).theta)[:, 0]
    np.testing.assert_allclose(scores, press(X, y, 5.0, np.ones(20), True), rtol=1e-8)


def test_a_row_of_weight_two_goes_with_all_its_weight():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    weight = np.ones(30)
    weight[7] = 2.0
    ob = objective_of(X, y, GaussianLoss(), 1.0, weight=weight)
    without = objective_of(np.delete(X, 7, 0), np.delete(y, 7), GaussianLoss(), 1.0)
    coef, level = without.free(TIGHT.minimize(without).theta)
    expected = (X[7] - without.basis.centre) @ coef[0] + level[0]
    scores = leave_one_out_scores(ob, TIGHT.minimize(ob).theta)
    assert scores[7, 0] == pytest.approx(expected, rel=1e-10)


# -- what must not matter -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [SoftmaxLoss(3), SoftmaxLoss(3, symmetric=True)])
@pytest.mark.parametrize("axes", ["whitened", "scaled", "plain"])
@pytest.mark.parametrize("refits", [0, None])
def test_coordinates_and_contrasts_do_not_matter(loss, axes, refits):
    X, y = softmax_data(80)
    X = np.hstack([X, np.full((80, 1), 3.0)]) * [1, 5, 0.2, 1]
    reference = objective_of(X, y, SoftmaxLoss(3), 0.5)
    expected = leave_one_out_log_proba(reference, TIGHT.minimize(reference).theta, refits=refits)
    ob = objective_of(X, y, loss, 0.5, axes=axes)
    found = leave_one_out_log_proba(ob, ob.theta(*_moved_to(ob, reference)), refits=refits)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)


def _moved_to(ob, reference):
    """The optimum of one objective, as coefficients and levels about the centre of another."""
    coef, level = reference.shown(TIGHT.minimize(reference).theta)
    return coef, level + coef @ (ob.basis.centre - reference.basis.centre)


def test_chunks_tiles_and_threads_do_not_matter(monkeypatch):
    X, y = softmax_data(700, d=4)
    X[::97] *= 30  # rows that move far, in every chunk
    ob = objective_of(X, y, SoftmaxLoss(3), 0.1)
    theta = TIGHT.minimize(ob).theta
    whole = leave_one_out_scores(ob, theta)
    assert (whole != leave_one_out_scores(ob, theta, refits=0)).any()
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(leave_one_out, "TILE_CELLS", 500)
    found, choices = [], []
    for n in (1, 4):
        with threads(n):
            found.append(leave_one_out_scores(ob, theta))
            choices.append(choose_strength(_ridge(ob), [10.0, 1.0, 0.1]))
    np.testing.assert_allclose(found[0], whole, atol=1e-6)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(choices[0].losses, choices[1].losses)
    assert choices[0].best == choices[1].best


@pytest.mark.parametrize(
    "loss", [SoftmaxLoss(2), SoftmaxLoss(3), SoftmaxLoss(3, symmetric=True), GaussianLoss()]
)
def test_the_losses_of_rows_add_up_to_the_value(loss):
    rng = np.random.default_rng(4)
    scores = 10 * rng.normal(size=(loss.n_scores, 20))
    target = rng.integers(0, 2, 20)
    each = loss.values(scores, target)
    np.testing.assert_allclose(each, Loss.values(loss, scores, target), rtol=1e-12, atol=1e-14)
    assert each.sum() == pytest.approx(loss.slope(scores.copy(), target, None)[0], rel=1e-12)


# -- the lasso ------------------------------------------------------------------------------------


def test_under_a_lasso_rows_that_leave_the_zeros_as_they_are_get_the_exact_refit():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 6))
    y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    l1 = 8.0

    def fitted(rows):
        return Lasso(alpha=l1 / rows.sum(), tol=1e-13, max_iter=100_000).fit(X[rows], y[rows])

    whole = fitted(np.ones(60, dtype=bool))
    ob = objective_of(X, y, GaussianLoss(), 0.0, axes="plain", l1=l1)
    scores = leave_one_out_scores(ob, ob.theta(whole.coef_[None], np.array([whole.intercept_])))[:, 0]
    refits = [fitted(np.arange(60) != i) for i in range(60)]
    exact = np.array([model.predict(X[[i]])[0] for i, model in enumerate(refits)])
    same = [np.array_equal(np.sign(model.coef_), np.sign(whole.coef_)) for model in refits]
    assert 30 < sum(same) < 60
    assert 0 < np.count_nonzero(whole.coef_) < 6
    np.testing.assert_allclose(scores[same], exact[same], atol=1e-8)
    # Where a zero gives way the step is a guess, but still takes up nine tenths of what leaving out changes.
    assert np.abs(scores - exact).mean() < 0.1 * np.abs(whole.predict(X) - exact).mean()


def test_under_a_lasso_with_three_classes_it_is_close_to_refitting():
    X, y = softmax_data(60)
    X = np.hstack([X, np.random.default_rng(6).normal(size=(60, 2))])

    def fitted(rows):
        model = LogisticRegression(l1_ratio=1.0, C=0.3, solver="saga", tol=1e-6, max_iter=20_000)
        return model.fit(X[rows], y[rows])

    whole = fitted(np.ones(60, dtype=bool))
    assert 0 < (whole.coef_ == 0).sum() < whole.coef_.size
    ob = objective_of(X, y, SoftmaxLoss(3, symmetric=True), 0.0, axes="plain", l1=1 / 0.3)
    logs = leave_one_out_log_proba(ob, ob.theta(whole.coef_, whole.intercept_))
    rows = np.arange(0, 60, 3)
    exact = np.vstack([fitted(np.arange(60) != i).predict_log_proba(X[[i]]) for i in rows])
    assert np.abs(logs[rows] - whole.predict_log_proba(X[rows])).mean() > 0.03
    assert np.abs(logs[rows] - exact).mean() < 0.005


# -- the choice of a penalty ----------------------------------------------------------------------


def _ridge(ob):
    """The same objective for any total strength."""
    n = ob.scan.n_rows
    return lambda strength: replace(ob, penalty=ElasticNet(l2=strength / n))


def iris_pair():
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:] - 1


def penguins(target):
    frame = load_penguins("pandas").frame.dropna()
    X = frame[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].to_numpy(float)[::3]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.unique(frame[target], return_inverse=True)[1][::3]


TABLES = {
    "iris": iris_pair,
    "penguins by sex": lambda: penguins("sex"),
    "penguins by species": lambda: penguins("species"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_penalty_is_that_of_brute_force(name):
    X, y = TABLES[name]()
    K = y.max() + 1
    strengths = [10.0, 1.0, 0.3, 0.1, 0.01]
    choice = choose_strength(_ridge(objective_of(X, y, SoftmaxLoss(K), 1.0)), strengths)
    brute = [log_losses(by_refitting(X, y, K, s), y).mean() for s in strengths]
    assert choice.strengths.tolist() == strengths
    np.testing.assert_allclose(choice.losses, brute, rtol=5e-3)
    assert choice.best == strengths[np.argmin(brute)]


@pytest.mark.parametrize("name", ["iris", "penguins by sex"])
def test_left_out_rows_fare_no_worse_than_under_the_penalty_of_scikit_learn(name):
    X, y = TABLES[name]()
    ob = objective_of(X, y, SoftmaxLoss(2), 1.0)
    choice = choose_strength(_ridge(ob))
    theirs = LogisticRegressionCV(
        Cs=10,
        cv=5,
        l1_ratios=(0,),
        scoring="neg_log_loss",
        solver="newton-cholesky",
        use_legacy_attributes=False,
    ).fit(X, y)
    ours_brute, theirs_brute = (
        log_losses(by_refitting(X, y, 2, s), y) for s in (choice.best, 1 / float(theirs.C_))
    )
    assert ours_brute.mean() <= theirs_brute.mean()
    # Both lie where the curve is flat: within a standard error of the best.
    assert theirs_brute.mean() - ours_brute.mean() < choice.errors[np.argmin(choice.losses)]


def test_the_search_goes_on_between_the_strengths_and_keeps_the_best_fit():
    X, y = softmax_data(80)
    ob = objective_of(X, y, SoftmaxLoss(3), 1.0)
    coarse = choose_strength(_ridge(ob), np.logspace(4, -4, 20))
    choice = choose_strength(_ridge(ob))
    assert len(choice.strengths) == 25
    assert np.all(np.diff(choice.strengths) < 0)
    assert choice.losses.min() <= coarse.losses.min()
    assert choice.losses[choice.strengths == choice.best] == choice.losses.min()
    assert not choice.at_edge
    assert choice.solution.converged
    again = _ridge(ob)(choice.best)
    np.testing.assert_allclose(choice.solution.theta, TIGHT.minimize(again).theta, atol=1e-6)
    assert leave_one_out_loss(again, choice.solution.theta).mean == choice.losses.min()


def test_the_search_goes_on_beyond_the_strengths_where_columns_are_small():
    X, y = softmax_data(80, K=2)
    usual = choose_strength(_ridge(objective_of(X, y, SoftmaxLoss(2), 1.0)))
    small = choose_strength(_ridge(objective_of(X * 1e-5, y, SoftmaxLoss(2), 1.0)))
    assert small.best < 1e-8
    assert small.losses.min() == pytest.approx(usual.losses.min(), rel=1e-3)


def test_a_column_without_meaning_asks_for_a_strong_penalty():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 5)), np.arange(60) % 2
    choice = choose_strength(_ridge(objective_of(X, y, SoftmaxLoss(2), 1.0)))
    assert choice.best > 10
    assert choice.losses.min() < choice.losses[-1]


def test_separated_classes_have_a_choice_too():
    X, y = load_iris(return_X_y=True)
    choice = choose_strength(_ridge(objective_of(X[:100], y[:100], SoftmaxLoss(2), 1.0)))
    assert choice.losses.min() < 1e-3
    assert choice.solution.converged


# -- refusals -------------------------------------------------------------------------------------


def test_without_a_penalty_there_must_be_more_rows_than_columns():
    rng = np.random.default_rng(8)
    ob = objective_of(rng.normal(size=(5, 8)), rng.normal(size=5), GaussianLoss(), 0.0, axes="plain")
    with pytest.raises(ValueError, match=r"5 rows cannot determine 9 coefficients.*add a ridge"):
        leave_one_out_scores(ob, ob.zero())


def test_a_row_that_alone_determines_a_coefficient_is_named():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    X[:, 2] = np.arange(30) == 11
    ob = objective_of(X, y, GaussianLoss(), 0.0)
    with pytest.raises(ValueError, match="row 11 is the only one that determines some coefficient"):
        leave_one_out_scores(ob, TIGHT.minimize(ob).theta)
    assert leave_one_out_loss(ob, TIGHT.minimize(ob).theta).mean == np.inf
    with pytest.raises(ValueError, match="under every strength"):
        choose_strength(_ridge(ob), [0.0])
    assert choose_strength(_ridge(ob), [0.0, 1.0]).best == 1.0


def test_too_many_coefficients_are_refused(monkeypatch):
    monkeypatch.setattr(leave_one_out, "LARGEST", 7)
    X, y = softmax_data(50)
    ob = objective_of(X, y, SoftmaxLoss(3), 1.0)
    with pytest.raises(ValueError, match=r"too large for 8 coefficients \(at most 7\).*cross-validation"):
        leave_one_out_scores(ob, ob.zero())


def test_firth_and_regression_are_refused_where_they_make_no_sense():
    X, y = softmax_data(50)
    ob = objective_of(X, y, SoftmaxLoss(3), 0.0)
    firth = JeffreysObjective(ob.scan, ob.loss, ob.penalty, ob.basis)
    with pytest.raises(ValueError, match="a JeffreysObjective lacks"):
        leave_one_out_scores(firth, firth.zero())
    line = objective_of(X, y.astype(float), GaussianLoss(), 1.0)
    with pytest.raises(ValueError, match="need a SoftmaxLoss, found GaussianLoss"):
        leave_one_out_log_proba(line, line.zero())
    with pytest.raises(ValueError, match="l1 penalty needs a coordinate for every penalised coefficient"):
        leave_one_out_scores(replace(ob, penalty=ElasticNet(l1=0.1)), ob.zero())


@pytest.mark.parametrize("strengths", [[], [-1.0], [np.inf]])
def test_strengths_that_are_none_are_refused(strengths):
    X, y = softmax_data(50)
    with pytest.raises(ValueError, match="finite numbers from 0 upwards"):
        choose_strength(_ridge(objective_of(X, y, SoftmaxLoss(3), 1.0)), strengths)
