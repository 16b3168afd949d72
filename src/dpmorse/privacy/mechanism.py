"""The one place where noise meets data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.privacy.discrete_gaussian import NoiseSampler
from dpmorse.privacy.events import ReleaseEvent
from dpmorse.privacy.ledger import Ledger
from dpmorse.typing import IntArray


@dataclass(frozen=True)
class PlannedRelease:
    """A release as it will be made: its noise scales and the event that states their cost.

    Built by the statistic whose sensitivity it rests on, so that scales and cost cannot drift apart.
    """

    scales: IntArray
    event: ReleaseEvent


class GaussianMechanism:
    """Adds discrete Gaussian noise to exact integer sums, once per release.

    Privacy
    -------
    For neighbouring datasets the exact vectors differ by an integer vector ``v`` with
    ``sum_i v_i^2 / s_i^2 <= 2 rho`` (the statistic's promise, written in the event). Adding independent
    N_Z(0, s_i^2) then satisfies rho-zCDP (Theorem 2 of docs/privacy.md), and releases compose by adding
    ``rho``, also when a later query depends on earlier releases.

    Every release is written to every ledger before its noise is drawn.
    """

    def __init__(self, ledgers: Sequence[Ledger], sampler: NoiseSampler) -> None:
        self._ledgers = ledgers
        self._sampler = sampler

    @property
    def secure(self) -> bool:
        """Whether the noise comes from a source that cannot be replayed."""
        return self._sampler.secure

    def admit(self, planned: Iterable[PlannedRelease]) -> None:
        """Refuse a plan that some ledger cannot pay for; call before data is touched."""
        events = [release.event for release in planned]
        for ledger in self._ledgers:
            ledger.admit(events)

    def release(self, exact: IntArray, planned: PlannedRelease) -> IntArray:
        """Return ``exact`` plus fresh noise."""
        if exact.shape != planned.scales.shape or exact.dtype != np.int64:
            raise ValueError("exact sums do not have the shape and type of the planned release")
        for ledger in self._ledgers:
            ledger.record(planned.event)
        return exact + self._sampler(planned.scales)
