"""What a small cluster has to pass to be seen: the counts that a fit compares with noise, one by one.

A *hurdle* is such a comparison: the count of a group has to exceed a level, and noise moves it by a known
standard deviation. A group is seen if it passes all of them. So it is seen with a probability of at least
1 - p if it passes each but for p / n, n being the number of hurdles: no independence is needed for that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

MISSED = 0.05
"""Part of the fits in which a group of the size that is promised may be missed: one in twenty."""

SEEN = 3.0
"""Standard deviations of noise from which on a count is seen: docs/privacy.md, section 9."""

NOISY = 5.0
"""Standard deviations of a count's noise below which a cluster may be noise. Three would do for one cluster;
a cut is chosen from many, and takes what noise has made most of."""


@dataclass(frozen=True)
class Hurdle:
    """A level that the count of a group has to exceed, and the noise of that count, in records."""

    level: float
    stddev: float

    @classmethod
    def times(cls, stddev: float, levels: float = SEEN) -> "Hurdle":
        """Return the hurdle of a count that is compared with this many standard deviations of its noise."""
        return cls(levels * stddev, stddev)

    def size_for(self, missed: float) -> float:
        """Return the size of a group whose noisy count is below the level with this probability."""
        return self.level + NormalDist().inv_cdf(1 - missed) * self.stddev


def smallest_seen(hurdles: Sequence[Hurdle]) -> int:
    """Return the smallest group that passes all hurdles in all but ``MISSED`` of the fits."""
    return math.ceil(max(hurdle.size_for(MISSED / len(hurdles)) for hurdle in hurdles))
