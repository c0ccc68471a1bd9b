"""Messages of one line in the words of the command line."""

import re

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
