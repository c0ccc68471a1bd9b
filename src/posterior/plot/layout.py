"""Several axes where a picture needs them: on a figure of their own, or in place of axes that were given."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.plot.display import drawing


@contextmanager
def drawing_grid(ax: Any, n_rows: int, n_columns: int, **figure: Any) -> Iterator[AnyArray]:
    """Axes (n_rows, n_columns) to draw on.

    `ax` is None for a new figure in our style, axes whose place is divided, or as many axes as are needed.
    """
    if ax is not None and n_rows * n_columns == 1 and not isinstance(ax, Sequence | np.ndarray):
        ax = [ax]
    if ax is None:
        with drawing(None, nrows=n_rows, ncols=n_columns, squeeze=False, **figure) as axes:
            yield axes
    elif isinstance(ax, Sequence | np.ndarray):
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) < n_rows * n_columns:
            raise ValueError(f"this picture needs {n_rows * n_columns} axes, found {len(given)}; or pass one")
        yield given[: n_rows * n_columns].reshape(n_rows, n_columns)
    else:
        yield _divided(ax, n_rows, n_columns, figure.get("height_ratios"), bool(figure.get("sharex")))


def _divided(ax: Any, n_rows: int, n_columns: int, heights: Any, sharex: bool) -> AnyArray:
    """Axes in the place of others, which are left empty."""
    ax.set_axis_off()
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError(
            "the axes given have no place in a grid that could be divided; make them by subplots"
        )
    grid = place.subgridspec(n_rows, n_columns, height_ratios=heights)
    axes = np.empty((n_rows, n_columns), dtype=object)
    for i, j in np.ndindex(n_rows, n_columns):
        axes[i, j] = ax.figure.add_subplot(grid[i, j], sharex=axes[0, j] if sharex and i else None)
    return axes
