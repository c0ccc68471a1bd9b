"""Fitted models as SQL: the same numbers inside the database."""

try:
    import sqlglot  # noqa: F401 -- asked for here, to say what to do where it is not
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "SQL is written with sqlglot, which is not installed; run `pip install 'posterior[sql]'`",
        name="sqlglot",
    ) from error

from posterior.sql.densities import Density, register_density
from posterior.sql.query import to_sql

__all__ = ["Density", "register_density", "to_sql"]
