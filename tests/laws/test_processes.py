"""A process stays whole: after Ctrl-C, with threads that come first together, and in its children.

Few cases here, many in tests/long/test_processes.py.
"""

import subprocess
import sys

import pytest

from processes import Case

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT goes to a process by its number")


@pytest.fixture(scope="module")
def undisturbed():
    """What a process says that nobody disturbs."""
    return Case("plainly").run()


@pytest.mark.parametrize("after", [0.1, pytest.param(0.4, marks=pytest.mark.long)])
def test_after_an_interrupt_during_the_first_large_fit_the_next_fit_works(undisturbed, after):
    assert Case("interrupted", after=after).run() == undisturbed


@pytest.mark.long
def test_threads_that_need_compiled_code_first_together_share_one_import(undisturbed):
    assert Case("two").run() == undisturbed


@pytest.mark.long
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_of_a_process_that_has_fitted_fit_to_the_same_bits(undisturbed, method):
    assert Case(method).run() == undisturbed


@pytest.mark.long
def test_neither_answers_nor_model_files_depend_on_the_hash_seed():
    assert len({Case("saved", "NaiveBayes").run(PYTHONHASHSEED=seed) for seed in ("0", "1")}) == 1


IMPORT = """
import signal, sys
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
try:
    from posterior import LDA
except KeyboardInterrupt:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
from posterior import LDA
print(LDA().fit([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1]).predict([[4.0]]))
"""


@pytest.mark.parametrize("after", ["0.3", pytest.param("0.1", marks=pytest.mark.long)])
def test_an_import_from_the_library_can_be_repeated_where_it_was_interrupted(after):
    command = [sys.executable, "-c", IMPORT, after]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own
    assert done.stdout == "[1]\n", done.stderr
