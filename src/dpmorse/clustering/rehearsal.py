"""Would these clusters be found again? Fits of synthetic records, compared with the fit that released them.

A cluster is found again in a rehearsal if a cluster there has most of its records and few others: the Jaccard
index of their synthetic records says how nearly. This is about repetition, not about truth: what a release
has merged or split, rehearsals merge or split.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _plain_data
from dpmorse.bases import FitResult, Label, Refits
from dpmorse.clustering.trees import Trees
from dpmorse.exceptions import ModelFormatError
from dpmorse.morse import MergeTree, Sizes
from dpmorse.profiles import Again
from dpmorse.typing import IntArray

MOST_REHEARSALS = 100
"""Most rehearsals of a fit: five tell nearly as much as ten (docs/choosing.md)."""

MOST_CLUSTERS = 50
"""Most clusters into which rehearsals are cut."""

_COMPARED = 3000
"""Synthetic records that are labelled by the fit and by all rehearsals."""

_MOST_COUNTED = 1 << 40
"""Most synthetic records that a file may speak of."""


@dataclass(frozen=True, eq=False)
class Refit:
    """One rehearsal, compared with the fit.

    Attributes
    ----------
    pairs : ndarray of shape (3, n_pairs)
        A component of the fit, one of the rehearsal, and how many synthetic records have both.
    cuts : ndarray of shape (n_cuts, n_components)
        Clusters of the rehearsal's components, for 1, 2, ... clusters.
    suggested : int
        The number of clusters that the rehearsal suggests.
    """

    pairs: IntArray
    cuts: IntArray
    suggested: int

    @classmethod
    def of(cls, mine: IntArray, theirs: IntArray, tree: MergeTree) -> "Refit":
        """Compare the components of the same records. Components that none of them has are left out."""
        met, theirs = np.unique(theirs, return_inverse=True)
        suggested = tree.suggested_n_clusters
        n_cuts = min(tree.n_leaves, max(MOST_CLUSTERS, suggested))
        cuts = np.array([tree.cut(k)[met] for k in range(1, n_cuts + 1)])
        both, counts = np.unique(np.array([mine, theirs]), axis=1, return_counts=True)
        return cls(np.vstack([both, counts]).astype(np.int64), cuts, suggested)

    def matches(self, labels: IntArray, n_clusters: int, n_cut: int) -> Any:
        """Return the Jaccard index of each cluster with the most similar one here, cut into ``n_cut``.

        ``labels`` are the clusters of the fit's components. A cluster without records has NaN.
        """
        first, second, counts = self.pairs
        cut = self.cuts[min(n_cut, len(self.cuts)) - 1]
        both = np.zeros((n_clusters, int(cut.max()) + 1))
        np.add.at(both, (labels[first], cut[second]), counts)
        own = both.sum(axis=1, keepdims=True)
        either = own + both.sum(axis=0) - both
        best = (both / np.maximum(either, 1)).max(axis=1)
        return np.where(own[:, 0] > 0, best, np.nan)

    def to_plain(self) -> dict[str, Any]:
        """Return the rehearsal as plain data."""
        return {"pairs": self.pairs.tolist(), "cuts": self.cuts.tolist(), "suggested": self.suggested}

    @classmethod
    def from_plain(cls, content: object, n_components: int) -> "Refit":
        """Rebuild a rehearsal of a fit with so many components; every field is checked."""
        parts = _plain_data.fields("rehearsals", content, "pairs", "cuts", "suggested")
        cuts = _rows("cuts", parts["cuts"], None)
        n_others = len(cuts[0])
        cut_into = [_whole("cuts", cut, 0, k) for k, cut in enumerate(cuts, start=1)]
        if any(len(cut) != n_others for cut in cut_into) or not n_others:
            raise ModelFormatError("rehearsals.cuts must be about the same components.")
        first, second, counts = _rows("pairs", parts["pairs"], 3)
        ends = ((first, 0, n_components), (second, 0, n_others), (counts, 1, _MOST_COUNTED))
        pairs = [_whole("pairs", *part) for part in ends]
        if len({len(part) for part in pairs}) > 1 or not len(pairs[0]):
            raise ModelFormatError("rehearsals.pairs must be as many components as others and counts.")
        (suggested,) = _whole("suggested", [parts["suggested"]], 1, len(cuts) + 1).tolist()
        return cls(np.array(pairs), np.array(cut_into), suggested)


def _rows(name: str, content: object, length: int | None) -> list[Any]:
    listed = _plain_data.of_type(f"rehearsals.{name}", content, list)
    if not listed or (length is not None and len(listed) != length):
        raise ModelFormatError(f"rehearsals.{name} must hold {length or 'some'} lists.")
    return listed


def _whole(name: str, content: object, least: int, below: int) -> IntArray:
    """Return whole numbers from ``least`` on and below ``below``, or say what is wrong."""
    listed = _plain_data.of_type(f"rehearsals.{name}", content, list)
    if not all(type(value) is int and least <= value < below for value in listed):
        raise ModelFormatError(f"rehearsals.{name} must be whole numbers from {least} to {below - 1}.")
    return np.array(listed, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """All rehearsals of a fit."""

    refits: tuple[Refit, ...]

    @classmethod
    def of(
        cls, refits: Refits, trees: Trees, n_rehearsals: int, told: Callable[[float], None]
    ) -> "Rehearsal":
        """Make so many; ``told`` hears which part of them is done."""
        records, found = refits.compared(_COMPARED), []
        mine = refits.labels(records)
        for number in range(n_rehearsals):
            result: FitResult = refits.fit(number)
            partition = result.partition or result.mixture
            theirs = Label(partition, result.domain)(records)
            tree = trees.of(partition.landscape, Sizes(*refits.sizes(partition.weights)))
            found.append(Refit.of(mine, theirs, tree))
            told((number + 1) / n_rehearsals)
        return cls(tuple(found))

    def again(self, labels: IntArray, n_clusters: int, *, own_numbers: bool) -> Again | None:
        """Say how often the clusters of a cut of the fit's components were found again.

        Rehearsals are cut into as many clusters, or each into the number that it suggests. What is cut finer
        than rehearsals are is not compared.
        """
        if n_clusters > MOST_CLUSTERS:
            return None
        found = [
            refit.matches(labels, n_clusters, refit.suggested if own_numbers else n_clusters)
            for refit in self.refits
        ]
        return Again(np.array(found))

    @property
    def suggested(self) -> tuple[int, ...]:
        """The number of clusters that each rehearsal suggests."""
        return tuple(refit.suggested for refit in self.refits)
