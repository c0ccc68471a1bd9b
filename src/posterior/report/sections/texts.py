"""Texts: the words that speak most for each class, and a few held-out texts word by word."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from posterior._types import Floats, Ints
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.contributions import Contributions
from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.families.sums import safe_log
from posterior.plot.captions import label
from posterior.plot.style import FAINT, colours_of
from posterior.plot.word_ranking import WordPanel
from posterior.report.blocks import (
    AnyCell,
    Figure,
    Figures,
    Head,
    Legend,
    Name,
    Number,
    PageBlock,
    PageTable,
    Text,
)
from posterior.report.figures import WIDTH, canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent, printable

# Words of all classes in a table, those of a text that is explained, and letters of a text that are quoted.
MOST_WORDS, WORDS_OF_A_TEXT, LETTERS = 16, 12, 400
# Classes that have a colour of their own.
MOST_CLASSES = 8
# Rows in which words are counted.
MOST_ROWS = 20_000


def the_texts(subject: Subject) -> list[PageBlock]:
    """The words that speak most for each class, with counts, and a few held-out texts word by word."""
    texts = [j for j in subject.rows.where("text") if subject.rows.schema.names[j] in subject.chosen.columns]
    if not texts or not isinstance(subject.fitted, GenerativeEstimator):
        return []
    tables = [table for j in texts if (table := _words(subject, j)) is not None]
    explained = _examples(subject, texts)
    if not tables and not explained:
        return []
    told = (
        f"A word's log ratio is the log of how much likelier it is in a text of its class than in one of the "
        f"others, by {subject.chosen.title}: it adds that to the log odds each time it is there. Words in "
        "few texts may be chance."
    )
    classes = [Legend(list(enumerate(subject.classes))[:MOST_CLASSES])] if explained else []
    return [Text(told), *tables, *classes, *explained]


# -- words ----------------------------------------------------------------------------------------


def _words(subject: Subject, j: int) -> PageTable | None:
    """The words of a column of texts with the largest log ratios; None where they are hashed."""
    model, name = subject.fitted.model_, subject.rows.schema.names[j]
    for block, distribution in model.distributions:
        known = distribution.word_probabilities
        if [model.schema.names[c] for c in block.columns] != [name] or known is None:
            continue
        words, probability = known
        panel = WordPanel.of(name, words, safe_log(probability), np.arange(len(probability)), MOST_WORDS)
        place = {word: w for w, word in enumerate(words)}
        return _listing(
            subject, panel, _texts_with(subject, j, distribution, [place[w] for w in panel.words])
        )
    return None


def _texts_with(subject: Subject, j: int, distribution: Any, words: list[int]) -> Floats:
    """How many texts of each class hold each word, (W, K), in some of the rows."""
    rows = subject.compared
    rows = rows.part(np.arange(0, len(rows), -(-len(rows) // MOST_ROWS)))
    block = np.empty((len(rows), 1), dtype=object)
    block[:, 0] = rows.texts(j)
    _, terms = distribution.word_terms(block, np.array(words, dtype=np.int64))
    there = (terms[:, terms.shape[1] - len(words) :] != 0).any(axis=2)
    return np.stack([there[rows.codes == k].sum(axis=0) for k in range(len(subject.classes))], axis=1)


def _listing(subject: Subject, panel: WordPanel, texts: Floats) -> PageTable:
    rows: list[list[AnyCell]] = []
    totals = np.bincount(subject.compared.codes, minlength=len(subject.classes))
    step = -(-len(subject.compared) // MOST_ROWS)
    for word, odds, k, found in zip(panel.words, panel.log_odds, panel.owner, texts, strict=True):
        others = float(found.sum() - found[k])
        share = percent(float(found[k]) * step / max(int(totals[k]), 1))
        rows.append(
            [
                Name(printable(word)),
                Name(subject.classes[k]),
                Number(figure(float(odds), 2)),
                Number(f"{count(float(found[k]))} ({share})"),
                Number(count(others)),
            ]
        )
    some = f" (every {step}th row counted)" if step > 1 else ""
    return PageTable(
        f"Words of {cut(printable(panel.name))} with the largest log ratios{some}",
        (
            Head("word"),
            Head("speaks for"),
            Head("log ratio", "number", "log of the probability in the class over the mean of the others"),
            Head("texts of the class", "number", "how many texts of the class hold it"),
            Head("other texts", "number", "how many texts of other classes hold it"),
        ),
        rows,
    )


# -- texts word by word ---------------------------------------------------------------------------


class Example(NamedTuple):
    """A row that was held out, by its number among the compared rows, and why it is shown."""

    row: int
    why: str


def _examples(subject: Subject, texts: list[int]) -> list[PageBlock]:
    """A text that is taken for its class and one that is not, by a model that had not seen them."""
    folds, rows = subject.comparison.first_folds, subject.compared
    if folds is None:
        return []
    learnt, predicted = folds.parts()[-1]
    chosen = _chosen(subject, predicted)
    if not chosen or len(np.unique(rows.codes[learnt])) < 2:
        return []
    model = fit_table(clone(subject.chosen.estimator), rows.part(learnt))
    figures = []
    for number, example in enumerate(chosen):
        one = rows.part(np.array([example.row]))
        quoted = " / ".join(cut(printable(text), LETTERS) for j in texts if (text := one.texts(j)[0]))
        words = f"{example.why} (row {rows.places[example.row]}): “{quoted}”"
        parts = model.contributions(rows_for(model, one), words=True)
        figures.append(_by_word(subject, parts, words, texts, f"text-{number}"))
    return [Figures(figures)]


def _chosen(subject: Subject, predicted: Ints) -> list[Example]:
    """Of some rows that were held out: one of middling certainty that is right, and the worst error."""
    comparison, rows = subject.comparison, subject.compared
    logs = subject.chosen.log_proba
    if logs is None:
        return []
    place = np.searchsorted(comparison.rows, rows.places[predicted])
    own = logs[place, comparison.codes[place]]
    right = subject.chosen.predicted[place] == comparison.codes[place]
    found = []
    if right.any():
        ordered = np.flatnonzero(right)[np.argsort(own[right], kind="stable")]
        middle = ordered[len(ordered) // 2]
        k = comparison.codes[place[middle]]
        why = f"Taken for what it is, {subject.classes[k]}, with middling certainty"
        found.append(Example(int(predicted[middle]), why))
    if not right.all():
        wrong = np.flatnonzero(~right)
        worst = wrong[np.argmin(own[wrong])]
        k, taken = comparison.codes[place[worst]], subject.chosen.predicted[place[worst]]
        why = f"The surest error of a fold, {subject.classes[k]} taken for {subject.classes[taken]}"
        found.append(Example(int(predicted[worst]), why))
    return found


def _by_word(subject: Subject, parts: Contributions, words: str, texts: list[int], prefix: str) -> Figure:
    """What each word, each other column and the prior add to the log odds of one row, the largest first."""
    values, terms = parts.values[0], parts.terms
    order = np.argsort(-np.abs(values), kind="stable")
    order = order if parts.there is None else order[parts.there[0][order]]
    shown, rest = order[:WORDS_OF_A_TEXT].tolist(), order[WORDS_OF_A_TEXT:]
    lines = [(_word(subject, terms[t], texts), float(values[t])) for t in shown]
    lines += [(f"{len(rest)} others", float(values[rest].sum()))] if len(rest) else []
    of, against = (
        int(np.searchsorted(subject.comparison.classes, one[0])) for one in (parts.of, parts.against)
    )
    with canvas(WIDTH, 0.7 + 0.21 * len(lines)) as ax:
        colours = colours_of(subject.classes)
        looks = [colours[of] if value > 0 else colours[against] for _, value in lines]
        # A word that one class never has decides alone; its bar is longer than all others.
        longest = 1.2 * max((abs(value) for _, value in lines if np.isfinite(value)), default=1.0)
        ends = [float(np.clip(value, -longest, longest)) for _, value in lines]
        ax.barh(np.arange(len(lines)), ends, color=looks, height=0.7)
        ax.axvline(0.0, color=FAINT, linewidth=1)
        ax.set_yticks(np.arange(len(lines)), [label(word) for word, _ in lines])
        ax.set_ylim(len(lines) - 0.4, -0.6)
        ax.set_xlabel("log odds")
        svg = inline_svg(ax.figure, prefix)
    pair = f"{cut(subject.classes[of], 30)} against {cut(subject.classes[against], 30)}"
    told = ", ".join(f"{word} {figure(value, 2)}" for word, value in lines)
    total = f"log odds of {pair} {figure(float(parts.total[0]), 2)}"
    return Figure(svg, f"Word by word, {total}: {told}", f"{words} Word by word, {total}.")


def _word(subject: Subject, term: str, texts: list[int]) -> str:
    """The name of a term; where there is one text, a word of it goes by itself."""
    (name, *others) = (subject.rows.schema.names[j] for j in texts)
    inside = term.startswith(f"{name}[") and term.endswith("]") and not others
    return printable(term[len(name) + 1 : -1] if inside else term)
