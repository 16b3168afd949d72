"""How often each level of a category occurs in a cluster, and how often a value is missing, with intervals.

With L_l the released number of a cluster's records that have level l, N = sum_l L_l over the levels of its
category, K_c components and s the noise of a number: p = L_l / N has, linearised, the variance
``s^2 K_c ((1 - p)^2 + p^2 (n_levels - 1)) / N^2``. The part q = M / n of missing values, M of n records, has
``K_c (s_M^2 + q^2 s_n^2) / n^2``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpmorse.profiles.estimate import Estimate
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.typing import BoolArray, FloatArray


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
    profile: Profile, members: FloatArray, *, level: float = 0.95, population: bool = False
) -> LevelTable:
    """Return the table of groups of components: rows of ``members`` have 1 where a component belongs."""
    z, counted = float(ndtri(0.5 + level / 2)), profile.levels
    of_level, n_parts = counted.layout.category_of_level, members.sum(axis=1)[:, None]
    found = members @ counted.levels
    n_levels = np.array(counted.layout.n_levels, dtype=np.int64)
    # Of each category: the sum over its levels, and its noise for one component.
    totals = np.asarray(found @ np.eye(len(n_levels))[of_level])
    noise = counted.stddev * np.sqrt(n_levels.astype(np.float64))
    unsure: BoolArray = totals <= SUPPORT * (noise * np.sqrt(n_parts))
    n = np.maximum(totals, 1.0)[:, of_level]
    others = n_levels[of_level] - 1
    share = np.clip(found / n, 0.0, 1.0)
    variance = n_parts * counted.stddev**2 * ((1 - share) ** 2 + share**2 * others) / n**2
    if population:
        variance = variance + share * (1 - share) / n
    shares = Estimate.of_parts(share, z * np.sqrt(variance)).left_open(unsure[:, of_level], 0.0, 1.0)
    missing = _missing(profile, members, totals, noise, z, population=population)
    return LevelTable(shares, missing, unsure)


def _missing(
    profile: Profile,
    members: FloatArray,
    totals: FloatArray,
    noise_of_totals: FloatArray,
    z: float,
    *,
    population: bool,
) -> Estimate:
    counted, layout = profile.levels, profile.levels.layout
    holes = list(layout.holes)
    n_parts, sizes = members.sum(axis=1)[:, None], (members @ profile.counts)[:, None]
    found, noise = np.zeros((len(members), layout.n_numbers)), np.zeros(layout.n_numbers)
    found[:, holes], noise[holes] = members @ counted.holes, counted.stddev
    found = np.hstack([found, sizes - totals])
    noise = np.hstack([noise, np.hypot(noise_of_totals, profile.count_stddev)])
    n = np.maximum(sizes, 1.0)
    part = np.clip(found / n, 0.0, 1.0)
    variance = n_parts * (noise**2 + part**2 * profile.count_stddev**2) / n**2
    if population:
        variance = variance + part * (1 - part) / n
    unsure = (sizes <= SUPPORT * profile.count_stddev * np.sqrt(n_parts)) & (noise > 0)
    return Estimate.of_parts(part, z * np.sqrt(variance)).left_open(unsure, 0.0, 1.0)
