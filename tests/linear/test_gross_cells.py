"""Rows with cells far beyond all others: the fit is the optimum all the same, or says that it is not."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from posterior import LogisticRegression
from posterior.engines import LocalDataset
from posterior.linear import (
    LBFGS,
    Design,
    ElasticNet,
    Newton,
    Problem,
    ProximalNewton,
    Scan,
    SoftmaxLoss,
    solve,
)
from posterior.linear.bulk import bulk_of
from posterior.schema import Schema, read_table

# Digits of the reference, and the gradient at which it ends; a decrement is small in flat places too.
DIGITS, LEFT = 340, Decimal("1e-20")
SIZES = [1e6, 1e10, 1e16, 1e40, 1e80, 1e150]
FEW_SIZES = [1e6, 1e16, 1e150]


def scan_of(X, y, weight=None):
    source = read_table(X)
    schema = Schema.infer(source)
    return Scan.of(LocalDataset(schema, schema.encode(source), np.asarray(y), weight), Design.of(schema))


def bulk(seed, n, d, K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = range(K)
    return rng, X, y


def exact_minimum(X, y, K, l2):
    """The least Σ loss / n + ½ l2 ‖contrasts B‖², by Newton's method in 340 digits."""
    n, p = len(X), (X.shape[1] + 1) * (K - 1)
    exact = np.vectorize(Decimal, otypes=[object])
    rows = exact(np.hstack([X, np.ones((n, 1))]))
    E = exact(SoftmaxLoss(K).contrasts)
    charge = np.kron(E.T @ E, np.diag([Decimal(l2)] * X.shape[1] + [Decimal(0)]))
    hot = exact((y[:, None] == np.arange(1, K)).astype(float))
    exp, log = np.vectorize(Decimal.exp, otypes=[object]), np.vectorize(Decimal.ln, otypes=[object])

    def look(theta):
        scores = rows @ theta.reshape(K - 1, -1).T
        every = np.hstack([np.zeros((n, 1), dtype=object) + Decimal(0), scores])
        top = every.max(axis=1)[:, None]
        parts = exp(every - top)
        total = parts.sum(axis=1)[:, None]
        value = (log(total) + top).sum() - (hot * scores).sum()
        return value / n + theta @ charge @ theta / 2, (parts / total)[:, 1:]

    theta = np.zeros(p, dtype=object) + Decimal(0)
    value, shares = look(theta)
    while True:
        gradient = ((shares - hot).T @ rows).ravel() / n + charge @ theta
        blocks = [
            [rows.T @ (rows * (shares[:, a] * (int(a == b) - shares[:, b]))[:, None]) for b in range(K - 1)]
            for a in range(K - 1)
        ]
        move = -solved(np.block(blocks) / n + charge, gradient)
        decrement = -(gradient @ move)
        if np.abs(gradient).max() < LEFT:
            return float(value)
        t = Decimal(1)
        while (there := look(theta + t * move))[0] > value - t * decrement / 10000:
            t /= 2
        # A step may be stretched as long as the value falls.
        while (further := look(theta + 2 * t * move))[0] < there[0]:
            t, there = 2 * t, further
        theta, (value, shares) = theta + t * move, there


def solved(A, b):
    """The solution of A x = b by Gauss's elimination."""
    A, b = A.copy(), b.copy()
    for i in range(len(b)):
        for k in range(i + 1, len(b)):
            ratio = A[k, i] / A[i, i]
            A[k, i:] -= ratio * A[i, i:]
            b[k] -= ratio * b[i]
    for i in reversed(range(len(b))):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return b


def with_rows(X, y, rows, classes):
    return np.vstack([X, rows]), np.append(y, classes)


