"""The words that speak most for each class."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior._types import Floats, Ints
from posterior.estimators.generative import GenerativeClassifier
from posterior.families import BagOfWords, Distribution
from posterior.families.sums import safe_log
from posterior.math import log_sum_exp
from posterior.notices import PosteriorWarning
from posterior.plot.column_ranking import as_column

# Words that a panel has room for, of all classes together.
WORDS = 10


@dataclass(frozen=True, eq=False)
class WordPanel:
    """Words with the log odds (W,) of their `owner` (W,), the class they speak most for, against the others.

    The log odds are ln p(word | class) less the log of its mean probability in the other classes.
    """

    name: str
    words: tuple[str, ...]
    log_odds: Floats
    owner: Ints

    @classmethod
    def of(
        cls, name: str, words: Sequence[str], log_probability: Floats, classes: Ints, most: int = WORDS
    ) -> "WordPanel":
        """The panel of words with their log probabilities (K, W) under classes of these codes.

        >>> logs = np.log([[0.8, 0.1, 0.1], [0.2, 0.1, 0.7]])
        >>> panel = WordPanel.of("text", ["cheap", "the", "meeting"], logs, np.array([0, 1]))
        >>> list(zip(panel.words, panel.owner.tolist(), panel.log_odds.round(2).tolist()))
        [('cheap', 0, 1.39), ('meeting', 1, 1.95)]
        """
        K = len(log_probability)
        others = [log_sum_exp(np.delete(log_probability, k, axis=0), axis=0) for k in range(K)]
        odds = log_probability - np.stack(others) + np.log(K - 1)
        best = np.argsort(-odds, axis=1, kind="stable")[:, : max(1, most // K)]
        found = [(k, w) for k in range(K) for w in best[k].tolist() if odds[k, w] > 0]
        found = sorted(sorted(found, key=lambda kw: -odds[kw])[:most], key=lambda kw: (kw[0], -odds[kw]))
        return cls(
            name,
            tuple(words[w] for _, w in found),
            np.array([odds[kw] for kw in found]),
            np.array([classes[k] for k, _ in found], dtype=np.int64),
        )


def text_panel(name: str, texts: list[str | None], codes: Ints, model: Distribution | None) -> WordPanel:
    """The words of a column of texts by the model, or by naive Bayes of these rows where it knows none."""
    known = None if model is None else model.word_probabilities
    classes = np.arange(0 if model is None else model.n_classes)
    if known is None:
        known, classes = _from_rows(texts, codes), np.unique(codes)
    if known is None:
        return WordPanel(name, (), np.empty(0), np.empty(0, dtype=np.int64))
    words, probability = known
    return WordPanel.of(name, words, safe_log(probability), classes)


def _from_rows(texts: list[str | None], codes: Ints) -> tuple[Sequence[str], Floats] | None:
    """Words of texts and their probabilities by class; None where there is no word or nothing to compare."""
    if len(np.unique(codes)) < 2 or all(text is None for text in texts):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)  # of texts that are all different
        model = GenerativeClassifier([(0, BagOfWords())], kinds={"x0": "text"})
        try:
            fitted = model.fit(as_column(texts), codes)
        except ValueError:  # texts without a single word
            return None
    found = [distribution.word_probabilities for _, distribution in fitted.model_.distributions]
    return found[0] if found else None
