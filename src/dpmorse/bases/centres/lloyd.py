"""Rounds of Lloyd's algorithm on released counts and sums."""

import math

import numpy as np

from dpmorse.bases.centres.base import CENTRES, CentrePlan
from dpmorse.bases.centres.covariances import reaches
from dpmorse.bases.estimates import project
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import mean_residuals
from dpmorse.privacy import Noise, Norm
from dpmorse.statistics import CellMoments, GaussianCells, MomentShares, NoisyMoments, SecondMoments
from dpmorse.typing import BoolArray, FloatArray

TYPICAL = 0.45
"""Root mean square of a coordinate of a centre in the box [-1, 1]^D, as Su et al. assume it."""

N_ITER = (2, 7)
"""The fewest and the most rounds (Su et al.). They share the budget, so that more rounds are each noisier."""

_TOLERATED = 0.004
"""The squared error of all centres together, in units of the box, that one round may have (Su et al.)."""

_SUPPORT = 2.0
"""A centre moves only if its count exceeds this many standard deviations of the count's noise. Otherwise the
denominator of sum / count may be noise alone, and the quotient says nothing."""


def shares_of_a_round(n_features: int, noise: Noise) -> MomentShares:
    """Divide the cost between counts and sums so that the error of a centre is least.

    The squared error of S/n is ``(D s1^2 + |centre|^2 s0^2) / n^2``, with ``|centre|^2 = .45^2 D``. For
    noise whose cost is a squared L2 norm (Gaussian) this gives the share ``.45 / (.45 + sqrt D)`` to counts;
    for an L1 norm (Laplace), counts and each of the D coordinates share as ``(.45^2 D)^(1/3)`` to 1 (Su et
    al. 2016).
    """
    if noise.norm is Norm.L1:
        count = (TYPICAL**2 * n_features) ** (1 / 3)
        share = count / (count + n_features)
    else:
        share = TYPICAL / (TYPICAL + math.sqrt(n_features))
    return MomentShares(count=share, sum=1 - share)


def affordable_n_iter(n_centres: int, n_features: int, n_records: float, cost: float, noise: Noise) -> int:
    """Return as many rounds as keep the squared error of all centres in one round below .004 (Su et al.).

    One round that costs ``c`` has the error ``K^3 D (.45 + sqrt D)^2 / (2 c n^2)`` with Gaussian noise, and
    ``2 K^3 (D + (.45^2 D)^(1/3))^3 / (c n)^2`` with Laplace noise, n / K records being in a cell.
    """
    k, d = n_centres, n_features
    if noise.norm is Norm.L1:
        error = 2 * k**3 * (d + (TYPICAL**2 * d) ** (1 / 3)) ** 3 / n_records**2
        affordable = cost / math.sqrt(error / _TOLERATED)
    else:
        error = k**3 * d * (TYPICAL + math.sqrt(d)) ** 2 / (2 * n_records**2)
        affordable = cost / (error / _TOLERATED)
    # The limit 1e6 keeps `floor` away from infinity where the error is almost 0.
    return int(np.clip(math.floor(min(affordable, 1e6)), *N_ITER))


def means_of_cells(noisy: NoisyMoments) -> tuple[FloatArray, BoolArray]:
    """Return the mean of each cell, and which of them have a count that is unlikely to be noise."""
    supported = noisy.counts >= np.maximum(1.0, _SUPPORT * noisy.count_stddev)
    return noisy.sums / np.where(supported, noisy.counts, 1.0)[:, None], supported


def lloyd_rounds(
    queries: Queries, plan: CentrePlan, centres: FloatArray, cost: float, n_rounds: int
) -> FloatArray:
    """Spend ``cost`` on rounds; a centre whose count may be noise stays where it is."""
    domain, capped, stage = plan.domain, plan.settings.capped, plan[CENTRES]
    k, d = centres.shape
    statistic = CellMoments(domain, k, second_moments=SecondMoments.NONE, of_residuals=capped)
    for i in range(1, n_rounds + 1):
        scales = queries.calibrate(statistic, cost / n_rounds, shares_of_a_round(d, queries.noise))
        reach = reaches(centres)
        cells, step = GaussianCells.nearest(centres, reach), stage.step("round", i, n_rounds)
        noisy = queries.moments(step, statistic, cells, scales, n_repeats=n_rounds - i)
        moved, supported = means_of_cells(noisy)
        if capped:
            moved = centres + mean_residuals(noisy, np.where(supported, noisy.counts, 1.0), reach)
        centres = np.where(supported[:, None], project(moved, domain), centres)
    return centres
