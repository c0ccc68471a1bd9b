"""PostgreSQL runs large queries at once: to compile them first would take longer than to run them."""

import numpy as np
import pyarrow as pa
import pytest

from databases import Database, columns_of, relative
from posterior import QDA, to_sql

COLUMNS = [f"c{j}" for j in range(9)]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 9)) @ rng.normal(size=(9, 9)) + y[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    return pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(COLUMNS)}), y


def test_the_densities_of_nine_columns_with_gaps_are_not_compiled(postgres, rows):
    X, y = rows
    model = QDA().fit(X, y)
    database = Database.postgres(postgres.uri)
    try:
        database.put("few", X)
        cells = ", ".join(f"few.{name}" for name in COLUMNS)
        database.do(f"CREATE TABLE many AS SELECT {cells} FROM few, generate_series(1, 200); ANALYZE many")
        with database.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
            cursor.execute("EXPLAIN " + to_sql(model, "postgres", table="many"))
            plan = "\n".join(cursor.fetch_arrow_table().column(0).to_pylist())
        assert "JIT" not in plan, plan[-500:]
        # The LIMIT that lowers the estimate leaves no row out.
        answers = database.ask(to_sql(model, "postgres", table="few", output=["log_posterior"]))
        assert relative(columns_of(answers, "log_posterior"), model.predict_log_proba(X)) < 1e-9
    finally:
        database.do("DROP TABLE IF EXISTS few; DROP TABLE IF EXISTS many")
        database.close()
