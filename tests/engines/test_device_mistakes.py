"""Arrays of another library that are not what they should be: the errors, and the state, of NumPy's."""

import warnings

import array_api_strict
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.naive_bayes import GaussianNB as Theirs

from posterior import (
    LDA,
    QDA,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    GaussianNB,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OutlierRule,
)
from posterior.engines.device.arrays import bytes_to_host
from posterior.engines.device.labels import label_codes
from posterior.estimators import device

N, D = 60, 3
ESTIMATORS = [GaussianNB(), LDA(), LogisticRegression()]


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N)
    return rng.normal(size=(N, D)) + y[:, None], y


X, Y = table()
GAPS = np.where(np.isin(np.arange(N), [3, 7, 9]), np.nan, Y)
ONE_NAN = np.where(np.arange(N) == 4, np.nan, 1.0)

# What is done with a clone of an estimator and arrays of a library; the same error is expected of both.
MISTAKES = {
    "one dimension": lambda e, a: e.fit(a(X[:, 0]), a(Y)),
    "three dimensions": lambda e, a: e.fit(a(X[:, :, None]), a(Y)),
    "no rows": lambda e, a: e.fit(a(X[:0]), a(Y[:0])),
    "no columns": lambda e, a: e.fit(a(X[:, :0]), a(Y)),
    "complex numbers": lambda e, a: e.fit(a(X + 0j), a(Y)),
    "no classes": lambda e, a: e.fit(a(X), None),
    "classes with gaps": lambda e, a: e.fit(a(X), a(GAPS)),
    "classes that are infinite": lambda e, a: e.fit(a(X), a(np.where(Y == 0, np.inf, Y))),
    "classes that are measurements": lambda e, a: e.fit(a(X), a(X[:, 0])),
    "too few classes": lambda e, a: e.fit(a(X), a(Y[:5])),
    "classes of two columns": lambda e, a: e.fit(a(X), a(X[:, :2])),
    "too few weights": lambda e, a: e.fit(a(X), a(Y), a(np.ones(3))),
    "weights of two columns": lambda e, a: e.fit(a(X), a(Y), a(np.ones((N, 2)))),
    "weights of one column": lambda e, a: e.fit(a(X), a(Y), a(np.ones((N, 1)))),
    "weights without dimensions": lambda e, a: e.fit(a(X), a(Y), a(np.asarray(1.0))),
    "weights that are zero": lambda e, a: e.fit(a(X), a(Y), a(np.zeros(N))),
    "an infinite cell": lambda e, a: e.fit(a(np.where(np.isclose(X, X[5, 1]), np.inf, X)), a(Y)),
    "answers of other columns": lambda e, a: e.fit(a(X), a(Y)).predict_proba(a(X[:, :2])),
    "a score of other columns": lambda e, a: e.fit(a(X), a(Y)).score(a(X[:, :2]), a(Y)),
    "answers of no rows": lambda e, a: e.fit(a(X), a(Y)).predict(a(X[:0])),
    "answers of one row": lambda e, a: e.fit(a(X), a(Y)).predict(a(X[0])),
    "answers before a fit": lambda e, a: e.predict(a(X)),
    "a score before a fit": lambda e, a: e.score(a(X), a(Y)),
    "a file of answers": lambda e, a: e.fit(a(X), a(Y)).predict_proba(a(X), out="scores.parquet"),
}


def told(act, estimator, library):
    with pytest.raises((ValueError, TypeError, NotFittedError)) as error:
        act(clone(estimator), library)
    return type(error.value), str(error.value)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_the_error_that_it_has_with_numpy(name, estimator, xp):
    assert told(MISTAKES[name], estimator, xp.asarray) == told(MISTAKES[name], estimator, np.asarray)


@pytest.mark.parametrize(
    "act",
    [
        lambda a: GaussianNB().partial_fit(a(X), a(Y), classes=[0, 1]),
        lambda a: LDA().partial_fit(a(X), a(Y)).partial_fit(a(X[:, :2]), a(Y)),
    ],
    ids=["a class that was not named", "a later part of other columns"],
)
def test_mistakes_in_parts_have_the_errors_that_they_have_with_numpy(act, xp):
    assert told(lambda _, a: act(a), LDA(), xp.asarray) == told(lambda _, a: act(a), LDA(), np.asarray)


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (ONE_NAN, "sample_weight.*row 4"),
        (-np.ones(N), "sample_weight.*row 0"),
        (np.full(N, 1e200), "weigh more than can be summed up"),
        (np.full(N, 1e-200), "weigh less than can be summed up"),
    ],
)
def test_weights_that_cannot_be_are_refused_wherever_they_are(weight, message, where, xp):
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(
            xp.asarray(X), xp.asarray(Y), sample_weight=weight if where == "host" else xp.asarray(weight)
        )


