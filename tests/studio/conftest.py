"""One browser for the tests of a module."""

from collections.abc import Iterator

import pytest

from chromium import Chromium, installed


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = installed()
    if program is None:
        pytest.skip("needs Chromium, as in Debian's package `chromium`, and none is on the path")
    found = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()
