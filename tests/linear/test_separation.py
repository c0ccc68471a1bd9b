"""Separation: the free certificate, the exact test, and what is said about it."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import linalg, optimize, sparse

from posterior.engines import LocalDataset, threads
from posterior.linear.basis import Basis, moments
from posterior.linear.design import Design
from posterior.linear.losses import GaussianLoss, SoftmaxLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.separation import find_separation, has_finite_optimum
from posterior.linear.solvers.newton import Newton
from posterior.notices import SeparationWarning
from posterior.schema import Schema, read_table


def posed(X, y, K=None, *, weight=None, intercept=True, axes="whitened", penalty=None, loss=None):
    y = np.asarray(y)
    table = read_table(X)
    schema = Schema.infer(table)
    w = None if weight is None else np.asarray(weight, dtype=float)
    scan = Scan.of(LocalDataset(schema, schema.encode(table), y, w), Design.of(schema))
    K = K or int(y.max()) + 1
    if axes == "whitened":
        chosen = Basis.whitened(moments(scan), scan.n_rows, intercept)
    else:
        chosen = Basis.plain(scan.n_features, intercept)
    return Objective(scan, loss or SoftmaxLoss(K), penalty or ElasticNet(), chosen)


def at_zero(objective):
    return objective.slope(objective.zero())


def found(X, y, K=None, **settings):
    objective = posed(X, y, K, **settings)
    return find_separation(objective, at_zero(objective))


def certified(objective, point):
    hessian = objective.curvature(point.theta)
    move = np.linalg.lstsq(hessian, -point.gradient, rcond=None)[0]
    return has_finite_optimum(objective, point, move, hessian)


def pair_rows(X, y, K, intercept=True):
    """Every margin as a linear function of the classes' coefficients but the first, by the definition."""
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    E = np.eye(K)
    pairs = [(i, j) for i in range(len(X)) for j in range(K) if j != y[i]]
    return np.array([np.outer(E[y[i]] - E[j], Z[i])[1:].ravel() for i, j in pairs])


def has_balance(A):
    """Stiemke's alternative: positive weights with which the rows sum to zero, so that none can gain."""
    answer = optimize.linprog(np.zeros(len(A)), A_eq=A.T, b_eq=-A.sum(axis=0), bounds=(0, None))
    assert answer.status in (0, 2)
    return answer.status == 0


def random_case(rng):
    K, d, n = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(8, 40))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    y = rng.integers(0, K, n)
    if rng.random() < 0.6:
        y = np.clip(np.round(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)).astype(int), 0, K - 1)
    y[:K] = np.arange(K)
    return X, y, K, bool(rng.integers(2))


# -- against brute force -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_are_those_of_a_program_with_all_rows(seed):
    rng = np.random.default_rng(seed)
    verdicts = []
    for _ in range(25):
        X, y, K, intercept = random_case(rng)
        objective = posed(X, y, K, intercept=intercept)
        start = at_zero(objective) if rng.random() < 0.5 else Newton(max_iter=12).minimize(objective).point
        separated = find_separation(objective, start) is not None
        A = pair_rows(X, y, K, intercept)
        assert separated != has_balance(A)
        assert not (separated and certified(objective, start))
        verdicts.append(separated)
    assert 0 < sum(verdicts) < 25


def unbounded_by_brute_force(X, y, K, intercept):
    """Coefficients that some direction without negative margins moves, of equal ones the shortest."""
    A = pair_rows(X, y, K, intercept)
    silent = linalg.null_space(X - X.mean(axis=0) if intercept else X)
    padded = np.vstack([silent, np.zeros((int(intercept), silent.shape[1]))])
    equal = np.kron(np.eye(K - 1), padded.T)
    contrasts = SoftmaxLoss(K).contrasts
    out = np.zeros((len(contrasts), len(padded)), dtype=bool)
    for k, j in np.ndindex(out.shape):
        cost = np.zeros((K - 1, len(padded)))
        cost[:, j] = contrasts[k]
        ends = [
            optimize.linprog(
                sign * cost.ravel(),
                A_ub=-A,
                b_ub=np.zeros(len(A)),
                A_eq=equal if len(equal) else None,
                b_eq=np.zeros(len(equal)) if len(equal) else None,
                bounds=(-1, 1),
            ).fun
            for sign in (1, -1)
        ]
        out[k, j] = min(ends) < -1e-6
    return out


