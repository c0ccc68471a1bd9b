"""The packages in this folder are somebody else's: they are found as installed ones are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
