"""What docs/practice/peers.md says of other libraries and marks *ran*, run with the versions it names."""

import re
import warnings
from importlib import metadata

import numpy as np
import pytest

from places import REPOSITORY

PAGE = (REPOSITORY / "docs" / "practice" / "peers.md").read_text(encoding="utf-8")
VERSIONS = dict(re.findall(r"^\| \[([\w.-]+)\]\([^)]*\)[^|]*\| ([\w.-]+) \|", PAGE, re.MULTILINE))
rng = np.random.default_rng(0)
t = np.arange(60) % 2
X = rng.normal(t[:, None], 1.0, size=(60, 2))
GAPS = np.where(np.arange(120).reshape(60, 2) == 7, np.nan, X)
FAR = X[:2] + 1000.0


@pytest.fixture(autouse=True)
def quiet():
    """Warnings of theirs are what they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def needs(name):
    """Skip unless the version of the page is here: the cells are about no other."""
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if found != VERSIONS[name]:
        pytest.skip(f"the page is about {name} {VERSIONS[name]}, and {found} is here")


def scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), LogisticRegression()


def test_every_link_of_a_cell_is_defined_and_every_definition_is_used():
    used = set(re.findall(r"\]\[([\w-]+)\]", PAGE))
    assert used == set(re.findall(r"^\[([\w-]+)\]: https://", PAGE, re.MULTILINE))


def test_links_to_versioned_documentation_have_the_version_of_the_page():
    for name, found in (
        ("scikit-learn", r"scikit-learn\.org/([\d.]+)/"),
        ("statsmodels", r"statsmodels\.org/v([\d.]+)/"),
        ("river", r"riverml\.xyz/([\d.]+)/"),
        ("pyspark.ml", r"spark\.apache\.org/docs/([\d.]+)/"),
    ):
        assert all(VERSIONS[name].startswith(version) for version in re.findall(found, PAGE)), name


def test_scikit_learn_refuses_gaps_and_strings_in_these_models():
    needs("scikit-learn")
    for model in scikit_learn():
        with pytest.raises(ValueError, match="NaN"):
            model.fit(GAPS, t)
        with pytest.raises(ValueError, match="could not convert string"):
            model.fit(np.array([["a", 1.0], ["b", 2.0]] * 2, dtype=object), [0, 1, 0, 1])


def test_scikit_learn_has_exact_logs_in_naive_bayes_and_qda_alone():
    needs("scikit-learn")
    naive, lda, qda, logistic = (model.fit(X, t).predict_log_proba(FAR).min() for model in scikit_learn())
    assert -1e12 < naive < -1000
    assert -1e12 < qda < -1000
    assert lda == pytest.approx(-708.4, abs=0.1)
    assert logistic == -np.inf


def test_scikit_learn_learns_in_parts_and_on_devices_as_the_page_says():
    needs("scikit-learn")
    from sklearn.utils import get_tags

    models = scikit_learn()
    assert [hasattr(model, "partial_fit") for model in models] == [True, False, False, False]
    assert [get_tags(model).array_api_support for model in models] == [True, True, False, True]
    assert not any(
        hasattr(model, name) for model in models for name in ("__add__", "sample", "score_samples")
    )


def test_statsmodels_drops_rows_and_warns_of_separation_without_columns():
    needs("statsmodels")
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

    assert Logit(t, GAPS, missing="drop").fit(disp=0).nobs == 59
    with pytest.warns(PerfectSeparationWarning) as caught:
        Logit(t, np.column_stack([np.ones(60), t])).fit(disp=0, maxiter=50)
    assert all("x1" not in str(warning.message) for warning in caught)


def test_river_leaves_out_what_is_not_there_refuses_strings_and_adds_to_densities():
    needs("river")
    from river import naive_bayes

    model, other = naive_bayes.GaussianNB(), naive_bayes.GaussianNB()
    for row, label in zip(X, t, strict=True):
        model.learn_one({"a": row[0], "b": row[1]}, label)
        other.learn_one({"a": row[0]}, label)
    assert model.predict_proba_one({"a": 0.3}) == pytest.approx(other.predict_proba_one({"a": 0.3}))
    model.learn_one({"a": 0.1}, 0)  # a row of which b is not known
    with pytest.raises(TypeError):
        model.predict_proba_one({"a": "red"})
    assert model.predict_proba_one({"a": 1e6, "b": 1e6})[1] == pytest.approx(
        30 / 61
    )  # the densities are all 1e-9


def test_mixed_naive_bayes_refuses_strings_and_answers_gaps_and_far_rows_with_nan():
    needs("mixed-naive-bayes")
    from mixed_naive_bayes import MixedNB

    assert np.isnan(MixedNB().fit(X, t).predict_proba(GAPS)[3]).all()
    assert np.isnan(MixedNB().fit(GAPS, t).predict_proba(X)).any()
    assert np.isnan(MixedNB().fit(X, t).predict_proba(FAR)).all()
    with pytest.raises(TypeError, match="encode your data"):
        MixedNB(categorical_features=[0]).fit(np.array([["a", 1.0], ["b", 2.0]], dtype=object), [0, 1])
