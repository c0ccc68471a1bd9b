"""Every public estimator is fitted to a scan, or says in one line why not and what to do."""

import warnings

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import posterior
from posterior import (
    LDA,
    QDA,
    AdditiveClassifier,
    BernoulliNB,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    OutlierRule,
    PoolClassifier,
    SoftmaxRegression,
    TreeAugmented,
    scan,
)
from posterior.engines import table_scan
from posterior.estimators import training_rows
from posterior.families import Laplace, levels

N = 4_000
NUMBERS, MIXED, COUNTS, CODES = ["x", "wait"], ["x", "wait", "state"], ["words", "more"], ["state", "size"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    return pa.table(
        {
            "x": y + rng.normal(size=N),
            "wait": rng.gamma(2.0, 1.0 + y),
            "state": np.array(["CA", "NY", "TX"])[(y + rng.integers(0, 2, N)) % 3],
            "size": np.array(["small", "large"])[(y + rng.integers(0, 3, N)) % 2],
            "words": rng.poisson(1.0 + y),
            "more": rng.poisson(3.0 - y),
            "label": np.array(["a", "b", "c"])[y],
            "number": 2.0 * y + rng.normal(size=N),
            "weight": rng.integers(0, 4, N),
        }
    )


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k, first in enumerate(range(0, N, 900)):
        pq.write_table(table.slice(first, 900), folder / f"part-{k}.parquet", row_group_size=300)
    return folder


# The estimator, its columns, and how close its log posteriors are to those of rows in memory.
FITTED = {
    "NaiveBayes": (NaiveBayes, MIXED, 1e-8),
    "GaussianNB": (GaussianNB, NUMBERS, 1e-8),
    "BernoulliNB": (BernoulliNB, COUNTS, 1e-8),
    "MultinomialNB": (MultinomialNB, COUNTS, 1e-8),
    "CategoricalNB": (CategoricalNB, CODES, 1e-8),
    "GenerativeClassifier": (GenerativeClassifier, MIXED, 1e-8),
    "GaussianDiscriminantAnalysis": (GaussianDiscriminantAnalysis, NUMBERS, 1e-8),
    "LDA": (LDA, NUMBERS, 1e-8),
    "QDA": (QDA, NUMBERS, 1e-8),
    "OneDependence": (OneDependence, MIXED, 1e-8),
    "TreeAugmented": (TreeAugmented, MIXED, 1e-8),
    "LogisticRegression": (lambda: LogisticRegression(tol=1e-10), MIXED, 1e-6),
    "SoftmaxRegression": (lambda: SoftmaxRegression(tol=1e-10), MIXED, 1e-6),
    "AdditiveClassifier": (lambda: AdditiveClassifier(tol=1e-10), MIXED, 1e-3),
    "CalibratedClassifier": (lambda: CalibratedClassifier(NaiveBayes()), MIXED, 0.05),
    "DecisionClassifier": (
        lambda: DecisionClassifier(NaiveBayes(), calibration="temperature", outliers=0.05),
        MIXED,
        0.05,
    ),
    "FusionClassifier": (
        lambda: FusionClassifier([("a", LDA(), NUMBERS), ("b", NaiveBayes(), ["state"])]),
        MIXED,
        1e-8,
    ),
    "PoolClassifier": (
        lambda: PoolClassifier(
            [
                (
                    "a",
                    GaussianNB(),
                ),
                ("b", LDA()),
            ],
            weights=[0.5, 0.5],
        ),
        NUMBERS,
        1e-8,
    ),
    "PoolClassifier, weights learnt": (
        lambda: PoolClassifier([("a", LogisticRegression()), ("b", NaiveBayes())]),
        MIXED,
        0.05,
    ),
}


def fit(model, *rows, **beside):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows, **beside)


