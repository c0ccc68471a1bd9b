"""Compiled softmax and logistic kernels say what the NumPy code of `posterior.linear` says."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import posterior
from posterior import LogisticRegression, kernels
from posterior.engines import LocalDataset, local, threads
from posterior.kernels import memory
from posterior.kernels.choice import using
from posterior.kernels.compiled import series, softmax
from posterior.kernels.compiled.column_ranges import ranges_of_parts
from posterior.linear import Design, Problem, Scan, SoftmaxLoss
from posterior.linear.loss_sums import (
    LinearScores,
    LossSums,
    SlopeAndCurvature,
    curvature_of,
    slope_and_curvature_of,
    slope_of,
)
from posterior.linear.model import LinearModel
from posterior.linear.scan import RowBlock
from posterior.linear.solvers import Newton
from posterior.schema import Schema, read_table

EPSILON = np.finfo(float).eps


def locked(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 3, axis=0)[::3],
    "columns apart": lambda X: kernels.SeparateColumns.of([column.copy() for column in X.T]),
    "part of columns apart": lambda X: kernels.SeparateColumns.of(
        [np.append([7.0, 8.0], column).astype(X.dtype) for column in X.T]
    )[2:],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "some columns of more": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": locked,
}


def at_address(X, skip, dtype=np.float64):
    """A copy that begins so many bytes after a line of the cache, in C order."""
    X = np.asarray(X, dtype=dtype)
    room = np.empty(X.nbytes + 128, dtype=np.uint8)
    begin = -room.ctypes.data % 64 + skip
    out = room[begin : begin + X.nbytes].view(dtype).reshape(X.shape)
    out[:] = X
    return out


def problem(seed, n, d, K, *, weighted=False, symmetric=False, shifted=False, offset=0.0):
    rng = np.random.default_rng(seed)
    loss = SoftmaxLoss(K, symmetric=symmetric)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, d) + offset
    y = rng.integers(0, K, n)
    w = rng.integers(0, 4, n) * rng.random(n) if weighted else None
    coef = rng.normal(size=(loss.n_scores, d)) * 3 / np.maximum(np.abs(X - offset).max(axis=0), 1e-300)
    shift = offset + rng.normal(size=d) if shifted else None
    return RowBlock(X, y, w), loss, LinearScores(coef, rng.normal(size=loss.n_scores), shift)


def both(work):
    with using("reference"):
        truth = work()
    with using("compiled"):
        return truth, work()


def sizes(block, line):
    """How large the terms of a sum over rows are: its rounding is a share of that."""
    X = np.abs(block.matrix - (0.0 if line.shift is None else line.shift))
    w = np.ones(len(X)) if block.weight is None else block.weight
    return w @ X + 1e-300, w.sum() + 1e-300


CASES = {
    "n": st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 127, 128, 129, 300])),
    "seed": st.integers(0, 2**32 - 1),
    "weighted": st.booleans(),
    "symmetric": st.booleans(),
    "shifted": st.booleans(),
}


@given(d=st.sampled_from([1, 2, 3, 7, 8, 21, 47, 203]), K=st.integers(2, 7), **CASES)
def test_value_and_slope_are_those_of_the_reference(n, d, K, seed, weighted, symmetric, shifted):
    block, loss, line = problem(seed, n, d, K, weighted=weighted, symmetric=symmetric, shifted=shifted)
    truth, found = both(lambda: slope_of(block, loss, line))
    size, weight = sizes(block, line)
    assert found.weight == truth.weight
    assert_allclose(found.value, truth.value, rtol=1e-14, atol=64 * EPSILON * weight)
    assert (np.abs(found.pull - truth.pull) <= 64 * EPSILON * size).all()
    assert (np.abs(found.level - truth.level) <= 64 * EPSILON * weight).all()


@given(d=st.sampled_from([1, 2, 5, 7, 20, 47, 128]), K=st.integers(2, 6), **CASES)
def test_curvature_is_that_of_the_reference(n, d, K, seed, weighted, symmetric, shifted):
    block, loss, line = problem(seed, n, d, K, weighted=weighted, symmetric=symmetric, shifted=shifted)
    truth, found = both(lambda: curvature_of(block, loss, line))
    assert found.weight == truth.weight
    X = block.matrix - (0.0 if line.shift is None else line.shift)
    w = np.ones(n) if block.weight is None else block.weight
    Z = np.abs(np.column_stack([X, np.ones(n)])) * np.sqrt(w)[:, None]
    assert (np.abs(found.blocks - truth.blocks) <= 64 * EPSILON * (Z.T @ Z)).all()


def bits(sums):
    slope, bend = sums.slope, sums.curvature
    return slope.value, slope.pull.tobytes(), slope.level.tobytes(), bend.triangles.tobytes()


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_bits(layout, shifted, K):
    for d in (1, 9):
        block, loss, line = problem(0, 1_003, d, K, weighted=True, shifted=shifted)
        other = block._replace(matrix=LAYOUTS[layout](block.matrix))
        with using("compiled"):
            assert bits(slope_and_curvature_of(block, loss, line)) == bits(
                slope_and_curvature_of(other, loss, line)
            )


@pytest.mark.parametrize("K", [2, 3, 5])
def test_every_address_and_precision_gives_the_same_bits(K):
    block, loss, line = problem(0, 700, 20, K, weighted=True, shifted=True)
    single = block.matrix.astype(np.float32)
    block = block._replace(matrix=single.astype(np.float64))
    with using("compiled"):
        truth = bits(slope_and_curvature_of(block, loss, line))
        for skip in range(0, 64, 8):
            moved = RowBlock(
                at_address(block.matrix, skip),
                at_address(block.target, skip, np.int64),
                at_address(block.weight, skip),
            )
            there = LinearScores(
                at_address(line.coef, skip), at_address(line.offset, skip), at_address(line.shift, skip)
            )
            assert bits(slope_and_curvature_of(moved, loss, there)) == truth
            apart = kernels.SeparateColumns.of([at_address(column, skip) for column in block.matrix.T])
            assert bits(slope_and_curvature_of(moved._replace(matrix=apart), loss, line)) == truth
        for skip in range(0, 64, 4):
            other = block._replace(matrix=at_address(single, skip, np.float32))
            assert bits(slope_and_curvature_of(other, loss, line)) == truth
        apart = kernels.SeparateColumns.of([column.copy() for column in single.T])
        for other in (np.asfortranarray(single), apart, single[::-1].copy()[::-1], single.astype(">f8")):
            assert bits(slope_and_curvature_of(block._replace(matrix=other), loss, line)) == truth


@pytest.mark.parametrize("K", [2, 3, 4, 5])
def test_what_was_left_in_buffers_counts_nothing(K):
    block, loss, line = problem(0, 130, 7, K, weighted=True, shifted=True)
    with using("compiled"):
        truth = bits(slope_and_curvature_of(block, loss, line))
        for left in (np.nan, np.inf, 5e-324):
            for use in memory._buffers.by_use:
                memory._buffers.by_use[use][:] = left
            assert bits(slope_and_curvature_of(block, loss, line)) == truth


@pytest.mark.parametrize("K", [2, 3, 5])
def test_one_reading_says_what_two_say(K):
    block, loss, line = problem(1, 700, 7, K, weighted=True, shifted=True)
    with using("compiled"):
        both_sums = slope_and_curvature_of(block, loss, line)
        slope, bend = slope_of(block, loss, line), curvature_of(block, loss, line)
    assert bits(both_sums) == bits(SlopeAndCurvature(slope, bend))
    with using("reference"):
        truth = slope_and_curvature_of(block, loss, line)
    assert_allclose(both_sums.slope.value, truth.slope.value, rtol=1e-13)
    assert_allclose(both_sums.curvature.blocks, truth.curvature.blocks, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_weights_of_one_are_no_weights_and_rows_of_no_weight_no_rows(K):
    block, loss, line = problem(0, 300, 6, K)
    more = RowBlock(
        np.vstack([block.matrix, block.matrix[:40] * 1e3]),
        np.append(block.target, block.target[:40]),
        np.append(np.ones(300), np.zeros(40)),
    )
    with using("compiled"):
        truth = slope_and_curvature_of(block, loss, line)
        ones = slope_and_curvature_of(block._replace(weight=np.ones(300)), loss, line)
        padded = slope_and_curvature_of(more, loss, line)
        nothing = slope_and_curvature_of(block._replace(weight=np.zeros(300)), loss, line)
    assert bits(truth) == bits(ones) == bits(padded)
    assert padded.slope.weight == 300
    assert nothing.slope.value == 0
    assert not nothing.slope.pull.any()
    assert not nothing.curvature.triangles.any()


@pytest.mark.parametrize("K", [2, 3, 5])
def test_no_rows_and_no_columns_have_their_sums(K):
    block, loss, line = problem(0, 70, 3, K)
    level = LinearScores(line.coef[:, :0], line.offset)
    with using("compiled"):
        none = slope_and_curvature_of(block.some(slice(0, 0)), loss, line)
    assert none.slope.value == 0
    assert not none.curvature.triangles.any()
    bare = block._replace(matrix=block.matrix[:, :0])
    truth, found = both(lambda: slope_and_curvature_of(bare, loss, level))
    assert_allclose(found.slope.level, truth.slope.level, rtol=1e-12)
    assert_allclose(found.curvature.blocks, truth.curvature.blocks, rtol=1e-12)


@pytest.mark.parametrize("K", [2, 10])
def test_only_triangles_of_the_hessian_travel(K):
    block, loss, line = problem(0, 300, 20, K)
    with using("compiled"):
        sums = curvature_of(block, loss, line)
    sent = pickle.dumps(sums)
    assert len(sent) < K * (K - 1) // 2 * (21 * 22 // 2) * 8 + 500
    blocks = pickle.loads(sent).blocks
    assert blocks.tobytes() == sums.blocks.tobytes()
    assert (blocks == blocks.transpose(0, 2, 1)).all()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_sparse_rows_have_the_slope_of_the_reference(weighted, symmetric):
    block, loss, line = problem(0, 1_000, 30, 4, weighted=weighted, symmetric=symmetric)
    cells = np.where(np.random.default_rng(1).random(block.matrix.shape) < 0.1, block.matrix, 0.0)
    thin = block._replace(matrix=sparse.csr_array(cells))
    truth, found = both(lambda: slope_of(thin, loss, line))
    dense = slope_of(block._replace(matrix=cells), loss, line)
    for other in (truth, dense):
        assert_allclose(found.value, other.value, rtol=1e-13)
        assert_allclose(found.pull, other.pull, rtol=1e-9, atol=1e-12 * np.abs(other.pull).max())
        assert_allclose(found.level, other.level, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("K", [2, 4])
def test_single_precision_is_read_as_it_is(K):
    block, loss, line = problem(0, 1_000, 6, K)
    single = block._replace(matrix=block.matrix.astype(np.float32))
    double = block._replace(matrix=single.matrix.astype(np.float64))
    with using("compiled"):
        assert slope_of(single, loss, line).value == slope_of(double, loss, line).value
        found, truth = curvature_of(single, loss, line), curvature_of(double, loss, line)
    assert (found.blocks == truth.blocks).all()


@pytest.mark.parametrize("K", [2, 4])
def test_bits_do_not_depend_on_where_arrays_lie(K):
    block, loss, line = problem(0, 200, 20, K, shifted=True)
    rng, kept, seen = np.random.default_rng(0), [], set()
    with using("compiled"):
        for _ in range(300):
            kept.append(np.empty(rng.integers(1, 60)))
            kept = kept[-20:]
            moved = LinearScores(line.coef.copy(), line.offset.copy(), line.shift.copy())
            found = slope_of(block, loss, moved)
            seen.add((found.value, found.pull.tobytes(), found.level.tobytes()))
    assert len(seen) == 1


@pytest.mark.parametrize("K", [2, 4])
def test_an_offset_costs_nothing_where_the_centre_is_kept(K):
    near, loss, line = problem(0, 1_000, 5, K)
    whole = near._replace(matrix=np.round(near.matrix * 64) / 64)
    far = whole._replace(matrix=whole.matrix + 2.0**27)
    with using("compiled"):
        here = slope_of(whole, loss, LinearScores(line.coef, line.offset, np.zeros(5)))
        there = slope_of(far, loss, LinearScores(line.coef, line.offset, np.full(5, 2.0**27)))
    assert here.value == there.value
    assert (here.pull == there.pull).all()


@pytest.mark.parametrize("K", [2, 3, 5])
def test_scores_of_a_hundred_thousand_keep_their_digits(K):
    coef = np.zeros((K - 1, 1))
    coef[0] = 1.0
    X, y = np.array([[1e5], [-1e5], [1e5], [-1e5]]), np.array([0, 0, 1, 1])
    block, line = RowBlock(X, y, None), LinearScores(coef, np.zeros(K - 1))
    truth, found = both(lambda: slope_of(block, SoftmaxLoss(K), line))
    assert_allclose([found.value, *found.pull.ravel()], [truth.value, *truth.pull.ravel()], rtol=1e-15)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_loss_of_a_sure_row_keeps_its_digits(K):
    for score in (1.0, 30.0, 300.0, 700.0):
        block = RowBlock(np.array([[score]]), np.array([1]), None)
        line = LinearScores(np.eye(K - 1, 1), np.full(K - 1, 0.0))
        truth, found = both(lambda block=block, line=line: slope_of(block, SoftmaxLoss(K), line))
        assert_allclose(found.value, truth.value, rtol=1e-14)
        assert_allclose(found.pull, truth.pull, rtol=1e-14)


@pytest.mark.parametrize("K", [2, 3])
def test_curvature_goes_all_the_way_to_zero(K):
    for score in (100.0, 700.0, 1e5):
        block = RowBlock(np.array([[score]]), np.array([1]), None)
        line = LinearScores(np.eye(K - 1, 1), np.zeros(K - 1))
        truth, found = both(lambda block=block, line=line: curvature_of(block, SoftmaxLoss(K), line))
        assert_allclose(found.blocks, truth.blocks, rtol=1e-13, atol=1e-300)
        assert (found.blocks[0, -1, -1] == 0) == (score == 1e5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_not_hidden(bad, K):
    block, loss, line = problem(0, 300, 3, K)
    coef = line.coef.copy()
    coef[0, 0] = bad
    with using("compiled"), np.errstate(all="ignore"):
        assert not np.isfinite(slope_of(block, loss, LinearScores(coef, line.offset)).value)


@pytest.mark.parametrize("K", [2, 4])
def test_weights_are_repetitions(K):
    block, loss, line = problem(0, 700, 6, K)
    times = np.random.default_rng(1).integers(0, 4, 700)
    heavy = block._replace(weight=times.astype(float))
    repeated = RowBlock(np.repeat(block.matrix, times, axis=0), np.repeat(block.target, times), None)
    with using("compiled"):
        a, b = slope_of(heavy, loss, line), slope_of(repeated, loss, line)
        c, d = curvature_of(heavy, loss, line), curvature_of(repeated, loss, line)
    assert_allclose(a.value, b.value, rtol=1e-13)
    assert_allclose(a.pull, b.pull, rtol=1e-9, atol=1e-9)
    assert_allclose(c.blocks, d.blocks, rtol=1e-9, atol=1e-9)


def scan_of(X, y):
    source = read_table(X)
    schema = Schema.infer(source)
    return Scan.of(LocalDataset(schema, schema.encode(source), y), Design.of(schema))


@pytest.mark.parametrize("d", [1, 2, 7, 8])
@pytest.mark.parametrize("far", [False, True])
def test_the_longest_row_is_that_of_the_reference(far, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(700, d)) @ rng.normal(size=(d, d)) + (1e6 if far else 1.0)
    objective = Problem(scan_of(X, rng.integers(0, 2, 700)), SoftmaxLoss(2)).objective("whitened")
    assert objective.basis.far == far
    factor = np.tril(rng.normal(size=(d + 1, d + 1)))
    truth, found = both(lambda: objective.longest_row(factor))
    assert_allclose(found, truth, rtol=1e-8 if far else 1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_fits_have_the_same_bits_with_any_number_of_threads_and_in_any_layout(K):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, 70_000)
    X = rng.normal(size=(K, 4))[y] + rng.normal(size=(70_000, 4))
    fits = []
    with using("compiled"):
        for n, table in [(1, X), (2, X), (8, X), (2, np.asfortranarray(X)), (2, locked(X))]:
            with threads(n):
                fits.append(posterior.LogisticRegression().fit(table, y))
    for other in fits[1:]:
        assert (other.coef_ == fits[0].coef_).all()
        assert (other.intercept_ == fits[0].intercept_).all()


@pytest.mark.parametrize("K", [2, 3])
def test_fits_are_those_of_the_reference(K):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, 3_000)
    X = rng.normal(size=(K, 5))[y] + rng.normal(size=(3_000, 5)) + 1e6
    truth, found = both(lambda: posterior.LogisticRegression().fit(X, y))
    assert_allclose(found.coef_, truth.coef_, rtol=1e-8, atol=1e-9)
    assert found.converged_
    assert_allclose(found.certificate_.gap, truth.certificate_.gap, rtol=0.5, atol=1e-13)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("K", [1, 3])
def test_predictions_are_those_of_the_reference(K, far):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_001, 4)) * 40 + (1e8 if far else 0.0)
    model = LinearModel(
        rng.normal(size=(K, 4)), rng.normal(size=K), np.full(4, 1e8) if far else np.zeros(4), far
    )
    scan = scan_of(X, np.zeros(len(X), dtype=int))
    for read in (LinearModel.posterior, LinearModel.log_posterior, LinearModel.best, LinearModel.read):
        truth, found = both(lambda read=read: read(model, scan))
        assert truth.shape == found.shape
        # A score is as exact as its terms, of which there are some of 100.
        rounding = 1e-13 if read is LinearModel.read else 1e-300
        assert_allclose(found, truth, rtol=1e-13, atol=rounding)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_log_probabilities_are_exact_far_out(mode):
    X = np.array([[1e5], [-1e5], [0.0]])
    with using(mode):
        model = LinearModel(np.array([[1.0]]), np.zeros(1), np.zeros(1))
        logs = model.log_posterior(scan_of(X, np.zeros(3, dtype=int)))
        shares = model.posterior(scan_of(X, np.zeros(3, dtype=int)))
    assert logs.tolist() == [[-1e5, 0.0], [0.0, -1e5], [-math.log(2), -math.log(2)]]
    assert shares.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]


def test_a_score_that_is_no_number_gives_no_probability():
    model = LinearModel(np.array([[np.nan]]), np.zeros(1), np.zeros(1))
    with using("compiled"), pytest.raises(ValueError, match="column 'x0' holds 1 in row 0"):
        model.posterior(scan_of(np.array([[1.0], [2.0]]), np.zeros(2, dtype=int)))


# ---------------------------------------------------------------- the arithmetic below


@given(st.floats(0, 1e6))
def test_log1p_is_exact_to_two_units(x):
    assert_allclose(series.log1p(x), math.log1p(x), rtol=2 * EPSILON, atol=0)


@pytest.mark.parametrize("x", [1e-320, 1e-300, 1e-20, 1e-16, 1.5e-16, 2**-53, 0.4142135623730951])
def test_log1p_keeps_the_digits_of_small_numbers(x):
    assert_allclose(series.log1p(x), math.log1p(x), rtol=2 * EPSILON, atol=0)


@given(st.floats(-708.3, 0))
def test_shares_are_exact_to_two_units(x):
    truth = np.exp(np.longdouble(x))  # of 64 bits where the processor has them
    assert abs(np.longdouble(series.share(x)) - truth) <= 2 * EPSILON * truth


def test_shares_vanish_far_out_and_hide_nothing():
    assert series.share(0.0) == 1.0
    assert [series.share(x) for x in (-709.0, -1e5, -np.inf)] == [0.0, 0.0, 0.0]
    assert np.isnan(series.share(np.nan))


@given(st.lists(st.floats(-1e12, 1e12), max_size=50))
def test_sums_keep_what_rounding_takes(parts):
    total = np.zeros(2)
    for part in parts:
        series.add_up(total, part)
    size = math.fsum(map(abs, parts))
    assert_allclose(total.sum(), math.fsum(parts), rtol=EPSILON, atol=50 * EPSILON**2 * size)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sums_that_threads_share_out_have_the_bits_of_chunks_one_by_one(n_classes, kind, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 512)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(512 * 37 + 100, 9)).astype(kind), rng.integers(n_classes, size=512 * 37 + 100)
    weight = rng.uniform(0.5, 2.0, len(y))
    fit = partial(LogisticRegression(C=1.0, solver=Newton(stages=False)).fit, x, y)
    with using("compiled"):
        for w in (None, weight):
            with monkeypatch.context() as alone:
                alone.setattr(local, "FEW_CELLS", 0)
                want = fit(w).coef_
            for n in (1, 2, 16):
                for kept in (1 << 11, 1 << 22):
                    monkeypatch.setattr(local, "KEPT_CELLS", kept)
                    with threads(n):
                        np.testing.assert_array_equal(fit(w).coef_, want)


def test_samples_that_threads_share_out_lead_to_the_same_bits():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(90_000, 4)), rng.integers(3, size=90_000)
    found = []
    for n in (1, 2, 16):
        with threads(n):
            found.append(LogisticRegression(C=1.0).fit(x, y).coef_)
    for coef in found:
        np.testing.assert_array_equal(coef, found[0])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (64, 8), (301, 20), (1000, 5), (65, 131)])
def test_one_reading_tells_the_ranges_of_columns_and_whether_all_are_finite(layout, kind, n, d):
    rng = np.random.default_rng(n + d)
    X = (rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)).astype(kind)
    X[:, d // 2] = -np.abs(X[:, d // 2])  # zero is within no range by itself

    def found(X):
        table = LAYOUTS[layout](X)
        several = [ranges_of_parts(table, size) for size in (16, n)]
        for parts, workers in zip(several, (3, 1), strict=True):
            parts.run(workers)
        return [parts.ranges() for parts in several]

    for low, high in found(X):
        np.testing.assert_array_equal(low, X.min(axis=0))
        np.testing.assert_array_equal(high, X.max(axis=0))
    for wrong in (np.nan, np.inf, -np.inf):
        for i, j in {(0, 0), (n // 2, d // 2), (n - 1, d - 1)}:
            odd = X.copy()
            odd[i, j] = wrong
            assert found(odd) == [None, None]


@pytest.mark.parametrize(("wrong", "told"), [(np.inf, "row 70000"), (np.nan, "missing"), (1e160, "1e+160")])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_first_look_refuses_in_many_rows_what_it_refuses_in_few(wrong, told, kind):
    x = np.random.default_rng(5).normal(size=(80_000, 3)).astype(kind)
    with np.errstate(over="ignore"):
        x[70_000, 1] = wrong
    y = np.arange(80_000) % 2
    messages = []
    for mode in ("reference", "compiled"):
        with using(mode), pytest.raises(ValueError, match="column") as error:
            LogisticRegression(missing="error").fit(x, y)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert kind is np.float32 or told in messages[0]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_answers_that_threads_share_out_have_the_bits_of_chunks_one_by_one(n_classes, kind, monkeypatch):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(256 * 30 + 9, 9)).astype(kind), rng.integers(n_classes, size=256 * 30 + 9)
    model = LogisticRegression(C=1.0).fit(x, y)
    x[1000] *= 1e30  # too far for compiled code to tell how far
    monkeypatch.setattr(local, "FILL_ROWS", 256)
    asked = [model.predict_proba, model.predict_log_proba, model.predict, model.decision_function]
    with using("compiled"):
        with monkeypatch.context() as alone:
            alone.setattr(local.LocalDataset, "_fill_parts", lambda *_: 0)
            want = [ask(x) for ask in asked]
        for n in (1, 2, 16):
            with threads(n):
                for ask, wanted in zip(asked, want, strict=True):
                    np.testing.assert_array_equal(ask(x), wanted)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_parts_that_end_within_a_tile_have_their_own_sums(n_classes, layout):
    rng = np.random.default_rng(3)
    loss, X = SoftmaxLoss(n_classes), LAYOUTS[layout](rng.normal(size=(1000, 3)))
    block = RowBlock(X, rng.integers(n_classes, size=1000), rng.random(1000))
    line = LinearScores(rng.normal(size=(loss.n_scores, 3)), rng.normal(size=loss.n_scores))
    with using("compiled"):
        parts = LossSums(loss, line, "slope").of_parts(block, 90)
        parts.run(1)
        found = parts.sums.whole()
    with using("reference"):
        want = [slope_of(block.some(slice(at, at + 90)), loss, line) for at in range(0, 1000, 90)]
    for i, part in enumerate(want):
        assert_allclose(found[0][i], part.value, rtol=1e-12)
        assert_allclose(found[1][i], part.pull, rtol=1e-10, atol=1e-12)
        assert_allclose(found[2][i], part.level, rtol=1e-10, atol=1e-12)


def test_a_slope_of_many_classes_takes_no_memory_for_pairs_of_them():
    n_classes, rng = 30_000, np.random.default_rng(5)
    X, y = rng.normal(size=(70, 3)), rng.integers(0, n_classes, 70)
    coef, offset = np.zeros((n_classes, 3)), np.zeros(n_classes)
    value, pull, level, _ = softmax.sums(X, y, None, None, coef, offset, n_classes, curved=False)
    assert_allclose(value, 70 * math.log(n_classes), rtol=1e-13)
    assert_allclose(level, 70 / n_classes - np.bincount(y, minlength=n_classes), rtol=1e-12)
    want = X.sum(axis=0) / n_classes - np.stack([np.bincount(y, x, n_classes) for x in X.T], axis=1)
    assert_allclose(pull, want, rtol=1e-11, atol=1e-13)
