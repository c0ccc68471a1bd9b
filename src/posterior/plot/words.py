"""Names from data as pictures write them: on one line, of bounded length, and never read as mathematics."""

from typing import Any

from posterior._text import cut

# Letters of a name that a picture has room for.
LONGEST = 24


def label(name: Any, longest: int = LONGEST) -> str:
    r"""A name from data as a label: cut with an ellipsis, and `$` is no sign of mathematics.

    >>> label("a name that goes on for ever and ever"), label("price in $"), label("two\nlines")
    ('a name that goes on for…', 'price in \\$', 'two lines')
    """
    words = "".join(sign if sign.isprintable() else " " for sign in str(name))
    words = cut(words, longest)
    # matplotlib leaves names that begin with an underscore out of its legends.
    return ("\N{NO-BREAK SPACE}" if words.startswith("_") else "") + words.replace("$", r"\$")


def p_words(p_value: float) -> str:
    """A p-value in words.

    >>> p_words(0.0004), p_words(0.123)
    ('p < 0.001', 'p = 0.12')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
