"""Numbers as people write them: each function renders a column of numbers, which a reading takes back."""

from collections.abc import Callable

import numpy as np


def european(value: float) -> str:
    """1234.5 as 1.234,50."""
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def _minus_first(text: str) -> str:
    return text.replace("$-", "-$")


def _scaled(value: float) -> str:
    """Thousands and millions with a letter, where that loses no digit."""
    if value == round(value, -4) and abs(value) >= 1e6:
        return f"{value / 1e6:.2f}M"
    return f"{value / 1e3:.5f}K" if abs(value) >= 1e3 else f"{value:.2f}"


# What is rendered has two decimals; the name is what the column's reason must say.
DISGUISES: dict[str, Callable[[float], str]] = {
    "decimal comma": lambda v: f"{v:.2f}".replace(".", ","),
    "decimal comma, thousands with a point": european,
    "decimal comma, thousands with a blank": lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ","),
    "thousands with a comma": lambda v: f"{v:,.2f}",
    "thousands with an apostrophe": lambda v: f"{v:,.2f}".replace(",", "’"),
    "thousands with a comma, currency $": lambda v: _minus_first(f"${v:,.2f}"),
    "decimal comma, thousands with a point, currency €": lambda v: f"{european(v)} €",
    "currency £": lambda v: f"£ {v:.2f}",
    "currency CHF": lambda v: f"CHF {v:.2f}",
    "per cent": lambda v: f"{v:.2f}%",
    "decimal comma, per cent": lambda v: f"{v:.2f} %".replace(".", ","),
    "unit kg": lambda v: f"{v:.2f} kg",
    "unit °C": lambda v: f"{v:.2f}°C".replace("-", "\u2212"),
    "unit km/h": lambda v: f"{v:.2f}km/h",
    "K/M suffixes": _scaled,
    "currency $, K/M suffixes": lambda v: _minus_first(f"${_scaled(v)}"),
    "thousands with a comma, accounting negatives": lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}",
    "thousands with a comma, currency $, accounting negatives": lambda v: (
        f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}"
    ),
}


def amounts(n: int, seed: int = 0) -> np.ndarray:
    """Numbers with two decimals, large and small, of both signs, some of them round."""
    rng = np.random.default_rng(seed)
    found = np.round(rng.normal(size=n) * 10.0 ** rng.integers(0, 8, size=n), 2)
    found[rng.random(n) < 0.2] = np.round(rng.normal(size=n) * 1e7, -4)[:1]
    return np.round(found, 2) + 0.0
