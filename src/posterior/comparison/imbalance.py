"""Tables in which one class has nearly all rows: what accuracy hides there."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from posterior._text import one_line, percent
from posterior._types import AnyArray, Ints

# The share of one class from which on accuracy says little.
LOPSIDED = 0.9


@dataclass(frozen=True)
class RareRows:
    """How a model does with the rows that are not of the commonest class, where that has nearly all rows.

    Of `n_rare` such rows the model finds `found`, by their own class; `called` are the rows that it gives to
    a class other than `common`. `rare` is the other class, where there is one only.
    """

    common: str
    rare: str
    n_rows: int
    n_rare: int
    found: int
    called: int

    @classmethod
    def of(cls, codes: Ints, predicted: Ints, classes: AnyArray) -> Self | None:
        """Those of held-out predictions; None where no class has nearly all rows.

        >>> codes, predicted = np.array([0] * 38 + [1] * 2), np.array([0] * 37 + [1, 1, 0])
        >>> RareRows.of(codes, predicted, np.array(["fair", "fraud"]))
        RareRows(common='fair', rare='fraud', n_rows=40, n_rare=2, found=1, called=2)
        """
        counts = np.bincount(codes, minlength=len(classes))
        most = int(counts.argmax())
        if counts[most] < LOPSIDED * len(codes) or counts[most] == len(codes):
            return None
        rare = codes != most
        names = [one_line(name) for name in classes.tolist()]
        return cls(
            names[most],
            names[1 - most] if len(names) == 2 else "",
            len(codes),
            int(rare.sum()),
            int((rare & (predicted == codes)).sum()),
            int((predicted != most).sum()),
        )

    @property
    def share_of_common(self) -> float:
        """The share of the rows for which always answering the commonest class is right."""
        return 1 - self.n_rare / self.n_rows

    @property
    def recall(self) -> float:
        """The share of the rare rows that is found."""
        return self.found / self.n_rare

    @property
    def precision(self) -> float | None:
        """The share of the rows called rare that are so; None where none is called so."""
        return self.found / self.called if self.called else None

    @property
    def headline(self) -> str:
        """What accuracy is worth here."""
        return (
            f"{percent(self.share_of_common)} of the rows are {self.common}: always answering "
            f"{self.common} is right as often, so that accuracy says little."
        )

    def told(self, title: str) -> str:
        """How many of the rare rows a model finds, and how many of those that it calls rare are so.

        >>> RareRows("fair", "fraud", 40_000, 20, 5, 8).told("LDA")
        'Of 20 fraud rows LDA finds 5 (recall 25.0 %); of 8 that it calls fraud 5 are (precision 62.5 %).'
        >>> RareRows("fair", "", 40_000, 20, 0, 0).told("LDA")
        'Of 20 rows of other classes LDA finds none (recall 0.0 %): it calls every row fair.'
        """
        of = f"{self.rare} row{'s' * (self.n_rare != 1)}" if self.rare else "rows of other classes"
        found = f"{self.found:,}" if self.found else "none"
        words = f"Of {self.n_rare:,} {of} {title} finds {found} (recall {percent(self.recall)})"
        if self.precision is None:
            return f"{words}: it calls every row {self.common}."
        called = f"that it calls {self.rare}" if self.rare else f"that it does not call {self.common}"
        return (
            f"{words}; of {self.called:,} {called} {found} {'is' if self.found == 1 else 'are'} "
            f"(precision {percent(self.precision)})."
        )


def imbalance_words(rows: RareRows | None, title: str, *, by_cost: bool) -> str:
    """What is said of a table in which one class has nearly all rows; nothing of any other.

    With costs rows are not called by their likeliest class, and the average cost says how well.
    """
    if rows is None:
        return ""
    return rows.headline if by_cost else f"{rows.headline} {rows.told(title)}"
