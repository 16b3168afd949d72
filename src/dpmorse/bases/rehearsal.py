"""How much noise a budget buys, found by rehearsing a fit without data.

The base's own code runs on a few invented records that stand for many, with a mechanism that notes each
release instead of adding noise to it. What is noted cannot drift from what a fit does.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse._threads import one_library_thread
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.hurdles import smallest_seen
from dpmorse.bases.queries import Queries
from dpmorse.engine import invented


@dataclass(frozen=True)
class Rehearsed:
    """What a fit would do."""

    count_stddev: float
    """Standard deviation of the noise of a component's count in the released mixture, in records."""

    n_releases: int
    """How many releases are made."""

    rho: float
    """What they cost."""

    smallest_cluster: int
    """The smallest number of records that noise hides in one of twenty fits at most."""

    def most_clusters(self, n_records: int) -> int:
        """Return how many clusters of equal size noise does not hide."""
        return n_records // self.smallest_cluster


def rehearse(base: PrivateFit, n_features: int, n_records: int) -> Rehearsed:
    """Run a fit of about ``n_records`` invented records up to its last release."""
    plan = base.plan(n_features)
    schema = plan.settings.columns
    source, mechanism = invented(n_records, n_features, None if schema is None else schema.layout)
    queries = Queries(source, mechanism, plan.settings.budget)
    with one_library_thread():  # as in a fit
        base.spend(queries, plan, np.random.default_rng(0))
    events = mechanism.events
    stddev = base.noise_of_a_count(plan, events)
    smallest = smallest_seen(base.hurdles(plan, events, n_records))
    return Rehearsed(stddev, len(events), math.fsum(event.rho for event in events), smallest)