@pytest.mark.crossed
@pytest.mark.parametrize("gross", SIZES)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("case", ["one row", "several rows", "several columns", "a far bulk"])
def test_gross_rows_that_are_fitted_anyway_change_nothing(case, K, gross):
    rng, X, y = bulk(1, 120, 3, K)
    if case == "a far bulk":
        X += 1e5
    rows = rng.normal(size=(1 if case == "one row" else 4, 3))
    rows[:, 1] = gross * np.resize([1.0, -1.0, 2.5, -0.5], len(rows))
    if case == "several columns":
        rows[:2, 0] = gross
        rows[2:, 2] = -gross
    n, m = len(X), len(X) + len(rows)
    alone = solve(Problem(scan_of(X, y), SoftmaxLoss(K), ElasticNet(l2=1 / n)))
    classes = alone.model.scores(rows)
    classes = (classes[:, 0] > 0).astype(int) if K == 2 else classes.argmax(axis=1)
    fit = solve(Problem(scan_of(*with_rows(X, y, rows, classes)), SoftmaxLoss(K), ElasticNet(l2=1 / m)))
    assert fit.solution.converged
    assert fit.solution.certificate.proven
    assert fit.solution.certificate.gap < 1e-9
    assert m * fit.solution.point.value == pytest.approx(n * alone.solution.point.value, rel=1e-12)
    assert fit.model.coef == pytest.approx(alone.model.coef, rel=1e-6)


@pytest.mark.crossed
@pytest.mark.parametrize("gross", FEW_SIZES)
@pytest.mark.parametrize("l2", [0.0, 0.02])
@pytest.mark.parametrize("m", [1, 3])
def test_gross_rows_that_the_others_contradict_are_fitted_at_the_optimum(m, l2, gross):
    rng, X, y = bulk(2, 25, 2, 2)
    alone = solve(Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=l2)))
    rows = rng.normal(size=(m, 2))
    rows[:, 0] = gross * np.array([1.0, 1.7, 40.0])[:m]
    X, y = with_rows(X, y, rows, (alone.model.scores(rows)[:, 0] < 0).astype(int))
    fit = solve(Problem(scan_of(X, y), SoftmaxLoss(2), ElasticNet(l2=l2)))
    assert fit.separation is None
    assert fit.solution.converged
    with localcontext(prec=DIGITS):
        assert fit.solution.point.value == pytest.approx(exact_minimum(X, y, 2, l2), rel=1e-12)


@pytest.mark.crossed
@pytest.mark.parametrize("gross", FEW_SIZES)
@pytest.mark.parametrize("right", [True, False])
def test_three_classes_have_converged_only_at_the_optimum(right, gross):
    rng, X, y = bulk(3, 25, 2, 3)
    alone = solve(Problem(scan_of(X, y), SoftmaxLoss(3), ElasticNet(l2=0.02)))
    rows = rng.normal(size=(2, 2))
    rows[:, 0] = gross * np.array([1.0, -1.7])
    X, y = with_rows(X, y, rows, (alone.model.scores(rows).argmax(axis=1) + (not right)) % 3)
    fit = solve(Problem(scan_of(X, y), SoftmaxLoss(3), ElasticNet(l2=0.02)))
    with localcontext(prec=DIGITS):
        least = exact_minimum(X, y, 3, 0.02)
    assert fit.solution.point.value >= least * (1 - 1e-12)
    if fit.solution.converged:
        assert fit.solution.point.value == pytest.approx(least, rel=1e-9)
    else:
        assert not right
        assert fit.solution.certificate is None


@pytest.mark.crossed
@pytest.mark.parametrize("gross", SIZES)
@pytest.mark.parametrize(
    ("solver", "penalty"),
    [(LBFGS(), ElasticNet(l2=0.01)), (ProximalNewton(), ElasticNet(l1=0.01)), (Newton(), ElasticNet())],
    ids=["lbfgs", "lasso", "no penalty"],
)
@pytest.mark.parametrize("stored", ["dense", "sparse"])
def test_no_solver_takes_a_flat_place_for_the_minimum(stored, solver, penalty, gross):
    _, X, y = bulk(4, 150, 3, 2)
    X[np.abs(X) < 0.3] = 0.0
    alone = solve(Problem(scan_of(X, y), SoftmaxLoss(2), penalty), solver)
    rows = np.array([[gross, 0.0, 1.0], [-gross, 1.0, 0.0], [0.0, 0.0, gross]])
    X, y = with_rows(X, y, rows, (alone.model.scores(rows)[:, 0] > 0).astype(int))
    weight = np.append(np.ones(150), np.full(3, 1e-3))
    table = sparse.csr_array(X) if stored == "sparse" else X
    total = weight.sum() / 150
    charged = ElasticNet(penalty.l1 / total, penalty.l2 / total)
    fit = solve(Problem(scan_of(table, y, weight), SoftmaxLoss(2), charged), solver)
    assert fit.solution.converged
    value = fit.objective.value(fit.solution.point)
    assert value * total == pytest.approx(alone.objective.value(alone.solution.point), rel=1e-9)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("gross", [1e6, 1e40])
