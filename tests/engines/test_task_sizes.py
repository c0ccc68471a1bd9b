"""What a fit sends to a worker, and what comes back, is small however many rows there are: never rows."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from engine_cases import in_files
from posterior import LDA, QDA, GaussianNB, NaiveBayes, SoftmaxRegression, scan
from posterior.engines import remote
from posterior.engines.arrow import FileEngine
from posterior.engines.base import FragmentSum
from posterior.engines.remote import FirstReading, RowSample

cloudpickle = pytest.importorskip("cloudpickle")  # comes with Dask

N, D, K = 60_000, 20, 10
MOST = 64_000
# The Hessian of softmax has a triangle of (D + 1)(D + 2)/2 numbers for each pair of the K − 1 free scores.
HESSIAN = (K - 1) * K // 2 * ((D + 1) * (D + 2) // 2) * 8
# The slope, which comes in the same reading, has (D + 1) numbers for each of these, beside names and counts.
SLOPE = (K - 1) * (D + 1) * 8 + 1000
MODELS = {
    "GaussianNB": (GaussianNB, False, MOST),
    "LDA": (LDA, False, MOST),
    "QDA": (QDA, False, MOST),
    "mixed naive Bayes": (NaiveBayes, True, MOST),
    "softmax": (SoftmaxRegression, False, HESSIAN + SLOPE),
}


class Weighing(FileEngine):
    """Files whose engine notes how large tasks and results are; rows that a sample asks for are no sums."""

    def fold(self, work, columns):
        total = super().fold(work, columns)
        if not isinstance(work, RowSample | FirstReading):
            self.tasks.append(len(cloudpickle.dumps(FragmentSum(work, tuple(columns)))))
            self.results.append(len(pickle.dumps(total)))
        return total

    def __init__(self, source):
        super().__init__(source)
        self.tasks, self.results = [], []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    X = rng.normal(size=(N, D)) + rng.normal(size=(K, D))[y]
    numbers = {f"x{j}": X[:, j] for j in range(D)}
    levels = np.array([f"level {i}" for i in range(8)], dtype=object)
    strings = {f"x{j}": levels[np.abs(4 * X[:, j]).astype(int) % 8] for j in range(D // 2)}
    target = {"y": np.array([f"class {k}" for k in range(K)], dtype=object)[y]}
    return {
        mixed: in_files(pa.table(numbers | (strings if mixed else {}) | target), folder, group=20_000)
        for mixed in (False, True)
        for folder in [tmp_path_factory.mktemp("rows")]
    }


@pytest.mark.parametrize("name", MODELS)
def test_tasks_and_results_are_small(files, name, monkeypatch):
    monkeypatch.setattr(remote, "SAMPLE_ROWS", N // 3)  # so few rows would stay here once they are drawn
    make, mixed, largest = MODELS[name]
    engine = Weighing(files[mixed])
    make().fit(scan(engine, target="y"))
    assert len(engine.tasks) >= 2
    assert max(engine.tasks) < MOST
    assert max(engine.results) < largest


def test_a_fragment_is_a_few_kilobytes(files):
    assert max(len(pickle.dumps(fragment)) for fragment in FileEngine(files[True]).fragments) < 8_000
