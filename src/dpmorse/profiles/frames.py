"""A table as a data frame of a library that is installed: one row for each cluster and column."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from dpmorse.exceptions import DPMorseError
from dpmorse.profiles.cautions import Caution, in_one_text
from dpmorse.profiles.table import ClusterTable

LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries of data frames, in the order in which they are looked for."""


def first_installed(libraries: Sequence[str] = LIBRARIES) -> str | None:
    """Return the first of these libraries that is installed, or None; nothing is loaded."""
    return next((name for name in libraries if find_spec(name)), None)


def to_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Return columns as a frame of this library, or of the first that is installed."""
    found: Any = first_installed([library] if library else LIBRARIES)
    if found is None:
        raise DPMorseError(
            f"a data frame needs one of {', '.join(LIBRARIES)}: pip install pandas. "
            "Without any of them, table() returns numbers about clusters as arrays."
        )
    return nw.from_dict(dict(columns), backend=found).to_native()


def columns_of(table: ClusterTable, notes: Sequence[Caution], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of the frame; shares stand in every row of their cluster."""
    n_clusters, d = table.centre.value.shape
    of_clusters = {"share": table.share, "centre": table.centre, "spread": table.spread}
    columns: dict[str, list[Any]] = {
        "cluster": np.repeat(np.arange(n_clusters), d).tolist(),
        "column": [str(name) for name in names] * n_clusters,
    }
    for name, estimate in of_clusters.items():
        for part, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            values = getattr(estimate, part)
            columns[name + end] = (np.repeat(values, d) if values.ndim == 1 else values.ravel()).tolist()
    columns["warning"] = [_said(notes, c, j) for c in range(n_clusters) for j in range(d)]
    return columns


def _said(notes: Sequence[Caution], cluster: int, column: int) -> str:
    """Return what is said about one row: about its cluster, its column, or both."""
    about = [note for note in notes if note.cluster in {cluster, None} and note.column in {column, None}]
    return in_one_text(about)
