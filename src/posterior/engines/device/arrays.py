"""Arrays of any library that keeps to the array API standard, and what little of them travels to the host."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray

# Cells of a chunk: enough to keep a device busy, and few enough for several copies in double precision.
CHUNK_CELLS = 1 << 24
MIN_ROWS = 1 << 10

# Bytes that have come to the host, for those who want to know that a table never does.
_moved = {"bytes": 0}


@contextmanager
def bytes_to_host() -> Iterator[dict[str, int]]:
    """Count the bytes that these arrays send to the host inside the block."""
    before = _moved["bytes"]
    counted = {"bytes": 0}
    yield counted
    counted["bytes"] = _moved["bytes"] - before


def count_moved(n_bytes: int) -> None:
    """Note that so many bytes came to the host."""
    _moved["bytes"] += n_bytes


@dataclass(frozen=True, eq=False)
class ArrayLibrary:
    """A namespace of the array API standard, and the device that its arrays are on."""

    xp: Any
    device: Any
    name: str

    @property
    def floats(self) -> Any:
        """The dtype in which sums are taken: double precision where the device has it."""
        return self.xp.float64 if self._has_double else self.xp.float32

    @property
    def _has_double(self) -> bool:
        return "mps" not in str(self.device)

    def to_device(self, values: Any, dtype: Any = None) -> Any:
        """A small array of the host beside the rows; numbers in the dtype of sums unless one is named."""
        array = np.asarray(values)
        if dtype is None and array.dtype.kind == "f":
            dtype = self.floats
        if self._has_double:
            found = self.xp.asarray(array, device=self.device)
            return found if dtype is None or found.dtype == dtype else self.xp.astype(found, dtype)
        narrow = array.astype(np.float32) if array.dtype == np.float64 else array
        return self.xp.asarray(narrow, device=self.device)

    def indices(self, codes: Any) -> Any:
        """Codes in a dtype that every library takes for places; PyTorch's `take` refuses narrow ones."""
        return codes if codes.dtype == self.xp.int64 else self.xp.astype(codes, self.xp.int64)

    def to_host(self, array: Any) -> AnyArray:
        """A small array as one of NumPy."""
        found = host_array(array)
        count_moved(found.nbytes)
        return found

    def scalar(self, array: Any) -> Any:
        """The value of an array of one element."""
        return self.to_host(array).item()


def host_array(array: Any) -> AnyArray:
    """An array of another library as one of NumPy."""
    if hasattr(array, "get") and hasattr(array, "__cuda_array_interface__"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "detach"):  # PyTorch
        return np.asarray(array.detach().cpu().numpy())
    try:
        return np.asarray(array)
    except (TypeError, RuntimeError, ValueError):
        return np.from_dlpack(array, device="cpu")


def chunks(n_rows: int, cells_per_row: int) -> Iterator[slice]:
    """Ranges of rows, each small enough for so many cells a row."""
    size = max(MIN_ROWS, CHUNK_CELLS // max(cells_per_row, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class DeviceMemoryError(MemoryError):
    """There is no room on the device."""


@contextmanager
def explained_memory() -> Iterator[None]:
    """Turn the memory error of any library into one that says what to do.

    Libraries that warn of numbers that are not finite do not here: these are refused by name.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        raise DeviceMemoryError(
            f"the device has no room for this: {error}. Free other arrays there, pass fewer rows at a time "
            "(partial_fit, or predict in parts), or move the table to the host (X.get() in CuPy, X.cpu() in "
            "PyTorch)"
        ) from error
