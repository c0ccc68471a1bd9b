"""The studio page in a real browser: nothing is fetched or obeyed, the address keeps settings, keys work."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from chromium import Chromium
from page_measures import CUT_OFF, EMPTY, OUT_OF_FRAME, OVERLAPPING, STICKING_OUT
from posterior.studio import page_of
from studio_pages import ODD_PAGES, STUDIO_PAGES, large, named_badly, penguins, voters

TROUBLE = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
SETTING = "posteriorStudio.studio.setting"
REST = "new Promise(done => setTimeout(() => requestAnimationFrame(() => done(true)), 300))"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Pages by name, each written once."""
    folder = tmp_path_factory.mktemp("pages")
    makers = {
        **STUDIO_PAGES,
        **ODD_PAGES,
        "bad-names": named_badly,
        "large": lambda: large(12_000, 3),
        "no-rows": lambda: penguins("logistic", rows=False),
        "begun": lambda: voters("naive-bayes", decision={"reject": {"coverage": 0.8}, "outliers": 0.05}),
    }

    def written(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page_of(makers[name]()), encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["penguins", "bad-names", "no-rows", *ODD_PAGES])
@pytest.mark.crossed
def test_nothing_goes_wrong_is_fetched_or_sticks_out(
    name: str, width: int, scheme: str, pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages(name), width, scheme)
    browser.evaluate(REST)
    assert not [event for event in browser.events if event["method"] in TROUBLE]
    asked = [
        e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"
    ]
    assert len(asked) == 1
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    for measure in (STICKING_OUT, CUT_OFF, OUT_OF_FRAME, OVERLAPPING, EMPTY):
        assert browser.evaluate(measure) == []
    colours = [
        float(np.mean([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]))
        for colour in browser.evaluate("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
    ]
    assert abs(colours[0] - colours[1]) > 150
    assert (colours[0] > colours[1]) == (scheme == "light")


def test_no_name_from_the_data_runs_and_no_other_script_does(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("bad-names"), 1280, "light")
    assert not [event for event in browser.events if event["method"] == "Page.javascriptDialogOpening"]
    assert browser.evaluate("document.scripts.length") == 2  # the data, and the script
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.querySelectorAll('bdi *').length") == 0
    assert "</script><script>strange = 1</script>" in browser.evaluate("document.body.innerText")
    browser.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'strange = 1'}))"
    )
    browser.evaluate("document.querySelector('h1').setAttribute('onclick', 'strange = 2')")
    browser.evaluate("document.querySelector('h1').click()")
    assert browser.evaluate("typeof strange") == "undefined"


def test_every_control_has_a_name(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("penguins"), 1280, "light")
    nameless = browser.evaluate(
        "[...document.querySelectorAll('input, select, button')].filter(part => !part.labels?.length"
        " && !part.getAttribute('aria-label') && !part.textContent.trim()).map(part => part.outerHTML)"
    )
    assert nameless == []


def test_the_address_keeps_the_setting(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("penguins"), 1280, "light")
    change = "{priors: [0.2, 0.3, 0.5], reject: ['threshold', 0.8], outliers: 0.02, positive: 1, row: 7}"
    browser.evaluate(f"posteriorStudio.studio.change({change})")
    browser.evaluate("posteriorStudio.studio.change({costs: [[0, 1, 1], [5, 0, 2.5], [1, 1, 0]]})")
    browser.evaluate(REST)
    address = browser.evaluate("location.hash")
    assert "p=0.2,0.3,0.5" in address
    told = "[...document.querySelectorAll('.tiles dd')].map(part => part.textContent)"
    before, setting = browser.evaluate(told), browser.evaluate(SETTING)
    browser.evaluate("posteriorStudio.studio.reset()")
    browser.evaluate(REST)
    assert browser.evaluate("location.hash") == ""
    assert browser.evaluate(told) != before
    browser.evaluate(f"(() => {{ location.hash = {address!r}; }})()")
    browser.evaluate(REST)
    assert browser.evaluate(SETTING) == setting
    assert browser.evaluate(told) == before


@pytest.mark.parametrize(
    "address",
    ["p=1,2", "p=a,b,c", "p=-1,1,1", "c=1", "c=1,2,3;4,5,x;1,1,1", "r=threshold:2", "r=what:1", "o=7",
     "k=99&row=-1", "day=5:0", "p=NaN,1,1", "look=", "<script>=1"],
)  # fmt: skip
def test_an_address_that_makes_no_sense_is_left_alone(
    address: str, pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("penguins"), 1280, "light")
    script = (
        "(({ studio, settingFromHash, settingToHash }) => settingToHash("
        f"settingFromHash({'#' + address!r}, studio.first, studio.data), studio.first))(posteriorStudio)"
    )
    assert browser.evaluate(script) == ""


