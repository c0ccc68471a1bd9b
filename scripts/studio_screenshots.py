"""Write studio pages and a page of the moving pictures, keep pictures of them, and measure frames a second.

    python scripts/studio_screenshots.py [PAGE …] [--folder tests/screenshots] [--frames]

The pages are those of tests/support/studio_pages.py; some kinds of them if none is named. Each is looked at
on a desk (1280 pixels) and on a phone (390), light and dark. It prints what the measures of the tests find,
and exits with 1 where that is anything. With --frames it also moves priors, costs and a threshold of 100,000
rows at every frame, and prints how many frames a second that gives, and the processor time of a frame, which
other programs on the machine do not change. It needs Chromium on the path.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # where the imports that follow it are found

from chromium import Chromium, installed  # noqa: E402
from page_measures import CUT_OFF, EMPTY, OUT_OF_FRAME, OVERLAPPING, STICKING_OUT  # noqa: E402
from posterior.studio import live_files, page_of  # noqa: E402
from studio_pages import STUDIO_PAGES, large, named_badly  # noqa: E402

SOME = ("penguins", "voters", "mixed", "logistic", "bad-names")
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
MEASURES = {
    "sticks out": STICKING_OUT,
    "cut off": CUT_OFF,
    "out of its picture": OUT_OF_FRAME,
    "over each other": OVERLAPPING,
    "empty": EMPTY,
}
TROUBLE = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
# What a person moves, at every frame: one setting after the other, and all of the page follows.
FRAMES = """
(async (move, seconds) => {
  const { studio } = posteriorStudio, frame = () => new Promise(requestAnimationFrame);
  const began = performance.now();
  let n = 0;
  while (performance.now() - began < 1000 * seconds) {
    move(studio, 0.2 + 0.3 * (1 + Math.sin(n / 10)));
    studio.update();
    await frame();
    n += 1;
  }
  return { n, rate: 1000 * n / (performance.now() - began) };
})
"""
MOVES = {
    "class frequencies": "(s, p) => { s.setting.priors = [p, 0.9 * (1 - p), 0.1 * (1 - p)]; }",
    "a cost": "(s, share) => { s.setting.costs[0][1] = 10 * share; }",
    "a threshold": "(s, share) => { s.setting.reject = ['threshold', share]; }",
    "a capacity": "(s, share) => { s.setting.reject = ['coverage', Math.round(1e6 * share) / 1e6]; }",
    "frequencies, with outliers": "(s, p) => { s.setting.outliers = 0.05; "
    "s.setting.priors = [p, 0.9 * (1 - p), 0.1 * (1 - p)]; }",
}
LIVE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Moving pictures</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><style>
body {{ font-family: sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }}
{style}</style></head>
<body><h2>Gaussians</h2><div class="posterior-live" data-live="gaussians"><p>A still picture.</p></div>
<h2>Points</h2><div class="posterior-live" data-live="points"><p>A still picture.</p></div>
<h2>Descent</h2><div class="posterior-live" data-live="descent"><p>A still picture.</p></div>
<script type="module">{script}</script></body></html>"""


def looked_at(browser: Chromium, page: Path, picture: Path, width: int, scheme: str) -> list[str]:
    """Keep a picture of a page, and say what is wrong with it."""
    browser.open(page, width, scheme)
    browser.screenshot(picture)
    found = [f"{name}: {each}" for name, script in MEASURES.items() for each in browser.evaluate(script)]
    return found + [f"console: {event}" for event in browser.events if event["method"] in TROUBLE]


def print_frames(browser: Chromium, folder: Path) -> None:
    """Move settings of a large page, and print how fast it follows."""
    page = folder / "large.html"
    page.write_text(page_of(large()), encoding="utf-8")
    print(f"\n100,000 rows of 3 classes, {page.stat().st_size / 1e6:.1f} MB")
    browser.open(page.resolve(), 1280, "light")
    browser.call("Performance.enable", timeDomain="threadTicks")
    for what, move in MOVES.items():
        browser.evaluate("posteriorStudio.studio.reset()")
        browser.evaluate(f"{FRAMES}({move}, 1)")  # the compiler's share is not counted
        before = processor_time(browser)
        told = browser.evaluate(f"{FRAMES}({move}, 3)")
        each = 1000 * (processor_time(browser) - before) / told["n"]
        print(
            f"{what:28} {told['rate']:5.1f} frames a second here; {each:4.1f} ms of processor time a frame, "
            f"enough for {1000 / each:.0f}"
        )


def processor_time(browser: Chromium) -> float:
    """Seconds that the page's own thread has run: script, style, layout and painting."""
    found = browser.call("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


def main() -> int:
    """Look at every page, width and scheme."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    makers = STUDIO_PAGES | {"bad-names": named_badly}
    reader.add_argument("pages", nargs="*", choices=[[], "live", *makers], metavar="PAGE")
    reader.add_argument("--folder", type=Path, default=ROOT / "tests" / "screenshots")
    reader.add_argument("--frames", action="store_true", help="measure frames a second at 100,000 rows")
    asked = reader.parse_args()
    program = installed()
    if program is None:
        sys.exit("there is no Chromium on the path; install it, as by Debian's package `chromium`")
    asked.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        for name in asked.pages or (*SOME, "live"):
            files = live_files()
            live = LIVE.format(style=files["live.css"], script=files["live.js"])
            page = asked.folder / f"studio-{name}.html"
            page.write_text(live if name == "live" else page_of(makers[name]()), encoding="utf-8")
            for width in WIDTHS:
                for scheme in SCHEMES:
                    picture = asked.folder / f"studio-{name}-{scheme}-{width}.png"
                    found = looked_at(browser, page.resolve(), picture, width, scheme)
                    wrong += len(found)
                    print(f"{picture.name}: {'; '.join(found) or 'nothing wrong'}")
        if asked.frames:
            print_frames(browser, asked.folder)
        browser.close()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
