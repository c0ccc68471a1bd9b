"""Altered model files are refused, or hold a model that predicts; bombs do not go off."""

import json
import re
import tracemalloc
from io import BytesIO

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import forged_models as forged
import model_file_cases as cases
import mutated_files as mutated
from posterior import GaussianNB, MultinomialNB, NaiveBayes
from posterior.families import BagOfWords
from posterior.persistence import ModelFileError
from posterior.persistence.describing import described
from posterior.persistence.encoding import Encoder
from posterior.persistence.loading import decoded
from posterior.persistence.patterns import check_pattern

apart, together = mutated.apart, mutated.together

MODEL = GaussianNB().fit([[-2.0, 1.0], [-1.0, 2.0], [1.0, 3.0], [3.0, 4.0]], ["low", "low", "high", "high"])


def test_forged_files_are_refused_or_hold_models_that_work(tmp_path):
    """Two hundred of them; tests/long has many more."""
    files = forged.files_of(cases, cases.SMALL)
    ends, failures = forged.outcomes(
        files, lambda data, number: mutated.forgery(data, 100, number), range(200), tmp_path
    )
    assert not failures, f"seed 100:\n{failures}"
    assert ends["refused"] > ends["works"] > 4


def test_accidents_are_noticed():
    rng = np.random.default_rng(100)
    for name in cases.SMALL:
        data = cases.to_bytes(cases.case(name)[0])
        altered = [mutated.altered_bytes(data, rng) for _ in range(20)]
        assert all(each == data or forged.opened(each) is None for each in altered)


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
        assert forged.opened(altered) is None, f"byte {at} may change unnoticed"


def test_every_beginning_of_a_file_is_refused():
    data = cases.to_bytes(MODEL)
    assert all(forged.opened(data[:n]) is None for n in range(len(data)))
    assert forged.opened(data + b"\0") is None


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
        (lambda columns: columns["each"]["kind"].pop(), "cannot be"),
        (lambda columns: columns["each"]["name"].__setitem__(3, 3), "is int, where str belongs"),
        (lambda columns: columns["each"]["kind"].__setitem__(3, "wild"), "'kind' is str"),
        (lambda columns: columns["each"]["reason"].__setitem__(3, "\x1b[2J"), "cannot be printed"),
        (lambda columns: columns["same"].update(name="x"), "one part twice"),
        (lambda columns: columns["same"].update(colour="x"), "a part 'colour'"),
        (lambda columns: columns["each"].pop("kind"), "without its part 'kind'"),
        (lambda columns: columns.update(same=[]), "makes no sense"),
        (lambda columns: columns.update(each={}), "without names"),
    ],
)
def test_forged_columns_of_a_wide_table_are_refused_and_named(change, told):
    model = cases.case("naive Bayes of a wide table")[0]
    with pytest.raises(ModelFileError, match=told):
        cases.from_bytes(changed(lambda tree, _: change(tree["model_"]["schema"]["columns"]), model))


def test_columns_that_are_written_one_by_one_are_read_as_in_files_of_the_first_version():
    model = cases.case("naive Bayes of a wide table")[0]

    def as_in_version_one(tree, _):
        columns = tree["model_"]["schema"]["columns"]
        rows = zip(*columns["each"].values(), strict=True)
        each = [dict(zip(columns["each"], row, strict=True)) for row in rows]
        tree["model_"]["schema"]["columns"] = [{"is": "column", **columns["same"], **own} for own in each]

    again = cases.from_bytes(changed(as_in_version_one, model))
    assert again.model_.schema == model.model_.schema


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tree, _: tree.update({"is": "os.system"}), "something called 'os.system'"),
        (
            lambda tree, _: tree.update({"is": "column"}),
            "a part 'model_', which this posterior does not know",
        ),
        (lambda tree, _: tree["model_"].pop("schema"), "without its part 'schema'"),
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
            lambda _, entries: entries["__metadata__"].update(format_version="3"),
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


@pytest.mark.parametrize(
    ("name", "part", "change", "told"),
    [
        ("LDA", "statistics.weight", lambda a: 0 * a, "classes of no weight"),
        ("LDA", "statistics.weight", lambda a: 0 * a + 1e308, "classes of no weight, or of too much"),
        ("LDA", "statistics.weight", lambda a: 2 * a, "rows of another weight"),
        ("LDA", "statistics.weight", lambda a: a * [1.5, 0.5, 1.0], "priors of other rows"),
        ("LDA", "statistics.blocks[0].weight", lambda a: 2 * a, "rows that weigh more than their class"),
        ("LDA", "statistics.blocks[0].scatter", lambda a: -a, "a scatter matrix that no rows have"),
        ("LDA", "statistics.blocks[0].scatter", lambda a: a + np.eye(9)[:, [1]].ravel(), "no rows have"),
        ("LDA", "statistics.blocks[0].scatter", lambda a: 0 * a + 1e307, "too large to be added to"),
        (
            "Gaussian naive Bayes",
            "statistics.blocks[0].weight",
            lambda a: a + 1.0,
            "cells that weigh more than their rows",
        ),
        ("Gaussian naive Bayes", "statistics.blocks[0].scatter", lambda a: -a, "a sum of squares that no"),
        ("Gaussian naive Bayes", "statistics.blocks[0].scatter", lambda a: 0 * a + 1e307, "too large"),
        ("Gaussian naive Bayes", "statistics.blocks[0].weight", lambda a: 0 * a, "a sum of squares that no"),
        ("categorical naive Bayes", "statistics.blocks[0].tables[0]", lambda a: a + 1.0, "weigh more than"),
        (
            "multinomial naive Bayes of a sparse table",
            "statistics.blocks[0].total",
            lambda a: 0 * a + 1e307,
            "too large to be added to",
        ),
        (
            "multinomial naive Bayes of a sparse table",
            "statistics.blocks[0].weight",
            lambda a: 0 * a,
            "a total that no rows have",
        ),
        (
            "a Bernoulli for each column",
            "statistics.blocks[0].total",
            lambda a: a + 1e3,
            "more ones than cells",
        ),
    ],
)
def test_sums_that_no_rows_have_are_refused(name, part, change, told):
    """Or the model of these rows and of others would be none."""
    entries, tree, data = apart(cases.to_bytes(cases.case(name)[0]))
    begin, end = entries[f"model_.{part}"]["data_offsets"]
    new = change(np.frombuffer(data[begin:end]))
    assert told in refusal(together(entries, tree, data[:begin] + new.tobytes() + data[end:]))


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("Gaussians chosen by folds", "shrinkage", {"is": "slice", "items": [None, None, 0]}),
        ("naive Bayes of a mixed table", "alpha", []),
        ("naive Bayes of a mixed table", "families", {"is": "dict", "items": [[0, 1]]}),
        ("categorical naive Bayes", "alpha", "much"),
        ("multinomial naive Bayes of a sparse table", "alpha", [[]]),
    ],
)
def test_settings_that_make_no_model_are_refused(name, setting, value):
    def change(tree, _):
        tree[setting] = value

    assert refusal(changed(change, cases.case(name)[0]))


