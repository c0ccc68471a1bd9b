"""What is done with a row is the same inside the database: priors, calibration, costs, rejecting."""

import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import parse_one

import posterior
from commands import printed
from databases import Database, columns_of, relative
from posterior.datasets import load_penguins
from posterior.decision.reject import Limit

PENGUINS = load_penguins()
COSTS = [[0, 1, 2], [3, 0, 1], [1, 5, 0]]
ASK = {
    k: {"keep": c, "call": 0.2, "drop": 1 - c} for k, c in zip(PENGUINS.y.unique(), (0, 0.5, 1), strict=True)
}
SETTINGS = [
    {},
    {"priors": "uniform"},
    {"priors": [0.98, 0.02, 0.0]},
    {"calibration": "temperature"},
    {"calibration": "vector", "priors": [0.1, 0.2, 0.7]},
    {"costs": COSTS},
    {"costs": ASK},
    {"costs": (np.array(COSTS) * 1e8 + 1e12).tolist()},
    {"reject": {"threshold": 0.999}},
    {"reject": {"cost": 0.01}},
    {"reject": {"coverage": 0.8}},
    {"reject": Limit(0.001)},
    {"costs": COSTS, "reject": {"cost": 0.02}, "reject_label": "ask"},
]


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner = posterior.NaiveBayes()
        return posterior.DecisionClassifier(inner, cv=3, calibration="vector").fit(PENGUINS.X, PENGUINS.y)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_decisions_are_those_of_predict(model, database, settings):
    every = {"costs": None, "reject": None, "priors": None, "calibration": None, "reject_label": "reject"}
    model.set_decision(**(every | settings))
    rows = pa.Table.from_pandas(PENGUINS.X.assign(key=np.arange(len(PENGUINS.X))), preserve_index=False)
    database.put("birds", rows)
    query = posterior.to_sql(model, table="birds", dialect=database.dialect, keep=["key"])
    found = database.ask(query).sort_by("key")
    assert relative(columns_of(found, "log_posterior_"), model.predict_log_proba(PENGUINS.X)) < 1e-9
    assert found["predicted"].to_pylist() == model.predict(PENGUINS.X).tolist()


def test_labels_of_several_types_come_out_as_text(database):
    X, y = np.arange(8.0)[:, None], [1, 1, 1, 1, 2, 2, 2, 2]
    model = posterior.DecisionClassifier(posterior.GaussianNB().fit(X, y), reject={"threshold": 0.9})
    database.put("numbers", pa.table({"x0": X[:, 0]}))
    found = database.ask(posterior.to_sql(model, table="numbers", dialect=database.dialect))
    assert found["predicted"].to_pylist() == [str(label) for label in model.predict(X).tolist()]
    assert "reject" in found["predicted"].to_pylist()


@pytest.mark.parametrize(
    ("labels", "expected"), [([True, False], [True, False]), ([3, 7], [3, 7]), ([1.0, 2.0], [1.0, 2.0])]
)
def test_labels_of_one_type_keep_it(database, labels, expected):
    model = posterior.GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], np.repeat(labels, 2))
    database.put("labels", pa.table({"x0": [0.5, 5.5]}))
    query = posterior.to_sql(model, table="labels", dialect=database.dialect, output="predicted")
    found = database.ask(query)["predicted"].to_pylist()
    assert sorted(found) == sorted(expected)
    assert {type(label) for label in found} == {type(label) for label in expected}


def test_what_is_not_written_says_so(model):
    X, y = PENGUINS.X[["bill_length_mm"]].fillna(40.0), PENGUINS.y
    families = posterior.families
    density = posterior.GenerativeClassifier([("bill_length_mm", families.KernelDensity())]).fit(X, y)
    with pytest.raises(
        ValueError, match=r"'bill_length_mm' is described by KernelDensityDistribution.*Normal"
    ):
        posterior.to_sql(density, table="t")
    with pytest.raises(TypeError, match=r"PoolClassifier is not written in SQL; to_sql knows naive Bayes"):
        posterior.to_sql(posterior.PoolClassifier([("a", posterior.GaussianNB())]).fit(X, y), table="t")
    with pytest.raises(TypeError, match="dict is not written in SQL"):
        posterior.to_sql({}, table="t")
    plain = posterior.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="LogisticRegression has no log joints"):
        posterior.to_sql(plain, table="t", output=["log_joint"])
    model.set_decision(reject=_Odd(), costs=None, priors=None, calibration=None)
    with pytest.raises(ValueError, match=r"reject rule .* is not written in SQL"):
        posterior.to_sql(model, table="t")


class _Odd:
    def rejects(self, log_posterior, risk):
        return np.zeros(len(log_posterior), dtype=bool)


def test_a_family_from_outside_is_written_once_it_says_how(database):
    from posterior.sql import Density, register_density
    from posterior.sql.expressions import number, subtract, times

    class Ramp(posterior.families.ExponentialDistribution):
        """Twice the exponent: a density up to a constant of the class."""

        def class_terms(self, block, k):
            return np.where(np.isnan(block), 0.0, -2 * block / self.mean[k] - np.log(self.mean[k] / 2))

    def write(distribution, j, x, steps):
        return Density(
            [
                subtract(number(-np.log(m / 2)), times(x, number(2 / m)))
                for m in distribution.mean[:, j].tolist()
            ]
        )

    register_density(Ramp, write)
    model = posterior.GenerativeClassifier.from_distributions(["a", "b"], None, [("x", Ramp([[1.0], [3.0]]))])
    database.put("ramp", pa.table({"x": [0.1, 2.0, None]}))
    found = columns_of(
        database.ask(posterior.to_sql(model, table="ramp", dialect=database.dialect)), "log_post"
    )
    assert relative(found, model.predict_log_proba([[0.1], [2.0], [np.nan]])) < 1e-12


def test_the_command_writes_the_query_of_a_model_file(tmp_path, capsysbinary):
    file = str(tmp_path / "m.posterior")
    printed(capsysbinary, "fit", "penguins", "-t", "species", "-m", "naive-bayes", "-o", file, "-q")
    query = printed(capsysbinary, "sql", file, "--table", "birds", "--keep", "key", "--only", "posterior")
    database = Database.duckdb()
    frame = PENGUINS.frame.assign(key=np.arange(len(PENGUINS.X)))
    database.put("birds", pa.Table.from_pandas(frame, preserve_index=False))
    found = columns_of(database.ask(query).sort_by("key"), "posterior_")
    assert relative(found, posterior.load(file).predict_proba(PENGUINS.X)) < 1e-9
    for dialect in ("postgres", "duckdb"):
        said = printed(capsysbinary, "sql", file, "--table", "t", "--schema", "s", "--dialect", dialect)
        parse_one(said, dialect=dialect)
        assert 'FROM "s"."t"' in said
    out = tmp_path / "q.sql"
    printed(capsysbinary, "sql", file, "--table", "birds", "-o", str(out))
    assert out.read_text().startswith("WITH step_0 AS")


def test_a_missing_package_is_named_with_the_remedy(tmp_path):
    file = str(tmp_path / "m.posterior")
    posterior.save(posterior.GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]), file)
    code = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "from posterior.cli import main\n"
        f"main(['sql', {file!r}, '--table', 't'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "sqlglot, which is not installed; run `pip install 'posterior[sql]'`" in done.stderr
