"""The rule "variance": the nearest components, as in Ward's method."""

import numpy as np

from dpmorse.morse.rules.base import MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import MomentGroups, merge_by_moments, total_variances
from dpmorse.typing import FloatArray


class Variance(MergeRule):
    """Merges the pair that adds least variance within clusters, in standardised columns (Ward 1963).

    Groups a and b of weights w and at distance d add ``w_a w_b / (w_a + w_b) d^2``. This tells clusters apart
    by position alone, as k-means does.
    """

    name = "variance"
    description = "The components merge first that are nearest in standardised columns, as in Ward's method."
    height_label = "variance added within clusters"

    def merge(self, given: MergeInput) -> Merges:
        """Merge groups of components; heights are added variances."""
        scale = np.sqrt(total_variances(given.mixture))
        standardised = given.mixture.affine(1 / scale, np.zeros(len(scale)))
        return merge_by_moments(given, standardised, _added_variance)


def _added_variance(groups: MomentGroups, a: int) -> FloatArray:
    harmonic = groups.weights[a] * groups.weights / (groups.weights[a] + groups.weights)
    added: FloatArray = harmonic * np.square(groups.means - groups.means[a]).sum(axis=1)
    return added
