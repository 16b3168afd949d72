"""How the tree of a released mixture is built: that of a fit, of a loaded model, and of a rehearsal."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.bases import NOISY
from dpmorse.morse import CriticalPoints, MergeTree, Sizes, merge_tree


def least_weight(sizes: Sizes | None) -> float:
    """Return the weight below which a cluster may be noise; 0 where sizes were not released."""
    if sizes is None:
        return 0.0
    return NOISY * float(np.median(sizes.stddevs)) / max(float(sizes.counts.sum()), 1.0)


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
        self, landscape: Any, sizes: Sizes | None, critical_points: CriticalPoints | None = None
    ) -> MergeTree:
        """Return the tree of a released mixture whose components have these sizes."""
        return merge_tree(
            landscape,
            rule=self.rule,
            n_clusters=self.n_clusters,
            search=self.search,
            critical_points=critical_points,
            least_weight=least_weight(sizes),
            sizes=sizes,
        )
