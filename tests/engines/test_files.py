"""Files that are scanned: what they are, what disagrees among them, and how often they are read."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from engine_cases import TARGET, WEIGHT, in_files, mixed_table
from posterior import LDA, GaussianNB, LinearRegression, LogisticRegression, NaiveBayes, scan, threads
from posterior.engines import arrow, remote
from posterior.engines.arrow import FileEngine
from posterior.engines.base import BATCH_ROWS, SUM_ROWS, FragmentError
from posterior.families import Laplace
from posterior.notices import DataWarning, SeparationWarning


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return pa.table({"a": rng.normal(size=n) + y, "b": rng.normal(size=n), "y": y})


@pytest.fixture
def readings(monkeypatch):
    """What was asked of the rows, reading by reading."""
    found = []
    fold = FileEngine.fold

    def counted(self, work, columns):
        found.append(type(work).__name__)
        return fold(self, work, columns)

    monkeypatch.setattr(FileEngine, "fold", counted)
    return found


def same(a, b):
    return np.array_equal(a.theta_, b.theta_) and np.array_equal(a.var_, b.var_)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "folder", "list", "hive"])
def test_files_of_every_kind_and_folders_hold_the_same_rows(tmp_path, kind):
    table, expected = rows(), GaussianNB()
    expected.fit(table.select(["a", "b"]).to_pandas(), table["y"].to_numpy())
    if kind == "hive":
        ds.write_dataset(table, tmp_path, format="parquet", partitioning=["y"], partitioning_flavor="hive")
        source = tmp_path
    elif kind == "feather":
        feather.write_feather(table, source := tmp_path / "rows.feather")
    elif kind == "csv":
        table.to_pandas().to_csv(source := tmp_path / "rows.csv", index=False)
    else:
        in_files(table, tmp_path, n_files=3)
        source = tmp_path / "*.parquet" if kind == "parquet" else tmp_path
        source = sorted(tmp_path.glob("*.parquet")) if kind == "list" else source
    found = GaussianNB().fit(scan(source, target="y"))
    np.testing.assert_allclose(found.theta_, expected.theta_, rtol=1e-12)
    np.testing.assert_allclose(found.var_, expected.var_, rtol=1e-10)
    assert found.classes_.tolist() == [0, 1]


def test_sums_have_the_same_bits_whatever_the_number_of_threads(tmp_path):
    source = in_files(mixed_table(), tmp_path)
    models = []
    for n in (1, 2, 5):
        with threads(n):
            models.append(GaussianNB().fit(scan(source, TARGET, columns=["a.b", "far", "single"])))
    assert same(models[0], models[1])
    assert same(models[0], models[2])


@pytest.fixture(scope="module")
def large_groups(tmp_path_factory):
    """Four files of one row group each, which is larger than a batch of other rows."""
    folder = tmp_path_factory.mktemp("large_groups")
    table = rows(4 * 70_000)
    for k in range(4):
        pq.write_table(table.slice(k * 70_000, 70_000), folder / f"{k}.parquet")
    return folder, table


def test_a_row_group_of_numbers_is_summed_up_at_once(large_groups, tmp_path, monkeypatch):
    folder, table = large_groups
    fragment = FileEngine(folder).fragments[0]

    def sizes(of, *asked):
        return [batch.num_rows for batch in of.batches(["y", "a"], *asked)]

    assert sizes(fragment, SUM_ROWS) == [70_000]
    assert sizes(fragment) == [BATCH_ROWS, 70_000 - BATCH_ROWS]
    assert sizes(fragment, 60_000) == [60_000, 10_000]
    texts = table.slice(0, 70_000).set_column(0, "a", pa.array(["long"] * 70_000))
    pq.write_table(texts, tmp_path / "texts.parquet")
    assert max(sizes(FileEngine(tmp_path).fragments[0], SUM_ROWS)) == BATCH_ROWS
    monkeypatch.setattr(arrow, "GROUP_CELLS", 2 * 70_000 - 1)
    assert max(sizes(fragment, SUM_ROWS)) == BATCH_ROWS


@pytest.mark.parametrize("few", [4, 100], ids=["fragments on threads", "batches on threads"])
def test_sums_of_whole_row_groups_have_the_same_bits_on_any_number_of_threads(large_groups, few, monkeypatch):
    folder, table = large_groups
    models = []
    for n in (1, 2, 8):
        with threads(n):
            models.append(GaussianNB().fit(scan(folder, "y")))
    monkeypatch.setattr(arrow, "FEW_FRAGMENTS", few)
    models.append(GaussianNB().fit(scan(folder, "y")))
    assert all(same(models[0], other) for other in models[1:])
    expected = GaussianNB().fit(table.select(["a", "b"]), table["y"].to_numpy())
    np.testing.assert_allclose(models[0].theta_, expected.theta_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(models[0].var_, expected.var_, rtol=1e-10)


def test_a_generative_model_takes_one_reading_after_the_survey(tmp_path, readings):
    LDA().fit(scan(in_files(rows(), tmp_path), "y"))
    assert readings == ["SurveyWork", "RowSum"]


def test_a_logistic_regression_takes_five_readings_after_survey_and_sample(tmp_path, readings, monkeypatch):
    monkeypatch.setattr(remote, "SAMPLE_ROWS", 40_000)
    LogisticRegression().fit(scan(in_files(rows(90_000), tmp_path, group=20_000), "y"))
    assert readings[:2] == ["SurveyWork", "FirstReading"]
    assert len(readings) - 2 <= 5


def test_ranges_prove_how_near_an_optimum_is_without_a_reading(tmp_path, readings, monkeypatch):
    monkeypatch.setattr(remote, "SAMPLE_ROWS", 20_000)
    table = rows(60_000)
    model = LogisticRegression().fit(scan(in_files(table, tmp_path, group=20_000), "y"))
    assert model.certificate_.proven
    objective, n = model.fit_.objective, len(readings)
    factor = np.random.default_rng(0).normal(size=(objective.shape[1], 2))
    bound = objective.longest_row_at_most(factor)
    assert len(readings) == n
    assert objective.longest_row(factor) <= bound < np.inf
    assert len(readings) == n + 1
    ranges = objective.scan.within
    for name, low, high in zip("ab", ranges.low, ranges.high, strict=True):
        assert (low, high) == (table[name].to_numpy().min(), table[name].to_numpy().max())


def test_gaps_and_infinity_are_still_found_in_columns_that_lie_apart(tmp_path):
    table = rows(2_000)
    cells = table["a"].to_numpy().copy()
    for bad, message in ((np.nan, "missing"), (np.inf, "inf")):
        cells[1_234] = bad
        pq.write_table(table.set_column(0, "a", pa.array(cells)), tmp_path / "rows.parquet")
        with pytest.raises(ValueError, match=message):
            LogisticRegression().fit(scan(tmp_path / "rows.parquet", "y"))


def test_separable_classes_are_recognised_in_ten_readings(tmp_path, readings, monkeypatch):
    monkeypatch.setattr(remote, "SAMPLE_ROWS", 170_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    source = in_files(table, tmp_path, group=50_000)
    with pytest.warns(SeparationWarning, match=r"complete separation of classes 0 and 1 by columns 'a', 'b'"):
        LogisticRegression(penalty=None).fit(scan(source, "y"))
    assert len(readings) <= 10


def test_few_rows_that_were_drawn_are_not_read_again(tmp_path, readings):
    LogisticRegression().fit(scan(in_files(rows(), tmp_path), "y"))
    assert readings == ["SurveyWork", "FirstReading"]


def test_a_regression_is_fitted_to_numbers(tmp_path):
    table = rows()
    found = LinearRegression().fit(scan(in_files(table, tmp_path), "b"))
    X = table.select(["a", "y"]).to_pandas()
    expected = LinearRegression().fit(X, table["b"].to_numpy())
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
    assert found.target_name_ == "b"


def test_a_class_and_a_category_in_one_file_only_are_known(tmp_path):
    table = rows()
    pq.write_table(table, tmp_path / "0.parquet")
    late = pa.table({"a": [9.0, 9.5], "b": [0.0, 1.0], "y": [7, 7]})
    pq.write_table(late, tmp_path / "1.parquet")
    assert LDA().fit(scan(tmp_path, "y")).classes_.tolist() == [0, 1, 7]


# -- files that disagree or cannot be read ------------------------------------------------------------


def refused(tmp_path, other, match, error=FragmentError):
    pq.write_table(rows(), tmp_path / "a.parquet")
    if isinstance(other, bytes):
        (tmp_path / "b.parquet").write_bytes(other)
    else:
        pq.write_table(other, tmp_path / "b.parquet")
    with pytest.raises(error, match=match):
        GaussianNB().fit(scan(tmp_path, "y"))


def test_a_file_that_is_none_is_named(tmp_path):
    refused(tmp_path, b"PAR1 nothing PAR1", r"b\.parquet cannot be read")


def test_a_column_of_another_type_is_named_with_both_files(tmp_path):
    other = rows().set_column(0, "a", pa.array(["x"] * 400))
    refused(tmp_path, other, r"b\.parquet: column 'a' holds string, and double in .*a\.parquet")


def test_a_missing_column_is_named(tmp_path):
    refused(
        tmp_path, rows().drop_columns(["b"]), r"b\.parquet: column 'b' is missing, and is in .*a\.parquet"
    )


def test_a_new_column_is_named(tmp_path):
    refused(tmp_path, rows().append_column("c", pa.array([0.0] * 400)), r"b\.parquet: column 'c' is not in")


def test_infinity_is_refused_with_its_file_and_column(tmp_path):
    values = rows()["b"].to_numpy().copy()
    values[17] = np.inf
    refused(tmp_path, rows().set_column(1, "b", pa.array(values)), r"b\.parquet, from row 0 on: .*'b'")


def test_whole_numbers_in_one_file_and_fractions_in_another_are_fractions(tmp_path):
    table = rows()
    whole = table.set_column(1, "b", pa.array(np.arange(400)))
    pq.write_table(whole, tmp_path / "0.parquet")
    pq.write_table(table, tmp_path / "1.parquet")
    found = GaussianNB().fit(scan(tmp_path, "y"))
    both = np.concatenate([np.arange(400.0), table["b"].to_numpy()])
    y = np.tile(table["y"].to_numpy(), 2)
    np.testing.assert_allclose(found.theta_[:, 1], [both[y == k].mean() for k in (0, 1)], rtol=1e-12)


def test_an_empty_file_among_others_adds_nothing(tmp_path):
    table = rows()
    in_files(table, tmp_path)
    pq.write_table(table.slice(0, 0), tmp_path / "zero.parquet")
    expected = GaussianNB().fit(table.select(["a", "b"]).to_pandas(), table["y"].to_numpy())
    np.testing.assert_allclose(GaussianNB().fit(scan(tmp_path, "y")).theta_, expected.theta_, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": "z"}, r"target='z' is no column of .*; it has 'a', 'b', 'y'"),
        ({"target": "Y"}, r"target='Y' is no column of .*; did you mean 'y'\? It has 'a', 'b', 'y'"),
        ({"target": "y", "weight": "z"}, r"weight='z' is no column"),
        ({"target": "y", "columns": ["a", "q"]}, r"'q' is no column"),
        ({"target": "y", "columns": ["y"]}, r"no column to learn from"),
        ({"target": "y", "weight": "y"}, r"both the target and the weight"),
        ({"target": "y", "table": "t"}, r"table and query are for databases"),
    ],
)
def test_a_mistake_is_one_helpful_line(tmp_path, options, match):
    source = in_files(rows(), tmp_path)
    with pytest.raises(ValueError, match=match):
        scan(source, **options)


def test_no_file_is_no_table(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        scan(tmp_path / "*.parquet", "y")
    with pytest.raises(ValueError, match="a folder without"):
        scan(tmp_path, "y")
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(ValueError, match="must be one of"):
        scan(tmp_path / "x.txt", "y")


def test_rows_without_a_class_are_refused_or_left_out(tmp_path):
    table = rows()
    labels = table["y"].to_pylist()
    labels[3] = None
    gappy = table.set_column(2, "y", pa.array(labels))
    source = in_files(gappy, tmp_path)
    with pytest.raises(ValueError, match=r"1 of 400 rows have no value in column 'y'.*unlabelled='drop'"):
        GaussianNB().fit(scan(source, "y"))
    found = GaussianNB().fit(scan(source, "y", unlabelled="drop"))
    assert found.class_count_.sum() == 399


def test_labels_and_weights_are_named_in_the_scan_not_passed(tmp_path):
    source = in_files(rows(), tmp_path)
    with pytest.raises(ValueError, match=r"y was passed to LDA|y was passed to Linear"):
        LDA().fit(scan(source, "y"), [0, 1])
    with pytest.raises(ValueError, match=r"scan\(…, weight='column'\)"):
        GaussianNB().fit(scan(source, "y"), sample_weight=[1.0])
    with pytest.raises(ValueError, match=r"scan\(…, target='column'\)"):
        LDA().fit(scan(source))


def test_a_negative_weight_is_refused(tmp_path):
    table = rows().append_column("w", pa.array([-1.0] + [1.0] * 399))
    with pytest.raises(ValueError, match="column 'w' of weights holds -1"):
        GaussianNB().fit(scan(in_files(table, tmp_path), "y", weight="w"))


def test_families_that_keep_all_rows_are_refused_with_the_remedy(tmp_path):
    source = in_files(rows(), tmp_path)
    with pytest.raises(ValueError, match=r"scan\.sample"):
        NaiveBayes(families={"continuous": Laplace()}).fit(scan(source, "y"))
    X, y, weight = scan(source, "y").sample(100)
    assert weight is None
    assert 60 < len(y) < 140
    NaiveBayes(families={"continuous": Laplace()}).fit(X, y)


def test_the_same_rows_are_drawn_every_time(tmp_path):
    source = in_files(rows(), tmp_path)
    first, again = (scan(source, "y").sample(50)[0] for _ in range(2))
    assert first.equals(again)


def test_an_identifier_of_many_strings_is_left_out_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("posterior.engines.survey.MOST_LEVELS", 100)
    table = rows().append_column("id", pa.array([f"row {i}" for i in range(400)]))
    with pytest.warns(DataWarning, match="column 'id' has more than"):
        found = NaiveBayes().fit(scan(in_files(table, tmp_path), "y"))
    assert found.feature_names_in_.tolist() == ["a", "b"]


def test_kinds_may_be_declared_of_a_scan(tmp_path):
    source = in_files(mixed_table(), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = NaiveBayes().fit(
            scan(source, TARGET, weight=WEIGHT, columns=["whole"], kinds={"whole": "categorical"})
        )
    assert found.schema_.kinds == ("categorical",)
    assert found.schema_.columns[0].categories == tuple(
        sorted(set(mixed_table()["whole"].to_numpy()[mixed_table()[WEIGHT].to_numpy() > 0].tolist()))
    )


def test_folds_are_dealt_out_by_place(tmp_path):
    from posterior import GaussianDiscriminantAnalysis

    source = in_files(rows(2_000), tmp_path)
    tuned = GaussianDiscriminantAnalysis(tied="auto", cv=5)
    first, again = (tuned.fit(scan(source, "y")).best_params_ for _ in range(2))
    assert first == again
    with pytest.raises(ValueError, match="pass a number of folds"):
        GaussianDiscriminantAnalysis(tied="auto", cv=np.zeros(2_000)).fit(scan(source, "y"))


# -- what a review of scans found ---------------------------------------------------------------------


def test_gaps_of_csv_files_are_gaps(tmp_path):
    lines = ["q,y"] + ["a,0", ",1", "NA,0", "b,1"] * 20
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    assert scan(tmp_path / "rows.csv", "y").survey.levels["q"].counts == {"a": 20, "b": 20}


def test_a_pattern_of_partition_folders_keeps_their_key_and_other_files_are_not_read(tmp_path):
    for key in "ab":
        (tmp_path / "data" / f"q={key}").mkdir(parents=True)
        pq.write_table(rows(), tmp_path / "data" / f"q={key}" / "0.parquet")
    (tmp_path / "data" / "README.md").write_text("rows\n")
    for source in (tmp_path / "data", tmp_path / "data" / "q=*"):
        assert scan(source, "y").engine.schema.names == ["a", "b", "y", "q"]
        assert set(scan(source, "y").survey.levels["q"].counts) == {"a", "b"}


def test_strings_are_strings_however_each_file_encodes_them(tmp_path):
    table = rows().append_column("q", pa.array(["u", "v"] * 200))
    pq.write_table(table, tmp_path / "0.parquet")
    pq.write_table(table.set_column(3, "q", table["q"].dictionary_encode()), tmp_path / "1.parquet")
    pq.write_table(table.set_column(3, "q", table["q"].cast(pa.large_string())), tmp_path / "2.parquet")
    found = NaiveBayes().fit(scan(tmp_path, "y"))
    assert found.schema_.columns[2].categories == ("u", "v")
    assert len(scan(tmp_path, "y").sample(300)[1]) == 300


def test_numbers_that_are_no_classes_are_refused_as_in_memory(tmp_path):
    table = rows()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        LDA().fit(scan(in_files(table, tmp_path), "b"))
    strings = table.set_column(2, "y", pa.array(["1"] * 400))
    with pytest.raises(ValueError, match=r"holds string; numbers were expected"):
        LinearRegression().fit(scan(in_files(strings, tmp_path / "s"), "y"))


def test_weights_of_many_targets_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("posterior.engines.survey.MOST_LEVELS", 300)
    table = rows().append_column("w", pa.array([2.0] * 400))
    found = scan(in_files(table, tmp_path), "b", weight="w")
    assert found.survey.weights is None
    assert LinearRegression().fit(found).weight_ == 800


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int8(), pa.float32()])
def test_weights_are_numbers_of_any_type(tmp_path, kind):
    table = rows()
    weight = pa.array([1, 0] * 200).cast(kind)
    source = in_files(table.append_column("w", weight), tmp_path)
    found = GaussianNB().fit(scan(source, "y", weight="w"))
    assert found.class_count_.sum() == 200


def test_zeros_of_both_signs_are_one_class(tmp_path):
    labels = [0.0, -0.0, 1.0, 1.0] * 100
    source = in_files(rows().set_column(2, "y", pa.array(labels)), tmp_path)
    assert GaussianNB().fit(scan(source, "y")).class_count_.tolist() == [200, 200]


def test_a_gap_inside_a_dictionary_is_a_gap(tmp_path):
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 200), pa.array(["a", None]))
    table = rows().set_column(2, "y", coded)
    assert scan(table, "y", unlabelled="drop").n_rows == 200


def test_large_whole_numbers_are_predicted(tmp_path):
    table = rows().set_column(2, "y", pa.array(np.arange(1, 401) * 2**52 + 1))
    LinearRegression().fit(scan(in_files(table, tmp_path), "y"))


@pytest.mark.parametrize("n", [1, 3, 50, 400, 1000])
def test_so_many_rows_are_drawn(tmp_path, n):
    X, y, _ = scan(in_files(rows(), tmp_path), "y").sample(n)
    assert len(X) == len(y) == min(n, 400)


def test_kinds_of_a_scan_are_those_of_the_columns_that_are_read(tmp_path):
    table = rows(600).append_column("q", pa.array(np.arange(600) % 4 * 10))
    source, kinds = in_files(table, tmp_path), {"q": "categorical"}
    NaiveBayes().fit(scan(source, "y", columns=["a", "b"], kinds=kinds))
    with pytest.raises(ValueError, match="LinearDiscriminantAnalysis reads columns in its own way"):
        LDA().fit(scan(source, "y", kinds=kinds))
    auto = LogisticRegression(C="auto").fit(scan(source, "y", kinds=kinds))
    X = table.drop_columns(["y"])
    expected = LogisticRegression(C="auto", kinds=kinds).fit(X, table["y"].to_numpy())
    assert pytest.approx(expected.C_) == auto.C_
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert NaiveBayes().fit(scan(stream, "y", kinds=kinds)).schema_.kinds[2] == "categorical"


def test_more_mistakes_are_one_helpful_line(tmp_path):
    source = in_files(rows(), tmp_path)
    with pytest.raises(ValueError, match="unlabelled must be 'error' or 'drop'"):
        scan(source, "y", unlabelled="ignore")
    with pytest.raises(ValueError, match="names a column twice"):
        scan(source, "y", columns=["a", "a"])
    named = rows().append_column("w", pa.array(["heavy"] * 400))
    with pytest.raises(ValueError, match="weight='w' holds string; a weight must be a number"):
        scan(named, "y", weight="w")
    with pytest.raises(TypeError, match="columns must be a list of names"):
        scan(source, "y", columns="a")


def test_a_rare_class_is_among_the_rows_that_choose_a_strength(tmp_path):
    rng = np.random.default_rng(0)
    y = (np.arange(30_000) < 4).astype(int)
    table = pa.table({"a": rng.normal(size=30_000) + y, "y": y})
    found = LogisticRegression(C="auto").fit(scan(in_files(table, tmp_path, group=5_000), "y"))
    assert found.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (pa.int8(), [-100, 0, 100]),
        (pa.uint8(), [0, 3, 255]),
        (pa.int16(), [-300, 3000, 5]),
        (pa.int64(), [-(2**63), 2**63 - 1, 0]),
        (pa.uint64(), [2**63 + 1, 2**63 + 5, 2**63 + 9]),
    ],
)
def test_classes_are_whole_numbers_of_any_size(kind, labels, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 50)
    column = pa.array([labels[k] for k in y], kind)
    pq.write_table(pa.table({"x": rng.normal(y, 1.0), "y": column}), tmp_path / "rows.parquet")
    model = GaussianNB().fit(scan(tmp_path / "rows.parquet", target="y"))
    assert model.classes_.tolist() == sorted(labels)
    assert model.priors_ == pytest.approx(np.full(3, 1 / 3))
