"""The numbers of a page: released values, rounded to visible precision, and limited in number."""

import math
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list

from dpmorse.morse import MergeTree
from dpmorse.profiles import NO_INTERVALS
from dpmorse.report.axes import Axes, choose_axes, loadings
from dpmorse.report.noise import noise_of_last_release
from dpmorse.report.numbers import numbers
from dpmorse.report.released import ReleasedModel
from dpmorse.typing import FloatArray, IntArray

_MOST_CUTS = 200
"""Most numbers of clusters that a page offers. This and the next five limits keep a page small enough for
mail."""

_MOST_LABELS = 200_000
"""Most labels of all cuts together, cuts times leaves."""

_MOST_NUMBERS = 48_000
"""Most numbers of clusters with intervals: nodes, two for each cut, times columns times six."""

_MOST_POINTS = 200
"""Most modes that are described, and most saddles."""

_MOST_COORDINATES = 12_000
"""Most coordinates of these modes, and of these saddles, points times axes."""

_MOST_SAMPLE_VALUES = 60_000
"""Most coordinates of synthetic records, records times viewable axes."""

_STEPS = 10_000
"""Steps of an axis that the positions of synthetic records are rounded to: finer than the pixels of a
screen."""

_NEVER_SINGULAR = 999
"""The largest correlation that is drawn, in thousandths: an ellipse with correlation 1 would have no
width."""


