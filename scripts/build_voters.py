"""Build ``src/posterior/datasets/voters.csv``, an invented table: who would vote for whom.

The process, per candidate: the answers to "voted before?" are set by count (Adams: 103 yes, 54 no,
25 unanswered); income, in thousands, is log-normal; the state is drawn from a table of probabilities. Given
the candidate the three are independent, and each cell of income and state is left empty with a fixed
probability, whatever its value. So naive Bayes is the true model. The rows are then put in random order.

No real person or election is described. Run ``python scripts/build_voters.py [--output FILE]``.
"""

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import NormalDist

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "posterior" / "datasets" / "voters.csv"
HEADER = ("candidate", "voted_before", "income", "state")
STATES = ("CA", "FL", "NY", "OH", "PA", "TX")
INCOME_GAP = 0.08
STATE_GAP = 0.05
SEED = 17


@dataclass(frozen=True)
class Supporters:
    """How the rows of one candidate are made."""

    candidate: str
    yes: int
    no: int
    unanswered: int
    median_income: float
    log_income_sd: float
    states: tuple[float, ...]  # probabilities, in the order of STATES


GROUPS = (
    Supporters("Adams", 103, 54, 25, 46.0, 0.45, (0.30, 0.10, 0.25, 0.10, 0.15, 0.10)),
    Supporters("Brown", 71, 38, 11, 62.0, 0.55, (0.10, 0.25, 0.10, 0.20, 0.10, 0.25)),
    Supporters("Clark", 29, 60, 9, 35.0, 0.40, (0.15, 0.15, 0.10, 0.25, 0.25, 0.10)),
)


def rows(group: Supporters, random: Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of one candidate."""
    cumulative = list(accumulate(group.states))
    answers = ["yes"] * group.yes + ["no"] * group.no + [""] * group.unanswered
    for voted_before in answers:
        # Uniforms only: random() is the one method of `Random` promised to stay the same in later Pythons.
        income_at, state_at, income_gap, state_gap = (random.random() for _ in range(4))
        log_income = NormalDist(math.log(group.median_income), group.log_income_sd).inv_cdf(income_at)
        income = f"{math.exp(log_income):.1f}"
        state = next(
            (name for name, upto in zip(STATES, cumulative, strict=True) if state_at < upto), STATES[-1]
        )
        yield (
            group.candidate,
            voted_before,
            "" if income_gap < INCOME_GAP else income,
            "" if state_gap < STATE_GAP else state,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Build the voter table.")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    random = Random(SEED)  # noqa: S311 - a repeatable example, not a secret
    voters = [row for group in GROUPS for row in rows(group, random)]
    voters.sort(key=lambda _: random.random())
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(voters)


if __name__ == "__main__":
    main()
