"""The head of the page: what can be predicted, how well, whether to trust it, what to do."""

import math
from collections.abc import Callable

import numpy as np

from posterior._types import Floats
from posterior.comparison.imbalance import RareRows
from posterior.comparison.leaks import drop_options, skill_of
from posterior.report.blocks import Tile
from posterior.report.subject import Subject
from posterior.report.words import DASH, count, cut, figure, percent, printable, sentence_of

# Rows below which nothing is said of how far probabilities can be trusted.
FEWEST = 50


def banner(subject: Subject) -> list[tuple[str, str]]:
    """Three questions and their answers, in plain words."""
    return [
        ("What can be predicted?", _predicted(subject)),
        ("Can the probabilities be trusted?", _trusted(subject)),
        ("What to do?", _to_do(subject)),
    ]


def target(subject: Subject) -> str:
    """How the class column is called in a sentence."""
    return cut(printable(subject.target or "the class"), 60)


def _predicted(subject: Subject) -> str:
    comparison, best, name = subject.comparison, subject.chosen, target(subject)
    if comparison.ranking.nothing_found:
        return (
            f"Nothing here beats the class frequencies: on rows held out, which it had not seen, no model "
            f"tells "
            f"{name} better than the shares of the classes do alone."
        )
    rare = subject.rare_rows
    if rare is not None:
        told = f"{rare.headline} {rare.told(best.title)}" if comparison.costs is None else rare.headline
    else:
        most = int(np.bincount(comparison.codes).argmax())
        share = float((comparison.codes == most).mean())
        told = (
            f"On rows held out, which it had not seen, {best.title} names the right class of {name} in "
            f"{percent(best.accuracy)}; always answering {cut(subject.classes[most], 40)}, the commonest "
            f"class, is "
            f"right in {percent(share)}."
        )
    return f"{told}{_better(subject)}"


def _better(subject: Subject) -> str:
    """How much better than guessing: by what mistakes cost, or by what the posteriors leave unknown."""
    comparison, best, baseline = subject.comparison, subject.chosen, subject.comparison.ranking.baseline
    if best.average_cost is not None:
        if baseline is None or baseline.average_cost is None:
            return f" A row costs {figure(best.average_cost)} on average."
        return (
            f" A row costs {figure(best.average_cost)} on average, and {figure(baseline.average_cost)} by "
            f"the class "
            "frequencies alone."
        )
    if best.log_loss is None or not math.isfinite(best.log_loss):
        return ""
    gained = skill_of(best.log_loss, comparison.codes)
    return (
        f" It takes away {percent(gained, 0)} of the uncertainty (log loss) that guessing leaves."
        if gained > 0
        else ""
    )


def _trusted(subject: Subject) -> str:
    comparison, best, test = subject.comparison, subject.chosen, subject.calibration
    if comparison.leaks:
        names = sentence_of([leak.column for leak in comparison.leaks])
        return (
            f"Not before it is known when {names} gets its value: what rests on it may say nothing of new "
            f"rows."
        )
    if best.log_proba is None or test is None:
        return f"There are none: {best.title} names a class and does not say how sure it is."
    if comparison.ranking.nothing_found:
        return "They are no more than the shares of the classes."
    if test.is_off:
        return f"No: they {test.fault}. {test.remedy[:1].upper()}{test.remedy[1:]}."
    if len(comparison.codes) < FEWEST:
        return f"{count(len(comparison.codes), 'row')} are too few to tell."
    return _as_they_say(subject, best.log_proba)


def _as_they_say(subject: Subject, log_proba: Floats) -> str:
    """What calibrated posteriors said, beside what was."""
    comparison, rare = subject.comparison, subject.rare_rows
    if rare is not None:
        common = int(subject.class_counts.argmax())
        expected = float(np.exp(np.delete(log_proba, common, axis=1)).sum())
        which = f"{rare.rare} rows" if rare.rare else f"rows of other classes than {rare.common}"
        return (
            f"On the whole, as far as rows held out tell: it expected {expected:,.1f} {which} among them, "
            f"and there were {rare.n_rare:,}."
        )
    sure = float(np.exp(log_proba.max(axis=1)).mean())
    right = float((subject.chosen.predicted == comparison.codes).mean())
    return (
        f"Yes, as far as rows held out tell: on average it was {percent(sure)} sure of the class that it "
        f"named, and right in {percent(right)}."
    )


def _to_do(subject: Subject) -> str:
    comparison, best = subject.comparison, subject.chosen
    if comparison.leaks:
        drop = drop_options(comparison.leaks)
        return (
            f"Find that out first. What is known only after {target(subject)} is left out ({drop}), and "
            f"all is compared anew."
        )
    if comparison.ranking.nothing_found:
        return "Use no model of this table yet: more rows or other columns are needed."
    told = f"Use {best.title}: the commands are at the end of the page."
    if best.log_proba is None:
        return told
    if comparison.costs is not None:
        return f"{told} It takes the action that is expected to cost least."
    if subject.rare_rows is not None:
        return (
            f"{told} Say what a missed {subject.rare_rows.rare or 'row'} and a false alarm cost "
            f"(--costs): it then acts by that."
        )
    return f"{told} Leave rows of which it is unsure to a person, or say what mistakes cost (--costs)."


def tiles(subject: Subject) -> list[Tile]:
    """The key figures; where one class has nearly all rows, what is found of the others and no accuracy."""
    comparison, chosen = subject.comparison, subject.chosen
    shown = [
        Tile("rows", count(comparison.n_rows)),
        Tile("columns", count(len(comparison.schema))),
        Tile("classes", count(len(subject.classes))),
        Tile("model", chosen.title, chosen.approach),
    ]
    if chosen.average_cost is not None:
        shown.append(
            Tile("average cost", figure(chosen.average_cost), _against(subject, "average_cost", figure))
        )
    rare = subject.rare_rows
    if rare is None:
        shown.append(Tile("accuracy", percent(chosen.accuracy), _against(subject, "accuracy", percent)))
    elif comparison.costs is None:  # with costs rows are not called by their likeliest class
        shown.append(_found(rare))
    if chosen.average_cost is None and chosen.log_loss is not None:
        shown.append(Tile("log loss", figure(chosen.log_loss), _against(subject, "log_loss", figure)))
    return shown


def _found(rare: RareRows) -> Tile:
    what = f"{cut(rare.rare, 20)} found" if rare.rare else f"found of all but {cut(rare.common, 20)}"
    precision = DASH if rare.precision is None else percent(rare.precision)
    return Tile(what, f"{count(rare.found)} of {count(rare.n_rare)}", f"precision {precision}")


def _against(subject: Subject, name: str, written: Callable[[float | None], str]) -> str:
    """What the baseline has; or the best model without columns that tell the class almost alone."""
    rest = subject.comparison.without_leaks
    if rest is not None:
        which = "this column" if len(subject.comparison.leaks) == 1 else "these columns"
        return f"without {which}: {written(getattr(rest.recommended, name))}"
    for result in subject.comparison.results:
        if result.approach == "baseline" and result.name != subject.chosen.name:
            return f"{result.title}: {written(getattr(result, name))}"
    return "on rows held out"
