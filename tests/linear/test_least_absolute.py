"""Least absolute deviations reach the optimum of the linear program, and prove it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from posterior import LinearRegression
from posterior.engines import LocalDataset, threads
from posterior.linear.basis import Basis, moments
from posterior.linear.design import Design
from posterior.linear.losses import LaplaceLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.solvers.base import Solution
from posterior.linear.solvers.least_absolute import LeastAbsolute, _posed
from posterior.schema import Schema, read_table


def posed(X: Any, y: Any, weight: Any = None, intercept: bool = True, wide: bool = False) -> Objective:
    source = read_table(X)
    schema = Schema.infer(source)
    dataset = LocalDataset(schema, schema.encode(source), np.asarray(y, dtype=float), weight)
    scan = Scan.of(dataset, Design.of(schema))
    seen = moments(scan)
    axes = Basis.whitened(seen, scan.n_rows, intercept)
    if wide:
        axes = Basis.scaled(seen.location.value[0], np.diagonal(seen.scatter[0]) / seen.weight[0], intercept)
    return Objective(scan, LaplaceLoss(), ElasticNet(), axes)


class Fitted:
    def __init__(self, X: Any, y: Any, weight: Any = None, intercept: bool = True, **how: Any) -> None:
        objective = posed(X, y, weight, intercept, how.pop("wide", False))
        self.solution: Solution = LeastAbsolute(**how).minimize(objective)
        coef, level = objective.shown(self.solution.theta)
        self.coef = coef[0]
        self.intercept = float(level[0] - coef[0] @ objective.basis.centre)
        self.value = self.solution.point.value
        assert self.solution.certificate is not None
        assert self.solution.certificate.proven
        self.gap = self.solution.certificate.gap


def deviation(X: Any, y: Any, coef: Any, intercept: float, weight: Any = None) -> float:
    return float(np.average(np.abs(y - X @ coef - intercept), weights=weight))


def by_linear_programming(X: Any, y: Any, weight: Any = None, intercept: bool = True) -> float:
    """The minimum by HiGHS: residuals as differences of positive parts."""
    n = len(y)
    w = np.ones(n) if weight is None else weight
    Z = np.column_stack([X, np.ones(n)]) if intercept else X
    d = Z.shape[1]
    found = linprog(
        np.concatenate([np.zeros(d), w, w]),
        A_eq=np.hstack([Z, np.eye(n), -np.eye(n)]),
        b_eq=y,
        bounds=[(None, None)] * d + [(0, None)] * (2 * n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return deviation(Z, y, found.x[:d], 0.0, w)


def problem(seed: int, n: int, d: int, kind: str = "noisy") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, d))
    noise = rng.standard_t(2, size=n)
    y = X @ rng.normal(size=d) + noise
    if kind == "ties":
        X, y = np.round(X), np.round(y)
    if kind == "exact rows":
        X = np.round(X)
        y = X @ np.arange(1.0, d + 1) + np.where(rng.random(n) < 0.3, noise, 0.0)
    if kind == "repeated rows":
        X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    if kind == "wild":
        y = rng.standard_cauchy(n) * np.exp(2 * rng.normal(size=n))
    if kind == "dependent":
        X = np.column_stack([X, X[:, 0] - X[:, -1], np.full(n, 7.0)])
    weight = 10 ** rng.uniform(-3, 3, n) if kind == "weighted" else None
    return X, y, weight


KINDS = ["noisy", "ties", "exact rows", "repeated rows", "wild", "dependent", "weighted"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), d=st.integers(1, 5))
@example(seed=352, n=2, d=2)
@example(seed=143, n=5, d=5)
@example(seed=81, n=3, d=2)
def test_it_reaches_the_minimum_of_the_linear_program(
    kind: str, intercept: bool, seed: int, n: int, d: int
) -> None:
    X, y, weight = problem(seed, n, d, kind)
    fit = Fitted(X, y, weight, intercept)
    minimum = by_linear_programming(X, y, weight, intercept)
    size = float(np.abs(y).max())  # what HiGHS can tell
    # A residual is rounded as its terms are, which cancel where columns are nearly dependent.
    terms = float((np.abs(X) @ np.abs(fit.coef) + abs(fit.intercept) + np.abs(y)).max())
    told = 1e-13 * size + 4 * np.finfo(float).eps * terms
    assert fit.solution.converged
    # It may be lower than the rounded optimum of HiGHS: the last line says that it is attained.
    assert fit.value <= minimum * (1 + 1e-9) + told
    assert fit.gap <= 1e-10 * fit.value + told
    # Coefficients shared with a redundant column are as exact as a covariance tells its combination.
    full = np.linalg.matrix_rank(X - X.mean(axis=0) * intercept) == X.shape[1]
    shared = 0.0 if full else 1e-11 * terms
    assert deviation(X, y, fit.coef, fit.intercept, weight) == pytest.approx(
        fit.value, rel=1e-12, abs=shared + told
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", range(8))
def test_the_gap_is_never_smaller_than_what_is_missing(kind: str, steps: int) -> None:
    X, y, weight = problem(steps, 60, 4, kind)
    fit = Fitted(X, y, weight, max_iter=steps)
    minimum = by_linear_programming(X, y, weight)
    assert fit.solution.iterations <= steps
    assert minimum - 1e-12 * fit.value <= fit.value <= minimum + fit.gap
    assert fit.solution.converged == (fit.gap <= 1e-9 * fit.value)


def test_too_few_steps_are_not_called_an_optimum() -> None:
    X, y, _ = problem(0, 500, 4)
    fit = Fitted(X, y, max_iter=2)
    assert not fit.solution.converged
    assert fit.gap > 1e-3 * fit.value


@pytest.mark.parametrize("kind", KINDS)
def test_the_simplex_method_it_falls_back_on_gives_the_same(kind: str) -> None:
    X, y, weight = problem(5, 80, 3, kind)
    program = _posed(posed(X, y, weight))
    answer = program.by_highs()
    assert answer.value * program.unit == pytest.approx(Fitted(X, y, weight).value, rel=1e-12)
    assert program.settled(answer, 1e-10)


def test_no_statsmodels_fit_is_better() -> None:
    regression = pytest.importorskip("statsmodels.regression.quantile_regression")
    X, y, _ = problem(11, 300, 4)
    design = np.column_stack([X, np.ones(len(y))])
    theirs = regression.QuantReg(y, design).fit(q=0.5, max_iter=5000, p_tol=1e-10).params
    fit = Fitted(X, y)
    assert fit.value <= deviation(design, y, theirs, 0.0)
    np.testing.assert_allclose(np.append(fit.coef, fit.intercept), theirs, atol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 100, 101])
def test_an_intercept_alone_is_a_median(n: int) -> None:
    y = np.random.default_rng(n).standard_cauchy(n)
    fit = Fitted(np.ones((n, 1)), y)
    middle = np.sort(y)[[(n - 1) // 2, n // 2]]
    assert fit.coef == 0
    if n % 2:
        assert fit.intercept == pytest.approx(np.median(y), rel=1e-14)
    else:
        assert middle[0] < fit.intercept < middle[1]
    assert fit.value == pytest.approx(np.abs(y - np.median(y)).mean(), rel=1e-14)


def test_an_intercept_alone_is_a_weighted_median() -> None:
    y, weight = np.array([5.0, 1.0, 4.0, 2.0]), np.array([1.0, 2.0, 5.5, 3.0])
    assert Fitted(np.ones((4, 1)), y, weight).intercept == pytest.approx(4.0, rel=1e-14)


def test_the_optimum_goes_through_as_many_rows_as_there_are_coefficients() -> None:
    X, y, _ = problem(3, 400, 6)
    fit = Fitted(X, y)
    residual = np.abs(y - X @ fit.coef - fit.intercept)
    assert (np.sort(residual)[:7] < 1e-13).all()
    assert np.sort(residual)[7] > 1e-5


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_scales_and_offsets_of_columns_and_target_change_nothing_else(scale: float, offset: float) -> None:
    X, y, _ = problem(7, 200, 3)
    plain = Fitted(X, y)
    stretch = scale ** np.array([1.0, -1.0, 0.5])
    moved = Fitted(X * stretch + offset * stretch, y * scale + offset * scale)
    size = 1e-9 if offset else 1e-12
    np.testing.assert_allclose(moved.coef * stretch / scale, plain.coef, rtol=size)
    assert moved.value / scale == pytest.approx(plain.value, rel=size)
    here = offset - moved.coef @ (offset * stretch) / scale
    assert moved.intercept / scale - here == pytest.approx(plain.intercept, abs=1e3 * size)


def test_a_weight_of_two_is_a_row_twice() -> None:
    X, y, _ = problem(13, 90, 4)
    count = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = Fitted(X, y, count.astype(float))
    repeated = Fitted(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-11)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-13)


def test_only_the_ratio_of_weights_counts() -> None:
    X, y, weight = problem(17, 90, 4, "weighted")
    np.testing.assert_allclose(Fitted(X, y, weight).coef, Fitted(X, y, 1e5 * weight).coef, rtol=1e-11)


def test_the_order_of_the_rows_is_irrelevant() -> None:
    X, y, _ = problem(19, 300, 5)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(Fitted(X, y).coef, Fitted(X[order], y[order]).coef, rtol=1e-11)


def test_fewer_rows_than_columns_are_fitted_exactly_by_the_shortest_coefficients() -> None:
    X, y, _ = problem(23, 6, 10)
    fit = Fitted(X, y)
    centred = X - X.mean(axis=0)
    shortest = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    assert fit.solution.converged
    assert fit.value <= 1e-14 * np.abs(y).mean()
    np.testing.assert_allclose(fit.coef, shortest, rtol=1e-9)


def test_dependent_columns_share_the_shortest_coefficients() -> None:
    X, y, _ = problem(29, 80, 2)
    single = Fitted(X, y)
    double = Fitted(np.column_stack([X, X[:, 0]]), y)
    np.testing.assert_allclose(double.coef[[0, 2]], single.coef[0] / 2, rtol=1e-9)
    assert double.value == pytest.approx(single.value, rel=1e-12)


def test_a_constant_target_is_fitted_at_once() -> None:
    X, _, _ = problem(31, 50, 3)
    fit = Fitted(X, np.full(50, 4.0))
    assert (fit.value, fit.solution.iterations, fit.solution.converged) == (0.0, 0, True)
    np.testing.assert_array_equal(fit.coef, 0.0)
    assert fit.intercept == 4.0


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows_give_what_dense_rows_give(intercept: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 12)) < 0.2, rng.normal(size=(400, 12)) + 2, 0.0)
    y = X @ rng.normal(size=12) + rng.laplace(size=400)
    dense, thin = Fitted(X, y, intercept=intercept), Fitted(sparse.csr_array(X), y, intercept=intercept)
    np.testing.assert_allclose(thin.coef, dense.coef, rtol=1e-9)
    assert thin.value == pytest.approx(dense.value, rel=1e-13)
    assert thin.solution.converged


@pytest.mark.parametrize("kind", ["noisy", "dependent"])
def test_columns_that_are_only_scaled_beforehand_lead_to_the_same_minimum(kind: str) -> None:
    X, y, _ = problem(37, 120, 4, kind)
    assert Fitted(X, y, wide=True).value == pytest.approx(Fitted(X, y).value, rel=1e-12)


def test_the_path_falls_to_the_optimum() -> None:
    X, y, _ = problem(41, 500, 3)
    solution = Fitted(X, y, path=True).solution
    values = [step.value for step in solution.path]
    assert len(values) == solution.iterations + 2
    assert values[-1] == min(values) == pytest.approx(solution.point.value, rel=1e-14)
    least_squares = np.linalg.lstsq(np.column_stack([X, np.ones(500)]), y, rcond=None)[0]
    assert values[0] == pytest.approx(deviation(X, y, least_squares[:-1], least_squares[-1]), rel=1e-12)


def test_the_bits_do_not_depend_on_the_number_of_threads() -> None:
    X, y, _ = problem(43, 40_000, 3)
    with threads(1):
        one = Fitted(X, y)
    with threads(4):
        four = Fitted(X, y)
    np.testing.assert_array_equal(one.coef, four.coef)


def test_a_penalty_is_refused() -> None:
    X, y, _ = problem(0, 20, 2)
    objective = posed(X, y)
    penalised = Objective(objective.scan, objective.loss, ElasticNet(l2=1.0), objective.basis)
    with pytest.raises(ValueError, match="without a penalty"):
        LeastAbsolute().minimize(penalised)


def test_the_slope_of_the_loss_is_its_difference_quotient() -> None:
    rng = np.random.default_rng(0)
    scores, target, weight = rng.normal(size=(1, 20)), rng.normal(size=20), rng.random(20)
    value, slope = LaplaceLoss().slope(scores.copy(), target, weight)
    assert value == pytest.approx(weight @ LaplaceLoss().values(scores, target))
    for i in range(20):
        moved = scores.copy()
        moved[0, i] += 1e-7
        assert LaplaceLoss().slope(moved, target, weight)[0] - value == pytest.approx(
            1e-7 * slope[0, i], abs=1e-13
        )


def test_one_gross_row_hides_no_column():
    rng = np.random.default_rng(0)
    n = 100_000
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.laplace(size=n)
    X[7, 0] = 999_999_999
    model = LinearRegression(noise="laplace").fit(X, y)
    np.testing.assert_allclose(model.coef_[1:], [2.0, 3.0], atol=0.05)
