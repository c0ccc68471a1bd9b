"""`posterior inspect`: what is in a model file."""

from rich.text import Text

from posterior import workflow
from posterior.cli.console import CommandConsole
from posterior.cli.fit import held_out_words
from posterior.cli.grouped import grouped
from posterior.cli.model_files import open_model
from posterior.cli.options import ModelFile, OutputOptions


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
    if about.held_out:
        console.say(Text(held_out_words(about.held_out)))
    console.print_as_it_is(str(found))
    if about.coefficients:
        how = f"coefficients with standard errors, {about.coefficients['how']}; predictions do not use these"
        console.print_as_it_is(f"\n{how}\n\n{about.coefficients['text']}")
