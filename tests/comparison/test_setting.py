"""Which of two classes is looked for."""

import numpy as np
import pytest

from posterior.cli.app import run
from posterior.comparison import Comparison
from posterior.comparison.setting import sought_class
from posterior.schema import LabelledTable


def table(labels):
    return LabelledTable.of(np.arange(len(labels))[:, None], np.asarray(labels))


@pytest.mark.parametrize(
    ("labels", "sought", "why"),
    [
        (["no", "yes", "yes"], "yes", "by its name"),
        (["N", "Y", "Y"], "Y", "by its name"),
        ([False, True, True], True, "by its name"),
        ([0, 1, 1], 1, "by its name"),
        (["0.0", "1.0", "1.0"], "1.0", "by its name"),
        (["Bad ", "good", "Bad "], "Bad ", "by its name"),
        (["ham", "spam", "spam"], "spam", "by its name"),
        ([1, 2, 1], 2, "the rarer one"),  # 1 says nothing beside 2
        ([1, 2, 2], 1, "the rarer one"),
        (["yes", "maybe", "yes"], "maybe", "the rarer one"),
        (["dead", "sick", "sick"], "dead", "the rarer one"),  # both are looked for by their names
        (["cat", "dog", "cat", "dog"], "dog", "the second"),
    ],
)
def test_the_class_that_is_looked_for_by_default(labels, sought, why):
    found = sought_class(None, table(labels))
    assert (table(labels).classes[found.code], found.why) == (sought, why)


def test_what_is_asked_for_counts_and_three_classes_have_none():
    assert sought_class("no", table(["no", "yes", "yes"])).code == 0
    assert sought_class(None, table(["a", "b", "c"])) is None
    with pytest.raises(ValueError, match="positive='x' is not a class; the classes are 'no', 'yes'"):
        sought_class("x", table(["no", "yes"]))


def test_a_comparison_says_which_and_why(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, "left", "stayed")
    X = rng.normal(size=(200, 2)) + (y == "left")[:, None]
    found = Comparison.of(X, y, models=["lda"], repeats=1)
    assert (found.positive, found.positive_why) == ("left", "the rarer one")
    rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X, y, strict=True))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    command = ["compare", str(tmp_path / "t.csv"), "-t", "y", "--models", "lda", "--repeats", "1"]
    assert run(command) == 0
    assert "recall: left (the rarer one; or --positive) found where 0.5 %" in capsys.readouterr().out
    assert run([*command, "--positive", "stayed"]) == 0
    assert "recall: stayed found where 0.5 %" in capsys.readouterr().out
