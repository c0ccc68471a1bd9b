"""The largest rounding error that the cells of a column on a device may carry."""

from collections.abc import Sequence

import numpy as np

from posterior._types import Floats
from posterior.engines.device.rows import DeviceRows
from posterior.kernels import array_api

SINGLE, DOUBLE = (float(np.finfo(kind).eps) for kind in (np.float32, np.float64))


def rounding_of(rows: DeviceRows, columns: Sequence[int], largest: Floats) -> Floats:
    """ε·max|x| of each column, (d,), where ε is that of single precision if `kernels.rounding_of` says so.

    Rows here and there settle most columns. For the others all rows are read, until one settles the last.
    """
    xp = rows.library.xp
    double, off_grid = np.zeros((2, len(columns)), dtype=np.bool_)
    if not xp.isdtype(rows.table.dtype, "real floating"):
        return DOUBLE * largest  # whole numbers are exact
    for some in (rows.every(rows.spacing), rows):
        left = np.flatnonzero(~double & ~(off_grid & rows.single)).tolist()
        for part in some.parts([columns[j] for j in left]) if left else ():
            found = [rows.library.to_host(marks) for marks in array_api.precision(xp, part.rows)]
            double[left] |= found[0]
            off_grid[left] |= found[1]
            if (double | (off_grid & rows.single)).all():
                break
    return np.asarray(np.where(off_grid & ~double, SINGLE, DOUBLE) * largest)
