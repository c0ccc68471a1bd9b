"""The moving pictures of the course: their numbers are the library's, and keys move them as pointers do."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from chromium import Chromium
from posterior import LDA, QDA, GaussianNB, GenerativeClassifier, LogisticRegression
from posterior.families import MultivariateNormalDistribution
from posterior.linear import GradientDescent, Newton
from posterior.studio import live_files

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>live</title>
<link rel="stylesheet" href="live.css"></head><body>
<div class="posterior-live" data-live="gaussians"><p id="still">a still picture</p></div>
<div class="posterior-live" data-live="points"></div>
<div class="posterior-live" data-live="descent"></div>
<script type="module">SCRIPT</script></body></html>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    files = live_files()
    (folder / "live.css").write_text(files["live.css"], encoding="utf-8")
    path = folder / "live.html"
    path.write_text(PAGE.replace("SCRIPT", files["live.js"]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def live(page: Path, browser: Chromium) -> Chromium:
    browser.open(page, 1280, "light")
    return browser


def random_classes(rng: np.random.Generator, K: int, *, tied: bool) -> list[dict[str, Any]]:
    classes = []
    for _ in range(K):
        root = rng.normal(size=(2, 2)) + 0.3 * np.eye(2)
        covariance = root @ root.T + 0.1 * np.eye(2)
        covariance = classes[0]["covariance"] if tied and classes else covariance.tolist()
        classes.append({"mean": rng.normal(0, 2, 2).tolist(), "covariance": covariance, "cost": 1.0})
    for each, prior, cost in zip(classes, rng.dirichlet(np.ones(K)), rng.uniform(0.2, 5, K), strict=True):
        each |= {"prior": float(prior), "cost": float(cost)}
    return classes


GAUSSIANS = """
(cases => cases.map(({ classes, point }) => {
  const { quadraticOf, posteriorAt, boundaryForm, conicType } = posteriorLive;
  const form = boundaryForm(classes[0], classes[1]);
  return { posterior: posteriorAt(classes.map(quadraticOf), point), form, type: conicType(form) };
}))
"""


def test_posteriors_and_boundaries_of_gaussians_are_those_of_the_library(live: Chromium) -> None:
    rng = np.random.default_rng(3)
    cases = [
        {
            "classes": random_classes(rng, 2 + i % 2, tied=i % 3 == 0),
            "point": rng.normal(0, 2, 2).tolist(),
        }
        for i in range(200)
    ]
    found = live.evaluate(f"{GAUSSIANS}({json.dumps(cases)})")
    types = set()
    for case, told in zip(cases, found, strict=True):
        classes, K = case["classes"], len(case["classes"])
        given = MultivariateNormalDistribution(
            np.array([c["mean"] for c in classes]), np.array([c["covariance"] for c in classes])
        )
        model = GenerativeClassifier.from_distributions(
            list(range(K)), [c["prior"] for c in classes], [(["x0", "x1"], given)]
        )
        np.testing.assert_allclose(
            told["posterior"], model.predict_proba([case["point"]])[0], rtol=1e-9, atol=1e-300
        )
        conic = model.quadratic_form(0, 1)
        A, b, a = conic.expanded()
        a += np.log(classes[0]["cost"] / classes[1]["cost"])
        size = max(np.abs(A).max(), np.abs(b).max(), abs(a))
        np.testing.assert_allclose(told["form"]["A"], A, rtol=1e-9, atol=1e-10 * size)
        np.testing.assert_allclose(told["form"]["b"], b, rtol=1e-9, atol=1e-10 * size)
        np.testing.assert_allclose(told["form"]["a"], a, rtol=1e-9, atol=1e-10 * size)
        moved = type(conic)(
            conic.centre,
            conic.quadratic,
            conic.linear,
            conic.constant + np.log(classes[0]["cost"] / classes[1]["cost"]),
            conic.scale,
        )
        assert told["type"] == moved.type
        types.add(told["type"])
    assert types >= {"line", "ellipse", "hyperbola"}


def test_points_are_drawn_exactly_on_the_conic(live: Chromium) -> None:
    pieces = live.evaluate(
        "(({ form }) => [...document.querySelectorAll('[data-live=gaussians] .boundary')].length && form)"
        "(document.querySelector('[data-live=gaussians]').posteriorLive.boundaries[0])"
    )
    roots = live.evaluate(
        "(form => { const found = []; for (let i = -4; i <= 4; i++) for (const t of "
        "posteriorLive.zerosBetween(form, [-5, i], [5, i])) found.push([-5 + 10 * t, i]); return found; })"
        f"({json.dumps(pieces)})"
    )
    A, b, a = (np.array(pieces[key]) for key in ("A", "b", "a"))
    X = np.array(roots)
    assert len(X) > 4
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", X, A, X) + X @ b + a, 0, atol=1e-9)


REFIT = """
(cases => cases.map(({ points, K }) => ({
  gaussians: ["lda", "qda", "naive"].map(kind => posteriorLive.fitGaussians(points, K, kind)),
  logistic: posteriorLive.fitLogistic(points, K),
})))
"""


def test_models_are_refitted_as_the_library_does(live: Chromium) -> None:
    rng = np.random.default_rng(8)
    tables = []
    for i in range(12):
        K = 2 + i % 2
        y = np.concatenate([np.arange(K)] * 6 + [rng.integers(0, K, 20)])
        tables.append((rng.normal(size=(len(y), 2)) + rng.normal(0, 1.2, (K, 2))[y], y, K))
    cases = [
        {"points": [{"x": x.tolist(), "k": int(k)} for x, k in zip(X, y, strict=True)], "K": K}
        for X, y, K in tables
    ]
    found = live.evaluate(f"{REFIT}({json.dumps(cases)})")
    for (X, y, K), told in zip(tables, found, strict=True):
        for classes, model in zip(
            told["gaussians"], (LDA(), QDA(), GaussianNB(var_smoothing=0.0)), strict=True
        ):
            model.fit(X, y)
            block, distribution = model.model_.distributions[0]
            del block
            for k, each in enumerate(classes):
                np.testing.assert_allclose(each["mean"], X[y == k].mean(axis=0), rtol=1e-9)
                np.testing.assert_allclose(each["prior"], (y == k).mean(), rtol=1e-12)
                own = getattr(distribution, "covariance", None)
                expected = np.diag(distribution.variance[k]) if own is None else own[min(k, len(own) - 1)]
                np.testing.assert_allclose(each["covariance"], expected, rtol=1e-9, atol=1e-12)
        logistic = LogisticRegression(tol=1e-12).fit(X, y)
        coef, intercept = np.array(told["logistic"]["coef"]), np.array(told["logistic"]["intercept"])
        if K == 2:
            coef, intercept = coef[1:], intercept[1:]
        else:
            intercept = intercept - intercept.mean()
        expected = logistic.intercept_ - (logistic.intercept_.mean() if K > 2 else 0)
        np.testing.assert_allclose(coef, logistic.coef_, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(intercept, expected, rtol=1e-7, atol=1e-8)


def test_the_paths_of_descent_and_newton_are_those_of_the_library(live: Chromium) -> None:
    found = live.evaluate(
        "(() => { const live = document.querySelector('[data-live=descent]').posteriorLive;"
        " const { descentPath, newtonPath } = posteriorLive; const rows = live.rows;"
        " const descent = descentPath(rows, [0, 0], 1.5, 25), newton = newtonPath(rows, [0, 0]);"
        " return { rows, descent, newton }; })()"
    )
    x, y = np.split(np.array(found["rows"]), 2, axis=1)
    y = y[:, 0].astype(int)
    # Without a penalty the library's objective is the mean loss too.
    model = LogisticRegression(
        penalty=None, solver=GradientDescent(step=1.5, max_iter=25, tol=0.0, path=True)
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(x, y)
    np.testing.assert_allclose(found["descent"][-1], [model.intercept_[0], model.coef_[0, 0]], rtol=1e-9)
    exact = LogisticRegression(penalty=None, solver=Newton(tol=1e-12)).fit(x, y)
    np.testing.assert_allclose(found["newton"][-1], [exact.intercept_[0], exact.coef_[0, 0]], rtol=1e-9)


# -- hands and keys ----------------------------------------------------------------------------------


def press(browser: Chromium, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def test_arrow_keys_move_a_class_and_the_boundary_follows(live: Chromium) -> None:
    host = "document.querySelector('[data-live=gaussians]').posteriorLive"
    before = live.evaluate(f"({{mean: {host}.all[0].mean, a: {host}.boundaries[0].form.a}})")
    live.evaluate("document.querySelector('[data-live=gaussians] .handle').focus()")
    press(live, "ArrowRight")
    live.evaluate(FRAME)
    after = live.evaluate(f"({{mean: {host}.all[0].mean, a: {host}.boundaries[0].form.a}})")
    assert after["mean"][0] == pytest.approx(before["mean"][0] + 0.2)
    assert after["a"] != before["a"]


def test_a_click_adds_a_point_and_delete_takes_it_away(live: Chromium) -> None:
    count = "document.querySelector('[data-live=points]').posteriorLive.points.length"
    before = live.evaluate(count)
    place = live.evaluate(
        "(part => { part.scrollIntoView({block: 'center', behavior: 'instant'});"
        " const box = part.getBoundingClientRect(); return [box.left + 30, box.top + box.height - 60]; })"
        "(document.querySelector('[data-live=points] .plane'))"
    )
    for kind in ("mousePressed", "mouseReleased"):
        where = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        live.call("Input.dispatchMouseEvent", type=kind, **where)
    assert live.evaluate(count) == before + 1
    live.evaluate("[...document.querySelectorAll('[data-live=points] .handle')].at(-1).focus()")
    press(live, "Delete")
    assert live.evaluate(count) == before


def test_descent_is_played_a_step_at_a_time_and_paused(live: Chromium) -> None:
    host = "document.querySelector('[data-live=descent]').posteriorLive"
    live.evaluate(f"{host}.steps = 0")
    live.evaluate(
        f"[...{host}.node.querySelectorAll('button')].find(b => b.textContent === 'One step').click()"
    )
    live.evaluate(FRAME)
    assert live.evaluate(f"[{host}.steps, {host}.descent.length]") == [1, 2]
    live.evaluate(f"{host}.player.click()")
    wait = (
        "new Promise(done => { const look = () => PART.steps > 3 ? done(1) : setTimeout(look, 20); look(); })"
    )
    live.evaluate(wait.replace("PART", host))
    live.evaluate(f"{host}.player.click()")
    steps = live.evaluate(f"{host}.steps")
    live.evaluate("new Promise(done => setTimeout(() => done(true), 250))")
    assert live.evaluate(f"{host}.steps") == steps


def test_presets_begin_with_what_they_say(live: Chromium) -> None:
    types = live.evaluate(
        "(live => [...live.side.querySelector('select').options].slice(1).map(option => {"
        " live.begin(option.value); return [option.value, live.boundaries.map(each => each.type)]; }))"
        "(document.querySelector('[data-live=gaussians]').posteriorLive)"
    )
    assert len(types) == 5
    for name, found in types:
        assert len(found) == (3 if name == "three classes" else 1)
        for kind in ("line", "ellipse", "hyperbola"):
            if f": a {kind}" in name or f": an {kind}" in name:
                assert found == [kind]
    right = live.evaluate(
        "(live => Object.fromEntries([...live.node.querySelectorAll('option')].map(option => option.value)"
        ".filter(name => name.includes(' ')).map(name => { live.begin(name); return [name,"
        " Object.fromEntries([...live.table.rows].map(row => [row.cells[0].textContent,"
        " row.cells[1].textContent.split(' of ').map(Number)]))]; })))"
        "(document.querySelector('[data-live=points]').posteriorLive)"
    )
    share = {name: {kind: hit / n for kind, (hit, n) in each.items()} for name, each in right.items()}
    assert len(share) == 6
    assert share["one inside the other"]["QDA"] == 1 > share["one inside the other"]["LDA"] + 0.2
    assert share["a far group"]["LDA"] < share["a far group"]["logistic"] == 1
    assert share["columns that go together"]["naive Bayes"] < 0.8 < share["columns that go together"]["LDA"]


def test_a_finger_drags_a_class(page: Path, browser: Chromium) -> None:
    browser.open(page, 390, "light")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    mean = "document.querySelector('[data-live=gaussians]').posteriorLive.all[0].mean"
    before = browser.evaluate(mean)
    x, y = browser.evaluate(
        "(box => [box.left + box.width / 2, box.top + box.height / 2])"
        "(document.querySelector('[data-live=gaussians] .handle').getBoundingClientRect())"
    )
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    for step in range(1, 6):
        browser.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x + 8 * step, "y": y}])
        browser.evaluate(FRAME)
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    assert browser.evaluate(mean)[0] > before[0] + 0.5
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_nothing_goes_wrong_and_nothing_sticks_out(page: Path, browser: Chromium) -> None:
    for width in (1280, 390):
        browser.open(page, width, "dark")
        trouble = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        assert not [event for event in browser.events if event["method"] in trouble]
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_the_still_picture_is_there(page: Path, browser: Chromium) -> None:
    browser.open(page, 1280, "light", scripts=False)
    assert browser.evaluate("document.getElementById('still').checkVisibility()")
    browser.open(page, 1280, "light")
    assert not browser.evaluate("document.getElementById('still').checkVisibility()")
