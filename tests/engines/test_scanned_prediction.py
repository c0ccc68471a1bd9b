"""What a model says of a scan is what it says of the same rows in memory, written whole or not at all."""

import pickle
import shutil
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.frozen import FrozenEstimator

from posterior import (
    LDA,
    QDA,
    AdditiveClassifier,
    CalibratedClassifier,
    DecisionClassifier,
    FusionClassifier,
    GaussianNB,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    OneDependence,
    OutlierRule,
    PoolClassifier,
    SoftmaxRegression,
    TreeAugmented,
    scan,
    threads,
)
from posterior.engines import arrow, base, scoring
from posterior.engines.arrow import found_files
from posterior.estimators.scanned_prediction import NAMES
from posterior.families import Gamma
from posterior.files import read
from posterior.notices import OutsideSupportWarning, UnseenCategoryWarning

N, COLUMNS = 2_000, ["x", "wait", "state"]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(arrow.readable, "__defaults__", (128,))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    return pa.table(
        {
            "id": np.arange(N),
            "x": y + rng.normal(size=N),
            "wait": rng.gamma(2.0, 1.0 + y),
            "state": np.array(["CA", "NY", "TX"])[(y + rng.integers(0, 2, N)) % 3],
            "label": np.array(["a", "b", "c"])[y],
            "number": 2.0 * y + rng.normal(size=N),
        }
    )


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k, first in enumerate(range(0, N, 700)):
        pq.write_table(table.slice(first, 700), folder / f"part-{k}.parquet", row_group_size=300)
    return folder


MODELS = {
    "naive Bayes": NaiveBayes,
    "Gaussian naive Bayes": GaussianNB,
    "LDA": LDA,
    "QDA": QDA,
    "one dependence": OneDependence,
    "a tree of dependence": TreeAugmented,
    "logistic": LogisticRegression,
    "softmax": SoftmaxRegression,
    "additive": AdditiveClassifier,
    "least squares": LeastSquaresClassifier,
    "calibrated": lambda: CalibratedClassifier(NaiveBayes()),
    "decision": lambda: DecisionClassifier(NaiveBayes(), reject={"threshold": 0.8}, outliers=0.05),
    "fusion": lambda: FusionClassifier([("a", LDA(), ["x", "wait"]), ("b", NaiveBayes(), ["state"])]),
    "pool": lambda: PoolClassifier([("a", LogisticRegression()), ("b", NaiveBayes())]),
    "outlier rule": lambda: OutlierRule(NaiveBayes()),
}


def fitted(name, table):
    numbers = name in ("Gaussian naive Bayes", "LDA", "QDA")
    columns = ["x", "wait"] if numbers else COLUMNS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]().fit(table.select(columns).to_pandas(), table["label"].to_numpy())
    return model, columns


@pytest.mark.parametrize("name", MODELS)
def test_scores_of_a_scan_are_those_of_the_rows_in_memory(name, table, files, tmp_path):
    model, columns = fitted(name, table)
    rows, X = scan(files), table.select(columns).to_pandas()
    methods = [method for method in NAMES if hasattr(model, method)]
    assert "predict" in methods
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            written = getattr(model, method)(rows, out=tmp_path / "scores.parquet", keep=["id"])
            wanted = np.asarray(getattr(model, method)(X))
        found = pq.read_table(tmp_path / "scores.parquet")
        assert written.n_rows == found.num_rows == N
        assert found["id"].to_numpy().tolist() == list(range(N))
        columns = found.drop_columns(["id"])
        if wanted.ndim == 2:
            labels = ["a", "b", "c"]
            assert columns.column_names == [f"{NAMES[method]}_{label}" for label in labels]
            assert np.array_equal(np.stack(columns.to_pandas().to_numpy().T, axis=1), wanted)
        else:
            assert columns.column_names == [NAMES[method]]
            assert columns.column(0).to_pylist() == wanted.tolist()


def test_a_regression_writes_its_number_and_its_standard_deviation(table, files, tmp_path):
    model = LinearRegression().fit(table.select(["x", "wait"]).to_pandas(), table["number"].to_numpy())
    model.predict(scan(files), return_std=True, out=tmp_path / "numbers.csv")
    found = read(tmp_path / "numbers.csv")
    mean, std = model.predict(table.select(["x", "wait"]).to_pandas(), return_std=True)
    assert found.column_names == ["predicted", "predicted_std"]
    assert np.array_equal(found["predicted"].to_numpy(), mean)
    assert np.array_equal(found["predicted_std"].to_numpy(), std)


