"""The environment of processes that audits start: Python finds the audits and one copy of the library."""

import os
from pathlib import Path

from audits import ROOT, SOURCE

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
"""Variables that keep libraries to one thread: the matrices of these audits are too small to share."""


def environment(source: Path = SOURCE) -> dict[str, str]:
    """Return the variables of this process, with ``source`` first among the places of modules."""
    paths = [str(source), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
