"""Arrays of another library: fitted and scored where they are, with the answers of NumPy."""

import warnings

import array_api_strict
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils.estimator_checks import check_array_api_input

from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    SoftmaxRegression,
)
from posterior.engines.device import source
from posterior.engines.device.arrays import bytes_to_host
from posterior.families import (
    Categorical,
    Gamma,
    LogNormal,
    MultivariateNormal,
    Normal,
    Poisson,
    StudentT,
)
from posterior.notices import DataWarning, UnseenCategoryWarning

N, D, K = 400, 5, 3
PROCESSOR = {"array_api_strict": "CPU_DEVICE", "torch": "cpu"}
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "score_samples",
    "class_log_density",
    "decision_function",
)


def table(kind="numbers", seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, N)
    X = 2 * rng.normal(size=(N, D)) + rng.normal(size=(K, D))[y] + 3.0
    if kind == "gaps":
        X[rng.random(X.shape) < 0.15] = np.nan
    if kind == "counts":
        X = np.abs(X).round()
    if kind == "offset":
        X += 1e8
    return X, y * 10


CASES = {
    "naive Bayes": (GaussianNB(), "numbers"),
    "naive Bayes, far from zero": (GaussianNB(), "offset"),
    "naive Bayes with gaps": (GaussianNB(), "gaps"),
    "naive Bayes with weights of columns": (NaiveBayes(weights={"x1": 0.5, "x2": 0.0, "x4": 0.2}), "gaps"),
    "naive Bayes that learns weights": (NaiveBayes(), "gaps"),
    "naive Bayes, tied": (NaiveBayes(tied=True, weights=1.0), "numbers"),
    "LDA": (LDA(), "numbers"),
    "LDA, far from zero": (LDA(), "offset"),
    "LDA by Ledoit and Wolf": (LDA(shrinkage="auto"), "numbers"),
    "QDA": (QDA(), "numbers"),
    "QDA with a ridge": (QDA(reg_param=0.1), "numbers"),
    "RDA": (GaussianDiscriminantAnalysis(tied=0.5, shrinkage="oas"), "numbers"),
    "RDA, chosen": (GaussianDiscriminantAnalysis(tied="auto", cv=3), "numbers"),
    "Bernoulli": (BernoulliNB(binarize=3.0), "gaps"),
    "Bernoulli without smoothing": (BernoulliNB(alpha=0, binarize=2.0), "counts"),
    "multinomial": (MultinomialNB(), "counts"),
    "multinomial without smoothing": (MultinomialNB(alpha=0), "counts"),
    "categories": (CategoricalNB(), "counts"),
    "few values": (NaiveBayes(few_values=True, tied=False, weights=1.0), "counts"),
    "blocks": (
        GenerativeClassifier([([0, 1], MultivariateNormal()), (2, Categorical()), ([3, 4], Normal())]),
        "counts",
    ),
}


def fitted(xp, name, dtype=np.float64):
    estimator, kind = CASES[name]
    X, y = table(kind)
    X = X.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns and parameters, the same for both
        there = clone(estimator).fit(xp.asarray(X), xp.asarray(y))
        return X, y, clone(estimator).fit(X, y), there


