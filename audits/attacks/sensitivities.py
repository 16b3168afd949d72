"""Sensitivities by search: pairs of records in plain floats, against the closed forms that set the noise."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from audits.attacks.cases import ADD_REMOVE, RELATIONS
from dpmorse.privacy import Neighboring
from dpmorse.schema import Layout
from dpmorse.statistics import CellMoments, Domain, MomentShares, SecondMoments
from dpmorse.statistics.sensitivity import InverseScales, RecordBounds
from dpmorse.typing import FloatArray

_N_EACH = 400
"""Points of each of four kinds that are tried: corners, inside, axes, and corners of faces."""

_N_CELLS = 3
"""Cells that a record has shares in, where cells are soft."""


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

    def found_soft(self, relation: Neighboring, rng: np.random.Generator) -> float:
        """Return the same where a record has shares in several cells, and another residual in each."""
        one, other = (self._shared(rng) for _ in range(2))
        moved = one if relation is ADD_REMOVE else one - other
        return float(np.square(moved).sum(axis=(1, 2)).max())

    def _shared(self, rng: np.random.Generator) -> FloatArray:
        """Return what records add to every cell; of soft shares some is lost to rounding."""
        parts = np.stack([self.features(self.points(rng)) for _ in range(_N_CELLS)], axis=1)
        return memberships(rng, len(parts))[:, :, None] * parts

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


def memberships(rng: np.random.Generator, n: int) -> FloatArray:
    """Return shares in the cells, none below 0 and at most 1 in all: some whole, some spread, some none."""
    whole = np.eye(_N_CELLS)[rng.integers(_N_CELLS, size=n)]
    spread = rng.dirichlet(np.full(_N_CELLS, 0.3), size=n) * rng.uniform(0.9, 1.0, size=(n, 1))
    shares = np.where(rng.random((n, 1)) < 0.5, whole, spread)
    return np.asarray(shares * (rng.random((n, 1)) < 0.95))


def search_soft(n_settings: int, seed: int = 0) -> tuple[float, float]:
    """Return the largest ratio of found to declared for soft cells, and the least for add/remove-one."""
    rng = np.random.default_rng([seed, 1])
    above, reached = 0.0, np.inf
    for _ in range(n_settings):
        setting = replace(random_setting(rng), only_cell=False)
        ratios = [setting.found_soft(relation, rng) / setting.declared(relation) for relation in RELATIONS]
        above, reached = max(above, *ratios), min(reached, ratios[0])
    return above, reached


def search_tables(n_settings: int, seed: int = 0) -> tuple[float, float]:
    """Return the same for sums of tables: residuals of numbers, missing values and levels, in soft cells."""
    rng = np.random.default_rng([seed, 2])
    above, reached = 0.0, np.inf
    for _ in range(n_settings):
        d, levels = int(rng.integers(4)), tuple(map(int, rng.integers(2, 5, size=rng.integers(1, 4))))
        holes = tuple(map(int, np.flatnonzero(rng.random(d) < 0.5)))
        layout = Layout((-1.0,) * d, (1.0,) * d, holes, levels)
        one = np.ones(layout.width)
        statistic = CellMoments(Domain(-one, one), _N_CELLS, of_residuals=True, layout=layout)
        ratios = [_ratio_of_table(statistic, layout, relation, rng) for relation in RELATIONS]
        above, reached = max(above, *ratios), min(reached, ratios[0])
    return above, reached


def _ratio_of_table(
    statistic: CellMoments, layout: Layout, relation: Neighboring, rng: np.random.Generator
) -> float:
    """Return the largest squared distance found, as a part of that by which the cost was computed."""
    count, total, second = rng.dirichlet(np.ones(3))
    shares = MomentShares(count=count, sum=total, second_moment=second)
    if not layout.n_numbers:
        shares = MomentShares(count=0.5, sum=0.5)
    scales = statistic.calibrate(0.5, relation, replace(shares, levels=float(rng.uniform(0.1, 0.9))))
    one = 2.0**statistic.unit_bits
    inverse = (one / scales.count, one / scales.sum, one / scales.diagonal)
    setting = Setting(
        statistic.second_moments,
        layout.n_numbers,
        1.0,
        inverse,
        (scales.diagonal / scales.off_diagonal) ** 2,
        only_cell=False,
    )
    added = [_added_by_records(setting, layout, one / scales.level, rng) for _ in range(2)]
    moved = added[0] if relation is ADD_REMOVE else added[0] - added[1]
    return float(np.square(moved).sum(axis=(1, 2)).max() / (2 * statistic.cost(scales, relation)))


def _added_by_records(
    setting: Setting, layout: Layout, of_level: float, rng: np.random.Generator
) -> FloatArray:
    """Return what records of a table add to every cell, in units of the noise."""
    n = 4 * _N_EACH
    points = np.stack([setting.points(rng) for _ in range(_N_CELLS)], axis=1) if layout.n_numbers else None
    phi = np.full((n, _N_CELLS, 1), setting.scales[0])
    if points is not None:
        phi = setting.features(points.reshape(n * _N_CELLS, -1)).reshape(n, _N_CELLS, -1)
    ones = np.zeros((n, layout.n_holes + layout.n_all_levels))
    ones[:, : layout.n_holes] = rng.random((n, layout.n_holes)) < 0.8
    for own in layout.levels:
        drawn = rng.integers(own.start, own.stop, size=n)
        ones[np.arange(n), layout.n_holes + drawn] = rng.random(n) < 0.95  # or it is missing
    counted = np.repeat(of_level * ones[:, None], _N_CELLS, axis=1)
    return np.asarray(memberships(rng, n)[:, :, None] * np.concatenate([phi, counted], axis=2))


def search(n_settings: int, seed: int = 0) -> tuple[float, float]:
    """Return the largest ratio of found to declared squared sensitivity, and the least for add/remove-one."""
    rng = np.random.default_rng(seed)
    above, reached = 0.0, np.inf
    for _ in range(n_settings):
        setting = random_setting(rng)
        for relation in RELATIONS:
            ratio = setting.found(relation, rng) / setting.declared(relation)
            above = max(above, ratio)
            if relation is ADD_REMOVE:
                reached = min(reached, ratio)
    return above, reached
