"""A family of another package, with statistics of its own, used wherever ours can be."""

import json
from dataclasses import replace
from io import BytesIO
from typing import Annotated

import matplotlib as mpl
import numpy as np
import pytest
from gamma_models import Gamma, GammaDistribution, GammaSums
from scipy import stats

from places import REPOSITORY, module_from
from posterior import DecisionClassifier, GenerativeClassifier, NaiveBayes
from posterior.cli import main
from posterior.datasets import load_penguins
from posterior.families import Family, MultivariateNormal, ProductDistribution
from posterior.notices import OutsideSupportWarning
from posterior.persistence import ModelFileError, load, register, registry, save
from posterior.persistence.arrays import shapes_in
from posterior.persistence.loading import read
from posterior.persistence.saving import written
from posterior.plot import ClassPanelDisplay, DensityDisplay
from posterior.workflow import inspect as inspection_of

mpl.use("Agg")
PENGUINS = load_penguins()
X, Y = PENGUINS.X, np.asarray(PENGUINS.y)
MASS, BILL = "body_mass_g", "bill_length_mm"
FAMILIES = {MASS: Gamma(), BILL: Gamma()}


LAWS = module_from(REPOSITORY / "tests" / "families" / "test_laws.py")  # that our own families obey
LIKE_OURS = {
    name: law
    for name, law in vars(LAWS).items()
    for mark in getattr(law, "pytestmark", ())
    if name.startswith("test_") and LAWS.CASES["exponential"] in mark.args[1]
}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(X, Y)


def gammas(model):
    return [d for _, d in model.model_.distributions if isinstance(d, GammaDistribution)]


def of_columns(model):
    names = model.schema_.names
    return [
        (d, [names[j] for j in block.columns])
        for block, d in model.model_.distributions
        if isinstance(d, GammaDistribution)
    ]


def to_bytes(model):
    return b"".join(bytes(part) for part in written(model))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(each) for each in arguments])
    said = capsys.readouterr()
    assert end.value.code == 0, said.err
    return said.out


# -- what it computes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LIKE_OURS.values(), ids=LIKE_OURS.keys())
def test_the_laws_of_our_families_of_positive_numbers_hold(law):
    law(case=LAWS.Case(Gamma(), LAWS.positive, scales=True))


def test_the_estimate_is_that_of_scipy():
    rng = np.random.default_rng(0)
    x = rng.gamma([0.3, 2.0, 700.0], size=(80, 3))
    found = Gamma().estimate(Gamma().summarize(x, np.zeros(80, dtype=int), None, 1))
    for j in range(3):
        shape, _, scale = stats.gamma.fit(x[:, j], floc=0)
        assert found.shape[0, j] == pytest.approx(shape, rel=1e-6)
        assert found.mean[0, j] == pytest.approx(shape * scale, rel=1e-6)
    expected = stats.gamma.logpdf(x, found.shape[0], scale=(found.mean / found.shape)[0]).sum(axis=1)
    np.testing.assert_allclose(found.log_density(x)[:, 0], expected, rtol=1e-9)


# -- estimators -----------------------------------------------------------------------------------------


def test_columns_are_described_by_it_and_the_others_as_always(model):
    plain = NaiveBayes(tied=False, weights=1.0).fit(X, Y)
    assert sum(d.n_columns for d in gammas(model)) == 2
    assert len(gammas(plain)) == 0
    assert model.n_parameters_ == plain.n_parameters_  # two for each class and column, as a normal has
    assert 0 < np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() < 0.9
    assert model.score(X, Y) > 0.9
    by_kind = NaiveBayes(families={"continuous": Gamma}, tied=False, weights=1.0).fit(X, Y)
    continuous = [column for column in by_kind.schema_.columns if column.kind == "continuous"]
    assert sum(d.n_columns for d in gammas(by_kind)) == len(continuous) > 2


def test_parts_of_a_table_give_the_model_of_the_whole(model):
    parts = NaiveBayes(families=FAMILIES, tied=False, weights=1.0)
    for rows in np.array_split(np.arange(len(X)), 5):
        parts.partial_fit(X.iloc[rows], Y[rows])
    half = np.arange(len(X)) % 2 == 0
    added = NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(X[half], Y[half])
    added = added + NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(X[~half], Y[~half])
    for other in (parts, added):
        np.testing.assert_allclose(other.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-9)
        assert other.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-12)


