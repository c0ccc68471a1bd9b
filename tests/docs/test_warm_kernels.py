"""Kernels that are copies of a process which has imported what pages need."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from places import REPOSITORY

pytest.importorskip("myst_nb", reason="the site has packages of its own")

# In a process of its own, since it is copied: two pages, of which the first changes what it can.
PROGRAM = """
import json, types
import nbformat, warm_kernels
from nbclient import NotebookClient

def ran(source):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(page, kernel_name="python3").execute()
    return page.cells[0].outputs[0].text.strip()

ends = []
warm_kernels.begin(types.SimpleNamespace(connect=lambda event, call: ends.append(call)))
first = ran("import sys, numpy; numpy.seen = True; print('numba' in sys.modules)")
second = ran("import numpy; print(hasattr(numpy, 'seen'))")
ends[0](None, None)
print(json.dumps([first, second]))
"""

KILLED = """
import os, signal, types, warm_kernels
ends = []
warm_kernels.begin(types.SimpleNamespace(connect=lambda event, call: ends.append(call)))
print(warm_kernels._address[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def run(program, folder, **settings):
    paths = [REPOSITORY / "docs" / "_ext", REPOSITORY / "src"]
    places = {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "IPYTHONDIR": str(folder),
        "TMPDIR": str(folder),
    }
    call = [sys.executable, "-c", program]
    return subprocess.run(  # noqa: S603
        call, env=os.environ | places, capture_output=True, text=True, check=False, **settings
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be copied")
def test_a_kernel_has_imported_what_pages_need_and_nothing_of_the_page_before(tmp_path):
    done = run(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == ["True", "False"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be copied")
def test_a_build_that_is_killed_leaves_no_process_and_no_folder(tmp_path):
    # What it wrote to is open as long as a copy of it lives, and this waits for that.
    done = run(KILLED, tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    assert not Path(done.stdout.strip()).parent.exists()
