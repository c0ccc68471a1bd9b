"""The report in a real browser: no error, no request, no overflow, at the width of a desk and of a phone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from chromium import Chromium, installed
from page_measures import (
    BLANK_AT_THE_RIGHT,
    CAPTIONS_CUT,
    CUT_OFF,
    EMPTY,
    OUT_OF_FRAME,
    OVERLAPPING,
    SCROLLED,
    STICKING_OUT,
    TALL,
)
from report_tables import REPORT_TABLES

# What a person may want to look at after the tests; not kept under version control.
SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = installed()
    if program is None:
        pytest.skip("needs Chromium, as in Debian's package `chromium`, and none is on the path")
    found = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


# -- the reports that are looked at ---------------------------------------------------------------


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


FIRST = next(iter(REPORT_TABLES))
LOOKS = [
    pytest.param(Look(name, width, scheme), marks=[] if name == FIRST else pytest.mark.long)
    for name in REPORT_TABLES
    for width in WIDTHS
    for scheme in SCHEMES
]


@pytest.fixture(scope="module", params=LOOKS, ids=str)
def look(request: pytest.FixtureRequest, browser: Chromium, written: dict[str, Path]) -> Look:
    """Open a report with everything unfolded, and keep a picture of it."""
    asked: Look = request.param
    if asked.report not in written:
        path = written["folder"] / f"{asked.report}.html"
        written[asked.report] = REPORT_TABLES[asked.report]().written(path)
    browser.open(written[asked.report], asked.width, asked.scheme)
    SCREENSHOTS.mkdir(exist_ok=True)
    browser.screenshot(SCREENSHOTS / f"{asked}.png")
    browser.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    return asked


# -- what must hold -------------------------------------------------------------------------------

FIRST_SCROLLED = """
scrolled = [...document.querySelectorAll('.scroll')].find(part => part.scrollWidth > part.clientWidth + 20);
scrolled.scrollIntoView({block: 'center', behavior: 'instant'});
(place => ({x: place.left + scrollX, y: place.top + scrollY, width: place.width,
  most: scrolled.scrollWidth - scrolled.clientWidth}))(scrolled.getBoundingClientRect())
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


def test_no_third_of_a_desk_is_blank_and_no_box_is_empty(look: Look, browser: Chromium) -> None:
    assert look.width < 1280 or browser.evaluate(BLANK_AT_THE_RIGHT) == []
    assert browser.evaluate(EMPTY) == []
    assert browser.evaluate(TALL) == []


def test_captions_are_whole_where_tables_are_scrolled(look: Look, browser: Chromium) -> None:
    assert browser.evaluate(CAPTIONS_CUT) == []
    assert look.width > 400 or browser.evaluate(SCROLLED) > 0  # or the case shows nothing


def test_a_table_that_goes_on_has_a_shadow_at_that_edge(look: Look, browser: Chromium) -> None:
    """Of the first that is scrolled, on either side as it is moved: seen in the pixels of its edges."""
    if look.width > 400:
        return
    place = browser.evaluate(FIRST_SCROLLED)
    right_darker, left_darker = [], []
    for end in (0, place["most"]):
        browser.evaluate(f"scrolled.scrollLeft = {end}")
        shot = browser.pixels(place["x"], place["y"], place["width"], 4).mean(axis=0)
        ground = (
            shot[30:-30][:, :3].max(axis=0) if look.scheme == "light" else shot[30:-30][:, :3].min(axis=0)
        )
        left_darker.append(np.abs(shot[1, :3] - ground).max() > 0.05)
        right_darker.append(np.abs(shot[-2, :3] - ground).max() > 0.05)
    assert left_darker == [False, True]
    assert right_darker == [True, False]


def test_no_word_is_cut_off(look: Look, browser: Chromium) -> None:
    assert browser.evaluate(CUT_OFF) == []
    assert browser.evaluate(OUT_OF_FRAME) == []
    assert browser.evaluate(OVERLAPPING) == []


