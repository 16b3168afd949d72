"""Exact sums over the partitions of a Dask collection: added where they are, then as a tree."""

from collections.abc import Sequence
from typing import Any

import dask

from dpmorse.engine.base import add_up
from dpmorse.engine.dask_waiting import computed
from dpmorse.engine.fingerprint import Checked
from dpmorse.engine.partitioned import PartitionedEngine, Question

_FAN_IN = 8
"""Sums that one task adds up: fewer make the tree of tasks deeper, more move more data to one worker."""


class DaskEngine(PartitionedEngine):
    """Sums over partitions, on whatever scheduler is at work: threads, processes or a cluster.

    Parameters
    ----------
    inner : Engine
        Adds up one partition. Partitions are worked on at the same time, so by default each by one thread.
    """

    def answers(self, parts: Sequence[Any], question: Question) -> Checked[Any]:
        """Put a question to all partitions, each a lazy ``Checked`` array; return the sum of answers."""
        shared = dask.delayed(question)  # once in the graph, not once a partition
        total: Checked[Any] = add_up_lazily([dask.delayed(Question.__call__)(shared, part) for part in parts])
        return total


def add_up_lazily(parts: Sequence[Any]) -> Any:
    """Add up what lazy parts will be, as a tree, where they are; return the sum."""
    while len(parts) > 1:
        parts = [dask.delayed(add_up)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
    return computed(parts[0])
