"""Trees and graphs as plain records, also for pandas and networkx, which are loaded only when asked for."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpmorse.exceptions import DPMorseError
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.morse.rules import Leaves
from dpmorse.typing import BoolArray, FloatArray, IntArray

Records = list[dict[str, Any]]

MERGE_COLUMNS = ("left", "right", "parent", "height", "size", "saddle", "certified")
_EDGE_COLUMNS = ("source", "target", "height", "lower_bound", "certified", "point")


@dataclass(frozen=True, eq=False)
class MorseGraph:
    """Modes are nodes; each saddle is an edge between two of them, weighted by f there.

    Two modes may be joined by several saddles. An edge that is not certified carries a lower and an
    upper bound instead of one height.
    """

    critical_points: CriticalPoints

    def __repr__(self) -> str:
        points = self.critical_points
        return f"MorseGraph({points.n_modes} modes, {len(points.saddles)} saddles)"

    @property
    def nodes(self) -> Records:
        """One record per mode: number, height, certificate, coordinates, components below it."""
        points = self.critical_points
        return [
            {
                "mode": i,
                "height": float(points.mode_heights[i]),
                "certified": bool(points.mode_certified[i]),
                "point": points.modes[i].tolist(),
                "components": [int(k) for k in (points.component_modes == i).nonzero()[0]],
            }
            for i in range(points.n_modes)
        ]

    @property
    def edges(self) -> Records:
        """One record per saddle: the modes it joins, height, lower bound, certificate, coordinates."""
        points = self.critical_points
        return [
            {
                "source": int(points.saddle_ends[i, 0]),
                "target": int(points.saddle_ends[i, 1]),
                "height": float(points.saddle_heights[i]),
                "lower_bound": float(points.saddle_bounds[i]),
                "certified": bool(points.saddle_certified[i]),
                "point": points.saddles[i].tolist(),
            }
            for i in range(len(points.saddles))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return nodes and edges as plain data."""
        return {"nodes": self.nodes, "edges": self.edges}

    def to_pandas(self) -> Any:
        """Return one row per edge as a pandas DataFrame (needs pandas)."""
        return to_pandas(self.edges, _EDGE_COLUMNS)

    def to_networkx(self) -> Any:
        """Return a networkx MultiGraph with the records as attributes (needs networkx)."""
        graph = _load("networkx").MultiGraph()  # two nodes may have several edges
        for node in self.nodes:
            graph.add_node(node["mode"], **{key: value for key, value in node.items() if key != "mode"})
        for edge in self.edges:
            attributes = {key: value for key, value in edge.items() if key not in ("source", "target")}
            graph.add_edge(edge["source"], edge["target"], weight=edge["height"], **attributes)
        return graph


def leaf_records(leaves: Leaves) -> Records:
    """Return one record per leaf: its component, if it has one, and its mode."""
    return [
        {"component": None if component < 0 else int(component), "mode": int(mode)}
        for component, mode in zip(leaves.components, leaves.modes, strict=True)
    ]


def merge_records(linkage: FloatArray, saddles: IntArray, certified: BoolArray) -> Records:
    """Return one record per merge, a row of the linkage matrix; keys are ``MERGE_COLUMNS``."""
    n_leaves = len(linkage) + 1
    return [
        {
            "left": int(left),
            "right": int(right),
            "parent": n_leaves + row,
            "height": float(height),
            "size": int(size),
            "saddle": None if saddle < 0 else int(saddle),
            "certified": bool(sure),
        }
        for row, ((left, right, height, size), saddle, sure) in enumerate(
            zip(linkage, saddles, certified, strict=True)
        )
    ]


def to_pandas(records: Records, columns: Sequence[str]) -> Any:
    """Return one row per record, also if there are none."""
    return _load("pandas").DataFrame(records, columns=list(columns))


def tree_to_networkx(leaves: Records, merges: Records) -> Any:
    """Return a tree with edges from parent to child; leaves are numbered in order."""
    graph = _load("networkx").DiGraph()
    for i, leaf in enumerate(leaves):
        graph.add_node(i, **leaf)
    for merge in merges:
        attributes = {key: merge[key] for key in ("height", "size", "saddle", "certified")}
        graph.add_node(merge["parent"], **attributes)
        graph.add_edges_from([(merge["parent"], merge["left"]), (merge["parent"], merge["right"])])
    return graph


def _load(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise DPMorseError(f"this needs {library}: pip install {library}") from error