@pytest.mark.parametrize("name", FITTED)
def test_a_classifier_of_a_scan_is_that_of_the_rows_in_memory(name, table, files):
    make, columns, close = FITTED[name]
    counted = table.filter(pa.compute.greater(table["weight"], 0))
    X = table.select(columns).to_pandas()
    inside = counted.select(columns).to_pandas()
    labels, weight = counted["label"].to_numpy(), counted["weight"].to_numpy().astype(float)
    found = fit(make(), scan(files, target="label", weight="weight", columns=columns))
    wanted = fit(make(), inside, labels, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logs, expected = found.predict_log_proba(X), wanted.predict_log_proba(X)
    assert found.classes_.tolist() == ["a", "b", "c"]
    assert np.abs((logs - expected) / (1 + np.abs(expected))).max() < close
    assert found.feature_names_in_.tolist() == columns


def test_all_public_estimators_are_tried():
    ours = {name.partition(",")[0] for name in FITTED}
    elsewhere = {"LinearRegression", "LeastSquaresClassifier", "OutlierRule"}
    aliases = {"LinearDiscriminantAnalysis": "LDA", "QuadraticDiscriminantAnalysis": "QDA"}
    public = {name for name in posterior.__all__ if hasattr(getattr(posterior, name), "get_params")}
    assert {aliases.get(name, name) for name in public} == ours | elsewhere


def test_a_regression_of_a_scan_is_that_of_the_rows_in_memory(table, files):
    found = LinearRegression().fit(scan(files, target="number", columns=MIXED))
    wanted = LinearRegression().fit(table.select(MIXED).to_pandas(), table["number"].to_numpy())
    assert np.allclose(found.coef_, wanted.coef_, rtol=1e-8)


def test_least_squares_of_a_scan_are_those_of_the_rows_in_memory(table, files):
    found = LeastSquaresClassifier().fit(scan(files, target="label", columns=MIXED))
    wanted = LeastSquaresClassifier().fit(table.select(MIXED).to_pandas(), table["label"].to_numpy())
    assert np.allclose(found.coef_, wanted.coef_, rtol=1e-8, atol=1e-10)


def test_an_outlier_rule_learns_from_a_sample(table, files):
    rule = OutlierRule(NaiveBayes(), alpha=0.05).fit(scan(files, target="label", columns=MIXED))
    share = (rule.predict(table.select(MIXED).to_pandas()) < 0).mean()
    assert 0.02 < share < 0.08


# -- samples --------------------------------------------------------------------------------------------


def test_cuts_of_numbers_come_from_a_sample_and_counts_from_all_rows(table, files, monkeypatch):
    monkeypatch.setattr(levels, "SAMPLED_ROWS", 500)
    rows = scan(files, target="label", columns=MIXED)
    for make in (OneDependence, TreeAugmented):
        model = fit(make(), rows)
        assert model.model_.weight == N
        logs = model.predict_log_proba(table.select(MIXED).to_pandas())
        wanted = fit(make(), table.select(MIXED).to_pandas(), table["label"].to_numpy())
        expected = wanted.predict_log_proba(table.select(MIXED).to_pandas())
        assert 0 < np.abs(np.exp(logs) - np.exp(expected)).mean() < 0.05


def test_what_needs_rows_held_out_takes_them_from_a_sample_and_trains_on_all(files, monkeypatch):
    monkeypatch.setattr(training_rows, "HELD_OUT_ROWS", 1_000)
    model = fit(CalibratedClassifier(NaiveBayes()), scan(files, target="label", columns=MIXED))
    assert model.estimator_.model_.weight == N
    assert 900 < len(model.learnt_.held_out.y) < 1_100


def test_a_class_that_a_sample_lacks_is_named_with_the_remedy(table, tmp_path, monkeypatch):
    monkeypatch.setattr(training_rows, "HELD_OUT_ROWS", 100)
    labels = ["rare" if i == 7 else str(label) for i, label in enumerate(table["label"].to_pylist())]
    odd = table.set_column(table.column_names.index("label"), "label", pa.array(labels))
    pq.write_table(odd, tmp_path / "odd.parquet")
    with pytest.raises(ValueError, match=r"none of class 'rare' is among them; fit the classifier to all"):
        CalibratedClassifier(NaiveBayes()).fit(scan(tmp_path, target="label", columns=NUMBERS))


def test_a_frozen_classifier_is_calibrated_by_a_sample(table, files):
    inner = NaiveBayes().fit(table.select(MIXED).to_pandas(), table["label"].to_numpy())
    model = CalibratedClassifier(FrozenEstimator(inner))
    assert fit(model, scan(files, target="label", columns=MIXED)).estimator_.estimator is inner


# -- refusals -------------------------------------------------------------------------------------------

REFUSED = {
    "a family that keeps rows": (
        lambda: NaiveBayes(families={"x": Laplace()}),
        "use another family, or fit to a sample: X, y, weight = scan.sample",
    ),
    "somebody else's classifier": (
        lambda: CalibratedClassifier(DecisionTreeClassifier()),
        "DecisionTreeClassifier is not of this library and takes no scan; fit it to some rows",
    ),
    "somebody else's member": (
        lambda: FusionClassifier([("tree", DecisionTreeClassifier(), NUMBERS)]),
        "takes no scan; fit it to some rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_fitted_to_a_scan_says_why_and_what_to_do(case, files):
    make, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        make().fit(scan(files, target="label", columns=NUMBERS))


@pytest.mark.parametrize(
    "make",
    [
        AdditiveClassifier,
        lambda: CalibratedClassifier(NaiveBayes()),
        lambda: PoolClassifier([("a", NaiveBayes())]),
        lambda: OutlierRule(NaiveBayes()),
    ],
)
def test_a_stream_is_refused_where_rows_are_read_twice(make, files, monkeypatch):
    monkeypatch.setattr(table_scan.TableScan, "rereads", False)
    with pytest.raises(ValueError, match="reads the rows several times, and a stream can be read once"):
        make().fit(scan(files, target="label", columns=NUMBERS))


def test_labels_beside_a_scan_are_refused(table, files):
    with pytest.raises(ValueError, match=r"y was passed to PoolClassifier beside a scan; name its column"):
        PoolClassifier([("a", NaiveBayes())]).fit(scan(files, target="label"), table["label"].to_numpy())


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", [LDA(), LogisticRegression(), CalibratedClassifier(GaussianNB())], ids=str)
def test_the_accuracy_of_a_scan_is_that_of_its_rows(model, weight, tmp_path):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 3000)]
    X = rng.normal(size=(3000, 2)) + (y == "a")[:, None]
    w = rng.integers(0, 3, 3000).astype(float)
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "w": w, "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    rows = scan(tmp_path / "rows.parquet", target="y", weight=weight, columns=["x0", "x1"])
    fitted = clone(model).fit(table.select(["x0", "x1"]), y)
    weights = None if weight is None else w
    assert fitted.score(rows) == pytest.approx(
        fitted.score(table.select(["x0", "x1"]), y, weights), abs=1e-12
    )
    with pytest.raises(ValueError, match="y was passed"):
        fitted.score(rows, y)
    with pytest.raises(TypeError, match="score needs the classes"):
        fitted.score(X)


def test_what_needs_rows_in_memory_says_how_to_get_some(tmp_path):
    pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 5.0], "y": [0, 0, 1, 1]}), tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y")
    with pytest.raises(TypeError, match=r"X, y, weight = scan.sample\(100_000\)"):
        LDA().fit(rows).transform(rows)


