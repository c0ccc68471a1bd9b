"""The error of model files, and how what is wrong with one is said."""

from typing import Any


class ModelFileError(ValueError):
    """A model that cannot be written to a file, or a file that cannot be read as a model.

    >>> import pathlib, tempfile
    >>> from posterior.persistence import ModelFileError, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.posterior"
    ...     _ = file.write_text("not a model")
    ...     try:
    ...         load(file)
    ...     except ModelFileError as error:
    ...         print("refused:", type(error).__name__)
    refused: ModelFileError
    """


def refuse_unless(holds: Any, what: str) -> None:
    """Raise the error of a file in which something does not hold."""
    refuse("" if holds else what)


def refuse(wrong: str) -> None:
    """Raise the error of a file in which something is wrong, said in words; none where nothing is."""
    if wrong:
        raise ModelFileError(f"has {wrong}: it is damaged, or was not written by posterior")
