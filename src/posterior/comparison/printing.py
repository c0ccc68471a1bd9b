"""Numbers and tables of experiments as text."""

from typing import Any

import numpy as np

from posterior._text import percent, readable
from posterior._types import AnyArray


def loss_text(value: float) -> str:
    """A loss with three digits behind the point, or three digits in all where it is large.

    >>> [loss_text(v) for v in (0.03149, 12.3456, 15712.3, 1.87e14, float("nan"))]
    ['0.031', '12.3', '15,712', '1.87e+14', '–']
    """
    if np.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 10 else readable(value)


def with_error(value: float, error: float, error_rate: float) -> str:
    """A loss with its standard error, and an error rate in brackets.

    >>> with_error(0.4567, 0.0123, 0.1823), with_error(float("nan"), float("nan"), 0.2)
    ('0.457 ± 0.012 (18.2 %)', '20.0 %')
    """
    if np.isnan(value):
        return "–" if np.isnan(error_rate) else percent(error_rate)
    spread = "" if np.isnan(error) else f" ± {loss_text(error)}"
    return f"{loss_text(value)}{spread} ({percent(error_rate)})"


def as_json(values: AnyArray) -> list[Any]:
    """Numbers for JSON, which knows neither NaN nor infinity: None for those."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def seconds(value: float | None) -> str:
    """A time that one can read.

    >>> seconds(0.00312), seconds(4.23), seconds(75), seconds(None)
    ('3 ms', '4.2 s', '75 s', '–')
    """
    if value is None or np.isnan(value):
        return "–"
    if value < 0.9995:
        return f"{1000 * value:.0f} ms" if value >= 0.0005 else "< 1 ms"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
