"""The report in a real browser: no error, no request, no overflow, at the width of a desk and of a phone."""

import base64
import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from posterior.comparison import Comparison
from posterior.datasets import load
from posterior.report import write_report

# What a person may want to look at after the tests; not kept under version control.
SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
FEW = {"models": ["majority", "naive-bayes", "lda", "logistic"], "folds": 3, "repeats": 1}
PATIENCE = 60  # seconds
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
# The protocol is spoken on the descriptors 3 and 4, which only the child may take.
LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)


class Chromium:
    """A headless browser, spoken to in the DevTools protocol over a pipe: no port, and no package."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        call = [sys.executable, "-c", LAUNCH, str(ours_in), str(theirs_out), program, *FLAGS]
        self._process = subprocess.Popen(  # noqa: S603 -- the browser found on the path, and our own words
            [*call, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours_in)
        os.close(theirs_out)
        self._rest, self._last, self.events = b"", 0, []
        self._session: str | None = None

    def open(self, page: Path, width: int, scheme: str) -> None:
        """Show a file in a new tab, and wait until it is loaded."""
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()

    def evaluate(self, script: str) -> Any:
        """What a script returns in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Keep a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer; events on the way are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], PATIENCE)[0], "the browser says nothing"
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has gone"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message and message.get("sessionId") == self._session:
            self.events.append(message)
        return message

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium, as in Debian's package `chromium`, and none is on the path")
    found = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


# -- the reports that are looked at ---------------------------------------------------------------


def penguins() -> tuple[Any, Any, dict[str, Any]]:
    table = load("penguins", "pyarrow")
    return table.X, table.y, {"source": "penguins", "target": "species"}


def voters() -> tuple[Any, Any, dict[str, Any]]:
    """Categories and gaps in every column."""
    table = load("voters", "pyarrow")
    return table.X, table.y, {"source": "voters", "target": "candidate"}


def texts() -> tuple[Any, Any, dict[str, Any]]:
    words = [f"{'cheap pills, claim now' if i % 2 else 'see you at lunch'} number {i}" for i in range(60)]
    return pd.DataFrame({"message": words}), ["spam", "ham"] * 30, {"target": "kind"}


def costs() -> tuple[Any, Any, dict[str, Any]]:
    """Two classes and costs, which make the widest leaderboard."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "a class of some length", "another of them")
    return X, y, {"target": "class"}


def many() -> tuple[Any, Any, dict[str, Any]]:
    """Twenty classes and sixty columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 60)), np.arange(300) % 20
    X[:, 0] += y
    return X, [f"class number {k}" for k in y], {}


def nasty() -> tuple[Any, Any, dict[str, Any]]:
    """Names that would like to run, to be mathematics, or to fill the page."""
    rng = np.random.default_rng(0)
    script, image = "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>'
    names = [script, image, "$x_1$", "n" * 300, "שלום עולם", "$\\frac{", "W" * 80]
    columns: dict[str, Any] = {name: rng.normal(size=90) + np.arange(90) % 4 for name in names[:4]}
    columns |= {name: [names[(3 * i + j) % 7] for i in range(90)] for j, name in enumerate(names[4:])}
    y = [names[k % 4] for k in range(90)]
    return pd.DataFrame(columns), y, {"source": f"{script}.csv", "target": image, "title": script * 9}