# -- parts ------------------------------------------------------------------------------------------

PARTS = {
    "NaiveBayes": (NaiveBayes(weights=1.0, tied=False, alpha=1.0), MIXED),
    "GaussianNB": (GaussianNB(), NUMBERS),
    "CategoricalNB": (CategoricalNB(), CODES),
    "LDA": (LDA(), NUMBERS),
    "QDA": (QDA(), NUMBERS),
}


@pytest.mark.parametrize("kind", ["files", "duckdb", "stream", "rows in memory first"])
@pytest.mark.parametrize("name", PARTS)
def test_scans_added_by_partial_fit_give_the_model_of_all_rows(name, kind, table, files):
    estimator, columns = PARTS[name]
    paths = sorted(files.glob("*.parquet"))
    here, there = paths[:2], paths[2:]

    def opened(some):
        rows = pa.concat_tables([pq.read_table(path) for path in some]).select([*columns, "label"])
        if kind == "stream":
            return scan(rows.to_reader(max_chunksize=400), "label")
        if kind == "duckdb":
            connection = duckdb.connect()
            connection.register("rows", rows)
            connection.execute("CREATE TABLE t AS SELECT * FROM rows")
            return scan(connection, "label", table="t")
        return scan([str(path) for path in some], "label", columns=columns)

    first = opened(here)
    if kind == "rows in memory first":
        X, y, _ = first.sample(10**6)
        found = clone(estimator).partial_fit(X, y, classes=["a", "b", "c"])
    else:
        found = clone(estimator).partial_fit(first, classes=["a", "b", "c"])
    found.partial_fit(opened(there))
    X = table.select(columns)
    expected = clone(estimator).fit(X, table["label"].to_numpy(zero_copy_only=False)).predict_log_proba(X)
    np.testing.assert_allclose(found.predict_log_proba(X), expected, rtol=1e-8, atol=1e-8)


