"""Run by the kernel before a page's first cell: figures become SVG in the page's colours, light or dark.

The same function draws the pictures of the report (`posterior.report.figures.inline_svg`).
"""

import html
import itertools
from typing import Any

import matplotlib as mpl
from IPython import get_ipython
from matplotlib.figure import Figure

from posterior.plot import style
from posterior.report.figures import inline_svg

_number = itertools.count(1)


def _told(figure: Figure) -> str:
    """What a figure shows, for those who do not see it: titles, and names of axes."""
    told = []
    for axes in figure.axes:
        across, up = axes.get_xlabel(), axes.get_ylabel()
        names = f"{up} against {across}" if across and up else across or up
        title = axes.get_title() or axes.get_title(loc="left")
        told.append(": ".join(part for part in (title, names) if part))
    return "; ".join(text for text in told if text) or "figure"


def _drawn(figure: Figure) -> str:
    """An element as wide as the page, up to a limit; on a phone it scrolls before letters get too small."""
    width = figure.get_size_inches()[0]
    with style.our_style():
        svg = inline_svg(figure, f"f{next(_number)}")
    told = html.escape(" ".join(_told(figure).split()))
    sizes = f"max-width: {108 * width:.0f}px; --least: {62 * width:.0f}px"
    return f'<div class="drawn" role="img" aria-label="{told}" style="{sizes}">{svg}</div>'


def _prepare() -> None:
    shell: Any = get_ipython()
    # Small enough for a phone, and on a large screen shown larger.
    style._SETTINGS["figure.figsize"] = (5.6, 3.8)
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("config", "InlineBackend.figure_formats = set()")
    shell.display_formatter.formatters["text/html"].for_type(Figure, _drawn)
    mpl.rcParams.update(style._SETTINGS)


_prepare()
