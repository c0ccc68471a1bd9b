"""What a model becomes in SQL: a score for each class, whose softmax is the posterior."""

from dataclasses import dataclass
from typing import Any

from posterior._types import AnyArray, Floats
from posterior.sql.expressions import Expression


@dataclass(frozen=True, eq=False)
class Scores:
    """Log posteriors of the classes up to a term of the row, never NULL.

    `log_prior` is what a row gets that is impossible under every class; None where there is no such row. The
    log joints, which a `generative` model has, are the scores and `shared`, −inf where `impossible` holds.
    """

    classes: AnyArray
    by_class: list[Expression]
    log_prior: Floats | None = None
    shared: Expression | None = None
    impossible: Expression | None = None
    generative: bool = False

    @property
    def labels(self) -> list[Any]:
        """The class labels."""
        return list(self.classes.tolist())
