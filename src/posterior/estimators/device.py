"""Arrays of other libraries at an estimator's door, which are fitted and scored where they are."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted, column_or_1d

from posterior._loading import load_module
from posterior._types import AnyArray, Floats, Ints
from posterior.engines.device.arrays import ArrayLibrary, explained_memory, host_array
from posterior.engines.device.labels import label_codes
from posterior.engines.device.prediction import Answer, affine, answer, refuse_unscored
from posterior.engines.device.rows import TO_THE_HOST, DeviceRows
from posterior.engines.device.source import DeviceSource
from posterior.engines.device.sums import TrainingRows, class_weights
from posterior.estimators.target import (
    may_be_wild,
    read_labels,
    read_weights,
    refuse_unlabelled,
    refuse_wild_weights,
)
from posterior.schema import Schema, read_table
from posterior.schema.classes import distinct, places_among, refuse_one_class, refuse_other_type
from posterior.schema.opening import refuse_shape

FEW = 5  # rows of a class that a sample would lack

__all__ = [
    "ANSWERS",
    "DeviceTable",
    "RowsThere",
    "Training",
    "affine",
    "answer",
    "device_accuracy",
    "device_scores",
    "explained_memory",
    "host_array",
    "is_device_array",
    "labels_of",
    "on_the_host",
    "predicted",
    "refuse_unscored",
    "refused_method",
    "rows_on_the_host",
    "show_there",
    "training_of",
    "weights_of",
]


def is_device_array(X: Any) -> bool:
    """Whether this is an array of a library other than NumPy that the array API standard reaches.

    >>> is_device_array(np.zeros((2, 2))), is_device_array([[1.0]])
    (False, False)
    """
    if isinstance(X, np.ndarray | np.generic | list | tuple | str | dict) or not hasattr(X, "shape"):
        return False
    if hasattr(X, "__array_namespace__"):
        return hasattr(X, "__dlpack__")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(X, torch.Tensor):
        return True
    return hasattr(X, "__cuda_array_interface__") and not hasattr(X, "columns")


def on_the_host(X: Any) -> Any:
    """A table as it is; of an array of another library one of NumPy, or an error that says how to get one."""
    return read_table(X).native if is_device_array(X) else X


def library_of(X: Any) -> ArrayLibrary:
    """The library of an array, and its device."""
    compat = load_module("sklearn.externals.array_api_compat")
    xp = compat.array_namespace(X)
    return ArrayLibrary(xp, compat.device(X), type(X).__module__.split(".")[0])


def known_array(X: Any) -> Any:
    """The array itself, or as CuPy's where its library has no functions of its own (numba's, say)."""
    torch = sys.modules.get("torch")
    if hasattr(X, "__array_namespace__") or (torch is not None and isinstance(X, torch.Tensor)):
        return X.detach() if hasattr(X, "detach") else X
    if type(X).__module__.startswith("cupy"):
        return X
    try:
        cupy = load_module("cupy")
    except ImportError as error:
        raise ImportError(
            f"an array of {type(X).__module__.split('.')[0]} on a GPU is read by CuPy, which is not "
            "installed; install posterior[gpu], or pass an array of CuPy or PyTorch"
        ) from error
    return cupy.asarray(X)


def refuse_without_cells(array: Any) -> None:
    """Raise the error of a tensor of PyTorch whose cells are not in one piece of memory, or nowhere."""
    if str(getattr(array, "device", "")) == "meta":
        raise TypeError(
            'a tensor on the device "meta" has a shape and no cells; pass one that is in memory, such as '
            'torch.zeros_like(X, device="cpu")'
        )
    layout = str(getattr(array, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise TypeError(
            f"a sparse tensor ({layout}) cannot be read; pass X.to_dense(), or a sparse matrix of SciPy"
        )


class DeviceTable:
    """A table on a device that was looked at once: numbers, with rows and columns."""

    def __init__(self, X: Any) -> None:
        self.table = known_array(X)
        refuse_without_cells(self.table)
        self.library = library_of(self.table)
        refuse_shape(tuple(self.table.shape))
        self.source = DeviceSource(self.library, self.table)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.shape[0])

    def rows(self, schema: Any) -> DeviceRows:
        """The rows, read by a schema."""
        return DeviceRows(self.library, self.table, schema, single=self.source.single)

    def column(self, values: Any, what: str) -> Any:
        """One number for each row, beside the rows."""
        if is_device_array(values):
            found = known_array(values)
            refuse_without_cells(found)
            if "complex" in str(found.dtype):
                raise ValueError(f"Complex data not supported: {what} holds complex numbers; pass real ones")
            own = library_of(found)
            if own.name != self.library.name or own.device != self.library.device:
                found = self.library.to_device(host_array(found))
            return found
        return self.library.to_device(np.asarray(values))


class Training:
    """Rows on a device to learn from: classes, codes and weights; rows of weight zero are not there."""

    def __init__(self, table: DeviceTable, classes: AnyArray, codes: Any, weight: Any) -> None:
        self.table, self.classes, self.codes, self.weight = table, classes, codes, weight

    def rows(self, schema: Any) -> TrainingRows:
        """The rows, read by a schema."""
        return TrainingRows(
            self.table.library,
            self.table.table,
            schema,
            self.codes,
            self.weight,
            len(self.classes),
            self.table.source.single,
        )

    def weighted(self, by_class: Any) -> "Training":
        """The same rows, their weights times those of their classes."""
        library = self.table.library
        own = library.xp.take(library.to_device(by_class), library.indices(self.codes), axis=0)
        weight = own if self.weight is None else own * self.weight
        return Training(self.table, self.classes, self.codes, weight)

    def kinds_for(self, _estimator: Any) -> None:
        """Nothing was declared of the columns."""
        return

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        return class_weights(self.rows(Schema(())))

    def sample(self, n: int) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        """Some rows, spread over the table, on the host: table, labels and weights; of every class a few."""
        library, places = self.table.library, self.sample_places(n)
        there = library.to_device(places)
        some = [
            library.xp.take(each, there, axis=0) for each in (self.table.table, library.indices(self.codes))
        ]
        X, codes = (library.to_host(each) for each in some)
        weight = self.weight
        weight = None if weight is None else library.to_host(library.xp.take(weight, there, axis=0))
        return X, self.classes[codes], weight

    def sample_places(self, n: int) -> Ints:
        """Which rows a sample of about n has: every so many, and the first few of a class that these lack."""
        library, xp = self.table.library, self.table.library.xp
        step = max(1, -(-self.table.n_rows // n))
        places = np.arange(0, self.table.n_rows, step)
        if step == 1:
            return places
        codes = library.indices(self.codes)
        seen = np.bincount(library.to_host(codes[::step]), minlength=len(self.classes))
        found = [xp.nonzero(codes == k)[0] for k in np.flatnonzero(seen == 0).tolist()]
        lacking = [library.to_host(rows[: min(FEW, rows.shape[0])]) for rows in found]
        return np.unique(np.concatenate([places, *lacking]))

    sample_by_class = sample


@dataclass(frozen=True, eq=False)
class RowsThere:
    """All rows on a device, for an estimator with another one inside, which sees them as it does a scan.

    `fit_arguments` are what the `fit` of the inner one is given.
    """

    training: Training
    fit_arguments: tuple[Any, ...]
    resume: None = None

    @property
    def classes(self) -> AnyArray:
        """Sorted classes."""
        return self.training.classes

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.training.table.n_rows

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        return self.training.class_weights

    def sample(self, n: int) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        """Some rows, spread over the table, on the host: table, labels and weights."""
        return self.training.sample(n)

    def of_sample(self, numbers: Ints, n: int) -> Ints:
        """Of a number for each row that `fit` was given, those of the rows of a sample."""
        if len(self.fit_arguments) > 2:
            weight = self.fit_arguments[2]
            weight = host_array(weight) if is_device_array(weight) else np.asarray(weight)
            numbers = numbers[np.flatnonzero(weight)]
        return numbers[self.training.sample_places(n)]


def training_of(
    X: Any, y: Any, sample_weight: Any, who: str, *, any_classes: bool, classes: Any = None
) -> Training:
    """The rows of training on a device that count, checked as those in memory are."""
    table = DeviceTable(X)
    found, codes = labels_of(table, y, who)
    weight = weights_of(table, sample_weight)
    if weight is not None:
        xp, library = table.library.xp, table.library
        counts = weight > 0
        if not library.scalar(xp.all(counts)):
            places = xp.nonzero(counts)[0]
            table = DeviceTable(xp.take(table.table, places, axis=0))
            codes = xp.take(library.indices(codes), places, axis=0)  # not all take numbers of 16 bits
            weight = xp.take(weight, places, axis=0)
            if not any_classes:
                present, codes = label_codes(library, codes)
                found = found[present]
    if classes is not None:
        named = host_array(classes) if is_device_array(classes) else classes
        found, places = places_among(found, named)
        library = table.library
        codes = library.xp.take(library.to_device(places), library.indices(codes), axis=0)
    if not any_classes and classes is None:
        refuse_one_class(found)
    return Training(table, found, codes, weight)


def rows_on_the_host(X: Any, y: Any, sample_weight: Any, n: int, who: str) -> tuple[Any, Any, Any]:
    """Some rows of a table on a device, spread over it, with their labels and weights, on the host."""
    if y is not None:
        return training_of(X, y, sample_weight, who, any_classes=True).sample(n)
    table = DeviceTable(X)
    weight, library, xp = weights_of(table, sample_weight), table.library, table.library.xp
    places = xp.arange(table.n_rows, device=library.device) if weight is None else xp.nonzero(weight > 0)[0]
    places = places[:: max(1, -(-places.shape[0] // n))]
    rows = library.to_host(xp.take(table.table, places, axis=0))
    return rows, None, None if weight is None else library.to_host(xp.take(weight, places, axis=0))


def labels_of(table: DeviceTable, y: Any, who: str) -> tuple[AnyArray, Any]:
    """Sorted classes on the host, and the code of each row on the device."""
    if not is_device_array(y):
        found, codes = distinct(read_labels(y, table.n_rows, who))
        return found, table.library.to_device(codes)
    labels = table.column(y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        column_or_1d(np.zeros((1, 1)), warn=True)  # which says that a column is no row of labels
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.shape[0] != table.n_rows:
        read_labels(np.zeros(labels.shape), table.n_rows, who)  # which says what is wrong with the shape
    xp, library = table.library.xp, table.library
    if xp.isdtype(labels.dtype, "real floating"):
        refuse_unlabelled(int(library.scalar(xp.sum(xp.astype(xp.isnan(labels), xp.int64)))), table.n_rows)
    found, codes = label_codes(library, labels)
    read_labels(found, len(found), who)  # which refuses infinity and numbers that are no classes
    return found, codes


def weights_of(table: DeviceTable, sample_weight: Any) -> Any:
    """Row weights on the device, or None where all are 1."""
    if sample_weight is None:
        return None
    if not is_device_array(sample_weight):
        checked = read_weights(sample_weight, np.zeros(table.n_rows, dtype=np.int64))
        return table.library.to_device(checked)
    library = table.library
    xp, weight = library.xp, table.column(sample_weight, "sample_weight")
    if weight.ndim != 1 or weight.shape[0] != table.n_rows:
        read_weights(np.zeros(weight.shape), np.zeros(table.n_rows, dtype=np.int64))
    weight = weight if weight.dtype == library.floats else xp.astype(weight, library.floats)
    bad = ~((weight >= 0) & (weight < np.inf))
    if library.scalar(xp.any(bad)):
        row = int(library.scalar(xp.argmax(xp.astype(bad, xp.int32))))
        raise ValueError(
            f"sample_weight holds {library.scalar(weight[row]):g} in row {row}; a weight must be finite and "
            "not negative: drop the row, or give it 0"
        )
    if not library.scalar(xp.any(weight > 0)):
        read_weights(np.zeros(1), np.zeros(1, dtype=np.int64))  # which says what is wrong with zeros
    counting = xp.where(weight > 0, weight, xp.ones_like(weight))
    least, most = (float(library.scalar(end(counting))) for end in (xp.min, xp.max))
    if may_be_wild(least, most, table.n_rows):
        refuse_wild_weights(library.to_host(weight), None)
    return weight


def predicted(table: DeviceTable, classes: AnyArray, codes: Any) -> Any:
    """The labels of class codes: on the device if they are numbers, else an array of NumPy."""
    library = table.library
    if classes.dtype.kind == "u" and classes.dtype.itemsize > 1:  # which PyTorch does not take
        found = library.xp.take(library.to_device(classes.astype(np.int64)), codes, axis=0)
        return library.xp.astype(found, _own(library, classes))
    if classes.dtype.kind in "iufb":
        return library.xp.take(library.to_device(classes, dtype=_own(library, classes)), codes, axis=0)
    return classes[library.to_host(codes)]


def _own(library: ArrayLibrary, classes: AnyArray) -> Any:
    """The dtype of labels in the library of the rows."""
    return library.xp.bool if classes.dtype.kind == "b" else getattr(library.xp, classes.dtype.name, None)


def show_there(estimator: Any, library: ArrayLibrary, names: Sequence[str]) -> None:
    """Have fitted arrays in the library of the rows, as scikit-learn has them where its dispatch is on."""
    if get_config()["array_api_dispatch"]:
        for name in names:
            values = vars(estimator)[name]
            setattr(estimator, name, library.to_device(values, dtype=_own(library, values)))


def device_scores(estimator: Any, method: str, X: Any, arguments: dict[str, Any]) -> Any:
    """What a method of a fitted estimator says of an array on a device, in the same library there."""
    check_is_fitted(estimator)
    with explained_memory():
        return estimator._device_scores(method, DeviceTable(X), **arguments)


def device_accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of rows on a device whose class is predicted, by weight."""
    check_is_fitted(estimator)
    with explained_memory():
        return _accuracy(estimator, DeviceTable(X), y, sample_weight)


