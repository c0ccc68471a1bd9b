"""A hundred thousand altered model files: refused, or a model that predicts, and no memory to speak of."""

import importlib.util
import resource
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

FILES = 101_000  # a few of which come out as they were
PARTS = 20
MEBIBYTE = 1 << 20


def module(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


cases, mutated = module("model_file_cases"), module("mutated_files")


def peak_memory():
    """The most memory that this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("part", range(PARTS))
def test_an_altered_file_is_refused_or_predicts_in_little_memory(part):
    files = {name: (cases.to_bytes(cases.case(name)[0]), cases.case(name)[1][:4]) for name in cases.SMALL}
    for data, X in files.values():
        assert mutated.judged(mutated.opened(data), X) == "predicts"
    before = peak_memory()
    ends = mutated.outcomes(files, FILES // PARTS, seed=part)
    assert peak_memory() - before < 100 * MEBIBYTE
    assert ends["refused"] > ends["predicts"] > ends.total() // 50
