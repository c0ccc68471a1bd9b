"""Time our estimators against their rivals, once the answers agree.

`python -m benchmarks` runs everything (half an hour on two cores) and writes results/latest.json and
results/growth.png; `--quick` is a look of about a minute. What was found so far is in results/part.json.
Ratios above 1 mean that we are faster.
The exit status is 1 where answers disagree or bits differ; a bar that is missed is told, and is no failure.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import bars, bits, growth, kernels, machine, many, memory, missing, races, report, start, wide
from benchmarks.measure import timed
from benchmarks.plan import Plan, heading
from benchmarks.rivals import LIMIT, RIVALS, load

SECTIONS: dict[str, Callable[[Plan], None]] = {
    "races": races.main_table,
    "shapes": races.shapes,
    "layouts": races.layouts,
    "growth": growth.series,
    "wide": wide.columns,
    "many": many.section,
    "missing": missing.gaps,
    "start": start.waits,
    "kernels": kernels.both,
    "bits": bits.check,
    "memory": memory.marks,
}
QUICK_ROWS = 10_000
SLOW_SECTIONS = ("shapes", "wide", "many")  # which a quick run leaves out, unless asked for


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_ROWS:,} rows and fewer cases: < 1 minute"
    )
    parser.add_argument(
        "--rows", type=int, help="rows of the large tables (1,000,000; the bars are for that)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="runs that a median is of")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="TASK", help="tasks, by how their names begin"
    )
    parser.add_argument("--sections", nargs="+", default=[], choices=SECTIONS, help="parts of the benchmark")
    parser.add_argument(
        "--rivals", nargs="+", default=[], choices=RIVALS, help="these, instead of all installed"
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="put what is run into latest.json, in place of the same sections and tasks there",
    )
    parser.add_argument("--output", type=Path, default=report.FOLDER, help="the folder for results")
    return parser.parse_args(arguments)


def header(about: dict[str, Any], absent: dict[str, str]) -> None:
    """Where and with what."""
    box = about["machine"]
    print(f"{box['processor']}, {box['cores']} cores, {box['memory_gib']} GiB, {about['date']}")
    print(", ".join(f"{name} {version}" for name, version in about["versions"].items()))
    if absent:
        print("Not there: " + "; ".join(f"{name} ({why})" for name, why in absent.items()))


def document(plan: Plan, about: dict[str, Any]) -> dict[str, Any]:
    """Everything that a run found."""
    return {
        **about,
        "rows": plan.rows,
        "repeats": plan.repeats,
        "quick": plan.quick,
        "bars": bars.judged(plan.results),
        "failures": plan.failures,
        "notes": plan.notes,
        "results": plan.results,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; the exit status."""
    asked = options(arguments)
    wanted = {*asked.rivals, "scikit-learn"} if asked.rivals else set()  # every section is held against it
    rivals, absent = load([name for name in RIVALS if name in wanted], quick=asked.quick)
    rows = asked.rows or (QUICK_ROWS if asked.quick else 1_000_000)
    plan = Plan(rows, asked.repeats, asked.quick, asked.only, rivals)
    about = machine.describe({r.name: r.version for r in rivals if r.name != LIMIT})
    header(about, absent)
    plan.notes += [f"{name}: {why}" for name, why in absent.items()]
    company = machine.Company()
    for section in asked.sections or [s for s in SECTIONS if not (asked.quick and s in SLOW_SECTIONS)]:
        _, took = timed(partial(SECTIONS[section], plan))
        print(f"   ({section}: {took:.0f} s)", flush=True)
        report.write(document(plan, about | {"others_cores": company.cores()}), asked.output / "part.json")
    others = company.cores()
    if others is not None and others > company.MOST:
        plan.notes.append(
            f"others kept {others:.1f} of {about['machine']['cores']} cores busy: run it again alone"
        )
    found = document(plan, about | {"others_cores": others})
    latest = asked.output / "latest.json"
    if asked.update and latest.exists():
        found = report.updated(report.read(latest), found)
        found["bars"] = bars.judged(found["results"])
    heading(f"Bars (set for 1,000,000 rows; these are of {plan.rows:,})")
    for verdict in found["bars"]:
        if verdict["figure"] is not None:
            print(bars.line(verdict))
    whole = asked.update or not (asked.only or asked.sections or asked.rivals or asked.rows)
    name = "part" if not whole else "quick" if asked.quick else "latest"
    report.write(found, asked.output / f"{name}.json")
    if plan.results.get("growth"):
        growth.plot(
            found["results"]["growth"], asked.output / ("growth.png" if name == "latest" else f"{name}.png")
        )
    print(f"\nWritten: {name}.json in {asked.output.name}")
    for note in plan.notes:
        print(f"NOTE: {note}")
    for problem in plan.failures:
        print(f"FAILED: {problem}")
    return 1 if plan.failures else 0


if __name__ == "__main__":
    sys.exit(main())
