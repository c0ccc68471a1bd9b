"""Pictures of matplotlib as SVG that stands in the page: its own ids, and the page's colours and letters."""

import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import numpy as np

from posterior.plot.style import COLOURS, FAINT, INK, our_style, pyplot

# Inches. A phone shows a picture of this width with letters as large as they were made.
WIDTH, HEIGHT = 4.4, 3.4
# Letters of the name of an axis that a side of the picture has room for.
LETTERS_PER_INCH = 10

LINK = "{http://www.w3.org/1999/xlink}href"
NOWHERE = dict.fromkeys(("Creator", "Date", "Format", "Type"))
# Colours that are others on a dark page; style.css says which.
THEMED = {
    INK.lower(): "var(--ink)",
    FAINT.lower(): "var(--faint)",
    "#000000": "var(--ink)",
    "#ffffff": "var(--card)",
} | {colour.lower(): f"var(--class-{k})" for k, colour in enumerate(COLOURS)}

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FONT = re.compile(r"font-(family|stretch):[^;]*;?\s*")
_DECIMALS = re.compile(r"-?\d+\.\d{2,}")
_OWN = re.compile(r"url\(#([^)]+)\)")
_UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")


@contextmanager
def canvas(width: float = WIDTH, height: float = HEIGHT, **settings: Any) -> Iterator[Any]:
    """Axes (or an array of them) to draw on in our style; no window is opened."""
    plt = pyplot()
    with our_style(), warnings.catch_warnings():
        # Letters that matplotlib's font lacks are drawn by the browser's.
        for told in ("Glyph .* missing from", "Matplotlib currently does not support .* natively"):
            warnings.filterwarnings("ignore", told, UserWarning)
        yield plt.Figure(figsize=(width, height)).subplots(**settings)


def inline_svg(figure: Any, prefix: str) -> str:
    """A figure as an SVG element for the page, the same for the same figure.

    Ids begin with `prefix`, so that those of several pictures in one page do not clash; colours of our style
    become those of the page, which are others in the dark.

    >>> with canvas(2, 1) as ax:
    ...     _ = ax.plot([0, 1], [0, 1], color="#0072B2")
    ...     svg = inline_svg(ax.figure, "line")
    >>> svg[:14], "var(--class-0)" in svg, "http" in svg
    ('<svg viewBox="', True, False)
    """
    for image in figure.findobj(
        lambda artist: hasattr(artist, "get_array") and hasattr(artist, "set_extent")
    ):
        image.set_data(_translucent(image.get_array()))
    _wrapped(figure)
    page = io.BytesIO()
    figure.savefig(page, format="svg", transparent=True, metadata=NOWHERE)
    root = ElementTree.fromstring(page.getvalue())  # noqa: S314 -- what matplotlib wrote a line above
    _pruned(root)
    used = {name for element in root.iter() for name in _referred(element)}
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _renamed(element, prefix, used)
        _restyled(element)
        _shortened(element)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("aria-hidden", "true")  # the figure around it says what it shows
    return ElementTree.tostring(root, encoding="unicode")


def _wrapped(figure: Any) -> None:
    """Break the names of axes that are longer than their side of the picture."""
    for axes in figure.axes:
        for axis, inches in zip((axes.xaxis, axes.yaxis), figure.get_size_inches(), strict=True):
            axis.label.set_text(textwrap.fill(axis.label.get_text(), round(LETTERS_PER_INCH * inches)))


def _translucent(colours: Any) -> Any:
    """Shades of white, (m, n, 3), as colours that let the page shine through; on white they look the same."""
    shades = np.asarray(colours, dtype=np.float64)
    if shades.ndim != 3 or shades.shape[2] != 3:
        return colours
    alpha = 1 - shades.min(axis=2, keepdims=True)
    pure = 1 - (1 - shades) / np.where(alpha > 0, alpha, 1.0)
    return np.concatenate([np.clip(pure, 0.0, 1.0), alpha], axis=2)


def _pruned(element: Any) -> None:
    """Drop what has no effect, and the style sheet, which would hold for the whole page."""
    for child in list(element):
        _pruned(child)
        nothing = child.tag.endswith(("}g", "}defs")) and not len(child)
        unseen = child.get("style") == "fill: none"
        if nothing or unseen or child.tag.endswith(("}style", "}metadata")):
            element.remove(child)


def _referred(element: Any) -> list[str]:
    """The ids that an element refers to."""
    link = element.get(LINK, "")
    found = [name for value in element.attrib.values() for name in _OWN.findall(value)]
    return [*found, link[1:]] if link.startswith("#") else found


def _renamed(element: Any, prefix: str, used: set[str]) -> None:
    name, link = element.attrib.pop("id", None), element.attrib.pop(LINK, None)
    for key, value in element.attrib.items():
        element.set(key, _OWN.sub(rf"url(#{prefix}-\1)", value))
    if name in used:
        element.set("id", f"{prefix}-{name}")
    if link is not None:
        element.set("href", f"#{prefix}-{link[1:]}" if link.startswith("#") else link)


def _restyled(element: Any) -> None:
    for key in ("style", "fill", "stroke"):
        if key in element.attrib:
            themed = _COLOUR.sub(lambda colour: THEMED.get(colour[0], colour[0]), element.get(key))
            element.set(key, _FONT.sub("", themed).rstrip("; "))


def _shortened(element: Any) -> None:
    """Write coordinates to a hundredth of a point, and no blanks between elements."""
    for key in ("d", "x", "y", "width", "height", "transform"):
        if key in element.attrib:
            words = _UNTURNED.sub("", " ".join(element.get(key).split()))
            element.set(key, _DECIMALS.sub(lambda number: f"{float(number[0]):.2f}", words))
            if not element.get(key):
                del element.attrib[key]
    if element.tag != "text" and not (element.text or "").strip():
        element.text = None
    element.tail = None
