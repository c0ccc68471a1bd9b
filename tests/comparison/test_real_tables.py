"""Comparisons of real tables: penguins, votes with gaps, and texts."""

import warnings

import pyarrow.csv
import pytest

from places import DATA
from posterior.comparison import Comparison
from posterior.datasets import load_penguins

pytestmark = pytest.mark.long


def at_hand(name):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not at hand")
    return DATA / name


def quietly(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Comparison.of(X, y, **settings)


def test_penguins_are_told_apart_by_a_gaussian_block_or_a_logistic_regression():
    penguins = load_penguins("pyarrow")
    comparison = quietly(penguins.X, penguins.y)
    assert comparison.recommended.name in {"block", "logistic"}
    assert comparison.recommended.accuracy >= 0.98
    assert comparison.recommendation.startswith(f"Use {comparison.recommended.name} (")
    assert len(comparison.results) == 14


def test_gaps_in_votes_are_gaps():
    options = pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    table = pyarrow.csv.read_csv(at_hand("house_votes_84.csv"), convert_options=options)
    comparison = quietly(table, "party", repeats=1)
    assert all(column.levels == ("n", "y") for column in comparison.schema.columns)
    assert comparison.recommended.name in {"logistic", "additive"}
    assert comparison.recommended.accuracy >= 0.95


def test_spam_is_found_in_texts_and_little_ham_is_lost():
    table = pyarrow.csv.read_csv(
        at_hand("sms_spam.tsv"),
        read_options=pyarrow.csv.ReadOptions(column_names=["label", "text"]),
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
    )
    comparison = quietly(table, "label", folds=10)
    found = comparison.recommended
    assert found.name == "weighted-naive-bayes"
    assert found.accuracy >= 0.985
    assert (comparison.positive, comparison.false_alarms) == ("spam", 0.005)
    assert found.recall_at >= 0.9
