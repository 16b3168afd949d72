"""Trees and graphs, as plain records, for other libraries, which are loaded only when asked for."""

import importlib
from collections.abc import Sequence
from typing import Any

from dpmorse.exceptions import DPMorseError
from dpmorse.typing import BoolArray, FloatArray, IntArray

Records = list[dict[str, Any]]

MERGE_COLUMNS = ("left", "right", "parent", "height", "size", "saddle", "certified")


def leaf_records(components: IntArray, modes: IntArray) -> Records:
    """Return one record per leaf: its component, if it has one, and its mode."""
    return [
        {"component": None if component < 0 else int(component), "mode": int(mode)}
        for component, mode in zip(components, modes, strict=True)
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


def graph_to_networkx(nodes: Records, edges: Records) -> Any:
    """Return a graph in which two nodes may have several edges."""
    graph = _load("networkx").MultiGraph()
    for node in nodes:
        graph.add_node(node["mode"], **{key: value for key, value in node.items() if key != "mode"})
    for edge in edges:
        attributes = {key: value for key, value in edge.items() if key not in ("source", "target")}
        graph.add_edge(edge["source"], edge["target"], weight=edge["height"], **attributes)
    return graph


def _load(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise DPMorseError(f"this needs {library}: pip install {library}") from error
