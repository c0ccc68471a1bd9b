"""Messages of one line, in the words of the command line and safe to print on a terminal."""

import re

# What a terminal would obey, such as the beginning of an escape sequence; a table may hold anything.
CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def without_controls(text: str) -> str:
    r"""A text without the characters that control a terminal.

    >>> without_controls("red\x1b[31m")
    'red�[31m'
    """
    return text.translate(CONTROLS)


# What the library says to those who write Python, as one says it on the command line.
OPTIONS = (
    (r'(?:pass )?calibration="(\w+)"', r"--calibration \1"),
    (r"[.;]? ?See calibration_test_;? ?(?:cv=None skips this check)?", ""),
    (r"; cv=None asks for no check", ""),
    (r" \(rows of weight 0 do not count\)", ""),
    (r"kinds=\{'([^']+)': [\"'](\w+)[\"']\}", r"--kind \1=\2"),
)


def as_options(text: str) -> str:
    """Advice for the command line.

    >>> as_options('declare it (kinds={"zip": "categorical"})'.replace('"zip"', "'zip'"))
    'declare it (--kind zip=categorical)'
    """
    for said, instead in OPTIONS:
        text = re.sub(said, instead, text)
    return text
