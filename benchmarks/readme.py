"""`python -m benchmarks.readme [FILE]` prints the last results as Markdown, for the README and the docs."""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.measure import MIB
from benchmarks.plan import told
from benchmarks.rivals import LIMIT

MAIN = ("GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB", "MultinomialNB", "mixed columns")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table, its first column to the left."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def times(ratio: float | None) -> str:
    """A ratio with as many digits as it deserves.

    >>> times(0.123), times(4.56), times(78.9), times(None)
    ('0.12 ×', '4.6 ×', '79 ×', '–')
    """
    if ratio is None:
        return "–"
    digits = 2 if ratio < 1 else 1 if ratio < 10 else 0
    return f"{ratio:.{digits}f} ×"


def _who(row: dict[str, Any]) -> str:
    return " ".join(filter(None, [row["rival"], row["label"]]))


def where(document: dict[str, Any]) -> str:
    """The machine, versions and date in a sentence."""
    box, versions = document["machine"], document["versions"]
    named = ", ".join(f"{name} {versions[name]}" for name in ("scikit-learn", "numpy", "numba", "python"))
    company = document["others_cores"]
    beside = "" if company is None else f" Others kept {company:.2f} cores busy meanwhile."
    return (
        f"{box['processor']}, {box['cores']} cores, {box['memory_gib']} GiB; {named}; {document['date']}; "
        f"medians of {document['repeats']} alternating runs.{beside}"
    )


def on_gpu(folder: Path = report.FOLDER) -> tuple[str, dict[str, str]]:
    """What the last run on a GPU was of, and its fits and posteriors by name of the model."""
    found = json.loads((folder / "gpu.json").read_text(encoding="utf-8"))
    ms = {line["what"]: line["ms"] for line in found["lines"] if "ms" in line}
    models = [what.partition(".")[0] for what in ms if what.endswith(".predict_proba")]
    cells = {
        name: f"{ms[f'{name}().fit(X, y), labels included']:.1f}, {ms[f'{name}.predict_proba']:.1f} ms"
        for name in models
    }
    return f"{found['device'].removeprefix('NVIDIA ')}, {found['rows']:,} rows", cells


def ratios(document: dict[str, Any]) -> str:
    """Ratios to scikit-learn, for the README, and the times of fit and predict_proba on a GPU."""
    rows = [r for r in document["results"].get("races", []) if r["rival"] == "scikit-learn"]
    device, there = on_gpu()
    return table(
        ["", "fit", "predict_proba", device],
        (
            [
                f"{r['task']}{', against ' + r['label'] if r['label'] else ''}",
                times(r["fit_ratio"]),
                times(r["predict_ratio"]),
                there.get(r["task"], "–"),
            ]
            for r in rows
        ),
    )


def details(document: dict[str, Any]) -> str:
    """Every rival, with times and how far the answers are apart."""

    def cells(r: dict[str, Any]) -> list[str]:
        fits = [times(r["fit_ratio"]), told(r["ours_fit_s"]), told(r["fit_s"])]
        predicts = [times(r["predict_ratio"]), told(r["ours_predict_s"]), told(r["predict_s"])]
        gap = r.get("difference")
        differ = "–" if gap is None else f"{gap:.0e}"
        if r.get("above") is not None and r["above"] > 1e-6:
            differ = f"stops {r['above']:.0e} above our objective"
        return [r["task"], _who(r), f"{r['n']:,} × {r['d']}", *fits, *predicts, differ, str(r["runs"])]

    head = ["", "against", "table", "fit", "ours", "theirs", "predict", "ours", "theirs", "differ", "runs"]
    return table(head, (cells(r) for r in document["results"].get("races", [])))


def layouts(document: dict[str, Any]) -> str:
    """Our times from other kinds of tables, of those from C order."""
    rows = [r for r in document["results"].get("layouts", []) if "fit_to_c" in r]
    return table(
        ["", "table", "fit", "predict_proba", "fit against scikit-learn", "predict against scikit-learn"],
        (
            [
                r["task"],
                r["layout"],
                *(times(r[k]) for k in ("fit_to_c", "predict_to_c", "fit_ratio", "predict_ratio")),
            ]
            for r in rows
        ),
    )


def many(document: dict[str, Any]) -> str:
    """Many classes, columns and categories: times of ours, ratios to scikit-learn, memory of a fit."""
    return table(
        ["", "table", "fit", "", "predict_proba", "", "memory"],
        (
            [
                r["task"] + (f", against {r['label']}" if r["label"] else ""),
                r["table"],
                *(
                    cell
                    for part in ("fit", "predict")
                    for cell in (told(r[f"ours_{part}_s"]), times(r[f"{part}_ratio"]))
                ),
                f"{r['memory'] / MIB:,.0f} MiB",
            ]
            for r in document["results"].get("many", [])
        ),
    )


def growth(document: dict[str, Any]) -> str:
    """Exponents of growth."""
    rows = [r for r in document["results"].get("exponents", []) if r["who"] != LIMIT]
    power = {None: "–"}
    return table(
        ["", "", "fit", "predict_proba"],
        (
            [r["task"], r["who"], *(power.get(r[k]) or f"n^{r[k]:.2f}" for k in ("fit", "predict"))]
            for r in rows
        ),
    )


def memory(document: dict[str, Any]) -> str:
    """MiB beyond table, model and output: resident / traced."""

    def cell(found: dict[str, float], part: str) -> str:
        return f"{max(found[f'{part}_rss'], 0) / MIB:.0f} / {max(found[f'{part}_traced'], 0) / MIB:.0f}"

    rows = [
        [
            f"{r['task']}, {r['layout']}" if who == "ours" else who,
            f"{r['table'] / MIB:.0f}",
            cell(f, "fit"),
            cell(f, "predict"),
        ]
        for r in document["results"].get("memory", [])
        for who, f in r["found"].items()
    ]
    return table(["", "table, MiB", "fit", "predict_proba"], rows)


def bars(document: dict[str, Any]) -> str:
    """The bars that were set."""
    words = {True: "reached", False: "**missed**", None: "not measured"}
    rows = [
        [
            v["bar"],
            v["asked"],
            # A digit more where a bar is missed, which may be by that digit.
            "–"
            if v["figure"] is None
            else f"{v['figure']:.{4 if v['reached'] is False else 3}g} {v['unit']}",
            words[v["reached"]],
        ]
        for v in document["bars"]
    ]
    return table(["", "asked", "found", ""], rows)


def text(document: dict[str, Any]) -> str:
    """All tables, with headings."""
    parts = {
        "Ratios to scikit-learn": ratios(document),
        "Bars": bars(document),
        "All rivals": details(document),
        "From other kinds of tables": layouts(document),
        "Many classes, columns and categories": many(document),
        "Growth": growth(document),
        "Memory beyond table, model and output, MiB (resident / traced)": memory(document),
    }
    return "\n\n".join([where(document), *(f"### {title}\n\n{body}" for title, body in parts.items())])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=report.FOLDER / "latest.json")
    print(text(report.read(parser.parse_args().file)))


if __name__ == "__main__":
    main()
