"""Compiled kernels of Gaussian blocks say what the reference says, and the same bits from any layout."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior import LDA, QDA, GaussianNB, GenerativeClassifier, NaiveBayes
from posterior.engines import local, threads
from posterior.estimators.precision import in_double
from posterior.families import Bernoulli, MultivariateNormalDistribution, Normal, NormalDistribution
from posterior.kernels import SeparateColumns, as_they_lie, in_rows, posteriors, reference, tiles
from posterior.kernels.choice import using
from posterior.kernels.compiled import moments, moments_by_class, normalizing, scatter, scores


def rows(seed, n, d, n_classes, *, offset=0.0, gaps=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    x = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + offset * (1 + y[:, None])
    x[rng.random(x.shape) < gaps] = np.nan
    return x, y, rng.random(n) + 0.1


def same_mean(a, b, size):
    apart = (a.pivot - b.pivot) + (a.remainder - b.remainder)
    np.testing.assert_allclose(apart, 0.0, atol=1e-12 * size)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 400),
    d=st.integers(1, 9),
    n_classes=st.integers(1, 6),
    offset=st.sampled_from([0.0, 1e8]),
    gaps=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
def test_moments(seed, n, d, n_classes, offset, gaps, weighted):
    x, y, weight = rows(seed, n, d, n_classes, offset=offset, gaps=gaps)
    w = weight if weighted else None
    want, found = reference.class_moments(x, y, w, n_classes), moments.class_moments(x, y, w, n_classes)
    np.testing.assert_allclose(found.weight, want.weight, rtol=1e-13)
    same_mean(found, want, 100.0)
    np.testing.assert_allclose(found.scatter, want.scatter, rtol=1e-10, atol=1e-12)


def apart(x, kind=np.float64):
    """Columns that lie apart, the first row of which is one of more."""
    return SeparateColumns.of([np.concatenate([[7.0], column]).astype(kind) for column in x.T])[1:]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_moments_have_the_same_bits_from_any_layout(gaps):
    x, y, weight = rows(1, 3000, 7, 4, offset=1e8, gaps=gaps)
    x = x.astype(np.float32).astype(np.float64)
    single = apart(x, np.float32), np.asfortranarray(x.astype(np.float32)), x.astype(np.float32)
    layouts = np.asfortranarray(x), apart(x), x[::-1][::-1], np.repeat(x, 2, axis=1)[:, ::2]
    for w in (None, weight):
        want = moments.class_moments(x, y, w, 4)
        for table in (*layouts, *single):
            found = moments.class_moments(table, y, w, 4)
            for a, b in zip(want[:4], found[:4], strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_class_by_class_have_the_bits_of_moments_row_by_row(weighted):
    x, y, weight = rows(4, 3000, 21, 40, offset=1e8)
    y[y == 7] = 8  # a class without rows
    x[0] = 1e14  # whose class is centred again
    w = weight if weighted else None
    layouts = (x, np.asfortranarray(x), apart(x))
    for table in (*layouts, x.astype(np.float32), apart(x, np.float32)):
        want = moments.class_moments(table, y, w, 40)
        for n_threads in (1, 2, 5):
            with threads(n_threads):
                found = moments_by_class.class_moments(table, y, w, 40)
            for a, b in zip(want[:4], found[:4], strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_the_cells_there_class_by_class_have_the_bits_of_those_row_by_row(weighted, monkeypatch):
    monkeypatch.setattr(moments_by_class, "THERE", 1)  # eight columns apart at a time
    x, y, weight = rows(4, 3000, 21, 40, offset=1e8, gaps=0.2)
    y[y == 7] = 8  # a class without rows
    x[y == 9, 3] = np.nan  # and one without a cell of a column
    x[0] = 1e14  # whose class is centred again
    w = weight if weighted else None
    layouts = (x, np.asfortranarray(x), apart(x))
    for table in (*layouts, x.astype(np.float32), np.asfortranarray(x.astype(np.float32)), x[::2]):
        some = slice(0, len(table)) if len(table) == len(x) else slice(0, None, 2)
        own = None if w is None else w[some]
        want = moments.class_moments(table, y[some], own, 40)
        for n_threads in (1, 2, 5):
            with threads(n_threads):
                found = moments_by_class.moments_there(table, y[some], own, 40)
            for a, b in zip(want, found, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_moments_class_by_class_see_gaps_and_infinity(wrong):
    x, y, _ = rows(5, 300, 9, 20)
    x[299, 8] = wrong
    for table in (x, apart(x), apart(x, np.float32)):
        assert moments_by_class.class_moments(table, y, None, 20) is None


def test_columns_alike_have_one_mark_class_by_class():
    x, y, _ = rows(6, 300, 20, 20)
    x[:, 19] = x[:, 2]
    for table in (x, apart(x), apart(x, np.float32)):
        mark = moments_by_class.class_moments(table, y, None, 20).mark
        assert mark[19] == mark[2]
        assert len(set(mark.tolist())) == 19


@pytest.mark.parametrize("gaps", [0.0, 0.001])
def test_many_classes_and_columns_have_the_same_bits_with_any_number_of_threads(gaps, monkeypatch):
    monkeypatch.setattr(local, "SIZES", 1)  # two chunks
    x, y, _ = rows(7, 3000, 400, 100, gaps=gaps)
    tables = x, pd.DataFrame(x), np.asfortranarray(x)
    found = []
    for table in tables:
        for n_threads in (1, 2, 5):
            with threads(n_threads):
                found.append(GaussianNB().fit(table, y))
    with using("reference"):
        want = GaussianNB().fit(x, y)
    for model in found:
        np.testing.assert_array_equal(model.var_, found[0].var_)
        np.testing.assert_array_equal(model.theta_, found[0].theta_)
    np.testing.assert_allclose(found[0].var_, want.var_, rtol=1e-12)
    np.testing.assert_allclose(found[0].theta_, want.theta_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_linear_scores_of_many_classes_and_columns_are_those_of_the_reference(offset):
    x, y, _ = rows(8, 1200, 270, 250)
    y[:250] = np.arange(250)
    x += y[:, None] * 0.01 + offset
    with using("reference"):
        want = LDA(shrinkage=0.5).fit(x, y).predict_log_proba(x[:300])
    found = []
    for n_threads in (1, 2, 5):
        with threads(n_threads):
            model = LDA(shrinkage=0.5).fit(x, y)
            found.append(model.predict_log_proba(x[:300]))
            gappy = x[:3].copy()
            gappy[:, 7] = np.nan
            assert np.isfinite(model.predict_log_proba(gappy)).all()
    for each in found:
        np.testing.assert_array_equal(each, found[0])
    np.testing.assert_allclose(found[0], want, rtol=1e-6 if offset else 1e-9, atol=1e-6 if offset else 1e-9)


def test_an_outlier_in_the_first_row_costs_no_digits():
    x, y, _ = rows(2, 20_000, 3, 2)
    x[0] = 1e8
    weight = np.ones(len(y))
    weight[0] = 1e-12  # its weight is nothing, so that the spread does not cover for it
    moment = moments.class_moments(x, y, weight, 2)
    product, _ = scatter.class_scatter(x, y, weight, 2, pooled=False)
    for k in range(2):
        own = y == k
        z, w = x[own].astype(np.longdouble), weight[own].astype(np.longdouble)
        z -= (w @ z) / w.sum()
        want = ((w[:, None] * z).T @ z).astype(float)
        np.testing.assert_allclose(moment.scatter[k], np.diagonal(want), rtol=1e-13)
        np.testing.assert_allclose(product.scatter[k], want, rtol=1e-13, atol=1e-13 * want.max())


def test_marks_tell_apart_columns_that_differ_and_only_those():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 20_000)
    x = rng.integers(0, 2, size=(40_000, 4)).astype(float)
    x[:, 1] = x[:, 0]
    x[:, 2] = np.concatenate([x[:20_000, 0][::-1], x[20_000:, 0][::-1]])  # the same numbers in other rows
    mark = moments.class_moments(x, y, None, 2).mark
    assert mark[0] == mark[1]
    assert len(np.unique(mark)) == 3


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 400),
    d=st.one_of(st.integers(1, 25), st.sampled_from([128, 129, 135, 152])),
    n_classes=st.integers(1, 6),
    offset=st.sampled_from([0.0, 1e8]),
    pooled=st.booleans(),
    weighted=st.booleans(),
)
def test_scatter(seed, n, d, n_classes, offset, pooled, weighted):
    x, y, weight = rows(seed, n, d, n_classes, offset=offset)
    w = weight if weighted else None
    want = reference.class_scatter(x, y, w, n_classes, pooled=pooled, fourth=False)
    found, rounding = scatter.class_scatter(x, y, w, n_classes, pooled=pooled)
    np.testing.assert_allclose(found.weight, want.weight, rtol=1e-13)
    same_mean(found, want, 100.0)
    size = max(np.abs(want.scatter).max(), 1e-300)
    np.testing.assert_allclose(found.scatter, want.scatter, rtol=1e-10, atol=1e-12 * size)
    np.testing.assert_array_equal(found.scatter, found.scatter.transpose(0, 2, 1))
    np.testing.assert_array_equal(rounding, reference.rounding_of(x))


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize(("d", "n_classes"), [(20, 3), (100, 40), (128, 2), (130, 3), (200, 1), (260, 40)])
def test_scatter_has_the_same_bits_from_any_layout_and_of_any_threads(d, n_classes, pooled):
    x, y, weight = rows(6, 9001, d, n_classes, offset=10.0)
    x = x.astype(np.float32).astype(np.float64)
    singles = x.astype(np.float32), np.asfortranarray(x.astype(np.float32)), apart(x, np.float32)
    layouts = np.asfortranarray(x), apart(x), np.repeat(x, 2, axis=1)[:, ::2], *singles
    for w in (None, weight):
        want, _ = scatter.class_scatter(x, y, w, n_classes, pooled=pooled)
        for layout in layouts:
            found, _ = scatter.class_scatter(layout, y, w, n_classes, pooled=pooled)
            for part in ("weight", "pivot", "remainder", "scatter"):
                np.testing.assert_array_equal(getattr(found, part), getattr(want, part))
        parts = (
            scatter.ScatterParts(x, y, w, n_classes, 3000, pooled=pooled),
            scatter.ScatterParts(x, y, w, n_classes, 3000, pooled=pooled),
        )
        for part, workers in zip(parts, (1, 3), strict=True):
            part.run(workers)
        (one, _), (three, _) = (part.whole() for part in parts)
        np.testing.assert_array_equal(one.scatter, three.scatter)
        np.testing.assert_array_equal(one.remainder, three.remainder)


def test_weights_of_a_scatter_are_repetitions_in_wide_rows_too():
    x, y, _ = rows(7, 600, 140, 3)
    often = np.random.default_rng(7).integers(0, 4, len(y))
    once, _ = scatter.class_scatter(x, y, often.astype(float), 3, pooled=False)
    again, _ = scatter.class_scatter(x.repeat(often, axis=0), y.repeat(often), None, 3, pooled=False)
    np.testing.assert_array_equal(once.weight, again.weight)
    np.testing.assert_allclose(once.scatter, again.scatter, atol=1e-11 * np.abs(again.scatter).max())


@pytest.mark.parametrize("d", [3, 150])
def test_scatter_sees_gaps_and_infinity(d):
    x, y, _ = rows(4, 500, d, 2)
    for wrong in (np.nan, np.inf, -np.inf):
        for j in (1, d - 1):
            spoilt = x.copy()
            spoilt[250, j] = wrong
            assert scatter.class_scatter(spoilt, y, None, 2, pooled=True) is None


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounding_knows_single_precision_and_grids(kind):
    rng = np.random.default_rng(5)
    x = np.stack([rng.normal(size=300), rng.integers(0, 9, 300), rng.integers(0, 9, 300) / 4], axis=1)
    x = x.astype(kind)
    _, rounding = scatter.class_scatter(x, np.zeros(300, dtype=np.int64), None, 1, pooled=True)
    np.testing.assert_array_equal(rounding, reference.rounding_of(x.astype(np.float64)))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    d=st.integers(1, 11),
    n_classes=st.integers(1, 7),
    gaps=st.sampled_from([0.0, 0.2]),
    offset=st.sampled_from([0.0, 1e8]),
)
def test_scores_of_normal_columns(seed, n, d, n_classes, gaps, offset):
    x, _, _ = rows(seed, n, d, 1, gaps=gaps)
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n_classes, d)) * 3 + offset
    density = NormalDistribution(mean, np.exp(rng.normal(size=(n_classes, d))))
    with using("compiled"):
        found = density.log_density(x + offset)
    with using("reference"):
        want = density.log_density(x + offset)
    np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-10)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    d=st.integers(1, 21),
    n_classes=st.integers(1, 7),
    tied=st.booleans(),
    gaps=st.sampled_from([0.0, 0.05]),
)
def test_scores_of_gaussian_blocks(seed, n, d, n_classes, tied, gaps):
    x, _, _ = rows(seed, n, d, 1, gaps=gaps)
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(1 if tied else n_classes, d, d)) * 0.3 + np.eye(d)
    covariance = factor @ factor.transpose(0, 2, 1)
    density = MultivariateNormalDistribution(rng.normal(size=(n_classes, d)), covariance)
    size = 1 + float((1 / np.linalg.eigvalsh(covariance)).max())
    for of in (density.log_density, lambda rows: added(density, rows)):
        with using("compiled"):
            found = of(x)
        with using("reference"):
            want = of(x)
        np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-11 * size)


def added(density, x):
    out = np.zeros((len(x), density.n_classes))
    density.add_relative(x, out)
    return out


def test_distances_take_off_both_parts_of_the_centre_wherever_a_row_is():
    rng = np.random.default_rng(11)
    n, d = 37, 19  # some rows and columns are turned eight by eight, others one by one
    x, pivot, remainder = 1e12 + rng.normal(size=(n, d)), np.full(d, 1e12), np.full(d, 2e-5)
    whitener, mean = np.triu(rng.normal(size=(d, d))), rng.normal(size=d)
    want = -0.5 * ((((x - pivot) - remainder) @ whitener - mean) ** 2).sum(axis=1)
    distances = scores.Quadratic(iter([whitener]), mean[None])
    found = np.zeros((n, 1))
    assert distances.add(x, pivot, remainder, found) == n
    np.testing.assert_allclose(found[:, 0], want, rtol=1e-12)
    for start in range(1, 9):
        of_some = np.zeros((n - start, 1))
        distances.add(x[start:], pivot, remainder, of_some)
        np.testing.assert_array_equal(of_some, found[start:])


def test_classes_far_apart_lose_no_digits():
    mean = np.array([[0.0, 0.0], [1e9, 1.0]])
    x = np.array([[0.5, 0.5], [1e9 + 0.5, 0.5]])
    for density in (
        NormalDistribution(mean, np.ones((2, 2))),
        MultivariateNormalDistribution(mean, np.eye(2)),
    ):
        with using("compiled"):
            found = density.log_density(x)
        assert np.isclose(found[0, 0], -np.log(2 * np.pi) - 0.25, rtol=1e-15)
        assert np.isclose(found[1, 1], -np.log(2 * np.pi) - 0.25, rtol=1e-15)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    n_classes=st.integers(1, 9),
    size=st.sampled_from([1.0, 30.0, 400.0, 1e5]),
    impossible=st.sampled_from([0.0, 0.3]),
)
def test_normalizing(seed, n, n_classes, size, impossible):
    rng = np.random.default_rng(seed)
    joint = rng.normal(size=(n, n_classes)) * size
    joint[rng.random(joint.shape) < impossible] = -np.inf
    joint[0] = joint[0, 0]  # equals
    prior = np.log(rng.dirichlet(np.ones(n_classes)))
    for logs in (False, True):
        results = []
        for mode in ("reference", "compiled"):
            scores_, done = joint.copy(), None
            with using(mode):
                done = posteriors(scores_, prior, logs=logs)
            results.append((scores_, done))
        (want, fine), (found, fine_too) = results
        assert fine == fine_too == bool(np.isfinite(joint).all())
        np.testing.assert_allclose(found, want, rtol=2e-15 if not logs else 1e-13, atol=1e-318)
    best = np.empty(n, dtype=np.int64)
    normalizing.find_best(joint, prior, best)
    dead = np.isneginf(joint.max(axis=1))
    np.testing.assert_array_equal(best[~dead], joint[~dead].argmax(axis=1))
    assert (best[dead] == prior.argmax()).all()


def test_posteriors_reach_the_smallest_numbers_there_are():
    joint = np.zeros((64, 2))
    joint[:, 1] = -np.linspace(600, 800, 64)
    found = joint.copy()
    normalizing.to_posteriors(found, np.zeros(2))
    np.testing.assert_allclose(found[:, 1], np.exp(joint[:, 1]), rtol=1e-14, atol=1e-323)


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=lambda m: type(m).__name__)
def test_every_layout_and_number_of_threads_gives_the_same_bits(model):
    x, y, _ = rows(6, 70_000, 5, 3)
    apart = np.asfortranarray(x)
    want = model.fit(x, y).predict_proba(x)
    for table in (apart, x):
        for n in (1, 2, 8):
            with threads(n):
                np.testing.assert_array_equal(model.fit(table, y).predict_proba(table), want)


@pytest.mark.parametrize(
    "model", [GaussianNB(), LDA(), QDA(), NaiveBayes(tied=False, weights=1.0)], ids=lambda m: type(m).__name__
)
def test_many_rows_are_treated_as_few(model):
    x, y, weight = rows(7, 20_000, 4, 3)
    with using("reference"):
        want = model.fit(x, y, weight).predict_log_proba(x)
    found = model.fit(x, y, weight).predict_log_proba(x)
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)
    assert (model.predict(x) == model.classes_[want.argmax(axis=1)]).all()
    np.testing.assert_allclose(
        model.fit(x.astype(np.float32), y, weight).predict_log_proba(x), want, atol=1e-4
    )


@pytest.mark.parametrize(
    "model", [GaussianNB(), LDA(), QDA(), NaiveBayes(tied=False, weights=1.0)], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_infinity_is_refused_in_many_rows_as_in_few(model, wrong):
    x, y, _ = rows(8, 20_000, 4, 3)
    model.fit(x, y)
    x[15_000, 2] = wrong
    for table in (x, np.asfortranarray(x), x.astype(np.float32)):
        with pytest.raises(ValueError, match=r"'x2'.*15000"):
            model.fit(table, y)
        for ask in (model.predict, model.predict_proba, model.score_samples):
            with pytest.raises(ValueError, match=r"'x2'.*15000"):
                ask(table)


def test_numbers_too_large_to_be_squared_are_refused_in_many_rows_as_in_few():
    x, y, _ = rows(9, 20_000, 3, 2)
    x[12_345, 1] = 1e200
    for model in (GaussianNB(), LDA()):
        with pytest.raises(ValueError, match=r"column 'x1'.*1e\+200"):
            model.fit(x, y)


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=lambda m: type(m).__name__)
def test_memory_that_nobody_may_write_to_is_read(model):
    x, y, weight = rows(11, 20_000, 4, 3)
    want = model.fit(x, y, weight).predict_proba(x)
    for array in (x, y, weight):
        array.setflags(write=False)
    np.testing.assert_array_equal(model.fit(x, y, weight).predict_proba(x), want)


def test_tables_are_read_as_they_lie():
    x = np.arange(12.0).reshape(4, 3)
    assert in_rows(x) is x
    assert isinstance(as_they_lie(list(np.asfortranarray(x).T)), SeparateColumns)
    same = as_they_lie(list(x.T))
    assert np.shares_memory(same, x)
    np.testing.assert_array_equal(same, x)
    assert as_they_lie([x[:, 0], x[:, 2]]) is None
    assert as_they_lie([x[:, 0].astype(np.float32)]).dtype == np.float32
    assert as_they_lie([x[:, 0].astype(np.float32), x[:, 1].copy()]) is None
    assert as_they_lie([x[:, 0].astype(np.int64)]) is None
    (only,) = tiles(x)
    assert only[1] is x


def test_whole_tiles_and_a_rest_are_scored_alike():
    x, _, _ = rows(10, 130, 3, 1)
    density = NormalDistribution(np.zeros((2, 3)), np.ones((2, 3)))
    out = np.zeros((130, 2))
    scores.normal_scores(x, density._parameters, out)
    for i in range(130):
        one = np.zeros((1, 2))
        scores.normal_scores(x[i : i + 1], density._parameters, one)
        np.testing.assert_array_equal(out[i : i + 1], one)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, np.float32])
def test_codes_of_a_column_are_not_taken_for_its_numbers(layout):
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 400)
    x = layout(1.0 + (rng.random((400, 2)) < 0.2 + 0.6 * y[:, None]))
    model = GenerativeClassifier([([0, 1], Normal())], kinds={0: "binary", 1: "binary"}).fit(x, y)
    with in_double():
        joint, found = model.predict_joint_log_proba(x), model.predict_proba(x)
    want = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_bernoulli_columns_that_lie_apart_are_read():
    rng = np.random.default_rng(13)
    y = rng.integers(0, 2, 300)
    x = (rng.random((300, 2)) < 0.2 + 0.5 * y[:, None]).astype(float)
    model, apart = GenerativeClassifier([([0, 1], Bernoulli(threshold=0.5))]), np.asfortranarray(x)
    want = model.fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(model.fit(apart, y).predict_proba(apart), want)


def test_a_large_number_in_a_light_row_is_refused():
    x, y, weight = rows(14, 300, 3, 2)
    x[3, 1], weight[3] = 1e151, 1e-6
    for model in (GaussianNB(), LDA(), QDA()):
        with pytest.raises(ValueError, match="x1"):
            model.fit(x, y, weight)


def test_exponentials_are_right_to_the_end_of_their_range():
    for x in (np.linspace(-708.6, -708.3, 64), np.linspace(-708.38, -708.0, 64)):
        joint = np.stack([np.zeros(64), x], axis=1)
        normalizing.to_posteriors(joint, np.zeros(2))
        np.testing.assert_allclose(joint[:, 1], np.exp(x), rtol=1e-13)


def test_a_score_without_end_gets_the_likeliest_class_of_the_priors():
    scores_, best = np.full((64, 2), np.inf), np.empty(64, dtype=np.int64)
    assert normalizing.find_best(scores_, np.log([0.3, 0.7]), best) == 64
    assert (best == 1).all()


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("kept", [1 << 13, 1 << 22])
def test_sums_that_threads_share_out_have_the_bits_of_chunks_one_by_one(model, kept, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(local, "KEPT_CELLS", kept)
    x, y, weight = rows(9, 256 * 61 + 100, 20, 10, offset=1e3)
    with using("compiled"):
        for w in (None, weight):
            with monkeypatch.context() as alone:
                alone.setattr(local, "FEW_CELLS", 0)
                want = model.fit(x, y, w).predict_log_proba(x)
            for n in (1, 2, 16):
                with threads(n):
                    np.testing.assert_array_equal(model.fit(x, y, w).predict_log_proba(x), want)


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=lambda m: type(m).__name__)
def test_a_gap_in_one_of_many_chunks_is_treated_as_in_one_chunk(model, monkeypatch):
    x, y, _ = rows(10, 256 * 40, 4, 3)
    x[256 * 30 + 5, 2] = np.nan
    with using("compiled"):
        want = model.fit(x, y).predict_log_proba(x)
        monkeypatch.setattr(local, "CHUNK_ROWS", 256)
        found = [threaded(model, x, y, n) for n in (1, 2, 16)]
    for each in found:
        np.testing.assert_array_equal(each, found[0])
    np.testing.assert_allclose(found[0], want, rtol=1e-9, atol=1e-9)


def threaded(model, x, y, n):
    with threads(n):
        return model.fit(x, y).predict_log_proba(x)


@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_answers_that_threads_share_out_have_the_bits_of_chunks_one_by_one(model, kind, monkeypatch):
    x, y, _ = rows(11, 256 * 61 + 100, 20, 10)
    model.fit(x.astype(kind), y)
    x[700:900, 3] = np.nan  # many rows of one chunk, and a few of others
    x[[0, 2000, 5003, 15_700], 7] = np.nan
    x[9000] *= 1e4  # far from every class
    x = x.astype(kind)
    monkeypatch.setattr(local, "FILL_ROWS", 256)
    with using("compiled"):
        with monkeypatch.context() as alone:
            alone.setattr(local.LocalDataset, "_fill_parts", lambda *_: 0)
            want = [model.predict_proba(x), model.predict_log_proba(x), model.predict(x)]
        for n in (1, 2, 16):
            with threads(n):
                found = [model.predict_proba(x), model.predict_log_proba(x), model.predict(x)]
            for a, b in zip(found, want, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", [1, 16])
def test_the_first_infinite_number_is_the_one_that_is_refused(n, monkeypatch):
    monkeypatch.setattr(local, "FILL_ROWS", 256)
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    x, y, _ = rows(12, 256 * 20 + 100, 4, 3)
    with using("compiled"), threads(n):
        model = QDA().fit(x, y)
        x[3000, 1], x[-5, 2] = np.inf, np.inf
        for act in (model.predict_proba, lambda x: QDA().fit(x, y)):
            with pytest.raises(ValueError, match="row 3000"):
                act(x)


def test_marks_of_twin_columns_are_the_same_with_any_number_of_threads():
    x, y, weight = rows(13, 256 * 9 + 30, 6, 3)
    x[:, 4] = x[:, 1]
    found = []
    for n in (1, 4):
        parts = moments.MomentParts(x, y, weight, 3, 256)
        parts.run(1)
        with threads(n):
            found.append(parts.whole().mark)
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(found[0][:, 4], found[0][:, 1])
    assert all(len(set(mark.tolist())) == 5 for mark in found[0])
    want = [
        moments.class_moments(x[at : at + 256], y[at : at + 256], weight[at : at + 256], 3).mark
        for at in range(0, len(x), 256)
    ]
    np.testing.assert_array_equal(found[0], want)
