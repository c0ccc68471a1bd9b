"""How it was done: folds, seed, versions; and what each term means."""

import platform
from importlib.metadata import version

from posterior._version import __version__
from posterior.report.blocks import Definitions, PageBlock, Text
from posterior.report.glossary import TERMS
from posterior.report.subject import Subject

PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def method(subject: Subject) -> list[PageBlock]:
    """Enough to do it again."""
    comparison = subject.comparison
    found = [f"posterior {__version__}", f"Python {platform.python_version()}"]
    found += [f"{name} {version(name)}" for name in PACKAGES]
    return [
        Text(f"Validation: {comparison.folds}. Seed {comparison.seed}. {', '.join(found)}."),
    ]


def glossary(_: Subject) -> list[PageBlock]:
    """What the terms of the page mean."""
    return [Definitions([(term.key, term.word, term.meaning) for term in TERMS])]
