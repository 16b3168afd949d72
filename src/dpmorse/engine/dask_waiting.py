"""Waiting for what a Dask cluster computes, but not for ever once its last worker is gone.

Dask replaces workers that die, and waits for new ones as long as it takes. Where nobody starts any, a fit
would never end.
"""

import time
from typing import Any

import dask
import dask.base
import dask.utils

from dpmorse.exceptions import InvalidParameterError, WorkersLostError

_SETTING = "dpmorse.no-workers-timeout"
"""Where Dask's configuration says for how long a cluster may be without workers."""

_DEFAULT = "60 s"
_LOOK_EVERY = 1.0
"""Seconds between two looks at the workers: each is a short message to the scheduler."""


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
