"""Where warnings point: at the line of the user, whichever way the library was called."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import posterior
from posterior import (
    LDA,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    OutlierRule,
)
from posterior.decision import fit_temperature, fusion_weights
from posterior.notices import DataWarning, PosteriorWarning, SeparationWarning, UnseenCategoryWarning

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.repeat([0, 1], 20)
TWICE = np.c_[X, X[:, 0]]  # a column that is another
APART = np.r_[np.full((20, 1), -1.0), np.full((20, 1), 1.0)] + 0.1 * X[:, :1]
WORDS = [["a"], ["b"]] * 20
NEW = [["c"]]
IMPOSSIBLE = np.array([[0.0, -np.inf], [0.0, -np.inf], [np.log(0.5)] * 2])


def unseen(estimator):
    return lambda method: lambda: getattr(estimator.fit(WORDS, Y), method)(NEW)


ENTRIES = {
    "fit, linear": (lambda: LogisticRegression(C=np.inf).fit(APART, Y), SeparationWarning),
    "fit, twice the same column": (lambda: LinearRegression().fit(TWICE, X[:, 0]), DataWarning),
    "fit, a pipeline": (
        lambda: make_pipeline(StandardScaler(), LogisticRegression(C=np.inf)).fit(APART, Y),
        SeparationWarning,
    ),
    "fit, cross-validated": (
        lambda: cross_val_predict(LogisticRegression(C=np.inf), APART, Y, cv=2),
        SeparationWarning,
    ),
    "fit, inside another": (
        lambda: DecisionClassifier(LogisticRegression(C=np.inf), cv=None).fit(APART, Y),
        SeparationWarning,
    ),
    "fit, a member": (
        lambda: FusionClassifier([("a", LogisticRegression(C=np.inf), [0])]).fit(APART, Y),
        SeparationWarning,
    ),
    "fit, priors": (lambda: LDA(priors=[1, 3]).fit(X, Y), UserWarning),
    "fit, alpha": (lambda: CategoricalNB(alpha=0, force_alpha=False).fit(WORDS, Y), UserWarning),
    "fit, too few rows to call one odd": (lambda: OutlierRule(LDA(), alpha=1e-6).fit(X, Y), DataWarning),
    "predict": (unseen(NaiveBayes())("predict"), UnseenCategoryWarning),
    "predict_proba": (unseen(NaiveBayes())("predict_proba"), UnseenCategoryWarning),
    "predict_log_proba": (unseen(NaiveBayes())("predict_log_proba"), UnseenCategoryWarning),
    "predict, linear": (unseen(LogisticRegression())("predict"), UnseenCategoryWarning),
    "predict_proba, linear": (unseen(LogisticRegression())("predict_proba"), UnseenCategoryWarning),
    "decision_function, linear": (unseen(LogisticRegression())("decision_function"), UnseenCategoryWarning),
    "predict, calibrated": (
        lambda: CalibratedClassifier(NaiveBayes(), cv=2).fit(WORDS, Y).predict(NEW),
        UnseenCategoryWarning,
    ),
    "predict, a pipeline": (
        lambda: make_pipeline(NaiveBayes()).fit(WORDS, Y).predict(NEW),
        UnseenCategoryWarning,
    ),
    "score": (lambda: NaiveBayes().fit(WORDS, Y).score(NEW, [0]), UnseenCategoryWarning),
    "function of log posteriors": (lambda: fit_temperature(IMPOSSIBLE, [1, 0, 1]), DataWarning),
    "function of several models": (
        lambda: fusion_weights([IMPOSSIBLE, np.full((3, 2), np.log(0.5))], [1, 0, 1], np.log([0.5, 0.5])),
        DataWarning,
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_warning_points_at_the_line_that_called(entry):
    call, category = ENTRIES[entry]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    ours = [w for w in told if issubclass(w.category, PosteriorWarning) or w.category is category]
    assert any(w.category is category for w in ours)
    assert {w.filename for w in ours} == {__file__}


def test_a_warning_is_shown_once_for_each_line_and_can_be_filtered_by_module():
    model = NaiveBayes().fit(WORDS, Y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            model.predict(NEW)
    assert len(told) == 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        model.predict(NEW)
    assert not told


def test_no_module_counts_frames():
    for path in Path(posterior.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "stacklevel" not in text, path
        assert "warnings.warn(" not in text or path.name in {"notices.py", "experiments.py"}, path
