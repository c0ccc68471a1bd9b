"""Counts of words found while the words were learnt, kept for the sums that follow: texts are read once."""

import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import eq, is_
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.stats import WordFrequencies

# So many characters are cut into words at once, in Python objects that take many times their room.
MOST_CHARACTERS = 1 << 24
# So many cells of counts are kept; texts that have more are read again.
MOST_CELLS = 1 << 24
# Settings with which scikit-learn cuts texts into words without asking, or warning, the user.
PLAIN = {"tokenizer": None, "preprocessor": None, "stop_words": None}


class _Turns:
    """Threads cut texts into words in turn: two that share the interpreter take twice as long as one."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget who was at it, as in a process that was forked."""
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_one_at_a_time = _Turns()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_at_a_time.renew)


class Read(NamedTuple):
    """Some texts with the counts of their words, which are numbered as `words` says."""

    texts: Sequence[str]
    words: Sequence[str]
    counts: Any


class KeptCounts:
    """The counts of texts that were read, each handed out once, to whoever asks with the very same texts.

    Several threads keep and take them at the same time, in steps none of which another can come between.
    """

    def __init__(self) -> None:
        self._read: dict[int, Read] = {}
        self._cells = 0

    def frequencies(
        self, texts: Sequence[str], vectorizer: Any, weight: Floats | None, *, once: bool
    ) -> WordFrequencies | None:
        """How many texts hold each word, as scikit-learn cuts them; None where that is not plain."""
        if not is_plain(vectorizer) or sum(map(len, texts)) > MOST_CHARACTERS:
            return None
        words, counts = _counted(texts, vectorizer.build_analyzer())
        if not words:  # of which the caller knows what to say
            return None
        if vectorizer.binary:
            counts.data[:] = 1.0
        self._cells += counts.nnz
        if self._cells <= MOST_CELLS:
            self._read[id(counts)] = Read(texts, words, counts)
        documents = _weighted(words, counts, None, weight)
        total = documents if once else _weighted(words, counts, counts.data, weight)
        return WordFrequencies(len(texts) if weight is None else float(weight.sum()), documents, total)

    def take(self, texts: Sequence[str], known: Mapping[Any, int]) -> Any:
        """The counts of known words in these texts, if they were kept; they are not kept any longer."""
        for key, read in list(self._read.items()):
            if len(read.texts) == len(texts) and all(map(is_, read.texts, texts)):
                mine = self._read.pop(key, None)  # unless another thread had the same texts, and was faster
                return None if mine is None else _of_known(mine, known)
        return None


def _counted(texts: Sequence[str], analyze: Callable[[str], Any]) -> tuple[list[str], Any]:
    """The words of some texts, sorted, and how often each text has each of them, a CSR array.

    Words are numbered as they are met and repetitions are added up at the end: a text takes two calls then,
    where scikit-learn goes through its words one by one.
    """
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    met, bounds = _numbers_met(texts, lambda text: map(number.__getitem__, analyze(text)))
    words = sorted(number)
    place = np.empty(len(words), np.int32)
    place[[number[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    indices = place[met]
    counts = kernels.csr(np.ones(len(indices)), indices, bounds, (len(texts), len(words)))
    counts.sum_duplicates()
    return words, counts


def counts_of_known(texts: Sequence[str], vectorizer: Any) -> Any:
    """How often texts have each word of a `CountVectorizer`, a CSR array; None where cutting is not plain."""
    if not is_plain(vectorizer):
        return None
    analyze, number, unknown = vectorizer.build_analyzer(), vectorizer.vocabulary_.get, repeat(-1)
    met, bounds = _numbers_met(texts, lambda text: map(number, analyze(text), unknown))
    if len(met) and met.min() < 0:
        there = met >= 0
        met, bounds = met[there], np.concatenate([[0], np.cumsum(there)])[bounds].astype(np.int32)
    counts = kernels.csr(np.ones(len(met)), met, bounds, (len(texts), len(vectorizer.vocabulary_)))
    counts.sum_duplicates()
    if vectorizer.binary:
        counts.data[:] = 1.0
    return counts


def is_plain(vectorizer: Any) -> bool:
    """Whether scikit-learn cuts texts into words without asking, or warning, the user."""
    plain = all(getattr(vectorizer, name) is value for name, value in PLAIN.items())
    return plain and not callable(vectorizer.analyzer)


def _numbers_met(texts: Sequence[str], numbers: Callable[[str], Iterable[int]]) -> tuple[AnyArray, AnyArray]:
    """The numbers of the words of all texts, one after the other, and where those of each text begin."""
    met, ends = array("i"), [0]
    with _one_at_a_time:
        for text in texts:
            met.extend(numbers(text))
            ends.append(len(met))
    return np.array(met, dtype=np.int32), np.array(ends, dtype=np.int32)


def _weighted(words: Sequence[str], counts: Any, times: Floats | None, weight: Floats | None) -> Counter[Any]:
    """The weight of the texts that hold each word, as often as they do where `times` says."""
    each = times
    if weight is not None:
        row = np.repeat(weight, np.diff(counts.indptr))
        each = row if times is None else row * times
    found = np.bincount(counts.indices, each, len(words))
    whole = found.astype(np.int64) if weight is None else found
    return Counter(dict(zip(words, whole.tolist(), strict=True)))


def _of_known(read: Read, known: Mapping[Any, int]) -> Any:
    """The counts with the numbers of the known words; the others are passed over."""
    if len(known) == len(read.words) and all(map(eq, known, read.words)):  # numbered in the same order
        return kernels.csr(
            read.counts.data, read.counts.indices, read.counts.indptr, (len(read.texts), len(known))
        )
    number: Ints = np.array([known.get(word, -1) for word in read.words], dtype=np.int64)
    indices, data, bounds = number[read.counts.indices], read.counts.data, read.counts.indptr
    if (indices < 0).any():
        there = indices >= 0
        bounds = np.concatenate([[0], np.cumsum(there)])[bounds]
        indices, data = indices[there], data[there]
    found = kernels.csr(data, indices, bounds.astype(np.int64), (len(read.texts), len(known)))
    found.sort_indices()
    return found
