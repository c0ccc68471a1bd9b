"""Tables in which one class has nearly all rows: what is said of accuracy, recall and precision."""

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

from posterior.comparison import Comparison
from posterior.comparison.imbalance import LOPSIDED, RareRows

CLASSES = np.array(["fair", "fraud"])


@pytest.mark.parametrize("seed", range(20))
def test_recall_and_precision_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    codes, predicted = (rng.random((2, 500)) < 0.06).astype(int)
    found = RareRows.of(codes, predicted, CLASSES)
    assert found.recall == recall_score(codes, predicted)
    assert found.precision == precision_score(codes, predicted)
    assert found.share_of_common == pytest.approx((codes == 0).mean())


@pytest.mark.parametrize(("n_rare", "told"), [(11, False), (10, True), (1, True), (0, False)])
def test_only_a_class_with_nearly_all_rows_and_not_all_is_told(n_rare, told):
    codes = np.array([0] * (100 - n_rare) + [1] * n_rare)
    assert LOPSIDED == 0.9
    assert (RareRows.of(codes, codes, CLASSES) is not None) == told


def test_of_several_rare_classes_a_row_is_found_by_its_own():
    codes, predicted = np.array([0] * 97 + [1, 2, 2]), np.array([0] * 96 + [2] + [2, 2, 0])
    found = RareRows.of(codes, predicted, np.array(["a", "b", "c"]))
    assert (found.rare, found.n_rare, found.found, found.called) == ("", 3, 1, 3)
    assert found.told("LDA") == (
        "Of 3 rows of other classes LDA finds 1 (recall 33.3 %); of 3 that it does not call a 1 is "
        "(precision 33.3 %)."
    )


@pytest.fixture(scope="module")
def rare():
    """One row in two thousand is of a class that a column tells a little of."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(6000) % 2000 == 7, "fraud", "fair")
    return Comparison.of(rng.normal(size=(6000, 2)) + (y == "fraud")[:, None], y, models=["majority", "lda"])


def test_what_is_printed_has_no_headline_of_accuracy(rare):
    said = str(rare)
    assert "99.95 % of the rows are fair: always answering fair is right as often" in said
    assert "Of 3 fraud rows" in said
    assert "recall" in said
    accuracies = [line.split()[5] for line in said.splitlines() if line.startswith(("lda", "majority"))]
    assert accuracies
    assert "1.000" not in accuracies


def test_nothing_is_said_of_balanced_classes():
    rng = np.random.default_rng(0)
    found = Comparison.of(rng.normal(size=(60, 2)), np.arange(60) % 2, models=["majority", "lda"], repeats=1)
    assert found.imbalance == ""
