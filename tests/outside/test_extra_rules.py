"""Rules for rejecting and calibrators of another package, used wherever ours can be."""

import json

import matplotlib as mpl
import numpy as np
import pytest
from extra_rules import ErrorRate, Margin, Sharpened

from posterior import LDA, CalibratedClassifier, DecisionClassifier, GaussianNB
from posterior.cli import main
from posterior.datasets import load_penguins
from posterior.decision import decide, register_calibrator, register_reject_rule
from posterior.notices import PosteriorWarning
from posterior.persistence import load, save
from posterior.plot import RiskCoverageDisplay

mpl.use("Agg")
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=400)
X = Y[:, None] + RNG.normal(size=(400, 2))
NEW_Y = RNG.integers(3, size=2000)
NEW = NEW_Y[:, None] + RNG.normal(size=(2000, 2))


def reloaded(model, folder):
    save(model, folder / "model")
    return load(folder / "model")


def margins(model, rows):
    first, second = np.sort(model.predict_proba(rows), axis=1).T[[-1, -2]]
    return first - second


@pytest.mark.parametrize("reject", [{"margin": 0.3}, Margin(0.3)])
def test_a_rule_rejects_by_its_key_and_as_an_object(reject, tmp_path):
    model = DecisionClassifier(LDA(), reject=reject).fit(X, Y)
    rejected = model.predict(NEW) == "reject"
    assert rejected.tolist() == (margins(model, NEW) < 0.3).tolist()
    assert 0.1 < rejected.mean() < 0.9
    i = int(np.flatnonzero(rejected)[0])
    assert "rejected: the two likeliest classes are closer than 0.3" in str(model.explain(NEW[i : i + 1])[0])
    again = reloaded(model, tmp_path)
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert (decide(model.predict_log_proba(NEW), reject=reject) == 3).tolist() == rejected.tolist()


def test_a_bad_number_of_a_rule_is_refused_by_the_rule():
    with pytest.raises(ValueError, match="a margin lies between 0 and 1, found 2"):
        DecisionClassifier(LDA(), reject={"margin": 2}).fit(X, Y)


@pytest.mark.parametrize("reject", [{"error_rate": 0.1}, ErrorRate(0.1)])
def test_a_learnt_rule_is_learnt_from_held_out_rows(reject, tmp_path):
    model = DecisionClassifier(LDA(), reject=reject).fit(X, Y)
    assert model.learnt_.held_out is not None
    answered = model.predict(NEW) != "reject"
    wrong = model.predict(NEW)[answered] != NEW_Y[answered]
    assert 0.3 < answered.mean() < 0.95
    assert wrong.mean() < 0.6 * (LDA().fit(X, Y).predict(NEW) != NEW_Y).mean()
    held, decider = model.learnt_.held_out, model._decider()
    codes = decider.codes(held.log_posterior, None)
    assert 0.08 < (codes != Y)[codes < 3].mean() <= 0.1
    again = reloaded(model, tmp_path)
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    strict = model.set_decision(reject={"error_rate": 0.02})
    assert (strict.predict(NEW) == "reject").sum() > (~answered).sum()


def test_a_learnt_rule_needs_held_out_rows_and_says_so():
    with pytest.raises(
        ValueError, match=r"the reject rule ErrorRate\(most=0.1\) is learnt from rows that the"
    ):
        DecisionClassifier(LDA().fit(X, Y), reject=ErrorRate(0.1)).predict(NEW)
    fitted = DecisionClassifier(LDA()).fit(X, Y)
    with pytest.raises(ValueError, match="call fit with cv=5"):
        fitted.set_decision(reject={"error_rate": 0.1})


