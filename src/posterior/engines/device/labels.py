"""Class labels on a device as codes of the sorted distinct ones."""

from typing import Any

from posterior._types import AnyArray
from posterior.engines.device import cuda
from posterior.engines.device.arrays import ArrayLibrary


def label_codes(library: ArrayLibrary, labels: Any) -> tuple[AnyArray, Any]:
    """Sorted distinct labels on the host, and the code of each row on the device.

    Whole numbers close together are counted by compiled code; others are sorted.
    """
    fast: tuple[AnyArray, Any] | None = cuda.label_codes(library, labels)
    if fast is not None:
        return fast
    found = library.xp.unique_inverse(labels)
    return library.to_host(found.values), found.inverse_indices
