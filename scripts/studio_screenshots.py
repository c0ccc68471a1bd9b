"""Write studio pages and a page of the moving pictures, and take pictures of them.

    python scripts/studio_screenshots.py [PAGE …] [--folder tests/screenshots]

The pages are those of tests/support/studio_pages.py; some kinds of them if none is named. Each is looked at
on a desk (1280 pixels) and on a phone (390), light and dark. It prints what the measures of the tests find,
and exits with 1 where that is anything. It needs Chromium on the path.
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
from studio_pages import STUDIO_PAGES, named_badly  # noqa: E402

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


def main() -> int:
    """Look at every page, width and scheme."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    makers = STUDIO_PAGES | {"bad-names": named_badly}
    reader.add_argument("pages", nargs="*", choices=[[], "live", *makers], metavar="PAGE")
    reader.add_argument("--folder", type=Path, default=ROOT / "tests" / "screenshots")
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
        browser.close()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
