"""Measurements that need a process of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def ask(*arguments: str) -> Any:
    """What a new Python prints, read as JSON; its error, where it fails, is raised here."""
    command = [sys.executable, *arguments]
    done = subprocess.run(  # noqa: S603  (this very Python, with arguments of ours)
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])
