"""The class column, or the number to predict, and the row weights, checked once at the edge."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from posterior._over_rows import each_part, least_and_most
from posterior._types import AnyArray, Floats
from posterior.engines import ScannedTable
from posterior.estimators._sklearn import check_sample_weight
from posterior.schema import LabelledTable, Source, read_table
from posterior.schema.cells import is_missing
from posterior.schema.classes import distinct, refuse_one_class
from posterior.schema.kinds import LARGEST, SMALLEST

# Weights of all rows together, or of those of a class, between which sums of weighted squares neither vanish
# nor overflow.
LIGHTEST, HEAVIEST = 1e-50, 1e50


def labelled_table(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    who: str = "",
    *,
    kinds: Any = None,
    classes: Any = None,
    parts: bool = False,
    any_classes: bool = False,
) -> LabelledTable:
    """The rows of training that count: a row of weight zero is not there at all.

    Two classes at least, unless this is one of several `parts`; `classes` may name some that no row has. With
    `any_classes` one class is enough, and a class stays whose rows all have weight zero.
    """
    if isinstance(X, ScannedTable):
        raise ValueError(
            f"{who} takes no scan here; pass rows in memory, such as X, y, weight = scan.sample(100_000)"
        )
    if isinstance(X, LabelledTable):
        table = X.present()
    else:
        source = read_table(X)
        labels = read_labels(y, source.n_rows, who)
        rows = counted(source, labels, read_weights(sample_weight, labels))
        if any_classes and classes is None and len(rows[1]) < len(labels):
            classes = distinct(labels)[0]
        table = LabelledTable.of(*rows, classes=classes, kinds=kinds)
    if not (parts or any_classes):
        refuse_one_class(table.classes)
    return table


def scanned_table(table: ScannedTable, y: Any, sample_weight: Any, who: str) -> Any:
    """A table that is read where it lives, in which target and weights are columns."""
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            option = "target" if name == "y" else "weight"
            raise ValueError(
                f"{name} was passed to {who} beside a scan; name its column: scan(…, {option}='column')"
            )
    return table


def counted(
    source: Source, target: AnyArray, weight: Floats | None
) -> tuple[Source, AnyArray, Floats | None]:
    """Table, target and weights without the rows of weight zero, whose cells are not even read."""
    if weight is None or not len(weight) or least_and_most(weight)[0] > 0:
        return source, target, weight
    rows = np.flatnonzero(weight)
    return read_table(source.take(rows).native), target[rows], weight[rows]


def read_labels(y: Any, n_rows: int, who: str) -> AnyArray:
    """Labels as a 1-D array without gaps, one for each row."""
    if y is None:
        raise ValueError(
            f"This {who} estimator requires y to be passed, but the target y is None: pass the class column"
        )
    if isinstance(y, str):
        raise ValueError(
            f"y is the string {y!r}; pass the class column itself, and leave it out of the table"
        )
    if isinstance(y, list | tuple) and len({isinstance(v, str) for v in y}) > 1:
        y = np.array(y, dtype=object)  # or NumPy would turn the numbers into strings
    given = np.asarray(y)
    # scikit-learn's look at whole numbers and strings, which cannot be wrong, is a tenth of a small fit.
    plain = given.ndim == 1 and given.dtype.kind in "iubU"
    labels = np.ascontiguousarray(given) if plain else column_or_1d(given, warn=True)
    if len(labels) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y has "
            f"{len(labels)}; pass one class for each row"
        )
    refuse_unlabelled(_missing(labels), len(labels))
    if labels.dtype.kind == "O":
        found = set(map(type, labels.tolist()))
        types = sorted({"str" if issubclass(kind, str) else kind.__name__ for kind in found})
        if "str" in types and len(types) > 1:
            raise ValueError(f"y mixes {' and '.join(types)}; convert the classes to one type")
        if types == ["str"]:
            return np.asarray(labels)
    if labels.dtype.kind == "f":
        _refuse_numbers(labels)
    if labels.dtype.kind not in "iubfU":  # whole numbers and strings are classes, however many
        check_classification_targets(labels)
    return np.asarray(labels)


def _refuse_numbers(labels: AnyArray) -> None:
    """Raise the error of numbers that are no classes; its first words are those of scikit-learn."""
    found: list[AnyArray] = []
    each_part(lambda part: found.append(labels[part][labels[part] % 1 != 0]), len(labels))
    broken = np.concatenate(found) if found else labels
    if len(broken):
        raise ValueError(
            f"Unknown label type: continuous. y holds numbers such as {broken.min():g}, no classes; a number "
            "is predicted by LinearRegression"
        )


def refuse_unlabelled(gaps: int, n_rows: int) -> None:
    """Raise the error of rows that have no class; nothing where all have one."""
    if gaps:
        raise ValueError(
            f"Input y contains NaN: {gaps} of {n_rows} rows have no class; "
            "leave those rows out of training (you can still predict their class)"
        )


def read_numbers(y: Any, n_rows: int, who: str) -> Floats:
    """The numbers that a regression predicts, finite, one for each row."""
    if y is None:
        raise ValueError(
            f"This {who} estimator requires y to be passed, but the target y is None: pass the column that "
            "is to be predicted"
        )
    if isinstance(y, str):
        raise ValueError(f"y is the string {y!r}; pass the column itself, and leave it out of the table")
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] > 1:
        raise ValueError(
            f"y has {target.shape[1]} columns, and {who} predicts one number; fit one model for each column"
        )
    if target.dtype.kind not in "fiubO":
        raise ValueError(f"y holds {target.ravel()[:1].tolist()}, and {who} predicts numbers; pass numbers")
    target = column_or_1d(target, warn=True)
    if len(target) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y has "
            f"{len(target)}; pass one number for each row"
        )
    if target.dtype.kind == "O":
        target = np.array([np.nan if is_missing(v) else v for v in target.tolist()], dtype=object)
    try:
        numbers = target.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers, one for each row: {error}; classes are predicted by a classifier"
        ) from error
    bad = ~np.isfinite(numbers)
    if bad.any():
        what = "NaN" if np.isnan(numbers).any() else "infinity"
        raise ValueError(
            f"Input y contains {what}: {bad.sum()} of {len(numbers)} rows have no finite number, first row "
            f"{int(bad.argmax())}; leave those rows out of training (you can still predict them)"
        )
    _refuse_wild(numbers)
    return numbers


def _refuse_wild(numbers: Floats) -> None:
    """Refuse numbers to predict whose squares overflow, or vanish though the numbers differ."""
    if not len(numbers):
        return
    spread = float(numbers.max() / 2 - numbers.min() / 2)
    largest, smallest = LARGEST**0.5, SMALLEST**0.5  # for they are multiplied with other numbers, and squared
    if np.abs(numbers).max() > largest or 0 < spread < smallest:
        row = int(np.abs(numbers).argmax())
        raise ValueError(
            f"y holds {numbers[row]:g} in row {row}; numbers here must be at most {largest:.0e} and differ "
            f"by {smallest:.0e} or more, or squares overflow or vanish: rescale y, such as by dividing it "
            "by its standard deviation"
        )


def _missing(labels: AnyArray) -> int:
    if labels.dtype.kind == "f" and len(labels):
        low, high = least_and_most(labels)
        if np.isfinite(low + high):
            return 0
        if np.isinf(labels).any():
            raise ValueError("Input y contains infinity; a class must be a finite number or a string")
        return int(np.isnan(labels).sum())
    if labels.dtype.kind in "mM":
        return int(np.isnat(labels).sum())
    if labels.dtype.kind != "O" or set(map(type, labels.tolist())) == {str}:
        return 0
    return sum(map(is_missing, labels.tolist()))


def read_weights(sample_weight: Any, labels: AnyArray, *, classes: bool = True) -> Floats | None:
    """Row weights, finite and not negative, or None where all are 1; `classes` says what the labels are."""
    if sample_weight is None:
        return None
    given = np.asarray(sample_weight)
    if given.dtype.kind in "OUS":
        raise ValueError(
            f"sample_weight must be numbers, one for each row, found {sample_weight!r:.60}; to give "
            "classes equal say, use priors='uniform'"
        )
    if given.ndim == 0 and isinstance(sample_weight, np.ndarray):
        raise ValueError("sample_weight is an array without dimensions; pass one weight for each row")
    if given.ndim == 1 and given.shape != labels.shape:
        raise ValueError(
            f"sample_weight has {len(given)} values and the table {len(labels)} rows (sample_weight.shape == "
            f"{given.shape}, expected {labels.shape}!); pass one weight for each row"
        )
    if given.dtype.kind in "fiu" and given.shape == labels.shape and len(given):
        low, high = least_and_most(given)
        if low > 0 and not may_be_wild(low, high, len(given)):
            return np.ascontiguousarray(given, dtype=np.float64)
        bad = ~((given >= 0) & (given < np.inf))
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(
                f"sample_weight: {bad.sum()} of {len(given)} rows are negative, NaN or infinite, first row "
                f"{row} ({given[row]}); a weight must be finite and not negative: drop the row, or give it 0"
            )
    if given.dtype.kind not in "biufc":
        raise ValueError(
            f"sample_weight must be numbers, one for each row, found {given.dtype} values; pass numbers"
        )
    rows = np.empty((len(labels), 1))
    weight = check_sample_weight(sample_weight, rows, dtype=np.float64)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count")
    weight = np.asarray(weight, dtype=np.float64)
    refuse_wild_weights(weight, labels if classes else None)
    return weight


def may_be_wild(least: float, most: float, n_rows: int) -> bool:
    """Whether weights between these bounds could add up to less or more than sums of squares can bear."""
    return not (least >= LIGHTEST and most <= HEAVIEST / n_rows)


def refuse_wild_weights(weight: Floats, labels: AnyArray | None) -> None:
    """Refuse weights whose sum, by class where rows have classes, is beyond what sums of squares can bear.

    A single weight may be as small as it likes: posteriors of other models make good weights.
    """
    n = len(weight)
    if not may_be_wild(float(weight.min()), float(weight.max()), n):
        return
    codes = np.zeros(n, np.int64) if labels is None else distinct(labels)[1]
    mean = np.bincount(codes, weight / n)  # which does not overflow
    wrong = (mean > HEAVIEST / n) | ((mean < LIGHTEST / n) & (np.bincount(codes, weight > 0) > 0))
    if wrong.any():
        rows = np.flatnonzero((codes == wrong.argmax()) & (weight > 0))
        of = "all rows" if labels is None else f"the rows of class {labels[rows[0]]!s}"
        raise ValueError(
            f"sample_weight: {of} weigh {'more' if mean[wrong.argmax()] > 1 else 'less'} than can be summed "
            f"up, first row {rows[0]} ({weight[rows[0]]:g}), expected {LIGHTEST:g} to {HEAVIEST:g} together; "
            "divide all weights by their mean, or leave rows out by a weight of 0"
        )
