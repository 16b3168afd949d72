"""The last step of every base that finds centres: how many records are around each, and how they spread.

One release. A record belongs to the nearest centre; what is added up is its offset from there, shrunk to
a ball that reaches to the nearest other centre, so that the noise is relative to the size of the cell and
not to that of the box. The mean offset refines the centre.
"""

import math

import numpy as np
from scipy.spatial.distance import cdist

from dpmorse.bases.estimates import Estimates, project
from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import maximise
from dpmorse.statistics import CellMoments, Domain, GaussianCells, MomentShares
from dpmorse.typing import FloatArray

_SMALLEST_REACH = 0.05
"""Smallest radius of the ball of a cell, in scaled units (the box is [-1, 1]^D). Without it, two centres that
nearly coincide would have balls of radius 0, to which all offsets are shrunk."""

_REACH = 4.0
"""Radius of a cell's ball in expected standard deviations: the covariance that estimates are shrunk to is
(radius / 4)^2 I. Half the distance to the next centre is then two standard deviations."""

_SMALLEST_VARIANCE = 1e-5
"""Smallest eigenvalue of a covariance, in scaled units: a standard deviation of 0.3 % of a half-width. It
keeps covariances positive definite after noise."""


def reaches(centres: FloatArray) -> FloatArray:
    """Return the distance from each centre to the nearest other one, within sensible limits."""
    largest = math.sqrt(centres.shape[1])
    if len(centres) == 1:
        return np.array([largest])
    distances = cdist(centres, centres) + np.diag(np.full(len(centres), np.inf))
    nearest: FloatArray = np.clip(distances.min(axis=1), _SMALLEST_REACH, largest)
    return nearest


def release_covariances(queries: Queries, domain: Domain, centres: FloatArray, stage: Stage) -> Estimates:
    """Spend a stage on the count, mean and covariance of the records around each centre, in scaled units."""
    k, d = centres.shape
    reach = reaches(centres)
    statistic = CellMoments(domain, k, of_residuals=True)
    cells = GaussianCells.nearest(centres, reach)
    scales = queries.calibrate(statistic, stage.cost, _shares(d))
    noisy = queries.moments(stage.step(), statistic, cells, scales)
    expected = np.square(reach / _REACH)[:, None, None] * np.eye(d)
    start = Estimates(np.full(k, 1 / k), centres, expected, np.zeros(k, dtype=bool))
    return maximise(start, noisy, lambda means: project(means, domain), _REACH, _SMALLEST_VARIANCE)


def _shares(n_features: int) -> MomentShares:
    """Return shares in proportion to the fourth root of the number of entries of each moment.

    Moments with more entries get more, but less than in proportion, because the entries of one moment are
    released together with noise for their joint sensitivity.
    """
    entries = np.array([1, n_features, n_features * (n_features + 1) / 2]) ** 0.25
    count, total, second = (entries / entries.sum()).tolist()
    return MomentShares(count=count, sum=total, second_moment=second)
