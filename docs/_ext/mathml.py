"""Formulas as MathML, converted while the site is built: reading them needs no script and no network."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

log = logging.getLogger(__name__)

# docutils takes the index of an accented letter for something below it: \hat{\mu}_k becomes \hat{\mu}{}_k.
_ACCENTED = re.compile(
    r"(\\(?:hat|bar|tilde|vec|dot|ddot|widehat|widetilde)\s*(?:\{[^{}]*\}|\\[A-Za-z]+|\w))(?=\s*[_^])"
)
# What docutils does not know, in words that it does.
_WORDS = {r"\dots": r"\ldots", r"\dfrac": r"\frac"}
_UNKNOWN = re.compile(r"\\(?:dots|dfrac)(?![A-Za-z])")


def converted(formula: str, place: Any, *, block: bool) -> str:
    """A formula of LaTeX as a `<math>` element; one that cannot be converted is a warning."""
    text = _UNKNOWN.sub(lambda found: _WORDS[found[0]], _ACCENTED.sub(r"\1{}", formula.strip()))
    try:
        return str(latex2mathml.tex2mathml(text, as_block=block))
    except MathError as error:
        log.warning("formula %r: %s", formula, error, location=place)
        return f"<code>{escape(formula)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """A formula within a line."""
    self.body.append(converted(node.astext(), node, block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, which scrolls where the page is narrow."""
    label = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="formula"{label}>{converted(node.astext(), node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it the way in which formulas are shown."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
