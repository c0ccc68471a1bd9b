"""Models to files."""

import json
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from posterior.files import FileError, writing
from posterior.persistence.container import FORMAT, VERSION, packed
from posterior.persistence.encoding import Encoder
from posterior.persistence.errors import ModelFileError
from posterior.persistence.estimators import ESTIMATORS, Estimator, is_fitted
from posterior.persistence.loading import decoded

LIBRARIES = ("posterior", "numpy", "scikit-learn")


def save(
    model: Estimator,
    path: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    keep: Literal["summary", "rows"] = "summary",
) -> None:
    """Write a fitted estimator of this library to a file that is safe to open.

    The file is a safetensors file that holds numbers, names and settings, and no program. It appears under
    its name when it is complete: whatever happens before, a file of that name stays as it was. `about` is
    what you want to remember with the model, in terms that JSON has; `describe` gives it back.

    Of rows that were held out the file keeps averages, of which there are a bounded number and each has
    several rows: no posterior, score or label of a row of training. The settings of a decision that are in
    force stay as they are to the last bit. Settings that are changed later are learnt from the averages, and
    so are p-values of outliers, which are never smaller than by the rows themselves (`docs/model-files.md`
    says by how much). `keep="rows"` keeps the scores and classes of all these rows.

    >>> import os, tempfile
    >>> from posterior import GaussianNB
    >>> from posterior.persistence import load
    >>> model = GaussianNB().fit([[-2.0], [-1.0], [1.0], [3.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.safetensors"))
    ...     again = load(os.path.join(folder, "model.safetensors"))
    >>> again.predict([[2.0]])
    array(['high'], dtype='<U4')
    """
    where = Path(os.path.realpath(path))
    if where.is_dir():
        raise ModelFileError(f"{path} is a folder; give the file a name")
    if not where.parent.is_dir():
        raise ModelFileError(f"{path} cannot be written: there is no folder {where.parent}; make it first")
    parts = written(model, about, keep)
    try:
        with writing(where) as file:
            file.writelines(parts)
    except FileError as error:
        raise ModelFileError(str(error)) from error.__cause__


def written(
    model: Estimator, about: Mapping[str, Any] | None = None, keep: Literal["summary", "rows"] = "summary"
) -> list[bytes | memoryview]:
    """The bytes of the file of a model, part by part."""
    name = type(model).__name__
    if keep not in ("summary", "rows"):
        raise ModelFileError(f'keep must be "summary" or "rows", found {keep!r}')
    if type(model) not in ESTIMATORS.values():
        raise ModelFileError(
            f"{name} cannot be saved: it is not one of posterior's own estimators, such as NaiveBayes; keep "
            "it by other means (skops, ONNX)"
        )
    if not is_fitted(model):
        raise ModelFileError(f"{name} cannot be saved: it is not fitted; call fit first")
    encoder = Encoder(rows=keep == "rows")
    try:
        tree = json.dumps(encoder.encode(model, ""), separators=(",", ":"))
        decoded(tree, encoder.tensors)  # nothing is written that would not be read
        texts = {
            "format": FORMAT,
            "format_version": str(VERSION),
            "library_versions": json.dumps({library: _version(library) for library in LIBRARIES}),
            "model": tree,
            **({} if about is None else {"about": _remembered(about)}),
        }
        return packed(texts, encoder.tensors)
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be saved: it {error}") from error


def _remembered(about: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(about), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"is to be remembered with what JSON does not have: {error}") from error


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # run from where it was unpacked
        return "unknown"