def test_a_learnt_rule_sees_rows_as_they_are_decided():
    seen = []

    class Watching(ErrorRate):
        def learnt_from(self, rows):
            seen.append(rows)
            return super().learnt_from(rows)

    costs = 1.0 - np.eye(3)
    costs[0, 2] = 5.0
    model = DecisionClassifier(
        LDA(), reject=Watching(0.1), costs=costs, priors=[0.6, 0.2, 0.2], calibration="vector"
    ).fit(X, Y)
    held, rows = model.learnt_.held_out, seen[-1]
    expected = model._decider().adjustment.apply(held.log_posterior)
    assert np.array_equal(rows.log_posterior, expected)
    assert np.array_equal(rows.y, Y)
    np.testing.assert_allclose(rows.risk, (np.exp(expected) @ costs).min(axis=1))
    ratio = np.array([0.6, 0.2, 0.2]) / model.learnt_.observed
    np.testing.assert_allclose(rows.weight, ratio[Y])
    assert rows.new_weight == pytest.approx(ratio.max())


@pytest.mark.parametrize("name", ["bias", "power"])
def test_a_calibrator_calibrates_is_saved_and_explained(name, tmp_path):
    rows, new = np.repeat(X, 3, axis=1), np.repeat(NEW, 3, axis=1)  # evidence counted three times
    with pytest.warns(PosteriorWarning):
        model = DecisionClassifier(GaussianNB(), calibration=name).fit(rows, Y)
    with pytest.warns(PosteriorWarning):
        alone = CalibratedClassifier(GaussianNB(), method=name).fit(rows, Y)
    raw = model.estimator_.predict_proba(new)
    assert np.abs(model.predict_proba(new) - raw).max() > (0.001 if name == "bias" else 0.05)
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)
    np.testing.assert_allclose(alone.predict_proba(new), model.predict_proba(new), atol=1e-9)
    if name == "power":
        assert model.scaling_ == alone.scaling_ == Sharpened(0.25)
    for each in (model, alone):
        again = reloaded(each, tmp_path)
        assert np.array_equal(again.predict_log_proba(new), each.predict_log_proba(new))
        assert str(again.scaling_) == str(each.scaling_)


def test_the_command_line_takes_its_keys_from_the_registries(tmp_path, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(each) for each in arguments])
        return end.value.code, capsys.readouterr()

    model, out = tmp_path / "m.posterior", tmp_path / "out.jsonl"
    assert run("fit", "penguins", "-m", "lda", "--calibration", "power", "-o", model)[0] == 0
    assert load(model).scaling_.power > 0
    for rule, least in (("margin=0.9", 1), ("error_rate=0.001", 0)):
        code, said = run("predict", model, "penguins", "--reject", rule, "-o", out)
        assert code == 0, said.err
        answers = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert len(answers) == len(load_penguins().X)
        assert sum("reject" in row.values() for row in answers) >= least
    code, said = run("predict", model, "penguins", "--reject", "luck=1", "-o", out)
    assert code == 2
    assert "threshold=0.9, cost=0.1, coverage=0.9, margin=NUMBER, error_rate=NUMBER" in said.err


def test_a_picture_marks_the_rule_where_it_is_a_point_of_the_curve():
    logs = LDA().fit(X, Y).predict_log_proba(NEW)
    learnt = DecisionClassifier(LDA(), reject={"error_rate": 0.1}).fit(X, Y)._decider().rule.reject
    shown = RiskCoverageDisplay.from_predictions(NEW_Y, logs, reject=learnt)
    assert shown.curve.threshold[shown.marked] <= learnt.most < shown.curve.threshold[shown.marked + 1]
    for reject in ({"margin": 0.3}, {"error_rate": 0.1}):
        with pytest.raises(ValueError, match="is no point of this curve"):
            RiskCoverageDisplay.from_predictions(NEW_Y, logs, reject=reject)


def test_names_that_are_taken_are_refused():
    for register, mine in ((register_reject_rule, Margin), (register_calibrator, lambda *rows: None)):
        with pytest.raises(ValueError, match=r"there is a .* already"):
            register("threshold" if register is register_reject_rule else "vector", mine)
        with pytest.raises(ValueError, match="found 'not a name'"):
            register("not a name", mine)
        with pytest.raises(TypeError, match="must be a"):
            register("something", 3)
