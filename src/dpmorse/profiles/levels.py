"""How often each level of a category occurs in a cluster, and how often a value is missing, with intervals.

With L_l the released number of a cluster's records that have level l, N = sum_l L_l over the levels of its
category, K_c components and s the noise of a number: p = L_l / N has, linearised, the variance
``s^2 K_c ((1 - p)^2 + p^2 (n_levels - 1)) / N^2``. The part q = M / n of missing values, M of n records, has
``K_c (s_M^2 + q^2 s_n^2) / n^2``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles.profile import SUPPORT
from dpmorse.schema import Layout
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Estimate:
    """Numbers, and for each the interval from ``low`` to ``high``.

    It holds the truth with the stated probability.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class LevelProfile:
    """Released numbers of records of each component, and of those that have each hole and level.

    Attributes
    ----------
    counts : ndarray of shape (n_components,)
        Number of records.
    holes : ndarray of shape (n_components, n_holes)
        Records in which a number is missing, for each number that may be.
    levels : ndarray of shape (n_components, n_all_levels)
        Records with each level, one category after the other.
    count_stddev, level_stddev : float
        Noise of a count, and of a hole or level.
    layout : Layout
        Which columns these are.
    """

    counts: FloatArray
    holes: FloatArray
    levels: FloatArray
    count_stddev: float
    level_stddev: float
    layout: Layout

    def __repr__(self) -> str:
        return f"LevelProfile({self.n_components} components, {self.layout.n_all_levels} levels)"

    def __post_init__(self) -> None:
        """Check that the parts fit to one another."""
        k = np.size(self.counts)
        shapes = {"counts": (k,), "holes": (k, self.layout.n_holes), "levels": (k, self.layout.n_all_levels)}
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if not k or value.shape != shape or not np.isfinite(value).all():
                raise InvalidParameterError(f"profile: {name} must be finite and have the layout's shape.")
            object.__setattr__(self, name, value)
        for name in ("count_stddev", "level_stddev"):
            _validate.positive_real(**{f"profile.{name}": getattr(self, name)})

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.counts.size)


@dataclass(frozen=True)
class LevelTable:
    """Levels and missing values of the clusters of one cut.

    Attributes
    ----------
    share : Estimate of shape (n_clusters, n_all_levels)
        Part of the cluster's records with each level, among those that have the category.
    missing : Estimate of shape (n_clusters, n_numbers + n_categories)
        Part of the cluster's records in which a column is missing: numbers first, then categories. 0 for a
        number that may not be missing.
    unsure : ndarray of shape (n_clusters, n_categories)
        Where the category may not be there at all, by its noise: intervals of shares are [0, 1].
    """

    share: Estimate
    missing: Estimate
    unsure: BoolArray


def level_table(
    profile: LevelProfile, members: FloatArray, *, level: float = 0.95, population: bool = False
) -> LevelTable:
    """Return the table of groups of components: rows of ``members`` have 1 where a component belongs."""
    z = float(ndtri(0.5 + level / 2))
    of_level, n_parts = profile.layout.category_of_level, members.sum(axis=1)[:, None]
    found = members @ profile.levels
    totals, noise = _totals(profile, found), _noise_of_totals(profile) * np.sqrt(n_parts)
    unsure: BoolArray = totals <= SUPPORT * noise
    n = np.maximum(totals, 1.0)[:, of_level]
    others = np.array(profile.layout.n_levels)[of_level] - 1
    share = np.clip(found / n, 0.0, 1.0)
    variance = n_parts * profile.level_stddev**2 * ((1 - share) ** 2 + share**2 * others) / n**2
    if population:
        variance = variance + share * (1 - share) / n
    shares = _estimate(share, z * np.sqrt(variance), unsure[:, of_level])
    return LevelTable(shares, _missing(profile, members, z, population=population), unsure)


def _totals(profile: LevelProfile, found: FloatArray) -> FloatArray:
    """Add up the levels of each category."""
    return np.asarray(found @ np.eye(profile.layout.n_categories)[profile.layout.category_of_level])


def _noise_of_totals(profile: LevelProfile) -> FloatArray:
    return profile.level_stddev * np.sqrt(np.array(profile.layout.n_levels, dtype=np.float64))


def _missing(profile: LevelProfile, members: FloatArray, z: float, *, population: bool) -> Estimate:
    layout, holes = profile.layout, list(profile.layout.holes)
    n_parts, sizes = members.sum(axis=1)[:, None], (members @ profile.counts)[:, None]
    found, noise = np.zeros((len(members), layout.n_numbers)), np.zeros(layout.n_numbers)
    found[:, holes], noise[holes] = members @ profile.holes, profile.level_stddev
    found = np.hstack([found, sizes - _totals(profile, members @ profile.levels)])
    noise = np.hstack([noise, np.hypot(_noise_of_totals(profile), profile.count_stddev)])
    n = np.maximum(sizes, 1.0)
    part = np.clip(found / n, 0.0, 1.0)
    variance = n_parts * (noise**2 + part**2 * profile.count_stddev**2) / n**2
    if population:
        variance = variance + part * (1 - part) / n
    unsure = (sizes <= SUPPORT * profile.count_stddev * np.sqrt(n_parts)) & (noise > 0)
    return _estimate(part, z * np.sqrt(variance), unsure)


def _estimate(part: FloatArray, half: FloatArray, unsure: BoolArray) -> Estimate:
    """Return parts with intervals inside [0, 1]; all of it where nothing is known."""
    low, high = np.maximum(part - half, 0.0), np.minimum(part + half, 1.0)
    return Estimate(part, np.where(unsure, 0.0, low), np.where(unsure, 1.0, high))
