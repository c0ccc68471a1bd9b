"""Sums that a database works out are those of its rows, and errors those of the reading."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

from engine_cases import TARGET, WEIGHT, mixed_table
from posterior import GaussianNB, NaiveBayes, scan
from posterior.engines.database import DatabaseEngine

duckdb = pytest.importorskip("duckdb")
HOSTILE = 'x"; drop table rows; --'
NUMBERS = [
    "a.b",
    "far",
    "single",
    "gappy",
    "whole",
    "price",
    "apart",
    "near",
    "again",
    "constant",
    "z0",
    HOSTILE,
]
DISCRETE = ["flag", "state", "flag again", "answer", "counts"]
PLACES = ["duckdb", "postgres"]


def rows(n=6_000):
    """Rows with all that is hard: classes 1e8 apart, repeated columns, names that break queries."""
    table = mixed_table(n)
    rng, y = np.random.default_rng(1), np.unique(table[TARGET].to_pylist(), return_inverse=True)[1]
    more = {
        "apart": rng.normal(size=n) + np.array([0, 1e8, -1e8])[y],
        "near": rng.normal(size=n) + np.array([0, 1e8, 1e8 + 1])[y],
        "again": table["a.b"],
        "constant": np.full(n, 0.1),
        "z0": rng.normal(size=n) + 2 * y,
        HOSTILE: rng.normal(size=n) - y,
        "flag again": table["flag"],
        "answer": pa.array(np.where(table["flag"].to_numpy(), "yes", "no")),
        "counts": rng.poisson(3 + y),
    }
    for name, cells in more.items():
        table = table.append_column(name, cells if isinstance(cells, pa.ChunkedArray) else pa.array(cells))
    return table


@pytest.fixture(scope="module")
def put(request):
    """Puts a table into a database; what `scan` takes."""

    def into(place, table, name="rows"):
        if place == "duckdb":
            connection = duckdb.connect()
            request.addfinalizer(connection.close)
            connection.register("given", table)
            connection.table("given").create(name)
            connection.unregister("given")
            return {"source": connection, "table": name}
        dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
        uri = request.getfixturevalue("postgres").uri
        with dbapi.connect(uri) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
            connection.commit()
        return {"source": uri, "table": name}

    return into


@pytest.fixture(scope="module")
def table():
    return rows()


@pytest.fixture(scope="module", params=PLACES)
def place(request):
    return request.param


@pytest.fixture(scope="module")
def where(place, put, table):
    return put(place, table)


@pytest.fixture
def pushed(monkeypatch):
    """Whether the database was asked for sums, and gave them, one after the other."""
    found, original = [], DatabaseEngine.class_sums

    def class_sums(self, *args):
        answer = original(self, *args)
        found.append(answer is not None)
        return answer

    monkeypatch.setattr(DatabaseEngine, "class_sums", class_sums)
    return found


def fitted(model, where, **options):
    """The model and what was said of the columns."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(scan(**where, target=TARGET, **options))
    return model, [str(each.message) for each in said]


MODELS = {
    "GaussianNB": (lambda: GaussianNB(var_smoothing=0), NUMBERS, None),
    "mixed": (lambda: NaiveBayes(tied=False, weights=1.0), NUMBERS + DISCRETE, {"counts": "count"}),
    "settings chosen": (NaiveBayes, ["a.b", "gappy", *DISCRETE], {"counts": "count"}),
}


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("name", MODELS)
def test_sums_of_the_database_give_the_model_of_the_rows(name, weight, place, where, table, pushed):
    make, columns, kinds = MODELS[name]
    options = {"columns": columns, "weight": weight, "kinds": kinds}
    found, said = fitted(make(), where, **options)
    assert pushed == [weight is None or place == "duckdb"]  # PostgreSQL sums up without weights only
    expected, said_of_rows = fitted(make(), where, **options, engine="arrow")
    assert not pushed[1]
    assert said == said_of_rows  # of columns that are constant, or repeat others
    assert found.model_.log_likelihood == pytest.approx(expected.model_.log_likelihood, rel=1e-11)
    X = table.select(columns)
    logs, wanted = found.predict_joint_log_proba(X), expected.predict_joint_log_proba(X)
    assert np.abs((logs - wanted) / (1 + np.abs(wanted))).max() < 1e-10
    a, b = found.model_.statistics, expected.model_.statistics
    assert a.n_rows == b.n_rows
    assert a.weight == pytest.approx(b.weight, rel=1e-13)


