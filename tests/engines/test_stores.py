"""Files in object stores and other file systems: the model of the same rows on disk, or one clear line."""

import io
import os
import pickle
import re
import subprocess
import sys
import traceback

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, feather

from commands import ran
from posterior import LDA, LogisticRegression, NaiveBayes, scan

N = 600


def rows_of(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    return pa.table(
        {"x": rng.normal(size=N) + y, "a.b": rng.gamma(2.0, 1.0 + y), "late": np.where(y, "yes", "no")}
    )


def as_bytes(table, kind):
    out = io.BytesIO()
    write = {"parquet": pq.write_table, "csv": csv.write_csv, "feather": feather.write_feather}[kind]
    write(table, out)
    return out.getvalue()


KINDS = ("parquet", "csv", "feather")
TABLES = [rows_of(seed) for seed in range(3)]
ALL = pa.concat_tables(TABLES)


@pytest.fixture(scope="module")
def bucket(s3):
    s3.buckets["flights"] = {
        **{f"{kind}/part {i}.{kind}": as_bytes(TABLES[i], kind) for kind in KINDS for i in range(3)},
        **{f"by/month={i}/rows.parquet": as_bytes(TABLES[i], "parquet") for i in range(3)},
        "parquet/_hidden.parquet": b"not read",
        "parquet/notes.txt": b"not read",
        "broken/rows.parquet": b"PAR1 and nothing else",
        "other/rows.parquet": as_bytes(TABLES[0].rename_columns(["z", "a.b", "late"]), "parquet"),
    }
    return s3


@pytest.fixture
def environment(bucket, monkeypatch):
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)


def expected(estimator):
    return estimator.fit(ALL.select(["x", "a.b"]), ALL["late"].to_numpy(zero_copy_only=False))


def same(found, estimator):
    X = ALL.select(["x", "a.b"])
    wanted = expected(estimator).predict_log_proba(X)
    np.testing.assert_allclose(found.predict_log_proba(X), wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "named",
    ["parquet/part *.parquet", "parquet", "parquet/", "csv/*.csv", "f*/part ?.feather", "**/part*.parquet"],
)
def test_files_of_a_bucket_give_the_model_of_the_same_rows(named, environment):
    same(LDA().fit(scan(f"s3://flights/{named}", "late")), LDA())


def test_the_settings_of_a_store_may_stand_in_the_address(bucket, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, bucket.environment[name])
    where = f"?endpoint_override={bucket.address}&scheme=http&region=us-east-1"
    same(LDA().fit(scan(f"s3://flights/parquet/part*.parquet{where}", "late")), LDA())


def test_a_file_system_may_be_given(bucket):
    files = bucket.filesystem()
    same(LDA().fit(scan("flights/parquet/part*.parquet", "late", filesystem=files)), LDA())
    same(LDA().fit(scan("s3://flights/parquet/p*.parquet", "late", filesystem=files)), LDA())
    listed = [f"flights/parquet/part {i}.parquet" for i in range(3)]
    rows = scan(listed, "late", filesystem=files)
    same(LogisticRegression(tol=1e-12).fit(rows), LogisticRegression(tol=1e-12))
    assert rows.engine.counted_rows == 3 * N


def test_the_folders_of_a_bucket_are_columns(environment):
    rows = scan("s3://flights/by", "late")
    assert rows.engine.schema.names == ["x", "a.b", "late", "month"]
    model = NaiveBayes().fit(rows)
    assert model.feature_names_in_.tolist() == ["x", "a.b", "month"]


def test_workers_of_a_cluster_read_a_bucket(bucket, dask_cluster):
    rows = scan("flights/parquet", "late", filesystem=bucket.filesystem(), engine=dask_cluster)
    here = scan("flights/parquet", "late", filesystem=bucket.filesystem())
    assert (LDA().fit(rows).coef_ == LDA().fit(here).coef_).all()


def test_a_fragment_can_be_sent_away(bucket):
    fragment = scan("s3://flights/parquet", "late", filesystem=bucket.filesystem()).engine.fragments[0]
    there = pickle.loads(pickle.dumps(fragment))
    assert next(there.batches(["x"])).num_rows == N


def test_fsspec_reads_what_arrow_does_not_know(tmp_path):
    memory = fsspec.filesystem("memory")
    for i, table in enumerate(TABLES):
        with memory.open(f"/flights/part-{i}.parquet", "wb") as file:
            file.write(as_bytes(table, "parquet"))
    try:
        same(LDA().fit(scan("memory://flights/*.parquet", "late")), LDA())
        same(LDA().fit(scan("flights/*.parquet", "late", filesystem=memory)), LDA())
    finally:
        memory.rm("/flights", recursive=True)


def test_file_addresses_are_paths(tmp_path):
    (tmp_path / "a b").mkdir()
    for i, table in enumerate(TABLES):
        pq.write_table(table, tmp_path / "a b" / f"part-{i}.parquet")
    same(LDA().fit(scan(f"file://{tmp_path}/a%20b/*.parquet", "late")), LDA())


