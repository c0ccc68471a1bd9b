"""Whether a value is what an annotation says it is."""

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from posterior.schema.columns import Alike

# A whole number may stand where a number belongs, a truth value may not.
NUMBERS: dict[Any, tuple[type, ...]] = {
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    bool: (bool, np.bool_),
}


def resolved(hint: Any) -> Any:
    """An annotation without what it says besides the type, and with the alias that it begins with resolved.

    `NDArray` is such an alias (`typing.TypeAliasType`) from NumPy 2.5 on, and `np.ndarray[…]` itself before.

    >>> from posterior._types import Floats
    >>> get_origin(resolved(Floats))
    <class 'numpy.ndarray'>
    """
    hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    alias = get_origin(hint) or hint
    while hasattr(alias, "__value__") and hasattr(alias, "__type_params__"):
        given = dict(zip(alias.__type_params__, get_args(hint), strict=False))
        hint = alias.__value__
        asked = getattr(hint, "__parameters__", ())
        hint = hint[tuple(given.get(each, Any) for each in asked)] if asked else hint
        alias = get_origin(hint) or hint
    return hint


def matches(value: Any, hint: Any) -> bool:
    """Whether a value is of the annotated type, all through.

    >>> matches((1, 2), tuple[int, ...]), matches((1, "2"), tuple[int, ...]), matches(True, int)
    (True, False, False)
    """
    hint = resolved(hint)
    if hint is Any or hint is None or hint is NoneType:
        return hint is Any or value is None
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        return _is_kind(type(value), hint)
    if origin in (Union, UnionType):
        return any(matches(value, each) for each in args)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in args)
    return isinstance(value, origin) and _holds(value, origin, args)


def _is_kind(kind: type, hint: Any) -> bool:
    if hint in NUMBERS:
        return issubclass(kind, NUMBERS[hint]) and (hint is bool or not issubclass(kind, NUMBERS[bool]))
    return issubclass(kind, hint)


def _holds(value: Any, origin: Any, args: tuple[Any, ...]) -> bool:
    """Whether the items of a container are of the annotated types."""
    if origin is np.ndarray:
        wanted = get_args(args[1])[0]
        return wanted is Any or value.dtype == np.dtype(wanted)
    if issubclass(origin, Mapping):
        return all(matches(k, args[0]) and matches(v, args[1]) for k, v in value.items())
    if origin is tuple and args[-1:] != (...,):
        return len(value) == len(args) and all(map(matches, value, args))
    if issubclass(origin, tuple | list | frozenset | set) or origin is Sequence:
        return isinstance(value, Alike) or _are(value, args[0])
    return True  # a class of ours whose parameter is for the type checker, such as Family[Any]


def _are(values: Iterable[Any], hint: Any) -> bool:
    """Whether all values are of one type; of a million numbers their types are looked at once."""
    hint = resolved(hint)
    if get_origin(hint) is None and hint is not Any:
        return all(_is_kind(kind, hint) for kind in set(map(type, values)))
    return all(matches(value, hint) for value in values)


def described(hint: Any) -> str:
    """An annotation in words.

    >>> described(tuple[int, ...] | None)
    'tuple[int, ...] or None'
    """
    hint = resolved(hint)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(described(each) for each in get_args(hint))
    if get_origin(hint) is np.ndarray:
        wanted = get_args(get_args(hint)[1])[0]
        return f"an array of {'anything' if wanted is Any else wanted.__name__}"
    if hint is NoneType:
        return "None"
    return hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else str(hint)
