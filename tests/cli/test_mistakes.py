"""A user's mistake gives one helpful line and exit code 2, no traceback, and no half-written file."""

import signal
import subprocess
import sys
import textwrap

import pytest

from posterior.cli.app import run

pytest.importorskip("typer", reason="the command line is an extra")

ARGUMENTS = ("predict", "good.posterior", "-", "--format", "csv", "-o", "out.csv")
STREAMED = [sys.executable, "-m", "posterior", *ARGUMENTS]
ROWS = [f"{i % 7},{'ab'[i % 2]},{['yes', 'no'][i % 3 == 0]}" for i in range(60)]
GOOD = "size,colour,bought\n" + "\n".join(ROWS) + "\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a good table, a good model, and much that is not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("size,colour,bought\n")
    (tmp_path / "one_row.csv").write_text("size,colour,bought\n1,a,yes\n")
    (tmp_path / "one_class.csv").write_text("size,colour,bought\n" + "1,a,yes\n2,b,yes\n" * 20)
    (tmp_path / "ragged.csv").write_text("size,colour,bought\n1,a,yes\n2,b\n3,a,no\n")
    (tmp_path / "only_target.csv").write_text("bought\nyes\nno\nyes\n")
    (tmp_path / "junk.csv").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "picture.csv").write_bytes(PNG)
    (tmp_path / "picture.posterior").write_bytes(PNG)
    (tmp_path / "latin.csv").write_bytes("size,bought\n1,caf\xe9\n".encode("latin-1"))
    (tmp_path / "empty.posterior").write_bytes(b"")
    return tmp_path


@pytest.fixture(scope="module")
def good_model(tmp_path_factory):
    """The content of a good model file."""
    folder = tmp_path_factory.mktemp("good")
    table, model = folder / "good.csv", folder / "good.posterior"
    table.write_text(GOOD)
    assert run(["fit", str(table), "-t", "bought", "-m", "naive-bayes", "-o", str(model), "-q"]) == 0
    return model.read_bytes()


@pytest.fixture
def model(folder, good_model):
    """A good model in a file."""
    path = folder / "good.posterior"
    path.write_bytes(good_model)
    return path


def complaint(capsys, *arguments):
    """The one line that a mistake gives."""
    assert run(list(arguments)) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1, lines
    assert lines[0].startswith("posterior: ")
    return lines[0]