@pytest.mark.parametrize("intercept", [True, False])
def test_infinite_coefficients_are_those_that_some_direction_moves(intercept):
    rng = np.random.default_rng(3)
    partly = 0
    for case in range(16):
        K = 2 + case % 2
        X = rng.integers(-1, 2, size=(30, 3)).astype(float)
        y = rng.integers(0, K, 30)
        X[:, 0] = rng.random(30) < 0.2
        y[X[:, 0] == 1] = K - 1
        if case % 3 == 0:
            X[:, 2] = X[:, 0] + X[:, 1]
        result = found(X, y, K, intercept=intercept)
        expected = unbounded_by_brute_force(X, y, K, intercept)
        if result is None:
            assert not expected.any()
            continue
        np.testing.assert_array_equal(result.unbounded, expected)
        partly += not expected.all()
    assert partly >= 5


def test_a_direction_gets_no_row_wrong_and_uses_the_named_columns_only():
    rng = np.random.default_rng(8)
    seen = 0
    for _ in range(60):
        X, y, K, intercept = random_case(rng)
        result = found(X, y, K, intercept=intercept)
        if result is None:
            continue
        seen += 1
        used = [name for name, moved in zip(result.names, result.direction.any(axis=0), strict=True) if moved]
        assert tuple(used) == result.columns
        slopes = np.vstack([np.zeros(X.shape[1]), result.direction]) if K == 2 else result.direction
        slopes = slopes - slopes[0]
        # With the levels free, the best worst margin of these slopes is not below zero.
        A = pair_rows(X, y, K, True).reshape(-1, K - 1, X.shape[1] + 1)
        fixed = np.einsum("ikj,kj->i", A[:, :, :-1], slopes[1:])
        levels = A[:, :, -1] if intercept else np.zeros((len(A), K - 1))
        cost = np.zeros(K)
        cost[-1] = -1.0
        bounds = [(None, None)] * K
        best = optimize.linprog(cost, A_ub=np.c_[-levels, np.ones(len(A))], b_ub=fixed, bounds=bounds)
        assert best.status == 0
        assert -best.fun >= -1e-9
    assert seen >= 10


# -- the certificate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 4])
def test_overlap_is_certified_from_one_newton_step(K):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5)) * [1e-6, 1.0, 1e6, 1e3, 1.0] + [0.0, 1e6, 0.0, 0.0, -3.0]
    scores = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(5, K))
    y = (scores + rng.gumbel(size=(20_000, K))).argmax(axis=1)
    objective = posed(X, y, K)
    point = Newton().minimize(objective).point
    assert certified(objective, point)
    assert find_separation(objective, point) is None


def test_a_step_that_is_not_newtons_certifies_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    objective = posed(X, (X[:, 0] + rng.logistic(size=500) > 0).astype(int))
    point = Newton(max_iter=3).minimize(objective).point
    move = -np.linalg.solve(objective.curvature(point.theta), point.gradient)
    assert has_finite_optimum(objective, point, move)
    assert not has_finite_optimum(objective, point, 0.5 * move)
    assert not has_finite_optimum(objective, point, -move)


@pytest.mark.parametrize("max_iter", [1, 5, 20, 60])
def test_separated_rows_are_not_certified_however_far_the_solver_went(max_iter):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = (X[:, 1] + rng.logistic(size=3000) > 0).astype(int)
    X[:, 0] = X[:, 1]
    few = rng.choice(3000, 5, replace=False)
    X[few, 0] += 1e-3
    y[few] = 1
    objective = posed(X, y)
    point = Newton(max_iter=max_iter, tol=0.0).minimize(objective).point
    assert not certified(objective, point)
    result = find_separation(objective, point)
    assert result.columns == ("x0", "x1")
    assert result.n_rows == 5
    assert {name for _, name in result.infinite} == {"x0", "x1"}


# -- toy data ------------------------------------------------------------------------------------------


