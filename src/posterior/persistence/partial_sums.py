"""Sums of a part of the rows in a file, written as model files are: numbers and names, and no program."""

import json
from typing import Any

from posterior.engines.resuming import KeptSums
from posterior.files import writing
from posterior.generative.spec import Sums
from posterior.persistence.container import FORMAT, VERSION, packed, read_header, read_json, read_tensors
from posterior.persistence.decoding import Decoder
from posterior.persistence.encoding import Encoder
from posterior.persistence.errors import ModelFileError, refuse_unless
from posterior.persistence.loading import opened
from posterior.stats import Statistics


def keeps(total: Any) -> bool:
    """Whether sums can be written: those that generative models are estimated from."""
    return isinstance(total, Sums)


def write(path: str, kept: KeptSums) -> None:
    """Write sums to a file, whole or not at all."""
    encoder = Encoder()
    parts = tuple((level, _parts(total)) for level, total in kept.stack)
    tree = json.dumps(encoder.encode((kept.reading, kept.done, parts), ""), separators=(",", ":"))
    texts = {"format": FORMAT, "format_version": str(VERSION), "task": kept.task, "sums": tree}
    contents = packed(texts, encoder.tensors)
    with writing(path) as file:
        file.writelines(contents)


def read(path: str) -> KeptSums:
    """The sums in a file, each checked as those of a model file are."""
    with opened(path) as (stream, size):
        header = read_header(stream, size)
        if "sums" not in header.texts:
            raise ModelFileError("holds no sums of a fit that was interrupted; name another file for resume=")
        tensors = read_tensors(stream, header)
        tree = header.text("sums")
        decoder = Decoder(tensors, len(tree) + sum(array.nbytes for array in tensors.values()))
        reading, done, parts = decoder.decode(read_json(tree))
        decoder.finish()
        refuse_unless(type(reading) is int and type(done) is int and done > 0, "no fragments that were read")
        return KeptSums(header.text("task"), reading, done, [(level, _sums(part)) for level, part in parts])


def _parts(total: Sums | None) -> Any:
    return None if total is None else (total.weight, total.n_rows, total.blocks)


def _sums(part: Any) -> Sums | None:
    if part is None:
        return None
    weight, n_rows, blocks = part
    refuse_unless(all(isinstance(block, Statistics) for block in blocks), "sums of no statistics")
    return Sums(weight, n_rows, blocks)