MISTAKES = [
    (["compare", "nowhere.csv", "-t", "bought"], ["nowhere.csv"]),
    (["compare", "god.csv", "-t", "bought"], ["god.csv", "good.csv"]),
    (["compare", ".", "-t", "bought"], ["'.'", "empty.csv"]),
    (["compare", "nothing", "-t", "bought"], ["nothing"]),
    (["compare", "good.csv"], ["--target", "'size'", "'bought'"]),
    (["compare", "good.csv", "-t", "bougth"], ["'bougth'", "did you mean 'bought'?"]),
    (["compare", "good.csv", "-t", "BOUGHT"], ["'BOUGHT'", "did you mean 'bought'?"]),
    (["compare", "empty.csv", "-t", "bought"], ["empty"]),
    (["compare", "header.csv", "-t", "bought"], ["header.csv", "row"]),
    (["compare", "one_row.csv", "-t", "bought"], ["class"]),
    (["compare", "one_class.csv", "-t", "bought"], ["class", "yes"]),
    (["compare", "ragged.csv", "-t", "bought"], ["line 3", "2", "3"]),
    (["compare", "only_target.csv", "-t", "bought"], ["no column beside 'bought'"]),
    (["compare", "junk.csv", "-t", "bought"], ["junk.csv"]),
    (["compare", "picture.csv", "-t", "bought"], ["PNG"]),
    (["compare", "latin.csv", "-t", "bought"], ["cp1252"]),
    (["compare", "good.csv", "-t", "bought", "--kind", "size"], ["COL=KIND"]),
    (["compare", "good.csv", "-t", "bought", "--kind", "size=colour"], ["'colour'", "categorical"]),
    (["compare", "good.csv", "-t", "bought", "--kind", "sise=count"], ["'sise'", "did you mean 'size'?"]),
    (["compare", "good.csv", "-t", "bought", "--models", "lda,magic"], ["magic", "naive-bayes"]),
    (["compare", "good.csv", "-t", "bought", "--costs", "yes:no"], ["--costs", "bad:good=5"]),
    (["compare", "good.csv", "-t", "bought", "--costs", "maybe:no=3"], ["'maybe'", "yes"]),
    (
        ["compare", "good.csv", "-t", "bought", "--costs", "no:yess=3"],
        ["'yess'", "did you mean 'yes'?", "add yes:yess="],
    ),
    (["compare", "good.csv", "-t", "bought", "--positive", "maybe"], ["'maybe'", "no, yes"]),
    (["compare", "good.csv", "-t", "bought", "--groups", "who"], ["--groups", "'who'"]),
    (["compare", "good.csv", "-t", "bought", "--folds", "1"], ["--folds", "2"]),
    (["compare", "good.csv", "-t", "bought", "--report", "no/where.html"], ["no folder"]),
    (["compare", "good.csv", "-t", "bought", "--rubbish"], ["--rubbish"]),
    (["compare", "good.csv", "-t", "bought", "--groups", "bought"], ["--groups", "class column"]),
    (["compare", "good.csv", "-t", "bought", "--time", "bought"], ["--time", "class column"]),
    (["compare", "good.csv", "-t", "bought", "--drop", "bought"], ["class column"]),
    (["compare", "good.csv", "-t", "bought", "--kind", "bought=text"], ["class column"]),
    (["compare", "good.csv", "-t", "bought", "--report", "./good.csv"], ["would be lost"]),
    (["compare", "nowhere/*.parquet", "-t", "bought"], ["no file matches", "data/*.parquet"]),
    (["compare", "good.csv", "latin.csv", "-t", "bought"], ["latin.csv", "'colour'", "good.csv"]),
    (["compare", "good.csv", "one_row.csv", "-t", "bought", "--engine", "memory"], ["one file", "2 files"]),
    (["compare", "go*.csv", "-t", "bought", "--engine", "memory"], ["one file", "go*.csv"]),
    (["compare", "good.csv", "-t", "bought", "--engine", "magic"], ["memory, arrow, dask, spark"]),
    (["compare", "good.csv", "-t", "bought", "--cluster", "tcp://here:1"], ["--engine dask", "spark"]),
    (["compare", "go*.csv"], ["--target", "'size'", "'bought'"]),
    (["compare", "go*.csv", "-t", "bougth"], ["'bougth'", "did you mean 'bought'?"]),
    (["compare", "go*.csv", "-t", "bought", "--drop", "sise"], ["--drop", "did you mean 'size'?"]),
    (["compare", "go*.csv", "-t", "bought", "--drop", "bought"], ["class column"]),
    (["compare", "go*.csv", "-t", "bought", "--drop", "size", "--drop", "colour"], ["no column beside"]),
    (["compare", "go*.csv", "-t", "bought", "--groups", "who"], ["--groups", "'who'"]),
    (["compare", "go*.csv", "-t", "bought", "--missing", "?"], ["--missing", "--engine memory"]),
    (["compare", "go*.csv", "-t", "bought", "--report", "good.csv"], ["would be lost"]),
    (["compare", "good.csv", "-t", "bought", "--weight", "size"], ["--weight", "--engine arrow"]),
    (["compare", "go*.csv", "-t", "bought", "--weight", "sise"], ["--weight", "did you mean 'size'?"]),
    (["compare", "go*.csv", "-t", "size", "--regression"], ["numbers", "--engine memory", "--classes"]),
    (["compare", "pict*.posterior", "-t", "bought"], ["picture.posterior", ".parquet"]),
    (["compare", "head*.csv", "-t", "bought"], ["header.csv", "no rows"]),
    (["fit", "go*.csv", "-t", "bought", "-m", "lda", "-o", "good.csv"], ["would be lost"]),
    (["fit", "one_cl*.csv", "-t", "bought", "-m", "naive-bayes", "-o", "m"], ["class", "yes"]),
    (["data", "-o", "x.csv"], ["NAME"]),
    (["fit", "good.csv", "-t", "bought", "-m", "lda", "-o", "good.csv"], ["would be lost"]),
    (
        ["fit", "good.csv", "-t", "bought", "-m", "least-squares", "--calibration", "vector", "-o", "m"],
        ["calibrate"],
    ),
    (["curve", "good.csv", "-t", "bought", "--plot", "x.foo"], [".png"]),
    (["fit", "good.csv", "-t", "bought", "-m", "magic", "-o", "m"], ["magic", "naive-bayes"]),
    (["fit", "good.csv", "-t", "bought", "-m", "lda", "-o", "no/m"], ["no folder"]),
    (["fit", "good.csv", "-t", "bought", "-m", "lda"], ["--output"]),
    (["fit", "one_class.csv", "-t", "bought", "-m", "naive-bayes", "-o", "m"], ["class", "yes"]),
    (["predict", "nowhere.posterior", "good.csv"], ["nowhere.posterior"]),
    (["predict", "picture.posterior", "good.csv"], ["picture.posterior", "PNG"]),
    (["predict", "good.csv", "good.csv"], ["good.csv"]),
    (["predict", "empty.posterior", "good.csv"], ["empty"]),
    (["inspect", "picture.posterior"], ["PNG"]),
    (["inspect", "junk.csv"], ["junk.csv"]),
    (["explain", "picture.posterior", "good.csv", "--row", "0"], ["PNG"]),
    (["sql", "picture.posterior", "--table", "t"], ["PNG"]),
    (["studio", "nowhere.csv", "-t", "bought"], ["nowhere.csv"]),
    (["studio", "picture.posterior"], ["PNG"]),
    (["studio", "good.csv"], ["--target", "'size'", "'bought'"]),
    (["studio", "good.csv", "-t", "bought", "-m", "oracle"], ["oracle", "naive-bayes"]),
    (["studio", "good.csv", "-t", "bought", "--rows", "good.csv"], ["--rows goes with a model"]),
    (["studio", "good.csv", "-t", "bought", "-o", "good.csv"], ["would be lost"]),
    (["studio", "good.csv", "-t", "bought", "-m", "least-squares"], ["no probabilities"]),
    (["studio", "good.csv", "-t", "bought", "-m", "lda", "--reject", "often=1"], ["threshold=0.9"]),
    (
        ["studio", "good.csv", "-t", "bought", "-m", "naive-bayes", "--costs", "yes:wait=2,no:wait=1"],
        ["no other"],
    ),
    (["sql", "nowhere.posterior"], ["--table"]),
    (["curve", "good.csv", "-t", "bought", "--sizes", "10,x"], ["whole numbers"]),
    (["curve", "nowhere.csv", "-t", "bought"], ["nowhere.csv"]),
    (["data", "penguin"], ["penguin", "penguins"]),
    (["compere"], ["compere"]),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[" ".join(a) for a, _ in MISTAKES])
