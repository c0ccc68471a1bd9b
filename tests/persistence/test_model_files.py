"""What is no model file, what cannot be saved, and that no half file is ever seen."""

import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.compose import make_column_selector
from sklearn.covariance import OAS
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import model_file_cases as cases
from posterior import (
    LDA,
    DecisionClassifier,
    FusionClassifier,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    NaiveBayes,
    OutlierRule,
)
from posterior.families import BagOfWords, Normal
from posterior.persistence import ModelFileError, describe, load, save
from posterior.persistence.encoding import Encoder

NUMBERS, Y, TEXTS = cases.NUMBERS, cases.Y, cases.TEXTS

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
MODEL = GaussianNB().fit(NUMBERS, Y)


# -- what is no model file ------------------------------------------------------------------------


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "b")


def foreign(path):
    save_file({"weight": np.zeros(3)}, path)


def beginning(path):
    save(MODEL, path)
    path.write_bytes(path.read_bytes()[:-9])


OTHERS = {
    "absent": (lambda path: None, "does not exist: check the name"),
    "folder": (lambda path: path.mkdir(), "is a folder, not a file"),
    "pipe": (os.mkfifo, "is not a plain file"),
    "empty": (lambda path: path.touch(), "is empty"),
    "png": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99)), "but a PNG image"),
    "pickle": (
        lambda path: path.write_bytes(pickle.dumps(MODEL)),
        "a Python pickle, which may run any program",
    ),
    "zip": (zipped, "but a file packed by zip"),
    "gzip": (lambda path: path.write_bytes(b"\x1f\x8b" + bytes(99)), "but a file packed by gzip"),
    "parquet": (cases.POLARS.write_parquet, "but a table (parquet)"),
    "csv": (lambda path: path.write_text("größe,art\n1,ä\n" * 9), "but a text"),
    "json": (lambda path: path.write_text('{"a": [1, 2, 3], "b": null}'), "but a JSON document"),
    "html": (lambda path: path.write_text("<!doctype html><html></html>"), "but a web page"),
    "noise": (
        lambda path: path.write_bytes(bytes(range(9, 99))),
        "is not a model file of posterior; `posterior fit`",
    ),
    "one byte": (lambda path: path.write_bytes(b"\x00"), "is not a model file of posterior"),
    "another's safetensors": (foreign, "is a safetensors file, but none that posterior has written"),
    "a beginning": (beginning, "it was cut off, or altered"),
    "a huge header": (
        lambda path: path.write_bytes((2**40).to_bytes(8, "little") + b'{"a":1}'),
        "is the limit",
    ),
}


