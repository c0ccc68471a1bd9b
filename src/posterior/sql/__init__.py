"""Fitted models as SQL: the same numbers inside the database."""

from importlib.util import find_spec

if find_spec("sqlglot") is None:
    raise ModuleNotFoundError(
        "SQL is written with sqlglot, which is not installed; run `pip install 'posterior[sql]'`",
        name="sqlglot",
    )

from posterior.sql.densities import Density, register_density
from posterior.sql.query import to_sql

__all__ = ["Density", "register_density", "to_sql"]
