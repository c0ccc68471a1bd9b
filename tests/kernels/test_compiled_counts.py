"""Compiled kernels of counts and categories give what the reference gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from posterior import kernels, threads
from posterior.kernels import reference
from posterior.kernels.choice import using
from posterior.kernels.layouts import SeparateColumns

# Around the tiles, vectors and groups of classes in which kernels work; one row, one column, one class, many.
SHAPES = [(1, 1, 1), (2, 3, 2), (7, 5, 4), (64, 20, 10), (65, 33, 5), (700, 1, 3), (130, 9, 17), (150, 4, 70)]


def rows(n, n_classes, seed, *, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[y == n_classes // 2] = 0  # so that a class may be empty
    return rng, y, rng.uniform(0.5, 2.0, n) if weighted else None


def layouts(values):
    """The same numbers as they may lie in memory."""
    apart = SeparateColumns.of([np.ascontiguousarray(column) for column in values.T])
    wide = np.full((len(values), values.shape[1] + 3), 7.0)
    wide[:, 1:-2] = values
    return [values, np.asfortranarray(values), apart, wide[:, 1:-2]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_categories_are_counted_to_the_bit(n, d, n_classes, weighted):
    rng, y, weight = rows(n, n_classes, 0, weighted=weighted)
    sizes = tuple(rng.integers(0, 6, d).tolist())
    codes = np.stack([rng.integers(-1, size + 1, n) for size in sizes], axis=1).astype(np.int32)
    for cells in (codes, np.asfortranarray(codes), codes.astype(np.int64)):
        found = []
        for mode in ("reference", "compiled"):
            with using(mode):
                found.append(kernels.category_tables(cells, sizes, y, weight, n_classes))
        for truth, table in zip(*found, strict=True):
            assert table.shape == truth.shape
            np.testing.assert_array_equal(table, truth)


def test_codes_beyond_their_table_are_not_counted():
    codes = np.array([[5], [-7], [2], [1]], dtype=np.int32)
    for mode in ("reference", "compiled"):
        with using(mode):
            (table,) = kernels.category_tables(codes, (2,), np.zeros(4, dtype=np.int64), None, 1)
        np.testing.assert_array_equal(table, [[0.0, 1.0]])


@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_look_ups_add_up_as_in_the_reference(n, d, n_classes):
    rng, _, _ = rows(n, n_classes, 1, weighted=False)
    sizes = rng.integers(1, 6, d).tolist()
    tables = [np.log(rng.random((size + 2, n_classes))) for size in sizes]
    tables[0][0, 0] = -np.inf
    for table in tables:
        table[-1] = 0.0
    codes = np.stack([rng.integers(-1, size + 1, n) for size in sizes], axis=1).astype(np.int32)
    before, found = rng.normal(size=(n, n_classes)), []
    for mode in ("reference", "compiled"):
        out = before.copy()
        with using(mode):
            kernels.LookUps(tables).add(codes, out)
        found.append(out)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13, atol=1e-13)
    assert np.isneginf(found[1]).sum() == (codes[:, 0] == 0).sum()


@pytest.mark.parametrize("order", ["C", "F"])
def test_long_look_ups_add_what_look_ups_add(order):
    rng = np.random.default_rng(8)
    sizes, n_classes = (1, 4, 30), 70
    tables = [np.array(np.log(rng.random((n_classes, size))), order=order) for size in sizes]
    tables[1][3, 2] = -np.inf
    unseen = [np.log(rng.random(n_classes)) for _ in sizes]
    codes = np.stack([rng.integers(-1, size + 2, 50) for size in sizes], axis=1)
    before = rng.normal(size=(50, n_classes))
    pairs = zip(tables, unseen, strict=True)
    whole = [np.vstack([t.T, line, np.zeros(n_classes)]) for t, line in pairs]
    truth = before.copy()
    with using("reference"):
        kernels.LookUps(whole).add(np.minimum(codes, sizes), truth)
    for mode in ("reference", "compiled"):
        out = before.copy()
        with using(mode):
            kernels.LongLookUps(tables, unseen).add(codes, out)
        np.testing.assert_allclose(out, truth, rtol=1e-13)


@pytest.mark.parametrize("columns", [[], [4], [0, 1, 2, 3, 4], [1, 3], [0, 2, 4], [3, 1], [2, 2]])
@pytest.mark.parametrize("full", [0.0, 0.3])
def test_some_columns_of_sparse_rows_are_those_of_dense_ones(columns, full):
    cells = np.random.default_rng(9).poisson(full, (40, 5)).astype(float)
    cells[:, 2] = 0.0
    rows = sparse.csr_array(cells)
    for mode in ("reference", "compiled"):
        with using(mode):
            found = kernels.some_columns(rows, columns)
        assert found.has_canonical_format
        np.testing.assert_array_equal(found.toarray(), cells[:, columns])
        np.testing.assert_array_equal(rows.toarray(), cells)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
@pytest.mark.parametrize("gaps", [False, True])
def test_ones_are_counted_whatever_the_layout_with_gaps(n, d, n_classes, weighted, gaps):
    rng, y, weight = rows(n, n_classes, 2, weighted=weighted)
    values = rng.choice([0.0, 1.0, -0.0, 1e300, -5.0, np.nan if gaps else 0.2, 0.3], (n, d))
    with using("reference"):
        truth = kernels.ones_by_class(values, 0.25, y, weight, n_classes)
    with using("compiled"):
        for table in layouts(values):
            found = kernels.ones_by_class(table, 0.25, y, weight, n_classes)
            np.testing.assert_allclose(found, truth, rtol=1e-14)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_ones_say_that_a_cell_is_infinite(mode, wrong):
    values = np.zeros((100, 3))
    values[5, 1], values[70, 2] = np.nan, wrong
    with using(mode):
        on, _ = kernels.ones_by_class(values, 0.5, np.zeros(100, dtype=np.int64), None, 1)
    assert np.isnan(on).any()


@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_binary_look_ups_add_up_as_in_the_reference(n, d, n_classes, certain):
    rng = np.random.default_rng(3)
    p = rng.uniform(0.1, 0.9, (n_classes, d))
    if certain:
        p[rng.random(p.shape) < 0.1] = 1.0
        p[rng.random(p.shape) < 0.1] = 0.0
    with np.errstate(divide="ignore"):
        log_on, log_off = np.log(p), np.log(1 - p)
    values = rng.choice([0.0, 1.0, np.nan], (n, d), p=[0.45, 0.45, 0.1])
    before = rng.normal(size=(n, n_classes))
    truth = before.copy()
    with using("reference"):
        kernels.BinaryLookUps(log_on, log_off, 0.5).add(values, truth)
    with using("compiled"):
        for table in layouts(values):
            out = before.copy()
            kernels.BinaryLookUps(log_on, log_off, 0.5).add(table, out)
            np.testing.assert_allclose(out, truth, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_marks_of_the_same_column_are_the_same_bits_wherever_it_stands(weighted):
    rng, _, weight = rows(300, 3, 4, weighted=weighted)
    for d in (2, 7, 8, 9, 20, 33):
        for cells in (
            rng.integers(-1, 4, (300, d)).astype(np.int32),
            rng.choice([0.0, 1.0, 2.5, np.nan], (300, d)),
        ):
            cells[:, -1] = cells[:, 0]
            with using("compiled"):
                mark = kernels.column_marks(cells, weight)
            assert mark[-1].tobytes() == mark[0].tobytes()
            assert len(set(mark.tolist())) == d - 1
            np.testing.assert_allclose(mark, reference.column_marks(cells, weight), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_sums_by_class_are_those_of_the_reference_dense_and_sparse(n, d, n_classes, weighted):
    rng, y, weight = rows(n, n_classes, 5, weighted=weighted)
    values = rng.poisson(0.7, (n, d)) * rng.choice([1.0, 1e8, 1e15], d)
    truth = reference.class_sums(values, y, weight, n_classes)
    with using("compiled"):
        for table in [*layouts(values), sparse.csr_array(values), sparse.csr_array(values.astype(np.int64))]:
            found = kernels.class_sums(table, y, weight, n_classes)
            np.testing.assert_allclose(found, truth, rtol=1e-13)
        wide = sparse.csr_array(values)
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        np.testing.assert_allclose(kernels.class_sums(wide, y, weight, n_classes), truth, rtol=1e-13)


@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_linear_sums_of_sparse_rows_are_those_of_dense_ones(n, d, n_classes, impossible):
    rng, n_classes = np.random.default_rng(6), 7 + n_classes  # fewer are left to scipy
    counts = rng.poisson(0.7, (n, d)).astype(np.float64)
    logs = np.log(rng.random((n_classes, d)))
    if impossible:
        logs[rng.random(logs.shape) < 0.2] = -np.inf
    matrix = sparse.csr_array(counts)
    if matrix.nnz:
        matrix.data[::3] = 0.0  # cells that are stored though they are zero
    with using("reference"):
        truth = kernels.LinearSums(logs).of(matrix.toarray())
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(truth, np.nansum(matrix.toarray()[:, None] * logs, axis=2), rtol=1e-12)
    with using("compiled"):
        np.testing.assert_allclose(kernels.LinearSums(logs).of(matrix), truth, rtol=1e-12, atol=1e-12)


whole = st.one_of(st.integers(-40, 90), st.sampled_from([2**31 - 1, -(2**31), 70_000, 3]))
cell = st.one_of(whole.map(float), st.just(np.nan))


@given(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=1, max_size=40))
def test_whole_numbers_are_found_and_encoded_as_in_the_reference(table):
    values = np.array(table)
    n, d = values.shape
    with using("compiled"):
        found = kernels.distinct_whole(lambda rows: values[rows], n, d)
    for column, levels in zip(values.T, found, strict=True):
        truth = reference.distinct_whole(column)
        assert (truth is None) == (levels is None)
        if truth is not None:
            np.testing.assert_array_equal(levels, truth)
            np.testing.assert_array_equal(truth, np.unique(column[~np.isnan(column)]))


@pytest.mark.parametrize("odd", [0.5, np.inf, -np.inf, 2.0**40])
@pytest.mark.parametrize("d", [1, 3, 600])
def test_other_numbers_in_one_column_leave_the_others_alone(odd, d):
    rng = np.random.default_rng(7)
    values = rng.integers(-3, 90, (500, d)).astype(np.float64)
    values[-1, 0] = odd
    with using("compiled"):
        found = kernels.distinct_whole(lambda rows: values[rows], *values.shape)
    assert found[0] is None
    for column, levels in zip(values.T[1:], found[1:], strict=True):
        np.testing.assert_array_equal(levels, np.unique(column))


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("d", [1, 3, 600])
def test_numbers_have_the_codes_of_the_reference(d, shuffled):
    rng = np.random.default_rng(8)
    columns = []
    for _ in range(d):
        codes = np.arange(rng.integers(0, 9), dtype=np.int32)
        columns.append((int(rng.integers(-5, 5)), rng.permutation(codes) if shuffled else codes))
    unseen = [len(codes) for _, codes in columns]
    values = rng.choice([*np.arange(-9.0, 15.0), np.nan, 0.5, np.inf, -np.inf, 1e300], (200, d))
    found = []
    for mode in ("reference", "compiled"):
        with using(mode):
            found.append(kernels.WholeCodes(columns, unseen, values.size).of(values))
    np.testing.assert_array_equal(found[1], found[0])
    for j, (low, codes) in enumerate(columns):
        code = {float(low + place): int(c) for place, c in enumerate(codes)}
        truth = [-1 if np.isnan(v) else code.get(v, unseen[j]) for v in values[:, j].tolist()]
        assert found[0][:, j].tolist() == truth


def test_arrays_that_must_not_be_written_to_are_read_in_place():
    rng, y, weight = rows(90, 3, 9, weighted=True)
    values = rng.choice([0.0, 1.0, 2.0], (90, 4))
    matrix, codes = sparse.csr_array(values), values.astype(np.int32)
    for array in (values, codes, y, weight, matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    out = np.zeros((90, 3))
    with using("compiled"):
        kernels.category_tables(codes, (3,) * 4, y, weight, 3)
        kernels.column_marks(codes, weight)
        kernels.ones_by_class(values, 0.5, y, weight, 3)
        kernels.class_sums(values, y, weight, 3)
        kernels.class_sums(matrix, y, weight, 3)
        kernels.LinearSums(np.zeros((3, 4))).add(matrix, out)
        kernels.BinaryLookUps(np.zeros((3, 4)), np.zeros((3, 4)), 0.5).add(values, out)
        kernels.LookUps([np.zeros((5, 3))] * 4).add(codes, out)
        (found,) = kernels.distinct_whole(lambda some: values[some, :1], 90, 1)
    np.testing.assert_array_equal(found, [0, 1, 2])
    assert not out.any()


def test_every_second_row_is_read_where_it_is():
    _, y, weight = rows(300, 3, 10, weighted=True)
    values = np.random.default_rng(11).choice([0.0, 1.0, 2.0], (300, 5))
    found = []
    for mode in ("reference", "compiled"):
        with using(mode):
            found.append(kernels.class_sums(values[::2], y[::2], weight[::2], 3))
            found.append(kernels.ones_by_class(values[::2], -1.0, y[::2], None, 3)[0])
    np.testing.assert_allclose(found[2], found[0], rtol=1e-13)
    np.testing.assert_array_equal(found[3], found[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 4200])
def test_the_largest_count_is_found_whatever_the_number_of_cells(n, dtype):
    cells = np.random.default_rng(n).integers(0, 9, n).astype(dtype)
    for mode in ("reference", "compiled"):
        with using(mode):
            assert kernels.largest_count(cells) == cells.max(initial=0)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
@pytest.mark.parametrize("wrong", [-1.0, 0.5, -0.5, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 63, 64, 4095, 4096, 4199])
def test_a_cell_that_is_no_count_is_seen_wherever_it_is(mode, wrong, place):
    cells = np.ones(4200)
    cells[place] = wrong
    with using(mode):
        assert kernels.largest_count(cells) == -1.0
        assert kernels.largest_count(cells.astype(np.float32)) == -1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_sums_of_small_counts_are_those_that_the_reference_takes_one_by_one(n, d, n_classes, weighted):
    rng, y, weight = rows(n, n_classes, 5, weighted=weighted)
    block = sparse.csr_array(rng.poisson(0.5, (n, d)).astype(np.float64))
    logs = rng.normal(size=block.data.max(initial=0.0).astype(int) + 1)
    wide = [part.astype(np.int64) for part in (block.indices, block.indptr)]
    for own in (block, kernels.csr(block.data, *wide, block.shape)):
        with using("compiled"):
            found = kernels.count_sums(own, logs, y, weight, n_classes)
        with using("reference"):
            assert kernels.count_sums(own, logs, y, weight, n_classes) is None
            of_logs = kernels.with_data(block, logs[block.data.astype(int)])
            np.testing.assert_allclose(
                found.total, kernels.class_sums(block, y, weight, n_classes), rtol=1e-13
            )
            truth = kernels.class_sums(of_logs, y, weight, n_classes)
            np.testing.assert_allclose(found.logs, truth, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(found.mark, kernels.column_marks(block, weight), rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_small_counts_have_the_same_bits_with_any_number_of_threads(weighted):
    rng, y, weight = rows(3000, 2, 7, weighted=weighted)
    block = sparse.csr_array(rng.poisson(0.5, (3000, 20)).astype(np.float64))
    found = []
    for n in (1, 2, 8):
        with using("compiled"), threads(n):
            found.append(kernels.count_sums(block, np.arange(20.0), y, weight, 2))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    with using("reference"):
        np.testing.assert_allclose(found[0].total, kernels.class_sums(block, y, weight, 2), rtol=1e-13)


@pytest.mark.parametrize("place", [None, 0, 300_000, 599_999])
def test_threads_find_the_largest_of_many_counts_and_what_is_none(place):
    cells = np.random.default_rng(0).integers(0, 9, 600_000).astype(np.float64)
    cells[-1] = 20.0
    if place is not None:
        cells[place] = 0.5
    for n in (1, 3):
        with using("compiled"), threads(n):
            assert kernels.largest_count(cells) == (20.0 if place is None else -1.0)


@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize(("n", "d", "n_classes"), SHAPES)
def test_relative_sums_differ_from_sums_by_a_term_of_the_row(n, d, n_classes, impossible):
    rng = np.random.default_rng(n)
    counts = sparse.csr_array(rng.poisson(0.5, (n, d)).astype(np.float64))
    table = rng.normal(size=(n_classes, d))
    table[0, 0] = -np.inf if impossible else 0.0
    sums = kernels.LinearSums(table)
    with using("compiled"):
        relative = np.zeros((n, n_classes))
        sums.add_relative(counts, relative)
    with using("reference"):
        whole = sums.of(counts)
    possible = np.isfinite(whole[:, 0])
    apart, truth = (x[possible] - x[possible, :1] for x in (relative, whole))
    np.testing.assert_allclose(apart, truth, rtol=1e-10, atol=1e-12)
    assert (np.isneginf(relative[~possible, 0])).all()


def test_counts_without_a_logarithm_are_not_summed_up():
    block = sparse.csr_array(np.array([[0.0, 3.0]]))
    with using("compiled"):
        assert kernels.count_sums(block, np.zeros(3), np.zeros(1, np.int64), None, 1) is None
        assert kernels.count_sums(block * 0.5, np.zeros(9), np.zeros(1, np.int64), None, 1) is None


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_single_precision_are_counted_as_they_lie(gaps, weighted):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3_000, 13)).astype(np.float32)
    if gaps:
        x[rng.random(x.shape) < 0.1] = np.nan
    y, weight = rng.integers(4, size=len(x)), rng.random(len(x)) if weighted else None
    apart = SeparateColumns.of([np.append([7.0, 8.0], column).astype(np.float32) for column in x.T])[2:]
    with using("compiled"):
        for ask in (
            lambda table: kernels.ones_by_class(table, 0.25, y, weight, 4),
            lambda table: kernels.class_moments(table, y, weight, 4),
        ):
            for table in (x, np.asfortranarray(x), apart):
                for found, expected in zip(ask(table), ask(x.astype(np.float64)), strict=True):
                    np.testing.assert_array_equal(found, expected)
        sums = [np.zeros((len(x), 2)) for _ in range(2)]
        lines = kernels.BinaryLookUps(
            np.log([[0.3] * 13, [0.6] * 13]), np.log([[0.7] * 13, [0.4] * 13]), 0.25
        )
        for table, out in zip((x, x.astype(np.float64)), sums, strict=True):
            lines.add(table, out)
        np.testing.assert_array_equal(*sums)
