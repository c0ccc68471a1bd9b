"""Whole numbers that are 0 or 1 are read as numbers by naive Bayes, which says so and how to change it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from posterior import LDA, NaiveBayes
from posterior.families import Laplace
from posterior.notices import DataWarning

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=80)
FLAG, OTHER, DIE = (
    (RNG.random(80) < 0.3 + 0.4 * Y).astype(int),
    RNG.integers(2, size=80),
    RNG.integers(6, size=80),
)


def test_the_note_names_the_columns_and_the_remedy_works():
    table = pd.DataFrame({"flag": FLAG, "other": OTHER, "die": DIE})
    with pytest.warns(
        DataWarning, match=r"columns 'flag', 'other' hold 0 and 1 only.*kinds={'flag': 'binary'}"
    ):
        model = NaiveBayes().fit(table, Y)
    assert [note.columns for note in model.notes_ if note.problem == "suspicious"] == [("flag", "other")]
    declared = NaiveBayes(kinds={"flag": "binary", "other": "continuous"}).fit(
        table, Y
    )  # warnings are errors
    as_bool = NaiveBayes(kinds={"other": "continuous"}).fit(table.assign(flag=table["flag"] == 1), Y)
    np.testing.assert_allclose(
        declared.predict_proba(table), as_bool.predict_proba(table.assign(flag=table["flag"] == 1))
    )


@pytest.mark.parametrize(
    ("column", "model"),
    [
        (FLAG.astype(bool), NaiveBayes()),
        (FLAG.astype(float), NaiveBayes()),
        (FLAG + 1, NaiveBayes()),
        (DIE, NaiveBayes()),
        (FLAG, NaiveBayes(families={"continuous": Laplace()})),
        (FLAG, NaiveBayes(families={0: Laplace()})),
        (FLAG, LDA()),
    ],
)
def test_nothing_is_said_of_other_columns_and_other_families(column, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model.fit(np.asarray(column)[:, None], Y)
