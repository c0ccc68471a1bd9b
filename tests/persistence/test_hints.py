"""Annotations hold values to types, also where an alias stands for the type."""

from typing import Any, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from posterior._types import AnyArray, Floats
from posterior.persistence.hints import described, matches, resolved

T = TypeVar("T")
U = TypeVar("U")
Number = TypeAliasType("Number", int | float)
Numbers = TypeAliasType("Numbers", tuple[Number, ...])
Swapped = TypeAliasType("Swapped", dict[U, T], type_params=(T, U))
Wrapped = TypeAliasType("Wrapped", Swapped[T, str], type_params=(T,))
# As NumPy declares NDArray from 2.5 on.
Array = TypeAliasType("Array", np.ndarray[tuple[Any, ...], np.dtype[T]], type_params=(T,))


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (1, Number, True),
        ("1", Number, False),
        ((1, 2.5), Numbers, True),
        ((1, "2"), Numbers, False),
        ({"a": 1}, Swapped[int, str], True),
        ({1: "a"}, Swapped[int, str], False),
        ({"a": 1}, Wrapped[int], True),
        ({"a": "b"}, Wrapped[int], False),
        (np.zeros(2), Array[np.float64], True),
        (np.zeros(2, dtype=int), Array[np.float64], False),
        (None, Array[np.float64] | None, True),
        ((np.zeros(2), np.ones(1)), tuple[Array[np.float64], ...], True),
        ((np.zeros(2), 1.0), tuple[Array[np.float64], ...], False),
        (np.zeros(2), Floats, True),
        (np.zeros(2, dtype=np.float32), Floats, False),
        (np.zeros(2, dtype=np.float32), AnyArray, True),
        ([0.0], Floats | None, False),
    ],
)
def test_a_value_is_held_to_what_an_alias_stands_for(value, hint, expected):
    assert matches(value, hint) is expected


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (Array[np.float64], "an array of float64"),
        (Floats | None, "an array of float64 or None"),
        (AnyArray, "an array of anything"),
        (Number, "int or float"),
    ],
)
def test_an_alias_is_described_as_what_it_stands_for(hint, words):
    assert described(hint) == words


def test_what_is_no_alias_stays_as_it_is():
    for hint in (int, tuple[int, ...], Any, None, int | None):
        assert resolved(hint) == hint
