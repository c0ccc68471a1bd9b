"""What a studio page holds: which rows, how they are rounded, drawn and weighted, and where it begins."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import posterior
from posterior import DecisionClassifier, GaussianNB, LogisticRegression, NaiveBayes
from posterior.cli.app import run
from posterior.datasets import load_penguins
from posterior.estimators.held_out import HeldOutRows
from posterior.families import Bernoulli
from posterior.math import log_softmax
from posterior.studio import page_of, subject_of
from posterior.studio.content import content
from posterior.studio.held_rows import MOST_ROWS, PageRows, drawn_rows
from posterior.studio.page import json_in_html
from posterior.studio.terms import terms_of

pytest.importorskip("typer", reason="the command line is an extra")


def data_of(page):
    return json.loads(re.search(r'id="studio-data">(.*?)</script>', page, re.DOTALL)[1])


def held(n, K, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    logs = log_softmax(rng.normal(0, 3, (n, K)))
    return HeldOutRows(logs, rng.choice(K, n, p=np.arange(1, K + 1) / np.arange(1, K + 1).sum()), weight)


def test_rounded_posteriors_are_within_what_the_page_says():
    rows = PageRows.of(held(5000, 4))
    assert np.abs(np.exp(rows.log_posterior) - np.exp(held(5000, 4).log_posterior)).max() < 0.00025 + 1e-9
    odds = rows.log_posterior - rows.log_posterior[:, :1]
    given = held(5000, 4).log_posterior
    assert np.abs(odds - (given - given[:, :1])).max() < 0.001 + 1e-9


def test_impossible_classes_stay_impossible_and_tiny_posteriors_stay_possible():
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([[1.0, 0.0], [1.0, 1e-300]]))
    read = PageRows.of(HeldOutRows(logs, np.array([0, 1]), None)).log_posterior
    assert np.isneginf(read[0, 1])
    assert read[1, 1] == pytest.approx(-32.767)


def test_rows_drawn_stand_for_all_rows_of_their_class():
    given = held(MOST_ROWS + 40_000, 3, weight=np.random.default_rng(1).random(MOST_ROWS + 40_000))
    rows = PageRows.of(given)
    assert len(rows.codes) == MOST_ROWS
    for k in range(3):
        assert rows.weight[rows.codes == k].sum() == pytest.approx(given.weight[given.y == k].sum())


def test_rare_classes_are_drawn_whole():
    codes = np.repeat([0, 1, 2], [500_000, 300, 90_000])
    drawn = codes[drawn_rows(codes, 50_000)]
    assert len(drawn) == 50_000
    assert (drawn == 1).sum() == 300


def test_the_page_is_the_same_for_the_same_table_and_holds_the_same_rows():
    penguins = load_penguins()
    pages = [page_of(subject_of(penguins.X, penguins.y, "lda")) for _ in range(2)]
    assert pages[0] == pages[1]
    assert data_of(pages[0]) == content(subject_of(penguins.X, penguins.y, "lda"))


def test_a_fitted_model_judges_the_rows_given(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = GaussianNB().fit(X, y)
    subject = subject_of(X, y, model)
    assert "given beside the model" in subject.origin
    np.testing.assert_allclose(subject.rows.log_posterior, model.predict_log_proba(X))
    assert data_of(posterior.studio(X, y, tmp_path / "a.html", model=model).read_text())["outliers"]["why"]


def test_a_calibrated_model_is_worked_out_as_it_predicts():
    penguins = load_penguins()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = DecisionClassifier(LogisticRegression(missing="indicator"), calibration="vector", cv=3).fit(
            penguins.X, penguins.y
        )
        data = content(subject_of(penguins.X, penguins.y, fitted))
    assert len(data["model"]["adjust"]["weight"]) == 3
    assert data["old"] == pytest.approx(data["observed"])


@pytest.mark.parametrize("name", ["pool", "additive", "one-dependence"])
def test_a_model_that_is_not_worked_out_in_a_page_says_why_or_keeps_its_terms(name):
    penguins = load_penguins()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = content(subject_of(penguins.X, penguins.y, name))
    if name == "one-dependence":
        assert set(data["shown"]["fixed"]) == {str(c["place"]) for c in data["model"]["columns"]}
    else:
        assert "not worked out in a page" in data["model"]["why"]


def test_features_of_single_precision_beside_strings_are_compared_as_such_in_a_page():
    cells = np.array([0.1, 0.7, 0.5, 0.9, 0.0, 0.7] * 10)
    X = pd.DataFrame({"single": cells.astype(np.float32), "double": cells, "word": list("abcabc") * 10})
    families = {name: Bernoulli(threshold=0.7) for name in ("single", "double")}
    model = NaiveBayes(families=families).fit(X, [0, 0, 1, 1, 0, 1] * 10)
    blocks = terms_of(model, None).model["blocks"]
    cuts = {block["columns"][0]: block["cut"] for block in blocks if block["family"] == "bernoulli"}
    assert cuts == {0: float(np.float32(0.7)), 1: 0.7}


def test_a_name_of_a_file_and_a_model_without_classes_are_refused_with_the_remedy(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(TypeError, match=r"posterior\.load"):
        subject_of("model.posterior", None)
    regression = posterior.LinearRegression().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="gives no probabilities"):
        subject_of(regression, None)


def test_json_ends_no_script_and_no_line():
    text = json_in_html({"</script>": "<!-- \u2028 & 'x' \""})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"</script>": "<!-- \u2028 & 'x' \""}


def test_costs_of_other_actions_are_refused():
    penguins = load_penguins()
    costs = {name: {"weigh": 1.0, "guess": 2.0} for name in ("Adelie", "Chinstrap", "Gentoo")}
    with pytest.raises(ValueError, match="no other action"):
        subject_of(penguins.X, penguins.y, "lda", decision={"costs": costs})


# -- the command -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_writes_a_page_of_a_table_that_begins_where_it_is_told(folder, capsys):
    arguments = ["--priors", "uniform", "--costs", "Adelie:Gentoo=7", "--reject", "threshold=0.8"]
    assert run(["studio", "penguins", "-m", "lda", "-o", "s.html", "-q", *arguments]) == 0
    data = data_of((folder / "s.html").read_text(encoding="utf-8"))
    assert data["settings"]["reject"] == ["threshold", 0.8]
    assert data["settings"]["costs"][0] == [0, 1, 7]
    assert data["settings"]["priors"] == pytest.approx([1 / 3] * 3)
    assert data["names"] == {"data": "penguins", "target": "species", "name": "lda"}
    assert "cross-validated" in data["notes"][0]


def test_the_command_shows_a_model_by_its_averages_or_by_rows(folder, capsys):
    assert run(["fit", "voters", "-m", "naive-bayes", "-o", "v.posterior", "-q"]) == 0
    assert run(["studio", "v.posterior", "-o", "a.html", "-q"]) == 0
    capsys.readouterr()
    assert run(["studio", "v.posterior", "--rows", "voters", "-o", "b.html", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    kept, rows = (data_of((folder / name).read_text(encoding="utf-8")) for name in ("a.html", "b.html"))
    assert kept["shown"]["rows"] == []
    assert "averages" in " ".join(kept["notes"])
    assert rows["rows"]["n"] == said["rows"] == 400
    assert "learnt from" in rows["notes"][0]


@pytest.mark.parametrize(
    ("option", "given", "told"),
    [
        ("--reject", "threshold=2", "at most 1, found 2.0"),
        ("--costs", "dog:Adelie=3", "'dog' is not a class"),
        ("--priors", "Adelie=0.9", "give one for each class"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_compared(
    option, given, told, folder, capsys, monkeypatch
):
    def never(*_, **__):
        raise AssertionError("models were compared first")

    monkeypatch.setattr(posterior.comparison.Comparison, "of", never)
    assert run(["studio", "penguins", "-o", "s.html", option, given]) != 0
    assert told in " ".join(capsys.readouterr().err.split())
