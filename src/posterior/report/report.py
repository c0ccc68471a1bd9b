"""The page: sections put together, and written in one piece or not at all."""

import base64
import hashlib
import warnings
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from posterior._loading import load_module
from posterior._types import Progress
from posterior._version import __version__
from posterior.comparison import Comparison
from posterior.files import writing
from posterior.notices import PosteriorWarning
from posterior.plot.style import pyplot
from posterior.report.banner import banner, target, tiles
from posterior.report.blocks import PageBlock, PageSection, Text
from posterior.report.glossary import FirstUses
from posterior.report.sections import SECTIONS, Part
from posterior.report.subject import Subject
from posterior.report.words import cut, printable


def write_report(  # noqa: PLR0913 -- what the page is about, where it goes, and what it is called
    comparison: Comparison,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    title: str | None = None,
    source: str = "",
    target: str = "",
    options: Sequence[str] = (),
    progress: Progress | None = None,
) -> Path:
    """Write what a comparison found as one HTML file, which needs nothing else to be looked at.

    `X` and `y` are the table and the classes that were compared. `source` and `target` are how the data and
    the class column are called on the command line, `options` those with which the data were read: the page
    has commands to go on with. The file appears when it is complete; an older one stays until then.

    >>> import tempfile
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> comparison = Comparison.of(penguins.X, penguins.y, models=["majority", "lda"], repeats=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(comparison, penguins.X, penguins.y, f"{folder}/report.html", target="species")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    page = render(
        comparison, X, y, title=title, source=source, target=target, options=options, progress=progress
    )
    with writing(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def render(  # noqa: PLR0913 -- those of write_report
    comparison: Comparison,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    source: str = "",
    target: str = "",
    options: Sequence[str] = (),
    progress: Progress | None = None,
) -> str:
    """The page of `write_report` as a string, the same for the same comparison and table.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render(Comparison.of(X, y, models=["majority", "lda"], repeats=1), X, y, title="Irises")
    >>> "<h1><bdi>Irises</bdi></h1>" in page, page.count("<script>")
    (True, 1)
    """
    pyplot()  # or the error that says how to get it, before any work is done
    template = _environment().get_template("report.html.j2")
    subject = Subject.of(comparison, X, y, source=source, target=target, options=tuple(options))
    sections = []
    for done, part in enumerate(SECTIONS):
        if progress is not None:
            progress(done, len(SECTIONS), part.title)
        sections += _built(part, subject)
    if progress is not None:
        progress(len(SECTIONS), len(SECTIONS), "report")
    page: str = template.render(
        title=title or _title(subject),
        caution=comparison.caution,
        banner=banner(subject),
        recommendation=comparison.verdict,
        tiles=tiles(subject),
        sections=sections,
        version=__version__,
    )
    return page


def _built(part: Part, subject: Subject) -> list[PageSection]:
    """A section, unless it has nothing to say; what the library refuses is said in its place."""
    blocks: Sequence[PageBlock]
    with warnings.catch_warnings():
        for told in (PosteriorWarning, ConvergenceWarning):  # of fits that were made, and told of, before
            warnings.simplefilter("ignore", told)
        try:
            blocks = part.build(subject)
        except ValueError as error:
            blocks = [Text(f"Left out: {error}", aside=True)]
    return [PageSection(part.key, part.title, blocks)] if blocks else []


def _title(subject: Subject) -> str:
    return f"Predicting {target(subject)}" + (
        f" from {cut(printable(subject.source), 80)}" if subject.source else ""
    )


def _environment() -> Any:
    try:
        jinja2 = load_module("jinja2")
    except ImportError as error:
        raise ImportError(
            "a report needs jinja2, which is not installed; run `pip install 'posterior[report]'`"
        ) from error
    from markupsafe import Markup, escape  # noqa: PLC0415 -- comes with jinja2

    def clean(value: Any) -> Any:
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("posterior.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cut"] = cut
    environment.filters["explained"] = FirstUses(Markup, escape)
    style, script = (_template(name) for name in ("style.css", "script.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    environment.globals |= {
        "style": Markup(style),  # noqa: S704 -- our own
        "script": Markup(script),  # noqa: S704 -- our own
        "script_source": Markup(f"'sha256-{digest}'"),  # noqa: S704 -- letters, digits and + / =
    }
    return environment


def _template(name: str) -> str:
    return files("posterior.report").joinpath("templates", name).read_text(encoding="utf-8")
