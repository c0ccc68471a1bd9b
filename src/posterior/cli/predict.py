"""`posterior predict`: posteriors, actions and outliers of the rows of a file, batch by batch."""

from collections import Counter
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
from posterior.cli.outputs import refuse_output
from posterior.cli.shown import number
from posterior.cli.voice import Told, Voice
from posterior.cli.wishes import Wishes
from posterior.estimators import DecisionClassifier
from posterior.workflow import predictions
from posterior.workflow.predictions import written


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
    refuse_output(output, data, file)
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
    unanswered: Counter[Any] = field(default_factory=Counter)
    _checked: bool = field(default=False, repr=False)

    def tables(self, batches: Iterator[pa.Table], told: Told) -> Iterator[pa.Table]:
        """What is written for each batch."""
        for batch in batches:
            if not self._checked:
                for name in self.keep:
                    known_column(name, batch.column_names, "--keep")
                self._checked = True
            if not len(batch) and not self.rows:
                raise ValueError(f"{self.path} has a header and no row to predict")
            found = predictions(self.opened.model, self.opened.columns_of(batch, self.path))
            self.rows += len(batch)
            self._score(batch, found)
            self.unanswered.update(found.get("action", ()))
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
        place = {written(label): k for k, label in enumerate(self.opened.model.classes_.tolist())}
        codes = np.array([place.get(written(t), -1) for t in truth.tolist()], dtype=int)
        said = [place[written(label)] for label in found["predicted"][there]]
        self.known += len(codes)
        self.right += int((np.array(said, dtype=int) == codes).sum())
        posteriors = [values for name, values in found.items() if name.startswith("p_")]
        if posteriors and len(codes):
            p = np.stack(posteriors, axis=1)[there]
            with np.errstate(divide="ignore"):
                self.loss -= float(np.log(np.where(codes < 0, 0.0, p[np.arange(len(codes)), codes])).sum())

    def told(self) -> str:
        """What was done, and how well it went, where that can be known."""
        classes = {written(label) for label in self.opened.model.classes_.tolist()}
        others = {str(action): n for action, n in self.unanswered.items() if written(action) not in classes}
        done = "".join(f"; {n:,} {action}" for action, n in others.items())
        if not self.known:
            return done
        loss = f", log loss {number(self.loss / self.known)}" if self.loss else ""
        right = f"accuracy {self.right / self.known:.3f}{loss}"
        return f"{done}; of the {self.known:,} whose class is known: {right}"
