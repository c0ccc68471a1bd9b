"""Logistic and softmax regression of arrays of another library: passes there, the small systems here."""

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

from posterior import LogisticRegression, load, save
from posterior.engines.device.arrays import bytes_to_host
from posterior.engines.device.cuda import linear as cuda_linear
from posterior.notices import DataWarning
from posterior.plot import CoefficientDisplay

N, D = 600, 4
CASES = {
    "ridge": LogisticRegression(),
    "weak ridge, no intercept": LogisticRegression(C=50.0, fit_intercept=False),
    "weights of classes": LogisticRegression(class_weight="balanced"),
    "columns brought to one scale": LogisticRegression(C=0.1, standardize=True),
    "columns brought to one scale, weights": LogisticRegression(standardize=True, class_weight="balanced"),
}


def table(K, n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    return rng.normal(size=(n, D)) + rng.normal(size=(K, D))[y] + 5.0, y


def apart(found, expected):
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    return float(np.max(np.abs(found - expected) / (1 + np.abs(expected))))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_every_answer_is_that_of_numpy(name, K, xp):
    X, y = table(K)
    weight = np.random.default_rng(1).uniform(0.5, 2, N)
    here = clone(CASES[name]).fit(X, y, sample_weight=weight)
    there = clone(CASES[name]).fit(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(weight))
    assert there.converged_
    assert np.allclose(there.coef_, here.coef_, rtol=1e-8, atol=1e-10)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        found, expected = getattr(there, method)(xp.asarray(X)), getattr(here, method)(X)
        assert type(found) is type(xp.asarray(X))
        assert found.shape == expected.shape
        assert apart(found, expected) < 1e-8
        assert apart(getattr(there, method)(X), expected) < 1e-8
    assert there.score(xp.asarray(X), xp.asarray(y)) == here.score(X, y)
    assert there.n_parameters_ == pytest.approx(here.n_parameters_, rel=1e-8)
    if here.class_weight is None:
        assert there.aic_ == pytest.approx(here.aic_, rel=1e-8)


def test_coefficients_are_arrays_of_the_library_where_scikit_learn_dispatches(xp, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    X, y = table(3)
    expected = LogisticRegression().fit(xp.asarray(X), xp.asarray(y))
    assert isinstance(expected.coef_, np.ndarray)
    with config_context(array_api_dispatch=True):
        model = LogisticRegression().fit(xp.asarray(X), xp.asarray(y))
    for name in ("coef_", "intercept_", "n_iter_", "priors_"):
        assert type(getattr(model, name)) is type(xp.asarray(X))
    save(model, tmp_path / "model.posterior")
    pickled, saved = pickle.loads(pickle.dumps(model)), load(tmp_path / "model.posterior")
    for copied in (pickled, saved, model):
        assert (copied.predict_log_proba(X) == expected.predict_log_proba(X)).all()
        found, wanted = (m.linear_form(priors="uniform").pair(0, 1) for m in (copied, expected))
        assert (found[0] == wanted[0]).all()
    assert isinstance(pickled.coef_, np.ndarray)
    assert isinstance(saved.coef_, np.ndarray)
    model.coef_ = xp.zeros_like(model.coef_)
    assert np.ptp(model.predict_proba(X), axis=0).max() == 0
    assert (model.sparsify().predict_proba(X) == model.densify().predict_proba(X)).all()


def test_a_picture_of_coefficients_asks_for_the_table(xp):
    X, y = table(2)
    model = LogisticRegression().fit(xp.asarray(X), xp.asarray(y))
    with pytest.raises(ValueError, match="pass X, the table"):
        CoefficientDisplay.from_estimator(model)
    CoefficientDisplay.from_estimator(model, X)


def test_a_strength_that_is_auto_is_chosen_by_rows_on_the_host(xp):
    X, y = table(2)
    here, there = (LogisticRegression(C="auto").fit(m(X), m(y)) for m in (np.asarray, xp.asarray))
    assert there.best_params_ == pytest.approx(here.best_params_)


def test_columns_of_any_numbers_are_brought_to_one_scale(xp):
    X, y = table(2)
    cells = np.column_stack([X[:, 0] * 1e6, X[:, 1].round(), np.full(N, 0.1), X[:, 2] + 1e6])
    settings = {"C": 0.01, "standardize": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a column is constant
        for dtype in (np.float64, np.float32, np.int64):
            rows = cells.astype(dtype)
            here = LogisticRegression(**settings).fit(rows, y)
            there = LogisticRegression(**settings).fit(xp.asarray(rows), xp.asarray(y))
            close = 1e-8 if dtype != np.float32 else 1e-6
            assert apart(there.predict_log_proba(xp.asarray(rows)), here.predict_log_proba(rows)) < close
    auto = [LogisticRegression(C="auto", standardize=True).fit(m(X), m(y)) for m in (np.asarray, xp.asarray)]
    assert pytest.approx(auto[0].C_) == auto[1].C_


def test_the_table_stays_where_it_is(xp):
    X, y = table(3, 30_000)
    with bytes_to_host() as moved:
        LogisticRegression().fit(xp.asarray(X), xp.asarray(y)).predict_proba(xp.asarray(X))
    assert moved["bytes"] < X.nbytes / 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "lbfgs"}, "Newton's method"),
        ({"C": 1.0, "l1_ratio": 1.0}, "Newton's method with a ridge"),
        ({"penalty": "firth"}, "Firth's penalty"),
        ({"degree": 2}, "degree=2"),
        ({"missing": "indicator"}, "are read as the numbers that they are"),
        ({"C": np.inf}, r"C=inf \(no penalty\) is not available for arrays on a device: set C"),
        ({"penalty": None}, r"C=inf \(no penalty\)"),
    ],
)
def test_what_cannot_be_done_is_said(settings, message, xp):
    X, y = table(2)
    with pytest.raises(ValueError, match=message):
        LogisticRegression(**settings).fit(xp.asarray(X), xp.asarray(y))


def test_what_needs_rows_one_by_one_says_how_to_have_it(xp):
    X, y = table(2)
    model = LogisticRegression().fit(xp.asarray(X), xp.asarray(y))
    with pytest.raises(ValueError, match=r"summary\(\) .*to fit on the host, move"):
        model.summary()
    with pytest.raises(ValueError, match="from rows one by one, on the host; move the table"):
        model.leave_one_out_log_proba(xp.asarray(X), xp.asarray(y))


def test_gaps_and_infinity_are_named(xp):
    X, y = table(2)
    model = LogisticRegression().fit(X, y)
    for value, message in (
        (np.nan, "Input X contains NaN: column 'x1'"),
        (np.inf, "column 'x1' contains infinity"),
    ):
        X[5, 1] = value
        with pytest.raises(ValueError, match=message):
            LogisticRegression().fit(xp.asarray(X), xp.asarray(y))
        with pytest.raises(ValueError, match=message):
            model.predict_proba(xp.asarray(X))


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "d", "exact"),
    [(10**6, 2, 60, False), (10**6, 2, 61, True), (10**6, 33, 4, True), (1000, 2, 4, True)],
)
def test_only_slopes_of_a_kernel_in_single_precision_are_less_exact(n_rows, n_classes, d, exact, monkeypatch):
    monkeypatch.setattr(cuda_linear, "gpu", lambda _: "a GPU")
    rows = SimpleNamespace(single=True, library=None, n_rows=n_rows)
    found = cuda_linear.slope_rounding(rows, n_classes, d)
    assert (found == np.finfo(np.float64).eps) == exact
