"""A fit that was interrupted goes on where it stopped, to the bits of one that was not."""

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posterior import (
    LDA,
    QDA,
    GaussianNB,
    LogisticRegression,
    NaiveBayes,
    PoolClassifier,
    TreeAugmented,
    scan,
    threads,
)
from posterior.engines import arrow, resuming
from posterior.persistence import load, partial_sums, save

N, PARTS = 2_400, 12
COLUMNS = ["x", "wait", "state"]


@pytest.fixture(autouse=True)
def _written_after_each_fragment(monkeypatch):
    monkeypatch.setattr(resuming, "SECONDS", 0.0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    return pa.table(
        {
            "x": y + rng.normal(size=N) + 1e6,
            "wait": rng.gamma(2.0, 1.0 + y),
            "state": np.array(["CA", "NY", "TX"])[(y + rng.integers(0, 2, N)) % 3],
            "label": np.array(["a", "b", "c"])[y],
        }
    )


@pytest.fixture
def files(table, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    size = N // PARTS
    for k in range(PARTS):
        pq.write_table(table.slice(size * k, size), folder / f"part-{k:02}.parquet")
    return folder


class InterruptedFitError(Exception):
    """Somebody pulled the plug."""


def stop_after(monkeypatch, n):
    """Let the reading of the n-th fragment of all columns fail once; return what was read."""
    read, names = arrow.ParquetFragment.batches, []

    def batches(self, columns, *rows):
        if len(columns) == len(COLUMNS) + 1:
            names.append(self.name)
            if len(names) == n:
                raise InterruptedFitError
        return read(self, columns, *rows)

    monkeypatch.setattr(arrow.ParquetFragment, "batches", batches)
    return names


MODELS = {
    "naive Bayes": lambda: NaiveBayes(tied=False, weights=1.0),
    "naive Bayes, settings by folds": NaiveBayes,
    "a tree of dependence": TreeAugmented,
}


@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_fit_goes_on_with_the_same_bits(name, table, files, tmp_path, monkeypatch):
    wanted = MODELS[name]().fit(scan(files, target="label", columns=COLUMNS))
    kept = tmp_path / "sums"
    with monkeypatch.context() as patched:
        stop_after(patched, 8)
        with threads(2), pytest.raises(InterruptedFitError):  # so that fragments end about in order
            MODELS[name]().fit(scan(files, target="label", columns=COLUMNS, resume=kept))
    rows = scan(files, target="label", columns=COLUMNS, resume=kept)
    found = MODELS[name]().fit(rows)
    X = table.select(COLUMNS)
    assert np.array_equal(found.predict_log_proba(X), wanted.predict_log_proba(X))
    assert not kept.exists()


def test_fragments_in_the_file_are_not_read_again(files, tmp_path, monkeypatch):
    kept = tmp_path / "sums"
    make = MODELS["naive Bayes"]
    with monkeypatch.context() as patched:
        stop_after(patched, 8)
        with threads(2), pytest.raises(InterruptedFitError):  # so that fragments end about in order
            make().fit(scan(files, target="label", columns=COLUMNS, resume=kept))
    done = partial_sums.read(str(kept)).done
    assert 1 <= done < 8
    names = stop_after(monkeypatch, -1)
    make().fit(scan(files, target="label", columns=COLUMNS, resume=kept))
    assert len(names) == PARTS - done


# A fit that does not get further than three fragments, however long it is let.
KILLED = """
    import sys, threading
    from itertools import count
    from posterior import GaussianNB, scan
    from posterior.engines import arrow, resuming
    resuming.SECONDS = 0.0
    read, calls = arrow.ParquetFragment.batches, count()
    def stuck(self, columns, *rows):
        if len(columns) == 3 and next(calls) >= 3:
            threading.Event().wait()
        return read(self, columns, *rows)
    arrow.ParquetFragment.batches = stuck
    GaussianNB().fit(scan(sys.argv[1], target="label", columns=["x", "wait"], resume=sys.argv[2]))
"""


def test_a_process_that_was_killed_left_sums_to_go_on_from(table, files, tmp_path):
    kept = tmp_path / "sums"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(files), str(kept)]
    process = subprocess.Popen(command)  # noqa: S603
    while not kept.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 1 <= partial_sums.read(str(kept)).done < PARTS
    found = GaussianNB().fit(scan(files, target="label", columns=["x", "wait"], resume=kept))
    wanted = GaussianNB().fit(scan(files, target="label", columns=["x", "wait"]))
    X = table.select(["x", "wait"])
    assert np.array_equal(found.predict_log_proba(X), wanted.predict_log_proba(X))
    assert np.array_equal(found.var_, wanted.var_)
    assert not kept.exists()


@pytest.fixture
def left_over(files, tmp_path, monkeypatch):
    """The sums of an interrupted fit."""
    kept = tmp_path / "sums"
    with monkeypatch.context() as patched:
        stop_after(patched, 8)
        with threads(2), pytest.raises(InterruptedFitError):  # so that fragments end about in order
            MODELS["naive Bayes"]().fit(scan(files, target="label", columns=COLUMNS, resume=kept))
    return kept


def test_sums_of_another_fit_are_refused_with_what_differs(table, files, left_over):
    with pytest.raises(ValueError, match="the sums of another fit, of other 'model', 'settings'; delete"):
        NaiveBayes(alpha=3.0).fit(scan(files, target="label", columns=COLUMNS, resume=left_over))
    pq.write_table(table.slice(0, 300), files / "part-00.parquet")
    with pytest.raises(ValueError, match="the sums of another fit, of other 'files'; delete it"):
        MODELS["naive Bayes"]().fit(scan(files, target="label", columns=COLUMNS, resume=left_over))
    assert left_over.exists()


def test_a_file_of_something_else_is_refused_and_stays(table, files, tmp_path):
    model = tmp_path / "model.posterior"
    save(LDA().fit(table.select(["x", "wait"]), table["label"].to_numpy()), model)
    with pytest.raises(ValueError, match="holds no sums of a fit that was interrupted"):
        QDA().fit(scan(files, target="label", columns=["x", "wait"], resume=model))
    assert load(model) is not None
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="is not a model file of posterior"):
        QDA().fit(scan(files, target="label", columns=["x", "wait"], resume=tmp_path / "text"))


def test_damaged_sums_are_refused(files, left_over):
    contents = bytearray(left_over.read_bytes())
    contents[-3] ^= 1
    left_over.write_bytes(bytes(contents))
    with pytest.raises(ValueError, match="was altered since it was written"):
        MODELS["naive Bayes"]().fit(scan(files, target="label", columns=COLUMNS, resume=left_over))


@pytest.mark.parametrize(
    "make", [LogisticRegression, lambda: PoolClassifier([("a", NaiveBayes())])], ids=["logistic", "pool"]
)
def test_fits_of_several_readings_are_refused(make, files, tmp_path):
    with pytest.raises(ValueError, match="resume= keeps the sums of generative models"):
        make().fit(scan(files, target="label", columns=COLUMNS, resume=tmp_path / "sums"))


def test_only_files_of_this_process_are_resumed(table, tmp_path):
    frames = pytest.importorskip("dask.dataframe", reason="Dask is an extra")
    frame = frames.from_pandas(table.to_pandas(), npartitions=2)
    with pytest.raises(ValueError, match="resume= is for files that this process reads"):
        scan(frame, target="label", resume=tmp_path / "sums")
