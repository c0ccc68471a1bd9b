"""Altered model files are refused, or hold a model that predicts; bombs do not go off."""

import importlib.util
import json
import re
import sys
import tracemalloc
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from posterior import GaussianNB, MultinomialNB, NaiveBayes
from posterior.families import BagOfWords
from posterior.persistence import ModelFileError
from posterior.persistence.describing import described
from posterior.persistence.encoding import Encoder
from posterior.persistence.loading import decoded
from posterior.persistence.texts import check_pattern


def module(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


cases, mutated = module("model_file_cases"), module("mutated_files")
apart, together = mutated.apart, mutated.together

MODEL = GaussianNB().fit([[-2.0, 1.0], [-1.0, 2.0], [1.0, 3.0], [3.0, 4.0]], ["low", "low", "high", "high"])


def test_two_thousand_altered_files_are_refused_or_predict():
    files = {name: (cases.to_bytes(cases.case(name)[0]), cases.case(name)[1][:4]) for name in cases.SMALL}
    ends = mutated.outcomes(files, 2000, seed=100)
    assert ends["refused"] > ends["predicts"] > 40


def test_an_altered_file_is_described_in_plain_data_or_refused():
    files = [cases.to_bytes(cases.case(name)[0]) for name in cases.SMALL]
    rng, told = np.random.default_rng(5), 0
    for i in range(1000):
        data = mutated.forged(files[i % len(files)], rng)
        try:
            found = described(BytesIO(data), len(data))
        except ModelFileError:
            continue
        told += 1
        json.dumps(found)
    assert told > 100


def test_every_single_byte_counts():
    data = cases.to_bytes(MODEL)
    for at in range(len(data)):
        altered = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert mutated.opened(altered) is None, f"byte {at} may change unnoticed"


def test_every_beginning_of_a_file_is_refused():
    data = cases.to_bytes(MODEL)
    assert all(mutated.opened(data[:n]) is None for n in range(len(data)))
    assert mutated.opened(data + b"\0") is None


def changed(change, model=MODEL):
    """The file of a model whose tree was changed, with a digest that fits."""
    entries, tree, data = apart(cases.to_bytes(model))
    change(tree, entries)
    return together(entries, tree, data)


def refusal(data):
    with pytest.raises(ModelFileError) as error:
        cases.from_bytes(data)
    return str(error.value)


def test_a_file_with_a_digest_that_fits_is_read_as_it_is():
    assert cases.from_bytes(changed(lambda tree, _: tree.update(var_smoothing=0.5))).var_smoothing == 0.5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tree, _: tree.update({"is": "os.system"}), "something called 'os.system'"),
        (
            lambda tree, _: tree.update({"is": "column"}),
            "a part 'model_', which this posterior does not know",
        ),
        (lambda tree, _: tree.pop("priors"), "without its part 'priors'"),
        (lambda tree, _: tree.update(var_smoothing="x"), "is str, where float belongs"),
        (lambda tree, _: tree.pop("model_"), "belongs to nothing"),
        (lambda tree, _: tree["model_"].update(weight=[1.0]), "is tuple, where float belongs"),
        (lambda tree, _: tree["model_"]["classes"]["items"].reverse(), "not sorted"),
        (lambda tree, _: tree["model_"]["classes"]["items"].append("z"), "do not make its shape"),
        (lambda tree, _: tree["model_"]["blocks"][0].update(columns=[0, 5]), "described twice, or not there"),
        (lambda tree, _: tree["model_"]["blocks"][0].update(columns=[0, 0]), "described twice, or not there"),
        (lambda tree, _: tree["model_"]["blocks"][0].update(columns=[0]), "other classes or columns"),
        (lambda tree, _: tree["model_"]["blocks"][0].update(reads="codes"), "does not read 'codes'"),
        (lambda tree, _: tree["model_"]["schema"].update(container="os"), "unknown kind 'os'"),
        (
            lambda tree, _: tree["model_"]["schema"]["columns"]["example"].update(reason="\x1b[2J"),
            "cannot be printed",
        ),
        (lambda tree, _: tree["model_"].update(spec=None), "sums of no known composition"),
        (lambda tree, _: tree.update(priors={"is": "ref", "to": 99}), "an object that is not there"),
        (lambda tree, _: tree.update(priors=json.loads("[" * 200 + "]" * 200)), "nested more than"),
        (lambda tree, _: tree.update(priors="x" * 2**21), "a string of more than"),
        (lambda tree, _: tree.update(priors=10**40), "too many digits"),
        (lambda tree, _: tree.update(priors={"is": "array", "of": "model_.log_prior"}), "uses it twice"),
        (lambda _, entries: entries["model_.log_prior"].update(dtype="I64"), "an array of float64 belongs"),
        (lambda _, entries: entries["model_.log_prior"].update(shape=[1, 2]), "has the shape \\[1, 2\\]"),
        (lambda _, entries: entries["model_.log_prior"].update(shape=[2**40]), "impossible shape"),
        (lambda _, entries: entries["model_.log_prior"].update(data_offsets=[8, 24]), "overlaps another"),
        (lambda _, entries: entries["model_.log_prior"].update(data_offsets=[-8, 8]), "ends after the file"),
        (
            lambda _, entries: entries.update(
                {"more": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}}
            ),
            "overlaps",
        ),
        (lambda _, entries: entries["__metadata__"].update(format="else"), "none that posterior has written"),
        (
            lambda _, entries: entries["__metadata__"].update(format_version="2"),
            "by a newer posterior .* upgrade",
        ),
        (
            lambda _, entries: entries["__metadata__"].update(format_version="x"),
            "in which version of the format",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_forged_is_refused_and_named(change, told):
    assert re.search(told, refusal(changed(change)))


@pytest.mark.parametrize(
    ("part", "number", "told"),
    [
        ("model_.log_prior", 0.5, "not 'log'"),
        ("model_.log_prior", np.nan, "not 'log'"),
        ("model_.log_prior", -9.0, "do not sum to one"),
        ("model_.blocks[0].distribution.variance", -1.0, "not '>0'"),
        ("model_.blocks[0].distribution.variance", np.inf, "not '>0'"),
        ("model_.blocks[0].distribution.location.pivot", np.nan, "not 'value'"),
        ("model_.statistics.weight", -1.0, "not '>=0'"),
    ],
)
def test_numbers_that_no_model_has_are_refused(part, number, told):
    entries, tree, data = apart(cases.to_bytes(MODEL))
    at = entries[part]["data_offsets"][0]
    data = data[:at] + np.float64(number).tobytes() + data[at + 8 :]
    assert told in refusal(together(entries, tree, data))


def test_a_table_of_categories_that_is_smaller_than_its_schema_is_refused():
    """Compiled code would read beyond its end."""
    model, _, _ = cases.case("categorical naive Bayes")

    def change(tree, _):
        tree["model_"]["schema"]["columns"][0]["categories"] += [77, 78]

    assert "tables of other categories" in refusal(changed(change, model))


def test_a_pattern_that_takes_for_ever_is_refused():
    model, _, _ = cases.case("naive Bayes of texts")

    def change(tree, _):
        tree["model_"]["blocks"][0]["distribution"]["vectorizer"] |= {"token_pattern": r"(\w+\s?)+$"}

    assert "token_pattern" in refusal(changed(change, model))


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\S+", r"\b[a-z0-9]{2,9}\b", r"[^\W\d_]+", r"\d{4}"])
def test_plain_token_patterns_are_kept(pattern):
    family = BagOfWords(vectorizer=CountVectorizer(token_pattern=pattern, vocabulary=["a", "2020"]))
    model = NaiveBayes(kinds={0: "text"}, families={0: family}).fit([["a b"], ["2020 c"]], [0, 1])
    loaded = cases.from_bytes(cases.to_bytes(model))
    assert loaded.model_.spec.blocks[0].family.vectorizer.token_pattern == pattern


def test_a_pattern_that_is_checked_does_not_hang_the_check():
    for odd in ("_" * 150 + "(", "[" + "_" * 150, r"\w" * 90 + "(", "[" + r"\w" * 90, "a{9}" * 45 + "("):
        with pytest.raises(ModelFileError, match="token_pattern"):
            check_pattern(odd)


def test_what_is_no_estimator_is_no_model():
    vectorizer = CountVectorizer(vocabulary=["a"]).fit([])
    encoder = Encoder()
    tree = encoder.encode(vectorizer, "")
    with pytest.raises(ModelFileError, match="holds no fitted model"):
        decoded(json.dumps(tree), encoder.tensors)


# -- bombs ----------------------------------------------------------------------------------------


def peak(data):
    """The most memory that opening a file takes, in multiples of its size."""
    cases.from_bytes(cases.to_bytes(MODEL))  # what is imported or remembered once does not count
    tracemalloc.start()
    try:
        model = mutated.opened(data)
        return model is None, tracemalloc.get_traced_memory()[1] / len(data)
    finally:
        tracemalloc.stop()


def chain(n):
    """Tuples of two references each to the one before, which unfold to 2ⁿ."""
    links = [{"is": "list", "items": [], "id": 0}]
    for i in range(n):
        pair = [{"is": "ref", "to": i}] * 2
        links.append({"is": "list", "items": pair, "id": i + 1})
    return links


BOMBS = {
    "a column for every atom": lambda tree, _: tree["model_"]["schema"]["columns"].update(n=10**12),
    "strings of endless width": lambda tree, _: tree.update(
        priors={"is": "strings", "items": [""] * 9, "shape": [9], "width": 10**12}
    ),
    "a tensor of any size": lambda _, entries: entries["model_.log_prior"].update(shape=[10**12]),
    "references to references": lambda tree, _: tree.update(priors=chain(40)),
    "empty objects by the million": lambda tree, _: tree.update(priors=[{}] * 300_000),
    "a deep nest": lambda tree, _: tree.update(priors=json.loads("[" * 900 + "]" * 900)),
    "components of any class": lambda tree, _: tree.update(
        priors={
            "is": "mixture-of-normals-distribution",
            "weight": {"is": "array", "of": "model_.log_prior"},
            "location": None,
            "covariance": None,
            "owner": None,
            "shape": "full",
            "repairs": [],
        }
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory_and_is_refused(name):
    refused, multiple = peak(changed(BOMBS[name]))
    assert refused
    assert multiple < 40


def test_a_header_of_tiny_values_takes_no_more_than_forty_times_its_size():
    assert peak(changed(lambda tree, _: tree.update(priors=[[]] * 300_000)))[1] < 40


def test_opening_a_file_takes_little_more_memory_than_its_size():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, size=(40, 20_000)).astype(float), np.arange(40) % 20
    data = cases.to_bytes(MultinomialNB().fit(X, y))
    tracemalloc.start()
    try:
        model = cases.from_bytes(data)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(data) > 6_000_000
    assert most < 4 * len(data)
    assert model.classes_.tolist() == list(range(20))
