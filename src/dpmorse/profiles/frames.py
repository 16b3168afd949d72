"""Clusters as a data frame of a library that is installed.

There is one row for each cluster and number, and one for each cluster, category and level of it.
"""

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from dpmorse.exceptions import DPMorseError
from dpmorse.profiles.cautions import in_one_text
from dpmorse.profiles.estimate import Interval
from dpmorse.profiles.view import ClusterView, ColumnView, LevelView, NumberView

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


def columns_of(view: ClusterView) -> dict[str, list[Any]]:
    """Return the columns of the frame; what a row is not about is NaN, its level None.

    Where columns were not stated, they are numbers that are always there: nothing else has a column then.
    """
    rows: list[dict[str, Any]] = []
    for cluster in range(view.n_clusters):
        for column in view.columns:
            if isinstance(column, NumberView):
                numbers = {called(p): one.at(cluster) for p, one in column.quantiles.items()}
                rows.append(_row(view, cluster, column, None, numbers))
            elif isinstance(column, LevelView):
                for i, level in enumerate(column.levels):
                    numbers = {"level_share": column.level_share.at(cluster, i)}
                    rows.append(_row(view, cluster, column, level, numbers))
    quantiles = dict.fromkeys(
        called(p) for column in view.columns if isinstance(column, NumberView) for p in column.quantiles
    )
    names = ["cluster", "column", "level"]
    names += [name + end for name in ("share", *quantiles, "level_share", "missing") for end in _ENDS]
    names += ["again", "warning"]
    if not view.schema.stated:
        names = [name for name in names if not name.startswith(_OF_TABLES)]
    return {name: [row.get(name, math.nan) for row in rows] for name in names}


def called(p: float) -> str:
    """Return what a quantile is called: q1, median, q3, or p10 for the tenth of a hundred."""
    return {0.25: "q1", 0.5: "median", 0.75: "q3"}.get(p, f"p{100 * p:g}")


_ENDS = ("", "_low", "_high")

_OF_TABLES = ("level", "missing")
"""How the names of columns begin that numbers have no use for."""


def _row(
    view: ClusterView, cluster: int, column: ColumnView, level: str | None, known: dict[str, Interval]
) -> dict[str, Any]:
    """Return the row of a number, or of one level of a category."""
    known["share"] = view.share.at(cluster)
    again = math.nan if view.again is None else float(view.again.likeness[cluster])
    if column.missing is not None:
        known["missing"] = column.missing.at(cluster)
    ends = {name + end: value for name, one in known.items() for end, value in zip(_ENDS, one, strict=True)}
    warning = in_one_text(view.notes(cluster, column.place))
    about = {"cluster": cluster, "column": column.name, "level": level}
    return {**about, **ends, "again": again, "warning": warning}
