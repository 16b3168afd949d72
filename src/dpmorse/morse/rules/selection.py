"""The rule "auto": every other rule proposes its clusters, at several scales, and one score picks.

No rule is best everywhere: the density is right where rare clusters lie behind valleys, the variance where
classes are made of many pieces, the likelihood where one class surrounds another. ``scores`` chooses a cut,
``proposals`` the number of clusters where none is given.

Rules are tried on the mixture and on two smoothed copies, each component's covariance raised by 2 % and 10 %
of every column's variance: this closes thinner valleys (of rounded or discrete columns, or of noise).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.morse.rules.base import Decision, Leaves, MergeInput, MergeRule, Merges
from dpmorse.morse.rules.groups import attach_bare_modes, total_variances
from dpmorse.morse.rules.proposals import Proposal, Proposals
from dpmorse.morse.rules.scores import Score
from dpmorse.morse.rules.sizes import Sizes

# The parts of each column's variance by which covariances are raised to close thin valleys.
_SMOOTHINGS = (0.02, 0.1)


class Auto(MergeRule):
    """Makes the merges of the rule whose cut into the wanted number of clusters scores best.

    Parameters
    ----------
    at_every_scale : sequence of MergeRule
        Rules that propose on the mixture and on the smoothed ones.
    unsmoothed : sequence of MergeRule
        Rules that propose on the mixture only.
    """

    name = "auto"
    description = "Merges as the rule does whose cut into the clusters asked for scores best."
    height_label = "height"

    def __init__(self, at_every_scale: Sequence[MergeRule], unsmoothed: Sequence[MergeRule]) -> None:
        self._at_every_scale, self._unsmoothed = tuple(at_every_scale), tuple(unsmoothed)

    def merge(self, given: MergeInput) -> Merges:
        """Return the merges of the rule that was chosen."""
        return self.decide(given).merges

    def decide(self, given: MergeInput) -> Decision:
        """Choose a rule, and return its merges of the components."""
        scales = [(given, "")]
        scales += [(_smoothed(given, part), f", smoothed by {part:.0%}") for part in _SMOOTHINGS]
        each = [
            Proposal.of(rule, rule.name + how, view) for view, how in scales for rule in self._at_every_scale
        ]
        each += [Proposal.of(rule, rule.name, given) for rule in self._unsmoothed]
        proposals = Proposals(
            tuple(each), Score(given), given.n_clusters, given.mixture.n_features, _sizes(given)
        )
        chosen = proposals.shown
        first, second = given.leaves.full[chosen.pairs].T
        merges = attach_bare_modes(given) + Merges.without_saddles(first, second, chosen.heights)
        return Decision(merges, chosen.rule, chosen.basis, proposals)


def _sizes(given: MergeInput) -> Sizes | None:
    """Return the sizes of the components that are leaves."""
    return None if given.sizes is None else given.sizes.of(given.leaves.components[given.leaves.full])


def _smoothed(given: MergeInput, part: float) -> MergeInput:
    """Add this part of each column's variance to all covariances, and search the mixture that results."""
    mixture = given.mixture
    covariances = mixture.covariances + part * np.diag(total_variances(mixture))
    smooth = GaussianMixture(mixture.weights, mixture.means, covariances)
    points = given.find(smooth)
    return replace(given, mixture=smooth, points=points, leaves=Leaves.of(smooth, points))
