"""The machinery of kills is shared with the long audits, which tests find in the repository."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