@pytest.mark.parametrize(
    ("tag", "change", "told"),
    [
        ("number-reading", {"decimal": ";"}, "decimal"),
        ("number-reading", {"place": 9}, "readings of columns that are not there"),
        ("number-reading", {"place": 0}, "readings of columns that are not there"),
        ("number-reading", {"name": "other"}, "readings of other columns"),
        ("number-reading", {"before": "\x1b[2J"}, "cannot be printed"),
        ("date-reading", {"parts": []}, "dates of no parts"),
        ("date-reading", {"parts": ["month", "month"]}, "or of one twice"),
        ("date-reading", {"parts": ["month"]}, "readings of"),
        ("date-reading", {"layout": "any"}, "layout"),
        ("spellings", {"groups": [["North"]]}, "a category without a spelling"),
        ("spellings", {"groups": [["North", 1]]}, "groups"),
        ("left-out", {"place": -1}, "readings of columns that are not there"),
    ],
)
def test_readings_of_what_is_not_there_are_refused(tag, change, told):
    def forge(tree, _):
        (reading,) = _objects(tree, tag)[:1]
        reading.update(change)

    model, _, _ = cases.case("naive Bayes of columns that are not what their type says")
    assert re.search(told, refusal(changed(forge, model)))


def _objects(node, tag):
    """The objects of a kind in the tree of a file."""
    if isinstance(node, list):
        return [found for each in node for found in _objects(each, tag)]
    if not isinstance(node, dict):
        return []
    inside = [found for each in node.values() for found in _objects(each, tag)]
    return [node, *inside] if node.get("is") == tag else inside


def test_a_summary_of_what_has_no_name_is_refused():
    def change(tree, _):
        columns = tree["fit_"]["summaries"][0]["columns"]["items"]
        names = next(values for name, values in columns if name == "term")
        names["items"][0] = {"is": "dict", "items": []}

    assert "neither a term nor a class" in refusal(changed(change, cases.case("logistic regression")[0]))


def test_columns_called_by_what_is_no_name_are_refused():
    def change(tree, _):
        tree["model_"]["schema"]["labels"][1] = {"is": "dict", "items": [["a", 1]]}

    found = refusal(changed(change, cases.case("naive Bayes of a mixed table")[0]))
    assert "'schema' that cannot be: unhashable" in found


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
        with pytest.raises(ModelFileError, match="pattern"):
            check_pattern(odd)


# Of each there is a text on which it takes for ever, or as good as.
SLOW = [
    "(a+)+$", "(a|a)*$", "(?:a|a)+$", "(a*)*", "a*a*a*a*a*b", "a?a?a?a?a?aaaaa", "((a|b)c)+",
    "(a|a)(a|a)(a|a)b", "(a{1,9}){1,9}", r"(a)\1", "(?=a+)b", "(?x)(a|a) +", "(a", "a)", "[a", "a{1,2}{3}",
    "x*(y+|z)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_for_columns_that_may_take_for_ever_is_refused(pattern):
    model, _, _ = cases.case("blocks of a mixed table")

    def change(tree, _):
        tree["features"]["items"][1][0] |= {"of": pattern}

    assert f"has the pattern {pattern!r}" in refusal(changed(change, model))


def test_a_pattern_with_spaces_that_mean_nothing_is_refused():
    """They would hide what is repeated."""
    model, _, _ = cases.case("blocks of a mixed table")

    def change(tree, _):
        tree["features"]["items"][1][0] |= {"of": "(a|a) +$", "flags": int(re.VERBOSE)}

    assert "re.VERBOSE" in refusal(changed(change, model))


@pytest.mark.parametrize(
    "pattern",
    ["^col", ".*_x$", "^(?:a|b)_", "a|b+|c*d", r"_\d+$", r"\(m²\)", "[^ a-z]{2}", "größe", "a++", ""],
)
def test_plain_patterns_for_columns_are_kept(pattern):
    check_pattern(pattern)
    re.compile(pattern)


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
        model = forged.opened(data)
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


@pytest.mark.long
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
