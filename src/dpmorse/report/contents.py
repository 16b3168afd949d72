"""The numbers of a page: released values, rounded to visible precision, and limited in number."""

import math
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from dpmorse.morse import MergeTree
from dpmorse.profiles import ABOUT_AGAIN
from dpmorse.report.axes import Axes
from dpmorse.report.bulletin import headline
from dpmorse.report.numbers import nodes_of, numbers
from dpmorse.report.quality import (
    APART,
    N_RECORDS,
    WORDS,
    joint_memberships,
    merges_apart,
    separation,
    word_of,
)
from dpmorse.report.released import ReleasedModel
from dpmorse.typing import FloatArray, IntArray

_MOST_CUTS = 200
"""Most numbers of clusters that a page offers. This and the next five limits keep a page small enough for
mail."""

_MOST_LABELS = 200_000
"""Most labels of all cuts together, cuts times leaves."""

_MOST_NUMBERS = 48_000
"""Most numbers of clusters: nodes, two for each cut, times columns times three, with ends of intervals."""

_MOST_POINTS = 200
"""Most modes that are described, and most saddles."""

_MOST_COORDINATES = 12_000
"""Most coordinates of these modes, and of these saddles, points times axes."""

_MOST_SAMPLE_VALUES = 24_000
"""Most coordinates of synthetic records, records times viewable axes."""

_STEPS = 10_000
"""Steps of an axis that the positions of synthetic records are rounded to: finer than the pixels of a
screen."""

_NEVER_SINGULAR = 999
"""The largest correlation that is drawn, in thousandths: an ellipse with correlation 1 would have no
width."""


