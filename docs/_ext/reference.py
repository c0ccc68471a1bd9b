"""Signatures as the source has them, docstrings as plain text, and no members that are somebody else's.

Autodoc shows what a type alias stands for, which for a table is a union of nine types. Readers of the
reference want the name that the source has, which `api/types` explains. Docstrings are read in a terminal
too: |x| is an absolute value there and `classes_` an attribute, and both are no markup.
"""

import ast
import dataclasses
import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, ClassVar

from jinja2 import Template
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry, PythonDomain
from sphinx.environment import BuildEnvironment

# Names that scikit-learn gives to every estimator; its own reference explains them.
SOMEBODY_ELSES = ("sklearn.", "numpy.", "builtins", "abc", "typing")


# What is in backquotes stays as it is; a bar, a star, and an underscore at the end of a word are letters.
_MARKUP = re.compile(r"(`[^`]*`)|([|*]|(?<=\w)_(?!\w))")
_TABLE = re.compile(r"\s*=+( +=+)+\s*$")


class _Plain(ast.NodeTransformer):
    """`Annotated[Floats, "K d"]` as `Floats`: shapes are for model files."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == "Annotated"
            and isinstance(node.slice, ast.Tuple)
        ):
            return self.visit(node.slice.elts[0])
        return self.generic_visit(node)


@functools.cache
def _source(thing: Any) -> str:
    """Its source, which takes long to find; that of a base's members is asked for again and again."""
    return textwrap.dedent(inspect.getsource(thing))


def _definition(thing: Any) -> Any:
    """The parsed definition of a class or function."""
    return ast.parse(_source(thing)).body[0]


def _written(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(_Plain().visit(node))


def _of_function(function: Callable[..., Any], *, bound: bool, told: bool) -> tuple[str, str]:
    """Parameters and what is returned, as the source has them; without types where a docstring tells them."""
    definition = _definition(inspect.unwrap(function))
    given = definition.args
    positional = given.posonlyargs + given.args
    if bound and positional:
        (given.posonlyargs or given.args).pop(0)
    if told:
        for argument in [*positional, *given.kwonlyargs, given.vararg, given.kwarg]:
            if argument is not None:
                argument.annotation = None
    return f"({ast.unparse(_Plain().visit(given))})", _written(definition.returns)


def _of_dataclass(kind: type) -> str:
    """The fields of a dataclass with their defaults, as the source has them."""
    annotations: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__):
        if dataclasses.is_dataclass(ancestor):
            for line in _definition(ancestor).body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    annotations[line.target.id] = _written(line.annotation)
    shown = []
    for name, parameter in inspect.signature(kind).parameters.items():
        default = "" if parameter.default is parameter.empty else " = ..."
        if default and isinstance(parameter.default, bool | int | float | str | None | tuple):
            default = f" = {parameter.default!r}"
        shown.append(f"{name}: {annotations.get(name, 'Any')}{default}")
    return f"({', '.join(shown)})"


def as_written(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """The signature of the source in place of that of autodoc, where there is a source."""
    told = "\nParameters\n" in inspect.cleandoc(thing.__doc__ or "")
    try:
        if what == "class":
            constructor = thing.__init__  # its own or an inherited one
            if inspect.isfunction(constructor) and not dataclasses.is_dataclass(thing):
                return _of_function(constructor, bound=True, told=told)[0], None
            return (_of_dataclass(thing), None) if dataclasses.is_dataclass(thing) else None
        if what in {"function", "method"} and callable(thing):
            plain = getattr(thing, "__func__", thing)
            static = what == "method" and "@staticmethod" in _source(plain)
            return _of_function(plain, bound=what == "method" and not static, told=told)
    except (OSError, TypeError, SyntaxError, AttributeError, IndexError):
        return None
    return None


def is_somebody_elses(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn, NumPy or Python defines, and what has no docstring."""
    plain = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    module = getattr(plain, "__module__", None) or ""
    if module.startswith(SOMEBODY_ELSES) or not getattr(plain, "__doc__", None):
        return True
    return None


def plain_text(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Take bars, stars and underscores of a docstring for what they are, and give examples their heading."""
    first = next((k for k, line in enumerate(lines) if line.strip().startswith(">>>")), 0)
    if "Parameters" in lines and "Examples" not in lines and first:
        lines[first:first] = ["Examples", "--------"]
    example = False
    for k, line in enumerate(lines):
        example = line.strip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not _TABLE.match(line):
            lines[k] = _MARKUP.sub(lambda found: found[1] or "\\" + found[2], line)


class CompiledOnce(SandboxedEnvironment):
    """numpydoc makes an environment for each docstring; its templates are compiled in the first alone."""

    _compiled: ClassVar[dict[str, Template]] = {}

    def get_template(self, name: Any, parent: Any = None, globals: Any = None) -> Template:  # noqa: A002 -- Jinja's name
        """The template of that name."""
        if name not in self._compiled:
            self._compiled[name] = super().get_template(name, parent, globals)
        return self._compiled[name]


class IndexedDomain(PythonDomain):
    """Python's names: one that nothing here is called by, as most types, is not compared with all of them."""

    _last_parts: tuple[int, set[str]] = (0, set())

    def find_obj(
        self,
        env: BuildEnvironment,
        modname: str,
        classname: str,
        name: str,
        type: str | None,  # noqa: A002 -- Sphinx's name for it
        searchmode: int = 0,
    ) -> list[tuple[str, ObjectEntry]]:
        """What a name may stand for; whatever that is called ends with the last part of the name."""
        if self._last_parts[0] != len(self.objects):
            self._last_parts = len(self.objects), {known.rpartition(".")[2] for known in self.objects}
        if name.removesuffix("()").rpartition(".")[2] not in self._last_parts[1]:
            return []
        return super().find_obj(env, modname, classname, name, type, searchmode)


def setup(app: Sphinx) -> dict[str, Any]:
    """Take part in what autodoc does."""
    app.setup_extension("sphinx.ext.autodoc")
    docscrape_sphinx.SandboxedEnvironment = CompiledOnce
    app.add_domain(IndexedDomain, override=True)
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-process-docstring", plain_text, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", is_somebody_elses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
