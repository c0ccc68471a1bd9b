"""Hostile tables for every estimator and setting: numbers that make sense, or a refusal in our own words.

POSTERIOR_HOSTILE_TABLES is how many (a few minutes by default), POSTERIOR_HOSTILE_SEED where they begin. A
failure prints its case and the command that shows it again.
"""

import os

import pytest

import hostile_tables as hostile

pytestmark = pytest.mark.long

TABLES = int(os.environ.get("POSTERIOR_HOSTILE_TABLES", "8000"))
SEED = int(os.environ.get("POSTERIOR_HOSTILE_SEED", "0"))
PARTS = 20


@pytest.mark.parametrize("part", range(PARTS))
def test_a_hostile_table_is_answered_with_numbers_or_refused_in_so_many_words(part):
    size = -(-TABLES // PARTS)
    ends = hostile.outcomes(size, SEED + part * size)
    assert ends.total() == size
    if size >= 100:
        assert size // 5 < ends["answers"] < size, "the generator no longer shows both ends"


@pytest.mark.parametrize("estimator", sorted(hostile.ESTIMATORS))
def test_every_estimator_answers_some_of_the_tables(estimator):
    cases = (hostile.case_of(SEED + i) for i in range(40_000))
    own = (case for case in cases if case.estimator == estimator)
    assert any(hostile.outcome(case) == "answers" for case in own)
