"""Workbooks and databases with changed bytes are read, or refused in one line; the process lives on."""

import io
import json
import os
import random
import sqlite3
import warnings
import zipfile

import duckdb
import pytest
import xlsxwriter

from posterior.files import FileError, read

pytestmark = pytest.mark.long

FILES = int(os.environ.get("POSTERIOR_DAMAGED_FILES", "400"))
SEED = int(os.environ.get("POSTERIOR_DAMAGED_SEED", "0"))
ROWS = [(i, f"city {i % 5}", i / 7) for i in range(60)]


def workbook(path):
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate([("n", "city", "share"), *ROWS]):
            sheet.write_row(i, 0, row)


def lite(path):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE t (n, city, share)")
        file.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    file.close()


def duck(path):
    with duckdb.connect(str(path)) as file:
        file.execute("CREATE TABLE t (n INTEGER, city VARCHAR, share DOUBLE)")
        file.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)


def lines(path):
    path.write_text(json.dumps({"rows": [dict(zip("abc", row, strict=True)) for row in ROWS]}, indent=1))


MAKERS = {"t.xlsx": workbook, "t.db": lite, "t.duckdb": duck, "t.json": lines}


def changed(content, rng, letters=None):
    content = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        content[rng.randrange(len(content))] = rng.choice(letters) if letters else rng.randrange(256)
    return bytes(content[: rng.randrange(len(content))] if rng.random() < 0.1 else content)


def changed_inside(content, rng):
    """A workbook of which one document has other letters."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w") as written:
        names = archive.namelist()
        chosen = rng.choice([name for name in names if name.startswith("xl/") and name.endswith(".xml")])
        for name in names:
            part = archive.read(name)
            written.writestr(name, changed(part, rng, b'<>"0129AZs/=& ') if name == chosen else part)
    return out.getvalue()


@pytest.mark.parametrize("name", MAKERS)
def test_a_damaged_source_is_read_or_refused(tmp_path, name):
    MAKERS[name](tmp_path / name)
    good = (tmp_path / name).read_bytes()
    for i in range(FILES):
        rng = random.Random(f"{SEED} {name} {i}")  # noqa: S311
        inside = name == "t.xlsx" and i % 2
        (tmp_path / name).write_bytes(changed_inside(good, rng) if inside else changed(good, rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(tmp_path / name)
        except FileError as error:
            if len(str(error).splitlines()) != 1:
                pytest.fail(f"seed {SEED}, file {i} of {name}: {error!r}")
        except Exception as error:
            pytest.fail(f"seed {SEED}, file {i} of {name}: {error!r}")
        assert os.listdir(tmp_path) == [name], f"seed {SEED}, file {i}"
