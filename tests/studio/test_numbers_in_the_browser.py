"""The page's numbers are the library's: 1,000 random settings, and rows with cells changed, in a browser."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chromium import Chromium
from posterior.decision import (
    Costs,
    Coverage,
    average_cost,
    confusion_table,
    decide,
    least_expected_cost,
    reliability_curve,
    shift_priors,
)
from posterior.estimators.outlier_calibration import unwrapped
from posterior.math import log_sum_exp
from posterior.plot.cost import CostThresholdDisplay
from posterior.studio import Subject, page_of
from posterior.studio.content import content
from posterior.studio.held_rows import PageRows
from posterior.studio.outlying import read_back, rounded_scores, thousandths
from studio_pages import STUDIO_PAGES

SETTINGS = 100  # of each page: 1,200 in all
# Of one cost or class frequency each: the third and fourth value of the same one are found in a shorter way.
DRAGS, MOVES = 3, 4
EVERY = 5  # rows are compared in their posteriors; all in what is done with them
CHANGES = 60  # rows with some cells changed, of each page
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


@dataclass(frozen=True, eq=False)
class Case:
    """A page that is open, what it is about, and its rows as it reads them."""

    name: str
    subject: Subject
    data: dict[str, Any]
    rows: PageRows

    @property
    def n_classes(self) -> int:
        return len(self.data["classes"])


@pytest.fixture(scope="module", params=STUDIO_PAGES)
def case(request: pytest.FixtureRequest, browser: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Case:
    subject = STUDIO_PAGES[request.param]()
    path = Path(tmp_path_factory.mktemp("pages")) / f"{request.param}.html"
    path.write_text(page_of(subject), encoding="utf-8")
    browser.open(path, 1280, "light")
    return Case(request.param, subject, content(subject), PageRows.of(subject.rows))


def random_setting(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    K, finds_odd = case.n_classes, "logs" in case.data["outliers"]
    costs = 1.0 - np.eye(K)
    kind = rng.random()
    if kind < 0.4:
        costs = np.round(rng.exponential(2.0, (K, K)), 2) * (1 - np.eye(K)) - np.diag(rng.integers(0, 2, K))
    elif kind < 0.7:  # one cell or a few, as a hand changes them
        places = (rng.integers(0, K, 3), rng.integers(0, K, 3))
        costs[places] = np.round(rng.exponential(3.0, 3), 2)
    rules = [
        None,
        ["threshold", round(float(rng.uniform(0.3, 0.999)), 4)],
        ["cost", round(float(rng.uniform(0, 0.8)), 4)],
        ["coverage", round(float(rng.uniform(0.3, 1)), 4)],
    ]
    priors = rng.dirichlet(np.ones(K)).tolist() if rng.random() < 0.6 else None
    return {
        "priors": priors,
        "costs": costs.tolist(),
        "reject": rules[rng.integers(4)],
        "look": round(float(rng.uniform(0, 1)), 3),
        "outliers": round(float(rng.uniform(0.01, 0.3)), 3) if rng.random() < 0.5 and finds_odd else 0,
        "positive": int(rng.integers(K)),
    }


def dragged_cost(rng: np.random.Generator, case: Case) -> list[dict[str, Any]]:
    """A setting, and the same with one cost at other values."""
    first = random_setting(rng, case)
    truth, action = rng.integers(case.n_classes, size=2)
    settings = [first]
    for value in rng.choice([0.0, 1.0, *np.round(rng.exponential(2.0, 6), 2)], MOVES):
        costs = [row.copy() for row in first["costs"]]
        costs[truth][action] = float(value)
        settings.append({**first, "costs": costs})
    return settings


def dragged_share(rng: np.random.Generator, case: Case) -> list[dict[str, Any]]:
    """A setting, and the same with one class frequency at other values, the others in proportion."""
    K, k = case.n_classes, rng.integers(case.n_classes)
    first = {**random_setting(rng, case), "costs": (1.0 - np.eye(K)).tolist()}
    others = rng.dirichlet(np.ones(K)) * (np.arange(K) != k)
    settings = [first]
    for share in rng.choice([1e-6, 0.5, *rng.uniform(0, 1, 6)], MOVES, replace=False):
        priors = others / others.sum() * (1 - share)
        priors[k] = share
        settings.append({**first, "priors": priors.tolist()})
    return settings


OUTCOMES = """
(settings => {
  const { studio, outcome, posteriorsOfRow, oddRows } = posteriorStudio, { rows, data, outliers } = studio;
  return settings.map(setting => {
    const odd = oddRows(outliers, setting.outliers, setting.priors);
    const found = outcome(rows, setting, data.old, data.observed, odd);
    const plain = value => Array.from(value, x => Number.isNaN(x) ? null : x);
    const curves = Object.fromEntries(["cost", "rejecting", "precision", "recall", "coverage"].map(
      name => [name, found.curves[name] ? plain(found.curves[name]) : null]));
    return { ...found, confusion: plain(found.confusion), done: plain(found.done),
      posterior: [...rows.codes.keys()].filter(i => i % EVERY === 0).flatMap(i => posteriorsOfRow(rows, i)),
      curves: { ...curves, high: found.curves.high, bayes: found.curves.bayes } };
  });
})
"""


@pytest.fixture(scope="module")
def worked(case: Case, browser: Chromium) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Settings, and what the page makes of each."""
    rng = np.random.default_rng(len(case.name))
    settings = [random_setting(rng, case) for _ in range(SETTINGS)]
    for drag in (dragged_cost, dragged_share):
        settings += [setting for _ in range(DRAGS) for setting in drag(rng, case)]
    found = browser.evaluate(f"{OUTCOMES.replace('EVERY', str(EVERY))}({json.dumps(settings)})")
    return list(zip(settings, found, strict=True))


