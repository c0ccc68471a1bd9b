"""A report and a studio page of the penguins among the pages, written while the site is built.

A process of its own writes them, beside those that read the pages.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

_running: list[subprocess.Popen[str]] = []


def begin(app: Sphinx) -> None:
    """Start to write them where the site takes files from."""
    folder = Path(app.srcdir) / "_build" / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    call = [sys.executable, __file__, str(folder)]
    _running.append(subprocess.Popen(call, stderr=subprocess.PIPE, text=True))  # noqa: S603 -- this file


def await_samples(app: Sphinx, env: BuildEnvironment) -> None:
    """They are there before files are copied into the site."""
    while _running:
        process = _running.pop()
        _, told = process.communicate()
        if process.returncode:
            raise ExtensionError(f"the sample pages were not written:\n{told}")


def write_samples(folder: Path) -> None:
    """Compare a few models of the penguins, and write what was found."""
    from posterior.comparison import Comparison  # noqa: PLC0415 -- not in Sphinx's own process
    from posterior.datasets import load_penguins  # noqa: PLC0415
    from posterior.report import write_report  # noqa: PLC0415
    from posterior.studio import studio  # noqa: PLC0415

    penguins = load_penguins()
    models = ["majority", "naive-bayes", "lda", "block", "logistic"]
    found = Comparison.of(penguins.X, penguins.y, models=models, repeats=1)
    report = folder / "sample-report.html"
    write_report(found, penguins.X, penguins.y, report, source="penguins", target="species")
    names = {"data": "penguins", "target": "species", "model": "penguins.posterior"}
    studio(penguins.X, penguins.y, folder / "sample-studio.html", names=names)


def setup(app: Sphinx) -> dict[str, Any]:
    """Begin before pages are read, and wait when they are."""
    app.connect("builder-inited", begin)
    app.connect("env-updated", await_samples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]))
