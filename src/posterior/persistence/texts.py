"""Texts in model files: vectorizers of scikit-learn by their settings, and the words they know.

A function among the settings is a program and refused when a model is saved. Settings that decide how long it
takes to cut a text into words are bounded, for they may come from a stranger's file.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from posterior.families.vocabulary import numbered
from posterior.persistence.errors import ModelFileError
from posterior.persistence.patterns import check_pattern
from posterior.persistence.records import Record

MOST_WORDS_TOGETHER = 20


def _checked(settings: Mapping[str, Any]) -> None:
    if settings["token_pattern"] is not None:
        check_pattern(settings["token_pattern"], "token_pattern")
    dtype = settings["dtype"]
    if not (isinstance(dtype, type) and issubclass(dtype, np.number)):
        raise ModelFileError(
            f"has the dtype {dtype!r:.60}, and a model file takes types such as numpy.float64"
        )
    lengths = settings["ngram_range"]
    if not (isinstance(lengths, tuple | list) and len(lengths) == 2 and all(type(n) is int for n in lengths)):
        raise ModelFileError(f"has an ngram_range that is no pair of whole numbers: {lengths!r:.60}")
    if not 1 <= lengths[0] <= lengths[1] <= MOST_WORDS_TOGETHER:
        raise ModelFileError(
            f"has the ngram_range {lengths!r:.60}, and a model file takes up to {MOST_WORDS_TOGETHER} words"
        )


def _fit_nothing(vectorizer: Any) -> None:
    """Let scikit-learn check the settings, of which it warned when the model was fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectorizer.fit([])


def _apart(vectorizer: Any) -> dict[str, Any]:
    settings: dict[str, Any] = vectorizer.get_params(deep=False)
    _checked(settings)
    return settings | {"words": numbered(getattr(vectorizer, "vocabulary_", None))}


def _count_vectorizer(words: tuple[str, ...] | None, **settings: Any) -> CountVectorizer:
    _checked(settings)
    given = settings["vocabulary"] is not None
    _fit_nothing(CountVectorizer(**settings if given else settings | {"vocabulary": ["word"]}))
    vectorizer = CountVectorizer(**settings)
    if words is not None:
        if len(set(words)) != len(words):
            raise ModelFileError("has a vocabulary with one word twice: it is damaged")
        vectorizer.vocabulary_ = {word: number for number, word in enumerate(words)}
    return vectorizer


def _hashing_vectorizer(words: None, **settings: Any) -> HashingVectorizer:
    _checked(settings)
    vectorizer = HashingVectorizer(**settings)
    _fit_nothing(vectorizer)
    return vectorizer


def _vectorizer(tag: str, kind: type, together: Any, words: Any) -> Record:
    names = kind().get_params(deep=False)
    return Record(tag, kind, _apart, together, lambda: dict.fromkeys(names, Any) | {"words": words})


TEXT_RECORDS = (
    _vectorizer("count-vectorizer", CountVectorizer, _count_vectorizer, tuple[str, ...] | None),
    _vectorizer("hashing-vectorizer", HashingVectorizer, _hashing_vectorizer, None),
)