REPORTS = {made.__name__: made for made in (penguins, voters, texts, costs, many, nasty)}
SETTINGS = {"costs": {"costs": np.array([[0.0, 1.0], [5.0, 0.0]]), "models": None}}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where reports are that were written already."""
    return {"folder": tmp_path_factory.mktemp("reports")}


@dataclass(frozen=True)
class Look:
    """A report at a width, in a colour scheme."""

    report: str
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.report}-{self.scheme}-{self.width}"


FIRST = next(iter(REPORTS))
LOOKS = [
    pytest.param(Look(name, width, scheme), marks=[] if name == FIRST else pytest.mark.long)
    for name in REPORTS
    for width in WIDTHS
    for scheme in SCHEMES
]


@pytest.fixture(scope="module", params=LOOKS, ids=str)
def look(request: pytest.FixtureRequest, browser: Chromium, written: dict[str, Path]) -> Look:
    """Open a report with everything unfolded, and keep a picture of it."""
    asked: Look = request.param
    if asked.report not in written:
        X, y, called = REPORTS[asked.report]()
        comparison = Comparison.of(X, y, **(FEW | SETTINGS.get(asked.report, {})))
        path = written["folder"] / f"{asked.report}.html"
        written[asked.report] = write_report(comparison, X, y, path, **called)
    browser.open(written[asked.report], asked.width, asked.scheme)
    SCREENSHOTS.mkdir(exist_ok=True)
    browser.screenshot(SCREENSHOTS / f"{asked}.png")
    browser.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    return asked


# -- what must hold -------------------------------------------------------------------------------

STICKING_OUT = """
[...document.body.querySelectorAll('*')].filter(part => {
  const around = part.closest('.scroll, .skip');
  if ((around && around !== part) || part.matches('.skip') || part.ownerSVGElement) return false;
  const place = part.getBoundingClientRect();
  return place.width > 0 && (place.right > innerWidth + 0.5 || place.left < -0.5);
}).map(part => `${part.tagName} ${part.className}: ${part.textContent.slice(0, 60)}`)
"""
CUT_OFF = """
[...document.querySelectorAll('th, td, dt, dd, p, li, pre, h1, h2, figcaption, caption, summary')]
  .filter(part => part.scrollWidth > part.clientWidth + 1)
  .map(part => `${part.tagName} ${part.className}: ${part.textContent.slice(0, 60)}`)
"""
OUT_OF_FRAME = """
[...document.querySelectorAll('figure [role=img] text')].filter(words => {
  const frame = words.ownerSVGElement.getBoundingClientRect(), place = words.getBoundingClientRect();
  return place.left < frame.left - 3 || place.right > frame.right + 3
    || place.top < frame.top - 3 || place.bottom > frame.bottom + 3;
}).map(words => words.textContent)
"""
COLOURS = "(part => getComputedStyle(document.querySelector(part)))"


def test_nothing_goes_wrong_and_nothing_is_fetched(look: Look, browser: Chromium) -> None:
    trouble = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
    assert not [event for event in browser.events if event["method"] in trouble]
    asked = [
        e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"
    ]
    assert asked[0].endswith(f"/{look.report}.html")
    assert all(url.startswith("data:image/png;base64,") for url in asked[1:])


def test_nothing_sticks_out_of_the_page(look: Look, browser: Chromium) -> None:
    assert browser.evaluate("document.documentElement.scrollWidth") <= look.width
    assert browser.evaluate("innerWidth") == look.width
    assert browser.evaluate(STICKING_OUT) == []


def test_the_leaderboard_needs_no_scrolling_on_a_desk(look: Look, browser: Chromium) -> None:
    wider = "(part => part.scrollWidth - part.clientWidth)"
    assert look.width < 1280 or browser.evaluate(f"{wider}(document.querySelector('#models .scroll'))") <= 0


def test_no_word_is_cut_off(look: Look, browser: Chromium) -> None:
    assert browser.evaluate(CUT_OFF) == []
    assert browser.evaluate(OUT_OF_FRAME) == []


def test_the_page_and_its_pictures_follow_the_colour_scheme(look: Look, browser: Chromium) -> None:
    def brightness(colour: str) -> float:
        return float(np.mean([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]))

    page = brightness(browser.evaluate(f"{COLOURS}('body').backgroundColor"))
    words = brightness(browser.evaluate(f"{COLOURS}('figure [role=img] text').fill"))
    assert (page - words if look.scheme == "light" else words - page) > 150


def test_no_name_from_the_data_runs(look: Look, browser: Chromium) -> None:
    assert not [event for event in browser.events if event["method"] == "Page.javascriptDialogOpening"]
    assert browser.evaluate("document.scripts.length + document.images.length") == 0
