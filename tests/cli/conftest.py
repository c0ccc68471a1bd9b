"""What tests of commands share."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
