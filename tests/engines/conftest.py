"""Libraries of arrays that live on a device, here on the processor: those that are installed."""

from importlib import import_module
from importlib.util import find_spec

import pytest

LIBRARIES = [name for name in ("array_api_strict", "torch") if find_spec(name)]


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """The functions of a library of arrays that is not NumPy."""
    return import_module(request.param)
