r"""The number of clusters where none is given: "auto" compares its cuts into every number by one value.

.. math:: \ln K + 5 P + 2 A - \frac14 N

More clusters are better as long as they keep their records to themselves (P, the purity: the mean over
clusters of the part of a cluster's memberships that it does not share with others), the rules agree on them
(A, the mean adjusted Rand index of the cut that is taken with the cuts of all rules), and valleys separate
them (N, the number of clusters in which the density is nowhere twice that of the lowest pass to another one).
One cluster shares nothing, and there is nothing to agree on: P = 1, A = N = 0.

All of it is a function of the mixture, and does not depend on the units of columns.
"""

import math
from collections.abc import Callable

import numpy as np

from dpmorse.morse.rules.scores import Score, agreements, chosen_cut
from dpmorse.morse.rules.suggestion import Suggestion
from dpmorse.typing import IntArray

# Weights of purity, agreement and a missing valley, in nats of ln K. docs/morse.md ("How many clusters") says
# on which fits they were set, and measures them on others.
_PURITY, _AGREEMENT, _NO_VALLEY = 5.0, 2.0, 0.25

# Nats to climb out of a cluster below which no valley separates it from the others.
_VALLEY = math.log(2)

# Numbers whose values differ by less than this are nearly as good. Set so that the true number is among them
# in three of four fits that have at least that number of components.
_NEARLY = 1.0

# Largest number that is suggested: each number takes time, and few data have more clusters.
_MOST = 50


def suggested(cuts: Callable[[int], list[IntArray]], score: Score) -> Suggestion:
    """Return the number of clusters of highest value; ``cuts`` gives every proposal's cut into a number."""
    numbers = range(2, min(_MOST, len(score.weights)) + 1)
    values = np.array([_PURITY, *(_value(cuts(number), score) for number in numbers)])
    nearly = 1 + np.flatnonzero(values > values.max() - _NEARLY)
    return Suggestion(1 + int(np.argmax(values)), tuple(nearly.tolist()))


def _value(cuts: list[IntArray], score: Score) -> float:
    """Return the value of the best cut into this number of clusters, two or more."""
    taken = chosen_cut(cuts, score)
    cut, agreement = cuts[taken], agreements(cuts, score.weights)[taken].mean()
    climbs, parted = score.climbs(cut), _PURITY * score.purity(cut) + _AGREEMENT * agreement
    return float(math.log(len(climbs)) + parted - _NO_VALLEY * (climbs < _VALLEY).sum())
