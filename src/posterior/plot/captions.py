"""Titles that fit their axes, legends below them, and names as pictures write them."""

import textwrap
from collections.abc import Sequence
from typing import Any

from posterior._text import shortened
from posterior._types import AnyArray
from posterior.plot.style import colours_of, markers_of, pyplot

# Inches that a letter of a title takes on average, and those between axes and what is below their labels.
LETTER = 0.07
BELOW = 0.47
# Letters of a class in a legend of three columns that is to fit a page.
CLASS_LETTERS = 20
# Letters of a name that a picture has room for.
LONGEST = 24


def write_title(axes: Any, *lines: str) -> None:
    """Write lines that are not empty as a title, each broken where it is wider than the axes."""
    room = axes.get_window_extent().width / axes.figure.dpi
    broken = [textwrap.fill(line, max(20, int(room / LETTER))) for line in lines if line]
    if broken:
        axes.set_title("\n".join(broken), loc="left")


def class_handles(classes: AnyArray, *, lines: bool = False) -> list[Any]:
    """A legend entry for each class, in its colour: its marker, or a line."""
    looks = zip(classes, colours_of(classes), markers_of(classes), strict=True)
    return [
        pyplot().Line2D(
            [],
            [],
            color=colour,
            marker="" if lines else marker,
            linestyle="-" if lines else "",
            label=label(name, CLASS_LETTERS),
        )
        for name, colour, marker in looks
    ]


def class_patches(classes: Sequence[Any], colours: Sequence[str]) -> list[Any]:
    """A legend entry for each class: a patch of its colour."""
    looks = zip(classes, colours, strict=True)
    return [pyplot().Rectangle((0, 0), 1, 1, color=c, label=label(name, CLASS_LETTERS)) for name, c in looks]


def legend_below(axes: Any, handles: Sequence[Any], columns: int = 3) -> None:
    """A legend under the axes and their labels, where nothing is drawn; entries run along the rows."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415 -- an extra, needed to draw

    columns = min(columns, len(handles))
    by_column = [handle for c in range(columns) for handle in handles[c::columns]]
    down = ScaledTranslation(0.0, -BELOW, axes.figure.dpi_scale_trans)
    axes.legend(
        handles=by_column,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=axes.transAxes + down,
        ncols=columns,
        borderaxespad=0.0,
        frameon=False,
        handlelength=1.6,
        columnspacing=1.5,
    )


def label(name: Any, longest: int = LONGEST) -> str:
    r"""A name from data as a label: cut with an ellipsis, and `$` is no sign of mathematics.

    >>> label("a name that goes on for ever and ever"), label("price in $"), label("two\nlines")
    ('a name that goes on for…', 'price in \\$', 'two lines')
    """
    words = shortened(name, longest)
    # matplotlib leaves names that begin with an underscore out of its legends.
    return ("\N{NO-BREAK SPACE}" if words.startswith("_") else "") + words.replace("$", r"\$")


def p_words(p_value: float) -> str:
    """A p-value in words.

    >>> p_words(0.0004), p_words(0.123)
    ('p < 0.001', 'p = 0.12')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