def test_partial_fit_reads_the_columns_of_the_first_part_by_their_names(table, tmp_path):
    for name, columns in {
        "first": ["x", "wait", "label"],
        "second": ["number", "label", "wait", "x"],
    }.items():
        pq.write_table(table.select(columns), tmp_path / f"{name}.parquet")
    model = LDA().partial_fit(scan(tmp_path / "first.parquet", "label"))
    model.partial_fit(scan(tmp_path / "second.parquet", "label"))
    twice = pa.concat_tables([table, table]).select(["x", "wait"])
    labels = np.tile(table["label"].to_numpy(zero_copy_only=False), 2)
    expected = LDA().fit(twice, labels)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


@pytest.mark.parametrize("columns", [["x", "day"], ["town", "x"], ["price", "town", "day"]], ids="-".join)
@pytest.mark.filterwarnings("ignore:column .town.:posterior.notices.DataWarning")
def test_partial_fit_reads_dates_numbers_and_spellings_as_the_first_part_does(columns, table, tmp_path):
    rng = np.random.default_rng(5)
    told = (
        table.select(["x", "label"])
        .append_column(
            "day", pa.array([f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.{2019 + k % 5}" for k in range(N)])
        )
        .append_column(
            "town",
            pa.array(rng.choice(["Graz", "Linz", "Wien", "GRAZ", "linz"], N, p=[0.3] * 3 + [0.05] * 2)),
        )
        .append_column("price", pa.array([f"€{v:.2f}" for v in rng.uniform(1, 90, N)]))
    )
    for k, part in enumerate([told[: N // 3], told[N // 3 :]]):
        pq.write_table(part, tmp_path / f"{k}.parquet")
    plain = NaiveBayes(weights=1.0, tied=False)
    found = clone(plain)
    for k in range(2):
        found.partial_fit(scan(tmp_path / f"{k}.parquet", "label", columns=columns))
    X = told.select(columns)
    expected = clone(plain).fit(X, told["label"].to_numpy(zero_copy_only=False))
    assert found.schema_.names == expected.schema_.names
    np.testing.assert_allclose(
        found.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-8, atol=1e-8
    )


def test_a_column_that_is_filled_later_joins_the_model(table, tmp_path):
    empty = table.select(["x", "label"]).append_column("late", pa.nulls(N, pa.float64()))
    pq.write_table(empty, tmp_path / "empty.parquet")
    pq.write_table(
        table.select(["x", "label"]).append_column("late", table["wait"]), tmp_path / "full.parquet"
    )
    plain = NaiveBayes(weights=1.0, tied=False)
    parts = [scan(tmp_path / f"{name}.parquet", "label") for name in ("empty", "full")]
    found = clone(plain).partial_fit(parts[0]).partial_fit(parts[1])
    rows = [part.sample(10**6)[:2] for part in parts]
    expected = clone(plain).partial_fit(*rows[0]).partial_fit(*rows[1])
    X = rows[1][0]
    np.testing.assert_allclose(found.predict_log_proba(X), expected.predict_log_proba(X), rtol=1e-9)


def test_partial_fit_says_what_it_does_not_take(files, tmp_path):
    rows = scan(files, "label", columns=NUMBERS)
    with pytest.raises(ValueError, match=r"y was passed to LinearDiscriminantAnalysis beside a scan"):
        LDA().partial_fit(rows, ["a"])
    with pytest.raises(ValueError, match=r"\['c'\] in y do not exist in the initial classes \['a', 'b'\]"):
        LDA().partial_fit(rows, classes=["a", "b"])
    with pytest.raises(ValueError, match="resume= is for fit"):
        LDA().partial_fit(scan(files, "label", columns=NUMBERS, resume=tmp_path / "sums"))
    model = LDA().partial_fit(rows)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="has no column 'wait', which LinearDiscriminantAnalysis was fitted"):
        model.partial_fit(scan(pq.read_table(files).drop_columns(["wait"]), "label"))
    assert (model.coef_ == before).all()


def test_a_regression_learns_a_scan_batch_by_batch(table, files):
    rows = scan(files, "label", columns=NUMBERS)
    found = SoftmaxRegression(C=1.0).partial_fit(rows)
    parts = list(scan(files, "label", columns=NUMBERS).parts())
    expected = SoftmaxRegression(C=1.0)
    for X, y, _ in parts:
        expected.partial_fit(X, y, classes=["a", "b", "c"])
    assert (found.coef_ == expected.coef_).all()
    assert found.score(rows) > 0.5


def test_a_warm_start_from_the_optimum_takes_fewer_steps_than_a_cold_one(files):
    rows = scan(files, "label", columns=NUMBERS)
    cold = SoftmaxRegression(C=1.0).fit(rows)
    warm = SoftmaxRegression(C=1.0, warm_start=True).fit(rows)
    warm.fit(rows)
    assert warm.n_iter_[0] < cold.n_iter_[0]
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-6)


# -- how good ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["files", "stream"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_score_of_a_regression_is_that_of_the_same_rows(kind, weight, table, files):
    model = LinearRegression().fit(table.select(NUMBERS), table["number"].to_numpy())
    names = [*NUMBERS, "number", "weight"]
    source = files if kind == "files" else table.select(names).to_reader(max_chunksize=700)
    found = model.score(scan(source, "number", columns=NUMBERS, weight=weight))
    w = None if weight is None else table["weight"].to_numpy()
    expected = model.score(table.select(NUMBERS), table["number"].to_numpy(), sample_weight=w)
    assert found == pytest.approx(expected, rel=1e-12)


def test_r_squared_keeps_its_digits_far_from_zero(table, tmp_path):
    far = table.select(NUMBERS).append_column("number", pa.array(table["number"].to_numpy() + 1e8))
    pq.write_table(far, tmp_path / "far.parquet", row_group_size=300)
    rows = scan(tmp_path / "far.parquet", "number")
    model = LinearRegression().fit(rows)
    assert model.score(rows) == pytest.approx(
        model.score(far.select(NUMBERS), far["number"].to_numpy()), rel=1e-9
    )


def test_the_score_of_a_stream_takes_its_one_reading(table):
    model = LDA().fit(table.select(NUMBERS), table["label"].to_numpy(zero_copy_only=False))
    stream = scan(table.select([*NUMBERS, "label"]).to_reader(max_chunksize=700), "label")
    expected = model.score(table.select(NUMBERS), table["label"].to_numpy(zero_copy_only=False))
    assert model.score(stream) == expected


@pytest.mark.parametrize("costs", [None, [[0.0, 1.0, 1.0], [5.0, 0.0, 5.0], [1.0, 1.0, 0.0]]])
def test_the_score_of_decisions_is_that_of_the_same_rows(costs, table, files):
    model = DecisionClassifier(LDA(), costs=costs).fit(scan(files, "label", columns=NUMBERS))
    labels, weight = table["label"].to_numpy(zero_copy_only=False), table["weight"].to_numpy()
    expected = model.score(table.select(NUMBERS), labels, sample_weight=weight)
    found = model.score(scan(files, "label", columns=NUMBERS, weight="weight"))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("asked", ["k_fold_log_proba", "leave_one_out_log_proba"])
@pytest.mark.parametrize("estimator", [LDA(), LogisticRegression()], ids=lambda one: type(one).__name__)
def test_what_is_asked_of_every_row_is_refused_with_the_remedy(estimator, asked, files):
    rows = scan(files, "label", columns=NUMBERS)
    model = clone(estimator).fit(rows)
    if not hasattr(model, asked):
        return
    with pytest.raises((TypeError, ValueError), match=r"X, y, weight = scan\.sample\(100_000\)"):
        getattr(model, asked)(rows)
