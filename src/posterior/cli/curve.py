"""`posterior curve`: how much data generative and discriminative models need."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import posterior
from posterior.cli.console import CommandConsole
from posterior.cli.grouped import grouped
from posterior.cli.labelled import read_labelled
from posterior.cli.options import ColumnOptions, Data, FileOptions, OutputOptions, Seed, Target
from posterior.cli.outputs import refuse_picture
from posterior.cli.tables import show_reading

if TYPE_CHECKING:
    from posterior.comparison import LearningCurve


@grouped
def curve(
    data: Data,
    reading: FileOptions,
    columns: ColumnOptions,
    talk: OutputOptions,
    target: Target = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", metavar="N,M,…", help="Numbers of rows; chosen if not given.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="How often rows are drawn anew.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw the curves: PNG, SVG or PDF.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Show how the loss falls with the number of rows.

    For generative and discriminative models, and where they cross.
    """
    console = CommandConsole(talk)
    if plot is not None:
        refuse_picture(plot, data)
    with console.noticing():
        table = read_labelled(data, target, reading, columns)
        if not talk.json:
            show_reading(console, table)
        settings: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
        if sizes is not None:
            settings["sizes"] = whole_numbers(sizes)
        with console.progress() as told:
            found = posterior.comparison.LearningCurve.of(table, None, seed=seed, progress=told, **settings)
        if plot is not None:
            draw(found, plot)
    if talk.json:
        console.data(found.as_dict())
        return
    console.say(Text(str(found)))
    console.tell(
        Text("without a penalty unless it says ridge; what compare calls logistic has a ridge", style="dim")
    )
    if plot is not None:
        console.say(Text.assemble(("plot: ", "bold"), plot))


def whole_numbers(text: str) -> list[int]:
    """Numbers separated by commas.

    >>> whole_numbers("20, 50,100")
    [20, 50, 100]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--sizes {text}: expected whole numbers, such as 20,50,100") from None


def draw(found: "LearningCurve", path: str) -> None:
    """Write the picture."""
    plot = posterior.plot
    display = plot.LearningCurveDisplay.from_curve(found).plot()
    try:
        with posterior.files.writing(path) as part:
            display.figure_.savefig(part, format=path.rpartition(".")[2].lower(), dpi=150)
    finally:
        plot.style.pyplot().close(display.figure_)
