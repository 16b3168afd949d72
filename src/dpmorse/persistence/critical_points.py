"""Modes and saddles in a model file, checked against the mixture they belong to."""

from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from dpmorse import _plain_data
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.morse import ROUNDING, CriticalPoints
from dpmorse.typing import FloatArray

_NAMES = tuple(field.name for field in dataclass_fields(CriticalPoints))

_HEIGHT_TOLERANCE = 1e-6
"""Largest relative difference between a stated height and that of the mixture: rounding, which differs
between machines, but no other point."""

_STEP_TOLERANCE = 1e-4
"""Longest Newton step from a point that is stated as certified, in the metric of the absolute Hessian, in
which a standard deviation of a well has length 1. A critical point found on another machine is this close."""

_MOST_PER_COMPONENT = 64
"""Most modes, and most saddles, per squared number of components. A limit before anything is allocated; real
mixtures have far fewer."""


def critical_points_to_dict(points: CriticalPoints) -> dict[str, Any]:
    """Return modes and saddles as nested lists."""
    return {name: getattr(points, name).tolist() for name in _NAMES}


def critical_points_from_dict(content: object, mixture: GaussianMixture) -> CriticalPoints:
    """Rebuild modes and saddles; heights must be those of the mixture, and saddles must connect all modes."""
    parts = _plain_data.fields("critical_points", content, *_NAMES)
    n_modes, n_saddles = (len(_plain_data.of_type(name, parts[name], list)) for name in ("modes", "saddles"))
    d = mixture.n_features
    if max(n_modes, n_saddles) > _MOST_PER_COMPONENT * mixture.n_components**2:
        raise ModelFormatError("critical_points hold more modes or saddles than the mixture can have.")
    wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
        "modes": (np.float64, (n_modes, d)),
        "mode_heights": (np.float64, (n_modes,)),
        "mode_certified": (np.bool_, (n_modes,)),
        "component_modes": (np.int64, (mixture.n_components,)),
        "saddles": (np.float64, (n_saddles, d)),
        "saddle_heights": (np.float64, (n_saddles,)),
        "saddle_bounds": (np.float64, (n_saddles,)),
        "saddle_ends": (np.int64, (n_saddles, 2)),
        "saddle_certified": (np.bool_, (n_saddles,)),
    }
    points = CriticalPoints(**{name: _array(name, parts[name], *wanted[name]) for name in _NAMES})
    _plain_data.rebuild("critical_points", lambda: _check(points, mixture))
    return points


def _array(name: str, value: object, dtype: type[Any], shape: tuple[int, ...]) -> Any:
    """Return an array; refuse values that do not have this shape and type (integers pass as floats)."""
    kinds = {np.float64: "fi", np.int64: "i", np.bool_: "b"}[dtype]
    if 0 in shape:
        if value != []:
            raise ModelFormatError(f"critical_points.{name} must be empty.")
        return np.empty(shape, dtype=dtype)
    array = _plain_data.rebuild(f"critical_points.{name}", lambda: np.array(value))
    mixed = array.dtype.kind != "b" and _plain_data.holds_boolean(value)
    if array.shape != shape or array.dtype.kind not in kinds or mixed:
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
        tolerance = _HEIGHT_TOLERANCE * (1 + np.abs(heights))
        if len(places) and not np.all(np.abs(-mixture.log_density(places) - heights) <= tolerance):
            raise ModelFormatError(f"critical_points.{name}_heights are not those of the mixture.")
        if np.any(np.diff(heights) < -ROUNDING):  # points that differ by less are numbered by their ends
            raise ModelFormatError(f"critical_points.{name}_heights are not in order.")
    _check_certificates(points, mixture)
    if len(points.spanning_saddles) != n - 1:
        raise ModelFormatError("critical_points: the saddles do not connect all modes.")


def _check_certificates(points: CriticalPoints, mixture: GaussianMixture) -> None:
    floors = points.mode_heights[points.saddle_ends].max(axis=1, initial=-np.inf)
    if np.any(points.saddle_heights < floors) or np.any(points.saddle_bounds > points.saddle_heights):
        raise ModelFormatError("critical_points: a saddle lies below its modes, or its bound above it.")
    for name, places, negative in (
        ("modes", points.modes[points.mode_certified], 0),
        ("saddles", points.saddles[points.saddle_certified], 1),
    ):
        if len(places) and not _critical(mixture, places, negative):
            raise ModelFormatError(f"critical_points.{name}: a certified point is not a critical point.")


def _critical(mixture: GaussianMixture, places: FloatArray, negative: int) -> bool:
    """Say whether gradients vanish and Hessians have exactly ``negative`` negative eigenvalues."""
    # The squared Newton step in the metric |H| is sum_i (v_i . g)^2 / |lambda_i|, for eigenvectors v_i.
    values, vectors = np.linalg.eigh(mixture.hessian(places))
    along = np.einsum("nij,ni->nj", vectors, mixture.gradient(places))
    small = (along**2 / np.maximum(np.abs(values), 1e-300)).sum(axis=1) < _STEP_TOLERANCE**2
    return bool(small.all() and ((values < 0).sum(axis=1) == negative).all())
