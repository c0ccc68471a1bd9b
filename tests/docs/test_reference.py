"""The reference has every public name, each with an example, and the docstrings every fitted attribute."""

import inspect
import re
import types
import warnings

import pytest
from sklearn.datasets import load_iris

import posterior
from places import REPOSITORY, module_from
from posterior import estimators
from posterior.families import MultivariateNormal

PAGES = sorted((REPOSITORY / "docs" / "api").glob("*.md"))
# Rooms for those who extend the library: their pages list what a module exports, and its laws are tests.
INSIDE = {"dataset", "generative", "kernels", "schema", "stats"}
MODULES = [
    module
    for module in module_from(REPOSITORY / "scripts" / "public_names.py").public_modules()
    if module.__name__.rpartition(".")[2] not in INSIDE
]


def public(module):
    """The classes and functions that a module exports, by name."""
    values = {name: getattr(module, name) for name in module.__all__}
    return {
        name: value for name, value in values.items() if inspect.isclass(value) or inspect.isfunction(value)
    }


def listed():
    """Everything that the pages of the reference list: full names."""
    found = set()
    for page in PAGES:
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif module is not None and re.fullmatch(r"   \w+", line):
                found.add(f"{module}.{line.strip()}")
    return found


def value_of(name):
    module, _, last = name.rpartition(".")
    return getattr(types.SimpleNamespace(**{m.__name__: m for m in MODULES}).__dict__[module], last)


@pytest.fixture(scope="module")
def in_the_reference():
    return {id(value_of(name)) for name in listed()}


def test_the_reference_lists_names_that_exist():
    assert len(listed()) > 200
    for name in listed():
        value_of(name)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module, in_the_reference):
    lacking = [name for name, value in public(module).items() if id(value) not in in_the_reference]
    assert not lacking, f"docs/api has no line for {lacking} of {module.__name__}"


@pytest.mark.parametrize("room", sorted(INSIDE))
def test_every_room_inside_has_a_page(room):
    page = REPOSITORY / "docs" / "api" / f"inside-{room}.md"
    assert f".. automodule:: posterior.{room}" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_an_example(module):
    lacking = [name for name, value in public(module).items() if ">>>" not in (value.__doc__ or "")]
    assert not lacking, f"{lacking} of {module.__name__} show no use of themselves"


# -- attributes -----------------------------------------------------------------------------------


NAIVE = estimators.GaussianNB()
TOLD = {
    "GenerativeClassifier": {"features": [(slice(None), MultivariateNormal(tied="auto"))]},
    "LinearRegression": {"penalty": "l2"},  # "auto" is about the strength of one
    "DecisionClassifier": {"estimator": NAIVE},
    "CalibratedClassifier": {"estimator": NAIVE},
    "OutlierRule": {"estimator": NAIVE},
    "FusionClassifier": {"estimators": [("sepals", NAIVE, [0, 1]), ("petals", NAIVE, [2, 3])]},
    "PoolClassifier": {"estimators": [("naive", NAIVE), ("lda", estimators.LinearDiscriminantAnalysis())]},
}


def fitted(name):
    """An estimator fitted to the irises: as it comes, and with all choices left to the rows."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    kind = getattr(estimators, name)
    told = TOLD.get(name, {})
    left_open = re.findall(r'^(\w+) : [^\n]*"auto"', inspect.cleandoc(kind.__doc__), re.MULTILINE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", posterior.notices.PosteriorWarning)
        return [
            kind(**{**settings, **told}).fit((2 * X).astype(int) if name == "CategoricalNB" else X, y)
            for settings in ({}, dict.fromkeys(left_open, "auto"))
        ]


def attributes(model):
    """The names of what a fitted model has learnt: those that end in an underscore and have a value."""
    found = {name for name in {*dir(type(model)), *vars(model)} if re.fullmatch(r"[A-Za-z]\w*_", name)}
    return {name for name in found if has(model, name)}


def has(model, name):
    try:
        getattr(model, name)
    except (AttributeError, ValueError):
        return False
    return True


def documented(kind):
    """The names in the section of a class's docstring on its attributes."""
    _, _, section = inspect.cleandoc(kind.__doc__).partition("Attributes\n----------\n")
    section = re.split(r"\n\w+\n-{3,}\n", section)[0]
    return {name for line in re.findall(r"^([\w, ]+) :", section, re.MULTILINE) for name in line.split(", ")}


@pytest.mark.parametrize("name", estimators.__all__)
def test_the_fitted_attributes_are_those_that_are_documented(name):
    kind = getattr(estimators, name)
    there = set().union(*map(attributes, fitted(name)))
    assert not there - documented(kind), "the docstring has no line for these"
    assert not documented(kind) - there - set(dir(kind)), "the docstring has lines for what is not there"
