"""A database of each kind, for every test of SQL."""

import pytest

from databases import Database

pytest.importorskip("sqlglot", reason="SQL is an extra")


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def database(request):
    """A connection to a database."""
    if request.param == "duckdb":
        found = Database.duckdb()
    else:
        found = Database.postgres(request.getfixturevalue("postgres").uri)
    yield found
    found.close()
