"""Would these clusters be found again? Fits of synthetic records, compared with the fit that released them.

A cluster is found again in a rehearsal if a cluster there has most of its records and few others: the Jaccard index
of their synthetic records says how nearly. This is about repetition, not about truth: what a release has merged or
split, rehearsals merge or split.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _plain_data
from dpmorse.typing import FloatArray, IntArray

FOUND = 0.75
"""Jaccard index from which on a cluster counts as found again."""

_COMPARED = 3000
"""Synthetic records that are labelled by the fit and by all rehearsals."""

_MOST_CLUSTERS = 50
"""Most clusters into which rehearsals are cut."""


@dataclass(frozen=True)
class Refit:
    """One rehearsal.

    Attributes
    ----------
    joint : ndarray of shape (n_components, n_components of the rehearsal)
        Synthetic records by the component that labels them, in the fit and in the rehearsal.
    cuts : ndarray of shape (n_cuts, n_components of the rehearsal)
        Clusters of the rehearsal's components, for 1, 2, ... clusters.
    suggested : int
        The number of clusters that the rehearsal suggests.
    """

    joint: IntArray
    cuts: IntArray
    suggested: int

    def best_matches(self, members: FloatArray, n_clusters: int | None) -> FloatArray:
        """Return the Jaccard index of each cluster with the most similar one of the rehearsal.

        ``members`` has a row for each cluster, with 1 where a component belongs to it. The rehearsal is cut into
        ``n_clusters``, or as many as it suggests.
        """
        labels = self.cuts[min(n_clusters or self.suggested, len(self.cuts)) - 1]
        both = members @ self.joint @ np.eye(int(labels.max()) + 1)[labels]
        either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
        found: FloatArray = (both / np.maximum(either, 1)).max(axis=1)
        return found


@dataclass(frozen=True)
class Again:
    """How often the clusters of a cut were found again.

    Attributes
    ----------
    likeness : ndarray of shape (n_clusters,)
        Mean Jaccard index with the most similar cluster of each rehearsal: what another fit of the same records is
        likely to have.
    n_found : ndarray of shape (n_clusters,)
        Rehearsals in which it was at least ``FOUND``.
    n_rehearsals : int
        How many there were.
    """

    likeness: FloatArray
    n_found: IntArray
    n_rehearsals: int

    def in_words(self, cluster: int) -> str:
        """Say how often a cluster was found again."""
        return f"found again in {self.n_found[cluster]} of {self.n_rehearsals} rehearsals"


@dataclass(frozen=True)
class Rehearsal:
    """All rehearsals of a fit; ``n_clusters`` is the number that was asked for, or None."""

    refits: tuple[Refit, ...]
    n_clusters: int | None

    def again(self, labels: IntArray, n_clusters: int) -> Again:
        """Compare a cut of the fit's components into so many clusters with the rehearsals.

        These are cut into the number that was asked for; where none was, each into the number it suggests, if
        the cut is the suggested one, and otherwise into as many as the cut has.
        """
        members = np.eye(n_clusters)[labels].T
        matches = np.array([refit.best_matches(members, self.n_clusters) for refit in self.refits])
        n_found = (matches >= FOUND).sum(axis=0)
        return Again(matches.mean(axis=0), n_found, len(self.refits))

    @property
    def suggested(self) -> tuple[int, ...]:
        """The number of clusters that each rehearsal suggests."""
        return tuple(refit.suggested for refit in self.refits)

    def to_plain(self) -> list[dict[str, Any]]:
        """Return the rehearsals as plain data, for a model file."""
        return [
            {"joint": refit.joint.tolist(), "cuts": refit.cuts.tolist(), "suggested": refit.suggested}
            for refit in self.refits
        ]

    @classmethod
    def from_plain(cls, content: object, n_components: int, n_clusters: int | None) -> "Rehearsal":
        """Rebuild rehearsals from plain data, which is checked."""
        listed = _plain_data.of_type("rehearsal", content, list)
        return cls(tuple(_refit_from(each, n_components) for each in listed), n_clusters)
