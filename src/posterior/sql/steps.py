"""Values worked out one after the other: a chain of SELECTs, each of which sees those before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from posterior.sql.expressions import Expression, column, named, whole


@dataclass
class Steps:
    """Named values that a query works out row by row, each once.

    A database takes expressions apart, and may work a shared part out as often as it is written. What stands
    in a SELECT of its own, behind a fence, is worked out once. `let` names a value, which may use the names
    of others; it is in the first SELECT in which all of those are known.
    """

    table: Expression
    # The LIMIT of the first SELECT, where the database wants one (`Dialect.limit`).
    limit: Expression | None = None
    _defined: dict[str, Expression] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def read(self, prefix: str, value: Expression) -> Expression:
        """A name for a value made of columns of the table."""
        found = self._named(prefix, value, "table")
        self._read.add(found.name)
        return found

    def let(self, prefix: str, value: Expression) -> Expression:
        """A name for a value made of others that have names; a name that is one already stays."""
        if isinstance(value, exp.Column) and value.name in self._defined:
            return value
        return self._named(prefix, value, "names")

    def _named(self, prefix: str, value: Expression, made_of: str) -> Expression:
        written = f"{made_of} {value.sql()}"
        if written not in self._known:
            name = f"{prefix}_{len(self._defined)}"
            self._defined[name], self._known[written] = value, name
        return column(self._known[written])

    def select(self, outputs: Sequence[tuple[exp.Identifier, Expression]]) -> exp.Select:
        """The query of some outputs, with as many SELECTs as it takes."""
        values = [value for _, value in outputs]
        chain = _Chain.of(self._defined, self._read, values)
        query = exp.select(*[named(value, name) for name, value in outputs], copy=False)
        for stage in range(chain.n_stages):
            source = self.table if stage == 0 else exp.to_table(f"step_{stage - 1}")
            # A fence: PostgreSQL does not merge a SELECT with an OFFSET into the one around it.
            inner = (
                exp.select(*chain.columns(stage), copy=False).from_(source, copy=False).offset(0, copy=False)
            )
            if stage == 0 and self.limit is not None:
                inner = inner.limit(self.limit, copy=False)
            query = query.with_(f"step_{stage}", as_=inner, materialized=False, copy=False)
        return query.from_(f"step_{chain.n_stages - 1}", copy=False)


@dataclass(frozen=True)
class _Chain:
    """Which value is worked out in which SELECT, and the last one that looks at it."""

    defined: dict[str, Expression]
    stage: dict[str, int]
    last: dict[str, int]

    @classmethod
    def of(cls, given: dict[str, Expression], read: set[str], outputs: Sequence[Expression]) -> "_Chain":
        """The chain of the values that outputs need."""
        direct = {name for value in outputs for name in _names(value)}
        defined = {name: given[name] for name in _needed(given, read, direct)}
        defined = _inlined(defined, read, direct)
        stage = _stages(defined, read)
        last = dict.fromkeys(direct, 1 + max(stage.values(), default=0))
        for name, value in defined.items():
            for other in [] if name in read else _names(value):
                last[other] = max(last.get(other, 0), stage[name])
        return cls(defined, stage, last)

    @property
    def n_stages(self) -> int:
        """How many SELECTs there are."""
        return 1 + max(self.stage.values(), default=0)

    def columns(self, stage: int) -> list[Expression]:
        """One SELECT: what later ones need of those before, and what is new."""
        live = [name for name in self.defined if self.last[name] > stage]
        old = [column(name) for name in live if self.stage[name] < stage]
        new = [
            named(self.defined[name], exp.to_identifier(name)) for name in live if self.stage[name] == stage
        ]
        return old + new or [whole(1)]


def _needed(given: dict[str, Expression], read: set[str], direct: set[str]) -> list[str]:
    """The names that others are made of, and they themselves, in the order in which they were given."""
    waiting, found = list(direct), set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [] if name in read else _names(given[name])
    return [name for name in given if name in found]


def _stages(defined: dict[str, Expression], read: set[str]) -> dict[str, int]:
    """The first SELECT that knows all that a value is made of; 0 is that of the table."""
    stage: dict[str, int] = {}
    for name, value in defined.items():
        known = -1 if name in read else max((stage[other] for other in _names(value)), default=0)
        stage[name] = 1 + known
    return stage


def _inlined(defined: dict[str, Expression], read: set[str], direct: set[str]) -> dict[str, Expression]:
    """Values in which a name that only the next SELECT looks at, once, is replaced by what it stands for.

    What is looked at much later keeps its name: it is one column to carry along instead of several.
    """
    stage = _stages(defined, read)
    users: dict[str, list[str]] = {name: [] for name in defined}
    for name, value in defined.items():
        for other in [] if name in read else _names(value):
            users[other].append(name)
    once = {
        name
        for name, looking in users.items()
        if name not in read | direct and len(looking) == 1 and stage[looking[0]] == stage[name] + 1
    }
    found: dict[str, Expression] = {}
    for name, value in defined.items():
        inner = set() if name in read else once.intersection(_names(value))
        found[name] = value.transform(_replacing(found, inner)) if inner else value
    return {name: value for name, value in found.items() if name not in once}


def _replacing(found: dict[str, Expression], inner: set[str]) -> Callable[[Expression], Expression]:
    def replaced(node: Expression) -> Expression:
        inside = isinstance(node, exp.Column) and node.name in inner
        return exp.Paren(this=found[node.name]) if inside else node

    return replaced


def _names(value: Expression) -> list[str]:
    return [found.name for found in value.find_all(exp.Column)]
