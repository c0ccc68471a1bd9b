"""What must hold between the parts of a model, for it to be read, scored and summed without surprises."""

from collections.abc import Sequence
from typing import Any

from posterior.persistence.errors import ModelFileError


def refuse_unless(holds: Any, what: str) -> None:
    """Raise the error of a file in which something does not hold."""
    if not holds:
        raise ModelFileError(f"has {what}: it is damaged, or was not written by posterior")


def are_places(places: Sequence[int], n: int) -> bool:
    """Whether these are different places among `n`."""
    return len(set(places)) == len(places) and all(0 <= place < n for place in places)