def test_a_mistake_gives_one_line_that_helps(folder, capsys, arguments, words):
    line = complaint(capsys, *arguments)
    for word in words:
        assert word in line, line


MODEL_MISTAKES = [
    (["predict", "good.posterior", "only_target.csv"], ["'size'", "fitted with"]),
    (["predict", "good.posterior", "good.csv", "--priors", "yes=0.2"], ["no frequency for no"]),
    (["predict", "good.posterior", "good.csv", "--priors", "perhaps"], ["--priors"]),
    (["predict", "good.posterior", "good.csv", "--reject", "0.9"], ["threshold=0.9"]),
    (["predict", "good.posterior", "good.csv", "--reject", "threshold=2"], ["2"]),
    (["predict", "good.posterior", "good.csv", "--outliers", "7"], ["7"]),
    (["predict", "good.posterior", "good.csv", "--keep", "id"], ["--keep", "'id'"]),
    (["predict", "good.posterior", "good.csv", "-o", "no/out.csv"], ["no folder"]),
    (["predict", "good.posterior", "good.csv", "-o", "out.xyz"], ["out.xyz"]),
    (["predict", "good.posterior", "good.csv", "-o", "./good.csv"], ["would be lost"]),
    (["predict", "good.posterior", "good.csv", "-o", "good.posterior"], ["would be lost"]),
    (["predict", "good.posterior", "header.csv"], ["no row"]),
    (["predict", "good.posterior", "header.csv", "--engine", "arrow"], ["no row"]),
    (["predict", "good.posterior", "nowhere*.csv"], ["no file matches"]),
    (["predict", "good.posterior", "only*.csv", "-o", "out.csv"], ["'size'", "fitted with"]),
    (["predict", "good.posterior", "go*.csv", "-o", "good.csv"], ["would be lost"]),
    (["predict", "good.posterior", "go*.csv", "-o", "good.posterior"], ["would be lost"]),
    (["predict", "good.posterior", "go*.csv", "--keep", "id", "-o", "out.csv"], ["--keep", "'id'"]),
    (["predict", "good.posterior", "go*.csv", "--engine", "memory"], ["one file", "go*.csv"]),
    (["predict", "good.posterior", "go*.csv", "-o", "gone.csv"], ["gone.csv", "next scan", "another folder"]),
    (["predict", "good.posterior", "go*.csv", "--delimiter", ";"], ["--delimiter", "--engine memory"]),
    (["studio", "good.posterior", "-t", "bought"], ["--target", "leave it out"]),
    (["studio", "good.posterior", "--rows", "only_target.csv"], ["no column", "'size'"]),
    (["studio", "good.posterior", "--rows", "header.csv"], ["header.csv"]),
    (["studio", "good.posterior", "--priors", "yes=2"], ["--priors"]),
    (["sql", "good.posterior", "--table", "t", "--dialect", "oracle"], ["'oracle'", "'duckdb'"]),
    (["sql", "good.posterior", "--table", ""], ["table must be a name"]),
    (["sql", "good.posterior", "--table", "t", "--only", "odds"], ["'odds'", "'posterior'"]),
    (["sql", "good.posterior", "--table", "t", "--keep", "predicted"], ["'predicted'", "twice"]),
    (["sql", "good.posterior", "--table", "t", "--outliers", "0.05"], ["outliers", "SQL"]),
    (["sql", "good.posterior", "--table", "t", "-o", "good.posterior"], ["would be lost"]),
    (["explain", "good.posterior", "good.csv", "--row", "60"], ["60 rows", "0 to 59"]),
]


