"""Firth's penalised likelihood (M24): what it must satisfy, and what others say it is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from posterior.engines import LocalDataset
from posterior.linear.basis import Basis, moments
from posterior.linear.certificate import by_curvature
from posterior.linear.design import Design
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.losses import GaussianLoss, SoftmaxLoss
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.solvers.fisher_scoring import FisherScoring
from posterior.schema import Schema, read_table

TIGHT = FisherScoring(tol=1e-13)


def objective(X, y, K, weight=None, intercept=True, plain=False):
    """Firth's objective of arrays; `plain` in the user's own coordinates."""
    source = read_table(X)
    schema = Schema.infer(source)
    scan = Scan.of(LocalDataset(schema, schema.encode(source), y, weight), Design.of(schema))
    whitened = Basis.whitened(moments(scan), scan.n_rows, intercept)
    axes = Basis.plain(scan.n_features, intercept) if plain else whitened
    return JeffreysObjective(scan, SoftmaxLoss(K), ElasticNet(), axes)


def fitted(X, y, K, **given):
    """Coefficients (K or 1, d), intercepts, and probabilities (n, K) at the optimum."""
    o = objective(X, y, K, **given)
    solution = TIGHT.minimize(o)
    assert solution.converged
    coef, level = o.shown(solution.theta)
    scores = ((X.toarray() if sparse.issparse(X) else X) - o.basis.centre) @ coef.T + level
    scores = np.hstack([np.zeros_like(scores), scores]) if K == 2 else scores
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return coef, level - coef @ o.basis.centre, odds / odds.sum(axis=1, keepdims=True)


def sample(rng, n, d, K, strength=1.0):
    X = rng.normal(size=(n, d))
    y = (strength * X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = range(K)
    return X, y


def textbook(X, y, weight=None, steps=2000):
    """Binary Firth as in Heinze & Schemper (2002): residuals y − p + h(½ − p), h the hat diagonal."""
    X = np.column_stack([np.ones(len(X)), X])
    w = np.ones(len(X)) if weight is None else weight
    b = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-X @ b))
        root = np.sqrt(w * p * (1 - p))[:, None] * X
        hat = np.einsum("ij,ji->i", root, np.linalg.pinv(root))
        step = np.linalg.solve(root.T @ root, X.T @ (w * (y - p) + hat * (0.5 - p)))
        b += step * min(1.0, 1.0 / np.abs(step).max())
        if np.abs(step).max() < 1e-13:
            return b
    raise AssertionError("the textbook did not converge")


def modified_likelihood(X, y, K, weight):
    """ln L + ½ ln|I| as a function of (R, d + 1), written out with one Kronecker product a row."""
    X = np.column_stack([X, np.ones(len(X))])

    def value(B):
        scores = np.column_stack([np.zeros(len(X)), X @ B.T])
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        information = 0
        for x, lp, w in zip(X, log_p, weight, strict=True):
            p = np.exp(lp[1:])
            information = information + w * np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
        return weight @ log_p[range(len(y)), y] + 0.5 * np.linalg.slogdet(information)[1]

    return value


# --- value, gradient and curvature ---


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_value_is_the_modified_likelihood(K, weighted):
    rng = np.random.default_rng(K)
    X, y = sample(rng, 30, 3, K)
    weight = rng.uniform(0.2, 3, 30) if weighted else None
    total = 30.0 if weight is None else weight.sum()
    o = objective(X, y, K, weight, plain=True)
    value = modified_likelihood(X, y, K, np.ones(30) if weight is None else weight)
    for theta in (o.zero(), rng.normal(size=o.size)):
        assert_allclose(-total * o.slope(theta).value, value(theta.reshape(o.shape)), rtol=1e-12)


@pytest.mark.crossed
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("kind", ["dense", "weighted", "sparse", "no intercept", "plain", "wide"])
def test_the_gradient_is_that_of_finite_differences(K, kind):
    rng = np.random.default_rng(K)
    X, y = sample(rng, 40 if kind != "wide" else 150, 3 if kind != "wide" else 45, K)
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.5, 0, X))
    weight = rng.uniform(0.2, 3, len(y)) if kind in ("weighted", "sparse") else None
    o = objective(X, y, K, weight, intercept=kind != "no intercept", plain=kind == "plain")
    theta = rng.normal(size=o.size) * 0.5
    point, h = o.slope(theta), 1e-4
    for k in range(0, o.size, max(1, o.size // 12)):
        e = np.eye(o.size)[k] * h
        f = [o.slope(theta + j * e).value for j in (-2, -1, 1, 2)]
        assert_allclose(point.gradient[k], (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h), atol=1e-10)


def test_the_loss_of_a_point_and_its_slope_are_those_without_the_penalty():
    rng = np.random.default_rng(0)
    X, y = sample(rng, 50, 3, 3)
    o = objective(X, y, 3)
    theta = rng.normal(size=o.size)
    ours, bare = o.slope(theta), super(JeffreysObjective, o).slope(theta)
    assert_allclose(ours.loss, bare.value, rtol=1e-13)
    assert_allclose(ours.pull, bare.pull, atol=1e-14)
    assert_allclose(ours.level, bare.level, atol=1e-14)
    assert np.abs(ours.gradient - bare.gradient).max() > 1e-3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_curvature_is_the_hessian_of_the_mean_loss(intercept, form):
    rng = np.random.default_rng(0)
    X, y = sample(rng, 50, 3, 3)
    o = objective(form(X), y, 3, rng.uniform(0.2, 3, 50), intercept)
    theta = rng.normal(size=o.size)
    assert_allclose(o.curvature(theta), super(JeffreysObjective, o).curvature(theta), atol=1e-14)


def test_more_rows_than_a_chunk_and_a_tile_hold_give_the_same_sums():
    rng = np.random.default_rng(0)
    X, y = sample(rng, 3000, 2, 3)
    few, many = objective(X, y, 3, np.full(3000, 20.0)), objective(np.tile(X, (20, 1)), np.tile(y, 20), 3)
    theta = rng.normal(size=few.size)
    coef, level = few.shown(theta)
    a, b = few.slope(theta), many.slope(many.theta(coef, level))
    assert_allclose(a.loss, b.loss, rtol=1e-12)
    assert_allclose(a.pull, b.pull, atol=1e-12)
    assert_allclose(a.value, b.value, rtol=1e-12)


# --- what others say it is ---


@pytest.mark.parametrize("separated", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_give_the_textbook_estimate(separated, weighted):
    rng = np.random.default_rng(3)
    X, y = sample(rng, 40, 3, 2)
    if separated:
        y = (X[:, 0] > 0).astype(int)
    weight = rng.uniform(0.5, 2, 40) if weighted else None
    coef, intercept, _ = fitted(X, y, 2, weight=weight)
    assert_allclose(np.append(intercept, coef), textbook(X, y, weight), atol=1e-8)


@pytest.mark.parametrize("cells", [(3, 5, 7, 2), (0, 6, 4, 0), (5, 0, 3, 4), (1, 0, 0, 1)])
def test_a_table_of_two_by_two_gets_half_a_case_in_every_cell(cells):
    a, b, c, d = cells
    x = np.repeat([1, 1, 0, 0], cells).astype(float)[:, None]
    y = np.repeat([1, 0, 1, 0], cells)
    coef, intercept, _ = fitted(x, y, 2)
    assert_allclose(coef, np.log((a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5))), atol=1e-10)
    assert_allclose(intercept, np.log((c + 0.5) / (d + 0.5)), atol=1e-10)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_groups_of_several_classes_get_half_a_case_in_every_cell(K):
    counts = np.random.default_rng(K).integers(0, 6, size=(3, K))
    counts[0] = 0
    counts[:, 0] += 2
    counts[0, -1] += 1
    group, y = (np.repeat(i.ravel(), counts.ravel()) for i in np.indices(counts.shape))
    X = (group[:, None] == [1, 2]).astype(float)
    p = fitted(X, y, K)[2]
    smoothed = counts + 0.5
    assert_allclose(p, (smoothed / smoothed.sum(axis=1, keepdims=True))[group], atol=1e-10)


@pytest.mark.parametrize("kind", ["overlapping", "complete", "one row"])
def test_the_reference_class_is_irrelevant(kind):
    rng = np.random.default_rng(5)
    X, y = sample(rng, 40, 4, 3)
    if kind == "complete":
        y = np.digitize(X[:, 1], [-0.4, 0.4])
    if kind == "one row":
        y = np.where(np.arange(40) == 7, 2, y % 2)
    coef, intercept, p = fitted(X, y, 3)
    order = np.array([2, 0, 1])
    other, level, q = fitted(X, order[y], 3)
    assert_allclose(other[order], coef, atol=1e-9)
    assert_allclose(level[order], intercept, atol=1e-9)
    assert_allclose(q[:, order], p, atol=1e-9)


# --- what must not matter ---


@pytest.mark.parametrize("K", [2, 3])
def test_a_row_of_weight_two_is_two_rows(K):
    X, y = sample(np.random.default_rng(1), 30, 3, K)
    times = np.arange(30) % 3
    once = fitted(X, y, K, weight=times.astype(float))
    often = fitted(np.repeat(X, times, axis=0), np.repeat(y, times), K)
    assert_allclose(once[0], often[0], atol=1e-9)
    assert_allclose(once[1], often[1], atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_scale_and_offset_of_columns_change_nothing(K):
    X, y = sample(np.random.default_rng(2), 40, 3, K)
    plain = fitted(X, y, K)
    scale = np.array([1e-6, 1.0, 1e6])
    scaled = fitted(X * scale, y, K)
    assert_allclose(scaled[0] * scale, plain[0], atol=1e-8)
    assert_allclose(scaled[2], plain[2], atol=1e-8)
    moved = X + 1e6
    assert_allclose(fitted(moved, y, K)[0], fitted(moved - 1e6, y, K)[0], atol=1e-8)
    assert_allclose(fitted(moved, y, K)[2], fitted(moved - 1e6, y, K)[2], atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows_are_dense_rows(intercept):
    rng = np.random.default_rng(4)
    X, y = sample(rng, 60, 4, 3)
    X = np.where(rng.random(X.shape) < 0.6, 0, X)
    dense = fitted(X, y, 3, intercept=intercept)
    assert_allclose(fitted(sparse.csr_array(X), y, 3, intercept=intercept)[0], dense[0], atol=1e-10)


def test_redundant_columns_change_no_probability():
    X, y = sample(np.random.default_rng(6), 40, 3, 3)
    total = np.column_stack([X, X.sum(axis=1), np.ones(40)])
    coef, _, p = fitted(total, y, 3)
    assert_allclose(p, fitted(X, y, 3)[2], atol=1e-10)
    assert_allclose(coef[:, :3].sum(axis=1), coef[:, 3], atol=1e-9)  # the shortest such coefficients
    assert_allclose(coef[:, 4], 0, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("decades", [0, 1, 2])
def test_more_columns_than_rows_give_every_row_half_a_case_of_each_class(K, decades):
    rng = np.random.default_rng(7)
    X, y = sample(rng, 8, 20, K)
    weight = 10 ** rng.uniform(-decades, decades, 8)
    p = fitted(X, y, K, weight=weight)[2]
    assert_allclose(p, (weight[:, None] * np.eye(K)[y] + 0.5) / (weight[:, None] + K / 2), atol=1e-9)


def test_information_lost_to_rounding_is_no_way_down():
    """Rows of weights 1e-3 to 1e3: a step that takes a light one to −2000 logits leaves |I| to rounding."""
    rng = np.random.default_rng(7)
    X, y = sample(rng, 7, 8, 2)
    o = objective(X, y, 2, 10 ** rng.uniform(-3, 3, 7))
    lightest = int(np.argmin(o.scan.collected().weight))
    z = o.basis.pulled(X - o.basis.centre)[lightest]
    away = np.append(z / (z @ z), 0.0) * 2000
    for _ in range(50):
        assert o.slope(rng.normal(size=o.size) + away).value == np.inf
    assert FisherScoring().minimize(o).converged


# --- the solver ---


def small_tables(rng, count):
    """Three classes: all separated (in two ways), one from the others, one of a single row, none."""
    for k in range(count):
        n = int(rng.integers(15, 80))
        X = rng.normal(size=(n, 5))
        y = rng.integers(0, 3, n)
        match k % 6:
            case 0:
                y = np.digitize(X[:, 0], [-0.5, 0.5])
            case 1:
                y = (X @ rng.normal(size=(5, 3))).argmax(axis=1)
            case 2:
                X[:, 0] = y == 0
            case 3:
                y = np.where(np.arange(n) == 4, 2, y % 2)
        y[:3] = y[:3] if k % 6 == 3 else [0, 1, 2]
        yield X * 10 ** rng.uniform(-3, 3, 5), y


@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.long)])
def test_it_never_fails_on_small_tables_half_of_them_separated(count):
    longest = 0.0
    for X, y in small_tables(np.random.default_rng(1), count):
        o = objective(X, y, 3)
        solution = FisherScoring().minimize(o)
        assert solution.converged
        assert solution.gradient <= 1e-8
        assert solution.certificate.gap < 1e-10
        longest = max(longest, o.longest_row(solution.theta.reshape(o.shape).T))
    assert longest < 100


def test_a_separated_table_has_finite_coefficients_of_either_kind():
    x = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9])[:, None]
    for y, K in (([0] * 4 + [1] * 5, 2), ([0] * 3 + [1] * 3 + [2] * 3, 3)):
        coef, _, p = fitted(x, np.array(y), K)
        assert np.abs(coef).max() < 5
        assert (p.argmax(axis=1) == y).all()


def test_it_tells_its_path_and_calls_its_certificate_an_estimate():
    X, y = sample(np.random.default_rng(8), 50, 3, 3)
    o = objective(X, y, 3)
    solution = FisherScoring(path=True).minimize(o)
    assert len(solution.path) == solution.iterations + 1
    values = [step.value for step in solution.path]
    assert (np.diff(values) <= 1e-14).all()
    assert solution.path[-1].gradient <= 1e-8 * solution.path[0].gradient
    assert not solution.certificate.proven
    best = TIGHT.minimize(o).point.value
    early = FisherScoring(max_iter=2).minimize(o)
    assert not early.converged
    assert_allclose(early.certificate.gap, early.point.value - best, rtol=0.5)


def test_no_bound_for_convex_losses_is_claimed():
    X, y = sample(np.random.default_rng(8), 50, 3, 3)
    o = objective(X, y, 3)
    point = TIGHT.minimize(o).point
    assert by_curvature(o, point, o.curvature(point.theta)) is None


def test_a_start_far_off_or_at_the_optimum_leads_to_the_optimum():
    X, y = sample(np.random.default_rng(9), 40, 3, 3)
    o = objective(X, y, 3)
    best = TIGHT.minimize(o)
    assert FisherScoring().minimize(o, best.theta).iterations == 0
    for start in (np.full(o.size, 1e4), np.full(o.size, 3.0)):
        assert_allclose(TIGHT.minimize(o, start).theta, best.theta, atol=1e-9)


def test_balanced_classes_that_columns_do_not_tell_apart_need_no_step():
    x = np.array([0.0, 0, 1, 1])[:, None]
    solution = FisherScoring().minimize(objective(x, np.array([0, 1, 0, 1]), 2))
    assert solution.converged
    assert_allclose(solution.theta, 0, atol=1e-15)


# --- what is refused ---


def test_dependent_columns_in_plain_coordinates_are_refused():
    X, y = sample(np.random.default_rng(0), 30, 2, 2)
    o = objective(np.column_stack([X, np.zeros(30)]), y, 2, plain=True)
    assert o.slope(o.zero()).value == np.inf
    with pytest.raises(ValueError, match="whitened coordinates"):
        FisherScoring().minimize(o)


def test_other_losses_and_other_penalties_are_refused():
    X, y = sample(np.random.default_rng(0), 30, 2, 2)
    o = objective(X, y, 2)
    with pytest.raises(ValueError, match="held against the first"):
        JeffreysObjective(o.scan, GaussianLoss(), ElasticNet(), o.basis)
    with pytest.raises(ValueError, match="held against the first"):
        JeffreysObjective(o.scan, SoftmaxLoss(3, symmetric=True), ElasticNet(), o.basis)
    with pytest.raises(ValueError, match="takes the place of any other"):
        JeffreysObjective(o.scan, SoftmaxLoss(2), ElasticNet(l2=1.0), o.basis)