@pytest.mark.parametrize("read", [load, describe])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_model_file_is_refused_in_a_sentence_that_says_what_it_is(tmp_path, name, read):
    path = tmp_path / "some file"
    make, told = OTHERS[name]
    make(path)
    with pytest.raises(ModelFileError) as error:
        read(path)
    assert str(error.value).startswith(f"{path} ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    save(MODEL, tmp_path / "model")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ModelFileError, match="cannot be read: Permission denied"):
        load(tmp_path / "model")


def test_an_error_of_a_model_file_is_a_value_error():
    assert issubclass(ModelFileError, ValueError)


# -- what cannot be saved -------------------------------------------------------------------------


class OwnFamily(Normal):
    pass


class OwnNB(GaussianNB):
    pass


def shout(text):
    return text.upper().split()


def unfitted():
    return GaussianNB()


def with_attribute():
    model = GaussianNB().fit(NUMBERS, Y)
    model.author = "me"
    return model


def words(settings):
    family = BagOfWords(vectorizer=CountVectorizer(**settings))
    return NaiveBayes(kinds={0: "text"}, families={0: family}).fit(TEXTS, Y)


def nested():
    model = GaussianNB().fit(NUMBERS, Y)
    loop = [None]
    loop[0] = loop
    return model.set_params(priors=loop)


REFUSED = {
    "unfitted": (unfitted, "GaussianNB cannot be saved: it is not fitted; call fit first"),
    "their estimator": (
        lambda: TheirLogisticRegression().fit(NUMBERS, Y),
        "LogisticRegression cannot be saved: it is not one of posterior's own estimators",
    ),
    "no estimator": (lambda: {"a": 1}, "dict cannot be saved"),
    "a subclass": (lambda: OwnNB().fit(NUMBERS, Y), "OwnNB cannot be saved"),
    "their estimator inside": (
        lambda: DecisionClassifier(RandomForestClassifier(n_estimators=2)).fit(NUMBERS, Y),
        "in estimator, and a model file holds estimators of this library only, exactly as they are, no",
    ),
    "a pipeline inside": (
        lambda: OutlierRule(make_pipeline(StandardScaler(), LDA())).fit(NUMBERS, Y),
        "in estimator, and a model file holds estimators of this library only",
    ),
    "a subclass in a fusion": (
        lambda: FusionClassifier([("a", OwnNB(), [0]), ("b", LDA(), [1])]).fit(NUMBERS, Y),
        "in estimators[0][1], and a model file holds estimators of this library only",
    ),
    "a covariance estimator": (
        lambda: LDA(covariance_estimator=OAS()).fit(NUMBERS, Y),
        "has OAS() in covariance_estimator, and",
    ),
    "a selector": (
        lambda: GenerativeClassifier([(make_column_selector(), Normal())]).fit(pd.DataFrame(NUMBERS), Y),
        "in features[0][0], and a function or a class of one's own is a program",
    ),
    "a function for words": (
        lambda: words({"analyzer": shout}),
        "in families[0].vectorizer.analyzer, and a function",
    ),
    "a pattern that may hang": (
        lambda: words({"token_pattern": r"(\w+)"}),
        "has the token_pattern '(\\\\w+)', and",
    ),
    "many words together": (lambda: words({"ngram_range": (1, 50)}), "has the ngram_range (1, 50), and"),
    "a family of one's own": (
        lambda: GenerativeClassifier([(0, OwnFamily())]).fit(NUMBERS, Y),
        "in features[0][1], and a model file holds no OwnFamily",
    ),
    "a generator": (
        lambda: OutlierRule(LDA(), random_state=np.random.default_rng(0)).fit(NUMBERS, Y),
        "in random_state, and the state of a generator is not kept; set a whole number",
    ),
    "costs in a frame": (
        lambda: DecisionClassifier(LDA(), costs=pd.DataFrame(cases.COSTS).T).fit(NUMBERS, Y),
        "in costs, and a data frame or a column of one is not kept; pass an array or a dict",
    ),
    "an attribute of one's own": (with_attribute, "has an attribute 'author' that is none of GaussianNB's"),
    "a loop": (nested, "is nested more than 100 deep in priors[0][0]"),
    "a number without end": (
        lambda: GaussianNB().fit(NUMBERS, Y).set_params(priors=[2**70]),
        "a number of more than 64 bits",
    ),
    "a setting that is none": (
        lambda: GaussianNB().fit(NUMBERS, Y).set_params(var_smoothing="little"),
        "whose 'var_smoothing' is str, where float belongs",
    ),
    "times": (
        lambda: GaussianNB().fit(NUMBERS, Y).set_params(priors=np.array(["2020-01-01"], dtype="M8[D]")),
        "has datetime64[D] values in priors",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_saved_is_refused_with_the_reason_and_leaves_no_file(tmp_path, name):
    make, told = REFUSED[name]
    with pytest.raises(ModelFileError) as error:
        save(make(), tmp_path / "model")
    assert told in str(error.value)
    assert "cannot be saved: it " in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_names_and_words_beyond_the_limit_of_a_header_are_refused(monkeypatch):
    monkeypatch.setattr("posterior.persistence.container.MOST_HEADER", 1000)
    with pytest.raises(ModelFileError, match="GaussianNB cannot be saved: it is too large for a model file"):
        cases.to_bytes(MODEL)


# -- no half files --------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(MODEL, path)
    before = path.read_bytes()
    other = LDA().fit(NUMBERS, Y)

    def interrupt(*_):
        raise KeyboardInterrupt

    for name in ("os.fsync", "os.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(name, interrupt)
            patched.setattr(Path, "replace", interrupt)
            with pytest.raises(KeyboardInterrupt):
                save(other, path)
        assert path.read_bytes() == before
        assert [file.name for file in tmp_path.iterdir()] == ["model"]
    save(other, path)
    assert isinstance(load(path), LDA)


def test_a_model_that_cannot_be_saved_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "model"
    save(MODEL, path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError):
        save(with_attribute(), path)
    assert path.read_bytes() == before


def test_a_file_is_not_written_where_there_is_no_folder_or_a_folder_of_its_name(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no folder .*nowhere; make it first"):
        save(MODEL, tmp_path / "nowhere" / "model")
    with pytest.raises(ModelFileError, match="is a folder; give the file a name"):
        save(MODEL, tmp_path)


def test_a_link_stays_a_link_and_a_file_keeps_who_may_read_it(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    save(MODEL, target)
    target.chmod(0o600)
    link.symlink_to(target)
    save(LDA().fit(NUMBERS, Y), link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert isinstance(load(target), LDA)


# -- the format -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cases.SMALL)
def test_the_safetensors_library_reads_the_same_numbers(tmp_path, name):
    model, _, _ = cases.case(name)
    save(model, tmp_path / "model.safetensors")
    encoder = Encoder()
    encoder.encode(model, "")
    with safe_open(tmp_path / "model.safetensors", framework="numpy") as file:
        assert file.metadata()["format"] == "posterior model"
        assert set(file.keys()) == set(encoder.tensors)
        for key in file.keys():  # noqa: SIM118 -- which is not a mapping
            assert file.get_tensor(key).tobytes() == encoder.tensors[key].tobytes()


def test_saving_changes_nothing_but_that_a_summary_is_remembered():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    model = LogisticRegression(C=np.inf).fit(X, y)
    before = {name: value for name, value in vars(model).items() if name != "fit_"}
    cases.to_bytes(model)
    assert {name: vars(model)[name] is value for name, value in before.items()} == dict.fromkeys(before, True)
    assert str(model.fit_.summaries[0]) == str(model.summary())
    assert model.fit_.objective is not None


# -- what a file says of itself -------------------------------------------------------------------


@pytest.mark.parametrize("name", cases.NAMES)
def test_a_file_says_what_it_holds(tmp_path, name):
    model, _, _ = cases.case(name)
    save(model, tmp_path / "model")
    found = describe(tmp_path / "model")
    assert found["estimator"] == type(model).__name__
    assert list(found["settings"]) == list(model._get_param_names())
    assert found["library_versions"]["numpy"] == np.__version__
    if hasattr(model, "classes_"):
        assert found["classes"] == np.asarray(model.classes_).tolist()
    if hasattr(model, "schema_"):
        assert [column["name"] for column in found["columns"]] == list(model.schema_.names)
        assert [column["kind"] for column in found["columns"]] == list(model.schema_.kinds)


def test_settings_are_described_in_plain_data(tmp_path):
    model = GenerativeClassifier(
        [(["a"], Normal(tied=True)), (slice(1, 2), Normal)], priors=np.array([0.25, 0.75])
    )
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [1.0, 0.0, 2.0, 2.0]})
    save(model.fit(table, [False, False, True, True]), tmp_path / "model")
    found = describe(tmp_path / "model")
    normal = {
        "is": "normal",
        "tied": True,
        "bias": True,
        "floor": 1e-15,
        "variance_rows": 0.0,
        "smoothing": 0.0,
    }
    assert found["settings"]["features"] == [[["a"], normal], [[1, 2, None], {"is": "class", "of": "normal"}]]
    assert found["settings"]["priors"] == [0.25, 0.75]
    assert found["classes"] == [False, True]
    assert found["columns"][0] == {"name": "a", "kind": "continuous", "levels": None, "why": "float values"}


def test_what_is_to_be_remembered_with_a_model_is_described_and_must_be_json(tmp_path):
    save(MODEL, tmp_path / "model", about={"rows": 60, "by": ["é", None]})
    assert describe(tmp_path / "model")["about"] == {"rows": 60, "by": ["é", None]}
    with pytest.raises(ModelFileError, match="remembered with what JSON does not have"):
        save(MODEL, tmp_path / "model", about={"rows": NUMBERS})


def test_a_description_reads_no_more_than_the_header(tmp_path):
    path = tmp_path / "model"
    save(MODEL, path)
    data = bytearray(path.read_bytes())
    data[-8:] = bytes(8)
    path.write_bytes(data)
    assert describe(path)["estimator"] == "GaussianNB"
    with pytest.raises(ModelFileError, match="was altered since it was written"):
        load(path)