@pytest.mark.parametrize(("arguments", "words"), MODEL_MISTAKES, ids=[" ".join(a) for a, _ in MODEL_MISTAKES])
def test_a_mistake_with_a_good_model_gives_one_line_too(model, capsys, arguments, words):
    before = sorted(p.name for p in model.parent.iterdir())
    line = complaint(capsys, *arguments)
    for word in words:
        assert word in line, line
    assert sorted(p.name for p in model.parent.iterdir()) == before


COMPARE = ("compare", "good.csv", "-t", "bought", "--models", "naive-bayes")
CURVE = ("curve", "good.csv", "-t", "bought")
FIT = ("fit", "good.csv", "-t", "bought", "-m", "naive-bayes", "-o", "new.posterior")
PREDICT = ("predict", "good.posterior", "good.csv", "-o", "new.csv")
EXPLAIN = ("explain", "good.posterior", "good.csv")
HUGE = str(10**21)
LONG = "x" * 100_000
NO_NUMBERS = ("nan", "inf", "", "1.5", "1e21", "-1")
# Values of each option that nobody can mean, and a word of the answer.
ABSURD = [
    *((COMPARE, "--folds", value, "--folds") for value in (*NO_NUMBERS, "0")),
    *((COMPARE, "--folds", value, "60") for value in ("61", HUGE)),
    *(
        (command, "--repeats", value, "--repeats")
        for value in (*NO_NUMBERS, "0")
        for command in (COMPARE, CURVE)
    ),
    *((command, "--repeats", value, "10,000") for value in ("10001", HUGE) for command in (COMPARE, CURVE)),
    *((command, "--seed", value, "--seed") for value in NO_NUMBERS for command in (COMPARE, CURVE)),
    *((CURVE, "--sizes", value, "--sizes") for value in ("", ",", "nan", "1e9", LONG)),
    *((CURVE, "--sizes", value, "between 4") for value in ("0", "-1", HUGE)),
    *((COMPARE, "--false-alarms", value, "--false-alarms") for value in ("nan", "inf", "", "-1", "2")),
    *(
        (PREDICT, "--outliers", value, "rate")
        for value in ("nan", "inf", "-inf", "-1", "0", "1", "2", "1e300")
    ),
    *((PREDICT, "--outliers", value, "1e-15") for value in ("1e-300", "1e-17", "5e-324")),
    (PREDICT, "--outliers", "", "--outliers"),
    *(
        (PREDICT, "--reject", f"threshold={value}", "threshold")
        for value in ("nan", "inf", "-1", "0", "", "x")
    ),
    *((PREDICT, "--reject", f"coverage={value}", "coverage") for value in ("nan", "inf", "-1", "0", "2")),
    *((PREDICT, "--reject", value, "--reject") for value in ("", ",", "=")),
    *(
        (PREDICT, "--reject", value, "expected")
        for value in ("x=1", LONG, "cost=1,cost=2", "cost=1,coverage=1")
    ),
    *((PREDICT, "--priors", f"yes={value},no=1", "riors") for value in ("nan", "inf", "-1", "")),
    *((PREDICT, "--priors", value, "--priors") for value in ("", ",", "=", "yes", LONG)),
    (PREDICT, "--priors", "yes=0.5,yes=0.6,no=0.5", "yes is given twice"),
    (PREDICT, "--priors", "yes=0,no=0", "priors"),
    *((PREDICT, "--costs", f"yes:no={value}", "costs") for value in ("nan", "inf", "-inf", "")),
    *((PREDICT, "--costs", value, "--costs") for value in ("", ",", ":=1", "yes=1", "maybe:no=1", LONG)),
    *((command, "--costs", "yes:no=5,yes:no=6", "yes:no is given twice") for command in (COMPARE, PREDICT)),
    (PREDICT, "--costs", "yes:no=5, yes: no=5", "given twice"),
    *((EXPLAIN, "--row", value, "row") for value in (*NO_NUMBERS, "60", HUGE)),
    *((FIT, "--kind", value, "kind") for value in ("", "=", "size=", "=count", LONG)),
    *((FIT, option, value, option[2:]) for option in ("--drop", "--target") for value in ("", LONG)),
    *(
        (COMPARE, option, value, option)
        for option in ("--groups", "--time", "--positive")
        for value in ("", LONG)
    ),
    *((COMPARE, "--models", value, "naive-bayes") for value in ("", ",", LONG)),
    *((FIT, option, value, option[2:]) for option in ("--model", "--calibration") for value in ("", LONG)),
    *((FIT, option, LONG, option[2:]) for option in ("--quote", "--delimiter", "--decimal", "--encoding")),
    *((FIT, option, "", option[2:]) for option in ("--delimiter", "--decimal", "--encoding", "--format")),
    *((FIT, "--names", value, "names") for value in ("", ",", LONG)),
    *((PREDICT, "--keep", value, "--keep") for value in ("", LONG)),
    *((command, "-o", LONG, "too long") for command in (FIT, PREDICT)),
    (COMPARE, "--report", LONG, "too long"),
    (("data",), "--", LONG, "no bundled table"),
    (("inspect",), "--", LONG, "too long"),
]