def contents(model: ReleasedModel, n_samples: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return everything that the page's script draws, as plain data."""
    axes = choose_axes(model.mixture, model.names)
    low, high = axes.ranges(model.mixture, model.shown(model.tree.modes))
    cuts = _cuts(model, len(axes.columns))
    measured = numbers(model.profile, cuts, axes.columns, model.names)
    return {
        "columns": _columns(model, axes),
        "numbers": measured,
        "n_columns": model.mixture.n_features,
        "axes": _axes(axes, low, high, model.names),
        "components": _components(model, axes),
        "view": {
            "axes": axes.viewable.tolist(),
            "correlations": _correlations(model, axes),
            "samples": _samples(model, axes, (low, high), n_samples, rng),
        },
        "tree": _tree(model.tree),
        "cuts": cuts,
        "n_clusters": min(model.n_clusters, len(cuts)),
        "modes": _modes(model, axes),
        "saddles": _saddles(model, axes),
        "n_modes": model.tree.n_modes,
        "n_saddles": len(model.tree.saddles),
        "noise": _noise(model),
        "no_intervals": NO_INTERVALS if measured is None else None,
    }


def _columns(model: ReleasedModel, axes: Axes) -> list[dict[str, Any]]:
    """Describe the columns; ``unit`` and ``middle`` are what sums of records are measured in and from."""
    domain = model.domain
    return [
        {
            "name": model.names[i],
            "mean": _number(axes.mean[i], axes.stddev[i]),
            "stddev": _number(axes.stddev[i], axes.stddev[i]),
            "unit": None if domain is None else _significant(domain.unit[i]),
            "middle": None if domain is None else _significant(domain.centre[i]),
        }
        for i in axes.columns
    ]


def _axes(axes: Axes, low: FloatArray, high: FloatArray, names: list[str]) -> list[dict[str, Any]]:
    about = [""] * len(axes.columns) + loadings(axes, names)
    return [
        {"name": name, "about": text, "low": _number(a, b - a), "high": _number(b, b - a)}
        for name, text, a, b in zip(axes.names, about, low, high, strict=True)
    ]


def _components(model: ReleasedModel, axes: Axes) -> dict[str, Any]:
    variances = np.diagonal(axes.covariances(model.mixture), axis1=1, axis2=2)
    scales = _scales(axes)
    return {
        "weights": [_significant(weight) for weight in model.mixture.weights],
        "means": _table(axes.project(model.mixture.means), scales),
        "stddevs": [[_significant(value) for value in row] for row in np.sqrt(variances)],
    }


def _noise(model: ReleasedModel) -> dict[str, Any]:
    noise = vars(noise_of_last_release(model.last_release, model.mixture, model.domain))
    lists = (name for name, value in noise.items() if isinstance(value, list))
    return {**noise, **{name: [_significant(value) for value in noise[name]] for name in lists}}


def _correlations(model: ReleasedModel, axes: Axes) -> list[list[int]]:
    """Return, for each pair of viewable axes (0, 1), (0, 2), (1, 2), (0, 3) ..., thousandths."""
    covariances = axes.covariances(model.mixture)[:, axes.viewable][:, :, axes.viewable]
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    rounded = np.rint(1000 * covariances / scale[:, :, None] / scale[:, None, :]).astype(np.int64)
    limited = np.clip(rounded, -_NEVER_SINGULAR, _NEVER_SINGULAR)
    return [limited[:, i, j].tolist() for j in range(limited.shape[1]) for i in range(j)]


def _samples(
    model: ReleasedModel,
    axes: Axes,
    ends: tuple[FloatArray, FloatArray],
    n_samples: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Draw records as ``model.sample`` does; positions are in ten-thousandths of the viewable axes."""
    points, components = model.mixture.sample(min(n_samples, _MOST_SAMPLE_VALUES // len(axes.viewable)), rng)
    if model.profile is not None:
        points = np.clip(points, model.profile.lower, model.profile.upper)
    low, high = (end[axes.viewable] for end in ends)
    positions = np.rint(_STEPS * (axes.project(points)[:, axes.viewable] - low) / (high - low))
    visible = np.clip(positions, -_STEPS, 2 * _STEPS).astype(np.int64)
    return {"components": components.tolist(), "positions": visible.T.tolist()}


def _cuts(model: ReleasedModel, n_columns: int) -> list[list[int]]:
    """Return the cluster of each component (then of each mode without component) for 1, 2, ... clusters."""
    tree = model.tree
    affordable = _MOST_LABELS // tree.n_leaves
    if model.profile is not None:
        affordable = min(affordable, _MOST_NUMBERS // (12 * n_columns))
    n_cuts = min(tree.n_leaves, _MOST_CUTS, max(2, affordable))
    return [tree.cut(k).tolist() for k in range(1, n_cuts + 1)]


def _tree(tree: MergeTree) -> dict[str, Any]:
    linkage = tree.linkage_matrix(below_modes=True)
    bare = tree.leaves.components < 0
    return {
        "order": leaves_list(linkage).tolist() if len(linkage) else [0],
        "merges": [
            [int(a), int(b), _significant(height), int(certified)]
            for (a, b, height, _), certified in zip(linkage, tree.merge_certified, strict=True)
        ],
        "leaves": _leaf_positions(tree).tolist(),
        "names": [
            f"mode {mode}" if alone else str(component)
            for alone, component, mode in zip(bare, tree.leaves.components, tree.leaves.modes, strict=True)
        ],
        "heights": tree.height_label,
        "suggested": tree.suggestion.n_clusters,
        "suggestion": tree.suggestion.in_words,
    }


def _leaf_positions(tree: MergeTree) -> IntArray:
    """Return where each leaf stands in a cut: components first, then modes without component."""
    bare = tree.leaves.components < 0
    return np.where(bare, len(tree.weights) + np.cumsum(bare) - 1, tree.leaves.components)


def _modes(model: ReleasedModel, axes: Axes) -> list[dict[str, Any]]:
    """Describe the deepest modes; ``leaf`` is the heaviest leaf, whose cluster is the mode's."""
    tree, points = model.tree, model.tree.critical_points
    coordinates = _table(axes.project(model.shown(points.modes)), _scales(axes))
    positions = _leaf_positions(tree)
    heaviest = [
        int(positions[np.where(tree.leaves.modes == mode, tree.leaf_weights, -1.0).argmax()])
        for mode in range(points.n_modes)
    ]
    return [
        {
            "height": _significant(points.mode_heights[i] - points.mode_heights[0]),
            "persistence": None if math.isinf(tree.persistence[i]) else _significant(tree.persistence[i]),
            "certified": bool(points.mode_certified[i]),
            "leaf": heaviest[i],
            "point": coordinates[i],
        }
        for i in range(min(points.n_modes, _most_points(axes)))
    ]


def _saddles(model: ReleasedModel, axes: Axes) -> list[dict[str, Any]]:
    """Describe saddles: those over which modes merge, then the others, lowest first."""
    points, merging = model.tree.critical_points, set(model.tree.spanning_saddles.tolist())
    order = sorted(range(len(points.saddles)), key=lambda i: (i not in merging, i))
    shown = [i for i in order if points.saddle_ends[i].max() < _most_points(axes)][: _most_points(axes)]
    coordinates = _table(axes.project(model.shown(points.saddles)), _scales(axes))
    deepest = points.mode_heights[0]
    return [
        {
            "modes": points.saddle_ends[i].tolist(),
            "height": _significant(points.saddle_heights[i] - deepest),
            "bound": _significant(points.saddle_bounds[i] - deepest),
            "certified": bool(points.saddle_certified[i]),
            "merges": i in merging,
            "point": coordinates[i],
        }
        for i in shown
    ]


def _most_points(axes: Axes) -> int:
    return min(_MOST_POINTS, _MOST_COORDINATES // len(axes.names))


def _scales(axes: Axes) -> FloatArray:
    """Return the standard deviation of the mixture on each axis, about 1 for directions."""
    scales: FloatArray = np.r_[axes.stddev[axes.columns], np.ones(len(axes.directions))]
    return scales


def _table(values: FloatArray, scales: FloatArray) -> list[list[float]]:
    return [[_number(value, scale) for value, scale in zip(row, scales, strict=True)] for row in values]


def _number(value: float, scale: float) -> float:
    """Round to a ten-thousandth of ``scale``."""
    return round(float(value), 4 - math.floor(math.log10(scale)))


def _significant(value: float) -> float:
    """Round to five significant digits."""
    return float(f"{value:.5g}")