def test_classes_that_are_far_apart_keep_their_digits(where, table):
    found, _ = fitted(GaussianNB(var_smoothing=0), where, columns=["apart", "near"])
    X, y = np.column_stack([table["apart"], table["near"]]), np.array(table[TARGET].to_pylist())
    for k, label in enumerate(found.classes_):
        centred = X[y == label] - X[y == label][0]
        assert found.var_[k] == pytest.approx(centred.var(axis=0), rel=1e-12)


def odd_table(cells, labels=None):
    labels = labels or ["a", "b"] * (len(cells) // 2)
    return pa.table({"x": pa.array(cells, pa.float64()), TARGET: labels, WEIGHT: [1.0] * len(cells)})


REFUSED = {
    "infinity": (odd_table([1.0, 2.0, np.inf, 3.0]), "x.*infinity|infinit"),
    "minus infinity beside NaN": (odd_table([1.0, np.nan, -np.inf, 3.0]), "infinit"),
    "squares that overflow": (odd_table([1.0, 2.0, 1e200, 3.0]), "x"),
    "squares that vanish": (odd_table([0.0, 1e-170, 2e-170, 0.0]), "x"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_numbers_are_refused_as_in_memory(what, place, put):
    table, words = REFUSED[what]
    where = put(place, table, "odd")
    with pytest.raises(ValueError, match=words) as in_memory:
        GaussianNB().fit(table.select(["x"]), table[TARGET].to_pylist())
    for engine in (None, "arrow"):
        with pytest.raises(ValueError, match=words) as found:
            GaussianNB().fit(scan(**where, target=TARGET, columns=["x"], engine=engine))
        assert str(in_memory.value) in str(found.value)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan, None])
def test_weights_that_are_none_are_refused(weight, place, put):
    table = odd_table([1.0, 2.0, 3.0, 4.0]).set_column(2, WEIGHT, pa.array([1.0, weight, 2.0, 1.0]))
    with pytest.raises(ValueError, match="must be finite and not"):
        GaussianNB().fit(scan(**put(place, table, "weights"), target=TARGET, weight=WEIGHT))


def test_nan_and_null_are_gaps(place, put, pushed):
    cells = [1.0, 2.0, np.nan, None, 4.0, 7.0]
    table = odd_table(cells, ["a", "b", "a", "b", "a", "b"])
    found, _ = fitted(GaussianNB(), put(place, table, "gaps"), columns=["x"])
    assert pushed == [True]
    assert found.theta_.ravel().tolist() == [2.5, 4.5]


def test_columns_of_equal_sums_in_other_rows_repeat_nothing(place, put, pushed):
    table = pa.table(
        {
            "x": [0, 1, 0, 1],
            "other": [1, 0, 1, 0],
            "same": [0, 1, 0, 1],
            "word": ["n", "y", "n", "y"],
            TARGET: ["a", "a", "b", "b"],
        }
    )
    kinds = dict.fromkeys(["x", "other", "same", "word"], "categorical")
    _, said = fitted(NaiveBayes(weights=1.0, tied=False), put(place, table, "equal"), kinds=kinds)
    assert pushed == [True]
    assert "'same'" in said[0]
    assert "'word'" in said[0]
    assert "'other'" not in said[0]


def test_more_columns_than_one_query_sums_up(place, put, pushed):
    X = np.random.default_rng(0).normal(size=(40, 250))
    table = pa.table({f"c{j}": x for j, x in enumerate(X.T)} | {TARGET: ["a", "b"] * 20})
    found, _ = fitted(GaussianNB(var_smoothing=0), put(place, table, "wide"))
    assert pushed == [True]
    assert found.theta_[0] == pytest.approx(X[::2].mean(axis=0), rel=1e-12)


def test_counts_over_a_wide_range_are_read(place, put, pushed):
    table = pa.table({"x": [0, 10, 200_000, 5], TARGET: ["a", "b", "a", "b"]})
    fitted(NaiveBayes(weights=1.0), put(place, table, "wide_counts"), kinds={"x": "count"})
    assert pushed == [False]


def test_a_survey_of_the_database_is_that_of_its_rows(where):
    columns = ["state", "answer", "flag"]
    for weight in (None, WEIGHT):
        options = {"target": TARGET, "weight": weight, "columns": columns}
        found, expected = (scan(**where, **options, engine=engine).survey for engine in (None, "arrow"))
        assert found.n_rows == expected.n_rows
        assert found.levels == expected.levels
        assert found.weights == expected.weights
