"""Which rows are held out together."""

from dataclasses import dataclass

import numpy as np

from posterior._types import Bools, Ints


@dataclass(frozen=True, eq=False)
class Folds:
    """The fold of each row, (n,), and how many folds there are.

    A row is predicted by the model of all other folds; `forward`, by that of the folds before its own, and
    the rows of fold 0 are only learnt from. `words` say how the rows were dealt out.

    >>> Folds(np.array([0, 1, 0]), 2).parts()
    [(array([1]), array([0, 2])), (array([0, 2]), array([1]))]
    """

    numbers: Ints
    n_folds: int
    words: str = ""
    forward: bool = False

    @property
    def n_models(self) -> int:
        """How many models there are, one for each fold that is predicted."""
        return self.n_folds - self.forward

    @property
    def predicted(self) -> Bools:
        """Which rows are predicted, (n,)."""
        return np.asarray(self.numbers >= int(self.forward))

    def take(self, rows: Ints) -> "Folds":
        """The folds of some of the rows."""
        return Folds(self.numbers[rows], self.n_folds, self.words, self.forward)

    def parts(self) -> list[tuple[Ints, Ints]]:
        """Rows to learn from and rows to predict, for each model."""
        fold = self.numbers
        return [
            (np.flatnonzero(fold < f if self.forward else fold != f), np.flatnonzero(fold == f))
            for f in np.unique(fold[self.predicted]).tolist()
        ]

    def unknowable(self, codes: Ints) -> Bools:
        """Predicted rows of a class that their model had not met, (n,): it could not have known."""
        first = np.full(int(codes.max()) + 1, self.n_folds)
        last = np.full(len(first), -1)
        np.minimum.at(first, codes, self.numbers)
        np.maximum.at(last, codes, self.numbers)
        if self.forward:
            return np.asarray((first[codes] >= self.numbers) & self.predicted)
        return np.asarray(first[codes] == last[codes])
