"""A model that was saved and loaded is the model that was saved, to the bit."""

from copy import deepcopy
from inspect import isabstract

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import model_file_cases as cases
from posterior import (
    CategoricalNB,
    GaussianNB,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    estimators,
    families,
)
from posterior.datasets import load_penguins
from posterior.decision.reject import REJECT_RULES
from posterior.linear.solvers import SOLVERS
from posterior.persistence import load, save
from posterior.persistence.registry import BY_KIND, RECORDS

case, to_bytes, from_bytes = cases.case, cases.to_bytes, cases.from_bytes

pytestmark = [
    pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]
every_case = pytest.mark.parametrize("name", cases.NAMES)

ASKED = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "score_samples",
    "decision_function",
    "class_log_density",
    "transform",
    "expected_cost",
    "p_values",
    "parts",
)
ATTRIBUTES = (
    "classes_",
    "n_features_in_",
    "feature_names_in_",
    "notes_",
    "tuning_",
    "log_likelihood_",
    "log_likelihood_path_",
    "n_parameters_",
    "coef_",
    "intercept_",
    "terms_",
    "certificate_",
    "separation_",
    "choice_",
    "actions_",
    "priors_",
    "scaling_",
    "calibration_test_",
    "threshold_",
    "weights_",
    "theta_",
    "feature_log_prob_",
    "means_",
    "covariance_",
    "noise_precision_",
)


def same(a, b):
    """Whether two answers are the same to the bit."""
    if isinstance(a, np.ndarray) and a.dtype != object:
        return (
            type(b) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        )
    if isinstance(a, np.ndarray | list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, pd.DataFrame | pl.DataFrame | pa.Table):
        return type(a) is type(b) and a.equals(b)
    if sparse.issparse(a):
        return same(a.toarray(), b.toarray())
    return repr(a) == repr(b)


def asked(model, X):
    """All that a model answers about a table, and what can be read off it."""
    answers = {name: getattr(model, name)(X) for name in ASKED if hasattr(model, name)}
    answers |= {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    answers |= {"repr": repr(model), "schema": str(getattr(model, "schema_", None))}
    if hasattr(model, "sample"):
        answers["sample"] = model.sample(5, random_state=3)
    if hasattr(model, "explain"):
        answers["explain"] = str(model.explain(X))
    if hasattr(model, "odd_features"):
        answers["odd_features"] = str(model.odd_features(X))
    return answers


@every_case
def test_a_loaded_model_answers_as_the_saved_one_to_the_bit(name):
    model, X, _ = case(name)
    expected, found = asked(model, X), asked(from_bytes(to_bytes(model)), X)
    assert expected.keys() == found.keys()
    assert [key for key in expected if not same(expected[key], found[key])] == []


@every_case
@pytest.mark.parametrize("keep", ["summary", "rows"])
def test_saving_twice_and_saving_what_was_loaded_give_the_same_bytes(name, keep):
    model, _, _ = case(name)
    data = to_bytes(model, keep)
    assert to_bytes(model, keep) == data
    assert to_bytes(from_bytes(data), keep) == data


def outcome(work):
    """What some work gives, or what it says instead."""
    try:
        return work()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", cases.able("partial_fit"))
def test_a_loaded_model_learns_on_as_the_saved_one(name):
    model, X, y = case(name)
    first, second = from_bytes(to_bytes(model)), deepcopy(model)
    y = model.classes_ if y is None else y
    learnt = [outcome(lambda: to_bytes(each.partial_fit(X, y))) for each in (first, second)]
    assert learnt[0] == learnt[1]


@pytest.mark.parametrize("name", cases.able("__add__"))
def test_a_loaded_model_adds_up_with_others(name):
    model, _, _ = case(name)
    loaded = from_bytes(to_bytes(model))
    expected = outcome(lambda: to_bytes(model + model))
    assert outcome(lambda: to_bytes(loaded + model)) == expected
    assert outcome(lambda: to_bytes(model + loaded)) == expected


@pytest.mark.parametrize("name", cases.able("leave_one_out_log_proba"))
def test_a_loaded_model_leaves_one_out_as_the_saved_one(name):
    model, X, y = case(name)
    y = model.classes_ if y is None else y
    loaded = from_bytes(to_bytes(model))
    expected = outcome(lambda: model.leave_one_out_log_proba(X, y))
    assert same(outcome(lambda: loaded.leave_one_out_log_proba(X, y)), expected)


@every_case
def test_what_a_loaded_model_holds_is_of_the_types_that_it_was_of(name):
    """Field by field: arrays by dtype, shape and order in memory, and may be written to as before."""
    model, _, _ = case(name)
    for a, b in alongside(vars(model), vars(from_bytes(to_bytes(model)))):
        assert type(a) is type(b)
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert b.flags.writeable
            if a.flags.c_contiguous or a.flags.f_contiguous:  # so that sums over it have the same order
                assert (a.flags.c_contiguous, a.flags.f_contiguous) == (
                    b.flags.c_contiguous,
                    b.flags.f_contiguous,
                )


def alongside(a, b):
    """Pairs of values at the same places of two objects, caches and rows apart."""
    yield a, b
    if isinstance(a, dict):
        for key in a.keys() & b.keys():
            yield from alongside(a[key], b[key])
    elif isinstance(a, list | tuple):
        for one, other in zip(a, b, strict=True):
            yield from alongside(one, other)
    elif hasattr(a, "__dict__") and type(a).__module__.startswith("posterior."):
        names = [n for n in vars(a) if n not in {"objective", "summaries", "_limits", "_tests"}]
        for name in (n for n in names if n in vars(b)):
            yield from alongside(vars(a)[name], vars(b)[name])


def test_every_estimator_has_a_case():
    found = {type(case(name)[0]).__name__ for name in cases.NAMES}
    assert found == set(estimators.__all__)


def test_every_record_has_a_tag_of_its_own_and_types_for_its_parts():
    assert len({record.tag for record in RECORDS}) == len({record.kind for record in RECORDS}) == len(RECORDS)
    for record in RECORDS:
        assert record.optional <= set(record.hints), record.tag


def test_every_family_density_solver_and_rule_has_a_record():
    """A new one is a line in the registry, or this fails."""
    bases = (families.Family, families.Distribution)
    named = [getattr(families, name) for name in families.__all__]
    public = {kind for kind in named if isinstance(kind, type) and issubclass(kind, bases)}
    public = (
        {kind for kind in public if not isabstract(kind)} | set(REJECT_RULES.values()) | set(SOLVERS.values())
    )
    assert public - set(BY_KIND) == set()


@pytest.mark.parametrize("covariance", ["model", "sandwich"])
@pytest.mark.parametrize("name", ["logistic regression", "linear regression", "logistic regression by Firth"])
def test_a_loaded_linear_model_has_the_summaries_that_were_asked_for(name, covariance):
    model, _, _ = case(name)
    expected = model.summary(covariance)
    assert str(from_bytes(to_bytes(model)).summary(covariance)) == str(expected)


def test_a_summary_is_made_for_the_file_if_nobody_asked_for_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(2, size=50)
    data = to_bytes(LogisticRegression(C=np.inf).fit(X, y))
    expected = LogisticRegression(C=np.inf).fit(X, y).summary()
    assert str(from_bytes(data).summary()) == str(expected)
    with pytest.raises(ValueError, match="needs the rows of training"):
        from_bytes(data).summary("sandwich")


def test_a_model_file_holds_no_rows_of_a_linear_model():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20_000, 3)), rng.integers(2, size=20_000)
    assert len(to_bytes(LogisticRegression(C=np.inf).fit(X, y))) < 20_000


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1], dtype=np.int8),
        np.array([False, True]),
        np.array([-1.0, 2.0], dtype=np.float32),
        np.array(["a", "long label"]),
        np.array(["", "🎨\n\x00x"], dtype=object),
        np.array([3, 2**62], dtype=np.uint64),
    ],
    ids=lambda labels: labels.dtype.str,
)
def test_classes_are_of_the_type_that_they_were(labels):
    model = GaussianNB().fit(np.arange(8.0)[:, None], np.repeat(labels, 4))
    loaded = from_bytes(to_bytes(model))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict([[0.0], [9.0]]).tolist() == model.classes_.tolist()


