"""`posterior predict`: posteriors, actions and outliers of the rows of a file, batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.text import Text

from posterior import files
from posterior.cli.grouped import grouped
from posterior.cli.labelled import as_labels
from posterior.cli.model_files import Opened, open_model
from posterior.cli.options import Data, FileOptions, ModelFile, Talk, known_column
from posterior.cli.shown import number
from posterior.cli.voice import Told, Voice
from posterior.cli.wishes import Wishes
from posterior.estimators import DecisionClassifier
from posterior.workflow import predictions


@grouped
def predict(
    file: ModelFile,
    data: Data,
    reading: FileOptions,
    wishes: Wishes,
    talk: Talk,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Where to; standard output if not given.")
    ] = "-",
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="A column of DATA to write too; may be repeated."),
    ] = None,
) -> None:
    """Write posteriors and actions of rows, and how odd they are.

    Rows are read, scored and written in batches: the file may be larger than memory.
    """
    voice = Voice(talk, results=False)
    opened = open_model(file)
    scored = Scored(opened, data, tuple(keep or ()))
    with voice.noticing(), voice.progress() as told:
        decide(opened.model, wishes)
        batches = opened.batches(data, reading)
        form = "jsonl" if talk.json and output == "-" else None
        files.write_batches(output, scored.tables(batches, told), format=form)
    where = "" if output == "-" else f" in {output}"
    voice.tell(Text(f"{scored.rows:,} rows{where}{scored.told()}", style="dim"))


def decide(model: Any, wishes: Wishes) -> None:
    """Do what the user asks for; a discriminant has nothing to decide by."""
    if not wishes.any:
        return
    if not isinstance(model, DecisionClassifier):
        raise ValueError(
            f"{type(model).__name__} gives no probabilities: priors, costs, rejecting and outliers need a "
            "model that does; fit another one (posterior fit --model …)"
        )
    model.set_decision(**wishes.knobs(model.classes_.tolist()))


@dataclass
class Scored:
    """Batches scored one after the other, and how well, where the file holds the classes too."""

    opened: Opened
    path: str
    keep: tuple[str, ...] = ()
    rows: int = 0
    known: int = 0
    right: int = 0
    loss: float = 0.0
    _checked: bool = field(default=False, repr=False)

    def tables(self, batches: Iterator[pa.Table], told: Told) -> Iterator[pa.Table]:
        """What is written for each batch."""
        for batch in batches:
            if not self._checked:
                for name in self.keep:
                    known_column(name, batch.column_names, "--keep")
                self._checked = True
            found = predictions(self.opened.model, self.opened.columns_of(batch, self.path))
            self.rows += len(batch)
            self._score(batch, found)
            told(self.rows, 0, "rows")
            kept = {name: batch[name] for name in self.keep}
            yield pa.table({**kept, **{name: pa.array(values) for name, values in found.items()}})

    def _score(self, batch: pa.Table, found: dict[str, Any]) -> None:
        target = self.opened.about.get("target")
        if target not in batch.column_names:
            return
        cells = batch[target].combine_chunks()
        there = np.asarray(cells.is_valid())
        truth = as_labels(cells.filter(pa.array(there)))
        classes = [str(label) for label in self.opened.model.classes_]
        codes = np.array(
            [classes.index(str(t)) if str(t) in classes else -1 for t in truth.tolist()], dtype=int
        )
        said = np.array([str(label) for label in found["predicted"][there]])
        self.known += len(codes)
        self.right += int((said == np.array([str(t) for t in truth.tolist()])).sum())
        posteriors = [values for name, values in found.items() if name.startswith("p_")]
        if posteriors and len(codes):
            p = np.stack(posteriors, axis=1)[there]
            with np.errstate(divide="ignore"):
                self.loss -= float(np.log(np.where(codes < 0, 0.0, p[np.arange(len(codes)), codes])).sum())

    def told(self) -> str:
        """How well it went, where that can be known."""
        if not self.known:
            return ""
        loss = f", log loss {number(self.loss / self.known)}" if self.loss else ""
        return f"; of the {self.known:,} whose class is known: accuracy {self.right / self.known:.3f}{loss}"
