"""How much noise a budget buys, found by rehearsing a fit without data.

The base's own code runs on a few invented records that stand for many, with a mechanism that notes each
release instead of adding noise to it. What is noted cannot drift from what a fit does.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

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

    most_components: int
    """Most components that are fitted: there are no more clusters than these."""

    def most_clusters(self, n_records: int) -> int:
        """Return how many clusters of equal size noise does not hide, and components can be."""
        return min(n_records // self.smallest_cluster, self.most_components)


def rehearse(base: PrivateFit, n_features: int, n_records: int) -> Rehearsed:
    """Run a fit of about ``n_records`` invented records up to its last release."""
    plan = base.plan(n_features)
    source, mechanism = invented(n_records, plan.schema.layout)
    queries = Queries(source, mechanism, plan.settings.budget)
    with one_library_thread():  # as in a fit
        base.spend(queries, plan, np.random.default_rng(0))
    events = mechanism.events
    stddev = base.noise_of_a_count(plan, events)
    smallest = smallest_seen(base.hurdles(plan, events, n_records))
    rho = math.fsum(event.rho for event in events)
    return Rehearsed(stddev, len(events), rho, smallest, plan.settings.n_components)


def rehearse_all(
    bases: Mapping[float, PrivateFit], n_features: int, n_records: int
) -> dict[float, Rehearsed]:
    """Rehearse fits of several budgets; a larger one is promised no less than a smaller one.

    More budget may be spent on finer cells, which a small cluster fills more of. What is promised of a budget
    holds for all larger ones that are asked for: so it is the largest size of these.
    """
    found, largest = {}, 0
    for epsilon in sorted(bases, reverse=True):
        one = rehearse(bases[epsilon], n_features, n_records)
        largest = max(largest, one.smallest_cluster)
        found[epsilon] = replace(one, smallest_cluster=largest)
    return dict(sorted(found.items()))