def test_gross_rows_of_a_large_table_are_found_or_fitted_all_the_same(gross, place):
    """The sample that tells the scale of the columns has the first row, and not the second."""
    _, X, y = bulk(5, 120_000, 2, 2)
    alone = solve(Problem(scan_of(X, y), SoftmaxLoss(2)))
    X[place], y[place] = [gross, 1.0], int(alone.model.scores(np.array([[gross, 1.0]]))[0, 0] > 0)
    fit = solve(Problem(scan_of(X, y), SoftmaxLoss(2)))
    weight = np.ones(len(X))
    weight[place] = 0.0
    others = solve(Problem(scan_of(np.where(weight[:, None] > 0, X, 0.0), y, weight), SoftmaxLoss(2)))
    assert fit.solution.converged
    assert fit.model.coef == pytest.approx(others.model.coef, rel=1e-6)


def test_ordinary_tables_have_no_gross_cells():
    rng = np.random.default_rng(6)
    columns = {
        "normal": rng.normal(size=(500, 3)),
        "far from zero": 1e8 + rng.normal(size=(500, 3)),
        "skewed": rng.lognormal(sigma=2.0, size=(500, 3)),
        "counts": rng.poisson(0.05, size=(500, 3)).astype(float),
        "indicators": (rng.random((500, 3)) < 0.01).astype(float),
        "constant": np.ones((500, 3)),
        "one value that differs": np.eye(500)[:, :3] * 1e9,
    }
    for name, X in columns.items():
        for table in (X, sparse.csr_array(X)):
            assert bulk_of(scan_of(table, np.arange(500) % 2), X.var(axis=0)) is None, name


def test_rows_with_gross_cells_are_not_of_the_bulk():
    rng = np.random.default_rng(7)
    X = 50 + rng.normal(size=(500, 3))
    X[[3, 9], [0, 2]] = [1e9, -1e30]
    for table in (X, sparse.csr_array(X)):
        found = bulk_of(scan_of(table, np.arange(500) % 2), X.var(axis=0))
        assert found.columns.tolist() == [0, 2]
        kept = found.collected()
        assert np.array_equal(kept.target, np.delete(np.arange(500) % 2, [3, 9]))


def test_a_fit_that_gross_cells_keep_from_the_optimum_says_so():
    _, X, y = bulk(8, 100, 2, 2)
    alone = LogisticRegression().fit(X, y)
    X, y = with_rows(X, y, [[1e22, 0.0]], 1 - alone.predict([[1e22, 0.0]]))
    with pytest.warns(
        ConvergenceWarning, match="Some cells are more than 1000 times as far out as the others"
    ):
        fit = LogisticRegression(solver="lbfgs").fit(X, y)
    assert not fit.converged_


def test_steps_that_rounding_turns_in_a_circle_come_to_an_end():
    """Coefficients of a column that varies in its last digit are so large that rounding hides the slope."""
    X = np.array([[1.0, 3.5, 0.0], [1.0, 3.5, 0.0], [np.nextafter(1.0, 2.0), 3.5, 0.0]])
    objective = Problem(scan_of(X, [1, 0, 1]), SoftmaxLoss(2), ElasticNet(l2=0.3)).objective("scaled")
    solution = LBFGS().minimize(replace(objective, penalty=ElasticNet(l2=1e-29)))
    assert solution.iterations < 500
