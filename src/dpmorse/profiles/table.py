"""The table of a cut: share, centre and spread of each cluster, each with an interval that covers.

With N = sum_k n_k over the components of a cluster and F_k, o_k, u as in ``Profile``:

* centre: m = sum_k (n_k o_k + F_k s_k) / N, s_k being the sum of u;
* variance of column j: v_j = sum_k (F_k S_k F_k^T + 2 d_k (F_k s_k)^T + n_k d_k d_k^T)_jj / N, d_k = o_k - m.

Noise is linearised in these ratios. With s_c, s_s, s_2 the noise of a count, of an entry of s_k / r_k and of
a diagonal entry of S_k / r_k^2 (off the diagonal 1 / sqrt 2 of it), and a_kj the length of row j of F_k:

* var(share) = s_c^2 ((1 - p)^2 K_c + p^2 (K - K_c)) / n^2, p the share and K_c the number of its components;
* var(m_j) = sum_k ((a_kj r_k s_s)^2 + (d_kj s_c)^2) / N^2;
* var(v_j) = sum_k ((a_kj^2 r_k^2 s_2)^2 + (2 d_kj a_kj r_k s_s)^2 + ((d_kj^2 - v_j) s_c)^2) / N^2.

What lies beyond r_k was shrunk; what that may have taken from a spread is added above, and to either side of
a centre, from the released counts of lengths (``tails.py``).

Where values are missing, n_k and s_c are for each column those of the values that are there (``guess.py``):
a missing value adds nothing to s_k and S_k.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpmorse.profiles.estimate import Estimate
from dpmorse.profiles.guess import Guess, Known
from dpmorse.profiles.levels import LevelTable, level_table
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.profiles.tails import Tail, heavy_tailed, hidden
from dpmorse.typing import BoolArray, FloatArray, IntArray

_HALF_STEP = 2.0**-22
"""Half a step of the grid that records were rounded to, in widths of the bounds: 2^-21 of half a width."""


@dataclass(frozen=True)
class ClusterTable:
    """What may be published about the clusters of one cut.

    Attributes
    ----------
    counts, count_stddev : ndarray of shape (n_clusters,)
        Number of records, and its noise.
    share : Estimate of shape (n_clusters,)
        Part of all records.
    centre, spread : Estimate of shape (n_clusters, n_features)
        Mean and standard deviation of each column that is a number, of the values that are there.
    supported : ndarray of shape (n_clusters,)
        Whether a cluster is larger than three standard deviations of its size's noise.
    heavy_tailed : ndarray of shape (n_clusters,)
        Whether more records lie far out than a normal distribution has.
    levels : LevelTable
        Shares of levels and of missing values, where a table has them.
    """

    counts: FloatArray
    count_stddev: FloatArray
    share: Estimate
    centre: Estimate
    spread: Estimate
    supported: BoolArray
    heavy_tailed: BoolArray
    levels: LevelTable

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3g}" for share in self.share.value)
        return f"ClusterTable(shares: {shares}; {self.centre.value.shape[1]} columns of numbers)"


def cluster_table(
    profile: Profile,
    labels: IntArray,
    *,
    n_clusters: int | None = None,
    level: float = 0.95,
    population: bool = False,
) -> ClusterTable:
    """Return the table of the clusters that components are labelled with, 0, 1, ...

    ``n_clusters`` is given where a cluster may have no component: a mode of the density that no component is
    nearest to. ``population`` widens the intervals from the records at hand to where they were drawn from.
    """
    members = np.eye(n_clusters or int(labels.max()) + 1)[labels].T  # (clusters, components)
    return group_table(profile, members, level=level, population=population)


def group_table(
    profile: Profile, members: FloatArray, *, level: float = 0.95, population: bool = False
) -> ClusterTable:
    """Return the table of any groups of components: rows of ``members`` have 1 where a component belongs.

    A group's row is the same whatever the others are, so that one table can serve all cuts of a tree.
    """
    z = float(ndtri(0.5 + level / 2))
    counts, noise = members @ profile.counts, profile.count_stddev * np.sqrt(members.sum(axis=1))
    none = np.zeros((len(members), 0))
    centre = spread = Estimate(none, none, none)
    heavy = np.zeros(len(members), dtype=np.bool_)
    if profile.n_features:
        known = Known.of(profile)
        sums = _Sums.of(profile, members, known)
        tail = hidden(profile, members, sums.sizes, sums.guess[1])
        centre = _centres(profile, sums, tail, z, population=population)
        spread = _spreads(profile, sums, tail, z, population=population)
        if known is not None:  # hardly any value may be there: all inside the bounds is possible
            unsure = known.unsure(members)
            centre = centre.left_open(unsure, profile.lower, profile.upper)
            spread = spread.left_open(unsure, 0.0, (profile.upper - profile.lower) / 2)
        heavy = heavy_tailed(profile, members)
    return ClusterTable(
        counts=counts,
        count_stddev=noise,
        share=_shares(profile, members, z, population=population),
        centre=centre,
        spread=spread,
        supported=counts > SUPPORT * noise,
        heavy_tailed=heavy,
        levels=level_table(profile, members, level=level, population=population),
    )


@dataclass(frozen=True)
class _Sums:
    """Means and variances of clusters, and the variance of the noise in each; shape (clusters, columns)."""

    sizes: FloatArray
    means: FloatArray
    mean_noise: FloatArray
    variances: FloatArray
    variance_noise: FloatArray
    guess: tuple[FloatArray, FloatArray]
    """Means and variances with sums that are shrunk by their noise, component by component."""

    @classmethod
    def of(cls, profile: Profile, members: FloatArray, known: Known | None) -> "_Sums":
        # For each component and column: length of the row of F, sums of x - o and of its square.
        rows = np.linalg.norm(profile.factors, axis=2)
        sums = np.einsum("kij,kj->ki", profile.factors, profile.sums)
        squares = np.einsum("kij,kjl,kil->ki", profile.factors, profile.second_moments, profile.factors)
        if known is None:
            counts, of_counts = profile.counts[:, None], np.array(profile.count_stddev**2)
            sizes = np.maximum(members @ profile.counts, 1.0)[:, None]
        else:
            counts, of_counts = known.counts, known.stddev**2
            sizes = np.maximum(members @ known.counts, 1.0)
        means = (members @ (counts * profile.origins + sums)) / sizes
        means = np.clip(means, profile.lower, profile.upper)
        offsets = profile.origins[None] - means[:, None]  # (clusters, components, columns)
        variances = _added(members, squares + 2 * offsets * sums + counts * offsets**2) / sizes
        of_sums = (rows * profile.radii[:, None] * profile.sum_stddev) ** 2
        of_squares = (rows**2 * profile.radii[:, None] ** 2 * profile.second_moment_stddev) ** 2
        mean_noise = _added(members, of_sums + offsets**2 * of_counts) / sizes**2
        excess = offsets**2 - variances[:, None]
        noise = _added(members, of_squares + 4 * offsets**2 * of_sums + excess**2 * of_counts)
        return cls(sizes, means, mean_noise, variances, noise / sizes**2, _guess(profile, members, known))


def _guess(profile: Profile, members: FloatArray, known: Known | None) -> tuple[FloatArray, FloatArray]:
    if known is not None:
        return known.guess(profile, members)
    weights = members * np.maximum(profile.counts, 1.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    guess = Guess.of(profile)
    of_components = guess.means(profile)
    means = weights @ of_components
    offsets = of_components[None] - means[:, None]
    return means, _added(weights, guess.variances(profile) + offsets**2)


def _added(members: FloatArray, values: FloatArray) -> FloatArray:
    """Add up over the components of each cluster; values have the shape (clusters, components, columns)."""
    added: FloatArray = np.einsum("ck,ckj->cj", members, values)
    return added


def _shares(profile: Profile, members: FloatArray, z: float, *, population: bool) -> Estimate:
    total, own = float(profile.counts.sum()), members.sum(axis=1)
    others = profile.n_components - own
    if total <= SUPPORT * profile.count_stddev * math.sqrt(profile.n_components):
        known = (own == 0) | (others == 0)  # nothing and everything; of all else nothing is known
        share = own / profile.n_components
        return Estimate(share, share, share).left_open(~known, 0.0, 1.0)
    share = np.clip(members @ profile.counts / total, 0.0, 1.0)
    variance = profile.count_stddev**2 * ((1 - share) ** 2 * own + share**2 * others) / total**2
    if population:
        variance = variance + share * (1 - share) / total
    return Estimate.of_parts(share, z * np.sqrt(variance))


def _centres(profile: Profile, sums: _Sums, tail: Tail, z: float, *, population: bool) -> Estimate:
    noise = sums.mean_noise
    if population:
        noise = noise + np.maximum(sums.variances, 0.0) / sums.sizes
    half = z * np.sqrt(noise) + tail.of_means + (profile.upper - profile.lower) * _HALF_STEP
    low = np.clip(sums.means - half, profile.lower, profile.upper)
    high = np.clip(sums.means + half, profile.lower, profile.upper)
    return Estimate(np.clip(sums.guess[0], low, high), low, high)


def _spreads(profile: Profile, sums: _Sums, tail: Tail, z: float, *, population: bool) -> Estimate:
    noise, step = sums.variance_noise, (profile.upper - profile.lower) * _HALF_STEP
    if population:  # the fourth moment of a normal distribution
        noise = noise + 2 * np.square(sums.variances) / sums.sizes
    half = z * np.sqrt(noise)
    low = np.sqrt(np.maximum(sums.variances - half, 0.0)) - step
    high = np.sqrt(np.maximum(sums.variances + half + tail.of_variances, 0.0)) + step
    # The variance of values in [a, b] with mean m is at most (m - a) (b - m): of all m that the noise leaves
    # open, the one nearest to the middle has the largest.
    unsure, middle = z * np.sqrt(sums.mean_noise) + tail.of_means, (profile.lower + profile.upper) / 2
    means = sums.means + np.clip(middle - sums.means, -unsure, unsure)
    most = np.sqrt((means - profile.lower) * (profile.upper - means)) + step
    most = np.maximum(most, 0.0)
    low, high = np.clip(low, 0.0, most), np.clip(high, 0.0, most)
    return Estimate(np.clip(np.sqrt(sums.guess[1]), low, high), low, high)
