"""Colours, markers and widths that every picture shares: told apart by colour-blind eyes and in grey."""

from collections.abc import Iterator, Sized
from contextlib import contextmanager
from typing import Any

from posterior._loading import load_module

# Okabe & Ito (2008), reordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A5195", "#8C8C00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
INK = "#333333"
FAINT = "#B8B8B8"
# Inches: the width of a page's text, and the height that goes with it.
WIDTH, HEIGHT = 6.4, 4.2

_SETTINGS = {
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "posterior",
}


@contextmanager
def our_style() -> Iterator[None]:
    """Our settings for as long as a figure is made; what the user has set stays set elsewhere."""
    with pyplot().rc_context(_SETTINGS):
        yield


def pyplot() -> Any:
    """matplotlib.pyplot, or the error that says how to get it."""
    try:
        return load_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which is not installed; run `pip install 'posterior[plot]'`"
        ) from error


def colours_of(classes: Sized) -> list[str]:
    """One colour for each class, the same in every picture.

    >>> colours_of(["no", "yes"])
    ['#0072B2', '#E69F00']
    """
    return [COLOURS[k % len(COLOURS)] for k in range(len(classes))]


def markers_of(classes: Sized) -> list[str]:
    """One marker for each class; of 64 classes no two have the same marker and the same colour.

    >>> markers_of("abcdefghij")
    ['o', 's', '^', 'D', 'v', 'P', 'X', '*', 's', '^']
    """
    n = len(MARKERS)
    return [MARKERS[(k + k // n) % n] for k in range(len(classes))]
