"""The rule "likelihood": components that one Gaussian describes best."""

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import MomentGroups, merge_by_moments
from dpmorse.typing import FloatArray


class Likelihood(MergeRule):
    """Merges the pair whose replacement by one Gaussian of the same moments loses least likelihood.

    The loss per record is bounded by ``(w ln|S| - w_a ln|S_a| - w_b ln|S_b|) / 2`` (Runnalls 2007). This
    tells clusters apart by shape and scale, also around one centre.
    """

    name = "likelihood"
    description = "The components merge first that one Gaussian describes best."
    height_label = "likelihood lost"

    def merge(self, given: MergeInput) -> Merges:
        """Merge groups of components; heights are losses in nats per record."""
        return merge_by_moments(given, given.differing, _lost_likelihood)


def _lost_likelihood(groups: MomentGroups, a: int) -> FloatArray:
    weights, _, covariances = groups.joined(a)
    own = groups.weights * groups.log_dets
    losses: FloatArray = (weights * np.linalg.slogdet(covariances)[1] - own - own[a]) / 2
    return losses
