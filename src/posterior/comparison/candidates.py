"""A model made for a table, before it has learnt anything."""

from dataclasses import dataclass
from typing import Any


class NotForThisTableError(ValueError):
    """A model that has nothing to say of a table, with the reason."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Estimators to choose from by held-out rows, the columns they read, and what they are, in words.

    Most have one estimator; a penalised one has one for each strength, the strongest first, and `size` says
    how many coefficients each solves for; `default` is the place of the one to take where there is too little
    to choose by. `chosen_by` says by what settings are chosen that are. `otherwise` takes the estimator's
    place where leaving rows out has no closed form.
    """

    estimators: tuple[Any, ...]
    columns: tuple[int, ...]
    about: str
    chosen_by: str = ""
    otherwise: Any = None
    size: int = 0
    default: int = 0
