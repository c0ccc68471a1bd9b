"""Keep small pictures of the main pages of the built site, at two widths, light and dark.

    python scripts/keep_screens.py docs/_build/html [--folder benchmarks/results/screens]

The pictures are in the repository, so that whoever changes a style sees what it was like before; `git diff`
says which pages look different. It needs Chromium on the path.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # where the import that follows it is found

from chromium import Chromium, installed  # noqa: E402

# Pages, and the part that is shown: the top of the page, or an element of it.
PAGES = {
    "home": ("index.html", None),
    "quick-start": ("quick-start.html", None),
    "course-naive-bayes": ("course/naive-bayes.html", None),
    "reference": ("api/generated/posterior.NaiveBayes.html", None),
    "studio": ("sample-studio.html", None),
    "studio-row": ("sample-studio.html", ".explorer"),
    "report": ("sample-report.html", None),
    "live-gaussians": ("course/gaussians.html", "[data-live=gaussians]"),
    "live-points": ("course/comparing.html", "[data-live=points]"),
    "live-descent": ("course/discriminative.html", "[data-live=descent]"),
}
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
TALLEST = 1200  # of a page only the top
# The head of a page stays at the top of the window, as does a link for the keyboard: they would lie over it.
BOX = """(part => {
  document.getElementById('pst-skip-link')?.remove();
  document.querySelectorAll('header').forEach(each => { each.style.position = 'static'; });
  part.scrollIntoView({ block: 'center', behavior: 'instant' });
  const box = part.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  return { x: 0, y: box.top + scrollY - 12, width, height: box.height + 24 };
})(document.querySelector(WHICH))"""


def main() -> int:
    """Take the pictures."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("site", type=Path)
    reader.add_argument("--folder", type=Path, default=ROOT / "benchmarks" / "results" / "screens")
    asked = reader.parse_args()
    program = installed()
    if program is None:
        sys.exit("there is no Chromium on the path; install it, as by Debian's package `chromium`")
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        for name, (page, part) in PAGES.items():
            for width in WIDTHS:
                for scheme in SCHEMES:
                    browser.open((asked.site / page).resolve(), width, scheme)
                    clip = {"x": 0, "y": 0, "width": width, "height": TALLEST}
                    if part is not None:
                        clip = browser.evaluate(BOX.replace("WHICH", repr(part)))
                    clip["scale"] = 0.7 if width > 1000 else 1
                    picture = asked.folder / f"{name}-{width}-{scheme}.webp"
                    browser.screenshot(picture, clip, "webp")
                    browser.call("Page.close")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