def apart(found, expected):
    """The largest difference, relative to 1 + the value."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    same = found == expected
    return float(np.where(same, 0.0, np.abs(found - expected) / (1 + np.abs(expected))).max())


@pytest.mark.parametrize("name", CASES)
def test_every_answer_is_that_of_numpy(name, xp):
    X, _, here, there = fitted(xp, name)
    for method in METHODS:
        if not hasattr(here, method):
            continue
        found = getattr(there, method)(xp.asarray(X))
        assert type(found) is type(xp.asarray(X)), method
        expected = getattr(here, method)(X)
        assert found.shape == expected.shape
        assert np.asarray(found).dtype == expected.dtype
        assert apart(found, expected) < (1e-8 if "far" not in name else 1e-7), method


@pytest.mark.parametrize("name", ["naive Bayes", "LDA", "QDA", "Bernoulli", "multinomial", "categories"])
def test_single_precision_comes_back_in_single_precision(name, xp):
    X, _, here, there = fitted(xp, name, np.float32)
    found = there.predict_log_proba(xp.asarray(X))
    assert found.dtype == xp.float32
    assert apart(found, here.predict_log_proba(X)) < 1e-6  # seen: 1e-7


@pytest.mark.parametrize(
    "name", ["naive Bayes with gaps", "LDA", "QDA", "Bernoulli", "multinomial", "categories"]
)
def test_models_of_both_kinds_of_arrays_are_interchangeable(name, xp):
    X, y, here, there = fitted(xp, name)
    assert apart(there.predict_log_proba(X), here.predict_log_proba(X)) < 1e-8
    assert apart(here.predict_log_proba(xp.asarray(X)), here.predict_log_proba(X)) < 1e-8
    both, twice = here + there, here + here
    assert apart(both.predict_log_proba(X), twice.predict_log_proba(X)) < 1e-8
    parts = clone(there)
    parts.partial_fit(xp.asarray(X[:150]), xp.asarray(y[:150]), classes=np.unique(y))
    parts.partial_fit(xp.asarray(X[150:]), xp.asarray(y[150:]))
    assert apart(parts.predict_log_proba(X), here.predict_log_proba(X)) < 1e-8


@pytest.mark.parametrize("threshold", [0.1, 0.7])
@pytest.mark.parametrize("then", [np.float32, np.float64])
def test_features_are_compared_in_the_precision_of_each_table(threshold, then, xp):
    cells = np.random.default_rng(0).choice([threshold, np.float32(threshold), 0.5], (200, 3))
    y = np.arange(200) % 2
    for first in (np.float32, np.float64):
        X, rows = cells.astype(first), cells.astype(then)
        here = BernoulliNB(binarize=threshold).fit(X, y)
        there = BernoulliNB(binarize=threshold).fit(xp.asarray(X), xp.asarray(y))
        np.testing.assert_array_equal(there.feature_count_, here.feature_count_)
        assert apart(there.predict_log_proba(xp.asarray(rows)), here.predict_log_proba(rows)) < 1e-6


@pytest.mark.parametrize("name", ["naive Bayes with gaps", "LDA", "QDA", "Bernoulli", "categories"])
def test_weights_and_priors(name, xp):
    warnings.simplefilter("ignore", UnseenCategoryWarning)  # of a category in a row of weight 0
    estimator, kind = CASES[name]
    X, y = table(kind)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(np.float64)
    here = clone(estimator).fit(X, y, sample_weight=weight)
    for given in (weight, xp.asarray(weight)):
        there = clone(estimator).fit(xp.asarray(X), xp.asarray(y), sample_weight=given)
        priors = {0: 0.2, 10: 0.5, 20: 0.3}
        found = there.predict_log_proba(xp.asarray(X), priors=priors)
        assert apart(found, here.predict_log_proba(X, priors=priors)) < 1e-8
    score = there.score(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(weight))
    assert score == pytest.approx(here.score(X, y, sample_weight=weight))


def test_classes_that_are_strings_come_back_as_an_array_of_numpy(xp):
    X, y = table()
    names = np.array(["a", "b", "c"])[y // 10]
    here = LDA().fit(X, names)
    there = LDA().fit(xp.asarray(X), names)
    assert there.predict(xp.asarray(X)).tolist() == here.predict(X).tolist()


def test_the_table_stays_where_it_is(xp):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50_000, 4)), rng.integers(0, 3, 50_000)
    for estimator in (GaussianNB(), LDA(), QDA(), BernoulliNB()):
        with bytes_to_host() as moved:
            estimator.fit(xp.asarray(X), xp.asarray(y)).predict_proba(xp.asarray(X))
        assert moved["bytes"] < X.nbytes / 10


def test_chunks_add_up(monkeypatch, xp):
    monkeypatch.setattr("posterior.engines.device.arrays.CHUNK_CELLS", 64)
    monkeypatch.setattr("posterior.engines.device.arrays.MIN_ROWS", 32)
    for name in (
        "naive Bayes with gaps",
        "LDA by Ledoit and Wolf",
        "QDA",
        "Bernoulli",
        "multinomial",
        "categories",
    ):
        X, _, here, there = fitted(xp, name)
        assert apart(there.predict_log_proba(xp.asarray(X)), here.predict_log_proba(X)) < 1e-8


@pytest.mark.parametrize(
    ("estimator", "X", "y", "message"),
    [
        (GaussianNB(), [[1.0], [np.inf]], [0, 1], "contains infinity"),
        (MultinomialNB(), [[1.0], [-1.0]], [0, 1], "Negative values"),
        (
            LDA(),
            [[1.0, np.nan], [0.0, 1.0], [2.0, 1.0], [1.0, 4.0]],
            [0, 1, 1, 0],
            "move the table to the host",
        ),
        (
            GenerativeClassifier([(0, Poisson())]),
            [[1.0], [2.0]],
            [0, 1],
            "Poisson is not fitted to arrays on a",
        ),
        (LDA(), [[1.0], [2.0]], [1, 1], "greater than one"),
        (GaussianNB(), [1.0, 2.0], [1, 0], "Expected 2D array"),
        (GaussianNB(), [[1.0], [2.0]], [1, 0, 1], "inconsistent numbers of samples"),
        (GaussianNB(), [[1.0], [2.0]], [1.0, np.nan], "contains NaN"),
        (GaussianNB(), [[1.0], [2.0]], [1.5, 2.5], "continuous"),
    ],
)
def test_what_cannot_be_done_is_said(estimator, X, y, message, xp):
    with pytest.raises(ValueError, match=message):
        estimator.fit(xp.asarray(np.array(X)), xp.asarray(np.array(y)))
    assert not hasattr(estimator, "model_")


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(kinds={0: "count", 1: "count"}),
        NaiveBayes(families={0: Gamma(), 1: Gamma()}),
        NaiveBayes(families={0: LogNormal(), 1: LogNormal()}),
        NaiveBayes(families={0: StudentT(), 1: StudentT()}),
        NaiveBayes(families="auto"),
    ],
    ids=["Poisson", "Gamma", "LogNormal", "StudentT", "BestOf"],
)
def test_models_of_other_families_are_refused_by_name_in_prediction(model, xp):
    X, y = table("counts")
    cells = X[:, :2] + (0.0 if model.kinds else 0.5)
    model.fit(cells, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("predict", "predict_log_proba", "score_samples", "predict_joint_log_proba"):
            with pytest.raises(ValueError, match=r"scores no arrays on a device.*move the table to the host"):
                getattr(model, method)(xp.asarray(cells))
        with pytest.raises(ValueError, match="scores no arrays on a device"):
            model.score(xp.asarray(cells), xp.asarray(y))


def test_gaps_of_blocks_that_are_described_together_are_refused_in_prediction(xp):
    X, y = table()
    model = QDA().fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="rows with gaps"):
        model.predict(xp.asarray(X))


def test_methods_that_read_rows_one_by_one_say_so():
    xp = array_api_strict  # which has a device that is not the processor
    X, y = table()
    model = LDA().fit(X, y)
    with pytest.raises(TypeError, match="move it to the host"):
        model.contributions(xp.asarray(X, device=xp.Device("device1")))


def test_what_training_has_not_seen_is_pointed_out(xp):
    X, y = table("counts")
    here = CategoricalNB().fit(X, y)
    X[0, 0] = 99.0
    with pytest.warns(UserWarning, match="1 rows with a category not seen in training") as there:
        found = here.predict_log_proba(xp.asarray(X))
    with pytest.warns(UserWarning, match="not seen in training") as expected:
        assert apart(found, here.predict_log_proba(X)) < 1e-8
    assert [str(w.message) for w in there] == [str(w.message) for w in expected]


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        LDA(),
        QDA(),
        GaussianDiscriminantAnalysis(),
        BernoulliNB(),
        MultinomialNB(),
        CategoricalNB(),
        LogisticRegression(),
        SoftmaxRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("weights", [False, True])
def test_check_of_scikit_learn(estimator, weights, monkeypatch, xp):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    warnings.simplefilter("ignore", DataWarning)  # two of its columns are combinations of others
    check_array_api_input(
        type(estimator).__name__,
        estimator,
        xp.__name__,
        device_name=PROCESSOR[xp.__name__],
        dtype_name="float64",
        check_values=True,
        check_sample_weight=weights,
    )


@pytest.mark.parametrize(
    "estimator", [LDA(), GaussianNB(), LogisticRegression()], ids=lambda e: type(e).__name__
)
def test_cross_validation_by_scikit_learn_has_the_answers_of_numpy(estimator, monkeypatch, xp):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    X, y = table()
    rows, labels = xp.asarray(X), xp.asarray(y)
    with config_context(array_api_dispatch=True):
        found = cross_val_predict(estimator, rows, labels, cv=3)
        assert type(found) is type(rows)
        assert (np.asarray(found) == cross_val_predict(estimator, X, y, cv=3)).all()
        for scoring in ("accuracy", "neg_log_loss", "f1_macro"):
            here, there = (
                cross_val_score(estimator, *r, cv=3, scoring=scoring) for r in ((X, y), (rows, labels))
            )
            assert there == pytest.approx(here, abs=1e-6)
        model = clone(estimator).fit(rows, labels)
        assert isinstance(model.classes_, np.ndarray)
        proba = model.predict_proba(rows)
        loss = log_loss(labels, proba, labels=xp.asarray(model.classes_))
        assert loss == pytest.approx(log_loss(y, clone(estimator).fit(X, y).predict_proba(X)))


def test_gaps_are_not_counted_as_distinct_values(xp, monkeypatch):
    monkeypatch.setattr(source, "MOST_LEVELS", 10)
    X, y = np.random.default_rng(4).integers(0, 3, (90, 2)).astype(float), np.arange(90) % 2
    X[::2, 0] = np.nan
    model = NaiveBayes(kinds={"x0": "categorical"}, tied=False)
    found = model.fit(xp.asarray(X), xp.asarray(y)).predict_log_proba(X)
    np.testing.assert_allclose(found, model.fit(X, y).predict_log_proba(X), atol=1e-10)