def test_weights_of_zero_stay_on_the_device(xp):
    many = np.tile(X, (500, 1))
    weight = np.where(np.arange(len(many)) % 2, 0.0, 1.0)
    with bytes_to_host() as moved:
        GaussianNB().fit(xp.asarray(many), xp.asarray(np.tile(Y, 500)), sample_weight=xp.asarray(weight))
    assert moved["bytes"] < weight.nbytes


def test_classes_and_weights_that_are_complex_are_refused_by_name(xp):
    with pytest.raises(ValueError, match="Complex data not supported: y holds"):
        LDA().fit(xp.asarray(X), xp.asarray(Y + 0j))
    with pytest.raises(ValueError, match="Complex data not supported: sample_weight holds"):
        LDA().fit(xp.asarray(X), xp.asarray(Y), xp.asarray(np.ones(N) + 0j))


def test_classes_of_one_column_are_taken_with_the_warning_that_numpy_has(xp):
    expected = GaussianNB().fit(X, Y).predict_proba(X)
    for library in (np.asarray, xp.asarray):
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            model = GaussianNB().fit(library(X), library(Y[:, None]))
        assert np.allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.bool_])
def test_classes_come_back_in_their_type(kind, xp):
    y = Y.astype(kind)
    if kind is np.uint64:
        y += np.uint64(2**63)
    here, there = (GaussianNB().fit(a(X), a(y)) for a in (np.asarray, xp.asarray))
    found = there.predict(xp.asarray(X))
    assert found.dtype == xp.asarray(y).dtype
    assert np.asarray(found).tolist() == here.predict(X).tolist()
    assert there.classes_.dtype == here.classes_.dtype
    assert there.score(xp.asarray(X), xp.asarray(y)) == here.score(X, y)


@pytest.mark.parametrize(("model", "value"), [(CategoricalNB(), np.inf), (MultinomialNB(), -np.inf)])
def test_infinity_is_an_error_and_no_new_category_or_count(model, value, xp):
    cells = np.abs(X).round()
    model = clone(model).fit(cells, Y)
    cells[5, 1] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="column 'x1' contains infinity"):
            model.predict(xp.asarray(cells))


def test_numbers_of_half_precision_are_refused_with_the_remedy():
    torch = pytest.importorskip("torch")
    for kind in (torch.float16, torch.bfloat16):
        with pytest.raises(TypeError, match=r"X\.float\(\)"):
            GaussianNB().fit(torch.asarray(X).to(kind), torch.asarray(Y))


def test_tensors_without_cells_are_refused_by_name():
    torch = pytest.importorskip("torch")
    rows, y, weight = torch.asarray(X), torch.asarray(Y), torch.ones(N)
    for given in ((rows.to("meta"), y, weight), (rows, y.to("meta"), weight), (rows, y, weight.to("meta"))):
        with pytest.raises(TypeError, match='on the device "meta" has a shape and no cells'):
            GaussianNB().fit(*given)
    with pytest.raises(TypeError, match="no cells"):
        GaussianNB().fit(X, Y).predict(rows.to("meta"))


def test_classes_of_another_type_are_refused_by_score(xp):
    model = GaussianNB().fit(xp.asarray(X), xp.asarray(Y))
    with pytest.raises(ValueError, match="labels of another type"):
        model.score(xp.asarray(X), np.array(list("abc"))[Y])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_classes_and_weights_may_be_of_either_library(estimator, xp):
    weight = np.random.default_rng(1).uniform(0.5, 2, N)
    expected = clone(estimator).fit(X, Y, sample_weight=weight).predict_proba(X)
    for rows, y, w in (
        (xp.asarray(X), Y, weight.tolist()),
        (xp.asarray(X), Y.tolist(), xp.asarray(weight)),
        (X, xp.asarray(Y), xp.asarray(weight)),
    ):
        found = clone(estimator).fit(rows, y, sample_weight=w)
        assert np.allclose(found.predict_proba(X), expected, rtol=1e-6, atol=1e-9)
        assert np.allclose(np.asarray(found.predict_proba(xp.asarray(X))), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.bool_])