FOLLOWED = """
(async part => {
  const { studio } = posteriorStudio, words = '.tiles dd, .count';
  const told = () => [...document.querySelectorAll(words)].map(each => each.textContent);
  const before = told();
  studio.settle = () => { throw new Error('rows were worked out in the thread of the page'); };
  studio.change(part);
  for (let n = 0; n < 500 && String(told()) === String(before); n++) {
    clearTimeout(studio.saving);  // the hand does not rest
    await new Promise(requestAnimationFrame);
  }
  const beside = told();
  delete studio.settle;
  studio.update();
  const line = document.querySelector('.line.tenths').getAttribute('d');
  return { before, beside, here: told(), lines: line.length };
})
"""


@pytest.mark.parametrize(
    "part",
    [
        "{ priors: [0.5, 0.2, 0.3] }",
        "{ costs: [[0, 7, 1], [1, 0, 1], [1, 1, 0]] }",
        "{ reject: ['coverage', 0.7] }",
        "{ outliers: 0.1 }",
    ],
)
def test_a_page_of_many_rows_follows_by_a_thread_beside_it_with_the_same_numbers(
    part: str, pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, "light")
    assert browser.evaluate("posteriorStudio.studio.beside !== null")
    found = browser.evaluate(f"{FOLLOWED}({part})")
    assert found["before"] != found["beside"]
    assert found["beside"] == found["here"]
    assert found["lines"] > 100
    assert not [event for event in browser.events if event["method"] in TROUBLE]