def test_complete_separation_by_one_column_is_named():
    result = found(np.array([[1.0, 5], [2, 3], [3, 4], [4, 4], [5, 5], [6, 3]]), [0, 0, 0, 1, 1, 1])
    assert result.complete
    assert result.alone
    assert result.columns == ("x0",)
    assert result.classes == ((0, 1),)
    assert result.n_rows == 6
    assert result.finite == ()


def test_quasi_separation_at_a_shared_value_is_named():
    result = found(np.array([[1.0], [2], [3], [3], [4], [5]]), [0, 0, 0, 1, 1, 1])
    assert not result.complete
    assert result.columns == ("x0",)
    assert result.n_rows == 4
    np.testing.assert_array_equal(result.apart, [[0, 2], [2, 0]])


def test_columns_that_separate_only_together_are_named_together():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 6))
    y = (X[:, 1] - 2 * X[:, 4] > 0).astype(int)
    X += np.where(y == 1, 1, -1)[:, None] * np.array([0, 0.5, 0, 0, -0.5, 0])
    result = found(X, y)
    assert result.complete
    assert not result.alone
    assert result.columns == ("x1", "x4")
    assert "columns 'x1', 'x4' together" in str(result)


def test_a_rare_dummy_is_named_alone_and_the_rest_is_estimated_without_its_rows():
    rng = np.random.default_rng(4)
    n = 2000
    frame = pd.DataFrame(
        {"age": rng.normal(50, 10, n), "rare": (rng.random(n) < 0.01) * 1.0, "dose": rng.random(n)}
    )
    y = (0.1 * (frame["age"] - 50) + frame["dose"] + rng.logistic(size=n) > 0.5).to_numpy().astype(int)
    y[frame["rare"] == 1] = 1
    objective = posed(frame, y)
    solution = Newton(tol=1e-10).minimize(objective)
    result = find_separation(objective, solution.point)
    assert result.columns == ("rare",)
    assert not result.complete
    assert result.n_rows == int(frame["rare"].sum())
    assert result.infinite == ((1, "rare"),)
    assert result.finite == ((1, "age"), (1, "dose"), (1, "intercept"))
    rest = (frame["rare"] == 0).to_numpy()
    alone = sm.Logit(y[rest], sm.add_constant(frame.loc[rest, ["age", "dose"]])).fit(disp=0)
    coef, level = objective.shown(solution.theta)
    mine = [float(level[0] - coef[0] @ objective.basis.centre), coef[0, 0], coef[0, 2]]
    np.testing.assert_allclose(mine, alone.params.to_numpy(), rtol=1e-6)


def test_of_three_classes_one_that_is_cut_off_is_named():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    y = (X[:, :2] @ rng.normal(size=(2, 3)) + rng.gumbel(size=(400, 3))).argmax(axis=1)
    X[:, 2] += 20 * (y == 1)
    result = found(X, y)
    assert not result.complete
    assert result.columns == ("x2",)
    assert result.classes == ((0, 1), (1, 2))
    assert str(result) == "quasi-complete separation of class 1 from all others by column 'x2'"
    assert result.n_rows == 400
    assert found(X[:, :2], y) is None


