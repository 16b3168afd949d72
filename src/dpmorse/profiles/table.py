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
a centre, from the released counts of lengths.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpmorse.profiles.guess import Guess
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Estimate:
    """Numbers, and for each the interval from ``low`` to ``high``.

    It holds the truth with the stated probability.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


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
        Mean and standard deviation of each column.
    supported : ndarray of shape (n_clusters,)
        Whether a cluster is larger than three standard deviations of its size's noise.
    heavy_tailed : ndarray of shape (n_clusters,)
        Whether more records lie far out than a normal distribution has.
    """

    counts: FloatArray
    count_stddev: FloatArray
    share: Estimate
    centre: Estimate
    spread: Estimate
    supported: BoolArray
    heavy_tailed: BoolArray


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
    sums = _Sums.of(profile, members)
    tail = _hidden(profile, members, sums)
    return ClusterTable(
        members @ profile.counts,
        profile.count_stddev * np.sqrt(members.sum(axis=1)),
        _shares(profile, members, z, population=population),
        _centres(profile, sums, tail, z, population=population),
        _spreads(profile, sums, tail, z, population=population),
        members @ profile.counts > SUPPORT * profile.count_stddev * np.sqrt(members.sum(axis=1)),
        _heavy_tailed(profile, members),
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
    def of(cls, profile: Profile, members: FloatArray) -> "_Sums":
        rows, sums, squares = _by_column(profile)
        sizes = np.maximum(members @ profile.counts, 1.0)[:, None]
        means = (members @ (profile.counts[:, None] * profile.origins + sums)) / sizes
        means = np.clip(means, profile.lower, profile.upper)
        offsets = profile.origins[None] - means[:, None]  # (clusters, components, columns)
        variances = (
            _added(members, squares + 2 * offsets * sums + profile.counts[:, None] * offsets**2) / sizes
        )
        of_sums = (rows * profile.radii[:, None] * profile.sum_stddev) ** 2
        of_squares = (rows**2 * profile.radii[:, None] ** 2 * profile.second_moment_stddev) ** 2
        of_counts = profile.count_stddev**2
        mean_noise = _added(members, of_sums + offsets**2 * of_counts) / sizes**2
        excess = offsets**2 - variances[:, None]
        noise = _added(members, of_squares + 4 * offsets**2 * of_sums + excess**2 * of_counts)
        return cls(sizes, means, mean_noise, variances, noise / sizes**2, _guess(profile, members))


def _by_column(profile: Profile) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lengths of rows of F, and sums of x - o and of its square, for each component and column."""
    rows = np.linalg.norm(profile.factors, axis=2)
    sums = np.einsum("kij,kj->ki", profile.factors, profile.sums)
    squares = np.einsum("kij,kjl,kil->ki", profile.factors, profile.second_moments, profile.factors)
    return rows, sums, squares


def _guess(profile: Profile, members: FloatArray) -> tuple[FloatArray, FloatArray]:
    weights = members * np.maximum(profile.counts, 1.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    guess = Guess.of(profile)
    of_components = guess.means(profile)
    means = weights @ of_components
    offsets = of_components[None] - means[:, None]
    return means, _added(weights, guess.variances(profile) + offsets**2)


def _added(members: FloatArray, values: FloatArray) -> FloatArray:
    """Add up over the components of each cluster."""
    if values.ndim == 2:
        return members @ values
    added: FloatArray = np.einsum("ck,ckj->cj", members, values)
    return added


def _shares(profile: Profile, members: FloatArray, z: float, *, population: bool) -> Estimate:
    total, own = float(profile.counts.sum()), members.sum(axis=1)
    others = profile.n_components - own
    if total <= SUPPORT * profile.count_stddev * math.sqrt(profile.n_components):
        known = (own == 0) | (others == 0)  # nothing and everything; of all else nothing is known
        share = own / profile.n_components
        return Estimate(share, np.where(known, share, 0.0), np.where(known, share, 1.0))
    share = np.clip(members @ profile.counts / total, 0.0, 1.0)
    variance = profile.count_stddev**2 * ((1 - share) ** 2 * own + share**2 * others) / total**2
    if population:
        variance = variance + share * (1 - share) / total
    half = z * np.sqrt(variance)
    return Estimate(share, np.maximum(share - half, 0.0), np.minimum(share + half, 1.0))


def _centres(profile: Profile, sums: _Sums, tail: "_Tail", z: float, *, population: bool) -> Estimate:
    noise = sums.mean_noise
    if population:
        noise = noise + np.maximum(sums.variances, 0.0) / sums.sizes
    half = z * np.sqrt(noise) + tail.of_means + _grid_step(profile) / 2
    low, high = (np.clip(end, profile.lower, profile.upper) for end in (sums.means - half, sums.means + half))
    return Estimate(np.clip(sums.guess[0], low, high), low, high)


def _spreads(profile: Profile, sums: _Sums, tail: "_Tail", z: float, *, population: bool) -> Estimate:
    noise, step = sums.variance_noise, _grid_step(profile) / 2
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


def _grid_step(profile: Profile) -> FloatArray:
    """Return the step of the grid that records were rounded to: 2^-20 of half a width."""
    return (profile.upper - profile.lower) * 2.0**-21


@dataclass(frozen=True)
class _Tail:
    """What records beyond the radii may have taken from means and variances, shape (clusters, columns)."""

    of_means: FloatArray
    of_variances: FloatArray


def _hidden(profile: Profile, members: FloatArray, sums: "_Sums") -> _Tail:
    """Estimate what may be hidden by the released counts of the bins beyond each r_k.

    A record at t r_k that was shrunk to r_k lost (t^2 - 1) r_k^2 of |u|^2, on average 1 / D of it in each
    coordinate, and (t - 1) r_k of its length. Counts of a cluster's components are added up before they are
    compared with noise: each may hide little, and all together much.
    """
    reach = np.linalg.norm(profile.factors, axis=2) * profile.radii[:, None] / math.sqrt(profile.n_features)
    first = np.searchsorted(profile.edges, 0.999 * profile.radii)[:, None] + np.arange(_MOST_HIDDEN)
    known = first < profile.edges.size
    hidden = np.take_along_axis(profile.tails, np.where(known, first, 0), axis=1) * known
    further = _further(profile, sums.guess[1])
    of_means = _Effect(members, further + _OF_MEANS.n_bins, reach[:, None] * (_MIDDLES - 1)[:, None])
    of_squares = _Effect(
        members, further + _OF_VARIANCES.n_bins, (reach**2)[:, None] * (_MIDDLES**2 - 1)[:, None]
    )
    stddev = profile.tail_stddev
    return _Tail(
        of_means.bound(hidden, _OF_MEANS.z * stddev) / sums.sizes,
        of_squares.bound(hidden, _OF_VARIANCES.z * stddev) / sums.sizes,
    )


@dataclass(frozen=True)
class _Looked:
    """How many bins beyond a radius are looked at, and how many standard deviations of noise are added."""

    n_bins: int
    z: float


_OF_MEANS, _OF_VARIANCES = _Looked(2, 1.0), _Looked(3, 1.64)
"""Three bins reach 2.8 times as far as a radius. With fewer, spreads of lognormal clusters were covered too
rarely. A one-sided bound of 95 % for variances, which hidden records always make smaller; less for means,
which records on both sides of a cluster shift against one another. What lies further out and does not stand
out by itself stays hidden."""

_MOST_HIDDEN = 9
_MIDDLES = 2.0 ** (np.arange(_MOST_HIDDEN) / 2 + 0.25)
"""t at the middle of each bin."""


def _further(profile: Profile, variances: FloatArray) -> FloatArray:
    """Return how many more bins to look at where a component is narrow for its cluster.

    Shape (clusters, components). Bins grow by sqrt 2, so that a component half as wide as its cluster, in the
    mean over columns, needs two more to be looked at as far out.
    """
    rows = np.linalg.norm(profile.factors, axis=2)
    wide = np.sqrt(np.maximum(variances, _LEAST_VARIANCE))  # 0 for a cluster without components
    narrow = np.mean(np.log2(wide[:, None] / rows), axis=2)
    more: FloatArray = np.ceil(2 * np.maximum(narrow, 0.0) - _ABOUT_EQUAL)
    return more


_LEAST_VARIANCE = 1e-300

_ABOUT_EQUAL = 0.5
"""Bins that are not counted: a component is always a little narrower than its cluster."""


@dataclass(frozen=True)
class _Effect:
    """What one hidden record of each component and bin changes in each column, for the bins looked at."""

    members: FloatArray
    n_bins: FloatArray
    """Shape (clusters, components)."""

    effect: FloatArray
    """Shape (components, bins, columns)."""

    def bound(self, hidden: FloatArray, noise: float) -> FloatArray:
        """Return effects of hidden records, and of the noise of their counts."""
        looked = self.members[:, :, None] * (np.arange(_MOST_HIDDEN) < self.n_bins[:, :, None])
        expected = np.einsum("ckb,kb,kbj->cj", looked, hidden, self.effect)
        added = noise * np.sqrt(np.einsum("ckb,kbj->cj", looked, np.square(self.effect)))
        bound: FloatArray = np.maximum(expected, 0.0) + added
        return bound


_HEAVY = 0.01
"""Part of a cluster's records that must lie far out for its tail to be called heavy."""


def _heavy_tailed(profile: Profile, members: FloatArray) -> BoolArray:
    """Say where more than 1 % lie at twice the length that a normal distribution reaches, beyond noise."""
    far = profile.tails[:, 2:]
    n_bins = far.shape[1] * members.sum(axis=1)
    found = members @ far.sum(axis=1)
    noise = profile.tail_stddev * np.sqrt(n_bins)
    heavy: BoolArray = (found > SUPPORT * noise) & (found > _HEAVY * (members @ profile.counts))
    return heavy
