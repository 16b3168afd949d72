"""Encoded records of tables, and the plain form of sums over them: what every engine must reproduce."""

import numpy as np

from dpmorse.schema import Layout
from dpmorse.statistics import LARGEST_RESIDUAL, ExactMoments
from dpmorse.statistics.cells import ROUNDING_BITS


def encoded_records(layout, n, rng, *, outside=False):
    """Records with missing values; a missing number is the middle, a missing category all 0.

    With ``outside``, some numbers lie far outside of the bounds.
    """
    E = np.zeros((n, layout.width))
    missing = rng.random((n, layout.n_numbers)) < 0.3
    missing[:, [j for j in range(layout.n_numbers) if j not in layout.holes]] = False
    span = np.array(layout.upper) - np.array(layout.lower)
    places = rng.beta(2, 2, (n, layout.n_numbers)) - 0.5
    if outside:
        places *= rng.choice([1.0, 9.0], (n, 1))
    E[:, layout.hole_part] = missing[:, list(layout.holes)]
    E[:, layout.number_part] = np.where(missing, layout.middle, layout.middle + span * places)
    for levels in layout.levels:
        codes = rng.integers(-1, levels.stop - levels.start, n)
        there = np.flatnonzero(codes >= 0)
        E[there, layout.level_part.start + levels.start + codes[there]] = 1
    return E


OF_HISTOGRAMS = {
    "one number": Layout((-1.0,), (1.0,)),
    "numbers": Layout((-1.0,) * 5, (1.0,) * 5),
    "table": Layout((-1.0, 0.0, 7.0, -1e6), (1.0, 1e-3, 7.0, 1e18), (1, 3), (3, 2)),
    "all may be missing": Layout((0.1,) * 3, (0.7,) * 3, (0, 1, 2)),
}


def records_of_histograms(layout, rng):
    """Records of which the first are at the bounds and beside them."""
    E = encoded_records(layout, 3000, rng, outside=True)
    E[:9, layout.number_part] = at_ends(np.array(layout.lower), np.array(layout.upper))
    return E


def at_ends(lower, upper):
    """The bounds, what is next to them on either side, and what is as far away as floats go."""
    big = np.full_like(lower, 1e300)
    return np.array(
        [
            *(lower, np.nextafter(lower, -np.inf), np.nextafter(lower, np.inf)),
            *(upper, np.nextafter(upper, -np.inf), np.nextafter(upper, np.inf)),
            *(big, -big, lower + (upper - lower) / 4),
        ]
    )


def table_moments(E, statistic, cells):
    """The sums of the statistic, with NumPy's integers only."""
    q = statistic.domain.quantise(E)
    hard = np.eye(statistic.n_cells, dtype=np.int64)[cells.labels(q)]
    weights = cells.responsibilities(q) if statistic.weight_bits else hard
    z = _residuals(q, cells, statistic.measured)
    sums = np.einsum("nk,ni->ki", weights, q)
    sums[:, statistic.measured] = np.einsum("nk,nki->ki", weights, z)
    return ExactMoments(weights.sum(axis=0), sums, np.einsum("nk,nki,nkj->kij", weights, z, z))


def _residuals(q, rule, measured):
    """Numbers in the coordinates of each cell, cut to a ball; other entries have no part in their length."""
    u = rule.offsets + np.einsum("kij,nj->nki", rule.factors, q.astype(np.float64))
    r = np.rint(np.rint(u * 2.0**-ROUNDING_BITS) * rule.residual_steps[:, None])[:, :, measured]
    shrink = np.sqrt(LARGEST_RESIDUAL / np.maximum(np.square(r).sum(axis=2), LARGEST_RESIDUAL))
    return np.trunc(r * shrink[:, :, None]).astype(np.int64)