def test_three_classes_in_a_row_are_separated_completely_by_their_column():
    x = np.arange(30.0)
    result = found(np.column_stack([x, np.sin(7 * x)]), (x // 10).astype(int))
    assert result.complete
    assert result.columns == ("x0",)
    assert str(result) == "complete separation of all classes by column 'x0'"


def test_a_class_without_rows_is_separated_by_the_intercept():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + rng.logistic(size=100) > 0).astype(int)
    result = found(X, y, K=3)
    assert result.columns == ()
    assert "by the intercept alone" in str(result)
    assert result.classes == ((0, 2), (1, 2))
    assert result.finite == ()


# -- close calls and hard coordinates ------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-1, 1e-4, 1e-7, 1e-9])
def test_the_smallest_overlap_is_not_separation(gap):
    rng = np.random.default_rng(7)
    b = np.array([1.0, -2.0, 0.5])
    X = rng.normal(size=(500, 3))
    y = (X @ b > 0).astype(int)
    X[0], X[1] = 0.0, gap * b / (b @ b)
    y[:2] = 1, 0
    for scale in (1.0, np.array([1e-6, 1e6, 1.0])):
        assert found(X * scale, y) is None
    y[:2] = 0, 1
    assert found(X, y).n_rows >= 496


def quasi_table(rng, n=600):
    """Integers: a dummy whose rows are all of class 1, two columns that overlap."""
    X = rng.integers(0, 40, size=(n, 3)).astype(float)
    X[:, 1] = rng.random(n) < 0.05
    y = (X[:, 0] + 12 * rng.logistic(size=n) > 20).astype(int)
    y[X[:, 1] == 1] = 1
    return X, y


@pytest.mark.parametrize("axes", ["whitened", "plain"])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_scales_and_offsets_change_nothing(offset, axes):
    X, y = quasi_table(np.random.default_rng(9))
    plain = found(X, y)
    moved = found((X + offset) * np.array([1e-6, 1e6, 1.0]), y, axes=axes)
    assert plain.columns == moved.columns == ("x1",)
    assert plain.n_rows == moved.n_rows
    np.testing.assert_array_equal(plain.unbounded[:, :3], moved.unbounded[:, :3])
    np.testing.assert_allclose(moved.direction * [1e-6, 1e6, 1.0], plain.direction, rtol=1e-6)
    assert (1, "intercept") in (plain.finite if offset == 0 else moved.infinite)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_joint_separation_is_seen_at_an_offset(offset):
    rng = np.random.default_rng(10)
    X = rng.integers(0, 50, size=(400, 3)).astype(float)
    y = np.where(X[:, 0] == X[:, 1], rng.integers(0, 2, 400), X[:, 0] > X[:, 1]).astype(int)
    y[:4], X[:4, :2], X[:4, 2] = [0, 1, 1, 0], 25.0, [0, 20, 30, 50]
    result = found(X + offset, y)
    assert result.columns == ("x0", "x1")
    assert not result.complete
    assert result.n_rows == int((X[:, 0] != X[:, 1]).sum())


def test_copies_of_columns_change_the_names_only():
    X, y = quasi_table(np.random.default_rng(11))
    plain = found(X, y)
    copied = found(np.column_stack([X, X[:, 0] + X[:, 2], X[:, 1]]), y)
    assert copied.columns == ("x1", "x4")
    assert copied.alone
    assert copied.n_rows == plain.n_rows
    assert {name for _, name in copied.infinite} == {"x1", "x4"}


def test_rows_of_weight_zero_do_not_count():
    X, y = quasi_table(np.random.default_rng(12))
    rows = np.flatnonzero(X[:, 1] == 1)
    spoilt = y.copy()
    spoilt[rows[0]] = 0
    weight = np.ones(len(y))
    assert found(X, spoilt) is None
    weight[rows[0]] = 0.0
    assert found(X, spoilt, weight=weight).columns == ("x1",)
    weight[rows] = 0.0
    assert found(X, y, weight=weight) is None
    objective = posed(X, y, weight=weight)
    assert certified(objective, Newton().minimize(objective).point)


def test_without_an_intercept_only_the_sign_separates():
    x = np.array([[1.0, 2], [2, -1], [3, 1], [-1, 2], [-2, -2], [-3, 1]])
    y = np.array([1, 1, 1, 0, 0, 0])
    result = found(x, y, intercept=False)
    assert result.complete
    assert result.columns == ("x0",)
    assert result.unbounded.shape == (1, 2)
    assert found(x[:, :1] + 10, y) is not None
    assert found(x[:, :1] + 10, y, intercept=False) is None


@pytest.mark.parametrize("kind", ["dummy", "joint", "overlap"])
def test_sparse_rows_get_the_verdict_of_dense_ones(kind):
    rng = np.random.default_rng(13)
    n = 40_000 if kind == "dummy" else 3000
    X = np.where(rng.random((n, 8)) < 0.2, rng.integers(1, 5, size=(n, 8)), 0).astype(float)
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=n) > 0).astype(int)
    if kind == "dummy":
        y[X[:, 5] > 0] = 1
    if kind == "joint":
        y = np.where(X[:, 2] == X[:, 3], y, X[:, 2] > X[:, 3]).astype(int)
    dense, thin = found(X, y), found(sparse.csr_array(X), y)
    if kind == "overlap":
        assert dense is None
        assert thin is None
        return
    assert dense.columns == thin.columns == (("x5",) if kind == "dummy" else ("x2", "x3"))
    assert dense.n_rows == thin.n_rows
    np.testing.assert_array_equal(dense.apart, thin.apart)
    np.testing.assert_array_equal(dense.unbounded, thin.unbounded)