def test_the_page_and_its_pictures_follow_the_colour_scheme(look: Look, browser: Chromium) -> None:
    def brightness(colour: str) -> float:
        return float(np.mean([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]))

    page = brightness(browser.evaluate(f"{COLOURS}('body').backgroundColor"))
    words = brightness(browser.evaluate(f"{COLOURS}('figure [role=img] text').fill"))
    assert (page - words if look.scheme == "light" else words - page) > 150


def test_no_name_from_the_data_runs(look: Look, browser: Chromium) -> None:
    assert not [event for event in browser.events if event["method"] == "Page.javascriptDialogOpening"]
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.images.length") == 0


# -- the script -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(browser: Chromium, written: dict[str, Path]) -> Path:
    if FIRST not in written:
        written[FIRST] = REPORT_TABLES[FIRST]().written(written["folder"] / f"{FIRST}.html")
    return written[FIRST]


ORDER = "[...document.querySelector('#models tbody').rows].map(row => row.cells[1].textContent)"
HEAD = "document.querySelector('#models thead').rows[0].cells[1]"


def test_a_head_sorts_its_table_by_the_keyboard(page: Path, browser: Chromium) -> None:
    browser.open(page, 1280, "light")
    best_first = browser.evaluate(ORDER)
    browser.evaluate(f"{HEAD}.querySelector('button').focus()")
    for sorted_as, expected in (("ascending", best_first), ("descending", best_first[::-1])):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r")
        assert browser.evaluate(f"{HEAD}.getAttribute('aria-sort')") == sorted_as
        assert browser.evaluate(ORDER) == expected
    assert browser.evaluate("document.querySelectorAll('#models [aria-sort]').length") == 1
    marked = browser.evaluate("document.querySelector('#models tr.marked').textContent")
    assert "recommended" in marked  # the mark goes with its row


@pytest.mark.parametrize(
    ("words", "number"),
    [("0.033 ± 0.011", 0.033), ("12,345", 12345), ("−0.5", -0.5), ("2 (0.6 %)", 2), ("none", 0),
     ("< 1 ms", 0.001), ("231 ms", 0.231), ("4.2 s", 4.2), ("∞", np.inf), ("1.2e−05", 1.2e-05)],
)  # fmt: skip
def test_numbers_are_read_as_they_are_written(
    words: str, number: float, page: Path, browser: Chromium
) -> None:
    browser.open(page, 1280, "light")
    found = browser.evaluate(f"String(numberIn({words!r}))")
    assert float(found.replace("Infinity", "inf")) == pytest.approx(number)


def test_commands_are_copied(page: Path, browser: Chromium) -> None:
    browser.open(page, 1280, "light")
    browser.evaluate("navigator.clipboard.writeText = async words => { copied = words; }")
    browser.evaluate("(async () => { document.querySelector('.commands .copy').click(); })()")
    command = browser.evaluate("document.querySelector('.commands code').textContent")
    assert command.startswith("posterior fit penguins")
    assert browser.evaluate("copied") == command
    assert browser.evaluate("document.querySelector('.commands .copy').textContent") == "Copied"


def test_no_other_script_runs(page: Path, browser: Chromium) -> None:
    browser.open(page, 1280, "light")
    browser.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'strange = 1'}))"
    )
    browser.evaluate("document.querySelector('h1').setAttribute('onclick', 'strange = 2')")
    browser.evaluate("document.querySelector('h1').click()")
    assert browser.evaluate("typeof strange") == "undefined"


def test_without_script_the_page_is_whole_and_has_no_dead_button(page: Path, browser: Chromium) -> None:
    browser.open(page, 1280, "light", scripts=False)
    assert browser.evaluate("document.querySelectorAll('button').length") == 0
    assert browser.evaluate("document.querySelector('#models tbody').rows.length") == 4
    assert browser.evaluate(STICKING_OUT) == []
    assert not [event for event in browser.events if event["method"] == "Log.entryAdded"]
