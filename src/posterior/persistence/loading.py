"""Models from files."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import AnyArray
from posterior.persistence.container import read_header, read_json, read_tensors
from posterior.persistence.decoding import Decoder
from posterior.persistence.errors import ModelFileError
from posterior.persistence.estimators import ESTIMATORS, Estimator, is_fitted


def load(path: str | os.PathLike[str]) -> Estimator:
    """Load a saved estimator from a model file.

    Nothing in the file is run, and nothing is made of it but the classes of this library that are listed in
    `posterior.persistence.registry`. A file that was cut off, altered or made by something else is refused
    with a `ModelFileError`. What is in a file that passes all checks is what whoever wrote it put there: its
    predictions are as trustworthy as its origin.

    >>> import os, tempfile
    >>> from posterior import GaussianNB, load, save
    >>> model = GaussianNB().fit([[-2.0], [-1.0], [1.0], [3.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "model.posterior")
    ...     save(model, file)
    ...     again = load(file)
    >>> again.predict([[2.0]])
    array(['high'], dtype='<U4')
    """
    with opened(path) as (stream, size):
        return read(stream, size)


def read(stream: BufferedIOBase, size: int) -> Estimator:
    """The estimator in a stream of `size` bytes."""
    header = read_header(stream, size)
    tensors = read_tensors(stream, header)
    return decoded(header.text("model"), tensors)


def decoded(tree: str, tensors: Mapping[str, AnyArray]) -> Estimator:
    """The estimator that a tree of JSON and its tensors describe."""
    decoder = Decoder(tensors, len(tree) + sum(array.nbytes for array in tensors.values()))
    with one_blas_thread, np.errstate(all="ignore"):  # the bits of training, and no word about wild numbers
        try:
            model: Estimator = decoder.decode(read_json(tree))
        except RecursionError as error:  # of a caller who is deep down already
            raise ModelFileError("is nested too deep to be read from here") from error
    decoder.finish()
    if type(model) not in ESTIMATORS.values() or not is_fitted(model):
        raise ModelFileError("holds no fitted model: it is damaged, or was not written by posterior")
    return model


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[BufferedIOBase, int]]:
    """A file to read and its size; whatever is wrong with it is said with its name."""
    where = Path(path)
    try:
        if not where.exists():
            raise ModelFileError("does not exist: check the name of the file and of its folder")
        if where.is_dir():
            raise ModelFileError("is a folder, not a file")
        if not where.is_file():
            raise ModelFileError("is not a plain file")
        with open(where, "rb") as stream:
            yield stream, os.fstat(stream.fileno()).st_size
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from error.__cause__
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
