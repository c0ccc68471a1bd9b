"""How many parameters of the public estimators and functions say what they take, and which do not.

python scripts/typed_parameters.py [--list]

Counted are the parameters of `__init__` and of every public method of the estimators in
`posterior.estimators`, and those of the functions and tables of results in `posterior` (`load`, `save`,
`compare`, …), each definition once. A parameter does not say what it takes where its annotation is absent,
`Any`, or a union with `Any` in it; aliases are looked through, because the annotations are evaluated.
"""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import posterior

SELF = ("self", "cls")


def public_functions() -> Iterator[Callable[..., Any]]:
    """The functions that a user of the public names calls, those inherited from our own bases too."""
    for name in posterior.__all__:
        thing = getattr(posterior, name)
        if inspect.isfunction(thing):
            yield thing
        elif inspect.isclass(thing):
            yield from _methods(thing)


def _methods(cls: type) -> Iterator[Callable[..., Any]]:
    for base in cls.__mro__:
        if not base.__module__.startswith("posterior."):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") and name != "__init__":
                continue
            function = getattr(member, "__func__", member)  # of a class method
            if inspect.isfunction(function) and function.__module__ == base.__module__:
                yield function


def says_nothing(annotation: object) -> bool:
    """Whether an annotation lets everything pass.

    >>> says_nothing(Any), says_nothing(int | Any), says_nothing(list[Any]), says_nothing(object)
    (True, True, False, True)
    """
    if annotation in (inspect.Parameter.empty, Any, object):
        return True
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(says_nothing(part) for part in typing.get_args(annotation))
    return False


def parameters() -> Iterator[tuple[str, bool]]:
    """Each public parameter, as `module.function(parameter)`, and whether it says what it takes."""
    for function in dict.fromkeys(public_functions()):
        hints = typing.get_type_hints(function)
        where = f"{function.__module__}.{function.__qualname__}"
        for name in inspect.signature(function).parameters:
            if name not in SELF:
                yield f"{where}({name})", not says_nothing(hints.get(name, Any))


def main() -> None:
    """Print the share of parameters that say nothing, and with --list each of them."""
    found = list(parameters())
    untyped = [name for name, typed in found if not typed]
    if "--list" in sys.argv[1:]:
        print("\n".join(untyped))
    print(f"{len(untyped)} of {len(found)} public parameters are Any ({len(untyped) / len(found):.1%})")


if __name__ == "__main__":
    main()