def _accuracy(estimator: Any, table: DeviceTable, y: Any, sample_weight: Any) -> float:
    library, xp = table.library, table.library.xp
    found, codes = labels_of(table, y, type(estimator).__name__)
    classes = estimator.classes_
    refuse_other_type(found, classes)
    best = estimator._device_codes(table)
    places = np.minimum(np.searchsorted(classes, found), len(classes) - 1)
    known = np.where(classes[places] == found, places, -1)
    truth = xp.take(library.to_device(known), library.indices(codes), axis=0)
    right = xp.astype(truth == library.indices(best), library.floats)
    weight = weights_of(table, sample_weight)
    if weight is None:
        return float(library.scalar(xp.mean(right)))
    return float(library.scalar(xp.sum(right * weight) / xp.sum(weight)))


def refused_method(who: str, method: str) -> TypeError:
    """The error of a method that takes no arrays on a device."""
    return TypeError(f"{who}.{method} takes no array on a device; {TO_THE_HOST}")


ANSWERS: dict[str, Answer] = {
    "predict_proba": "posterior",
    "predict_log_proba": "log_posterior",
    "predict": "best",
    "predict_joint_log_proba": "joint",
    "score_samples": "evidence",
    "class_log_density": "density",
    "decision_function": "log_posterior",
}
