"""`posterior predict`: posteriors, actions and outliers of the rows of a file, batch by batch."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from shlex import quote
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.text import Text

from posterior import files
from posterior._plain import written
from posterior._text import listed, readable
from posterior._types import AnyArray, Floats, Ints, Progress
from posterior.cli.console import CommandConsole
from posterior.cli.decision_options import DecisionOptions
from posterior.cli.grouped import grouped
from posterior.cli.model_files import Opened, held_out_words, open_model
from posterior.cli.options import FileOptions, ModelFile, OutputOptions, known_column
from posterior.cli.outputs import refuse_output, refuse_scanned
from posterior.cli.scanning import ClusterAddress, DataFiles, EngineName, open_elsewhere
from posterior.cli.tables import accuracy_words, number
from posterior.engines.remote import table_of
from posterior.engines.scoring import rate_words
from posterior.engines.workers import in_order
from posterior.estimators import DecisionClassifier
from posterior.estimators.precision import in_double
from posterior.notices import Notice, gathered, warn_once
from posterior.schema import LabelledTable
from posterior.schema.readings import ForeignCellsError
from posterior.schema.readings.spellings import known_spelling
from posterior.workflow import predictions


@grouped
def predict(
    file: ModelFile,
    data: DataFiles,
    reading: FileOptions,
    decision: DecisionOptions,
    talk: OutputOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Where to; standard output if not given.")
    ] = "-",
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="A column of DATA to write too; may be repeated."),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Write texts such as =1+2 into CSV as they are: spreadsheets run them."),
    ] = False,
    engine: EngineName = None,
    cluster: ClusterAddress = None,
) -> None:
    """Write posteriors and actions of rows, and how odd they are.

    Rows are read, scored and written in batches: the file may be larger than memory.
    """
    console = CommandConsole(talk, results=False)
    opened = open_model(file)
    elsewhere = open_elsewhere(console, data, engine, reading, cluster=cluster, large=None)
    refuse_output(output, *(data if elsewhere is None else elsewhere.paths), file, *decision.files)
    if elsewhere is not None:
        refuse_scanned(output, elsewhere)
    scored = Scored(opened, listed(data, 2) if elsewhere is not None else data[0], tuple(keep or ()))
    with console.noticing(), console.progress() as told:
        decide(opened.model, decision)
        if elsewhere is None:
            batches = opened.batches(data[0], reading)
        else:
            scored.all_rows = elsewhere.counted_rows or 0
            batches = map(table_of, elsewhere.batches(scored.columns_of(elsewhere.schema.names)))
        form = "jsonl" if talk.json and output == "-" else None
        files.write_batches(output, scored.tables(batches, told), format=form, raw=raw)
    where = "" if output == "-" else f" in {output}"
    console.tell(Text(f"{scored.rows:,} rows{where}{scored.told()}", style="dim"))
    if scored.are_those_of_training:
        said = "these look like the rows that the model learnt from, which say little of others"
        held_out = held_out_words(opened.about.held_out, opened.about.classes)
        console.note("; ".join(filter(None, (said, held_out))))


def decide(model: Any, decision: DecisionOptions) -> None:
    """Do what the user asks for; a discriminant has nothing to decide by."""
    if not decision.any:
        return
    if not isinstance(model, DecisionClassifier):
        raise ValueError(
            f"{type(model).__name__} gives no probabilities: priors, costs, rejecting and outliers need a "
            "model that does; fit another one (posterior fit --model …)"
        )
    model.set_decision(**decision.settings(model.classes_.tolist()))


def refuse_keeping(keep: Sequence[str], names: Sequence[str], found: Mapping[str, Any]) -> None:
    """Refuse a column to keep that is not there, or is called as one that is written."""
    for name in keep:
        known_column(name, names, "--keep")
        if name in found:
            raise ValueError(f"--keep {name}: what is written has a column of this name; rename yours first")


def numbers_of(cells: Any) -> Floats:
    """The numbers of a target column, also in disguise; NaN where there is none, or where it holds others."""
    with suppress(ValueError):
        return np.asarray(cells.cast(pa.float64()).to_numpy())
    with suppress(ValueError):
        return LabelledTable.unlabelled(pa.table({"y": cells}), {"y": "continuous"}).values((0,))[:, 0]
    return np.full(len(cells), np.nan)


@dataclass
class Scored:
    """Batches scored one after the other, and how well, where the file holds the classes too."""

    opened: Opened
    path: str
    keep: tuple[str, ...] = ()
    rows: int = 0
    right: int = 0
    loss: float = 0.0
    strange: int = 0
    numbers: int = 0
    off: float = 0.0
    inside: int = 0
    met: Counter[int] = field(default_factory=Counter)
    done: Counter[Any] = field(default_factory=Counter)
    all_rows: int = 0

    def columns_of(self, names: Sequence[str]) -> list[str]:
        """The columns of a table that are looked at: those of the model, those to keep and the target."""
        looked_at = {*self.opened.schema.inputs, *self.keep, self.opened.about.target}
        for name in self.keep:
            known_column(name, names, "--keep")
        return [name for name in names if name in looked_at]

    def tables(self, batches: Iterator[pa.Table], told: Progress) -> Iterator[pa.Table]:
        """What is written for each batch; they are scored by threads, and warnings are said once."""
        notices: list[Notice] = []
        began = perf_counter()
        with closing(in_order(self._scored, self._numbered(batches), ahead=1)) as scored:
            for batch, logs, found, heard in scored:
                if not self.rows:
                    refuse_keeping(self.keep, batch.column_names, found)
                notices += heard
                self.rows += len(batch)
                self.done.update(found.get("action", ()))
                self._score(batch, logs)
                self._score_numbers(batch, found)
                told(self.rows, self.all_rows, rate_words(self.rows, perf_counter() - began))
                kept = {name: batch[name] for name in self.keep}
                yield pa.table({**kept, **{name: pa.array(values) for name, values in found.items()}})
        warn_once(notices)

    def _numbered(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        first = 0
        for batch in batches:
            if len(batch):
                yield first, batch
            first += len(batch)
        if not first:
            raise ValueError(f"{self.path} has a header and no row to predict")

    def _scored(
        self, piece: tuple[int, pa.Table]
    ) -> tuple[pa.Table, Floats | None, dict[str, AnyArray], list[Notice]]:
        first, batch = piece
        X = self.opened.columns_of(batch, self.path)
        with self.rows_named(first), gathered() as heard:
            logs = self._log_posterior(X)
            return batch, logs, predictions(self.opened.model, X, logs), heard

    @contextmanager
    def rows_named(self, first: int) -> Iterator[None]:
        """Say of a cell that is not as in training where it is in the file."""
        try:
            yield
        except ForeignCellsError as error:
            cell, row = error.cells[0], first + error.row + 1
            raise ValueError(
                f"{self.path} has {cell!r} in row {row:,} of column {error.column!r}, which is read as "
                f"{error.read_as}; write it as in training, take the row out, or pass --missing "
                f"{quote(cell)} if it marks a gap"
            ) from error

    def _log_posterior(self, X: pa.Table) -> Floats | None:
        model = self.opened.model
        with in_double():
            return np.asarray(model.predict_log_proba(X)) if hasattr(model, "predict_log_proba") else None

    def _score(self, batch: pa.Table, logs: Floats | None) -> None:
        target = self.opened.about.target
        if target not in batch.column_names or logs is None:
            return
        codes = self._codes(batch[target].to_pylist())
        self.strange += int(((codes < 0) & np.asarray(batch[target].is_valid())).sum())
        known = np.flatnonzero(codes >= 0)
        self.met.update(codes[known].tolist())
        self.right += int((logs[known].argmax(axis=1) == codes[known]).sum())
        self.loss -= float(logs[known, codes[known]].sum())

    def _codes(self, cells: list[Any]) -> Ints:
        """The class of each cell by its place, in whatever spelling; −1 for a gap and for another class."""
        place = {written(label): k for k, label in enumerate(self.opened.model.classes_.tolist())}
        code = {
            cell: -1 if cell is None else place.get(known_spelling(written(cell), place) or "", -1)
            for cell in set(cells)
        }
        return np.array([code[cell] for cell in cells], dtype=np.int64)

    def _score_numbers(self, batch: pa.Table, found: Mapping[str, Any]) -> None:
        target = self.opened.about.target
        if target not in batch.column_names or "low_90" not in found:
            return
        y = numbers_of(batch[target])
        known = ~np.isnan(y)
        self.numbers += int(known.sum())
        self.off += float(np.abs(y - found["predicted"])[known].sum())
        inside = (y >= found["low_90"]) & (y <= found["high_90"])
        self.inside += int(inside[known].sum())

    def told(self) -> str:
        """What was done, and how well it went, where that can be known."""
        labels = getattr(self.opened.model, "classes_", None)  # a regression has none
        classes = set() if labels is None else {written(label) for label in labels.tolist()}
        others = {str(action): n for action, n in self.done.items() if written(action) not in classes}
        words = [f"{n:,} {action}" for action, n in others.items()]
        if self.strange:
            words.append(f"{self.strange:,} of a class that the model does not know")
        if known := self.met.total():
            right, loss = self.right / known, number(self.loss / known)
            accuracy = accuracy_words(right, self._met_classes())
            words.append(f"on these rows ({known:,} of known class): {accuracy}, log loss {loss}")
        if self.numbers:
            share = 100 * self.inside / self.numbers
            off = readable(self.off / self.numbers)
            words.append(
                f"on these rows ({self.numbers:,} of known number): off by {off} on average, "
                f"{share:.1f} % in their 90 % intervals"
            )
        return "".join(f"; {word}" for word in words)

    @property
    def are_those_of_training(self) -> bool:
        """Whether there are as many rows as in training, of each class where there are classes."""
        about, labels = self.opened.about, getattr(self.opened.model, "classes_", None)
        if labels is None:
            return 0 < self.numbers == about.rows
        return self.met.total() > 0 and self._met_classes() == about.classes

    def _met_classes(self) -> dict[str, int]:
        """How many rows of each class there were."""
        labels = self.opened.model.classes_.tolist()
        return {str(label): self.met[k] for k, label in enumerate(labels)}
