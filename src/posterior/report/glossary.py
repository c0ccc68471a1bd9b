"""Terms that the page uses, what each means, and links from where each is used first."""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posterior.report.words import printable


class Term(NamedTuple):
    """A word of the field, what it means, and other spellings of it in sentences."""

    word: str
    meaning: str
    also: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its id in the page."""
        return "term-" + re.sub(r"[^a-z0-9]+", "-", self.word.casefold()).strip("-")


TERMS = (
    Term(
        "accuracy",
        "the share of rows whose most probable class is the true one. Where one class has nearly all "
        "rows, always "
        "naming that class has a high accuracy too.",
    ),
    Term(
        "AUC", "the probability that a row of one class is ranked above a row of another; 0.5 is by chance."
    ),
    Term("average cost", "what rows cost, each by the action that its posteriors expect to cost least."),
    Term("baseline", "looks at no column: what any model must beat."),
    Term(
        "Brier score", "the mean squared distance of the posteriors from the truth; 0 is perfect.", ("Brier",)
    ),
    Term(
        "calibrated",
        "probabilities that mean what they say: of the rows given 70 %, 70 % are of that class.",
        ("calibration",),
    ),
    Term(
        "calibration error",
        "the mean distance of stated probabilities from observed frequencies, over bins. It is above zero "
        "even "
        "for calibrated posteriors; the reliability diagram says by how much.",
    ),
    Term("class", "what is predicted: one of a few answers.", ("classes",)),
    Term(
        "Cramér's V",
        "how closely two columns go together where one is a category, from 0 to 1; numbers are cut into "
        "parts, and "
        "what chance makes of it is taken off.",
    ),
    Term("discriminant", "gives a class and no probability."),
    Term("discriminative", "learns p(class | row) and nothing else."),
    Term(
        "generative",
        "learns p(row | class) and p(class), and applies Bayes' rule: it knows how odd a row is.",
    ),
    Term(
        "held out",
        "rows on which a model is tried and from which it did not learn: how it does there is how it will "
        "do on new "
        "rows of the same kind.",
        ("held-out",),
    ),
    Term(
        "log loss",
        "the mean of −ln p(true class). It rewards honest probabilities, not only right answers: 0 is "
        "perfect; to "
        "give 1 % to what then happens costs 4.6. It is measured in nats.",
        ("nats",),
    ),
    Term(
        "log odds",
        "ln(p / (1 − p)): 0 at one half, 2.2 at 90 %, 4.6 at 99 %; what speaks for a class adds up.",
    ),
    Term(
        "pool",
        "a few of the models made into one: its log odds are a weighted sum of theirs, with weights that "
        "held-out rows have chosen.",
    ),
    Term("posterior", "the probability of a class once the row is known.", ("posteriors",)),
    Term("precision", "of the rows that are called a class, the share that are of it."),
    Term(
        "rank correlation",
        "how surely one number is large where the other is: 1 always, 0 not at all, −1 where it is always "
        "small.",
    ),
    Term("recall", "of the rows of a class, the share that is found."),
    Term(
        "reference", "gradient boosting of another library, to compare with: it is not kept or recommended."
    ),
    Term("standard deviation", "how far numbers are usually from their mean."),
    Term(
        "standard error",
        "how uncertain a mean is (±), from the spread over rows; intervals are 1.96 of them to either side.",
    ),
    Term(
        "temperature",
        "a number by which log posteriors are divided: above 1 makes them less sure, below 1 surer.",
    ),
    Term(
        "tie",
        "compared row by row, the difference from the best model is within two of its standard errors.",
        ("ties",),
    ),
)


@dataclass
class FirstUses:
    """Links to the terms of a page, each where it is used first; one for each page that is written."""

    markup: Any
    escape: Any
    used: set[str] = field(default_factory=set)

    def __call__(self, words: Any) -> Any:
        """The words with a link at every term that was not used before; all else is escaped."""
        parts, end = [], 0
        text = printable(words)
        for found in _TERM.finditer(text):
            term = _BY_SPELLING[found[0].casefold()]
            if term.key in self.used:
                continue
            self.used.add(term.key)
            link = f'<a class="term" href="#{term.key}" title="{self.escape(term.meaning)}">'
            parts += [self.escape(text[end : found.start()]), self.markup(f"{link}{found[0]}</a>")]
            end = found.end()
        return self.markup("").join([*parts, self.escape(text[end:])])


_BY_SPELLING = {spelling.casefold(): term for term in TERMS for spelling in (term.word, *term.also)}
_TERM = re.compile(
    r"\b(" + "|".join(map(re.escape, sorted(_BY_SPELLING, key=len, reverse=True))) + r")\b", re.IGNORECASE
)
