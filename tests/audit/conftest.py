"""Audits that take long are no part of the installed package: tests find them in the repository."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
