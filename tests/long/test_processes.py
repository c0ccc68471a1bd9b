"""Interrupts at random times in fresh processes; threads, forks, spawned children and hash seeds.

POSTERIOR_INTERRUPTS says how many interrupts (60 if not set), POSTERIOR_INTERRUPTS_SEED where they begin. A
failure shows the case, which `Case(…).run()` repeats.
"""

import os
from functools import cache

import numpy as np
import pytest

from processes import Case

pytestmark = pytest.mark.long

INTERRUPTS = int(os.environ.get("POSTERIOR_INTERRUPTS", "60"))
SEED = int(os.environ.get("POSTERIOR_INTERRUPTS_SEED", "0"))
MODELS = ("GaussianNB", "LDA", "QDA", "LogisticRegression")
DEEDS = ("interrupted",) * 4 + ("fit", "partial_fit", "drawn")
# Seconds in which interrupts fall, from the start of the fit on; compiling takes longer than loading.
LOADING, COMPILING = 2.5, 10.0


@cache
def undisturbed(model):
    return Case("plainly", model).run()


@pytest.mark.parametrize("number", range(INTERRUPTS))
def test_an_interrupted_process_fits_again_to_the_same_bits(number, tmp_path):
    rng = np.random.default_rng((SEED, number))
    deed, model, n_threads = str(rng.choice(DEEDS)), str(rng.choice(MODELS)), int(rng.integers(1, 3))
    compiles = rng.random() < 0.3
    case = Case(deed, model, n_threads, rng.uniform(0.0, COMPILING if compiles else LOADING))
    where = {"NUMBA_CACHE_DIR": str(tmp_path)} if compiles else {}
    assert case.run(**where) == undisturbed(model), f"{case} {where}"


@pytest.mark.parametrize("compiles", [False, True], ids=["loaded", "compiled"])
@pytest.mark.parametrize("deed", ["two", "sixteen"])
@pytest.mark.parametrize("model", MODELS)
def test_threads_that_come_first_together_give_the_same_bits(model, deed, compiles, tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)} if compiles else {}
    assert Case(deed, model).run(**where) == undisturbed(model)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("model", MODELS)
def test_children_give_the_same_bits(model, method):
    assert Case(method, model, 2).run() == undisturbed(model)


@pytest.mark.parametrize("model", [*MODELS, "NaiveBayes"])
def test_five_hash_seeds_give_the_same_bits_and_the_same_file(model):
    found = {seed: Case("saved", model).run(PYTHONHASHSEED=str(seed)) for seed in range(SEED, SEED + 5)}
    assert len(set(found.values())) == 1, found