def test_scores_of_a_bucket_are_written_here(environment, tmp_path):
    rows = scan("s3://flights/parquet", "late")
    model = LDA().fit(rows)
    out = tmp_path / "scores.parquet"
    model.predict(rows, out=out)
    assert pq.read_table(out).num_rows == 3 * N
    assert model.score(rows) == pytest.approx(
        model.score(ALL.select(["x", "a.b"]), ALL["late"].to_numpy(zero_copy_only=False))
    )
    with pytest.raises(ValueError, match=r"out='s3://flights/scores.parquet': scores are written to a file"):
        model.predict(rows, out="s3://flights/scores.parquet")


def test_a_fit_of_a_bucket_resumes(bucket, environment, tmp_path):
    kept = tmp_path / "sums"
    same(LDA().fit(scan("s3://flights/parquet", "late", resume=kept)), LDA())
    assert not kept.exists()


MISTAKES = {
    "no such file": ("s3://flights/none/*.parquet", "no file matches s3://flights/none/*.parquet; give"),
    "no such folder": ("s3://flights/none", "no file matches s3://flights/none; give"),
    "no such bucket": ("s3://nowhere/*.parquet", "s3://nowhere"),
    "no files to scan": ("s3://flights/parquet/*.txt", "must be one of .parquet"),
    "a broken file": ("s3://flights/broken/*.parquet", "flights/broken/rows.parquet cannot be read"),
    "other columns": (["s3://flights/parquet", "s3://flights/other"], "column 'x' is missing"),
    "two places": (["s3://flights/parquet", "here.parquet"], "some are in a store and some are not"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_one_line(mistake, environment):
    source, told = MISTAKES[mistake]
    with pytest.raises((OSError, ValueError), match=re.escape(told)) as error:
        LDA().fit(scan(source, "late"))
    assert "\n" not in str(error.value)


def test_wrong_credentials_are_told_with_what_to_set(bucket):
    with pytest.raises(OSError, match=r"(?i)s3://flights.*access.denied.*AWS_ACCESS_KEY_ID") as error:
        scan("s3://flights/parquet", "late", filesystem=bucket.filesystem(key="somebody"))
    assert "\n" not in str(error.value)


def test_credentials_in_an_address_are_used_and_not_shown(bucket):
    key, secret = (bucket.environment[f"AWS_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
    where = f"?endpoint_override={bucket.address}&scheme=http&region=us-east-1"
    rows = scan(f"s3://{key}:{secret}@flights/parquet{where}", "late")
    same(LDA().fit(rows), LDA())
    assert f"s3://{key}:***@flights" in rows.engine.name


@pytest.mark.parametrize(
    "address",
    ["s3://me:tiger@b/x?no_such=1", "s3://me:ti/tiger@b", "s3://b/x?secret_key=tiger&no_such=1"],
)
def test_no_message_repeats_the_secrets_of_an_address(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises((OSError, ImportError)) as error:
        scan(address, "late")
    assert "tiger" not in "".join(traceback.format_exception(error.value))
    with pytest.raises(ValueError, match="some are in a store") as error:
        scan([address, "here.parquet"], "late")
    assert "tiger" not in "".join(traceback.format_exception(error.value))


def test_what_is_no_file_system_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"filesystem must be one of pyarrow.fs or of fsspec, found str"):
        scan("data/*.parquet", "late", filesystem="s3")
    with pytest.raises(ValueError, match="filesystem= is for files, found Table"):
        scan(ALL, "late", filesystem=fsspec.filesystem("memory"))


def test_the_command_line_reads_a_bucket(bucket, tmp_path):
    model, scores = tmp_path / "late.posterior", tmp_path / "scores.parquet"
    fit = ["fit", "s3://flights/parquet/p*.parquet", "--target", "late", "--model", "lda", "-o", str(model)]
    predict = ["predict", str(model), "s3://flights/parquet", "-o", str(scores)]
    for words in (fit, predict):
        # A process of its own: what a command needs is imported by the command.
        done = subprocess.run(  # noqa: S603 -- our own words
            [sys.executable, "-m", "posterior", *words],
            env=os.environ | bucket.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert pq.read_table(scores).num_rows == 3 * N


def test_the_command_line_tells_in_one_line_what_a_store_refuses(environment, tmp_path, capsysbinary):
    model = str(tmp_path / "late.posterior")
    found = ran(capsysbinary, "fit", "s3://nowhere/*.parquet", "--target", "late", "-o", model)
    assert found.code == 2
    assert "Traceback" not in found.notes
    assert "s3://nowhere" in found.notes
    found = ran(
        capsysbinary, "fit", "s3://flights/parquet", "--target", "late", "-o", "s3://flights/m.posterior"
    )
    assert found.code == 2
    assert "files are written to this machine" in found.notes
