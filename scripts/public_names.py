"""Everything that users can name: public names of modules, settings of estimators, options of commands.

python scripts/public_names.py            (one name a line, sorted: two versions can be compared by `diff`)
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import posterior


def public_modules() -> Iterator[ModuleType]:
    """The package, and its packages and modules at the top that say what is in them (`__all__`)."""
    yield posterior
    for found in pkgutil.iter_modules(posterior.__path__, "posterior."):
        if not found.name.rpartition(".")[2].startswith("_"):
            module = importlib.import_module(found.name)
            if hasattr(module, "__all__"):
                yield module


def exported(module: ModuleType) -> Iterator[str]:
    """What a module exports, a line each; of a class also its public attributes."""
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{module.__name__}.{name}"
        if inspect.isclass(value) and value.__module__.startswith("posterior."):
            for attribute in dir(value):
                if not attribute.startswith("_"):
                    yield f"{value.__name__}.{attribute}"


def settings(kind: Any) -> Iterator[str]:
    """The parameters of a class or a function with their defaults, a line each."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # a type of a type checker
        return
    for parameter in parameters:
        value = parameter.default
        value = sorted(value) if isinstance(value, frozenset) else value
        default = "" if value is parameter.empty else f" = {value!r}"
        yield f"{kind.__name__}({parameter.name}{default})"


def options() -> Iterator[str]:
    """The commands with their arguments and options, a line each."""
    app = importlib.import_module("posterior.cli.app")
    group = importlib.import_module("typer.main").get_command(app.app)
    for name, command in {"": group, **group.commands}.items():
        full = app.command_named(name) if name and hasattr(app, "command_named") else command
        for parameter in full.params:
            for word in parameter.opts:
                yield f"$ posterior {name} {word}".replace("  ", " ")


def main() -> None:
    """Print all of it."""
    found = set(options())
    for module in public_modules():
        found.update(exported(module))
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", "").startswith("posterior"):
                found.update(settings(value))
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
