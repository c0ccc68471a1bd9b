"""What is raced: a kind of table and the estimator of ours that learns from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import posterior
from benchmarks import data
from posterior.families import Categorical


@dataclass(frozen=True)
class Task:
    """A table of a certain kind, and our estimator for it."""

    name: str
    ours: Callable[..., Any]
    draw: data.Draw
    columns: int = 20
    classes: int = 10
    share: float = 1.0  # of the rows asked for: some tasks are slow for somebody

    def rows(self, asked: int) -> int:
        """How many rows to draw where `asked` were asked for."""
        return max(int(self.share * asked), 10 * self.classes)


def mixed_bayes(d: int = 20, alpha: float = 1.0, **settings: Any) -> Any:
    """Our naive Bayes, told that the second half of the columns are categories, as in textbooks."""
    kinds = dict.fromkeys(data.categorical_columns(d), "categorical")
    families = {"categorical": Categorical(alpha=alpha)}
    return plain_bayes(kinds=kinds, families=families, variance_rows=0.0, **settings)


def plain_bayes(**settings: Any) -> Any:
    """Our naive Bayes as in textbooks: nothing is chosen on rows held out, as rivals do not."""
    return posterior.NaiveBayes(tied=False, weights=1.0, **settings)


def plain_gaussian() -> Any:
    """Without the share of the largest variance that is added to all, as rivals are timed."""
    return posterior.GaussianNB(var_smoothing=0.0)


def unpenalised(**settings: Any) -> Any:
    """Maximum likelihood."""
    return posterior.LogisticRegression(C=np.inf, **settings)


TASKS = {
    task.name: task
    for task in [
        Task("GaussianNB", plain_gaussian, data.numbers),
        Task("LDA", posterior.LDA, data.numbers),
        Task("QDA", posterior.QDA, data.numbers),
        Task("BernoulliNB", posterior.BernoulliNB, data.bits),
        Task("CategoricalNB", posterior.CategoricalNB, data.categories),
        Task("MultinomialNB", posterior.MultinomialNB, data.categories),
        Task("mixed columns", mixed_bayes, data.mixed),
        Task("MultinomialNB, text", posterior.MultinomialNB, data.texts, columns=20_000, share=0.2),
        Task("BernoulliNB, text", posterior.BernoulliNB, data.texts, columns=20_000, share=0.2),
        Task("logistic", posterior.LogisticRegression, data.easy, classes=2),
        Task("softmax", posterior.LogisticRegression, data.easy),
        Task("logistic, no penalty", unpenalised, data.numbers, classes=2),
        Task("softmax, no penalty", unpenalised, data.numbers, classes=4, share=0.1),
        Task("logistic, hard", posterior.LogisticRegression, data.hard, classes=2, share=0.3),
        Task("softmax, hard", posterior.LogisticRegression, data.hard, share=0.3),
    ]
}


def chosen(names: Sequence[str], among: Sequence[str] | None = None) -> list[Task]:
    """The tasks whose names begin with one of `names`, or all; `among` keeps to some of them."""
    return [TASKS[name] for name in (TASKS if among is None else among) if begins(name, names)]


def begins(name: str, wanted: Sequence[str]) -> bool:
    """Whether a name begins with one of those wanted, or none is wanted in particular.

    >>> begins("GaussianNB", ["gauss"]), begins("GaussianNB", []), begins("LDA", ["gauss"])
    (True, True, False)
    """
    return not wanted or any(name.lower().startswith(start.lower()) for start in wanted)
