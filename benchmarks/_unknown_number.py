"""Fits without a given number of clusters: the suggested number, and the quality of its clusters."""

import multiprocessing
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.generated import FAMILIES, make_family
from dpmorse import DPMorse
from dpmorse.clustering.standing_out import sizes_of
from dpmorse.clustering.trees import least_weight
from dpmorse.datasets import LabelledData
from dpmorse.morse import merge_tree

_INSTANCES = range(960, 976)  # nothing was set on these
_EPSILON, _DELTA = 1.0, 1e-5


def number(processes: int) -> list[dict[str, Any]]:
    """Compare the suggested number, the number of clear modes and the true one, on the same fits."""
    cases = [(name, instance) for instance in _INSTANCES for name in FAMILIES]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        rows = pool.starmap(_row, cases, chunksize=1)
    for family in ("all", *FAMILIES):
        mine = [row for row in rows if family in ("all", row["family"])]
        print(f"{family:>10}: {_in_words(mine)}")
    return rows


def _row(family: str, instance: int) -> dict[str, Any]:
    """Fit once, and cut the tree as each way to choose the number would."""
    data = make_family(family, instance)
    model = DPMorse(epsilon=_EPSILON, delta=_DELTA, bounds=data.bounds, random_state=0).fit(data.X)
    components, suggestion = model.base_.predict(data.X), model.merge_tree_.suggestion
    modes = model.merge_tree_.critical_points.suggested_n_clusters
    numbers = {"suggested": suggestion.n_clusters, "modes": modes, "true": data.n_clusters}
    row: dict[str, Any] = {"family": family, "numbers": numbers}
    for how, n_clusters in numbers.items():
        row[how] = _agreement(model, n_clusters, data, components)
    row["components"], row["nearly"] = model.merge_tree_.n_leaves, list(suggestion.nearly)
    return row


def _agreement(model: DPMorse, n_clusters: int, data: LabelledData, components: Any) -> float:
    """Return the adjusted Rand index with the classes, of the tree that would have been built."""
    points, known = model.merge_tree_.critical_points, data.y >= 0
    tree = merge_tree(
        model.base_.partition_,
        rule="auto",
        n_clusters=n_clusters,
        critical_points=points,
        least_weight=least_weight(sizes_of(model.base_)),
    )
    labels = tree.cut(min(n_clusters, tree.n_leaves))[components]
    return float(adjusted_rand_score(data.y[known], labels[known]))


def _in_words(rows: list[dict[str, Any]]) -> str:
    means = "  ".join(f"{how} {np.mean([row[how] for row in rows]):.3f}" for how in rows[0]["numbers"])
    true = np.array([row["numbers"]["true"] for row in rows])
    off = abs(np.array([row["numbers"]["suggested"] for row in rows]) - true)
    held = np.array([row["numbers"]["true"] in row["nearly"] for row in rows])
    could = true <= [row["components"] for row in rows]
    size = np.median([len(row["nearly"]) for row in rows])
    return (
        f"{means}; exact {np.mean(off == 0):.2f}, within one {np.mean(off < 2):.2f}; nearly as good: "
        f"{size:g} numbers, the true one in {held.mean():.2f}, {held[could].mean():.2f} where it can be"
    )
