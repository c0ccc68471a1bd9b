"""Each line of docs/everyday-files.md: the file is written, and read and told of as the line says."""

import json
import shlex
import warnings

import numpy as np
import pytest

from commands import ran
from everyday_files import FILES, PAGE, EverydayFile, filled
from posterior import files
from posterior.notices import DataWarning
from posterior.schema import LabelledTable
from posterior.schema.cells import Numbers

NEEDS = {".xlsx": ("xlsxwriter", "python_calamine"), ".duckdb": ("duckdb",), ".db": ("sqlite3",)}
WORDS = {"continuous": "numbers", "categorical": "categories", "binary": "true/false", "text": "texts"}
every = pytest.mark.parametrize("file", FILES, ids=lambda file: file.kind)


def test_there_are_forty_kinds_and_the_page_shows_them_as_they_are_tested():
    assert len({file.kind for file in FILES}) == len(FILES) >= 40
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run `python tests/support/everyday_files.py`"


def made(file: EverydayFile, folder, monkeypatch):
    for module in NEEDS.get("." + file.name.rpartition(".")[2], ()):
        pytest.importorskip(module, reason="the format is an extra")
    monkeypatch.chdir(folder)
    file.write(folder / file.name)


@every
def test_what_is_said_of_a_file_and_the_option_that_changes_it(file, tmp_path, monkeypatch, capsysbinary):
    made(file, tmp_path, monkeypatch)
    found = ran(capsysbinary, *file.arguments())
    assert (found.code != 0) == file.refused, found.notes
    assert "Warning" not in found.all
    assert file.says in found.all or file.says in told_to_a_script(capsysbinary, file)
    if file.options:
        changed = ran(capsysbinary, *file.arguments(shlex.split(file.options.replace(" ?", " '?'"))))
        assert file.then in changed.all
        assert changed.all != found.all or file.options.startswith("--encoding")


def told_to_a_script(capsysbinary, file):
    """Where a table on the screen breaks its lines, the same in one."""
    return " ".join(
        c["why"] for c in json.loads(ran(capsysbinary, *file.arguments(), "--json").out)["columns"]
    )


@every
def test_a_file_is_read_as_it_says(file, tmp_path, monkeypatch):
    if file.refused or file.target:
        return
    made(file, tmp_path, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        table = LabelledTable.unlabelled(files.read(file.name))
        source = table.schema.read(table.source)
    assert file.read_as, "a line says what it is read as"
    assert file.read_as.keys() <= set(table.schema.names)
    assert {name: cells(table, source, name) for name in file.read_as} == file.read_as


def cells(table, source, name):
    """The kind of a column, and its first three cells."""
    j = table.schema.names.index(name)
    column = source.column(j)
    if isinstance(column, Numbers) and table.schema.columns[j].kind == "continuous":
        first = ["a gap" if np.isnan(value) else f"{value:.10g}" for value in column.floats()[:3]]
    else:
        first = ["a gap" if value is None else repr(value) for value in column.labels().objects()[:3]]
    return f"{WORDS[table.schema.columns[j].kind]} {', '.join(first)}"
