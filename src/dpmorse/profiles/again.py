"""How often the clusters of a cut were found again, in fits of synthetic records drawn from their release."""

from dataclasses import dataclass

import numpy as np

from dpmorse.typing import FloatArray

FOUND = 0.75
"""Jaccard index from which on a cluster counts as found again."""

ABOUT_AGAIN = (
    "Found again: in so many fits of synthetic records, drawn from what was released, a cluster has most "
    "of the records of this one and few others. It is about repetition, not about truth: what a release "
    "has merged or split, these fits merge or split, too."
)
"""What is said beside clusters that were found again, or not."""


@dataclass(frozen=True, eq=False)
class Again:
    """How often the clusters of a cut were found again.

    Attributes
    ----------
    matches : ndarray of shape (n_rehearsals, n_clusters)
        Jaccard index of each cluster with the most similar cluster of each rehearsal; NaN for clusters that
        had no synthetic record.
    """

    matches: FloatArray

    @property
    def n_rehearsals(self) -> int:
        """How many rehearsals there were."""
        return len(self.matches)

    @property
    def likeness(self) -> FloatArray:
        """Mean Jaccard index: about what another fit of the same records has, shape (n_clusters,)."""
        return np.asarray(self.matches.mean(axis=0))

    def n_found(self, cluster: int) -> int | None:
        """Return in how many rehearsals a cluster was found again; None where that is not known."""
        own = self.matches[:, cluster]
        return None if np.isnan(own).any() else int((own >= FOUND).sum())

    def in_words(self, cluster: int) -> str:
        """Say how often a cluster was found again; nothing where that is not known."""
        n_found, n = self.n_found(cluster), self.n_rehearsals
        if n_found is None:
            return ""
        return f"found again in {n_found} of {n} rehearsal{'s' * (n > 1)}"
