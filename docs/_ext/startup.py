"""Run by the kernel before a page's first cell: figures become SVG in the page's colours."""

from typing import Any

import figures
import matplotlib as mpl
import sklearn
from IPython import get_ipython
from matplotlib.figure import Figure

from posterior.plot import style


def _prepare() -> None:
    shell: Any = get_ipython()
    sklearn.set_config(display="text")  # its diagrams have colours of their own
    figures.use_our_sizes()
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("config", "InlineBackend.figure_formats = set()")
    shell.display_formatter.formatters["text/html"].for_type(Figure, figures.element)
    mpl.rcParams.update(style._SETTINGS)


_prepare()
