"""`posterior inspect`: what is in a model file."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from posterior import workflow
from posterior._text import name_text
from posterior.cli.console import CommandConsole
from posterior.cli.grouped import grouped
from posterior.cli.model_files import About, held_out_words, open_model
from posterior.cli.options import ModelFile, OutputOptions

# Classes that are counted by name.
MOST_CLASSES = 10


def card(about: About, versions: Mapping[str, Any]) -> Iterator[str]:
    """What is worth knowing of where a model comes from, line by line."""
    if about.classes:
        total = max(sum(about.classes.values()), 1)
        counted = list(about.classes.items())
        counts = [f"{name_text(name)} {n:,} ({100 * n / total:.3g} %)" for name, n in counted[:MOST_CLASSES]]
        more = f", … ({len(counted)} in all)" if len(counted) > MOST_CLASSES else ""
        yield f"classes: {', '.join(counts)}{more}"
    if about.columns:
        yield f"columns of the table: {len(about.columns):,}"
    if about.date:
        yield f"date: {name_text(about.date)}"
    if about.note:
        yield f"note: {name_text(about.note)}"
    yield "written by " + ", ".join(f"{name} {version}" for name, version in versions.items())


@grouped
def inspect(file: ModelFile, talk: OutputOptions) -> None:
    """Show what a model file holds.

    Columns, parameters, and coefficients with standard errors.
    """
    console = CommandConsole(talk)
    opened = open_model(file)
    about, found = opened.about, workflow.inspect(opened.model)
    if talk.json:
        versions = opened.header["library_versions"]
        console.data({"file": file, "about": opened.header["about"], "versions": versions, **found.as_dict()})
        return
    if about.title:
        console.say(Text.assemble((about.title, "bold"), f" of {about.rows:,} rows, for {about.target}"))
        for line in card(about, opened.header["library_versions"]):
            console.say(Text(line))
    if about.held_out:
        console.say(Text(held_out_words(about.held_out, about.classes)))
    console.print_as_it_is(str(found))
    if about.coefficients:
        how = f"coefficients with standard errors, {about.coefficients['how']}; predictions do not use these"
        console.print_as_it_is(f"\n{how}\n\n{about.coefficients['text']}")
