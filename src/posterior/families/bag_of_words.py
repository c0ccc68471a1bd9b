"""Texts as bags of words: a text column described by the words it holds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.dataset import Rows
from posterior.families.base import Distribution, Family, LeftOut, NoClosedFormError
from posterior.families.bernoulli import Bernoulli, BernoulliDistribution
from posterior.families.kept_counts import KeptCounts, counts_of_known
from posterior.families.left_out.words import bernoulli_without_own_words, multinomial_without_own_words
from posterior.families.multinomial import Multinomial, MultinomialDistribution
from posterior.families.parameters import Parameter, level_name, most_telling
from posterior.families.sums import ALPHAS, check_alpha, log_times
from posterior.families.vocabulary import (
    chosen_words,
    frequencies,
    fresh,
    numbered,
    settings_of,
    text_is_there,
    word_counts,
)
from posterior.stats import Totals, WordTotals

HASHED_WORDS = 1 << 18
# The largest number of words that are listed as parameters.
LISTED_WORDS = 50
# Of texts that are drawn from a model, more words than any text has.
LONGEST_TEXT = 1e7


class BagOfWordsDistribution(Distribution):
    """Texts whose words follow a multinomial or Bernoulli `distribution`, one column of it for each word.

    The vectorizer cuts a text into words and numbers them: a list of words, a CountVectorizer with a
    vocabulary, or a HashingVectorizer. Words without a number are passed over.

    >>> spam_or_ham = MultinomialDistribution([[0.9, 0.1], [0.2, 0.8]], ordered=True)
    >>> texts = BagOfWordsDistribution(spam_or_ham, ["cheap", "meeting"])
    >>> np.exp(texts.log_density(np.array([["Cheap, cheap watches!"], [None]], dtype=object)))
    array([[0.81, 0.04],
           [1.  , 1.  ]])
    """

    kind = "text"
    reads = ("texts",)
    n_columns = 1
    parts: ClassVar[Mapping[str, Any]] = {
        "distribution": MultinomialDistribution | BernoulliDistribution,
        "vectorizer": CountVectorizer | HashingVectorizer,
    }

    def __init__(
        self, distribution: MultinomialDistribution | BernoulliDistribution, vectorizer: Any
    ) -> None:
        self.distribution = distribution
        self.vectorizer = _reader(vectorizer)
        self.n_classes = distribution.n_classes
        n_words = _n_words(self.vectorizer)
        if n_words != distribution.n_columns:
            raise ValueError(
                f"the vectorizer knows {n_words} words and the distribution describes "
                f"{distribution.n_columns}; give each word one column"
            )

    @property
    def words(self) -> tuple[str, ...] | None:
        """The words in the order of the distribution's columns; None where they are hashed."""
        return numbered(getattr(self.vectorizer, "vocabulary_", None))

    def impossible(self) -> str:
        """Texts are not drawn with more words than any text has."""
        length = getattr(self.distribution, "mean_total", None)
        long = length is not None and length.max(initial=0.0) > LONGEST_TEXT
        return "texts of more words than any text has" if long else ""

    @property
    def word_probabilities(self) -> tuple[Sequence[str], Floats] | None:
        """The words with their probabilities; None where they are hashed."""
        return None if self.words is None else (self.words, self.distribution.probability)

    @property
    def n_events(self) -> int:
        """The words."""
        return self.distribution.n_columns

    def _by_text(self, block: AnyArray, score: Callable[[Any], Floats]) -> Floats:
        """The scores (n, K) of the texts' counts; 0 for a missing text."""
        there = text_is_there(block)
        return _spread(score(self._counts(block, there)), there)

    def log_density(self, block: AnyArray) -> Floats:
        """Log probability of the words of each text under each class."""
        return self._by_text(block, self.distribution.log_density)

    def log_relative(self, block: AnyArray) -> Floats:
        """The log density, up to a term that all classes share."""
        return self._by_text(block, self.distribution.log_relative)

    def log_terms(self, block: AnyArray) -> Floats:
        """One term: the log density of the text, (n, 1, K)."""
        return self.log_density(block)[:, None, :]

    def words_in(self, block: AnyArray) -> Ints:
        """The numbers of the known words that texts hold, in order."""
        return np.unique(self._counts(block, text_is_there(block)).indices).astype(np.int64)

    def word_terms(self, block: AnyArray, words: Ints) -> tuple[list[str], Floats]:
        """Terms of the words that a text holds; of a Bernoulli distribution first that of all it lacks."""
        there = text_is_there(block)
        given, counts = self.distribution, self._counts(block, there)[:, words].toarray()
        bernoulli = isinstance(given, BernoulliDistribution)
        terms = np.zeros((len(block), bernoulli + len(words), self.n_classes))
        if isinstance(given, BernoulliDistribution):
            log_off = np.where(np.isneginf(given.log_off), 0.0, given.log_off)
            log_word, counts = given.log_on - log_off, np.minimum(counts, 1.0)
        else:
            log_word = given.log_probability
        size = (*counts.shape, self.n_classes)
        terms[there, bernoulli:] = log_times(np.broadcast_to(counts[:, :, None], size), log_word[:, words].T)
        if bernoulli:
            total = terms.sum(axis=1)
            possible = ~np.isneginf(total)
            terms[:, 0] = np.where(possible, self.log_density(block), 0.0) - np.where(possible, total, 0.0)
        names = [level_name(self.words, int(j)) for j in words]
        return [*["absent words"] * bernoulli, *names], terms

    def _counts(self, block: AnyArray, there: Bools) -> Any:
        """How often the texts that are there hold each known word, a sparse array."""
        return _counts(block[there, 0].tolist(), self.vectorizer, self.distribution.n_columns)

    def marginal(self, columns: Sequence[int]) -> "BagOfWordsDistribution":
        """The same distribution; there is no other column."""
        return self

    def sample(self, y: Ints, rng: np.random.Generator) -> AnyArray:
        """Words joined by spaces, one text for each class code; missing texts where words are hashed."""
        texts = np.full((len(y), 1), None, dtype=object)
        if self.words is not None:
            words = np.array(self.words, dtype=object)
            for row, numbers in self._drawn(y, rng):
                texts[row, 0] = " ".join(words[numbers].tolist())
        return texts

    def _drawn(self, y: Ints, rng: np.random.Generator) -> Iterator[tuple[int, Ints]]:
        """Rows with the numbers of the words drawn for them, class by class."""
        given = self.distribution
        for k, p in enumerate(given.probability):
            rows = np.flatnonzero(y == k)
            if isinstance(given, BernoulliDistribution):
                yield from ((i, np.flatnonzero(rng.random(len(p)) < p)) for i in rows.tolist())
                continue
            lengths = rng.poisson(10.0 if given.mean_total is None else given.mean_total[k], len(rows))
            drawn = rng.choice(len(p), size=lengths.sum(), p=p / p.sum())
            yield from zip(rows.tolist(), np.split(drawn, np.cumsum(lengths)[:-1]), strict=False)

    @property
    def n_parameters(self) -> int:
        """Those of the words."""
        return self.distribution.n_parameters

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Probabilities of the words that tell classes apart most; a hashed word goes by its number."""
        words, given = self.words, self.distribution
        logs = given.log_on if isinstance(given, BernoulliDistribution) else given.log_probability
        return [
            Parameter(tuple(names), f"p({level_name(words, int(j))})", given.probability[:, j].copy())
            for j in most_telling(logs, LISTED_WORDS)
        ]

    def log_likelihood(self, statistics: WordTotals) -> float:
        """Σ w ln p(text | its class) over the texts that are there."""
        if statistics.total.shape[1] != self.distribution.n_columns:  # words that no text has are not known
            return self.distribution.log_likelihood(_words_there(statistics)[1])
        return self.distribution.log_likelihood(statistics)


@dataclass(frozen=True, eq=False)
class BagOfWords(Family[WordTotals]):
    """Bag of words: the family of a text column, multinomial or Bernoulli.

    With `model="multinomial"` the words of a text are drawn one by one, given how many there are; with
    "bernoulli" each word of the vocabulary is in the text or not, and words that are absent count as
    well (McCallum & Nigam 1998, A comparison of event models for naive Bayes text classification). `alpha`
    is added to every count ("auto": chosen by cross-validation). A missing text is integrated out; an
    empty one is a text without words; words that training has not seen are passed over.

    The words are those that scikit-learn's `vectorizer` finds, a CountVectorizer of any settings. Its
    vocabulary is learnt from all texts at once, which cannot be done for parts of a table: models that
    are to be updated or added need a CountVectorizer with a `vocabulary`, or `hashing` (True, or a number
    of hash values, or a HashingVectorizer), where words have numbers without being known. `alpha` is then
    added to every hash value, most of which no word has, and had better be small.

    >>> texts = np.array([["cheap cheap watches"], ["meeting at noon"], [None]], dtype=object)
    >>> family = BagOfWords(hashing=16)
    >>> family.estimate(family.summarize(texts, np.array([0, 1, 1]), None, 2))
    <BagOfWordsDistribution: 2 classes, 1 columns>
    """

    model: Literal["multinomial", "bernoulli"] = "multinomial"
    _: KW_ONLY
    alpha: Any = 1.0
    vectorizer: Any = None
    hashing: bool | int = False
    words: Mapping[Any, int] | None = field(default=None, repr=False)  # learnt by `prepared`
    reads: ClassVar[Any] = "texts"
    kinds: ClassVar[frozenset[str]] = frozenset({"text"})
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}
    alone: ClassVar[bool] = True
    read_as: ClassVar[str | None] = "text"
    why_not_mergeable = (  # unless it is `mergeable`
        "the words of a text column are learnt from all rows at once, so that parts of a table do not "
        "add up; use BagOfWords(hashing=True), which need not know the words, as in "
        'families={"text": BagOfWords(hashing=True)}, or a CountVectorizer with a vocabulary'
    )
    parts: ClassVar[Mapping[str, Any]] = {
        "model": str,
        "alpha": Any,
        "vectorizer": CountVectorizer | HashingVectorizer | None,
        "hashing": bool | int,
        "words": tuple[str, ...] | None,
    }

    def to_parts(self) -> dict[str, Any]:
        """The settings, and the words in the order of their numbers."""
        return {name: getattr(self, name) for name in self.parts} | {"words": numbered(self.words)}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The family of these settings, with words numbered in this order."""
        words = parts["words"]
        known = None if words is None else {word: number for number, word in enumerate(words)}
        return cls(**{**parts, "words": known})

    def __post_init__(self) -> None:
        if self.model not in ("multinomial", "bernoulli"):
            raise ValueError(f"model must be 'multinomial' or 'bernoulli', found {self.model!r}")
        check_alpha(self.alpha)
        if np.ndim(self.alpha):
            raise ValueError(f"alpha must be one number for all words, or 'auto'; found {self.alpha!r}")
        if self.vectorizer is not None or self.hashing is not False:  # scikit-learn's own settings are right
            _check_settings(self._vectorizer)

    @cached_property
    def _vectorizer(self) -> Any:
        """The vectorizer that the settings ask for; it has learnt nothing."""
        n_hashes = _number_of_hashes(self.hashing)
        if not n_hashes:
            return fresh(CountVectorizer() if self.vectorizer is None else _accepted(self.vectorizer))
        if self.vectorizer is not None:
            raise ValueError(
                f"hashing={self.hashing!r} and a vectorizer were both given; give one of them (a "
                "HashingVectorizer with alternate_sign=False and norm=None hashes with settings of your own)"
            )
        binary = self.model == "bernoulli"
        return HashingVectorizer(n_features=n_hashes, alternate_sign=False, norm=None, binary=binary)

    def __eq__(self, other: object) -> bool:
        """Equal settings; what was learnt from data does not matter."""
        if not isinstance(other, BagOfWords):
            return NotImplemented
        mine, theirs = self._vectorizer, other._vectorizer
        return (
            (self.model, self.alpha, type(mine)) == (other.model, other.alpha, type(theirs))
        ) and settings_of(mine) == settings_of(theirs)

    def __hash__(self) -> int:
        return hash((self.model, self.alpha, type(self._vectorizer).__name__))

    @property
    def counts(self) -> Family[Totals]:
        """The family of the counts of the words."""
        # Ordered: the probability of the words in their order, as in a text.
        return Bernoulli(self.alpha) if self.model == "bernoulli" else Multinomial(self.alpha, ordered=True)

    @property
    def mergeable(self) -> bool:
        """Whether the words have the same numbers in every part of a table."""
        return _is_fixed(self._vectorizer)

    def prepared(self, rows: Rows, columns: tuple[int, ...]) -> Self:
        """The family that knows the words of its column."""
        if self.mergeable or self.words is not None:
            return self
        (column,) = columns
        kept = KeptCounts()
        found = frequencies(self._vectorizer, rows, column, kept)
        ready = replace(self, words=chosen_words(self._vectorizer, found, rows.schema.names[column]))
        object.__setattr__(ready, "_kept", kept)
        return ready

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    @cached_property
    def reader(self) -> Any:
        """The vectorizer with the words that it knows; refused while they are not known."""
        if self.mergeable:
            return _reader(self._vectorizer)
        if self.words is None:
            raise ValueError(self.why_not_mergeable)
        known = fresh(self._vectorizer, dtype=np.float64)
        known.vocabulary_ = dict(self.words)
        return known

    def check(self, block: AnyArray, names: Sequence[str]) -> None:
        """The words must be known."""
        if not self.mergeable and self.words is None:
            raise ValueError(f"column {names[0]!r}: {self.why_not_mergeable}")

    def n_summed(self, n_columns: int) -> int:
        """One for each word."""
        return _n_words(self.reader)

    def misfit(self, statistics: WordTotals, sizes: Sequence[int]) -> str:
        """What are no sums of the counts of words."""
        return self.counts.misfit(statistics, sizes)

    def _counted(self, block: AnyArray, there: Bools) -> Any:
        texts = block[there, 0].tolist()
        kept: KeptCounts | None = getattr(self, "_kept", None)
        found = None if kept is None or self.words is None else kept.take(texts, self.words)
        return _counts(texts, self.reader, _n_words(self.reader)) if found is None else found

    def summarize(self, block: AnyArray, y: Ints, weight: Floats | None, n_classes: int) -> WordTotals:
        """How often each class uses each word."""
        there = text_is_there(block)
        w = None if weight is None else weight[there]
        return WordTotals.of(self.counts.summarize(self._counted(block, there), y[there], w, n_classes))

    def estimate(self, statistics: WordTotals) -> BagOfWordsDistribution:
        """The distribution of the words; of those that were learnt, the ones that these texts have."""
        self.refuse_open()
        reader, totals = self.reader, statistics
        there, kept = _words_there(statistics)
        if not self.mergeable and 0 < len(there) < _n_words(reader):
            known = numbered(reader.vocabulary_) or ()
            reader = copy(reader)
            reader.vocabulary_ = {known[j]: i for i, j in enumerate(there)}
            totals = kept
        words: Any = self.counts.estimate(totals)
        return BagOfWordsDistribution(words, reader)

    @property
    def chosen_anew(self) -> bool:
        """Whether words may be chosen for some of the texts that are not for all of them."""
        if self.mergeable:
            return False
        least, most = self._vectorizer.min_df, self._vectorizer.max_df
        all_rare_ones = least <= 1 if isinstance(least, Integral) else least == 0
        all_common_ones = not isinstance(most, Integral) and most == 1
        return self._vectorizer.max_features is not None or not (all_rare_ones and all_common_ones)

    def leave_one_out(
        self, statistics: WordTotals, distribution: BagOfWordsDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """Each text as if its words had not been counted; those that no other text has are not known then."""
        if self.chosen_anew:
            raise NoClosedFormError("min_df, max_df or max_features choose its words anew without the row")
        given = distribution.distribution
        score = self.counts.leave_one_out(statistics, given)

        def of_texts(counts: Any, y: Ints, weight: Floats | None) -> LeftOut:
            if self.mergeable:
                return score(counts, y, weight)
            if isinstance(given, BernoulliDistribution):
                logs = given.log_on
                return bernoulli_without_own_words(score, statistics, self.alpha, logs, counts, y, weight)
            return multinomial_without_own_words(score, statistics, self.alpha, counts, y, weight)

        def scored(block: AnyArray, y: Ints, weight: Floats | None) -> LeftOut:
            there = text_is_there(block)
            w = None if weight is None else weight[there]
            found = of_texts(self._counted(block, there), y[there], w)
            delicate = np.zeros(len(block), dtype=np.bool_)
            delicate[there] = found.delicate
            return LeftOut(_spread(found.log_density, there), delicate)

        return scored


def _words_there(statistics: WordTotals) -> tuple[list[int], WordTotals]:
    """The words that some text has, and their totals."""
    there = np.flatnonzero(statistics.total.any(axis=0)).tolist()
    return there, Totals.marginal(statistics, there)


def _spread(scores: Floats, there: Bools) -> Floats:
    """The scores of the texts that are there among rows of 0 for those that are missing."""
    if there.all():
        return scores
    out = np.zeros((len(there), scores.shape[1]))
    out[there] = scores
    return out


def _number_of_hashes(hashing: Any) -> int:
    """How many hash values `hashing` asks for; 0 for none."""
    if isinstance(hashing, bool | np.bool_):
        return HASHED_WORDS if hashing else 0
    if not isinstance(hashing, int | np.integer) or hashing < 1:
        raise ValueError(f"hashing must be True, False or a number of hash values, found {hashing!r}")
    return int(hashing)


def _accepted(vectorizer: Any) -> Any:
    """A vectorizer that counts words; others are refused with the reason."""
    if isinstance(vectorizer, HashingVectorizer):
        if vectorizer.alternate_sign or vectorizer.norm is not None:
            raise ValueError(
                "a HashingVectorizer must count words: set alternate_sign=False and norm=None (found "
                f"alternate_sign={vectorizer.alternate_sign!r}, norm={vectorizer.norm!r})"
            )
    elif isinstance(vectorizer, TfidfVectorizer) or not isinstance(vectorizer, CountVectorizer):
        found = vectorizer.__name__ if isinstance(vectorizer, type) else type(vectorizer).__name__
        raise ValueError(
            f"the vectorizer must count words, for the densities are those of counts; found {found}: use "
            "CountVectorizer(…) or HashingVectorizer(alternate_sign=False, norm=None) of scikit-learn"
        )
    if vectorizer.input != "content":
        raise ValueError(
            f"the vectorizer reads input={vectorizer.input!r}, but a text column holds the texts themselves; "
            "set input='content'"
        )
    return vectorizer


def _check_settings(vectorizer: Any) -> None:
    """Let scikit-learn look at the settings, which it does at its own `fit`."""
    if isinstance(vectorizer, CountVectorizer) and vectorizer.vocabulary is None:
        vectorizer = fresh(vectorizer, vocabulary=["word"])
    fresh(vectorizer).fit([])


def _counts(texts: Sequence[str], vectorizer: Any, n_words: int) -> Any:
    """How often each text has each word, a float64 CSR array; words that are not known are passed over."""
    known = type(vectorizer) is CountVectorizer and texts and n_words
    counted = counts_of_known(texts, vectorizer) if known else None
    return word_counts(texts, vectorizer, n_words) if counted is None else counted


def _is_fixed(vectorizer: Any) -> bool:
    """Whether words have their numbers before any text is seen."""
    return isinstance(vectorizer, HashingVectorizer) or vectorizer.vocabulary is not None


def _reader(vectorizer: Any) -> Any:
    """A vectorizer whose words have numbers, ready to count."""
    if isinstance(vectorizer, list | tuple):
        vectorizer = CountVectorizer(vocabulary=list(vectorizer))
    if isinstance(vectorizer, HashingVectorizer) or hasattr(vectorizer, "vocabulary_"):
        return copy(_accepted(vectorizer))  # the user's may be fitted again
    if _accepted(vectorizer).vocabulary is None:
        raise ValueError("the vectorizer knows no words; give it a vocabulary, or fit it to texts")
    return fresh(vectorizer, dtype=np.float64).fit([])


def _n_words(vectorizer: Any) -> int:
    """How many words have a number."""
    if isinstance(vectorizer, HashingVectorizer):
        return int(vectorizer.n_features)
    return len(vectorizer.vocabulary_)
