"""How the tree of a released mixture is built: that of a fit, of a loaded model, and of a rehearsal."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.bases import NOISY
from dpmorse.morse import CriticalPoints, MergeTree, merge_tree
from dpmorse.profiles import Profile


def least_weight(profile: Profile | None) -> float:
    """Return the weight below which a cluster may be noise, by the noise of the profile; 0 without one."""
    if profile is None:
        return 0.0
    noise = float(np.median(profile.count_stddev))
    return NOISY * noise / max(float(profile.counts.sum()), 1.0)


@dataclass(frozen=True)
class Trees:
    """What the trees of a fit and of its rehearsals have in common.

    Attributes
    ----------
    rule, search : str
        The merge rule, and the search for saddles.
    n_clusters : int or None
        The number of clusters that was asked for.
    """

    rule: str
    n_clusters: int | None
    search: str

    def of(
        self, landscape: Any, profile: Profile | None, critical_points: CriticalPoints | None = None
    ) -> MergeTree:
        """Return the tree of a released mixture."""
        return merge_tree(
            landscape,
            rule=self.rule,
            n_clusters=self.n_clusters,
            search=self.search,
            critical_points=critical_points,
            least_weight=least_weight(profile),
        )
