"""Rows anywhere give the model that they give in memory."""

import warnings

import numpy as np
import pytest

from engine_cases import ENGINES, NEED_SPARK, TARGET, WEIGHT, mixed_table
from posterior import (
    LDA,
    QDA,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    LogisticRegression,
    NaiveBayes,
    SoftmaxRegression,
    scan,
)

NUMBERS = ["a.b", "far", "single", "whole", "price"]
ALL = [*NUMBERS, "gappy", "flag", "state"]
CLOSE = 1e-8

MODELS = {
    "GaussianNB": (GaussianNB, NUMBERS),
    "mixed naive Bayes": (NaiveBayes, ALL),
    "naive Bayes of textbooks": (lambda: NaiveBayes(tied=False, weights=1.0), ALL),
    "LDA": (LDA, NUMBERS),
    "QDA": (QDA, NUMBERS),
    "RDA, gaps by EM": (lambda: GaussianDiscriminantAnalysis(tied=0.5, shrinkage=0.1), [*NUMBERS, "gappy"]),
    "logistic": (lambda: LogisticRegression(tol=1e-12, missing="indicator"), ALL),
    "softmax": (lambda: SoftmaxRegression(tol=1e-12), NUMBERS),
}

engines = pytest.mark.parametrize(
    "engine",
    [pytest.param(name, marks=[pytest.mark.spark] if name in NEED_SPARK else []) for name in ENGINES],
)


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def opened(table, tmp_path_factory, request):
    """What `scan` takes to read the table with an engine, made once."""
    known = {}

    def of(engine):
        if engine not in known:
            known[engine] = ENGINES[engine](table, tmp_path_factory.mktemp("rows"), request)
        return known[engine]

    return of


def in_memory(model, table, columns):
    frame = table.to_pandas()
    frame["price"] = frame["price"].astype(float)
    return model.fit(frame[columns], frame[TARGET], frame[WEIGHT]), frame[columns]


@engines
@pytest.mark.parametrize("name", MODELS)
def test_rows_elsewhere_give_the_model_of_rows_in_memory(engine, name, table, opened):
    make, columns = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, X = in_memory(make(), table, columns)
        source = opened(engine)
        found = make().fit(scan(**source, target=TARGET, weight=WEIGHT, columns=columns))
        logs, wanted = found.predict_log_proba(X), expected.predict_log_proba(X)
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert np.abs((logs - wanted) / (1 + np.abs(wanted))).max() < CLOSE
