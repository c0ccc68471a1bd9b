"""A compared model of another package, used wherever ours can be."""

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from gamma_models import GAMMA_BAYES, Gamma, GammaDistribution

from posterior import NaiveBayes, compare
from posterior.cli import main
from posterior.comparison import MODELS, Candidate, Comparison, NotForThisTableError, model_for
from posterior.comparison import register_candidate as register
from posterior.comparison.folds import deal
from posterior.datasets import load_penguins
from posterior.persistence import load
from posterior.plot import ComparisonDisplay
from posterior.report import render
from posterior.workflow import train

mpl.use("Agg")
PENGUINS = load_penguins()
X, Y = PENGUINS.X, np.asarray(PENGUINS.y)


@pytest.fixture(autouse=True)
def registered():
    """As in a program that imported the package; other tests compare our own models only."""
    register(GAMMA_BAYES)
    yield
    del MODELS["gamma-bayes"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(each) for each in arguments])
    return end.value.code, capsys.readouterr()


def test_it_is_compared_by_its_name():
    frame = compare(X, Y, models=["majority", "gamma-bayes", "naive-bayes"], repeats=1)
    assert sorted(frame["model"]) == ["gamma-bayes", "majority", "naive-bayes"]
    found = Comparison.of(X, Y, models=["gamma-bayes"], repeats=1)
    (result,) = found.results
    assert (result.name, result.approach) == ("gamma-bayes", "generative")
    assert "gamma columns" in result.about
    codes = np.unique(Y, return_inverse=True)[1]
    fold = deal(codes, folds=10, repeats=1)[0].numbers
    logs = result.estimator.k_fold_log_proba(X, Y, cv=fold)
    assert result.log_loss == pytest.approx(-logs[np.arange(len(Y)), codes].mean(), rel=1e-9)


def test_it_is_tried_with_all_others_and_left_out_with_its_reason_where_it_does_not_apply():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    signed = rng.normal(size=(60, 2)) + y[:, None]
    everything = Comparison.of(np.exp(signed), y, repeats=1, folds=3)
    assert "gamma-bayes" in [result.name for result in everything.results]
    some = Comparison.of(signed, y, repeats=1, folds=3)
    assert "gamma-bayes" not in [result.name for result in some.results]
    assert some.left_out["gamma-bayes"] == "no continuous column has positive values only"
    with pytest.raises(NotForThisTableError, match="gamma Bayes does not suit this table: no continuous"):
        model_for("gamma-bayes", signed, y)


def test_the_estimator_of_its_name_is_trained():
    estimator = model_for("gamma-bayes", X, Y)
    assert isinstance(estimator, NaiveBayes)
    assert estimator.families["body_mass_g"] == Gamma()
    trained = train(X, Y, "gamma-bayes")
    assert trained.set_decision(reject={"threshold": 0.9}).score(X, Y) > 0.9


def test_pictures_and_the_report_show_it():
    import matplotlib.pyplot as plt

    comparison = Comparison.of(X, Y, models=["majority", "gamma-bayes"], repeats=1)
    shown = ComparisonDisplay.from_comparison(comparison).plot()
    assert "gamma Bayes" in [tick.get_text() for tick in shown.ax_.get_yticklabels()]
    plt.close(shown.figure_)
    page = render(comparison, X, Y)
    assert "gamma Bayes" in page
    assert "Decision regions of gamma Bayes in the plane of" in page


@pytest.mark.long
def test_a_model_that_does_not_apply_to_a_plane_has_none_in_the_report():
    def whole_table_only(table):
        if table.n_columns < 7:
            raise NotForThisTableError("it takes all columns")
        return GAMMA_BAYES.choice(table)

    for name, in_a_plane, expected in (("whole", "", False), ("whole-or-lda", "lda", True)):
        register(Candidate(name, name, "generative", "all columns", whole_table_only, in_a_plane))
        try:
            page = render(Comparison.of(X, Y, models=[name], repeats=1), X, Y)
        finally:
            del MODELS[name]
        assert ("Decision regions of LDA in the plane of" in page) is expected
        assert ("Decision regions of" in page) is expected


def test_the_command_line_compares_and_fits_it(tmp_path, capsys):
    path, page = tmp_path / "m.posterior", tmp_path / "report.html"
    code, said = run(
        capsys, "compare", "penguins", "--models", "majority,gamma-bayes", "--json", "--report", page
    )
    assert code == 0, said.err
    assert "gamma-bayes" in said.out
    assert "gamma Bayes" in page.read_text(encoding="utf-8")
    code, said = run(capsys, "fit", "penguins", "--model", "gamma-bayes", "-o", path, "--json")
    assert code == 0, said.err
    assert json.loads(said.out)["title"] == "gamma Bayes"
    inner = load(path).estimator_
    assert any(isinstance(d, GammaDistribution) for _, d in inner.model_.distributions)
    code, said = run(capsys, "fit", "penguins", "--model", "delta-bayes", "-o", path)
    assert code == 2
    assert "pool, gamma-bayes" in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("candidate", "error", "message"),
    [
        (replace(GAMMA_BAYES, title="another"), ValueError, "there is a model 'gamma-bayes' already"),
        (replace(GAMMA_BAYES, name="lda"), ValueError, "there is a model 'lda' already, LDA"),
        (replace(GAMMA_BAYES, name="gamma, bayes"), ValueError, "must be a word such as 'my-model'"),
        (replace(GAMMA_BAYES, name="best"), ValueError, "must be a word such as 'my-model'"),
        (replace(GAMMA_BAYES, name="mine", approach="magic"), ValueError, "must be one of 'baseline', "),
        (replace(GAMMA_BAYES, name="mine", choice=None), TypeError, "expected a Candidate"),
        (NaiveBayes(tied=False, weights=1.0), TypeError, "expected a Candidate"),
    ],
)
def test_names_that_are_taken_and_what_is_no_candidate_are_refused(candidate, error, message):
    before = dict(MODELS)
    with pytest.raises(error, match=message):
        register(candidate)
    assert before == MODELS
    register(GAMMA_BAYES)  # the same again is allowed
