"""Modes and saddles as a weighted graph."""

from dataclasses import dataclass
from typing import Any

from dpmorse.morse import exports
from dpmorse.morse.critical.points import CriticalPoints

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
    def nodes(self) -> list[dict[str, Any]]:
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
    def edges(self) -> list[dict[str, Any]]:
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
        return exports.to_pandas(self.edges, _EDGE_COLUMNS)

    def to_networkx(self) -> Any:
        """Return a networkx MultiGraph with the records as attributes (needs networkx)."""
        return exports.graph_to_networkx(self.nodes, self.edges)
