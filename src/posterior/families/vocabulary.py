"""Texts as counts of words: which words there are, and a sparse matrix of how often a text has each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from posterior._types import AnyArray, Bools
from posterior.dataset import Chunk, Rows
from posterior.families.kept_counts import KeptCounts
from posterior.stats import WordFrequencies

# A batch of texts is turned into counts at once, in Python objects that take many times its room.
BATCH_CHARACTERS = 1 << 21


def numbered(words: Mapping[Any, int] | None) -> tuple[Any, ...] | None:
    """The words in the order of their numbers."""
    return None if words is None else tuple(sorted(words, key=words.__getitem__))


def text_is_there(block: AnyArray) -> Bools:
    """Which rows of a block of one text column have a text, (n,)."""
    return np.asarray(block[:, 0] != None, dtype=np.bool_)  # noqa: E711  (cell by cell)


def fresh(vectorizer: Any, **changes: Any) -> Any:
    """A vectorizer of the same settings, which has learnt nothing."""
    return type(vectorizer)(**deepcopy(vectorizer.get_params()) | changes)


def settings_of(vectorizer: Any) -> dict[str, Any]:
    """The settings of a vectorizer as values that can be compared."""
    return {name: _comparable(value) for name, value in vectorizer.get_params().items()}


def _comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else value


def frequencies(vectorizer: Any, rows: Rows, column: int, kept: KeptCounts) -> WordFrequencies:
    """The words of a text column with their frequencies, chunk by chunk; missing texts do not count.

    What was counted on the way is kept.
    """
    analyze: Callable[[str], Any] = vectorizer.build_analyzer()
    once = bool(vectorizer.binary) or vectorizer.max_features is None  # else repetitions matter

    def counted(chunk: Chunk) -> WordFrequencies:
        block, weight = chunk.texts((column,)), chunk.weight
        there = text_is_there(block)
        w = None if weight is None else weight[there]
        texts = block[there, 0].tolist()
        found = kept.frequencies(texts, vectorizer, w, once=once)
        return WordFrequencies.of(texts, analyze, w, once=once) if found is None else found

    return rows.reduce(counted, dense=0)


def chosen_words(vectorizer: Any, found: WordFrequencies, name: str) -> dict[Any, int]:
    """The words that `min_df`, `max_df` and `max_features` leave, sorted, each with its number.

    The rules are those of scikit-learn's CountVectorizer, ties among the most frequent words included.
    """
    words = sorted(found.documents)
    if not words:
        return {}
    documents = np.array([found.documents[word] for word in words])
    high, low = (
        limit if isinstance(limit, Integral) else limit * found.texts
        for limit in (vectorizer.max_df, vectorizer.min_df)
    )
    if isinstance(vectorizer.min_df, Integral) and vectorizer.min_df <= 1:
        low = 0.0  # a word that is there, however light its texts are
    if high < low:
        raise ValueError(
            f"column {name!r}: max_df={vectorizer.max_df} allows fewer documents than "
            f"min_df={vectorizer.min_df} asks for, of {found.texts:g} texts; raise max_df or lower min_df"
        )
    keep = np.flatnonzero((documents > 0) & (documents <= high) & (documents >= low))
    limit = vectorizer.max_features
    if limit is not None and len(keep) > limit:
        total = np.array([found.total[words[j]] for j in keep])
        total = total.astype(np.result_type(total, np.zeros(0, vectorizer.dtype).sum()))
        keep = np.sort(keep[(-total).argsort()[:limit]])
    if not len(keep):
        raise ValueError(
            f"column {name!r}: min_df={vectorizer.min_df} and max_df={vectorizer.max_df} leave none of the "
            f"{len(words)} words of its {found.texts:g} texts; lower min_df or raise max_df"
        )
    return {words[j]: i for i, j in enumerate(keep.tolist())}


def word_counts(texts: Sequence[str], vectorizer: Any, n_words: int) -> Any:
    """How often each text has each word, a float64 CSR array; words that are not known are passed over."""
    if not len(texts) or not n_words:
        return sparse.csr_array((len(texts), n_words), dtype=np.float64)
    parts = [sparse.csr_array(vectorizer.transform(batch), dtype=np.float64) for batch in _batches(texts)]
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in pieces of about as many characters."""
    number = np.cumsum([len(text) for text in texts]) // BATCH_CHARACTERS
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(texts)]
    for start, stop in pairwise(bounds):
        yield texts[start:stop]
