"""A PostgreSQL server of the tests' own: in a temporary folder, on a unix socket, without a port."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

GUARD = Path(__file__).with_name("guarded.py")
PATIENCE = 60  # seconds
# Nothing here outlives the run: neither crash nor power cut need be survived.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_connections": "20",
}


@dataclass(frozen=True)
class PostgresServer:
    """A running server; its only user is `postgres`, who needs no password."""

    folder: Path
    pid: int

    @property
    def uri(self) -> str:
        """Where it is, as libpq, ADBC and psycopg read it."""
        return f"postgresql:///postgres?host={self.folder}&user=postgres"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for this process: to start one takes less time than to share one between xdist's workers."""
    programs = installed()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: no initdb on the PATH or in /usr/lib/postgresql")
    # Not tmp_path_factory: the path of a socket has at most 107 bytes.
    folder, user = Path(tempfile.mkdtemp(prefix="posterior-pg-")), unprivileged()
    try:
        if user:
            shutil.chown(folder, user)
        initialize(programs, folder / "data", user)
    except BaseException:
        shutil.rmtree(folder)
        raise
    options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    server = [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder), *options]
    with tempfile.TemporaryFile() as log:  # not in the folder: the guard removes that when the server fails
        guard = subprocess.Popen(  # noqa: S603 -- programs found above, and our own words
            [sys.executable, str(GUARD), str(folder), user, *server],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C ends the tests, and they end the server
        )
        try:
            yield PostgresServer(folder, ready(folder / "data" / "postmaster.pid", guard, log))
        finally:
            guard.communicate(timeout=PATIENCE)


def installed() -> Path | None:
    """The folder of initdb and postgres: where the PATH leads to, or the newest that Debian has."""
    on_path = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = [Path(on_path).resolve()] if on_path else debian[::-1]
    return next((path.parent for path in found if (path.parent / "postgres").exists()), None)


def unprivileged() -> str:
    """Who runs the server, which refuses root; "" for oneself."""
    if os.geteuid() != 0:
        return ""
    names = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def initialize(programs: Path, data: Path, user: str) -> None:
    """Make an empty database."""
    command = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync"]
    made = subprocess.run(  # noqa: S603 -- found by us
        [*command, "--locale=C", "--encoding=UTF8"],
        cwd=data.parent,
        user=user or None,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr


def ready(status: Path, guard: "subprocess.Popen[bytes]", log: IO[bytes]) -> int:
    """Wait until connections are accepted; the server's process id."""
    for _ in range(PATIENCE * 20):
        # Line 1 is the process, line 8 its state: what pg_ctl waits for.
        lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
        if len(lines) >= 8 and lines[7].strip() == "ready":
            return int(lines[0])
        if guard.poll() is not None:
            break
        time.sleep(0.05)
    log.seek(0)
    pytest.fail(f"PostgreSQL did not start: {log.read().decode(errors='replace')}")
