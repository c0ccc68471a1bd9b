"""What is counted of texts: how many hold a word, and how often a class uses it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, Self

from posterior._types import Floats
from posterior.stats.base import ColumnFact
from posterior.stats.counts import Totals


@dataclass(frozen=True, eq=False)
class WordFrequencies:
    """The weight of some texts, of those that hold each word, and of each word with its repetitions.

    >>> a = WordFrequencies.of(["so it goes", "so so"], str.split)
    >>> (a + a).documents["so"], a.total["so"]
    (4, 3)
    """

    texts: float
    documents: Counter[Any]
    total: Counter[Any]

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        analyze: Callable[[str], Iterable[Any]],
        weight: Floats | None = None,
        *,
        once: bool = False,
    ) -> Self:
        """Count these texts, cut into words by `analyze`; with `once` a repetition is not counted."""
        documents: Counter[Any] = Counter()
        total: Counter[Any] = documents if once else Counter()
        if weight is None and once:
            documents.update(chain.from_iterable(set(analyze(text)) for text in texts))
            return cls(len(texts), documents, documents)
        for i, text in enumerate(texts):
            w = 1 if weight is None else weight[i]
            for word, repeated in Counter(analyze(text)).items():
                documents[word] += w
                if not once:
                    total[word] += w * repeated
        return cls(len(texts) if weight is None else float(weight.sum()), documents, total)

    def __add__(self, other: Self) -> Self:
        documents = _merged(self.documents, other.documents)
        once = self.total is self.documents and other.total is other.documents
        total = documents if once else _merged(self.total, other.total)
        return type(self)(self.texts + other.texts, documents, total)


def _merged(a: Counter[Any], b: Counter[Any]) -> Counter[Any]:
    few, many = sorted((a, b), key=len)
    merged = many.copy()
    merged.update(few)
    return merged


@dataclass(frozen=True, eq=False)
class WordTotals(Totals):
    """Totals of the words of one text column: the column is one, however many words it has."""

    @classmethod
    def of(cls, totals: Totals) -> Self:
        """The totals of the words, as those of one column."""
        return cls(**{field.name: getattr(totals, field.name) for field in fields(totals)})

    def marginal(self, columns: Sequence[int]) -> Self:
        """The same words; there is no other column."""
        return self

    def facts(self) -> tuple[ColumnFact, ...]:
        """Whether no text holds a word."""
        return () if self.total.any() else (ColumnFact(0, "wordless"),)

    def fill(self, fact: ColumnFact) -> None:
        """Nothing gives back a text."""
        return
