"""A report and a studio page of the penguins among the pages, written while the site is built."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from posterior.comparison import Comparison
from posterior.datasets import load_penguins
from posterior.report import write_report
from posterior.studio import studio


def write_samples(app: Sphinx) -> None:
    """Compare a few models of the penguins, and write what was found where the site takes files from."""
    penguins = load_penguins()
    models = ["majority", "naive-bayes", "lda", "block", "logistic"]
    found = Comparison.of(penguins.X, penguins.y, models=models, repeats=1)
    folder = Path(app.srcdir) / "_build" / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    write_report(
        found, penguins.X, penguins.y, folder / "sample-report.html", source="penguins", target="species"
    )
    names = {"data": "penguins", "target": "species", "model": "penguins.posterior"}
    studio(penguins.X, penguins.y, folder / "sample-studio.html", names=names)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write them before pages are read."""
    app.connect("builder-inited", write_samples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
