"""A page where costs, priors and thresholds of a model can be moved before anyone acts.

The room is called like what it makes: `posterior.studio(X, y, "studio.html")` is the function `studio`.
"""

import sys
from types import ModuleType
from typing import Any

from posterior.studio.content import Subject
from posterior.studio.making import studio, subject_of
from posterior.studio.page import live_files, page_of

__all__ = ["Subject", "live_files", "page_of", "studio", "subject_of"]


class _Room(ModuleType):
    """A module that can be called: importing it puts it in the place of the function of its name."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return studio(*given, **named)


sys.modules[__name__].__class__ = _Room
