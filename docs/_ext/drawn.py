"""Figures of pages whose examples are `>>>` blocks, drawn by running these while the site is built.

    ```{drawn} name
    What it shows.
    ```

runs the examples of the page that stand above, and shows the Display or the figure of that name. The tests of
the pages hold the examples to their outputs; here only what they draw is wanted. The name may also be a
program of the folder `examples`, whose `draw()` returns a figure.

What takes long and is not drawn need not be run: `:without: frame, best` passes over those examples, below
the last figure and above this one, that have one of these names.
"""

import ast
import contextlib
import doctest
import io
import runpy
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

import figures
import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from posterior.plot import style

# By page: the names that its examples have made so far, and how many lines of it were run.
_pages: dict[str, tuple[dict[str, Any], int]] = {}


def run_up_to(path: Path, line: int, docname: str, without: Collection[str] = ()) -> dict[str, Any]:
    """What the examples of a page above a line have made, but for those that have one of some names."""
    names, done = _pages.get(docname, ({}, 0))
    if done > line:
        names, done = {}, 0
    examples = doctest.DocTestParser().get_examples(path.read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for example in examples:
            # Those that show an error draw nothing.
            shows = example.exc_msg is None and "plt.close" not in example.source
            shows = shows and not names_in(example.source) & set(without)
            if done <= example.lineno < line and shows:
                exec(compile(example.source, str(path), "single"), names)  # noqa: S102 -- our own page
    _pages[docname] = names, line
    return names


def names_in(source: str) -> set[str]:
    """The variables of an example."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


class Drawn(SphinxDirective):
    """Show what an example above has drawn."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"without": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """The figure, with what the text says of it for those who do not see it."""
        figures.use_our_sizes()
        mpl.rcParams.update(style._SETTINGS)  # as on pages of cells
        path = Path(self.env.doc2path(self.env.docname))
        name = self.arguments[0]
        if name.endswith(".py"):
            program = path.parents[1] / "examples" / name
            self.env.note_dependency(program)
            made = runpy.run_path(str(program))["draw"]()
        else:
            without = [each.strip() for each in self.options.get("without", "").split(",")]
            made = run_up_to(path, self.lineno, self.env.docname, without)[name]
        figure = getattr(made, "figure_", made)
        shown = figures.element(figure, " ".join(self.content), prefix=f"{path.stem}-")
        return [nodes.raw("", shown, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
