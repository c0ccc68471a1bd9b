"""Forged model files: refused, or a model that works to the end, in little time and memory.

`POSTERIOR_FORGED_FILES` says how many, `POSTERIOR_FORGED_SEED` where they begin; a failure names its case and
number, from which `mutated_files.forgery` makes the same file again.
"""

import os
import resource

import numpy as np
import pytest

import forged_models as forged
import model_file_cases as cases
import mutated_files as mutated

pytestmark = pytest.mark.long

FILES = int(os.environ.get("POSTERIOR_FORGED_FILES", "20_000"))
SEED = int(os.environ.get("POSTERIOR_FORGED_SEED", "0"))
PARTS = 10
ACCIDENTS = 20_000
MEBIBYTE = 1 << 20


def peak_memory():
    """The most memory that this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_file_is_refused_or_holds_a_model_that_works(part, tmp_path, record_property):
    files = forged.files_of(cases, cases.NAMES)
    for data, X, y in files.values():
        assert "works" in forged.end_of(data, X, y, tmp_path)
    before = peak_memory()
    ends, failures = forged.outcomes(
        files,
        lambda data, number: mutated.forgery(data, SEED, number),
        range(part * FILES // PARTS, (part + 1) * FILES // PARTS),
        tmp_path,
    )
    record_property("ends", dict(ends))
    assert not failures, f"with POSTERIOR_FORGED_SEED={SEED}:\n{failures}"
    assert peak_memory() - before < 150 * MEBIBYTE
    assert ends["refused"] > ends["works"] > ends.total() // 50


def test_an_accident_is_always_noticed():
    files = [cases.to_bytes(cases.case(name)[0]) for name in cases.SMALL]
    rng = np.random.default_rng(SEED)
    for number in range(ACCIDENTS):
        data = files[number % len(files)]
        altered = mutated.altered_bytes(data, rng)
        assert altered == data or forged.opened(altered) is None, f"POSTERIOR_FORGED_SEED={SEED}, {number}"
