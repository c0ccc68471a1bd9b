"""What must hold between the parts of a model, for it to be read, scored and summed without surprises."""

from typing import Any

from posterior.persistence.errors import ModelFileError


def refuse_unless(holds: Any, what: str) -> None:
    """Raise the error of a file in which something does not hold."""
    refuse("" if holds else what)


def refuse(wrong: str) -> None:
    """Raise the error of a file in which something is wrong, said in words; none where nothing is."""
    if wrong:
        raise ModelFileError(f"has {wrong}: it is damaged, or was not written by posterior")
