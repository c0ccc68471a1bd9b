"""What a threshold means for columns of numbers, and for those that are none."""

import numpy as np
import pandas as pd
import pytest

from posterior import NaiveBayes
from posterior.families import Bernoulli
from posterior.notices import DataWarning

Y = [0, 0, 0, 1, 1, 1]
ANSWERS = ["yes", "no", "yes", "no", "no", None]


@pytest.mark.parametrize("threshold", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["str", "category"])
def test_two_strings_are_on_and_off_whatever_the_threshold_of_numbers_between_0_and_1(threshold, kind):
    X = pd.DataFrame({"answer": pd.Series(ANSWERS, dtype=kind)})
    with_threshold, without = (
        NaiveBayes(families={"answer": family}).fit(X, Y)
        for family in (Bernoulli(threshold=threshold), Bernoulli())
    )
    assert with_threshold.schema_.kinds == ("binary",)
    np.testing.assert_array_equal(with_threshold.predict_proba(X), without.predict_proba(X))
    names = [
        model.model_.distributions[0][1].parameters(["answer"], [("no", "yes")])[0].name
        for model in (with_threshold, without)
    ]
    assert names == ["p(yes)", "p(yes)"]


def test_strings_beside_a_threshold_that_does_not_tell_0_from_1_are_refused():
    X = pd.DataFrame({"answer": ANSWERS})
    with pytest.raises(ValueError, match="column 'answer' is categorical"):
        NaiveBayes(families={"answer": Bernoulli(threshold=3.0)}).fit(X, Y)


@pytest.mark.parametrize(
    ("numbers", "threshold"),
    [([1, 2, 1, 2, 2, 1], 1.5), ([1.0, 2.0, 1.0, 2.0, 2.0, 1.0], 1.0), ([0, 1, 0, 1, 1, 0], 0.5)],
)
def test_two_numbers_are_compared_with_the_threshold(numbers, threshold):
    X = pd.DataFrame({"flag": numbers})
    model = NaiveBayes(families={"flag": Bernoulli(threshold=threshold)}).fit(X, Y)
    ((_, distribution),) = model.model_.distributions
    assert distribution.probability.ravel().tolist() == [2 / 5, 3 / 5]


def test_numbers_that_are_all_above_the_threshold_are_all_on():
    X = pd.DataFrame({"flag": [1, 2, 1, 2, 2, 1]})
    with pytest.warns(DataWarning, match="'flag' is constant"):
        model = NaiveBayes(families={"flag": Bernoulli(threshold=0.5)}).fit(X, Y)
    assert (model.predict_proba(X) == 0.5).all()
