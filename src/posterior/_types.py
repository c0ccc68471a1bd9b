"""Types that the layers share."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
# Called as progress(done, total, what) while something takes long.
Progress: TypeAlias = Callable[[int, int, str], None]
