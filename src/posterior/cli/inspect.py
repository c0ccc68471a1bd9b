"""`posterior inspect`: what is in a model file."""

from rich.text import Text

from posterior import workflow
from posterior.cli.fit import held_out_words
from posterior.cli.grouped import grouped
from posterior.cli.model_files import open_model
from posterior.cli.options import ModelFile, Talk
from posterior.cli.voice import Voice
from posterior.persistence import describe


@grouped
def inspect(file: ModelFile, talk: Talk) -> None:
    """Show what a model file holds.

    Columns, parameters, and coefficients with standard errors.
    """
    voice = Voice(talk)
    opened, header = open_model(file), describe(file)
    found = workflow.inspect(opened.model)
    if talk.json:
        voice.data(
            {"file": file, "about": opened.about, "versions": header["library_versions"], **found.as_dict()}
        )
        return
    about = opened.about
    if about:
        rows, target = about.get("rows", 0), about.get("target")
        voice.say(Text.assemble((str(about.get("title", "")), "bold"), f" of {rows:,} rows, for {target}"))
        if about.get("held_out"):
            voice.say(Text(held_out_words(about["held_out"])))
    voice.print_as_it_is(str(found))
    table = about.get("coefficients")
    if table:
        voice.print_as_it_is(
            f"\ncoefficients with standard errors, {table['how']}; predictions do not use these"
        )
        voice.print_as_it_is(f"\n{table['text']}")
