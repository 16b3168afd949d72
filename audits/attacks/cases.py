"""The cases of audits: one mechanism with its exact answers on two neighbouring datasets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.sampler import seeded
from dpmorse.audit import AuditResult, Pair, audit_mechanism
from dpmorse.engine import InMemoryEngine
from dpmorse.privacy import Neighboring, PlannedChoice, PlannedRelease
from dpmorse.privacy.exact import opened
from dpmorse.statistics import ProfileCounts
from dpmorse.typing import FloatArray, IntArray

ADD_REMOVE, REPLACE_ONE = Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE
RELATIONS = (ADD_REMOVE, REPLACE_ONE)

MUS = (1.0, 2.0)
"""The budgets that are tried, as those of Gaussian mechanisms."""

_INNER = ("cells", "rule", "gaps", "ball", "box", "codes", "domain", "projection")
"""Attributes of statistics and rules that hold further rules."""

Datasets = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Case:
    """A mechanism and the exact answers on two neighbouring datasets.

    ``reached`` is the part of the proved sensitivity that this pair reaches: 1, but where no pair of records
    attains the bound, and a search finds no worse one. ``attacked`` are the classes of the library that
    decided on the answers: statistics, rules of cells, codes and projections.
    """

    name: str
    planned: PlannedRelease | PlannedChoice
    exact: IntArray
    neighbour: IntArray
    reached: float = 1.0
    attacked: tuple[type, ...] = ()

    @property
    def moved(self) -> float:
        """Change of the answer between the neighbours, as a part of the change that is paid for."""
        return Pair(self.planned, self.exact, self.neighbour).moved

    def with_noise(self, factor: float) -> "Case":
        """Return the same answers with noise that is ``factor`` times what its event says."""
        if isinstance(self.planned, PlannedChoice):
            raise TypeError("choices have no scales of noise")
        scales = np.ceil(factor * self.planned.scales).astype(np.int64)
        return replace(self, planned=PlannedRelease(scales, self.planned.event))

    def audited(self, *, runs: int, seed: int, confidence: float = 0.95) -> AuditResult:
        """Audit the mechanism on these answers."""
        return audit_mechanism(
            self.planned,
            self.exact,
            self.neighbour,
            runs=runs,
            confidence=confidence,
            sampler=seeded(seed),
        )


def sums_of_cells(
    named: str, planned: PlannedRelease, asked: tuple[Any, Any], datasets: Datasets, reached: float = 1.0
) -> Case:
    """Return the release of a statistic over the records of each cell."""
    statistic, cells = asked
    first, second = (opened(statistic.to_units(InMemoryEngine().reduce(X, *asked))) for X in datasets)
    return Case(named, planned, first, second, reached, parts_of(statistic, cells))


def counts_of_bins(named: str, planned: PlannedRelease, histograms: Any, datasets: Datasets) -> Case:
    """Return the release of counts of records in bins."""
    released = released_of(histograms)
    first, second = (opened(released.to_units(InMemoryEngine().count(X, histograms))) for X in datasets)
    return Case(named, planned, first, second, attacked=parts_of(histograms, released))


def released_of(histograms: Any) -> Any:
    """Return what plans the release of counts in bins: a profile does it itself."""
    return histograms if isinstance(histograms, ProfileCounts) else histograms.counts


def parts_of(*objects: Any) -> tuple[type, ...]:
    """Return the classes of statistics and rules, and of their parts."""
    found: list[type] = []
    for one in objects:
        found.append(one if isinstance(one, type) else type(one))
        for part in (getattr(one, name, None) for name in _INNER):
            if type(part).__module__.startswith("dpmorse.statistics"):
                found += parts_of(part)
    return tuple(dict.fromkeys(found))


def neighbours(
    others: FloatArray, record: FloatArray, relation: Neighboring, instead: Any = None
) -> Datasets:
    """Return datasets without a record, or with another one instead of it, and with it."""
    stands: Sequence[FloatArray] = [others] if relation is ADD_REMOVE else [others, instead]
    return np.vstack(stands), np.vstack([others, record])
