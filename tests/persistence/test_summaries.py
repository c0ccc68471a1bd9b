"""Model files without the rows of training: what is not in them, how large they are, what they lose."""

import struct

import numpy as np
import pandas as pd
import pytest

import model_file_cases as cases
from posterior import LDA, DecisionClassifier, LogisticRegression, NaiveBayes, OutlierRule
from posterior.estimators.held_out import HeldOutRows
from posterior.estimators.outlier_calibration import CalibrationScores
from posterior.persistence.errors import ModelFileError

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")


def summary(model):
    return cases.to_bytes(model, "summary")


def two_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, "yes", "no")
    return rng.normal(size=(n, 3)) + 1.5 * (y == "yes")[:, None], y


PLANTED = 31337.424242


@pytest.mark.parametrize(
    "model",
    [
        DecisionClassifier(LogisticRegression(), cv=5, calibration="temperature", reject={"coverage": 0.9}),
        DecisionClassifier(NaiveBayes(), cv=5, outliers=0.05),
        DecisionClassifier(LDA(), cv=5, outliers=0.05, calibration="vector"),
        OutlierRule(NaiveBayes()),
        NaiveBayes(),
        LDA(),
    ],
    ids=lambda model: f"{type(model).__name__} {type(getattr(model, 'estimator', model)).__name__}",
)
def test_no_cell_posterior_score_or_order_of_labels_of_a_row_is_in_the_file(model):
    X, y = two_classes(300)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[0, "a"] = PLANTED  # the first row, of which kernels take their pivots
    frame["who"] = [f"person-{i}" for i in range(300)]
    columns = [c for c in frame if c != "who"]
    model.fit(frame[columns], y)
    data = summary(model)
    learnt = getattr(model, "learnt_", None)
    rows = [] if learnt is None or learnt.held_out is None else [learnt.held_out.log_posterior.ravel()]
    rule = getattr(learnt, "outliers", None) or (model if isinstance(model, OutlierRule) else None)
    if rule is not None:
        rows += [rule._calibration.score, rule._calibration.log_density.ravel()]
    secret = {PLANTED, *X.ravel()[:60].tolist(), *(v for part in rows for v in part.tolist())}
    found = {
        value for value in secret - {0.0} if struct.pack("<d", value) in data or repr(value).encode() in data
    }
    assert not found
    codes = (y == "yes").astype(np.int64)
    assert codes[:20].tobytes() not in data
    assert codes.astype(np.int8)[:40].tobytes() not in data
    assert b"person-" not in data


def test_the_file_of_a_decision_does_not_grow_with_the_rows():
    X, y = two_classes(200_000)
    model = DecisionClassifier(LogisticRegression(), cv=2, reject={"coverage": 0.9}).fit(X, y)
    assert len(summary(model)) < 200_000
    assert len(cases.to_bytes(model, "rows")) > 4_000_000


def test_what_is_in_force_is_the_same_to_the_bit_and_what_is_changed_is_near():
    X, y = two_classes(3000)
    model = DecisionClassifier(
        LogisticRegression(), cv=5, calibration="vector", reject={"coverage": 0.8}
    ).fit(X, y)
    loaded = cases.from_bytes(summary(model))
    assert np.array_equal(model.predict(X), loaded.predict(X))
    assert np.array_equal(model.predict_log_proba(X), loaded.predict_log_proba(X))
    for each in (model, loaded):
        each.set_decision(calibration="temperature", reject={"coverage": 0.6})
    assert np.allclose(model.predict_proba(X), loaded.predict_proba(X), atol=2e-3)
    rejected = [np.mean(each.predict(X) == "reject") for each in (model, loaded)]
    assert rejected[0] == pytest.approx(rejected[1], abs=5e-3)


@pytest.mark.parametrize("n", [40, 400, 20_000])
def test_p_values_are_never_smaller_and_hardly_larger(n):
    X, y = two_classes(n)
    rule = OutlierRule(NaiveBayes()).fit(X, y)
    loaded = cases.from_bytes(summary(rule))
    rows = np.concatenate([X, X * 3])
    exact, found = rule.p_values(rows), loaded.p_values(rows)
    assert (found >= exact).all()
    total = rule._calibration.total + 1
    assert (found - exact <= np.maximum(4 / total, exact / 15) + 1e-12).all()
    other = {"no": 0.5, "yes": 0.5}
    exact, found = rule.p_values(rows, other), loaded.p_values(rows, other)
    assert np.abs(found - exact).max() < 0.1 + 20 / total
    assert np.abs(found - exact)[exact < 0.1].max(initial=0) < 0.01 + 20 / total


def test_what_is_summarised_stays_so():
    X, y = two_classes(500)
    rows = HeldOutRows(np.log(np.full((500, 2), 0.5)), (y == "yes").astype(np.int64), None).summarized()
    assert rows.summarized() is rows
    assert rows.weight.sum() == 500
    scores = CalibrationScores(X[:, 0]).summarized()
    assert scores.summarized() is scores
    assert scores.total == 500


def test_a_word_that_is_not_known_is_refused():
    X, y = two_classes(50)
    with pytest.raises(ModelFileError, match='keep must be "summary" or "rows"'):
        cases.to_bytes(LDA().fit(X, y), "everything")
