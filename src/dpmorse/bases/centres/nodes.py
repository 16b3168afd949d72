"""Trees of binary codes that are grown where noisy counts are large enough."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.bases.queries import Queries, Tallied
from dpmorse.privacy import Step
from dpmorse.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Nodes:
    """Prefixes of one length with their noisy counts."""

    prefixes: IntArray
    counts: FloatArray
    n_bits: int

    @classmethod
    def root(cls, n_records: float) -> "Nodes":
        """Return the node of all records."""
        return cls(np.zeros(1, dtype=np.int64), np.array([n_records]), 0)

    def __len__(self) -> int:
        return len(self.prefixes)

    def where(self, chosen: Any) -> "Nodes":
        """Return some of the nodes, by a mask or by their positions."""
        return Nodes(self.prefixes[chosen], self.counts[chosen], self.n_bits)

    def heaviest(self, n: int) -> "Nodes":
        """Return at most ``n`` nodes, in the order they have."""
        return self.where(np.sort(np.argsort(-self.counts, kind="stable")[:n]))


def release_children(
    queries: Queries, step: Step, tallied: Tallied, parents: Nodes, n_bits: int, *, cost: float
) -> tuple[Nodes, float]:
    """Release the counts of all children, ``n_bits`` deeper, whether or not they hold records.

    Which nodes are counted depends on released values only. The children of one level are disjoint, so that
    one record changes one count.
    """
    children = ((parents.prefixes << n_bits)[:, None] + np.arange(1 << n_bits)).ravel()
    depth = parents.n_bits + n_bits
    counts, stddev = queries.group_counts(step, tallied, children, depth, cost=cost)
    return Nodes(children, counts, depth), stddev
