"""The page itself: one HTML file with its style, its script and its data, under a strict policy."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from posterior._text import printable
from posterior._version import __version__
from posterior.studio.content import Subject, content

# In this order no module uses a name before it is there; each is a file of its own in scripts/.
STUDIO_MODULES = (
    "maths", "model", "onecost", "oneshare", "decisions", "coverage", "outcomes", "outliers", "beside",
    "state", "commands", "elements", "charts", "curves", "painted", "tables", "whatif", "rows", "page",
)  # fmt: skip
LIVE_MODULES = (
    "maths", "gaussians", "refit", "descent", "elements", "charts", "plane", "live_gaussians", "live_points",
    "live_descent", "live",
)  # fmt: skip


def page_of(subject: Subject, title: str | None = None, seed: int = 0) -> str:
    """The page as a string, the same for the same subject and seed.

    >>> from posterior.datasets import load_voters
    >>> from posterior.studio import subject_of
    >>> voters = load_voters()
    >>> "<bdi>Voters</bdi>" in page_of(subject_of(voters.X, voters.y), "Voters")
    True
    """
    data = content(subject, seed)
    heading = title or _title(data)
    script, style = bundle(STUDIO_MODULES), _text("templates", "style.css")
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src 'none'; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": escape(policy, quote=False),
        "TITLE": escape(printable(heading)),
        "VERSION": escape(__version__),
        "STYLE": style,
        "DATA": json_in_html(data),
        "SCRIPT": script,
    }
    # One pass: what is put in is not looked at again, whatever it holds.
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], _text("templates", "studio.html"))


def _title(data: dict[str, Any]) -> str:
    target = data["names"].get("target", "")
    source = data["names"].get("data", "")
    return f"Deciding {target or 'the class'}" + (f" in {source}" if source else "")


def bundle(modules: Sequence[str]) -> str:
    """Modules as one: without their imports and exports, since all names of theirs are different.

    >>> script = bundle(["maths"])
    >>> "export " in script, "function logSoftmax(" in script
    (False, True)
    """
    return "\n".join(_unlinked(_text("scripts", f"{name}.js")) for name in modules)


def _unlinked(script: str) -> str:
    without = re.sub(r"^import [^;]*;\n", "", script, flags=re.MULTILINE)
    return re.sub(r"^export ", "", without, flags=re.MULTILINE)


def live_files() -> dict[str, str]:
    """The moving pictures for a site: `live.js`, one ES module, and `live.css`, by name.

    >>> sorted(live_files())
    ['live.css', 'live.js']
    """
    return {"live.js": bundle(LIVE_MODULES), "live.css": _text("templates", "live.css")}


def json_in_html(data: Any) -> str:
    r"""JSON that no HTML parser ends early, whatever names and cells hold.

    >>> json_in_html({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def digest(text: str) -> str:
    """How a policy names a script or style by what it holds."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _text(*path: str) -> str:
    return files("posterior.studio").joinpath(*path).read_text(encoding="utf-8")
