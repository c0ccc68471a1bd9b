"""Values worked out one after the other: a chain of SELECTs, each of which sees those before it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from posterior.sql.expressions import Expression, column, whole


@dataclass
class Steps:
    """Named values that a query works out row by row, each once.

    A database takes expressions apart, and may work a shared part out as often as it is written. What stands
    in a SELECT of its own, behind a fence, is worked out once. `let` names a value, which may use the names
    of others; it is in the first SELECT in which all of those are known.
    """

    table: Expression
    _defined: dict[str, Expression] = field(default_factory=dict)
    _level: dict[str, int] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)

    def read(self, prefix: str, value: Expression) -> Expression:
        """A value made of columns of the table."""
        return self._named(prefix, value, 0)

    def let(self, prefix: str, value: Expression) -> Expression:
        """A name for a value made of others that have names; a name that is one already stays."""
        if isinstance(value, exp.Column) and value.name in self._level:
            return value
        used = [self._level[name] for name in _names(value)]
        return self._named(prefix, value, 1 + max(used, default=0))

    def _named(self, prefix: str, value: Expression, level: int) -> Expression:
        written = f"{level == 0}{value.sql()}"
        if written not in self._known:
            name = f"{prefix}_{len(self._defined)}"
            self._defined[name], self._level[name], self._known[written] = value, level, name
        return column(self._known[written])

    def select(self, outputs: Sequence[tuple[exp.Identifier, Expression]]) -> exp.Select:
        """The query of some outputs, with as many SELECTs inside each other as it takes."""
        last = {name: self._last_level() for _, value in outputs for name in _names(value)}
        for name in sorted(self._defined, key=self._level.__getitem__, reverse=True):
            if name not in last or not self._level[name]:
                continue
            for used in _names(self._defined[name]):
                last[used] = max(last.get(used, 0), self._level[name])
        query = exp.select(*[exp.alias_(value, name) for name, value in outputs])
        stages = range(max((self._level[name] for name in last), default=0) + 1)
        for stage in stages:
            query = query.with_(f"step_{stage}", as_=self._stage(stage, last), materialized=False, copy=False)
        return query.from_(f"step_{stages[-1]}")

    def _last_level(self) -> int:
        return 1 + max(self._level.values(), default=0)

    def _stage(self, stage: int, last: dict[str, int]) -> exp.Select:
        """One SELECT: what later ones need of those before, and what is new."""
        live = [name for name in self._defined if last.get(name, -1) > stage]
        old = [column(name) for name in live if self._level[name] < stage]
        new = [exp.alias_(self._defined[name], name) for name in live if self._level[name] == stage]
        source = self.table if stage == 0 else exp.to_table(f"step_{stage - 1}")
        # A fence: PostgreSQL does not merge a SELECT with an OFFSET into the one around it.
        return exp.select(*(old + new or [whole(1)])).from_(source).offset(0)


def _names(value: Expression) -> list[str]:
    return [found.name for found in value.find_all(exp.Column)]
