"""The PostgreSQL server that other tests use: it keeps what it is given, and goes when the tests go."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from places import REPOSITORY

pa = pytest.importorskip("pyarrow")
dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")

# A run of pytest whose only test shows where the server is, and is then killed from outside.
ENDLESS = """
import time
def test_it(postgres, capfd):
    with capfd.disabled():
        print(postgres.pid, postgres.folder, flush=True)
    time.sleep(600)
"""


def test_a_table_comes_back_from_the_server_as_it_went_in(postgres):
    table = pa.table({"x": [1.5, None, -3.0], 'a.b "quoted"': ["one", "zwei", None], "n": [1, 2, 3]})
    with dbapi.connect(postgres.uri) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE made (k INTEGER)")
        cursor.execute("INSERT INTO made SELECT * FROM generate_series(1, 10)")
        cursor.adbc_ingest("rows_in", table, mode="create", temporary=True)
        cursor.execute("SELECT * FROM rows_in ORDER BY n")
        assert cursor.fetch_arrow_table().cast(table.schema).equals(table)
        cursor.execute("SELECT sum(k) FROM made")
        assert cursor.fetchone() == (55,)


def test_the_server_listens_on_its_socket_alone(postgres):
    with dbapi.connect(postgres.uri) as connection, connection.cursor() as cursor:
        # Not SHOW: ADBC reads results by COPY, which takes queries only.
        names = "current_setting('listen_addresses'), current_setting('unix_socket_directories')"
        cursor.execute(f"SELECT {names}")
        assert cursor.fetchone() == ("", str(postgres.folder))


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_the_server_and_its_folder_go_when_the_tests_are_ended(sign, tmp_path):
    (tmp_path / "test_endless.py").write_text(ENDLESS, encoding="utf-8")
    support = str(REPOSITORY / "tests" / "support")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "postgres", "-p", "no:cacheprovider", "test_endless.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": support},
        stdout=subprocess.PIPE,
        text=True,
    )
    with run:
        words = next(words for line in run.stdout if len(words := line.split()) == 2 and words[0].isdigit())
        pid, folder = int(words[0]), Path(words[1])
        assert folder.is_dir()
        assert runs(pid)
        run.send_signal(sign)
    assert soon(lambda: not folder.exists())
    assert soon(lambda: not runs(pid))


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def soon(condition):
    """Whether it holds within a minute; usually at once."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False
