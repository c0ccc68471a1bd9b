"""Numbers and tables of experiments as text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior._types import AnyArray


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table, the first `left` columns flush left and the rest flush right.

    >>> aligned([["model", "loss"], ["a", "0.5"]])
    ['model  loss', 'a       0.5']
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def counted(n: int, what: str) -> str:
    """How many there are of something.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def loss_text(value: float) -> str:
    """A loss with three digits behind the point, or three digits in all where it is large.

    >>> [loss_text(v) for v in (0.03149, 12.3456, 1.87e14, float("nan"))]
    ['0.031', '12.3', '1.87e+14', '–']
    """
    if np.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.3g}"


def with_error(value: float, error: float, error_rate: float) -> str:
    """A loss with its standard error, and an error rate in brackets.

    >>> with_error(0.4567, 0.0123, 0.1823), with_error(float("nan"), float("nan"), 0.2)
    ('0.457 ± 0.012 (18.2 %)', '20.0 %')
    """
    if np.isnan(value):
        return "–" if np.isnan(error_rate) else f"{100 * error_rate:.1f} %"
    spread = "" if np.isnan(error) else f" ± {loss_text(error)}"
    return f"{loss_text(value)}{spread} ({100 * error_rate:.1f} %)"


def as_json(values: AnyArray) -> list[Any]:
    """Numbers for JSON, which knows neither NaN nor infinity: None for those."""
    return [value if np.isfinite(value) else None for value in values.tolist()]