def test_held_out_posteriors_are_those_of_models_fitted_without_the_rows():
    model = NaiveBayes(families=FAMILIES, tied=False, weights=1.0)
    fold = np.arange(len(X)) % 4
    weight = 1.0 + np.arange(len(X)) % 3
    found = model.fit(X, Y, sample_weight=weight).k_fold_log_proba(X, Y, cv=fold, sample_weight=weight)
    for f in range(4):
        kept = fold != f
        without = NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(
            X[kept], Y[kept], sample_weight=weight[kept]
        )
        np.testing.assert_allclose(found[~kept], without.predict_log_proba(X[~kept]), rtol=1e-8, atol=1e-10)


def test_each_row_is_left_out_by_the_closed_form():
    some = X[[MASS, BILL]]
    model = GenerativeClassifier([([MASS, BILL], Gamma())]).fit(some, Y)
    found = model.leave_one_out_log_proba(some, Y)
    for i in (0, 3, 100, 343):  # of row 3 nothing is known
        kept = np.arange(len(X)) != i
        without = GenerativeClassifier([([MASS, BILL], Gamma())]).fit(some[kept], Y[kept])
        np.testing.assert_allclose(found[i], without.predict_log_proba(some[i : i + 1])[0], rtol=1e-9)


def test_contributions_add_up_to_the_log_odds(model):
    found = model.contributions(X[:20], of="Gentoo", against="Adelie")
    logs = model.predict_joint_log_proba(X[:20])
    of, against = (model.classes_.tolist().index(name) for name in ("Gentoo", "Adelie"))
    np.testing.assert_allclose(found.total, logs[:, of] - logs[:, against], rtol=1e-9)
    np.testing.assert_allclose(found.values.sum(axis=1), found.total, rtol=1e-9)
    by_mass = found.values[:, found.terms.index(MASS)]
    (density,) = [d.marginal([names.index(MASS)]) for d, names in of_columns(model) if MASS in names]
    terms = density.log_density(X[[MASS]].to_numpy(dtype=float)[:20])
    np.testing.assert_allclose(by_mass, terms[:, of] - terms[:, against], rtol=1e-9)


def test_it_stands_beside_other_families_in_a_composition():
    flat = ["bill_depth_mm", "flipper_length_mm"]
    model = GenerativeClassifier([(flat, MultivariateNormal()), ([MASS, BILL], Gamma())]).fit(X, Y)
    assert model.score(X, Y) > 0.9
    drawn, y = model.sample(500, random_state=0)
    assert (drawn[MASS] > 0).all()
    again = GenerativeClassifier([(flat, MultivariateNormal()), ([MASS, BILL], Gamma())]).fit(drawn, y)
    np.testing.assert_allclose(gammas(again)[0].mean, gammas(model)[0].mean, rtol=0.03)


def test_values_outside_the_support_are_refused_in_training_and_left_out_in_prediction(model):
    bad = X.assign(**{MASS: X[MASS] - 4000})
    with pytest.raises(ValueError, match=f"column '{MASS}': a gamma column takes positive values only"):
        NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(bad, Y)
    negative, missing = (X[:5].assign(**{MASS: value}) for value in (-1.0, np.nan))
    with pytest.warns(OutsideSupportWarning, match="5 rows with a value that no class can have"):
        np.testing.assert_array_equal(model.predict_proba(negative), model.predict_proba(missing))


def test_a_decision_is_made_with_it(tmp_path):
    model = DecisionClassifier(
        NaiveBayes(families=FAMILIES, tied=False, weights=1.0),
        reject={"coverage": 0.9},
        calibration="vector",
        outliers=0.02,
    ).fit(X, Y)
    save(model, tmp_path / "model", keep="rows")
    found = model.predict(X)
    assert 0.01 < (found == "reject").mean() < 0.2
    assert load(tmp_path / "model").predict(X).tolist() == found.tolist()


# -- model files ----------------------------------------------------------------------------------------


def test_a_model_comes_back_to_the_bit_and_learns_on(model):
    data = to_bytes(model)
    again = read(BytesIO(data), len(data))
    assert to_bytes(again) == data
    assert again.families == FAMILIES
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    half = np.arange(len(X)) % 2 == 0
    first = NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(X[half], Y[half])
    data = to_bytes(first)
    more = read(BytesIO(data), len(data)).partial_fit(X[~half], Y[~half])
    np.testing.assert_allclose(more.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-9)


