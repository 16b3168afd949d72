"""Second stage: the number of records, and units in which the columns have comparable spreads."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.encoded import encoded_domain, whiten_numbers
from dpmorse.densities import james_stein
from dpmorse.schema import Layout
from dpmorse.statistics import (
    CellMoments,
    Domain,
    GaussianCells,
    MomentShares,
    SecondMoments,
    shrink_to_ball,
)
from dpmorse.typing import FloatArray

_SHARES = MomentShares(count=1 / 9, sum=4 / 9, second_moment=4 / 9)
"""Shares of the stage's cost. Sums and squares have D entries each and get the same; the count is one
number."""

_STRENGTH = 0.5
"""Strength of the standardisation: 0 keeps the units of the bounds, 1 gives every column the variance 1.
Half-way trusts both the bounds and the spread of the records; full standardisation was tried
and not kept (docs/default.md)."""

_RADIUS = 1.5
"""Radius of the ball that records are shrunk to, times sqrt(D), the root mean square length of a record in
units of z. A larger ball clips fewer records and needs more noise."""

_LEAST_RADIUS = 3.0
"""Smallest radius of that ball, in units of z. In three columns or fewer 1.5 sqrt(D) would clip too many
records; three standard deviations of a single column do not."""

OUTER = 4.0
"""Radius of the ball in which far clusters are looked for, in radii of the units' ball. What lies further out
is moved to its surface, which is far from all else: a cluster of 2 % of the records cannot be much further,
since it widens the units themselves."""

_LEAST_VARIANCE = 1e-4
"""Smallest variance of a column, in squared half-widths of the occupied box: a standard deviation of 1 %. A
column that looks constant would otherwise be magnified without limit."""

LEAST_RECORDS = 10.0
"""Smallest number of records that sums are divided by. A released count may be small or negative by noise."""


@dataclass(frozen=True)
class Gaps:
    """Which numbers may be missing, and the part of the records in which each is there."""

    layout: Layout
    observed: FloatArray


@dataclass(frozen=True)
class Units:
    """Half-standardised units ``z``: the mean variance of a column is 1."""

    domain: Domain
    """Ball around the released mean, in the caller's units."""

    radius: float
    """Radius of that ball in units of z; 1 in the scaled units of the domain."""

    variances: FloatArray
    """Released variance of each column of z."""

    n_records: float
    """Released number of records."""

    gaps: Gaps | None = None
    """Where values may be missing: records are encoded ones."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.domain.n_features

    @property
    def observed(self) -> FloatArray:
        """Part of the records in which each column is there."""
        return np.ones(self.n_features) if self.gaps is None else self.gaps.observed

    @property
    def records(self) -> Domain:
        """Where records are looked at: the ball, or the box around it where values may be missing."""
        if self.gaps is None:
            return self.domain
        return encoded_domain(self.gaps.layout, self.domain.lower, self.domain.upper)

    def nearest(self, centres: FloatArray, reach: float) -> GaussianCells:
        """Return the cells of the nearest centre, of ``records``; offsets from it are shrunk to ``reach``.

        A missing value is where that of the centre is: it adds nothing to a distance, nor to an offset.
        """
        if self.gaps is None:
            return GaussianCells.nearest(centres / self.radius, reach / self.radius)
        factors = np.tile(np.eye(self.n_features), (len(centres), 1, 1))
        whiten, shift = whiten_numbers(self.gaps.layout, self.records, centres / self.radius, factors)
        return GaussianCells.from_scores(whiten, shift, np.zeros(len(centres)), reach / self.radius)

    def project(self, points: FloatArray) -> FloatArray:
        """Shrink points to the ball; constant columns are set to 0, their only value."""
        return shrink_to_ball(np.where(self.variances > 0, points, 0.0), self.radius)

    def widened(self, factor: float) -> "Units":
        """Return the same units with a ball that is larger by this factor."""
        reach = factor * self.domain.half_width
        domain = replace(self.domain, lower=self.domain.centre - reach, upper=self.domain.centre + reach)
        return replace(self, domain=domain, radius=factor * self.radius)


def release_units(
    queries: Queries, public: Domain, box: Domain, stage: Stage, n_missing: FloatArray | float = 0.0
) -> Units:
    """Release the count, means and variances of the columns inside ``box``, and make units of them.

    Column j of z is ``(x_j - m_j) / (c s_j^(1/2))`` with s_j the standard deviation in units of the
    *public* bounds: half-way between trusting the bounds and trusting the spread of the records. It does
    not change when all bounds are wider by one factor. ``n_missing`` says how many values of each column are
    missing, and stand in the middle of the public box.
    """
    statistic = CellMoments(box, 1, second_moments=SecondMoments.DIAGONAL)
    d = public.n_features
    everywhere = GaussianCells.from_mixture(np.ones(1), np.zeros((1, d)), np.eye(d)[None])
    scales = queries.calibrate(statistic, stage.cost, _SHARES)
    noisy = queries.moments(stage.step(), statistic, everywhere, scales)
    n = max(float(noisy.counts[0]), LEAST_RECORDS)
    place = np.clip((public.centre - box.centre) / box.unit, -1, 1)  # of missing values
    there = np.maximum(n - n_missing, LEAST_RECORDS)
    mean = np.clip((noisy.sums[0] - n_missing * place) / there, -1, 1)
    squares = (noisy.second_moments[0] - n_missing * place**2) / there
    varying = public.half_width > 0
    variance = np.ones(d)
    variance[varying] = _shrunk((squares - mean**2)[varying], noisy.second_moment_stddev / n)
    # Means in the caller's units and variances in those of the public bounds; column j is divided by
    # scale_j = s_j^strength. The common factor makes the mean variance of z equal to 1.
    centre, variance = box.centre + mean * box.half_width, variance * (box.unit / public.unit) ** 2
    scale = variance ** (_STRENGTH / 2)
    scale *= math.sqrt(float(np.mean((variance / scale**2)[varying])))
    radius = radius_of_ball(int(varying.sum()))
    reach = np.where(varying, radius * scale * public.half_width, 0.0)
    ball = Domain(centre - reach, centre + reach, radius=1.0)
    return Units(ball, radius, np.where(varying, variance / scale**2, 0.0), n)


def _shrunk(variances: FloatArray, noise: float) -> FloatArray:
    """Return variances of columns, in squared half-widths of the box, shrunk to their mean by their noise.

    Where columns are many and records few, no variance can be measured, but their mean can. Where every one
    stands out from the noise, nothing is shrunk.
    """
    if np.all(variances >= max(2 * noise, _LEAST_VARIANCE)):
        return np.minimum(variances, 1.0)
    centre = max(float(variances.mean()), 2 * noise / math.sqrt(len(variances)))
    offsets = variances - centre
    kept = james_stein(np.square(offsets).sum(keepdims=True), np.full(1, len(offsets) * noise**2))
    shrunk = centre + kept * offsets
    # What is below two standard deviations of its noise is not measured: it gets that, or half the mean.
    floor = max(min(2 * noise, centre / 2), _LEAST_VARIANCE)
    return np.clip(shrunk, min(floor, 1.0), 1.0)


def radius_of_ball(n_columns: int) -> float:
    """Return the radius of the ball that records are shrunk to, in units of z."""
    return max(_RADIUS * math.sqrt(n_columns), _LEAST_RADIUS)