@dataclass(frozen=True, eq=False)
class Expected:
    """What the library makes of a setting."""

    logs: Any
    weight: Any
    done: Any
    costs: Any

    @classmethod
    def of(cls, case: Case, setting: dict[str, Any]) -> "Expected":
        logs, weight, K = case.rows.log_posterior, case.rows.weight, case.n_classes
        own, priors = 1.0, setting["priors"]
        if priors is not None:
            logs = shift_priors(logs, case.data["old"], priors)
            likelier = np.array(priors) / np.array(case.data["observed"])
            weight, own = weight * likelier[case.rows.codes], float(likelier.max())
        costs = np.array(setting["costs"])
        rule: Any = None if setting["reject"] is None else dict([setting["reject"]])
        if rule and "coverage" in rule:
            share = Coverage(rule["coverage"])
            rule = share.calibrated(least_expected_cost(logs, costs), weight, own)
        done = decide(logs, costs, reject=rule)
        if setting["outliers"]:
            done = np.where(odd_rows(case, setting), K + 1, done)
        return cls(logs, weight, done, costs)


def odd_rows(case: Case, setting: dict[str, Any]) -> Any:
    """Which rows the outlier rule finds, from log densities as they are rounded in the page."""
    rule, places = case.subject.fitted.outlier_rule_, case.rows.places
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner, seen = unwrapped(rule.estimator_, case.subject.table.part(places).native)
        logs = read_back(thousandths(inner.model_.log_density(inner._dataset(seen))))
    priors = setting["priors"]
    rows = rounded_scores(rule._calibration.summarized())
    prior = inner.model_.log_prior
    if priors is None:
        score = log_sum_exp(rows.log_density + prior)
        rows = type(rows)(score, rows.weight, rows.log_density, rows.y, rows.count)
    else:
        prior, rows = np.log(priors), rows.under(np.array(priors), inner.classes_)
    return rows.p_values(log_sum_exp(logs + prior)) <= setting["outliers"]


