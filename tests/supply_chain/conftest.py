"""Tools of a release are no part of the installed package: tests find them in the repository."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