def contents(model: ReleasedModel, n_samples: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return everything that the page's script draws, as plain data."""
    axes = model.space.axes([column.name for column in model.numbers])
    ends = axes.ranges(model.mixture, model.space.shown(model.tree.modes))
    covariances = axes.covariances(model.mixture)
    shown = _shown(model, axes)
    cuts = _cuts(model, shown)
    nodes, of_cuts = nodes_of(cuts, model.mixture.n_components)
    described = numbers(model, shown, nodes)
    joint = joint_memberships(model.space.memberships(N_RECORDS, np.random.default_rng(0)))
    n_points = min(_MOST_POINTS, _MOST_COORDINATES // len(axes.names))
    return {
        "columns": _columns(model, axes, described.pop("units")),
        "categories": [model.columns[i].to_dict() for i in shown if not model.columns[i].is_number],
        "table": ["number" if model.columns[i].is_number else "category" for i in shown],
        "nodes": of_cuts,
        "headlines": _headlines(model, described["rows"], of_cuts),
        "numbers": described,
        "separation": [[round(float(part), 3), word_of(part, APART)] for part in separation(joint, nodes)],
        "words": WORDS,
        "n_columns": len(model.columns),
        "axes": _axes(axes, ends),
        "components": _components(model, axes, covariances),
        "view": {
            "axes": axes.viewable.tolist(),
            "correlations": _correlations(covariances[:, axes.viewable][:, :, axes.viewable]),
            "samples": _samples(model, axes, ends, n_samples, rng),
            "of_table": model.schema.stated,
        },
        "tree": {**_tree(model.tree, joint), "suggestion": model.suggestion},
        "cuts": cuts,
        "again": _again(model, len(cuts)),
        "about_again": ABOUT_AGAIN,
        "n_clusters": min(model.n_clusters, len(cuts)),
        "modes": _modes(model, axes, n_points),
        "saddles": _saddles(model, axes, n_points),
        "n_modes": model.tree.n_modes,
        "n_saddles": len(model.tree.saddles),
    }


def _headlines(model: ReleasedModel, rows: list[dict[str, Any]], of_cuts: list[list[int]]) -> list[str]:
    """Say of each cut how many groups there are."""
    doubtful = [not row.get("supported", True) for row in rows]
    return [headline(len(cut), sum(doubtful[node] for node in cut), model.profile) for cut in of_cuts]


def _shown(model: ReleasedModel, axes: Axes) -> IntArray:
    """Return the places of the columns that are shown: all categories, and the numbers that are axes."""
    axis = set(axes.columns.tolist())
    places = [i for i, column in enumerate(model.columns) if not column.is_number or column.place in axis]
    return np.array(places, dtype=np.int64)


def _columns(model: ReleasedModel, axes: Axes, units: list[float | None]) -> list[dict[str, Any]]:
    """Describe columns that are numbers.

    ``scale`` says how many digits of a place among the records matter, ``unit`` in what pictures measure
    medians: robust standard deviations of all records, or those of the mixture where these are not known.
    """
    scales, columns = axes.stddev[axes.columns], model.numbers
    return [
        {**columns[i].to_dict(), "scale": _number(scale, scale), "unit": unit or _significant(scale)}
        for i, scale, unit in zip(axes.columns, scales, units, strict=True)
    ]


def _axes(axes: Axes, ends: FloatArray) -> list[dict[str, Any]]:
    about = [""] * len(axes.columns) + axes.about
    return [
        {"name": name, "about": text, "low": _number(low, high - low), "high": _number(high, high - low)}
        for name, text, low, high in zip(axes.names, about, *ends, strict=True)
    ]


def _components(model: ReleasedModel, axes: Axes, covariances: FloatArray) -> dict[str, Any]:
    stddevs = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    return {
        "weights": list(map(_significant, model.mixture.weights)),
        "means": _coordinates(axes, model.mixture.means),
        "stddevs": [list(map(_significant, row)) for row in stddevs],
    }


def _correlations(covariances: FloatArray) -> list[list[int]]:
    """Return, for each pair of viewable axes (0, 1), (0, 2), (1, 2), (0, 3) ..., thousandths."""
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    rounded = np.rint(1000 * covariances / scale[:, :, None] / scale[:, None, :]).astype(np.int64)
    limited = np.clip(rounded, -_NEVER_SINGULAR, _NEVER_SINGULAR)
    return [limited[:, i, j].tolist() for j in range(limited.shape[1]) for i in range(j)]


def _samples(
    model: ReleasedModel, axes: Axes, ends: FloatArray, n_samples: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Draw records as ``model.sample`` does; positions are in ten-thousandths of the viewable axes."""
    points, components = model.space.sampled(min(n_samples, _MOST_SAMPLE_VALUES // len(axes.viewable)), rng)
    low, high = ends[:, axes.viewable]
    positions = np.rint(_STEPS * (axes.project(points)[:, axes.viewable] - low) / (high - low))
    visible = np.clip(positions, -_STEPS, 2 * _STEPS).astype(np.int64)
    return {"components": components.tolist(), "positions": visible.T.tolist()}


def _cuts(model: ReleasedModel, shown: IntArray) -> list[list[int]]:
    """Return the cluster of each component (then of each mode without component) for 1, 2, ... clusters."""
    tree = model.tree
    n_values = 0  # of a node
    for place in shown:
        column = model.columns[place]
        n_values += (3 if column.is_number else len(column.levels)) + column.may_miss
    ends = 1 if model.profile is None else 3  # each number has the two of its interval
    affordable = min(_MOST_LABELS // tree.n_leaves, _MOST_NUMBERS // (2 * ends * n_values))
    n_cuts = min(tree.n_leaves, _MOST_CUTS, max(2, affordable))
    return [tree.cut(k).tolist() for k in range(1, n_cuts + 1)]


def _again(model: ReleasedModel, n_cuts: int) -> list[list[str]]:
    """Say of each cluster of each cut how often it was found again; nothing where that is not known."""
    of_cuts = (model.again(k) for k in range(1, n_cuts + 1))
    return [
        [] if again is None else list(map(again.in_words, range(again.matches.shape[1]))) for again in of_cuts
    ]


def _tree(tree: MergeTree, joint: FloatArray) -> dict[str, Any]:
    linkage = tree.linkage_matrix(below_modes=True)
    bare = tree.leaves.components < 0
    leaves = np.where(bare[:, None], 0.0, np.eye(len(tree.weights))[tree.leaves.components])
    apart = merges_apart(joint, leaves, linkage)
    return {
        "order": leaves_list(linkage).tolist() if len(linkage) else [0],
        "merges": [
            [int(a), int(b), _significant(height), int(certified), None if part is None else round(part, 3)]
            for (a, b, height, _), certified, part in zip(linkage, tree.merge_certified, apart, strict=True)
        ],
        "leaves": _leaf_positions(tree).tolist(),
        "names": [
            f"mode {mode}" if alone else str(component)
            for alone, component, mode in zip(bare, tree.leaves.components, tree.leaves.modes, strict=True)
        ],
        "heights": tree.height_label,
        "suggested": tree.suggestion.n_clusters,
        "nearly": list(tree.suggestion.nearly),
        "why": _WHY_COMPARED if tree.proposals is not None else _WHY_COUNTED,
    }


_WHY_COMPARED = (
    "Cuts into every number of clusters were compared. More clusters count as better as long as records "
    "belong clearly to one of them, different ways of merging agree on them, and valleys of the density "
    "part them."
)
_WHY_COUNTED = (
    "Peaks of the density were counted: those that are more than twice as high as the pass to a higher peak."
)


def _leaf_positions(tree: MergeTree) -> IntArray:
    """Return where each leaf stands in a cut: components first, then modes without component."""
    bare = tree.leaves.components < 0
    return np.where(bare, len(tree.weights) + np.cumsum(bare) - 1, tree.leaves.components)


def _modes(model: ReleasedModel, axes: Axes, at_most: int) -> list[dict[str, Any]]:
    """Describe the deepest modes; ``leaf`` is the heaviest leaf, whose cluster is the mode's."""
    tree, points = model.tree, model.tree.critical_points
    coordinates = _coordinates(axes, model.space.shown(points.modes))
    positions, weights = _leaf_positions(tree), tree.leaf_weights
    modes = []
    for i in range(min(points.n_modes, at_most)):
        persistence = tree.persistence[i]
        heaviest = np.where(tree.leaves.modes == i, weights, -1.0).argmax()
        modes.append(
            {
                "height": _significant(points.mode_heights[i] - points.mode_heights[0]),
                "persistence": None if math.isinf(persistence) else _significant(persistence),
                "certified": bool(points.mode_certified[i]),
                "leaf": int(positions[heaviest]),
                "point": coordinates[i],
            }
        )
    return modes


def _saddles(model: ReleasedModel, axes: Axes, at_most: int) -> list[dict[str, Any]]:
    """Describe saddles: those over which modes merge, then the others, lowest first."""
    points, deepest = model.tree.critical_points, model.tree.critical_points.mode_heights[0]
    merges = np.isin(np.arange(len(points.saddles)), model.tree.spanning_saddles)
    order = np.argsort(~merges, kind="stable")
    between_shown = points.saddle_ends[order].max(axis=1) < at_most
    coordinates = _coordinates(axes, model.space.shown(points.saddles))
    return [
        {
            "modes": points.saddle_ends[i].tolist(),
            "height": _significant(points.saddle_heights[i] - deepest),
            "bound": _significant(points.saddle_bounds[i] - deepest),
            "certified": bool(points.saddle_certified[i]),
            "merges": bool(merges[i]),
            "point": coordinates[i],
        }
        for i in order[between_shown][:at_most]
    ]


def _coordinates(axes: Axes, points: FloatArray) -> list[list[float]]:
    """Return points on all axes, rounded by the mixture's standard deviation on each (1 for directions)."""
    scales = np.r_[axes.stddev[axes.columns], np.ones(len(axes.directions))]
    return [list(map(_number, point, scales)) for point in axes.project(points)]


def _number(value: float, scale: float) -> float:
    """Round to a ten-thousandth of ``scale``."""
    return round(float(value), 4 - math.floor(math.log10(scale)))


def _significant(value: float) -> float:
    """Round to five significant digits."""
    return float(f"{value:.5g}")
