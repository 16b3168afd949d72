"""The one place where noise meets data."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpmorse.privacy.budget import Budget
from dpmorse.privacy.events import ReleaseEvent, event_for_groups
from dpmorse.privacy.exact import Exact, opened
from dpmorse.privacy.ledger import Ledger, Reservation
from dpmorse.privacy.noise import Noise, NoiseSampler, RandomChoice
from dpmorse.typing import IntArray


@dataclass(frozen=True)
class PlannedRelease:
    """A release as it will be made: its noise scales and the event that states their cost.

    Built by the statistic whose sensitivity it rests on, so that scales and cost cannot drift apart.
    """

    scales: IntArray
    event: ReleaseEvent

    @property
    def noise(self) -> Noise:
        """The noise that will be added."""
        if not isinstance(self.event.noise, Noise):
            raise ValueError("a release of sums cannot have the event of a choice")  # noqa: TRY004 - a value
        return self.event.noise

    def for_groups(self, budget: Budget) -> "PlannedRelease":
        """Return this release with its cost under the relation of a budget, which may be about groups."""
        return replace(self, event=event_for_groups(self.event, budget))


@dataclass(frozen=True)
class PlannedChoice:
    """A choice as it will be made: weights exp(-rate * penalty), and the event that states its cost."""

    rate: Fraction
    event: ReleaseEvent


class Mechanism:
    """Adds discrete noise to exact integer sums, once per release, and chooses by exact integer penalties.

    Privacy
    -------
    Gaussian noise: for neighbouring datasets the exact vectors differ by an integer vector ``v`` with
    ``sum_i v_i^2 / s_i^2 <= 2 rho`` (the statistic's promise, written in the event). Adding independent
    N_Z(0, s_i^2) then satisfies rho-zCDP (Theorem 2 of docs/privacy.md), and releases compose by adding
    ``rho``, also when a later query depends on earlier releases. Laplace noise of scales s_i with
    ``sum_i |v_i| / s_i <= epsilon`` satisfies pure epsilon-DP, and choices Theorem 7.

    Every release is reserved on every ledger before data is touched, and written there before its noise
    is drawn.
    """

    def __init__(self, reservations: Sequence[Reservation], sampler: NoiseSampler) -> None:
        self._reservations = reservations
        self._sampler = sampler

    @classmethod
    @contextmanager
    def reserve(
        cls,
        ledgers: Sequence[Ledger],
        events: Sequence[ReleaseEvent],
        sampler: NoiseSampler,
        budget: Budget,
    ) -> Iterator["Mechanism"]:
        """Reserve a cost on every ledger; one that a ledger cannot pay is refused.

        ``budget`` is that of the fit: a ledger for another unit is refused as well.

        Releases may be divided otherwise than the events say, as released values suggest, as long as
        they cost no more in all: each is checked against what is left.
        """
        with ExitStack() as stack:
            yield cls([stack.enter_context(ledger.reserve(events, budget)) for ledger in ledgers], sampler)

    def release(self, exact: Exact[IntArray], planned: PlannedRelease) -> IntArray:
        """Return the exact sums plus fresh noise."""
        sums = opened(exact)
        are_integers = sums.dtype == np.int64 or (  # of 64 bits, or Python's own, of any size
            sums.dtype == object and all(type(value) is int for value in sums)
        )
        if sums.shape != planned.scales.shape or not are_integers:
            raise ValueError("exact sums do not have the shape and type of the planned release")
        noise = planned.noise
        self._record(planned.event)
        drawn = noise.draw(self._sampler, planned.scales)
        return sums + drawn.astype(sums.dtype, copy=False)

    def choose(self, exact: Exact[IntArray], planned: PlannedChoice) -> int:
        """Return a random index, the smaller its exact penalty the more likely."""
        penalties = opened(exact)
        is_choice = isinstance(planned.event.noise, RandomChoice)
        if not is_choice or penalties.dtype != np.int64 or not penalties.size:
            raise ValueError("a choice needs integer penalties and the event of a choice")
        self._record(planned.event)
        return self._sampler.choose(penalties - penalties.min(), planned.rate)

    def _record(self, event: ReleaseEvent) -> None:
        for reservation in self._reservations:
            reservation.record(event)
