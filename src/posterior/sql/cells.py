"""The columns of a table as a model reads them: numbers with gaps, or codes of categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from posterior.schema import Column, Schema
from posterior.sql.dialects import Dialect
from posterior.sql.expressions import (
    Expression,
    as_double,
    as_single,
    as_text,
    below,
    case,
    equal,
    is_there,
    number,
    quoted,
    some,
    text,
    whole,
)
from posterior.sql.steps import Steps

# Whole numbers up to this size are doubles.
EXACT = 2**53


@dataclass
class Cells:
    """Reads columns of a table into steps; `refused` are conditions under which the model gives no answer.

    `names` are what the table calls columns that training called otherwise.
    """

    schema: Schema
    steps: Steps
    dialect: Dialect
    names: Mapping[str, str]
    refused: list[Expression] = field(default_factory=list)

    def value(self, j: int) -> Expression:
        """A column as numbers, NULL where it is missing: codes of categories, as a model reads them too."""
        column = self._column(j)
        if column.categories is not None:
            code = self.code(j)
            return self.steps.let("x", as_double(case((below(code, whole(column.size)), code))))
        if column.kind == "binary":
            raw = self._number(column)
            self._refuse_infinite(raw)
            return self.steps.let("x", case((_is_either(raw), raw)))
        raw = self._number(column)
        if column.storage == "boolean":
            return raw
        if column.kind == "count":
            self.refuse(below(raw, number(0.0)))
        self.refuse(self.dialect.is_refused(raw))
        return self.steps.let("x", case((self.dialect.is_used(raw), raw)))

    def code(self, j: int) -> Expression:
        """A column as codes of its categories, one more for what training had not seen, NULL for a gap."""
        column = self._column(j)
        levels, new = column.levels or (), whole(column.size)
        if not any(isinstance(level, str) for level in levels):
            return self.steps.let("c", self._code_of_numbers(column, levels, new))
        if not all(isinstance(level, str) for level in levels):
            raise ValueError(
                f"column {column.name!r} has strings and numbers among its categories, which no column in "
                "SQL has; turn them into strings and fit again"
            )
        raw = self.steps.read("r", as_text(self._raw(column)))
        pairs = [(equal(raw, text(level)), whole(code)) for code, level in enumerate(levels)]
        return self.steps.let("c", case(*pairs, (is_there(raw), new)))

    def _code_of_numbers(self, column: Column, levels: Sequence[Any], new: Expression) -> Expression:
        if any(abs(level) >= EXACT for level in levels):
            raise ValueError(
                f"column {column.name!r} has categories beyond 2**53, which are no doubles; turn them into "
                "strings and fit again"
            )
        raw = self._number(column)
        self._refuse_infinite(raw)
        # What came as single precision is compared as such.
        as_compared = as_single if column.single else _as_it_is
        pairs = [
            (equal(as_compared(raw), as_compared(number(level))), whole(code))
            for code, level in enumerate(levels)
        ]
        return case(*pairs, (self.dialect.is_finite(raw), new))

    def _number(self, column: Column) -> Expression:
        """The cells of a column as doubles; true and false are 1 and 0."""
        raw = self._raw(column)
        if column.storage == "boolean":
            value = case((raw, number(1.0)), (exp.Not(this=raw.copy()), number(0.0)))
            return self.steps.read("r", value)
        return self.steps.read("r", as_double(raw))

    def _raw(self, column: Column) -> Expression:
        return exp.Column(this=quoted(self.names.get(column.name, column.name)))

    def refuse(self, condition: Expression) -> None:
        """Let rows of which a condition holds have no answer."""
        self.refused.append(condition)

    def _refuse_infinite(self, raw: Expression) -> None:
        self.refuse(some([equal(raw, number(float("inf"))), equal(raw, number(float("-inf")))]))

    def _column(self, j: int) -> Column:
        """A column that can be read as it is, or the error that says what cannot."""
        column = self.schema.columns[j]
        name = self.schema.input_of(j)
        for reading in self.schema.readings:
            if reading.name == name:
                why = reading.reasons[0] if reading.reasons else "it is not what its type says"
                raise ValueError(
                    f"column {name!r} is not read as it is ({why}), and the query cannot do that; make it a "
                    "plain column of numbers or strings, in a view of the database too, and fit again"
                )
        if column.kind == "text" or column.storage == "time":
            raise ValueError(
                f"column {name!r} holds {'texts' if column.kind == 'text' else 'dates'}, which SQL does not "
                "take apart as the model does; leave it out and fit again"
            )
        return column


def _as_it_is(x: Expression) -> Expression:
    return x


def _is_either(x: Expression) -> Expression:
    return some([equal(x, number(0.0)), equal(x, number(1.0))])
