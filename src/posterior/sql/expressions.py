"""Sums, products and functions of columns as expressions of sqlglot: a small algebra that copies nothing."""

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, TypeAlias

from sqlglot import exp

Expression: TypeAlias = exp.Expression
Join: TypeAlias = Callable[[Expression, Expression], Expression]


def number(value: float) -> Expression:
    """A double as it is, to the last digit.

    The exponent makes DuckDB read it as a double and not as a decimal; PostgreSQL reads a numeric, whose cast
    to a double is exact.

    >>> number(0.1).sql("duckdb"), number(float("-inf")).sql("postgres")
    ('CAST(0.1e0 AS DOUBLE)', "CAST('-Infinity' AS DOUBLE PRECISION)")
    """
    value = float(value)
    if isnan(value):
        raise ValueError("a parameter of the model is NaN, which no SQL stands for; fit it again")
    if value in (float("inf"), float("-inf")):
        return as_double(exp.Literal.string("Infinity" if value > 0 else "-Infinity"))
    return as_double(exp.Literal(this=_digits(value), is_string=False))


def _digits(value: float) -> str:
    mantissa, _, exponent = repr(value).partition("e")
    if exponent or abs(value) >= 1e6 or 0 < abs(value) < 1e-3:
        return f"{mantissa}e{int(exponent or 0)}"
    return f"{mantissa.removesuffix('.0')}e0"


def as_double(value: Expression) -> Expression:
    """A value as a number of double precision."""
    return exp.Cast(this=value, to=exp.DataType.build("double"))


def as_single(value: Expression) -> Expression:
    """A value as a number of single precision."""
    return exp.Cast(this=value, to=exp.DataType.build("float"))


def as_whole(value: Expression) -> Expression:
    """A whole number that is a double, as an integer."""
    return exp.Cast(this=value, to=exp.DataType.build("int"))


def as_text(value: Expression) -> Expression:
    """A value as text."""
    return exp.Cast(this=value, to=exp.DataType.build("text"))


def column(name: str) -> Expression:
    """A column of our own, whose name needs no quotes."""
    return exp.Column(this=exp.Identifier(this=name, quoted=False))


def quoted(name: str) -> exp.Identifier:
    """A name of the user's, whatever is in it."""
    return exp.Identifier(this=name, quoted=True)


def named(value: Expression, name: exp.Identifier) -> Expression:
    """A value under a name, in the list of a SELECT."""
    return exp.Alias(this=value, alias=name)


def text(value: str) -> Expression:
    """A string, whatever is in it."""
    if "\0" in value:
        raise ValueError(f"{value!r} holds a NUL character, which no text in SQL may; rename it")
    return exp.Literal.string(value)


def whole(value: int) -> Expression:
    """A whole number."""
    return exp.Literal(this=str(int(value)), is_string=False)


def label(value: Any) -> Expression:
    """A level or a class label as it is: text, true or false, a whole number or a double.

    >>> [label(value).sql("duckdb") for value in ("it's", True, 3)]
    ["'it''s'", 'TRUE', '3']
    """
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return text(value)
    return whole(value) if isinstance(value, int) else number(value)


def _binary(kind: type[Expression]) -> Join:
    def made(a: Expression, b: Expression) -> Expression:
        return kind(this=_operand(a), expression=_operand(b))

    return made


def _operand(part: Expression) -> Expression:
    return exp.Paren(this=part) if isinstance(part, exp.Binary | exp.Not | exp.Neg | exp.Is) else part


add, subtract, times = _binary(exp.Add), _binary(exp.Sub), _binary(exp.Mul)
equal, below, at_most = _binary(exp.EQ), _binary(exp.LT), _binary(exp.LTE)
above, at_least = _binary(exp.GT), _binary(exp.GTE)
both, either = _binary(exp.And), _binary(exp.Or)


def ratio(a: Expression, b: Expression) -> Expression:
    """One double divided by another."""
    return exp.Div(this=_operand(a), expression=_operand(b), typed=True, safe=False)


def negative(value: Expression) -> Expression:
    """Minus a value."""
    return exp.Neg(this=_operand(value))


def square(name: Expression) -> Expression:
    """A column times itself; what is squared should be a column, for it is written twice."""
    return times(name, name.copy())


def total(parts: Sequence[Expression]) -> Expression:
    """The sum of some terms, 0 of none; halved again and again, so that thousands nest no deeper than ten.

    >>> total([column("a"), column("b"), column("c")]).sql()
    '(a + b) + c'
    """
    if not parts:
        return number(0.0)
    return _folded(list(parts), add)


def every(parts: Sequence[Expression]) -> Expression:
    """Whether all conditions hold."""
    return _folded(list(parts), both)


def some(parts: Sequence[Expression]) -> Expression:
    """Whether a condition holds."""
    return _folded(list(parts), either)


def _folded(parts: list[Expression], join: Join) -> Expression:
    while len(parts) > 1:
        parts = [join(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def is_gap(value: Expression) -> Expression:
    """Whether a value is not there."""
    return exp.Is(this=_operand(value), expression=exp.Null())


def is_there(value: Expression) -> Expression:
    """Whether a value is there."""
    return exp.Not(this=is_gap(value))


def case(*pairs: tuple[Expression, Expression], otherwise: Expression | None = None) -> Expression:
    """The value of the first condition that holds; without any, NULL or what is given."""
    branches = [exp.If(this=condition, true=value) for condition, value in pairs]
    return exp.Case(ifs=branches, default=otherwise)


def or_else(value: Expression, instead: Expression) -> Expression:
    """A value, or another where it is not there."""
    return exp.Coalesce(this=value, expressions=[instead])


def log(value: Expression) -> Expression:
    """The natural logarithm."""
    return exp.Ln(this=value)


def root(value: Expression) -> Expression:
    """The square root."""
    return exp.Sqrt(this=value)


def size(value: Expression) -> Expression:
    """The absolute value."""
    return exp.Abs(this=value)


def largest(values: Sequence[Expression]) -> Expression:
    """The largest of some values, all of which are there."""
    return values[0] if len(values) == 1 else exp.Anonymous(this="GREATEST", expressions=list(values))


def exponential(value: Expression) -> Expression:
    """The exponential of a column, 0 far below: PostgreSQL refuses exp(−800)."""
    return case((above(value, number(-708.0)), exp.Exp(this=value.copy())), otherwise=number(0.0))


def element(numbers: Sequence[float], place: Expression) -> Expression:
    """One of some given numbers, the first at place 1."""
    array = exp.Array(expressions=[number(value) for value in numbers])
    return exp.Bracket(this=exp.Paren(this=array), expressions=[place], offset=1)
