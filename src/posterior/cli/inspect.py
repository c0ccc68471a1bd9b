"""`posterior inspect`: what is in a model file."""

from typing import Any

from rich.text import Text

from posterior import workflow
from posterior.cli.grouped import grouped
from posterior.cli.model_files import open_model
from posterior.cli.options import ModelFile, Talk
from posterior.cli.shown import number, table_of
from posterior.cli.voice import Voice
from posterior.persistence import describe

SHOWN = 60  # lines of a table


@grouped
def inspect(file: ModelFile, talk: Talk) -> None:
    """Show what a model file holds: columns, parameters, coefficients with standard errors."""
    voice = Voice(talk)
    opened, header = open_model(file), describe(file)
    found = workflow.inspect(opened.model)
    if talk.json:
        voice.data({"file": file, "about": opened.about, "versions": header.versions, **found.as_dict()})
        return
    about = opened.about
    if about:
        told = ", ".join(f"{what} {number(value)}" for what, value in about.get("held_out", {}).items())
        voice.say(
            Text.assemble(
                (str(about.get("title", "")), "bold"),
                f" of {about.get('rows', 0):,} rows, for {about.get('target')}",
            )
        )
        voice.say(Text(f"on rows held out: {told}") if told else Text(""))
    voice.say(Text(str(found)))
    table = about.get("coefficients")
    if table:
        show_coefficients(voice, table)


def show_coefficients(voice: Voice, table: dict[str, Any]) -> None:
    """Coefficients with standard errors, as they were when the model was fitted."""
    heads = list(table["columns"])
    words = sum(head in {"class", "term"} for head in heads)
    cells = [
        [str(v) if k < words else number(v, ".4g") for k, v in enumerate(row)]
        for row in zip(*table["columns"].values(), strict=True)
    ]
    voice.say(Text(table["title"], style="bold"))
    voice.say(table_of(heads, cells[:SHOWN], left=words))
    if len(cells) > SHOWN:
        voice.say(f"… and {len(cells) - SHOWN:,} lines more (--json has all)")
    voice.say(Text(table["note"], style="dim"))