def test_whole_numbers_and_truth_values_are_numbers(estimator, kind, xp):
    cells = np.clip(X * 10 + 20, 0, 200).astype(kind) if kind is not np.bool_ else X > 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = (clone(estimator).fit(a(cells), a(Y)) for a in (np.asarray, xp.asarray))
        expected, found = (
            here.predict_log_proba(cells),
            np.asarray(there.predict_log_proba(xp.asarray(cells))),
        )
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(estimator, xp):
    model = clone(estimator)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(xp.asarray(X), xp.asarray(GAPS))
    assert not [name for name in vars(model) if name.endswith("_")]
    before = model.fit(xp.asarray(X), xp.asarray(Y)).predict_proba(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(xp.asarray(np.where(np.isclose(X[:, :2], X[5, 1]), np.inf, X[:, :2])), xp.asarray(Y))
    assert (model.predict_proba(X) == before).all()


def test_codes_of_classes_may_be_narrow(monkeypatch):
    """Compiled code gives codes of 8 bits, which PyTorch takes for no places."""
    xp = array_api_strict  # whose functions can be replaced

    def narrow(library, labels):
        values, codes = label_codes(library, labels)
        return values, xp.astype(codes, xp.uint8)

    def choosy(values, places, *, axis):
        assert places.dtype in (xp.int32, xp.int64)
        assert values.dtype != xp.uint8
        return take(values, places, axis=axis)

    take = xp.take
    weight = np.where(np.arange(N) % 5, 1.0, 0.0)
    expected = GaussianNB().fit(X, Y, sample_weight=weight)
    monkeypatch.setattr(device, "label_codes", narrow)
    monkeypatch.setattr(xp, "take", choosy)
    rows, y = xp.asarray(X), xp.asarray(Y)
    model = GaussianNB().fit(rows, y, sample_weight=xp.asarray(weight))
    assert np.allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-10)
    assert model.score(rows, y) == expected.score(X, Y)
    assert LogisticRegression(class_weight="balanced").fit(rows, y).score(rows, y) > 0.5
    assert GaussianNB().partial_fit(rows, y, classes=[0, 1, 2, 5]).classes_.tolist() == [0, 1, 2, 5]


def test_parts_of_either_library_add_up(xp):
    C = np.random.default_rng(2).integers(0, 3, (N, 2))
    C[-1, 1] = 7  # a category that the first part has not
    first, last = slice(0, 30), slice(30, N)
    expected = CategoricalNB().partial_fit(C[first], Y[first]).partial_fit(C[last], Y[last])
    for one, other in ((xp.asarray, np.asarray), (np.asarray, xp.asarray), (xp.asarray, xp.asarray)):
        found = CategoricalNB().partial_fit(one(C[first]), one(Y[first]))
        found.partial_fit(other(C[last]), other(Y[last]))
        assert np.allclose(found.predict_log_proba(C), expected.predict_log_proba(C), rtol=1e-10)


def test_later_parts_keep_the_kinds_of_the_first(xp):
    cells = np.column_stack([X[:, 0] > 0.7, X[:, 1] > 0.7]).astype(np.int64)
    parts = [(cells, Y), (np.where(cells, 1, 0), Y)]
    model = NaiveBayes(tied=False, weights=1.0, kinds={"x0": "binary"})
    here, there = clone(model), clone(model)
    for rows, y in parts:
        here.partial_fit(rows, y)
        there.partial_fit(xp.asarray(rows), xp.asarray(y))
    assert here.schema_.kinds == there.schema_.kinds
    assert np.allclose(there.predict_log_proba(cells), here.predict_log_proba(cells), rtol=1e-10)


@pytest.mark.filterwarnings("ignore::posterior.notices.CalibrationWarning")
def test_what_works_on_the_host_takes_arrays_that_are_there(xp):
    for rule in (DecisionClassifier(GaussianNB(), cv=3), OutlierRule(GaussianNB(), alpha=0.2)):
        here, there = (clone(rule).fit(a(X), a(Y)) for a in (np.asarray, xp.asarray))
        assert (np.asarray(there.predict(xp.asarray(X))) == here.predict(X)).all()


class Elsewhere:
    """A table that NumPy cannot read, as one on a GPU."""

    __cuda_array_interface__ = None
    shape, ndim = X.shape, X.ndim

    def __len__(self):
        return N

    def __array__(self, *_args, **_kwargs):
        raise TypeError("implicit conversion")


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionClassifier(Theirs()),
        CalibratedClassifier(Theirs()),
        FusionClassifier([("a", GaussianNB(), [0, 1])]),
    ],
    ids=lambda e: type(e).__name__,
)
def test_what_works_on_the_host_says_how_to_get_there(estimator):
    with pytest.raises(TypeError, match=r"move it to the host: X\.get\(\)"):
        clone(estimator).fit(Elsewhere(), Y)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # of PyTorch, about its own
def test_sparse_tensors_are_refused_by_name():
    torch = pytest.importorskip("torch")
    X, y = table()
    for sparse in (torch.asarray(X).to_sparse(), torch.asarray(X).to_sparse_csr()):
        with pytest.raises(TypeError, match=r"a sparse tensor \(torch.sparse_.*to_dense"):
            GaussianNB().fit(sparse, y)


@pytest.mark.parametrize("model", [LDA(), QDA()])
def test_gaps_in_training_are_named_where_they_cannot_be_filled_in(model, xp):
    X, y = table()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="columns with gaps: 'x1': fill the gaps"):
        model.fit(xp.asarray(X), xp.asarray(y))
    model = clone(model).fit(*table())
    for method in ("predict", "transform") if hasattr(model, "transform") else ("predict",):
        with pytest.raises(ValueError, match="columns with gaps: 'x1': fill the gaps"):
            getattr(model, method)(xp.asarray(X))
