"""Options that several commands share, declared once as a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters that are dataclasses become one option for each field.

    So `def fit(data: str, reading: FileOptions)` has all options of `FileOptions`, and gets them at once.
    """
    own, groups = [], {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if hasattr(kind, "__dataclass_fields__"):
            groups[parameter.name] = kind
        else:
            own.append(parameter.replace(annotation=kind, kind=parameter.KEYWORD_ONLY))
    shared = [option for kind in groups.values() for option in _options(kind)]

    @wraps(command)
    def called(**given: Any) -> Any:
        packed = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        return command(**given, **packed)

    del called.__wrapped__
    parameters = [*own, *shared]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    return called


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def words_of(group: Any) -> list[str]:
    """The options of a group that were given, as one would type them again."""
    words: list[str] = []
    hints = get_type_hints(type(group), include_extras=True)
    for field in fields(group):
        value = getattr(group, field.name)
        option = hints[field.name].__metadata__[0]
        # Inside Annotated the first name stands where else a default would.
        flag = next(name for name in (option.default, *option.param_decls) if str(name).startswith("--"))
        if value == field.default:
            continue
        values = value if isinstance(value, list) else [value]
        words += [flag] if value is True else [word for item in values for word in (flag, str(item))]
    return words