def test_names_and_categories_may_be_any_strings():
    odd = ["", " ", "é", "🎨", "a\nb", '"quoted" \\', "\x00", "x" * 10_000]
    table = pd.DataFrame(dict.fromkeys(odd, odd))
    model = NaiveBayes(kinds={(*odd,): "categorical"}).fit(table, [0, 1] * 4)
    loaded = from_bytes(to_bytes(model))
    assert loaded.feature_names_in_.tolist() == odd
    assert loaded.schema_ == model.schema_
    assert same(loaded.predict_log_proba(table), model.predict_log_proba(table))


def test_a_category_may_be_half_a_character():
    """As a wrong decoding of a text leaves behind."""
    table = np.array([["\ud800"], ["a"], ["\ud800"], ["b"]], dtype=object)
    model = CategoricalNB().fit(table, [0, 1, 0, 1])
    assert same(from_bytes(to_bytes(model)).predict_log_proba(table), model.predict_log_proba(table))


def test_one_object_in_two_places_is_one_object_again():
    model, _, _ = case("a decision of a logistic regression")
    loaded = from_bytes(to_bytes(model))
    assert loaded.outliers is loaded.learnt_.asked
    model, _, _ = case("a frozen classifier calibrated")
    loaded = from_bytes(to_bytes(model))
    assert loaded.estimator is loaded.learnt_.model


@pytest.mark.long
def test_a_table_of_a_million_columns_makes_a_header_of_no_size():
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 999_999])), shape=(2, 1_000_000))
    model = MultinomialNB().fit(X, [0, 1])
    data = to_bytes(model)
    assert int.from_bytes(data[:8], "little") < 10_000
    assert same(from_bytes(data).predict_log_proba(X), model.predict_log_proba(X))


def test_a_file_takes_any_name_and_keeps_what_was_there_until_it_is_complete(tmp_path):
    penguins = load_penguins()
    for name in ("model.safetensors", "é 🎨", "x" * 200):
        save(GaussianNB().fit([[0.0], [1.0]], [0, 1]), tmp_path / name)
        save(NaiveBayes().fit(penguins.X, penguins.y), str(tmp_path / name))
        loaded = load(tmp_path / name)
        assert same(
            loaded.predict_proba(penguins.X),
            NaiveBayes().fit(penguins.X, penguins.y).predict_proba(penguins.X),
        )
