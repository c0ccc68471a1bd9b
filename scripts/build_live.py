"""Write the moving pictures of the course for the site: docs/_static/live.js and live.css.

    python scripts/build_live.py [FOLDER]

They are put together from the modules in src/posterior/studio/scripts, which the studio page is made of too.
A test fails where what is in the folder is not what this writes.
"""

import sys
from pathlib import Path

from posterior.studio import live_files

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_static"


def main() -> None:
    """Write both files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in live_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
