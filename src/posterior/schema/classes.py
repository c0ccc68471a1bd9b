"""The classes of rows: labels as codes of the sorted distinct ones."""

from typing import Any

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Ints
from posterior.schema.cells import sorted_levels


def encode_labels(labels: AnyArray, classes: Any = None) -> tuple[AnyArray, Ints]:
    """Sorted classes and the code of each row; `classes` may name some that these rows lack."""
    found, codes = distinct(labels)
    if classes is None:
        return found, codes
    wanted = np.unique(np.asarray(classes))
    unknown = [v for v in found.tolist() if v not in wanted.tolist()]
    if unknown:
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {wanted.tolist()}; name "
            "all classes in the first call"
        )
    return wanted, np.searchsorted(wanted, found)[codes]


def distinct(labels: AnyArray) -> tuple[AnyArray, Ints]:
    """Sorted distinct labels and the code of each row.

    Small whole numbers are counted, strings looked up: sorting all rows would take longer than the fit.
    """
    if labels.dtype.kind in "iu" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < len(labels) and abs(low) < 2**62 and abs(high) < 2**62:
            places = labels.astype(np.int64) - low if low else labels.astype(np.int64, copy=False)
            seen = kernels.class_weights(places, None, high - low + 1) > 0
            found = (np.flatnonzero(seen) + low).astype(labels.dtype)
            return found, places if seen.all() else (np.cumsum(seen) - 1)[places]
    if labels.dtype.kind in "OU":
        return sorted_levels(labels)
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes.reshape(-1).astype(np.int64)


def known_codes(labels: AnyArray, classes: AnyArray) -> Ints:
    """The code of each row among sorted classes; a class that is not one of them is refused."""
    if (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        raise ValueError(
            f"y holds the class {labels.tolist()[0]!r}, and the classes of the model are "
            f"{classes.tolist()[:3]}: labels of another type; pass the class column of training"
        )
    found, codes = distinct(labels)
    places = np.minimum(np.searchsorted(classes, found), len(classes) - 1)
    unknown = classes[places] != found
    if unknown.any():
        raise ValueError(
            f"y holds the class {found[unknown].tolist()[0]!r}, which is not one of the classes of the "
            f"model, {classes.tolist()}; pass the class column of training"
        )
    return np.asarray(places[codes], dtype=np.int64)


def refuse_one_class(classes: AnyArray) -> None:
    """Raise the error of a table in which there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"the number of classes has to be greater than one; got 1 class, {classes.tolist()[0]!r}: "
            "there is nothing to tell apart, check the class column (rows of weight 0 do not count)"
        )
