"""Every `posterior …` command that the pages show runs, and prints what they show."""

import contextlib
import doctest
import io
import re
import shlex
import shutil

import pytest

from places import DATA, REPOSITORY

pytest.importorskip("typer", reason="the command line is an extra")

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
# A table that the pages read and the repository has not.
NOT_BUNDLED = "house_votes_84.csv"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def commands(page):
    """The commands of a page that are ours, each with the lines that it prints there."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        command = None
        for line in block.splitlines():
            if line.startswith("$ "):
                command = line[2:].split("   #")[0].strip()
                found.append((command, []))
            elif command is not None:
                found[-1][1].append(line)
    return [(command, lines) for command, lines in found if command.startswith("posterior ")]


WITH_COMMANDS = [page for page in PAGES if commands(page)]


def test_there_are_pages_with_commands():
    assert {page.name for page in WITH_COMMANDS} >= {"README.md", "quick-start.md"}


@pytest.mark.long
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    from posterior.cli.app import run

    monkeypatch.chdir(tmp_path)
    for command, expected in commands(page):
        arguments = shlex.split(command)[1:]
        if NOT_BUNDLED in arguments:
            if not (DATA / NOT_BUNDLED).exists():
                continue
            shutil.copy(DATA / NOT_BUNDLED, tmp_path)
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        shown = "\n".join(expected)
        assert code == (2 if shown.startswith("posterior: ") else 0), (command, err.getvalue())
        out.seek(0)
        found = err.getvalue() if code else out.read()
        checker = doctest.OutputChecker()
        if shown.strip():
            assert checker.check_output(shown + "\n", found, LOOSE), f"{command}\n{found}"
