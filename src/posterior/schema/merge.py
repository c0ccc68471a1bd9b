"""Two descriptions of the same column become one."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posterior._text import listed
from posterior.schema.cells import factorize
from posterior.schema.columns import Column
from posterior.schema.hints import Hint, string_hint
from posterior.schema.kinds import KINDS, Storage, order, refuse_other_type
from posterior.schema.readings import ColumnReading


def merged_column(a: Column, b: Column) -> Column:
    """Return the column that holds the values of both."""
    if a.ignored or b.ignored:
        return _both_ignored(a, b)
    if a.empty or b.empty:
        # Of two guesses the declared one stands, else one whatever the order of the tables.
        kept, gone = sorted((a, b), key=lambda c: (c.empty, not c.declared, KINDS.index(c.kind)))
        if kept.kind == gone.kind:
            return replace(kept, declared=a.declared or b.declared)
        return _adopted(kept, gone)
    if a.kind != b.kind:
        raise ValueError(_kinds_message(a, b))
    storage = _merged_storage(a.storage, b.storage)
    declared, single = a.declared or b.declared, a.single and b.single
    if a.levels is None or b.levels is None:
        return replace(a, storage=storage, declared=declared, single=single)
    if a.kind == "binary" and (a.categories is None) and (b.categories is None):
        return replace(a, storage=storage, declared=declared, single=single)
    refuse_other_type(a.name, a.levels, b.levels)
    fixed = a.levels_fixed or b.levels_fixed
    categories = tuple(dict.fromkeys((*a.levels, *b.levels)))
    if not fixed:
        categories = tuple(sorted(categories, key=order))
    if a.kind == "binary" and len(categories) > 2:
        raise ValueError(
            f"column {a.name!r} is binary, but the two tables together have {len(categories)} values: "
            f'{listed(categories)}; recode it to 0 and 1, or declare it "categorical"'
        )
    # A file may say of numbers that they are strings.
    strings = a.storage == b.storage == "string" and all(isinstance(level, str) for level in categories)
    plain = strings and not declared
    hint = string_hint(a.name, factorize(categories, "string")) if plain else Hint()
    return replace(
        a,
        categories=categories,
        storage=storage,
        declared=declared,
        levels_fixed=fixed,
        ordered=a.ordered and b.ordered,
        single=single,
        hint=hint.sentence,
        reason=a.reason if a.categories == categories else _reason(a, b, len(categories)) + hint.reason,
    )


def merged_readings(a: tuple[ColumnReading, ...], b: tuple[ColumnReading, ...]) -> tuple[ColumnReading, ...]:
    """Return the readings of both tables; a column is read in one way."""
    if a == b:
        return a
    found = {reading.place: reading for reading in a}
    for reading in b:
        known = found.setdefault(reading.place, reading)
        if known.form() != reading.form():
            raise ValueError(
                f"column {reading.name!r} is read as {', '.join(known.reasons)} in one table and as "
                f"{', '.join(reading.reasons)} in the other; convert both to numbers first"
            )
    return tuple(found[place] for place in sorted(found))


def recoded(old: Column, new: Column) -> NDArray[np.int64] | None:
    """Return the new code of each old code, or None for a column without categories."""
    if old.levels is None or (old.categories is None and new.categories is None):
        return None
    index = {level: code for code, level in enumerate(new.levels or ())}
    levels = () if old.empty else old.levels  # nothing was counted, whatever it was taken for
    lost = [category for category in levels if category not in index]
    if lost:
        raise ValueError(
            f"column {old.name!r}: the other schema lacks the categories {listed(lost)}; recode into a union"
        )
    codes = [index[category] for category in levels]
    if old.kind == new.kind == "binary":
        # Both codes exist even if one has no value yet: it takes the place that is left.
        codes += [code for code in (0, 1) if code not in codes][: 2 - len(codes)]
    return np.array(codes, dtype=np.int64)


def _both_ignored(a: Column, b: Column) -> Column:
    if a.ignored and b.ignored:
        return a
    raise ValueError(
        f"column {a.name!r} is used for one table and not for the other; use the same columns for both"
    )


def _adopted(kept: Column, gone: Column) -> Column:
    if gone.declared:
        raise ValueError(_kinds_message(kept, gone))
    return kept


def _merged_storage(a: Storage, b: Storage) -> Storage:
    if a == b:
        return a
    pair: set[Any] = {a, b}
    if pair <= {"float", "integer", "boolean"}:
        return "float" if "float" in pair else "integer"
    return "string" if pair <= {"string", "category"} else "mixed"


def _reason(a: Column, b: Column, n: int) -> str:
    if a.declared or b.declared:
        return "declared"
    return f"{a.reason.split(',')[0]}, {n} categories"


def _kinds_message(a: Column, b: Column) -> str:
    return (
        f"column {a.name!r} is {a.kind} ({a.reason}) in one table and {b.kind} ({b.reason}) in the other; "
        f'declare it in both, as in kinds={{{a.name!r}: "{a.kind}"}}'
    )
