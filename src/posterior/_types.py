"""Types that the layers share."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
# In which precision answers are given.
FloatType: TypeAlias = type[np.float64] | type[np.float32]
# Called as progress(done, total, what) while something takes long.
Progress: TypeAlias = Callable[[int, int, str], None]


class SupportsArray(Protocol):
    """What NumPy turns into an array: arrays, and frames and series of any library."""

    def __array__(self) -> AnyArray: ...


class DataFrame(Protocol):
    """A data frame of the library that the user works with; it has all that frames of that library have."""

    @property
    def columns(self) -> Any:
        """Names of the columns, or the columns, as the library has it."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __getattr__(self, name: str, /) -> Any: ...


# Among the names of models: whichever a comparison recommends.
BEST = "best"
