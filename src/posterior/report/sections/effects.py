"""What the values of the most important columns add to the log odds of the recommended model."""

from dataclasses import replace

from posterior.plot.effects import ColumnEffect, EffectDisplay
from posterior.report.blocks import Figure, Figures, Legend, PageBlock, Text
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, printable

MOST_PANELS = 9
# Inches, and those that a level of a category takes.
WIDTH, HEIGHT, LEVEL = 3.3, 2.1, 0.21


def the_effects(subject: Subject) -> list[PageBlock]:
    """What the values of the most important columns add to the log odds, other columns being as they are."""
    found, chosen = subject.importance, subject.chosen
    if found is None or chosen.log_proba is None:
        return []
    schema, compared = subject.comparison.schema, subject.compared
    kinds = dict(zip(schema.names, schema.kinds, strict=True))
    columns = [name for column in found.columns if column.value > 0 for name in column.columns]
    drawn = [name for name in columns if name in chosen.columns and kinds[name] != "text"]
    if not drawn:
        return []
    display = EffectDisplay.from_estimator(
        subject.fitted,
        compared.source,
        drawn[:MOST_PANELS],
        positive=subject.comparison.positive,
        seed=subject.comparison.seed,
    )
    many = [(code, subject.classes[code]) for code in display.codes] if len(subject.classes) > 2 else []
    blocks: list[PageBlock] = [Text(_words(subject, display, len(drawn)))]
    blocks += [Legend(many)] if many else []
    panels = [_panel(display, j) for j in range(len(display.effects))]
    return [*blocks, Figures(panels, small=True)]


def _words(subject: Subject, display: EffectDisplay, columns: int) -> str:
    title = subject.chosen.title
    if len(subject.classes) == 2:
        whose = f"the log odds of {cut(printable(subject.comparison.positive))}"
    else:
        whose = "the log odds of each class against the mean of all"
    words = (
        f"What the values of a column add to {whose} in {title}, the other columns being as they are: 0 is "
        "what rows have on average, +0.7 about doubles the odds. Ticks on the axis are deciles of the rows."
    )
    if columns > len(display.effects):
        words += f" The {len(display.effects)} most important of {count(columns)} columns are drawn."
    if len(display.codes) < len(subject.classes) and len(subject.classes) > 2:
        words += f" Drawn are the first {len(display.codes)} of {count(len(subject.classes))} classes."
    return words


def _panel(display: EffectDisplay, j: int) -> Figure:
    effect = display.effects[j]
    height = HEIGHT if effect.levels is None else 0.75 + LEVEL * max(len(effect.levels), 4)
    with canvas(WIDTH, height) as ax:
        alone = replace(display, effects=(effect,), scale=display.limits)
        alone.plot(ax).ax_.set_title("", loc="left")
        svg = inline_svg(ax.figure, f"effect-{j}")
    name = cut(printable(effect.name))
    return Figure(svg, f"Effect of {name} on the log odds: {_told(effect)}", f"{name}: {_told(effect)}")


def _told(effect: ColumnEffect) -> str:
    """The range of an effect in words, what a gap adds, and how many levels are not drawn."""
    # An effect of 1e-16 is rounding; + 0.0 makes 0 of −0.
    low, high = (round(float(end), 9) + 0.0 for end in (effect.log_odds.min(), effect.log_odds.max()))
    words = f"{figure(low, 2)} to {figure(high, 2)}"
    if effect.missing is not None and len(effect.missing) == 1:
        words += f"; a gap adds {figure(float(effect.missing[0]), 2)}"
    if effect.unshown:
        words += f"; {count(effect.unshown, 'rarer level')} not drawn"
    return words