MOVED = """
(async () => {
  const { studio } = posteriorStudio, frame = () => new Promise(requestAnimationFrame);
  document.querySelector('.confusion').scrollIntoView();
  studio.change({ reject: ['threshold', 0.7], outliers: 0.05, priors: [0.5, 0.2, 0.3] });
  for (let n = 0; n < 500 && (n < 5 || studio.beside.busy || studio.told); n++) {
    clearTimeout(studio.saving);  // the hand does not rest
    await frame();
  }
  clearTimeout(studio.saving);
})()
"""
PLACE = """
(({ x, y, width, height }) => [x + scrollX, y + scrollY, width, height])
(document.querySelector('.confusion').getBoundingClientRect())
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_painted_while_they_move_look_like_those_at_rest(
    scheme: str, pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, scheme)
    browser.evaluate(MOVED)
    painted = "posteriorStudio.studio.confusion.painted.moves"
    assert browser.evaluate(painted)
    place = browser.evaluate(PLACE)
    moving = browser.pixels(*place)[..., :3]
    browser.evaluate("posteriorStudio.studio.waitForRest()")
    browser.evaluate(REST)
    assert not browser.evaluate(painted)
    assert browser.evaluate(PLACE) == place
    resting = browser.pixels(*place)[..., :3]
    page = np.median(resting, axis=(0, 1))
    apart = np.abs(moving - resting).mean()
    assert apart < 0.1 * np.abs(resting - page).mean()  # of all that is not the colour of the page
    assert not [event for event in browser.events if event["method"] in TROUBLE]


HURRIED = """
(async () => {
  const { studio } = posteriorStudio, frame = () => new Promise(requestAnimationFrame);
  studio.charts.reject.node.scrollIntoView();
  await frame();
  studio.change({ look: 0.5 });
  await frame();
  studio.change({ look: 2 });
  const waits = () => studio.beside.busy || studio.due || studio.told;
  for (let n = 0; n < 500 && (n < 5 || waits()); n++) await frame();
  const shown = studio.charts.reject.node.innerHTML;
  studio.curves.drawn = {};
  studio.settle();
  studio.showChart('reject');
  return { shown, right: studio.charts.reject.node.innerHTML };
})()
"""


def test_a_hand_that_is_faster_than_the_thread_leaves_no_older_curve(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, "light")
    found = browser.evaluate(HURRIED)
    assert found["shown"] == found["right"]


TOLD_AT_ONCE = """
(async coverages => {
  const { studio } = posteriorStudio, shown = [], frame = () => new Promise(requestAnimationFrame);
  studio.show = function () { shown.push(this.found.coverage); };
  const { serial, found } = studio;
  for (const coverage of coverages) studio.hear({ serial, found: { ...found, coverage } });
  const frames = [];
  for (let n = 0; n < 4; n++) {
    await frame();
    frames.push(shown.length);
  }
  delete studio.show;
  return { shown, frames };
})
"""


@pytest.mark.parametrize("told", [[0.1], [0.1, 0.2], [0.1, 0.2, 0.3]])
def test_results_that_come_between_two_frames_are_shown_in_two_frames_but_no_later(
    told: list[float], pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, "light")
    found = browser.evaluate(f"{TOLD_AT_ONCE}({told})")
    assert found["shown"] == told[-2:]
    assert found["frames"] == ([1, 1, 1, 1] if len(told) == 1 else [1, 2, 2, 2])


SCROLLED_TO = """
(async () => {
  const { studio } = posteriorStudio;
  studio.found = { ...studio.found, curves: null };
  studio.change({ priors: [0.8, 0.1, 0.1] });
  studio.due = false;
  studio.serial += 1;
  studio.showChart('reject');
  await new Promise(done => setTimeout(done, 400));
  const shown = studio.tiles.cost.textContent;
  studio.show();
  return { shown, right: studio.tiles.cost.textContent };
})()
"""


def test_a_chart_that_comes_into_sight_while_a_hand_moves_leaves_no_older_numbers(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, "light")
    found = browser.evaluate(SCROLLED_TO)
    assert found["shown"] == found["right"]


def test_without_a_thread_beside_it_a_page_works_all_out_itself(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("large"), 1280, "light")
    cost = "document.querySelector('.tiles .cost dd').textContent"
    before = browser.evaluate(cost)
    browser.evaluate("posteriorStudio.studio.beside.thread.onerror(new ErrorEvent('error'))")
    browser.evaluate("posteriorStudio.studio.change({ priors: [0.5, 0.2, 0.3] })")
    browser.evaluate(REST)
    assert browser.evaluate("posteriorStudio.studio.beside") is None
    assert browser.evaluate(cost) != before


def test_a_capacity_is_a_coverage(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("mixed"), 1280, "light")
    browser.evaluate("posteriorStudio.studio.chooseRule('capacity')")
    browser.evaluate(REST)
    assert browser.evaluate(f"{SETTING}.reject") == ["coverage", 0.95]
    assert "--reject coverage=0.95" in browser.evaluate("document.body.innerText")
    assert browser.evaluate("location.hash") == "#r=coverage:0.95&day=50:1000"
    assert "who can look at 50" in browser.evaluate("document.body.innerText")


def test_arrow_keys_move_a_class_frequency_and_everything_follows(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("penguins"), 1280, "light")
    cost = "document.querySelector('.tiles .cost dd').textContent"
    before = browser.evaluate(cost)
    browser.evaluate("document.querySelector('.controls input[type=range]').focus()")
    for _ in range(3):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="End", code="End", windowsVirtualKeyCode=35)
    browser.evaluate(REST)
    assert browser.evaluate(f"{SETTING}.priors") == [1, 0, 0]
    assert browser.evaluate(cost) != before
    assert "--priors Adelie=1,Chinstrap=0,Gentoo=0" in browser.evaluate("document.body.innerText")


def test_a_cell_that_is_changed_moves_the_posterior_and_can_be_put_back(
    pages: Callable[[str], Path], browser: Chromium
) -> None:
    browser.open(pages("lda"), 1280, "light")
    total = "document.querySelector('.detail strong').textContent"
    before = browser.evaluate(total)
    browser.evaluate(
        "(box => { box.value = '60'; box.dispatchEvent(new Event('input')); })"
        "(document.querySelector('.terms input'))"
    )
    assert browser.evaluate(total) != before
    browser.evaluate(
        "[...document.querySelectorAll('.detail button')].find(b => b.textContent.startsWith('Put')).click()"
    )
    assert browser.evaluate(total) == before


def test_a_row_is_picked_by_the_keyboard(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("penguins"), 1280, "light")
    browser.evaluate("[...document.querySelectorAll('.pick')][2].focus()")
    row = browser.evaluate("document.activeElement.textContent")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r")
    assert browser.evaluate("document.querySelector('.detail h3').textContent").startswith(f"Row {row},")
    assert browser.evaluate("document.querySelector('[aria-pressed=true]').textContent") == row


def test_commands_are_copied(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("begun"), 1280, "light")
    browser.evaluate("navigator.clipboard.writeText = async words => { copied = words; }")
    browser.evaluate("[...document.querySelectorAll('.copy')].at(1).click()")
    expected = (
        "posterior predict model.posterior NEW.csv -o decided.csv --reject coverage=0.8 --outliers 0.05"
    )
    assert browser.evaluate("copied") == expected


def test_without_rows_no_row_is_in_the_page(pages: Callable[[str], Path], browser: Chromium) -> None:
    text = pages("no-rows").read_text(encoding="utf-8")
    assert '"shown":{"rows":[]}' in text
    browser.open(pages("no-rows"), 1280, "light")
    assert browser.evaluate("document.querySelectorAll('.pick').length") == 0
    assert browser.evaluate("posteriorStudio.studio.rows.n") < 344
    assert "A row of your own" in browser.evaluate("document.body.innerText")


def test_without_script_the_page_says_so(pages: Callable[[str], Path], browser: Chromium) -> None:
    browser.open(pages("penguins"), 1280, "light", scripts=False)
    assert "works out its numbers by a script" in browser.evaluate("document.body.innerText")
