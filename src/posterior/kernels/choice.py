"""When a compiled kernel is worth its wait.

The size of the chunk alone decides, so that bits never depend on what ran before.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from posterior._loading import load_module

Mode = Literal["auto", "reference", "compiled"]

# Cells or rows of a chunk from which on its kernel is compiled code; docs/performance.md says why.
FROM_CELLS = 1 << 17
FROM_ROWS = 1 << 13

_mode: Mode = "auto"


def compiled(name: str, cells: int, rows: int = 0) -> Any:
    """The compiled module of that name, or None where the reference is fast enough for this size."""
    if _mode == "reference" or (_mode == "auto" and cells < FROM_CELLS and rows < FROM_ROWS):
        return None
    return load_module(f"posterior.kernels.compiled.{name}")


@contextmanager
def using(mode: Mode) -> Iterator[None]:
    """Use one kind of kernels for everything inside the block, in all threads; for tests and measurements."""
    global _mode  # noqa: PLW0603  (one switch for all threads, which a context variable would not reach)
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def _from_environment() -> Mode:
    wanted = os.environ.get("POSTERIOR_KERNELS", "auto")
    if wanted not in ("auto", "reference", "compiled"):
        raise ValueError(
            f"POSTERIOR_KERNELS must be 'auto', 'reference' or 'compiled', found {wanted!r}; unset it"
        )
    return wanted  # type: ignore[return-value]  # narrowed by the test above


_mode = _from_environment()
