"""Rows on a device that a softmax regression is fitted to."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from posterior._types import Floats, Ints
from posterior.engines.device.linear import DeviceProblem, DeviceScan
from posterior.engines.device.rows import TO_THE_HOST
from posterior.estimators.device import Training
from posterior.estimators.training_rows import TrainingRows
from posterior.linear import Design, Newton, Problem, Scan, Solver
from posterior.linear.scaled_design import ScaledDesign
from posterior.schema import Schema


@dataclass(frozen=True, eq=False)
class RowsOnDevice(TrainingRows):
    """Rows on a device, with class codes and weights there."""

    problem: ClassVar[type[Problem]] = DeviceProblem
    training: Training = field(default=None)  # type: ignore[assignment]  # always given

    @classmethod
    def of(cls, training: Training) -> "RowsOnDevice":  # type: ignore[override]  # they are not in memory
        """The rows of training."""
        return cls(training.table.source, np.zeros(0), None, len(training.classes), training=training)

    def weighted(self, by_class: Floats) -> "RowsOnDevice":
        """The same rows, their weights times those of their classes."""
        return replace(self, training=self.training.weighted(by_class))

    def scan(self, schema: Schema, design: Design, degree: int) -> Scan:
        """The rows as the numbers that they are."""
        if degree != 1:
            raise ValueError(
                f"degree={degree} makes products of columns, which are made on the host; use degree=1"
            )
        return DeviceScan.on_device(self.training.rows(schema), design)

    def scaled(self, scan: Scan) -> tuple[Scan, ScaledDesign]:
        """A copy of the rows on the device, divided by what the columns spread, and these units."""
        assert isinstance(scan, DeviceScan)  # noqa: S101 -- for the type checker
        return scan.scaled()

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.class_weights.sum())

    @cached_property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        return self.training.class_weights

    @property
    def strata(self) -> tuple[Ints, Floats | None]:
        """Nobody knows them on the host."""
        raise ValueError("rows on a device are not dealt out one by one; set the value that is 'auto'")

    def mean_target(self) -> tuple[float, float]:
        """Classes have none."""
        raise ValueError("a regression of numbers takes no array on a device")


def refuse_other_solvers(solver: Solver | None) -> None:
    """Refuse solvers that read rows in other ways than Newton's method does."""
    if solver is not None and not isinstance(solver, Newton):
        raise ValueError(
            f"arrays on a device are fitted by Newton's method, found {type(solver).__name__}; use "
            f'solver="auto", or {TO_THE_HOST}'
        )
