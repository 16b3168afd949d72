"""What lies far out in a cluster, from the released counts of lengths: hidden records, and heavy tails."""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Tail:
    """What records beyond the radii may have taken from means and variances, shape (clusters, columns)."""

    of_means: FloatArray
    of_variances: FloatArray


def hidden(profile: Profile, members: FloatArray, sizes: FloatArray, variances: FloatArray) -> Tail:
    """Estimate what may be hidden by the released counts of the bins beyond each r_k.

    ``sizes`` and ``variances`` are those of the clusters, for each column or for all.

    A record at t r_k that was shrunk to r_k lost (t^2 - 1) r_k^2 of |u|^2, on average 1 / D of it in each
    coordinate, and (t - 1) r_k of its length. Counts of a cluster's components are added up before they are
    compared with noise: each may hide little, and all together much.
    """
    rows = np.linalg.norm(profile.factors, axis=2)
    reach = rows * profile.radii[:, None] / math.sqrt(profile.n_features)
    first = np.searchsorted(profile.edges, 0.999 * profile.radii)[:, None] + np.arange(_MOST_HIDDEN)
    known = first < profile.edges.size
    counts = np.take_along_axis(profile.tails, np.where(known, first, 0), axis=1) * known
    # Bins grow by sqrt 2, so that a component half as wide as its cluster, in the mean over columns, needs
    # two more to be looked at as far out. Shape (clusters, components).
    wide = np.sqrt(np.maximum(variances, _LEAST_VARIANCE))  # 0 for a cluster without components
    narrow = np.mean(np.log2(wide[:, None] / rows), axis=2)
    further = np.ceil(2 * np.maximum(narrow, 0.0) - _ABOUT_EQUAL)
    stddev, lost = profile.tail_stddev, reach[:, None] * (_MIDDLES - 1)[:, None]
    of_means = _bound(members, further + _BINS_OF_MEANS, counts, lost, _Z_OF_MEANS * stddev)
    lost = (reach**2)[:, None] * (_MIDDLES**2 - 1)[:, None]
    of_squares = _bound(members, further + _BINS_OF_VARIANCES, counts, lost, _Z_OF_VARIANCES * stddev)
    return Tail(of_means / sizes, of_squares / sizes)


def _bound(
    members: FloatArray, n_bins: FloatArray, counts: FloatArray, lost: FloatArray, noise: float
) -> FloatArray:
    """Return what hidden records have changed in each column, and what the noise of their counts allows.

    Parameters
    ----------
    n_bins : ndarray of shape (clusters, components)
        How many bins are looked at.
    counts : ndarray of shape (components, bins)
        Hidden records.
    lost : ndarray of shape (components, bins, columns)
        What one of them changes.
    """
    looked = members[:, :, None] * (np.arange(_MOST_HIDDEN) < n_bins[:, :, None])
    expected = np.einsum("ckb,kb,kbj->cj", looked, counts, lost)
    added = noise * np.sqrt(np.einsum("ckb,kbj->cj", looked, np.square(lost)))
    bound: FloatArray = np.maximum(expected, 0.0) + added
    return bound


_BINS_OF_MEANS, _Z_OF_MEANS = 2, 1.0
_BINS_OF_VARIANCES, _Z_OF_VARIANCES = 3, 1.64
"""How many bins beyond a radius are looked at, and how many standard deviations of noise are added.

Three bins reach 2.8 times as far as a radius. With fewer, spreads of lognormal clusters were covered too
rarely. A one-sided bound of 95 % for variances, which hidden records always make smaller; less for means,
which records on both sides of a cluster shift against one another. What lies further out and does not stand
out by itself stays hidden."""

_MOST_HIDDEN = 9
_MIDDLES = 2.0 ** (np.arange(_MOST_HIDDEN) / 2 + 0.25)
"""t at the middle of each bin."""

_LEAST_VARIANCE = 1e-300

_ABOUT_EQUAL = 0.5
"""Bins that are not counted: a component is always a little narrower than its cluster."""

_HEAVY = 0.01
"""Part of a cluster's records that must lie far out for its tail to be called heavy."""


def heavy_tailed(profile: Profile, members: FloatArray) -> BoolArray:
    """Say where more than 1 % lie at twice the length that a normal distribution reaches, beyond noise."""
    far = profile.tails[:, 2:]
    n_bins = far.shape[1] * members.sum(axis=1)
    found = members @ far.sum(axis=1)
    noise = profile.tail_stddev * np.sqrt(n_bins)
    heavy: BoolArray = (found > SUPPORT * noise) & (found > _HEAVY * (members @ profile.counts))
    return heavy
