"""How the reference is written: names are found as Sphinx finds them, and templates are compiled once."""

from itertools import product
from types import SimpleNamespace

import pytest

from places import REPOSITORY, module_from


@pytest.fixture
def reference():
    pytest.importorskip("numpydoc", reason="the site has packages of its own")
    return module_from(REPOSITORY / "docs" / "_ext" / "reference.py")


def test_names_stand_for_what_sphinx_says_they_do(reference):
    from sphinx.domains.python import ObjectEntry, PythonDomain

    ours, theirs = (kind(SimpleNamespace(domaindata={})) for kind in (reference.IndexedDomain, PythonDomain))
    for name, kind in (("a.b", "module"), ("a.b.C", "class"), ("a.b.C.m", "method"), ("a.f", "function")):
        ours.objects[name] = theirs.objects[name] = ObjectEntry("page", name, kind, aliased=False)
    names = ("", "C", "C.m", "b.C", "a.b.C", "m()", "f", "a.b.f", "D", "a.b.D", ".C")
    for name, role, mode, place in product(names, ("class", "meth", None), (0, 1), ("", "a", "a.b")):
        asked = (None, place, "C", name, role, mode)
        assert ours.find_obj(*asked) == theirs.find_obj(*asked), asked


def test_a_template_is_compiled_once(reference):
    from jinja2 import DictLoader

    loader = DictLoader({"page": "{{ what }}"})
    first, second = (reference.CompiledOnce(loader=loader).get_template("page") for _ in range(2))
    assert first is second
    assert first.render(what="text") == "text"
