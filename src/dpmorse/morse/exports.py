"""Trees and graphs for other libraries, which are loaded only when asked for."""

import importlib
from typing import TYPE_CHECKING, Any

from dpmorse.exceptions import DPMorseError

if TYPE_CHECKING:
    from dpmorse.morse.tree import MergeTree


def tree_to_dict(tree: "MergeTree") -> dict[str, Any]:
    """Return everything a tree says as plain lists and numbers."""
    return {
        "rule": tree.rule,
        "basis": tree.basis,
        "certified": tree.certified,
        "suggested_n_clusters": tree.suggested_n_clusters,
        **tree.graph.to_dict(),
        "leaves": [
            {"component": None if k < 0 else int(k), "mode": int(mode)}
            for k, mode in zip(tree.leaves.components, tree.leaves.modes, strict=True)
        ],
        "merges": _merges(tree),
    }


def tree_to_pandas(tree: "MergeTree") -> Any:
    """Return one row per merge."""
    columns = ["left", "right", "parent", "height", "size", "saddle", "certified"]
    return _load("pandas").DataFrame(_merges(tree), columns=columns)


def tree_to_networkx(tree: "MergeTree") -> Any:
    """Return the tree with edges from parent to child."""
    graph = _load("networkx").DiGraph()
    for i, (component, mode) in enumerate(zip(tree.leaves.components, tree.leaves.modes, strict=True)):
        graph.add_node(i, component=None if component < 0 else int(component), mode=int(mode))
    for merge in _merges(tree):
        graph.add_node(
            merge["parent"], **{key: merge[key] for key in ("height", "size", "saddle", "certified")}
        )
        graph.add_edges_from([(merge["parent"], merge["left"]), (merge["parent"], merge["right"])])
    return graph


def graph_to_pandas(edges: list[dict[str, Any]]) -> Any:
    """Return one row per edge."""
    columns = ["source", "target", "height", "lower_bound", "certified", "point"]
    return _load("pandas").DataFrame(edges, columns=columns)


def graph_to_networkx(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Any:
    """Return a graph in which two nodes may have several edges."""
    graph = _load("networkx").MultiGraph()
    for node in nodes:
        graph.add_node(node["mode"], **{key: value for key, value in node.items() if key != "mode"})
    for edge in edges:
        attributes = {key: value for key, value in edge.items() if key not in ("source", "target")}
        graph.add_edge(edge["source"], edge["target"], weight=edge["height"], **attributes)
    return graph


def _merges(tree: "MergeTree") -> list[dict[str, Any]]:
    matrix = tree.linkage_matrix(below_modes=True)
    return [
        {
            "left": int(left),
            "right": int(right),
            "parent": tree.n_leaves + row,
            "height": float(height),
            "size": int(size),
            "saddle": None if saddle < 0 else int(saddle),
            "certified": bool(certified),
        }
        for row, ((left, right, height, size), saddle, certified) in enumerate(
            zip(matrix, tree.merges.saddles, tree.merge_certified, strict=True)
        )
    ]


def _load(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise DPMorseError(f"this needs {library}: pip install {library}") from error