def test_one_thread_writes_the_bytes_of_several(table, files, tmp_path):
    model, _ = fitted("naive Bayes", table)
    for n in (1, 5):
        with threads(n):
            model.predict_log_proba(scan(files), out=tmp_path / f"{n}.csv", priors="uniform")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "5.csv").read_bytes()


@pytest.mark.parametrize("name", ["s.parquet", "s.feather", "s.arrow", "s.csv", "s.jsonl"])
def test_the_extension_says_the_format(name, table, files, tmp_path):
    model, columns = fitted("naive Bayes", table)
    model.predict_proba(scan(files), out=tmp_path / name)
    wanted = model.predict_proba(table.select(columns).to_pandas())
    found = np.stack([column.to_numpy() for column in read(tmp_path / name).columns], axis=1)
    assert np.array_equal(found, wanted)


def test_actions_that_are_words_beside_classes_that_are_numbers_are_words(table, files, tmp_path):
    X, y = table.select(COLUMNS).to_pandas(), table["id"].to_numpy() % 2
    model = DecisionClassifier(NaiveBayes(), reject={"threshold": 0.5000001}).fit(X, y)
    model.predict(scan(files), out=tmp_path / "actions.parquet")
    found = pq.read_table(tmp_path / "actions.parquet")["predicted"]
    assert found.type == pa.string()
    assert found.to_pylist() == [str(action) for action in model.predict(X).tolist()]


def test_what_is_new_in_the_rows_is_added_up_and_said_once(table, tmp_path):
    odd = table.set_column(
        table.column_names.index("state"),
        "state",
        pa.array([f"Z{i % 7}" if i % 10 == 0 else "CA" for i in range(N)]),
    )
    pq.write_table(odd, tmp_path / "odd.parquet")
    for name in ("naive Bayes", "logistic"):
        model, _ = fitted(name, table)
        with pytest.warns(UnseenCategoryWarning, match=r"200 rows .* \('Z0', 'Z3', 'Z6', …\)") as told:
            model.predict(scan(tmp_path / "odd.parquet"), out=tmp_path / "scores.csv")
        assert len(told) == 1


def test_values_outside_the_support_are_counted_over_all_batches(table, tmp_path):
    X, y = table.select(["wait"]).to_pandas(), table["label"].to_numpy()
    model = NaiveBayes(families={"wait": Gamma()}).fit(X, y)
    negative = pa.table({"wait": np.where(np.arange(N) % 4 == 0, -1.0, X["wait"])})
    pq.write_table(negative, tmp_path / "odd.parquet")
    with pytest.warns(OutsideSupportWarning, match="500 rows with a value that no class") as told:
        model.score_samples(scan(tmp_path / "odd.parquet"), out=tmp_path / "scores.csv")
    assert len(told) == 1


