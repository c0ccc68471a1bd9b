"""What every database is asked: names in quotes, and the rows of a table or query."""

from collections.abc import Mapping, Sequence


def quoted(name: str) -> str:
    """A name as standard SQL writes it, whatever is in it.

    >>> quoted('x"; drop table t; --')
    '"x""; drop table t; --"'
    """
    if "\0" in name:
        raise ValueError(f"{name!r} holds a zero character, which no name in a database has")
    return '"' + name.replace('"', '""') + '"'


def possible_tables(table: str) -> list[str]:
    """What a table may be called in SQL: "a.b" is one name or, if there is no such table, b of schema a.

    >>> possible_tables("sales.orders")
    ['"sales.orders"', '"sales"."orders"']
    """
    parts = ".".join(quoted(part) for part in table.split("."))
    return list(dict.fromkeys([quoted(table), parts]))


def subquery(query: str) -> str:
    r"""A query as the rows of another one.

    >>> subquery("select * from t;")
    '(select * from t\n) AS "rows"'
    """
    # On a line of its own, because a query may end in a comment.
    return f'({query.strip().rstrip(";")}\n) AS "rows"'


def select(columns: Sequence[str], rows: str, casts: Mapping[str, str] | None = None) -> str:
    """The query of some columns, some of them as another type.

    >>> select(["x", "price"], '"t"', {"price": "DOUBLE PRECISION"})
    'SELECT "x", CAST("price" AS DOUBLE PRECISION) AS "price" FROM "t"'
    """
    as_type = casts or {}
    asked = [
        f"CAST({quoted(name)} AS {as_type[name]}) AS {quoted(name)}" if name in as_type else quoted(name)
        for name in columns
    ]
    return f"SELECT {', '.join(asked)} FROM {rows}"  # noqa: S608 -- names are quoted


def all_columns(rows: str) -> str:
    """The query of all columns.

    >>> all_columns('"t"')
    'SELECT * FROM "t"'
    """
    return f"SELECT * FROM {rows}"  # noqa: S608 -- names are quoted


def refuse_engine(engine: object) -> None:
    """Raise where somebody else than the database is to read its rows; "arrow" has it stream all of them."""
    if engine not in (None, "arrow"):
        raise ValueError(
            f"engine={engine!r} reads files; a database reads its own rows, and with engine='arrow' it sums "
            "up none of them itself"
        )


def refuse_unclear(what: str, table: str | None, query: str | None) -> None:
    """Raise where neither table nor query says which rows of a database are meant."""
    if table is None and query is None:
        raise ValueError(
            f"{what} holds many tables; say which rows: scan(…, table='name') or query='SELECT …'"
        )