def test_posteriors_actions_confusion_and_costs_are_those_of_the_library(
    case: Case, worked: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    K = case.n_classes
    for setting, found in worked:
        expected = Expected.of(case, setting)
        posterior = np.array(found["posterior"]).reshape(-1, K)
        np.testing.assert_allclose(posterior, np.exp(expected.logs[::EVERY]), rtol=1e-9)
        np.testing.assert_array_equal(found["done"], expected.done)
        table = confusion_table(
            case.rows.codes, expected.done, classes=K, actions=K + 2, sample_weight=expected.weight
        )
        np.testing.assert_allclose(np.array(found["confusion"]).reshape(K, K + 2), table.counts, **CLOSE)
        answered = expected.done < K
        np.testing.assert_allclose(
            found["coverage"], expected.weight[answered].sum() / expected.weight.sum(), **CLOSE
        )
        prices = Costs(expected.costs).with_action(setting["look"]).with_action(setting["look"])
        np.testing.assert_allclose(found["costOfAll"], table.average_cost(prices.matrix), **CLOSE)
        if answered.any():
            rows = {"sample_weight": expected.weight[answered]}
            spent = average_cost(case.rows.codes[answered], expected.done[answered], expected.costs, **rows)
            np.testing.assert_allclose(found["cost"], spent, **CLOSE)
            risk = least_expected_cost(expected.logs, expected.costs)[answered]
            told = np.average(risk, weights=expected.weight[answered])
            np.testing.assert_allclose(found["expected"], told, **CLOSE)


def test_curves_and_reliability_are_those_of_the_library(
    case: Case, worked: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    steps = np.arange(201)
    for setting, found in worked[::25]:
        expected = Expected.of(case, setting)
        codes, weight, positive = case.rows.codes, expected.weight, setting["positive"]
        p = np.exp(expected.logs[:, positive])
        of_class = codes == positive
        curves = found["curves"]
        for t in steps[::20]:
            said = (p > t / 200) | (t == 0)
            if weight[said].sum() > 0:
                share = weight[said & of_class].sum() / weight[said].sum()
                np.testing.assert_allclose(curves["precision"][t], share, **CLOSE)
            np.testing.assert_allclose(
                curves["recall"][t], weight[said & of_class].sum() / weight[of_class].sum(), **CLOSE
            )
        display = CostThresholdDisplay.from_predictions(
            codes, expected.logs, costs=expected.costs, rejection=setting["look"], sample_weight=weight
        )
        limits = steps[::20] / 200 * curves["high"]
        # A limit answers the rows up to it; the library's steps begin behind each row.
        at = np.searchsorted(display.threshold, limits * (1 + 1e-9), side="right") - 1
        np.testing.assert_allclose(np.array(curves["rejecting"])[::20], display.cost[at], **CLOSE)
        bins = reliability_curve(
            codes, expected.logs, n_bins=10, strategy="uniform", sample_weight=weight
        ).by_class[positive]
        for name in ("predicted", "observed", "weight", "low", "high"):
            told = [each[name] for each in found["reliability"]]
            np.testing.assert_allclose(told, getattr(bins, name), **CLOSE)


def test_the_threshold_that_costs_imply_is_that_of_the_library(
    case: Case, worked: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    checked = 0
    for setting, found in worked[::5]:
        if case.n_classes != 2 or found["curves"]["bayes"] is None:
            continue
        expected = Expected.of(case, setting)
        display = CostThresholdDisplay.from_predictions(
            case.rows.codes,
            expected.logs,
            costs=expected.costs,
            positive=setting["positive"],
            sample_weight=expected.weight,
        )
        np.testing.assert_allclose(found["curves"]["bayes"], display.bayes, rtol=1e-12)
        t = np.arange(0, 201, 20) / 200
        at = np.searchsorted(display.threshold, t, side="right") - 1
        np.testing.assert_allclose(np.array(found["curves"]["cost"])[::20], display.cost[at], **CLOSE)
        checked += 1
    assert checked > 0 or case.n_classes != 2


# -- one row -----------------------------------------------------------------------------------------

WHAT_IFS = """
(cases => {
  const { studio, termsOf, posteriorOf, shifted } = posteriorStudio, { data } = studio;
  const { model, shown } = data, fixedTerms = Object.entries(shown.fixed);
  const at = new Map(model.columns.map((column, j) => [column.place, j]));
  const nameOf = place => model.columns[at.get(place)].name;
  return cases.map(({ row, changed, priors }) => {
    const cellOf = place => String(place) in changed ? changed[place] : shown.cells[at.get(place)][row];
    const fixed = Object.fromEntries(fixedTerms.map(([place, terms]) => [place, terms[row]]));
    const terms = termsOf(model, cellOf, fixed);
    const logs = shifted(posteriorOf(model, terms), data.old, priors);
    return { logs: logs.map(x => x === -Infinity ? null : x), terms: terms.map(term => term.values),
      names: terms.map(term => term.name ?? (term.places ?? [term.place]).map(nameOf).join(":")) };
  });
})
"""


def random_change(rng: np.random.Generator, case: Case) -> tuple[dict[str, Any], Any]:
    """A row with some cells changed: for the page, and as a table for the library."""
    data, subject = case.data, case.subject
    model = data["model"]
    s = int(rng.integers(len(data["shown"]["rows"])))
    place = case.rows.places[data["shown"]["rows"][s]]
    frame = subject.table.part(np.array([place])).native
    frame = frame.copy() if hasattr(frame, "columns") else pd.DataFrame(frame, columns=["x0"])
    fixed = set(data["shown"]["fixed"])
    editable = [j for j, column in enumerate(model["columns"]) if str(column["place"]) not in fixed]
    changed: dict[str, Any] = {}
    for j in rng.permutation(editable)[: rng.integers(0, 4)]:
        column = model["columns"][j]
        levels = subject.fitted.estimator_.schema_.columns[column["place"]].levels
        cells = [cell for cell in data["shown"]["cells"][j] if cell is not None]
        if rng.random() < 0.2:
            value, cell = None, None
        elif levels is not None:
            value = int(rng.integers(len(levels)))
            cell = levels[value]
        else:
            value = cells[rng.integers(len(cells))]
            value = value if column["whole"] or column["name"] in ("count", "flag") else value * 1.01
            cell = value
        changed[str(column["place"])] = value
        name = frame.columns[column["place"]]
        frame[name] = frame[name].astype(object) if cell is None or levels is not None else float(cell)
        frame[name] = [cell]
        if levels is None:
            frame[name] = frame[name].astype(float)
    priors = rng.dirichlet(np.ones(case.n_classes)).tolist() if rng.random() < 0.3 else None
    return {"row": s, "changed": changed, "priors": priors}, frame


def test_rows_with_cells_changed_get_the_posteriors_and_terms_of_the_library(
    case: Case, browser: Chromium
) -> None:
    rng = np.random.default_rng(7)
    changes, frames = zip(*(random_change(rng, case) for _ in range(CHANGES)), strict=True)
    found = browser.evaluate(f"{WHAT_IFS}({json.dumps(changes)})")
    fitted = case.subject.fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gaps in columns that had none in training
        for change, frame, told in zip(changes, frames, found, strict=True):
            logs = np.asarray(fitted.predict_log_proba(frame))
            if change["priors"] is not None:
                logs = shift_priors(logs, case.data["old"], change["priors"])
            np.testing.assert_allclose(np.exp(told["logs"]), np.exp(logs[0]), rtol=1e-9)
            parts = fitted.estimator_.contributions(frame, of=fitted.classes_[0], against=fitted.classes_[1])
            terms = np.array(told["terms"])
            odds = dict(zip(told["names"], terms[:, 0] - terms[:, 1], strict=True))
            assert set(odds) == set(parts.terms)
            for name, value in zip(parts.terms, parts.values[0], strict=True):
                np.testing.assert_allclose(odds[name], value, rtol=1e-9, atol=1e-9)


# -- one column of a row, and the nearest row ----------------------------------------------------------

LINES = """
(places => places.map(place => {
  const { explorer } = posteriorStudio.studio, { line } = explorer;
  line.place = place;
  line.show();
  return { values: line.values, logs: line.logs.map(logs => logs.map(x => x === -Infinity ? null : x)) };
}))
"""


def test_the_line_of_a_column_is_the_posterior_of_the_library(case: Case, browser: Chromium) -> None:
    data, fitted = case.data, case.subject.fitted
    fixed = set(data["shown"]["fixed"])
    columns = [c for c in data["model"]["columns"] if not c.get("levels") and str(c["place"]) not in fixed]
    if not columns:
        pytest.skip("no column of numbers can be changed in this page")
    places = [column["place"] for column in columns[:3]]
    browser.evaluate("posteriorStudio.studio.reset()")
    s = browser.evaluate("posteriorStudio.studio.setting.row")
    place = case.rows.places[data["shown"]["rows"][s]]
    row = case.subject.table.part(np.array([place])).native
    frame = row.copy() if hasattr(row, "columns") else pd.DataFrame(row)
    for column, told in zip(places, browser.evaluate(f"{LINES}({json.dumps(places)})"), strict=True):
        values = np.array(told["values"], dtype=float)
        many = frame.loc[frame.index.repeat(len(values))].reset_index(drop=True)
        many[many.columns[column]] = values
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = fitted.predict_proba(many if hasattr(row, "columns") else many.to_numpy())
        found = np.exp(np.array(told["logs"], dtype=float))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)  # below are fewer digits


def test_the_nearest_row_is_the_nearest_by_gower(case: Case, browser: Chromium) -> None:
    data = case.data
    cells = np.array(data["shown"]["cells"], dtype=float).T
    levels = np.array([bool(column.get("levels")) for column in data["model"]["columns"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column of gaps has no range
        ranges = np.nanmax(cells, axis=0) - np.nanmin(cells, axis=0)
    found = browser.evaluate(
        "(({ studio }) => { studio.reset(); const { nearest } = studio.explorer;"
        " const answers = studio.data.shown.rows.map(i => studio.found.done[i]);"
        " const found = [0, 1, 2, 3].map(s => { studio.setting.row = s; return nearest.find(); });"
        " return { answers, found }; })(posteriorStudio)"
    )
    answers = np.array(found["answers"])
    for s, told in enumerate(found["found"]):
        apart = np.where(
            levels, cells != cells[s], np.abs(cells - cells[s]) / np.where(ranges > 0, ranges, 1)
        )
        apart[np.isnan(cells) | np.isnan(cells[s])] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            distance = np.nanmean(apart.astype(float), axis=1)
        others = np.flatnonzero((answers != answers[s]) & ~np.isnan(distance))
        if not len(others):
            assert told is None
            continue
        assert answers[told["s"]] != answers[s]
        np.testing.assert_allclose(told["distance"], distance[others].min(), rtol=1e-12)
