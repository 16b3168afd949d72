"""The mixture that describes records inside the bounds: the partition, mended by what its profile has found.

A partition describes records as they are clipped to label them. Where the records of a component lie
elsewhere in a column, or spread otherwise, than it lets one expect, its mean moves and its covariance is
scaled.
"""

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.profiles import Account, Profile
from dpmorse.typing import FloatArray

_SCALES = (0.25, 4.0)
"""Smallest and largest factor of a standard deviation."""

_LEAST_PART = 0.1
"""Records of a component in a bin beyond all that is expected lie, on average, this part of the way to the
bound from there, but not further than the component reaches on the other side."""


def mended(partition: GaussianMixture, profile: Profile) -> GaussianMixture:
    """Return the partition changed by what the account of its profile says."""
    account = Account.of(profile)
    total = float(account.sizes.sum())
    # Every component keeps a weight: labels refer to it.
    weights = np.maximum(account.sizes, np.minimum(partition.weights * total, 1.0))
    means, covariances = partition.means.copy(), partition.covariances.copy()
    for i in np.flatnonzero(profile.supported()).tolist():
        steps, scales = np.zeros(profile.n_numbers), np.ones(profile.n_numbers)
        for j in range(profile.n_numbers):
            part = profile.columns[j].present
            places, variances = _inside_bins(profile, i, j)
            usual = _moments(profile.expected[i, part], places, variances)
            found = _moments(account.entries[i, part], places, variances)
            steps[j] = found[0] - usual[0]
            if usual[1] > 0 and found[1] > 0:
                scales[j] = np.clip(np.sqrt(found[1] / usual[1]), *_SCALES)
        means[i] = np.clip(means[i] + steps, profile.lower, profile.upper)
        covariances[i] *= np.outer(scales, scales)
    return GaussianMixture(weights / weights.sum(), means, covariances)


def _inside_bins(profile: Profile, component: int, column: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the values that are expected in each bin."""
    curve, lower, upper = profile.curves[component, column], profile.lower[column], profile.upper[column]
    ends = np.concatenate([[lower], profile.edges[component, column], [upper]])
    # Between the points of a curve values are spread evenly; pieces are cut at the ends of bins.
    cuts = np.unique(np.concatenate([ends, curve]))
    steps = np.interp(cuts, curve, np.linspace(0, 1, len(curve)))
    weights, middles, widths = np.diff(steps), (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    place = np.clip(np.searchsorted(ends, middles, side="right") - 1, 0, len(ends) - 2)
    n = len(ends) - 1
    total = np.bincount(place, weights, n)
    seen = total > 0
    means = (ends[1:] + ends[:-1]) / 2
    reach = float(curve[-1] - curve[0])
    first, last = ends[1] <= curve[0], ends[-2] >= curve[-1]
    if n > 1 and first:  # nothing is expected in the outermost bins
        means[0] = ends[1] - min(_LEAST_PART * (ends[1] - lower), reach)
    if n > 1 and last:
        means[-1] = ends[-2] + min(_LEAST_PART * (upper - ends[-2]), reach)
    means[seen] = np.bincount(place, weights * middles, n)[seen] / total[seen]
    squares = np.bincount(place, weights * (widths**2 / 12 + (middles - means[place]) ** 2), n)
    return means, np.where(seen, squares / np.where(seen, total, 1.0), 0.0)


def _moments(parts: FloatArray, means: FloatArray, variances: FloatArray) -> tuple[float, float]:
    """Return mean and variance of values in bins."""
    total = float(parts.sum())
    if total <= 0:
        return 0.0, 0.0
    mean = float(parts @ means) / total
    return mean, float(parts @ (variances + (means - mean) ** 2)) / total
