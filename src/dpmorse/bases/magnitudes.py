"""Where a column's records are, told by noisy counts of signs and powers of two.

All of 193 bins have the same noise, and most are empty. Three things are done so that few records are found
all the same. Runs of bins are looked at and not bins alone, and both signs together as well. Next to what
stands out less is asked of a bin, because the values of a column lie side by side. What is found is widened:
tails do not stand out, bounds that are too wide cost little, and what bounds cut off is lost.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.privacy import Noise
from dpmorse.statistics import N_MAGNITUDES, SMALLEST_EXPONENT, MagnitudeHistograms
from dpmorse.typing import FloatArray, IntArray

_FALSE_ALARMS = 0.002
"""Part of the fits in which noise may pass for records in any column: its bounds are then far too wide."""

_LONGEST_RUN = 6
"""Powers of two in the longest run that is looked at: longer ones would reach into empty bins."""

_NEIGHBOURHOOD = 4
"""Powers of two beyond those that stand out in which tails and small groups are looked for."""

_LEAST_TAIL = 0.5
"""What the bins of a tail must hold on the average, in units of the noise."""

_LEAST_GROUP = 2.5
"""What one of these bins must hold to be a small group, in units of the noise."""

LARGEST_HIDDEN = 0.04
"""Part of the records that one bin's noise may hide before a second power of two is added as a margin."""


@dataclass(frozen=True)
class Found:
    """Bounds of a column, and how well they are known."""

    lower: float
    upper: float
    """Both with a margin."""

    hidden: float
    """The noise of one bin, as a part of the records that were found."""


def bounds_of(counts: FloatArray, n_columns: int, noise: Noise) -> Found | None:
    """Return bounds of a column by its released counts, or nothing where nothing stands out from the noise.

    ``counts`` are a row of ``MagnitudeHistograms``, in units of their noise. The largest magnitude is made
    one power of two larger, or two where much may hide. On the side of a sign that seems to be empty bounds
    reach a quarter as far: 0 is always inside.
    """
    # Of either sign, counts begin with the smallest power of two.
    zero, sides = float(counts[N_MAGNITUDES]), (counts[:N_MAGNITUDES][::-1], counts[N_MAGNITUDES + 1 :])
    level = math.log(n_columns * MagnitudeHistograms(1).n_bins / _FALSE_ALARMS)
    ends = [_end(side, 1, level, noise) for side in sides]
    if not any(ends):
        # Values around 0 are divided between the signs, and may stand out only together.
        ends = [_end(sides[0] + sides[1], 2, level, noise)] * 2
    end = max(ends)
    if not end and not _surprise(np.array(zero), 1, noise) > level:
        return None
    bins = slice(max(0, end - _LONGEST_RUN), end)
    seen = max(0.0, zero) + float(sides[0][bins].sum() + sides[1][bins].sum())
    position = end + (1 if LARGEST_HIDDEN * seen > 1 else 2)
    furthest = float(2.0 ** (SMALLEST_EXPONENT + min(position, N_MAGNITUDES)))
    # A sign has bounds of its own if it reaches as far as the other, or may do so: of a sign that was not
    # seen, the bins that a quarter of the bounds leaves out must hold nothing.
    left_out = slice(max(0, end - 2), end + 1)
    below, above = (
        furthest if own >= end - 1 or side[left_out].sum() > 0 else furthest / 4
        for side, own in zip(sides, ends, strict=True)
    )
    return Found(-below, above, 1 / max(seen, 1.0))


def _end(counts: FloatArray, n_signs: int, level: float, noise: Noise) -> int:
    """Return the bin after the last that holds records, in a run that stands out or in its tail."""
    run_end = _end_of_runs(counts, n_signs, level, noise)
    if not run_end:
        return 0
    beyond = counts[run_end : run_end + _NEIGHBOURHOOD] / math.sqrt(n_signs)
    tail = int(np.concatenate([[0.0], np.cumsum(beyond - _LEAST_TAIL)]).argmax())
    groups = np.flatnonzero(beyond > _LEAST_GROUP) + 1
    return run_end + max(tail, int(groups.max(initial=0)))


def _end_of_runs(counts: FloatArray, n_signs: int, level: float, noise: Noise) -> int:
    """Return where the last run that stands out ends: the clearest, or others apart from it; 0 for none."""
    first, end = np.triu_indices(N_MAGNITUDES + 1, 1)
    short = end - first <= _LONGEST_RUN
    first, end = first[short], end[short]
    before = np.concatenate([[0.0], np.cumsum(counts)])
    surprise = _surprise(before[end] - before[first], n_signs * (end - first), noise)
    found = 0
    while surprise.max() > level:
        clearest = surprise.argmax()
        found = max(found, int(end[clearest]))
        surprise[(end > first[clearest]) & (first < end[clearest])] = 0.0
    return found


def _surprise(content: FloatArray, n_bins: IntArray | int, noise: Noise) -> FloatArray:
    """Return minus the logarithm of Chernoff's bound on the chance that noise alone holds as much.

    Laplace noise, which has the longer tail, has the scale ``1 / sqrt(2)`` in units of its deviation.
    """
    positive = np.maximum(content, 0.0)
    if not noise.is_pure:
        return np.asarray(positive**2 / (2 * n_bins))
    root = np.hypot(n_bins, math.sqrt(2) * positive)
    return np.asarray(root - n_bins - n_bins * np.log((root + n_bins) / (2 * n_bins)))
