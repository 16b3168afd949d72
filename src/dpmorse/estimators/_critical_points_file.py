"""Modes and saddles in a model file, checked against the mixture they belong to."""

from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.estimators import _documents
from dpmorse.exceptions import ModelFormatError
from dpmorse.morse import CriticalPoints
from dpmorse.morse.spanning import spanning_edges
from dpmorse.typing import FloatArray

_KINDS = {
    "modes": "f",
    "mode_heights": "f",
    "mode_certified": "b",
    "component_modes": "i",
    "saddles": "f",
    "saddle_heights": "f",
    "saddle_bounds": "f",
    "saddle_ends": "i",
    "saddle_certified": "b",
}
_HEIGHT_TOLERANCE = 1e-6


def critical_points_to_dict(points: CriticalPoints) -> dict[str, Any]:
    """Return modes and saddles as nested lists."""
    return {field.name: getattr(points, field.name).tolist() for field in dataclass_fields(points)}


def critical_points_from_dict(content: object, mixture: GaussianMixture) -> CriticalPoints:
    """Rebuild modes and saddles; heights must be those of the mixture, and saddles must connect all modes."""
    parts = _documents.fields("critical_points", content, *_KINDS)
    n_modes, n_saddles = (len(_documents.of_type(name, parts[name], list)) for name in ("modes", "saddles"))
    d = mixture.n_features
    shapes = {
        "modes": (n_modes, d),
        "mode_heights": (n_modes,),
        "mode_certified": (n_modes,),
        "component_modes": (mixture.n_components,),
        "saddles": (n_saddles, d),
        "saddle_heights": (n_saddles,),
        "saddle_bounds": (n_saddles,),
        "saddle_ends": (n_saddles, 2),
        "saddle_certified": (n_saddles,),
    }
    arrays = {name: _array(name, parts[name], shapes[name]) for name in _KINDS}
    points = CriticalPoints(**arrays)
    _documents.rebuild("critical_points", lambda: _check(points, mixture))
    return points


def _array(name: str, value: object, shape: tuple[int, ...]) -> Any:
    """Return an array of exactly this shape and kind of numbers."""
    dtype = {"f": np.float64, "i": np.int64, "b": np.bool_}[_KINDS[name]]
    if 0 in shape:
        return np.empty(shape, dtype=dtype)
    array = _documents.rebuild(f"critical_points.{name}", lambda: np.array(value))
    if array.shape != shape or (
        array.dtype.kind != _KINDS[name] and not (array.dtype.kind == "i" and dtype is np.float64)
    ):
        raise ModelFormatError(f"critical_points.{name} does not have the shape or type it should have.")
    return array.astype(dtype)


def _check(points: CriticalPoints, mixture: GaussianMixture) -> None:
    n = points.n_modes
    indices = np.r_[points.component_modes, points.saddle_ends.ravel()]
    if n == 0 or indices.min() < 0 or indices.max() >= n:
        raise ModelFormatError("critical_points refer to modes that are not there.")
    for name, places, heights in (
        ("mode", points.modes, points.mode_heights),
        ("saddle", points.saddles, points.saddle_heights),
    ):
        if len(places) and not _agree(-mixture.log_density(places), heights):
            raise ModelFormatError(f"critical_points.{name}_heights are not those of the mixture.")
        if np.any(np.diff(heights) < 0):
            raise ModelFormatError(f"critical_points.{name}_heights are not in order.")
    edges = spanning_edges(n, points.saddle_ends[:, 0], points.saddle_ends[:, 1], points.saddle_heights)
    if len(edges) != n - 1:
        raise ModelFormatError("critical_points: the saddles do not connect all modes.")


def _agree(computed: FloatArray, stated: FloatArray) -> bool:
    return bool(np.all(np.abs(computed - stated) <= _HEIGHT_TOLERANCE * (1 + np.abs(stated))))