def test_threads_change_no_bit():
    rng = np.random.default_rng(14)
    X = rng.normal(size=(70_000, 4))
    y = (X[:, 0] > X[:, 1]).astype(int)
    results = []
    for n in (1, 2):
        with threads(n):
            results.append(found(X, y))
    np.testing.assert_array_equal(results[0].direction, results[1].direction)
    np.testing.assert_array_equal(results[0].unbounded, results[1].unbounded)


# -- what is said --------------------------------------------------------------------------------------


def test_a_table_too_wide_for_linear_programs_is_given_up_with_a_reason():
    rng = np.random.default_rng(15)
    X = sparse.random_array((3000, 1500), density=0.02, rng=rng, format="csr", data_sampler=rng.normal)
    y = rng.integers(0, 2, 3000)
    objective = posed(X, y, axes="plain")
    with pytest.warns(SeparationWarning, match=r"not known: there are 1,501 coefficients"):
        assert find_separation(objective, at_zero(objective)) is None
    X = sparse.csr_array(sparse.hstack([X, sparse.csr_array(y[:, None] * 1.0)]))
    result = found(X, y, axes="plain")
    assert "x1500" in result.columns
    assert result.unbounded is None
    assert "was not determined: there are 1,502 coefficients" in result.message(["a", "b"])


def test_a_linear_program_has_a_budget_of_steps_and_no_clock(monkeypatch):
    rng = np.random.default_rng(17)
    X = rng.normal(size=(300, 6))
    y = (X.sum(axis=1) + 0.3 * rng.normal(size=300) > 0).astype(int)
    objective, asked, solve = posed(X, y), [], optimize.linprog

    def recorded(*args, options, **settings):
        asked.append(options)
        return solve(*args, options=options, **settings)

    monkeypatch.setattr(optimize, "linprog", recorded)
    assert find_separation(objective, at_zero(objective)) is None
    assert asked
    assert all("time_limit" not in options for options in asked)
    monkeypatch.setattr("posterior.linear.separating_directions.WORK", 2 * 300 * 6)
    with pytest.warns(
        SeparationWarning, match=r"not known: a linear program .* not solved within its budget"
    ):
        assert find_separation(objective, at_zero(objective)) is None
    assert asked[-1]["maxiter"] <= 2


def test_the_message_names_classes_columns_estimates_and_remedies():
    X, y = quasi_table(np.random.default_rng(16))
    said = found(pd.DataFrame(X, columns=["age", "rare", "dose"]), y).message(["well", "ill"])
    assert said.startswith("quasi-complete separation of classes 'well' and 'ill' by column 'rare' (")
    assert "no finite maximum-likelihood estimate exists" in said
    assert "Infinite: 'rare'; finite: 'age', 'dose', the intercept." in said
    remedies = said.partition("Remedies: ")[2].split("; ")
    assert remedies == [
        "a penalty (C=1.0)",
        'penalty="firth", which is finite for any data',
        "or leaving out column 'rare', unless others separate the classes too.",
    ]


def test_an_objective_that_always_has_an_optimum_is_refused():
    X, y = quasi_table(np.random.default_rng(17))
    ridge = posed(X, y, penalty=ElasticNet(l2=0.1))
    with pytest.raises(ValueError, match="without a penalty"):
        find_separation(ridge, at_zero(ridge))
    squares = posed(X, y, loss=GaussianLoss())
    with pytest.raises(ValueError, match="GaussianLoss"):
        has_finite_optimum(squares, at_zero(squares), squares.zero())