@pytest.mark.parametrize(
    ("command", "option", "value", "word"), ABSURD, ids=[f"{c[0]} {o[:20]} {v[:20]}" for c, o, v, _ in ABSURD]
)
def test_an_absurd_value_gives_one_line_of_bounded_length(model, capsys, command, option, value, word):
    before = sorted(p.name for p in model.parent.iterdir())
    line = complaint(capsys, *command, option, value)
    assert word in line, line
    assert len(line) < 1200
    assert sorted(p.name for p in model.parent.iterdir()) == before


def test_a_failed_fit_leaves_an_older_model_as_it_was(model, capsys):
    before = model.read_bytes()
    complaint(capsys, "fit", "one_class.csv", "-t", "bought", "-m", "lda", "-o", str(model))
    assert model.read_bytes() == before


def test_stopping_while_rows_are_written_leaves_no_file(model):
    (model.parent / "endless.py").write_text(
        textwrap.dedent("""
        import sys
        print("size,colour,bought", flush=True)
        while True:
            print("1,a,yes\\n" * 1000, flush=True)
        """)
    )
    feed = subprocess.Popen(
        [sys.executable, "endless.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=model.parent
    )
    streams = {"stdin": feed.stdout, "stderr": subprocess.PIPE}
    work = subprocess.Popen(STREAMED, **streams, cwd=model.parent, text=True)  # noqa: S603 -- our own command
    try:
        while not any("out.csv" in p.name for p in model.parent.iterdir()):  # its temporary name
            assert work.poll() is None, work.stderr.read()
        work.send_signal(signal.SIGINT)
        _, told = work.communicate(timeout=60)
    finally:
        feed.kill()
        feed.wait()
        feed.stdout.close()
        work.kill()
        work.wait()
    assert work.returncode == 130
    assert "Traceback" not in told
    assert not [p.name for p in model.parent.iterdir() if "out.csv" in p.name]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["terminated", "hung up"])
