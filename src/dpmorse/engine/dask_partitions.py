"""Exact sums over the partitions of a Dask collection: added where they are, then as a tree.

Dask replaces workers that die, and waits for new ones as long as it takes. Where nobody starts any, a fit
would never end; so it waits for workers, but not for ever once the last one is gone.
"""

import operator
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.base
import dask.utils

from dpmorse.engine.base import add_up
from dpmorse.engine.fingerprint import Checked
from dpmorse.engine.partitioned import PartitionedEngine, Question
from dpmorse.exceptions import InvalidParameterError, WorkersLostError

_FAN_IN = 8
"""Sums that one task adds up: fewer make the tree of tasks deeper, more move more data to one worker."""

_SETTING = "dpmorse.no-workers-timeout"
"""Where Dask's configuration says for how long a cluster may be without workers."""

_DEFAULT = "60 s"
_LOOK_EVERY = 1.0
"""Seconds between two looks at the workers: each is a short message to the scheduler."""


class DaskEngine(PartitionedEngine):
    """Sums over partitions, on whatever scheduler is at work: threads, processes or a cluster.

    Parameters
    ----------
    inner : Engine
        Adds up one partition. Partitions are worked on at the same time, so by default each by one thread.
    """

    def answers(self, parts: Sequence[Any], question: Question) -> Checked[Any]:
        """Put a question to all partitions, each a lazy ``Checked`` array; return the sum of answers."""
        return add_up_each(parts, question)


def each_lazily(parts: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
    """Return a function of each lazy part, to be computed where the part is."""
    shared = dask.delayed(function)  # once in the graph, not once a partition
    return [dask.delayed(operator.call)(shared, part) for part in parts]


def add_up_each(parts: Sequence[Any], function: Callable[[Any], Any]) -> Checked[Any]:
    """Add up a function of lazy parts, as a tree, where they are; return the sum."""
    sums = each_lazily(parts, function)
    while len(sums) > 1:
        sums = [dask.delayed(add_up)(sums[i : i + _FAN_IN]) for i in range(0, len(sums), _FAN_IN)]
    total: Checked[Any] = computed(sums[0])
    return total


def longest_without_workers() -> float:
    """Return for how many seconds a fit waits while there are no workers; infinity: for ever."""
    given = dask.config.get(_SETTING, _DEFAULT)
    if given is None:
        return float("inf")
    try:
        seconds = float(dask.utils.parse_timedelta(given))
    except (AttributeError, KeyError, TypeError, ValueError):
        seconds = float("nan")
    if not seconds > 0:
        raise InvalidParameterError(
            f"{_SETTING} in Dask's configuration must be a positive number of seconds, a text such as "
            f'"5 min", or None to wait for ever, got {given!r}. Set it with dask.config.set.'
        )
    return seconds


def computed(lazy: Any) -> Any:
    """Compute a lazy value on the scheduler at work; give up where its workers stay away."""
    client = _client_at_work()
    if client is None:
        return lazy.compute()
    future = client.compute(lazy)
    try:
        _wait(future, client)
        return future.result()
    finally:
        future.release()


def _wait(future: Any, client: Any) -> None:
    import distributed  # noqa: PLC0415 - only where a cluster computes

    seen = time.monotonic()
    patience = longest_without_workers()
    while not future.done():
        try:
            distributed.wait(future, timeout=_LOOK_EVERY)
        except distributed.TimeoutError:
            if client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > patience:
                raise _lost(patience) from None


def _lost(patience: float) -> WorkersLostError:
    return WorkersLostError(
        f"The Dask cluster has had no workers for {patience:g} seconds. Nothing was released from the pass "
        "that was under way, and the estimator is as it was; what earlier passes released stays spent. Start "
        "workers and fit again. Where they need longer to come, set "
        f'dask.config.set({{"{_SETTING}": "10 min"}}), or None to wait for ever.'
    )


def _client_at_work() -> Any:
    """Return the client of the cluster that computes, if one does and this is not one of its own tasks."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is None or not hasattr(client, "nthreads"):
        return None
    import distributed  # noqa: PLC0415 - only where a cluster computes

    try:
        distributed.get_worker()
    except ValueError:
        return client
    return None  # a task that waits must give its place to others, as compute() does