def forged(model, **changes):
    """The model with other sums of its gamma columns, which nobody summed."""
    fake = NaiveBayes(families=FAMILIES, tied=False, weights=1.0)
    statistics = model.model_.statistics
    blocks = [
        replace(sums, **{k: change(getattr(sums, k)) for k, change in changes.items()})
        if isinstance(sums, GammaSums)
        else sums
        for sums in statistics.blocks
    ]
    fake.__dict__.update(vars(model))
    fake.model_ = replace(model.model_, statistics=replace(statistics, blocks=tuple(blocks)))
    return fake


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"total": lambda a: -a}, "'total' holds numbers that are not '>=0'"),
        ({"log_total": lambda a: a + np.nan}, "'log_total' holds numbers that are not 'finite'"),
        ({"log_total": lambda a: a[:, :0]}, "'log_total' has the shape"),
        ({"total": lambda a: a.astype(np.float32)}, "'total' is ndarray, where an array of float64 belongs"),
        (
            dict.fromkeys(("weight", "total", "log_total"), lambda a: a[:2]),
            "sums of other classes or columns",
        ),
        (
            dict.fromkeys(("weight", "total", "log_total"), lambda a: np.hstack([a, a])),
            "sums of other classes or columns",
        ),
        ({"log_total": lambda a: a + 1e3}, "logarithms that no rows have"),
        ({"weight": lambda a: 2 * a}, "cells that weigh more than their rows"),
    ],
)
def test_sums_that_are_none_are_refused_by_what_the_class_declares(model, changes, message):
    to_bytes(forged(model))  # as it is
    with pytest.raises(ModelFileError, match=message):
        to_bytes(forged(model, **changes))


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_parameters_that_are_none_are_refused_by_what_the_class_declares(value):
    fake = NaiveBayes(families=FAMILIES, tied=False, weights=1.0).fit(X, Y)
    gammas(fake)[0].shape[0, 0] = value
    with pytest.raises(ModelFileError, match="'shape' holds numbers that are not '>0'"):
        to_bytes(fake)


def test_a_file_with_a_family_that_is_not_registered_says_what_to_do(model, monkeypatch):
    data = to_bytes(model)
    monkeypatch.delitem(registry.BY_TAG, "gamma_models.gamma-distribution")  # as where nobody registered it
    with pytest.raises(ModelFileError, match="register its class first"):
        read(BytesIO(data), len(data))


def test_a_family_that_does_not_say_what_it_estimates_is_refused():
    class Untold(Gamma):
        def estimate(self, statistics):
            return super().estimate(statistics)

    class WithoutParts(ProductDistribution):
        pass

    class Partless(Gamma):
        def estimate(self, statistics) -> WithoutParts:
            return WithoutParts()

    for kind in (Untold, Partless):
        with pytest.raises(TypeError, match=r"estimate must say in its annotation which Distribution"):
            register("gamma_models.other", kind)
    assert "gamma_models.other" not in registry.BY_TAG
    assert issubclass(Untold, Family)


def test_a_bound_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="'a' is declared as 'K d positive', which must end in one of any, "):
        shapes_in({"a": Annotated[np.ndarray, "K d positive"]})


# -- pictures and commands --------------------------------------------------------------------------------


def test_densities_are_drawn(model):
    import matplotlib.pyplot as plt

    shown = DensityDisplay.from_estimator(model, X, Y, feature=MASS).plot()
    (density,) = [d.marginal([names.index(MASS)]) for d, names in of_columns(model) if MASS in names]
    expected = density.log_density(shown.x[:, None])
    np.testing.assert_allclose(shown.log_density, expected, rtol=1e-9)
    plt.close(shown.figure_)
    panels = ClassPanelDisplay.from_estimator(model, X, Y, features=[MASS]).plot()
    (panel,) = panels.panels
    np.testing.assert_allclose(panel.model, np.exp(density.log_density(panel.x[:, None])).T)
    plt.close(panels.figure_)


def test_it_is_inspected_and_predicts_on_the_command_line(model, tmp_path, capsys):
    path, out = tmp_path / "m.posterior", tmp_path / "out.jsonl"
    save(model, path)
    listed = {(p.columns, p.name): p.values for p in inspection_of(model).parameters}
    for d, names in of_columns(model):
        for j, name in enumerate(names):
            np.testing.assert_array_equal(listed[(name,), "shape"], d.shape[:, j])
            np.testing.assert_array_equal(listed[(name,), "mean"], d.mean[:, j])
    told = run(capsys, "inspect", path)
    assert "shape" in told
    assert MASS in told
    run(capsys, "predict", path, "penguins", "-o", out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["predicted"] for row in rows] == model.predict(X).tolist()
