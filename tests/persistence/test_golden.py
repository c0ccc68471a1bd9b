"""Files that earlier versions of this library wrote are read for good: one of each kind for every format."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from posterior.persistence import describe, load
from posterior.persistence.container import VERSION

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
FOLDER = Path(__file__).parent / "golden"
FILES = sorted(FOLDER.glob("*.safetensors"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_model_answers_as_it_did_when_it_was_written(file):
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    model = load(file)
    rows = pd.DataFrame(expected["rows"], columns=expected["columns"])
    assert [str(label) for label in model.classes_] == expected["classes"]
    assert np.allclose(model.predict_proba(rows), expected["proba"], rtol=1e-9, atol=1e-12)
    assert [str(answer) for answer in model.predict(rows)] == expected["predicted"]


def test_every_format_has_its_files():
    formats = {describe(file)["format_version"] for file in FILES}
    assert formats == set(range(1, VERSION + 1))
