"""A report and a studio page of the penguins among the pages, written while the site is built.

A process of its own writes them, beside those that read the pages: a copy of Sphinx's own, which has imported
what they need.
"""

import multiprocessing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from posterior.comparison import Comparison
from posterior.datasets import load_penguins
from posterior.report import write_report
from posterior.studio import studio

_running: list[BaseProcess] = []


def begin(app: Sphinx) -> None:
    """Start to write them where the site takes files from."""
    folder = Path(app.srcdir) / "_build" / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    process = multiprocessing.get_context("fork").Process(target=write_samples, args=(folder,))
    process.start()
    _running.append(process)


def await_samples(app: Sphinx, env: BuildEnvironment) -> None:
    """They are there before files are copied into the site."""
    while _running:
        process = _running.pop()
        process.join()
        if process.exitcode:
            raise ExtensionError("the sample pages were not written: what is told above has the reason")


def write_samples(folder: Path) -> None:
    """Compare a few models of the penguins, and write what was found."""
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
