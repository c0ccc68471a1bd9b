"""Which penalty scikit-learn's settings of a logistic regression stand for."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posterior.linear import ElasticNet

# The first is the name that scikit-learn gives its default.
PENALTIES = ("deprecated", "auto", "l2", "l1", "elasticnet", "firth", None)


@dataclass(frozen=True)
class PenaltySetting:
    """No penalty, Firth's, or an elastic net with the lasso's share `l1_ratio` and total `strength` 1/C.

    A strength of None is still to be chosen.

    >>> PenaltySetting.read("auto", 10.0, 0.0)
    PenaltySetting(kind='net', l1_ratio=0.0, strength=0.1)
    """

    kind: Literal["none", "firth", "net"]
    l1_ratio: float = 0.0
    strength: float | None = 0.0

    @classmethod
    def read(cls, penalty: Any, C: Any, l1_ratio: Any) -> "PenaltySetting":
        """The penalty of scikit-learn's settings, or an error that says what is wrong with them."""
        if penalty not in PENALTIES:
            raise ValueError(f"penalty={penalty!r} is not known; choose one of {PENALTIES[1:]}")
        auto = isinstance(C, str) and C == "auto"
        if auto and (penalty is None or penalty == "firth"):
            raise ValueError(
                f'C="auto" chooses the strength of a ridge, and penalty={penalty!r} has none; set C=1.0, or '
                "leave penalty as it is"
            )
        if penalty == "firth":
            return cls("firth")
        if not auto and not (is_number(C) and C > 0):
            raise ValueError(f'C must be a positive number, np.inf (no penalty) or "auto", found {C!r}')
        if penalty is None or (not auto and np.inf == C):
            return cls("none")
        ratio = {"l1": 1.0, "l2": 0.0}.get(penalty, l1_ratio if l1_ratio is not None else 0.0)
        if not (is_number(ratio) and 0 <= ratio <= 1):
            raise ValueError(f"l1_ratio must be a number from 0 (ridge) to 1 (lasso), found {ratio!r}")
        return cls("net", float(ratio), None if auto else 1.0 / C)

    def net(self, weight: float) -> ElasticNet:
        """The penalty beside a mean loss over rows of this total weight; one to be chosen has strength 1."""
        strength = 1.0 if self.strength is None else self.strength
        return ElasticNet(self.l1_ratio * strength / weight, (1 - self.l1_ratio) * strength / weight)


def is_number(value: Any) -> bool:
    """Whether this is a number, and not NaN, true or false."""
    # NaN does not equal itself; NumPy would not take every whole number.
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value == value  # noqa: PLR0124
