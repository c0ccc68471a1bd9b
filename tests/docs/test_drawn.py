"""Figures of pages of examples: what stands above a figure is run, but for what it can do without."""

import pytest

from places import REPOSITORY, module_from

PAGE = """
>>> ran = ["first"]
>>> slow = ran.append("slow")
>>> ran.append("second")
>>> 1 / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero

>>> ran.append("below")
"""


@pytest.fixture
def drawn(monkeypatch):
    pytest.importorskip("sphinx", reason="the site has packages of its own")
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs" / "_ext"))
    return module_from(REPOSITORY / "docs" / "_ext" / "drawn.py")


@pytest.mark.parametrize(
    ("without", "ran"), [((), ["first", "slow", "second"]), (["slow"], ["first", "second"])]
)
def test_examples_above_a_figure_are_run_but_for_names_it_does_without(drawn, tmp_path, without, ran):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    line = PAGE.splitlines().index('>>> ran.append("below")')
    assert drawn.run_up_to(page, line, "page", without)["ran"] == ran
    assert drawn.run_up_to(page, line + 1, "page")["ran"] == [*ran, "below"]
