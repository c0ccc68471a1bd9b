"""The scale of a row of dots: where a value stands between the left and the right edge."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

# Values further apart than this factor are shown on a logarithmic scale.
FAR_APART = 4.0
FEWEST_TICKS = 3
# Ticks of a decade, ever more of them.
DIGITS = ((1,), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))


@dataclass(frozen=True)
class Scale:
    """Linear or logarithmic, from `low` at 0 to `high` at 1.

    >>> scale = Scale.of([0.02, 0.05, 1.1])
    >>> scale.logarithmic, scale.place(1.1), scale.place(0.0), [tick for _, tick in scale.ticks]
    (True, 1.0, 0.0, ['0.02', '0.05', '0.1', '0.2', '0.5', '1'])
    >>> [tick for _, tick in Scale.of([0.31, 0.55]).ticks]
    ['0.35', '0.4', '0.45', '0.5', '0.55']
    """

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """The scale that shows these values; those that are not finite stand at its ends."""
        finite = [value for value in values if math.isfinite(value)]
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        if high <= low:
            low, high = low - 0.5, low + 0.5
        return cls(low, high, low > 0 and high / low > FAR_APART)

    def place(self, value: float) -> float:
        """A share of the width."""
        value = min(max(value, self.low), self.high)
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        return math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The places of round numbers along it: as few as there are, but three or more."""
        room = 1e-9 * (self.high - self.low)
        found: list[float] = []
        for tried in self._decades() if self.logarithmic else self._steps():
            found = [value for value in tried if self.low - room <= value <= self.high + room]
            if len(found) >= FEWEST_TICKS:
                break
        return [(self.place(value), f"{value:.6g}".replace("-", "−")) for value in found]

    def _decades(self) -> Iterator[list[float]]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in DIGITS:
            yield [digit * 10.0**k for k in powers for digit in digits]

    def _steps(self) -> Iterator[list[float]]:
        largest = math.ceil(math.log10(self.high - self.low))
        for step in (digit * 10.0**k for k in (largest - 1, largest - 2) for digit in (5, 2, 1)):
            yield [k * step for k in range(math.floor(self.low / step), math.ceil(self.high / step) + 1)]
