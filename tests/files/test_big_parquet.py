"""The table larger than memory that scripts/make_big_parquet.py writes, on few rows."""

import numpy as np
import pytest

from places import REPOSITORY, module_from

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N_ROWS = 100_000


def write(folder, *options):
    module_from(REPOSITORY / "scripts" / "make_big_parquet.py").main([str(folder), *options])
    return sorted(folder.glob("*.parquet"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    options = ("--rows", str(N_ROWS), "--columns", "4", "--files", "3", "--group-rows", "16384")
    return write(tmp_path_factory.mktemp("big"), *options)


def test_all_rows_are_in_the_files_in_row_groups_of_the_size_asked_for(paths):
    footers = [pq.read_metadata(path) for path in paths]
    assert len(footers) == 3
    assert sum(footer.num_rows for footer in footers) == N_ROWS
    sizes = [[footer.row_group(i).num_rows for i in range(footer.num_row_groups)] for footer in footers]
    assert all(set(of_file[:-1]) == {16384} and of_file[-1] <= 16384 for of_file in sizes)
    assert footers[0].row_group(0).column(0).compression == "UNCOMPRESSED"


def test_columns_are_gaussian_around_class_means_with_correlated_pairs(paths):
    table = pa.concat_tables(pq.read_table(path) for path in paths)
    assert table.schema.types == [pa.float64()] * 4 + [pa.int64()]
    y = table["y"].to_numpy()
    X = np.column_stack([table[f"x{j}"] for j in range(4)])
    assert np.array_equal(np.unique(y), np.arange(10))
    means = np.stack([X[y == k].mean(axis=0) for k in range(10)])
    # 10,000 rows of a class: a standard error of 0.01, and 0.05 is five of them.
    expected = np.random.default_rng(0).normal(size=(10, 4))
    np.testing.assert_allclose(means, expected, atol=0.05)
    correlation = np.eye(4)
    correlation[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.5
    np.testing.assert_allclose(np.cov(X - expected[y], rowvar=False), correlation, atol=0.03)


def test_the_same_seed_gives_the_same_table_and_files_differ(tmp_path):
    small = ("--rows", "2000", "--columns", "3", "--files", "2")
    first, again = write(tmp_path / "first", *small), write(tmp_path / "again", *small)
    assert [pq.read_table(a).equals(pq.read_table(b)) for a, b in zip(first, again, strict=True)] == [
        True,
        True,
    ]
    assert not pq.read_table(first[0]).equals(pq.read_table(first[1]))
    changed = write(tmp_path / "changed", *small, "--seed", "1")
    assert not pq.read_table(first[0]).equals(pq.read_table(changed[0]))


def test_classes_may_be_strings(tmp_path, capsys):
    (path,) = write(tmp_path, "--rows", "1000", "--columns", "2", "--files", "1", "--strings")
    assert set(pq.read_table(path)["y"].to_pylist()) == {f"class {k}" for k in range(10)}
    assert capsys.readouterr().out.startswith("1,000 rows x 2 columns in 1 files: 0.0 MB")


def test_a_folder_that_holds_parquet_files_is_refused(tmp_path, capsys):
    (tmp_path / "old.parquet").touch()
    with pytest.raises(SystemExit):
        write(tmp_path, "--rows", "10")
    assert "holds Parquet files already" in capsys.readouterr().err


def test_classes_are_as_many_as_asked_for(tmp_path):
    (path,) = write(tmp_path, "--rows", "1000", "--columns", "2", "--files", "1", "--classes", "2")
    assert set(pq.read_table(path)["y"].to_pylist()) == {0, 1}
