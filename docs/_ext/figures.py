"""A matplotlib figure as an element of a page, in the page's colours, light or dark.

The same function draws the pictures of the report (`posterior.report.figures.inline_svg`).
"""

import html
import itertools
from typing import Any

from posterior.plot import style
from posterior.report.figures import inline_svg

# Inches: small enough for a phone, and on a large screen shown larger.
SIZE = (5.6, 3.8)
_number = itertools.count(1)


def use_our_sizes() -> None:
    """Make figures of the size of a page where nothing else is said."""
    style._SETTINGS["figure.figsize"] = SIZE


def element(figure: Any, told: str = "", prefix: str = "f") -> str:
    """An element as wide as the page, up to a limit; on a phone it scrolls before letters get too small."""
    width = figure.get_size_inches()[0]
    with style.our_style():
        svg = inline_svg(figure, f"{prefix}{next(_number)}")
    said = html.escape(" ".join((told or described(figure)).split()))
    sizes = f"max-width: {108 * width:.0f}px; --least: {62 * width:.0f}px"
    return f'<div class="drawn" role="img" aria-label="{said}" style="{sizes}">{svg}</div>'


def described(figure: Any) -> str:
    """What a figure shows, for those who do not see it: titles, and names of axes."""
    told = []
    for axes in figure.axes:
        across, up = axes.get_xlabel(), axes.get_ylabel()
        names = f"{up} against {across}" if across and up else across or up
        title = axes.get_title() or axes.get_title(loc="left")
        told.append(": ".join(part for part in (title, names) if part))
    return "; ".join(text for text in told if text) or "figure"
