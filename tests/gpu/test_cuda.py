"""Kernels on an NVIDIA GPU against NumPy: `make test-gpu` on a machine that has one."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
)
from posterior.engines.device import arrays, cuda, linear, sums
from posterior.engines.device.cuda import sums as cuda_sums
from posterior.engines.device.cuda.device import has_tensor_cores
from posterior.estimators.device import DeviceTable, training_of

cupy = pytest.importorskip("cupy", reason="there is no CuPy here")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError as error:
    pytest.skip(f"there is no GPU here: {error}", allow_module_level=True)
torch = pytest.importorskip("torch", reason="there is no PyTorch here")

LIBRARIES = {
    "cupy": cupy.asarray,
    "torch": lambda a: torch.asarray(a, device="cuda"),
    "torch on the CPU": torch.asarray,
}


def table(n=3001, d=7, K=4, seed=0, kind="numbers"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + 2 * rng.normal(size=(K, d))[y]
    if kind == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "counts":
        X = np.abs(X).round()
    return X, y


def host(array):
    return arrays.host_array(array)


def apart(found, expected):
    found, expected = np.asarray(host(found), dtype=np.float64), np.asarray(expected, dtype=np.float64)
    same = found == expected
    return float(np.where(same, 0.0, np.abs(found - expected) / (1 + np.abs(expected))).max())


CASES = {
    "naive Bayes": (GaussianNB(), "numbers"),
    "gaps": (GaussianNB(), "gaps"),
    "weights of columns": (NaiveBayes(weights={"x1": 0.5, "x2": 0.0}), "gaps"),
    "LDA": (LDA(), "numbers"),
    "QDA": (QDA(), "numbers"),
    "RDA": (GaussianDiscriminantAnalysis(tied=0.5, shrinkage=0.1), "numbers"),
    "Ledoit and Wolf": (GaussianDiscriminantAnalysis(shrinkage="ledoit-wolf"), "numbers"),
    "Bernoulli": (BernoulliNB(), "gaps"),
    "multinomial": (MultinomialNB(), "counts"),
    "categories": (CategoricalNB(), "counts"),
}
METHODS = ("predict", "predict_proba", "predict_log_proba", "score_samples", "class_log_density")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_numpy(name, dtype, library):
    estimator, kind = CASES[name]
    X, y = table(kind=kind)
    X = X.astype(dtype)
    there = LIBRARIES[library]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, gpu = clone(estimator).fit(X, y), clone(estimator).fit(there(X), there(y))
    for method in METHODS:
        expected = getattr(here, method)(X)
        for model in (here, gpu):
            found = getattr(model, method)(there(X))
            assert type(found) is type(there(X))
            assert found.device == there(X).device
            if method == "predict":
                assert np.mean(host(found) != expected) < (1e-3 if dtype == np.float32 else 1e-12)
            else:
                assert apart(found, expected) < (1e-4 if dtype == np.float32 else 1e-8), method
        assert apart(getattr(gpu, method)(X), expected) < (1e-4 if dtype == np.float32 else 1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1),
        (33, 3, 2),
        (1000, 20, 10),
        (5000, 32, 40),
        (4097, 45, 3),
        (257, 5, 48),
        (9001, 200, 4),
        (5000, 130, 3),
    ],
)
def test_compiled_sums_are_the_reference(shape, weighted, dtype):
    X, y = table(*shape)
    X, y = (X + 100).astype(dtype), np.sort(y)
    weight = np.random.default_rng(1).uniform(0.1, 2, len(y)) if weighted else None
    training = training_of(
        cupy.asarray(X),
        cupy.asarray(y),
        None if weight is None else cupy.asarray(weight),
        "",
        any_classes=True,
    )
    rows, columns = training.rows(GaussianNB()._schema(training.table.source)), tuple(range(X.shape[1]))
    rtol = 1e-5 if dtype == np.float32 else 1e-10
    expected, found = sums.moments(rows, columns), cuda.class_moments(rows, columns)
    assert np.allclose(found.weight, expected.weight, rtol=rtol)
    assert np.allclose(found.location.value, expected.location.value, rtol=rtol)
    assert np.allclose(found.scatter, expected.scatter, rtol=rtol, atol=rtol)
    for pooled in (False, True):
        found = cuda.class_scatter(rows, columns, pooled=pooled)
        if found is None:
            assert dtype == np.float64
            assert X.shape[1] > 32 or training.classes.size > 20
            continue
        expected = sums.scatter(rows, columns, pooled=pooled, fourth=False)
        assert np.allclose(found.weight, expected.weight, rtol=rtol)
        assert np.allclose(found.location.value, expected.location.value, rtol=rtol)
        unit = np.sqrt(np.einsum("gjj->gj", expected.scatter)) + 1e-30
        close = (
            np.abs(found.scatter - expected.scatter) <= 10 * rtol * unit[:, :, None] * unit[:, None, :] + rtol
        )
        assert close.all()


@pytest.mark.parametrize("labels", [np.int64, np.int32, np.uint8, np.int16])
def test_labels_of_every_type_and_place(labels):
    y = np.array([7, 3, 3, 100, 7, 3]).astype(labels)
    table = DeviceTable(cupy.zeros((6, 1)))
    classes, codes = cuda.label_codes(table.library, cupy.asarray(y))
    assert classes.tolist() == [3, 7, 100]
    assert classes.dtype == labels
    assert host(codes).tolist() == [1, 0, 0, 2, 1, 0]


def test_the_same_bits_every_time():
    X, y = table(200_003, 20, 10)
    X, y = cupy.asarray(X.astype(np.float32)), cupy.asarray(y)
    weight = cupy.asarray(np.random.default_rng(1).uniform(0.1, 2, X.shape[0]))
    for w in (None, weight):
        first, second = (QDA().fit(X, y, sample_weight=w) for _ in range(2))
        assert np.array_equal(first.covariance_, second.covariance_)
        assert np.array_equal(first.priors_, second.priors_)


@pytest.mark.parametrize("library", LIBRARIES)
def test_parts_scores_and_weights_of_zero(library):
    there, (X, y) = LIBRARIES[library], table()
    weight = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    here = GaussianNB().fit(X, y, sample_weight=weight)
    gpu = GaussianNB().fit(there(X), there(y), sample_weight=there(weight))
    assert gpu.score(there(X), there(y)) == pytest.approx(here.score(X, y))
    parts = GaussianNB().partial_fit(there(X), there(y), classes=[*range(4), 9])
    assert apart(parts.predict_proba(X)[:, :4], GaussianNB().fit(X, y).predict_proba(X)) < 1e-8


def test_far_from_zero_and_far_apart():
    X, y = table(20_000, 5, 3)
    X = (X + 1000.0 * y[:, None] + 1e5).astype(np.float32)
    for model in (GaussianNB(), LDA(), QDA()):
        here, gpu = clone(model).fit(X, y), clone(model).fit(cupy.asarray(X), cupy.asarray(y))
        expected = here.predict_log_proba(X)
        assert apart(gpu.predict_log_proba(cupy.asarray(X)), expected) < 1e-4


def test_a_view_that_is_not_aligned_is_read_right():
    X, y = table(1000, 5, 3)
    wide = cupy.asarray(np.hstack([np.zeros((1000, 1)), X]).astype(np.float32))
    view = wide[:, 1:]
    flat = cupy.asarray(np.concatenate([[0.0], X.ravel()]).astype(np.float32))[1:].reshape(1000, 5)
    expected = GaussianNB().fit(X.astype(np.float32), y)
    for rows in (view, flat):
        assert (
            apart(
                GaussianNB().fit(rows, cupy.asarray(y)).predict_log_proba(rows), expected.predict_log_proba(X)
            )
            < 1e-4
        )


def test_infinity_is_named():
    X, y = table(1000, 5, 3)
    X[17, 2] = np.inf
    with pytest.raises(ValueError, match=r"'x2' contains infinity .* in row 17"):
        GaussianNB().fit(cupy.asarray(X), cupy.asarray(y))
    model = GaussianNB().fit(table(1000, 5, 3)[0], y)
    with pytest.raises(ValueError, match="'x2' contains infinity"):
        model.predict_proba(cupy.asarray(X))


def test_the_table_stays_on_the_gpu():
    X, y = table(200_000, 10, 3)
    X, y = torch.asarray(X, device="cuda"), torch.asarray(y, device="cuda")
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        for model in (GaussianNB(), LDA(), QDA()):
            model.fit(X, y).predict_proba(X)
        torch.cuda.synchronize()
    copies = [event for event in profile.events() if "DtoH" in event.name]
    with arrays.bytes_to_host() as moved:
        for model in (GaussianNB(), LDA(), QDA()):
            model.fit(X, y).predict_proba(X)
    assert moved["bytes"] < X.nbytes / 4
    assert 0 < len(copies) < 60


def test_no_room_on_the_gpu_is_one_clear_error():
    X, y = table(1000, 5, 3)
    model = GaussianNB().fit(cupy.asarray(X), cupy.asarray(y))
    before = model.model_
    pool = cupy.get_default_memory_pool()
    big = cupy.asarray(np.tile(X.astype(np.float32), (2000, 1)))
    labels = cupy.asarray(np.tile(y, 2000))
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + 1000)
    try:
        with pytest.raises(MemoryError, match="the device has no room"):
            model.fit(big, labels)
        with pytest.raises(MemoryError, match="the device has no room"):
            model.predict_proba(big)
    finally:
        pool.set_limit(size=0)
    assert model.model_ is before


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3, 10])
def test_the_compiled_slope_is_the_reference(K, weighted, dtype, monkeypatch):
    monkeypatch.setattr("posterior.engines.device.cuda.linear.FEWEST_ROWS", 0)
    X, y = table(10_001, 9, K)
    X = (X + 10).astype(dtype)
    weight = cupy.asarray(np.random.default_rng(1).uniform(0.1, 2, len(y))) if weighted else None
    training = training_of(cupy.asarray(X), cupy.asarray(y), weight, "", any_classes=False)
    rows = training.rows(GaussianNB()._schema(training.table.source))
    rng = np.random.default_rng(2)
    coef, offset, shift = rng.normal(size=(K, 9)), rng.normal(size=K), X.mean(axis=0).astype(np.float64)
    for shifted in (None, shift):
        found = cuda.softmax_slope(rows, coef, offset, shifted)
        expected = linear.softmax_slope(rows, coef, offset, shifted)
        # Single precision rounds the scores of a row; its forces, at most 1 each, are off by as much.
        apart_from = 0.0 if shifted is None else shifted
        score = np.abs(offset).max() + (np.abs(X - apart_from) @ np.abs(coef).T).max()
        unit = np.finfo(dtype).eps * score * (1.0 if weight is None else 2.0)
        sizes = len(y) * score, np.abs(X - apart_from).sum(axis=0), len(y)
        for a, b, size in zip(found, expected, sizes, strict=True):
            assert np.all(np.abs(a - b) <= unit * size)


def device_rows(X, y):
    training = training_of(cupy.asarray(X), cupy.asarray(y), None, "", any_classes=True)
    return training.rows(GaussianNB()._schema(training.table.source))


@pytest.mark.parametrize("case", ["plain", "a cell far away", "a constant column", "weights"])
def test_scatter_that_tensor_cores_cannot_do_is_that_of_single_precision(case, monkeypatch):
    X, y = table(5000, 6, 3)
    X = (X + 100).astype(np.float32)
    if case == "a cell far away":
        X[4700, 2] = 3e5  # 1e5 standard deviations; the sample by which units are chosen ends at row 4,600
    if case == "a constant column":
        X[:, 2] = 7
    rows, columns = device_rows(X, y), tuple(range(6))
    if case == "weights":
        rows = replace(rows, weight=cupy.ones(len(y)))
    in_single_precision, calls = cuda_sums._scatter_sums, []
    monkeypatch.setattr(
        cuda_sums,
        "_scatter_sums",
        lambda *args, **asked: calls.append(args) or in_single_precision(*args, **asked),
    )
    found = cuda.class_scatter(rows, columns, pooled=True)
    assert len(calls) == (case != "plain" or not has_tensor_cores())
    expected = sums.scatter(rows, columns, pooled=True, fourth=False)
    assert np.allclose(found.weight, expected.weight)
    assert np.allclose(found.location.value, expected.location.value, rtol=1e-5)
    unit = np.sqrt(np.einsum("gjj->gj", expected.scatter))
    close = np.abs(found.scatter - expected.scatter) <= 1e-4 * unit[:, :, None] * unit[:, None, :] + 1e-5
    assert close.all()


def test_scatter_of_rows_with_gaps_is_left_to_the_reference():
    X, y = table(5000, 6, 3)
    X[4700, 2] = np.nan
    assert cuda.class_scatter(device_rows(X.astype(np.float32), y), tuple(range(6)), pooled=True) is None


@pytest.mark.parametrize("shape", [(1, 1, 8), (31, 7, 9), (65, 8, 10), (5000, 20, 10), (4097, 31, 16)])
def test_the_slope_by_tensor_cores_is_the_reference(shape, monkeypatch):
    monkeypatch.setattr("posterior.engines.device.cuda.linear.FEWEST_ROWS", 0)
    n, d, K = shape
    X, _ = table(n, d, K)
    X, y = (1e3 * X + 1e5).astype(np.float32), np.arange(n) % K
    rows = replace(device_rows(X, y), n_classes=K)
    rng = np.random.default_rng(2)
    shift = X.astype(np.float64).mean(axis=0)
    # Rows that are put far into a wrong class too: their losses are in the hundreds.
    for size in (1e-3, 0.3):
        coef, offset = size * rng.normal(size=(K, d)), rng.normal(size=K)
        found, expected = (f(rows, coef, offset, shift) for f in (cuda.softmax_slope, linear.softmax_slope))
        apart_from = np.abs(X - shift)
        score = np.abs(offset).max() + (apart_from @ np.abs(coef).T).max()
        unit = np.finfo(np.float32).eps * max(score, 2.0)
        for a, b, most in zip(found, expected, (n * score, apart_from.sum(axis=0), n), strict=True):
            assert np.all(np.abs(a - b) <= unit * most)


def test_the_longest_row_is_that_of_numpy(monkeypatch):
    monkeypatch.setattr("posterior.engines.device.cuda.linear.FEWEST_ROWS", 0)
    X, y = table(3001, 7, 3)
    X, rng = X.astype(np.float32), np.random.default_rng(1)
    rows, centre = device_rows(X, y), rng.normal(size=7)
    for width in (1, 5, 8, 12):
        turn, level = rng.normal(size=(7, width)), rng.normal(size=width)
        expected = np.sqrt((((X - centre) @ turn + level) ** 2).sum(axis=1).max())
        found = cuda.longest_row(rows, turn, level, centre)
        assert expected <= found <= expected * (1 + 1e-3)


@pytest.mark.parametrize("d", [1, 3, 4, 5, 8, 9, 12, 13, 20, 32])
@pytest.mark.parametrize("K", [2, 5])
def test_whitened_rows_of_every_width(d, K):
    X, y = table(1003, d, K)
    X = (X * np.geomspace(1e-6, 1e6, d)).astype(np.float32)
    model = QDA().fit(X, y)
    for method in ("predict_log_proba", "score_samples"):
        assert apart(getattr(model, method)(cupy.asarray(X)), getattr(model, method)(X)) < 1e-4


def test_a_cell_beyond_half_precision_is_scored_in_single_precision():
    X, y = table(2000, 6, 3)
    model = QDA().fit(X.astype(np.float32), y)
    X[17, 2] = 3e6
    X = X.astype(np.float32)
    assert apart(model.predict_log_proba(cupy.asarray(X)), model.predict_log_proba(X)) < 1e-4


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("K", [2, 3, 9])
def test_logistic_regression_is_that_of_numpy(K, dtype, library, monkeypatch):
    monkeypatch.setattr("posterior.engines.device.cuda.linear.FEWEST_ROWS", 0)
    X, y = table(30_000, 6, K)
    X, there = X.astype(dtype), LIBRARIES[library]
    here, gpu = LogisticRegression().fit(X, y), LogisticRegression().fit(there(X), there(y))
    assert gpu.converged_
    tolerance = 1e-4 if dtype == np.float32 else 1e-8
    for model in (here, gpu):
        found = model.predict_log_proba(there(X))
        assert type(found) is type(there(X))
        assert apart(found, here.predict_log_proba(X)) < tolerance
    assert apart(gpu.predict_log_proba(X), here.predict_log_proba(X)) < tolerance
