"""A comparison of a scan is that of rows drawn from it by class."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posterior import Comparison, compare, scan, threads
from posterior.comparison import sampling, scanned
from posterior.engines import table_scan

N = 6_000
MODELS = ["majority", "naive-bayes", "lda"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.9, 0, rng.integers(1, 3, N))
    return pa.table(
        {
            "x": y + rng.normal(size=N),
            "wait": rng.gamma(2.0, 1.0 + y),
            "patient": np.arange(N) % 50,
            "label": np.array(["often", "now", "rare"])[y],
            "weight": rng.random(N),
        }
    )


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k, first in enumerate(range(0, N, 1_300)):
        pq.write_table(table.slice(first, 1_300), folder / f"part-{k}.parquet", row_group_size=300)
    return folder


@pytest.fixture
def _few_others(monkeypatch):
    monkeypatch.setattr(sampling, "LEAST_OTHERS", 20)


@pytest.mark.usefixtures("_few_others")
def test_rows_are_drawn_in_proportion_to_the_classes(table, files):
    rows = scan(files, target="label", columns=["x", "wait"])
    found = Comparison.of(rows, models=MODELS, max_rows=1_000, reference=False)
    sizes = dict(zip(*np.unique(table["label"].to_numpy(), return_counts=True), strict=True))
    drawn = dict(zip(found.classes.tolist(), np.bincount(found.codes).tolist(), strict=True))
    assert drawn == {label: round(n * 1_000 / N) for label, n in sizes.items()}
    assert found.n_rows == N
    assert found.folds.endswith(f"of {sum(drawn.values()):,} rows drawn from 6,000")
    assert [result.name for result in found.results][-1] == "majority"


@pytest.mark.usefixtures("_few_others")
def test_a_rare_class_keeps_a_few_rows_of_its_own(table, tmp_path):
    labels = ["odd" if i in range(100, 112) else label for i, label in enumerate(table["label"].to_pylist())]
    odd = table.set_column(table.column_names.index("label"), "label", pa.array(labels))
    pq.write_table(odd, tmp_path / "odd.parquet")
    rows = scan(tmp_path, target="label", columns=["x", "wait"])
    found = Comparison.of(rows, models=["majority", "lda"], max_rows=600, reference=False)
    drawn = dict(zip(found.classes.tolist(), np.bincount(found.codes).tolist(), strict=True))
    assert drawn["odd"] == sampling.LEAST_OF_CLASS


def test_few_rows_are_all_taken_and_give_the_comparison_in_memory(table, files):
    rows = scan(files, target="label", columns=["x", "wait"])
    found = Comparison.of(rows, models=MODELS, reference=False)
    wanted = Comparison.of(table.select(["x", "wait", "label"]), "label", models=MODELS, reference=False)
    assert found.folds == wanted.folds
    assert [(r.name, r.log_loss) for r in found.results] == [(r.name, r.log_loss) for r in wanted.results]


@pytest.mark.usefixtures("_few_others")
def test_the_same_rows_are_drawn_whoever_reads(files):
    drawn = []
    for n in (1, 4):
        with threads(n):
            rows = scan(files, target="label", columns=["x", "wait"])
            drawn.append(rows.draw({"often": 100, "now": 20, "rare": 5}))
    assert drawn[0].equals(drawn[1])
    labels, counts = np.unique(drawn[0]["label"].to_numpy(), return_counts=True)
    assert dict(zip(labels, counts, strict=True)) == {"often": 100, "now": 20, "rare": 5}


def test_a_class_with_fewer_rows_than_asked_for_gives_all(table, files):
    rows = scan(files, target="label", columns=["x", "wait"])
    sizes = dict(zip(*np.unique(table["label"].to_numpy(), return_counts=True), strict=True))
    found = rows.draw({"often": 10, "now": 10**6, "rare": int(sizes["rare"])})
    labels, counts = np.unique(found["label"].to_numpy(), return_counts=True)
    assert dict(zip(labels, counts, strict=True)) == {"often": 10, "now": sizes["now"], "rare": sizes["rare"]}


def test_the_recommended_model_is_fitted_to_all_rows(files):
    rows = scan(files, target="label", columns=["x", "wait"])
    found = Comparison.of(rows, models=["lda", "naive-bayes"], max_rows=1_000, reference=False)
    model = found.recommended.estimator.fit(rows)
    assert model.model_.weight == N


def test_a_data_frame_of_results(files):
    frame = compare(scan(files, target="label", columns=["x", "wait"]), models=MODELS, max_rows=1_000)
    assert frame["model"].to_pylist()[-1] == "majority"


def test_groups_are_a_column_of_the_scan(files):
    rows = scan(files, target="label", columns=["x", "wait", "patient"])
    found = Comparison.of(rows, models=["majority", "lda"], groups="patient", reference=False)
    assert found.schema.names == ("x", "wait")
    assert len(np.unique(found.groups)) == 50


def test_weights_and_rows_without_a_class_are_told(table, tmp_path):
    labels = pa.array([None if i < 30 else label for i, label in enumerate(table["label"].to_pylist())])
    pq.write_table(table.set_column(3, "label", labels), tmp_path / "gaps.parquet")
    rows = scan(tmp_path, target="label", weight="weight", columns=["x", "wait"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Comparison.of(rows, models=["majority", "lda"], reference=False)
    assert any("rows without a class, left out: 30 of 6000" in note for note in found.notes)
    assert any("without their weights ('weight')" in note for note in found.notes)


REFUSED = {
    "y": ({"y": ["a"] * N}, r"y was passed to compare beside a scan; name its column: scan\(…, target="),
    "groups": ({"groups": np.arange(N)}, "groups of a scan must be the name of one of its columns"),
    "all rows": ({"max_rows": None}, "max_rows=None compares models on all 6,000 rows, and 50 of this table"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_scan_cannot_be_compared_by_is_refused(case, files, monkeypatch):
    monkeypatch.setattr(scanned, "MOST_CELLS", 100)
    settings, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        Comparison.of(scan(files, target="label", columns=["x", "wait"]), **settings)


def test_a_stream_and_a_scan_without_a_target_are_refused(files, monkeypatch):
    with pytest.raises(ValueError, match=r"compare learns from a column that the scan does not name"):
        Comparison.of(scan(files))
    monkeypatch.setattr(table_scan.TableScan, "rereads", False)
    with pytest.raises(ValueError, match="a stream can be read once"):
        Comparison.of(scan(files, target="label"))


def test_a_table_in_memory_still_needs_its_classes(table):
    with pytest.raises(ValueError, match="y is None; pass the class of each row"):
        Comparison.of(table.select(["x"]))
