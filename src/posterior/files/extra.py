"""pyarrow is an extra: what needs it is imported when it is needed."""

from typing import Any

from posterior._loading import load_module


def arrow_module(name: str) -> Any:
    """Return a module of this package that needs pyarrow, or the error that says how to get it."""
    try:
        load_module("pyarrow")
    except ImportError as error:
        raise ImportError("reading files needs pyarrow: pip install 'posterior[cli]'") from error
    return load_module(f"posterior.files.{name}")