def test_gaps_that_training_had_not_are_counted_over_all_batches(table, tmp_path):
    model, _ = fitted("logistic", table)
    model.set_params(missing="indicator").fit(table.select(["x"]).to_pandas(), table["label"].to_numpy())
    pq.write_table(pa.table({"x": [1.0, None] * (N // 2)}), tmp_path / "gaps.parquet")
    with pytest.warns(match=r"missing values in column 'x' \(1000 rows\)") as told:
        model.predict(scan(tmp_path / "gaps.parquet"), out=tmp_path / "scores.csv")
    assert len(told) == 1


# -- refusals -----------------------------------------------------------------------------------------

REFUSED = {
    "no file": ({}, r"write them to a file, predict\(scan, out='scores.parquet'\)"),
    "an input": ({"out": "part-0.parquet"}, "is one of the files that are read"),
    "an unknown column": ({"out": "s.csv", "keep": ["nope"]}, "keep='nope' is no column of"),
    "a column called as a score": ({"out": "s.csv", "keep": ["predicted"]}, "have a column of this name"),
    "an unknown extension": ({"out": "s.xyz"}, ".xyz is none of"),
    "no folder": ({"out": "nowhere/s.csv"}, "there is no folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused_with_the_remedy(case, table, tmp_path):
    writing, message = REFUSED[case]
    pq.write_table(table.append_column("predicted", table["x"]), tmp_path / "part-0.parquet")
    before = (tmp_path / "part-0.parquet").read_bytes()
    if "out" in writing:
        writing = writing | {"out": tmp_path / writing["out"]}
    model, _ = fitted("naive Bayes", table)
    with pytest.raises(ValueError, match=message):
        model.predict(scan(tmp_path / "part-0.parquet"), **writing)
    assert [path.name for path in tmp_path.iterdir()] == ["part-0.parquet"]
    assert (tmp_path / "part-0.parquet").read_bytes() == before


SOURCES = ["", "*.parquet", "**/*.parquet", "part?", "part1/part-0.parquet"]
PLACES = ["scores.parquet", "part1/new.parquet", "_s.parquet", ".h.parquet", "_x/new.parquet", "s.jsonl"]


@pytest.mark.parametrize("source", SOURCES)
def test_scores_that_the_next_scan_would_take_for_rows_are_refused(source, table, tmp_path):
    (tmp_path / "part1").mkdir()
    (tmp_path / "_x").mkdir()
    pq.write_table(table, tmp_path / "part-0.parquet")
    pq.write_table(table, tmp_path / "part1" / "part-0.parquet")
    model, _ = fitted("naive Bayes", table)
    for place in PLACES:
        out = tmp_path / place
        shutil.copy(tmp_path / "part-0.parquet", out)
        found = out in found_files(str(tmp_path / source))
        out.unlink()
        if found:
            with pytest.raises(ValueError, match="the next scan would take the scores for rows"):
                model.predict(scan(str(tmp_path / source)), out=out)
        else:
            assert model.predict(scan(str(tmp_path / source)), out=out).n_rows >= N
            out.unlink()


def test_a_table_in_memory_is_not_written(table):
    model, columns = fitted("naive Bayes", table)
    with pytest.raises(TypeError, match="out= is for rows that are read where they live"):
        model.predict(table.select(columns), out="scores.parquet")


def test_a_column_of_training_that_the_files_lack_is_named(table, tmp_path):
    model, _ = fitted("naive Bayes", table)
    pq.write_table(table.select(["x", "wait"]), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="has no column 'state', which NaiveBayes was fitted with"):
        model.predict(scan(tmp_path / "rows.parquet"), out=tmp_path / "scores.csv")


def test_columns_without_names_are_taken_in_the_order_of_the_scan(table, files, tmp_path):
    X = table.select(["x", "wait"]).to_pandas().to_numpy()
    model = GaussianNB().fit(X, table["label"].to_numpy())
    with pytest.raises(ValueError, match=r"fitted to 2 columns without names, and the scan has 6; name them"):
        model.predict(scan(files), out=tmp_path / "scores.csv")
    with pytest.warns(UserWarning, match="X has feature names"):
        model.predict_proba(scan(files, columns=["x", "wait"]), out=tmp_path / "scores.parquet")
    found = pq.read_table(tmp_path / "scores.parquet").to_pandas().to_numpy()
    assert np.array_equal(found, model.predict_proba(X))


# -- whole or not at all ------------------------------------------------------------------------------


def test_an_error_in_a_late_batch_leaves_what_was_there(table, tmp_path):
    X, y = table.select(["state"]).to_pandas(), table["label"].to_numpy()
    model = NaiveBayes(unknown="error").fit(X, y)
    states = table["state"].to_pylist()
    pq.write_table(pa.table({"state": [*states[:-1], "ZZ"]}), tmp_path / "rows.parquet")
    (tmp_path / "scores.csv").write_text("as before")
    with pytest.raises(ValueError, match=r"rows 1,920 to 1,999: .*'ZZ' was not seen in training"):
        model.predict(scan(tmp_path / "rows.parquet"), out=tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text() == "as before"
    assert len(list(tmp_path.iterdir())) == 2


def test_control_c_in_the_middle_leaves_nothing(table, files, tmp_path):
    model, _ = fitted("naive Bayes", table)

    def interrupt(done, total, what):
        assert total == N
        assert what.endswith("rows/s")
        if done > N // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.predict(scan(files), out=tmp_path / "scores.parquet", progress=interrupt)
    assert not list(tmp_path.iterdir())


# -- memory -------------------------------------------------------------------------------------------


class Counting(arrow.FileEngine):
    """Files whose batches are counted while they are read."""

    n_read = 0

    def batches(self, columns):
        for batch in super().batches(columns):
            self.n_read += 1
            yield batch


@pytest.mark.parametrize("n", [1, 3])
def test_with_a_slow_writer_only_a_few_batches_wait(n, table, files, tmp_path, monkeypatch):
    model, _ = fitted("naive Bayes", table)
    engine, waiting = Counting(files), []
    write = pq.ParquetWriter.write_table

    def slow(writer, made, *args, **kwargs):
        waiting.append(engine.n_read - len(waiting))
        write(writer, made, *args, **kwargs)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", slow)
    with threads(n):
        model.predict(scan(engine), out=tmp_path / "scores.parquet")
    assert len(waiting) > 10
    assert max(waiting) <= n + 2


# -- engines that give lazy frames, or rows once -------------------------------------------------------


class Lazy(arrow.FileEngine):
    """An engine whose scores are worked out elsewhere, as those of Dask and Spark are."""

    is_lazy = True

    def scored(self, columns, score, schema):
        sent = pickle.dumps(score)
        assert len(sent) < 64_000

        def later():
            known = pickle.loads(sent)
            empty = pa.RecordBatch.from_pylist([], self.empty(columns).schema)
            return pa.Table.from_batches([known(b) for b in [empty, *self.batches(columns)]], schema)

        return later


def test_an_engine_of_lazy_frames_is_given_a_function_of_a_batch(table, files):
    model, columns = fitted("naive Bayes", table)
    later = model.predict_proba(scan(Lazy(files)), keep="id")
    found = later()
    assert found.column_names == ["id", "p_a", "p_b", "p_c"]
    wanted = model.predict_proba(table.select(columns).to_pandas())
    assert np.array_equal(found.drop_columns(["id"]).to_pandas().to_numpy(), wanted)


def test_of_a_frame_of_dask_the_scores_are_a_lazy_frame_of_dask(table, tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is an extra")
    model, columns = fitted("naive Bayes", table)
    frame = frames.from_pandas(table.to_pandas(), npartitions=5)
    scores = model.predict_proba(scan(frame), keep=["id"])
    assert isinstance(scores, frames.DataFrame)
    found = scores.compute(scheduler="threads")
    assert found["id"].tolist() == list(range(N))
    wanted = model.predict_proba(table.select(columns).to_pandas())
    assert np.array_equal(found[["p_a", "p_b", "p_c"]].to_numpy(), wanted)
    model.predict_proba(scan(frame), out=tmp_path / "scores.parquet")
    assert np.array_equal(pq.read_table(tmp_path / "scores.parquet").to_pandas().to_numpy(), wanted)


class Once(base.Engine):
    """Rows that can be read once."""

    rereads = False
    name, schema = "a stream", None

    def __init__(self, table):
        self.schema, self._batches = table.schema, iter(table.to_batches(100))

    def fold(self, work, columns):
        raise AssertionError("prediction needs no sums")

    def batches(self, columns):
        return (batch.select(columns) for batch in self._batches)


def test_a_stream_is_scored_in_one_reading(table, tmp_path):
    model, columns = fitted("logistic", table)
    model.predict_proba(scan(Once(table)), out=tmp_path / "scores.parquet")
    wanted = model.predict_proba(table.select(columns).to_pandas())
    assert np.array_equal(pq.read_table(tmp_path / "scores.parquet").to_pandas().to_numpy(), wanted)
    with pytest.raises(ValueError, match="a stream has no rows to score"):
        model.predict_proba(scan(Once(table.slice(0, 0))), out=tmp_path / "none.parquet")


def test_a_frozen_model_in_a_decision_is_scored_as_it_is(table, files, tmp_path):
    model, columns = fitted("naive Bayes", table)
    decision = DecisionClassifier(FrozenEstimator(model), reject={"threshold": 0.9})
    decision.predict(scan(files), out=tmp_path / "scores.parquet")
    wanted = decision.predict(table.select(columns).to_pandas())
    assert pq.read_table(tmp_path / "scores.parquet")["predicted"].to_pylist() == wanted.tolist()


def test_speed_is_told_in_round_numbers():
    assert scoring.rate_words(123_456, 1.0) == "123,000 rows/s"
    assert scoring.rate_words(5, 2.0) == "2 rows/s"
