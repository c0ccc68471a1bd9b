"""scikit-learn's own tests pass with our classes in the place of theirs; the few that do not say why."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
SOURCE = Path(__file__).parents[2] / "src"


# Tests of scikit-learn that ask for something else than we do, and why (see docs/scikit-learn.md).
NO_LIMITS = "every solver takes everything"
ANSWERS = "answers by a stated rule and says what was done, instead of raising"
PRIVATE = "calls a private function"
GROWS = "classes may be new in any part"
DEPARTURES = {
    "sklearn.tests.test_naive_bayes": {
        "test_gnb_check_update_with_no_data": PRIVATE,
        "test_check_alpha": PRIVATE,
        "test_alpha_vector": PRIVATE,
        "test_NB_partial_fit_no_first_classes": GROWS,
        "test_discretenb_provide_prior": GROWS,
        "test_categoricalnb": "negative numbers are categories too",
    },
    "sklearn.tests.test_discriminant_analysis": {
        "test_lda_predict": NO_LIMITS,
        "test_lda_transform": NO_LIMITS,
        "test_lda_store_covariance": "covariance_ is always there",
        "test_qda_store_covariance": "covariance_ is always there",
        "test_qda_covariance_estimator": NO_LIMITS,
        "test_qda": ANSWERS,
        "test_qda_regularization": ANSWERS,
        "test_raises_value_error_on_same_number_of_classes_and_samples": ANSWERS,
        "test_raises_value_error_on_one_sample_per_class": ANSWERS,
    },
    "sklearn.linear_model.tests.test_logistic": {
        "test_liblinear_multiclass_raises": NO_LIMITS,
        "test_logistic_regression_callback_support": "no empty task at the end, and no fit without a step",
        "test_logistic_regression_callback_support_warning": "callbacks watch every solver",
    },
}
# The file on logistic regression tests much more than one class, precision, weights and callbacks.
CHOSEN = {"sklearn.linear_model.tests.test_logistic": "(dtype or class or weight or callback) and not cv"}


def outcomes(tests, tmp_path, chosen=""):
    """What became of scikit-learn's tests of a module, run by themselves."""
    tmp_path.mkdir(exist_ok=True)
    written = tmp_path / "outcomes"
    paths = [str(SUPPORT), str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "OUTCOMES": str(written), "PYTHONPATH": os.pathsep.join(paths)}
    options = ["-q", "-p", "swapped_in", "-p", "no:cacheprovider", "-c", os.devnull, "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), "-k", chosen]
    ran = subprocess.run(  # noqa: S603
        [*command, "--pyargs", tests],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode in (0, 1), ran.stdout[-2000:] + ran.stderr[-2000:]
    return [json.loads(line) for line in written.read_text().splitlines()]


def failed(found):
    return {line["test"].partition("[")[0] for line in found if line["outcome"] == "failed"}


@pytest.mark.long
def test_all_tests_of_callbacks_pass(tmp_path):
    found = outcomes("sklearn.callback.tests", tmp_path)
    assert sum(line["outcome"] == "passed" for line in found) > 140
    assert failed(found) == set(), found


@pytest.mark.long
@pytest.mark.parametrize("tests", DEPARTURES)
def test_the_tests_that_fail_are_those_of_departures_that_are_stated(tests, tmp_path):
    found = outcomes(tests, tmp_path, CHOSEN.get(tests, ""))
    assert sum(line["outcome"] == "passed" for line in found) >= 40
    assert failed(found) == set(DEPARTURES[tests]), found


@pytest.mark.long
def test_cases_of_one_class_and_of_single_precision_pass(tmp_path):
    for tests in DEPARTURES:
        found = outcomes(tests, tmp_path / tests, "one_class or dtype or float32 or sample_weight")
        assert failed(found) == set(), found