def test_being_stopped_by_others_leaves_no_file_either(model, number):
    work = subprocess.Popen(STREAMED, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=model.parent)  # noqa: S603 -- our own command
    try:
        work.stdin.write(b"size,colour,bought\n" + b"1,a,yes\n" * 2_000_000)
        work.stdin.flush()
        while not any("out.csv" in p.name for p in model.parent.iterdir()):
            assert work.poll() is None, work.stderr.read()
        work.send_signal(number)
        work.communicate(timeout=60)
    finally:
        work.kill()
        work.wait()
    assert work.returncode == 128 + number
    assert not [p.name for p in model.parent.iterdir() if "out.csv" in p.name]


def test_closed_standard_output_is_no_error(model):
    command = f"{sys.executable} -m posterior predict good.posterior good.csv -o out.csv >&-"
    done = subprocess.run(command, shell=True, cwd=model.parent, capture_output=True, check=False)  # noqa: S602 -- a shell closes it
    assert done.returncode == 0, done.stderr
    assert (model.parent / "out.csv").exists()


@pytest.mark.long
def test_a_reader_that_has_seen_enough_is_no_error(model):
    command = f"{sys.executable} -m posterior predict good.posterior good.csv | head -1"
    settings = {"capture_output": True, "text": True, "cwd": model.parent}
    done = subprocess.run(command, shell=True, check=False, **settings)  # noqa: S602 -- a pipe is what is tested
    assert done.stdout.startswith("predicted,")
    assert "Traceback" not in done.stderr
