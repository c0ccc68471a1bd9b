"""The shapes of arrays and the bounds of their numbers, as classes declare them.

`"K d >=0"` is an array of K by d numbers, finite and not negative; letters stand for the same size in all
arrays of an object, and `...` for any further sizes. A location counts as its means and moments as their
weights, which were looked at already; of several tables each is looked at.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.persistence.errors import ModelFileError
from posterior.stats import Location, Moments
from posterior.stats.base import LARGEST_COEF, LARGEST_VALUE, ROUNDING


def _not_negative(array: AnyArray) -> bool:
    largest = array.max(initial=0.0)
    return bool(largest < np.inf and array.min(initial=0.0) >= -ROUNDING * max(1.0, largest))


BOUNDS: dict[str, Callable[[AnyArray], Any]] = {
    "any": lambda a: True,
    "number": lambda a: not np.isnan(a).any(),
    "finite": lambda a: np.isfinite(a).all(),
    "value": lambda a: (np.abs(a) <= LARGEST_VALUE).all(),
    "coef": lambda a: (np.abs(a) <= LARGEST_COEF).all(),
    ">=0": _not_negative,
    ">0": lambda a: ((a > 0) & (a < np.inf)).all(),
    "share": lambda a: ((a >= 0) & (a <= 1 + ROUNDING)).all(),
    "log": lambda a: (a <= ROUNDING).all(),  # of a probability, −inf included, NaN not
    "code": lambda a: (a >= 0).all(),
    "place": lambda a: ((a >= 0) & (a < len(a))).all(),
}


def shapes_in(hints: Mapping[str, Any]) -> dict[str, str]:
    """The shapes that annotations such as `Annotated[Floats, "K d >=0"]` declare, by name.

    >>> from typing import Annotated
    >>> shapes_in({"mean": Annotated[float, "K d >0"], "tied": bool})
    {'mean': 'K d >0'}
    """
    told = {name: getattr(hint, "__metadata__", ())[:1] for name, hint in hints.items()}
    found = {name: shape for name, metadata in told.items() for shape in metadata if isinstance(shape, str)}
    for name, shape in found.items():
        if shape.split()[-1:] not in [[bound] for bound in BOUNDS]:
            raise ValueError(
                f"{name!r} is declared as {shape!r}, which must end in one of {', '.join(BOUNDS)}"
            )
    return found


def sizes_in(parts: Mapping[str, Any], shapes: Mapping[str, str]) -> dict[str, int]:
    """The sizes that the letters of the shapes stand for in the arrays of an object, which were checked."""
    return {
        letter: size
        for name, shape in shapes.items()
        for array in _arrays_in(parts[name])
        for letter, size in zip(shape.split()[:-1], array.shape, strict=False)
        if letter != "..."
    }


def check_arrays(tag: str, parts: Mapping[str, Any], shapes: Mapping[str, str]) -> None:
    """Refuse parts of an object whose arrays have other shapes than its class declares, or other numbers."""
    sizes: dict[str, int] = {}
    for name, declared in shapes.items():
        for array in _arrays_in(parts.get(name)):
            _check(f"{tag!r} whose {name!r}", array, declared, sizes)


def _check(who: str, array: AnyArray, declared: str, sizes: dict[str, int]) -> None:
    *letters, bound = declared.split()
    open_ended = letters[-1] == "..."
    letters = letters[:-1] if open_ended else letters
    right = array.ndim == len(letters) or (open_ended and array.ndim > len(letters))
    for letter, size in zip(letters, array.shape, strict=False):
        right = right and sizes.setdefault(letter, size) == size
    if not right:
        known = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
        raise ModelFileError(f"has a {who} has the shape {list(array.shape)}, not {declared!r} ({known})")
    if not BOUNDS[bound](array):
        raise ModelFileError(f"has a {who} holds numbers that are not {bound!r}")


def _arrays_in(value: Any) -> list[AnyArray]:
    """The arrays of a part: of several tables each, and none where there is nothing."""
    each = value if isinstance(value, tuple | list) else (value,)
    return [_array_of(item) for item in each if item is not None]


def _array_of(value: Any) -> AnyArray:
    if isinstance(value, Location):
        return value.pivot
    return value.weight if isinstance(value, Moments) else np.asarray(value)
