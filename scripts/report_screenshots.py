"""Write the reports of some tables, keep pictures of them in a browser, and measure what is wrong.

    python scripts/report_screenshots.py [TABLE …] [--folder tests/screenshots]

The tables are those of tests/support/report_tables.py; six kinds of them if none is named. Each is looked at
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
from page_measures import (  # noqa: E402
    BLANK_AT_THE_RIGHT,
    CAPTIONS_CUT,
    CUT_OFF,
    EMPTY,
    OUT_OF_FRAME,
    OVERLAPPING,
    STICKING_OUT,
    TALL,
)
from report_tables import REPORT_TABLES  # noqa: E402

SIX = ("penguins", "spam", "rare", "wide", "twelve", "dated")
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
MEASURES = {
    "sticks out": STICKING_OUT,
    "cut off": CUT_OFF,
    "out of its picture": OUT_OF_FRAME,
    "over each other": OVERLAPPING,
    "caption cut": CAPTIONS_CUT,
    "empty": EMPTY,
    "too high": TALL,
}
TROUBLE = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}


def looked_at(browser: Chromium, page: Path, picture: Path, width: int, scheme: str) -> list[str]:
    """Keep a picture of a page, and say what is wrong with it."""
    browser.open(page, width, scheme)
    browser.screenshot(picture)
    browser.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    measures = MEASURES if width < 600 else MEASURES | {"blank third": BLANK_AT_THE_RIGHT}
    found = [f"{name}: {each}" for name, script in measures.items() for each in browser.evaluate(script)]
    return found + [f"console: {event}" for event in browser.events if event["method"] in TROUBLE]


def main() -> int:
    """Look at every table, width and scheme."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("tables", nargs="*", choices=[[], *REPORT_TABLES], metavar="TABLE")
    reader.add_argument("--folder", type=Path, default=ROOT / "tests" / "screenshots")
    asked = reader.parse_args()
    program = installed()
    if program is None:
        sys.exit("there is no Chromium on the path; install it, as by Debian's package `chromium`")
    asked.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        for name in asked.tables or SIX:
            page = REPORT_TABLES[name]().written(asked.folder / f"{name}.html")
            for width in WIDTHS:
                for scheme in SCHEMES:
                    picture = asked.folder / f"{name}-{scheme}-{width}.png"
                    found = looked_at(browser, page.resolve(), picture, width, scheme)
                    wrong += len(found)
                    print(f"{picture.name}: {'; '.join(found) or 'nothing wrong'}")
        browser.close()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
