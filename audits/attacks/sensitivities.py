"""Sensitivities by search: pairs of records in plain floats, against the closed forms that set the noise."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse.privacy import Neighboring
from dpmorse.statistics import SecondMoments
from dpmorse.statistics.sensitivity import InverseScales, RecordBounds
from dpmorse.typing import FloatArray

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE

_N_EACH = 400
"""Points of each of four kinds that are tried: corners, inside, axes, and corners of faces."""


@dataclass(frozen=True)
class Setting:
    """A statistic, the domain of its records, and inverse noise scales."""

    kind: SecondMoments
    n_features: int
    squared_radius: float | None
    scales: tuple[float, float, float]
    squared_ratio: float
    only_cell: bool

    @property
    def largest_squared_norm(self) -> float:
        """The P of Theorem 5."""
        return self.n_features if self.squared_radius is None else self.squared_radius

    def declared(self, relation: Neighboring) -> float:
        """Return the squared sensitivity that the library uses."""
        P = Fraction(self.largest_squared_norm)
        bounds = RecordBounds(self.n_features, P, self.kind, self.only_cell)
        count, total, second = map(Fraction, self.scales)
        inverse = InverseScales(count, total, second, Fraction(self.squared_ratio))
        return float(bounds.squared_l2(inverse, relation))

    def features(self, z: FloatArray) -> FloatArray:
        """Return the rows phi(z), the count first."""
        count, total, second = self.scales
        lower = np.tril_indices(self.n_features, -1)
        parts = {
            SecondMoments.FULL: [z**2, np.sqrt(self.squared_ratio) * z[:, lower[0]] * z[:, lower[1]]],
            SecondMoments.DIAGONAL: [z**2],
            SecondMoments.TRACE: [(z**2).sum(axis=1, keepdims=True)],
            SecondMoments.NONE: [],
        }[self.kind]
        return np.hstack([np.full((len(z), 1), count), total * z, *(second * part for part in parts)])

    def found(self, relation: Neighboring, rng: np.random.Generator) -> float:
        """Return the largest squared distance that a search finds."""
        first, second = self.features(self.points(rng)), self.features(self.points(rng))
        alone = np.square(first).sum(axis=1)
        if relation is ADD_REMOVE:
            return float(alone.max())
        same_cell = np.square(first - second).sum(axis=1).max()
        return float(same_cell if self.only_cell else max(same_cell, 2 * alone.max()))

    def points(self, rng: np.random.Generator) -> FloatArray:
        """Return corners, axes, and points inside and on the surface of the domain."""
        d = self.n_features
        corners = rng.choice([-1.0, 1.0], size=(_N_EACH, d))
        inside = rng.uniform(-1, 1, size=(_N_EACH, d))
        axes = np.vstack([np.eye(d), -np.eye(d)])[rng.integers(2 * d, size=_N_EACH)]
        points = np.vstack([corners, inside, axes, corners * rng.choice([0.0, 1.0], size=(_N_EACH, d))])
        if self.squared_radius is not None:
            norms = np.linalg.norm(points, axis=1, keepdims=True)
            points = points * (np.sqrt(self.squared_radius) / np.maximum(norms, 1e-12))
            points[::3] *= rng.uniform(0, 1, size=(len(points[::3]), 1))
            points = np.clip(points, -1, 1)
        return rng.permutation(points)


def random_setting(rng: np.random.Generator) -> Setting:
    """Return a setting with any kind, domain and weights, in up to five columns."""
    return Setting(
        kind=list(SecondMoments)[rng.integers(4)],
        n_features=int(rng.integers(1, 6)),
        squared_radius=None if rng.integers(2) else float(rng.uniform(0.05, 1.0)),
        scales=tuple(np.exp(rng.uniform(-2, 2, size=3))),
        squared_ratio=float(rng.choice([1.0, 2.0, rng.uniform(0.1, 2.0)])),
        only_cell=bool(rng.integers(2)),
    )


def search(n_settings: int, seed: int = 0) -> tuple[float, float]:
    """Return the largest ratio of found to declared squared sensitivity, and the least for add/remove-one."""
    rng = np.random.default_rng(seed)
    above, reached = 0.0, np.inf
    for _ in range(n_settings):
        setting = random_setting(rng)
        for relation in (ADD_REMOVE, REPLACE_ONE):
            ratio = setting.found(relation, rng) / setting.declared(relation)
            above = max(above, ratio)
            if relation is ADD_REMOVE:
                reached = min(reached, ratio)
    return above, reached
