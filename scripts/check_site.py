"""Check the built site: links and anchors, the numbers of the ideas, and every page in a real browser.

    python scripts/check_site.py docs/_build/html [--screenshots FOLDER] [--only PART …]

`links`: every link and picture inside the site leads somewhere, and no page loads anything from a network.
`ideas`: each of M01 … M44 is in a section of a page that also has a figure or an output. `browser`: every
page is opened in Chromium, light and dark, 1280 and 390 pixels wide; nothing is told to the console, asked of
a network or wider than the window. It prints what is wrong, and exits with 1 where that is anything.
"""

import argparse
import functools
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # where the import that follows it is found

from chromium import Chromium, installed  # noqa: E402

IDEAS = tuple(f"M{number:02d}" for number in range(1, 45))
# Attributes by which a page asks for something as it is shown; a link is followed only by its reader.
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
SHOWN = ("drawn", "cell_output", "output", "interactive")
VIEWS = ((1280, "light"), (1280, "dark"), (390, "dark"), (390, "light"))
TROUBLE = {"Runtime.exceptionThrown", "Log.entryAdded"}
SHOUTS = {"error", "warning", "assert"}
# The deepest elements that stick out of the window and are in nothing that scrolls. What is in an SVG is cut
# off at its edge.
OVERFLOW = """(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const held = e => e && e !== document.body && (scrolls(e) || held(e.parentElement));
  const article = document.querySelector('article') || document.body;
  const out = [...article.querySelectorAll(':not(svg *)')].filter(
    e => e.getBoundingClientRect().right > width + 1 && !held(e));
  const leaves = out.filter(e => ![...e.children].some(child => out.includes(child)));
  const wide = document.documentElement.scrollWidth > width ? ['the page scrolls sideways'] : [];
  return [...wide, ...leaves.slice(0, 3).map(e => e.outerHTML.slice(0, 120))];
})()"""


class Page(HTMLParser):
    """What a page refers to, what in it can be referred to, and which sections show something."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        # Text and "does it show anything?" of every section that is open, and of those that are closed.
        self.open: list[list[str]] = []
        self.shown_with: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links, what is loaded, and sections."""
        given = {name: value for name, value in attrs if value}
        self.ids.update(given[key] for key in ("id", "name") if key in given)
        for key in ("href", "src"):
            if key in given:
                (self.loads if (tag, key) in LOADED else self.links).append(given[key])
        if tag == "section":
            self.open.append([])
        shows = tag in {"img", "figure", "svg"} or any(
            name in SHOWN for name in given.get("class", "").split()
        )
        if shows and self.open:
            self.open[-1].append("\0")

    def handle_endtag(self, tag: str) -> None:
        """A section that shows something, itself or in a part of it, shows what its own text names."""
        if tag == "section" and self.open:
            words = self.open.pop()
            if "\0" in words:
                text = " ".join(words)
                self.shown_with.update(name for name in IDEAS if name in text)
                if self.open:
                    self.open[-1].append("\0")

    def handle_data(self, data: str) -> None:
        """Keep the words of the section."""
        if self.open and "M" in data:
            self.open[-1].append(data)


def links_wrong(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Links that lead nowhere, and what would be loaded from elsewhere."""

    # Pages of a folder have most of their links in common, and to resolve a path takes a call for each part.
    @functools.cache
    def leads_to(folder: Path, relative: str) -> tuple[Path, bool]:
        target = (folder / unquote(relative)).resolve()
        return target, target.exists()

    for path, page in pages.items():
        here = path.relative_to(site)
        for link in page.loads + page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    yield f"{here}: loads {link}"
                continue
            target, exists = leads_to(path.parent, parts.path) if parts.path else (path, True)
            if not exists:
                yield f"{here}: {link} does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                yield f"{here}: there is no {parts.fragment} in {target.relative_to(site)}"


def ideas_wrong(pages: dict[Path, Page]) -> Iterator[str]:
    """Ids that no section of a page shows."""
    for name in IDEAS:
        if not any(name in page.shown_with for page in pages.values()):
            yield f"{name} is in no section with a figure or an output"


def looks_wrong(site: Path, pages: dict[Path, Page], pictures: Path | None) -> Iterator[str]:
    """What a browser has to say of each page at each width, light and dark."""
    program = installed()
    if program is None:
        print(
            "the pages were not opened: there is no Chromium, as in Debian's package `chromium`, on the path"
        )
        return
    paths, browsers = list(pages), os.cpu_count() or 1
    # A browser for each core, all pages of its share in one tab: what they have in common is read once.
    with ThreadPoolExecutor(browsers) as pool:
        shares = [paths[start::browsers] for start in range(browsers)]
        found = pool.map(lambda share: _looked_at(program, site, share, pictures), shares)
        by_page = {path: said for share in found for path, said in share.items()}
    for path in paths:
        yield from by_page[path]


def _looked_at(program: str, site: Path, paths: list[Path], pictures: Path | None) -> dict[Path, list[str]]:
    """What one browser says of some pages."""
    found: dict[Path, list[str]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        for path in paths:
            # Where a page ends the next one begins: half of them are loaded wide, half narrow.
            views = VIEWS[::-1] if len(found) % 2 else VIEWS
            if found:
                browser.show(path)
            else:
                browser.open(path, *views[0])
            here = path.relative_to(site)
            said = found[path] = []
            for width, scheme in views:
                browser.view(width, scheme)
                wide = browser.evaluate(OVERFLOW)
                said += [f"{here} at {width}, {scheme}: wider than the window: {e}" for e in wide]
                if pictures is not None:
                    name = f"{here.with_suffix('').as_posix().replace('/', '-')}-{width}-{scheme}.png"
                    browser.screenshot(pictures / name)
            said += [f"{here}: {told}" for told in _told(browser)]
        browser.close()
    return found


def _told(browser: Chromium) -> Iterator[str]:
    """What the page told the console, and what it asked a network for."""
    for event in browser.events:
        method, told = event["method"], event["params"]
        if method in TROUBLE or (method == "Runtime.consoleAPICalled" and told["type"] in SHOUTS):
            yield f"console: {told}"
        if method == "Network.requestWillBeSent" and told["request"]["url"].startswith(("http:", "https:")):
            yield f"asks for {told['request']['url']}"


def wrong(site: Path, parts: list[str], pictures: Path | None = None) -> Iterator[str]:
    """Everything that is wrong with the site."""
    pages = {
        path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    if "links" in parts:
        yield from links_wrong(site, pages)
    if "ideas" in parts:
        yield from ideas_wrong(pages)
    if "browser" in parts:
        yield from looks_wrong(site, pages, pictures)


def main() -> int:
    """Print what is wrong."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    reader.add_argument("site", type=Path)
    reader.add_argument("--only", nargs="+", choices=["links", "ideas", "browser"])
    reader.add_argument("--screenshots", type=Path, help="keep a picture of every page here")
    asked = reader.parse_args()
    if asked.screenshots is not None:
        asked.screenshots.mkdir(parents=True, exist_ok=True)
    count = 0
    for line in wrong(asked.site.resolve(), asked.only or ["links", "ideas", "browser"], asked.screenshots):
        print(line)
        count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
