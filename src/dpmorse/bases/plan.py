"""What a fit may spend, and on what: decided before data is touched, the same for all who ask.

A plan is a value: ``fit`` reserves it, ``dpmorse plan`` rehearses it, a report takes the units of noise from
it, and a model file that is loaded is checked against it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

from dpmorse.bases.settings import Settings
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import (
    SMALLEST_SCALE,
    Composition,
    PrivacyReport,
    ReleaseEvent,
    Step,
    noise_of_sums,
    release_event,
    same_events,
)
from dpmorse.schema import Schema
from dpmorse.statistics import ColumnHistograms, Domain, MagnitudeHistograms

AnySettings = TypeVar("AnySettings", bound=Settings)

BOUNDS = "bounds of the columns"
"""The stage that finds bounds, where they are private."""

_STEPS_OF_BOUNDS = ("magnitudes", "ranges")
"""What is released to find bounds, in this order."""

SHARE_OF_BOUNDS = 0.05
"""Part of the budget that ``bounds="private"`` costs: two histograms find bounds at a twentieth already."""


@dataclass(frozen=True)
class Stage:
    """A part of the budget."""

    name: str
    """What it is spent on."""

    cost: float
    """The most that it may cost: rho, or epsilon where the promise is pure."""

    n_draws: int
    """The most noise values that may be drawn for it."""

    of_cells: bool = False
    """Whether it counts cells of a grid, several of which make a component."""

    releases: tuple[ReleaseEvent, ...] = ()
    """The releases, where all are known beforehand."""

    def step(self, part: str = "", turn: int | None = None, turns: int | None = None) -> Step:
        """Return the name of a release of this stage."""
        return Step(self.name, part, turn, turns)


@dataclass(frozen=True)
class Plan(Generic[AnySettings]):
    """The stages of a fit and what each may cost.

    Attributes
    ----------
    settings : Settings
        The checked parameters.
    domain : Domain
        Where records are clipped to; a placeholder until bounds that are private are released.
    stages : tuple of Stage
        In the order in which they are made.
    """

    settings: AnySettings
    domain: Domain
    stages: tuple[Stage, ...]

    @classmethod
    def of(cls, settings: AnySettings, shares: Sequence[Stage]) -> "Plan[AnySettings]":
        """Spread a budget over stages whose costs are given as shares of it, after that of private bounds.

        Stages that an author has divided wrongly are refused: names must be distinct, and shares add up.
        """
        names = [stage.name for stage in shares]
        if len(set(names)) < len(names) or BOUNDS in names:
            raise ValueError(f"stages must have names of their own, got {names}.")
        if any(Step.parse(name) != Step(name) for name in names):
            raise ValueError(f"names of stages must have no comma and not end in a count, got {names}.")
        if not math.isclose(sum(stage.cost for stage in shares), 1.0, rel_tol=1e-9):
            raise ValueError("the costs of stages are shares of the budget and must add up to 1.")
        budget = settings.budget
        n_draws_of_bounds = (MagnitudeHistograms.n_bins + ColumnHistograms.n_bins) * settings.n_features
        n_draws = sum(stage.n_draws for stage in shares) + n_draws_of_bounds
        total = noise_of_sums(budget).affordable(budget, settings.calibration, n_draws=n_draws)
        for_bounds = SHARE_OF_BOUNDS * total if settings.private_bounds else 0.0
        left = total - for_bounds
        stages = tuple(replace(stage, cost=stage.cost * left) for stage in shares if stage.cost > 0)
        first = (Stage(BOUNDS, for_bounds, n_draws_of_bounds),) if for_bounds else ()
        return cls(settings, settings.domain, (*first, *stages))

    @property
    def schema(self) -> Schema:
        """What the columns are, within the bounds that were released where they are private."""
        schema = self.settings.schema
        if not self.settings.private_bounds:
            return schema
        return Schema.of_numbers(schema.names, self.domain.lower, self.domain.upper)

    def __getitem__(self, name: str) -> Stage:
        """Return the stage of this name."""
        stages = {stage.name: stage for stage in self.stages}
        if name not in stages:
            raise KeyError(f"the plan has no stage {name!r}: it has {', '.join(map(repr, stages))}.")
        return stages[name]

    def __contains__(self, name: object) -> bool:
        """Say whether the plan has a stage of this name."""
        return any(stage.name == name for stage in self.stages)

    @property
    def events(self) -> tuple[ReleaseEvent, ...]:
        """What is reserved. Releases may be divided otherwise, but never cost more in all."""
        return tuple(event for stage in self.stages for event in self._reserved_for(stage))

    def checked(self, report: PrivacyReport) -> PrivacyReport:
        """Refuse the report of a fit by another plan; add what was reserved to a report that does not say."""
        events = report.events
        if self.settings.private_bounds:
            stage = self[BOUNDS]
            wanted = [stage.step(part) for part in _STEPS_OF_BOUNDS]
            of_bounds, events = events[: len(wanted)], events[len(wanted) :]
            steps = [event.step for event in of_bounds]
            if steps != wanted or not self._pays(self._reserved_for(stage), of_bounds):
                raise ModelFormatError("privacy.events do not begin with those of private bounds.")
        if not self._covers(events):
            raise ModelFormatError("privacy.events are not those of a fit with these parameters.")
        if report.reserved and not same_events(self.events, report.reserved):
            raise ModelFormatError("privacy.reserved is not what a fit with these parameters reserves.")
        return replace(report, reserved=report.reserved or self.events)

    def _covers(self, events: Sequence[ReleaseEvent]) -> bool:
        """Say whether these are releases of the stages, in order, that cost no more than was reserved.

        Those of a stage whose releases are known beforehand have to be these.
        """
        stages = [stage for stage in self.stages if stage.name != BOUNDS]
        order, of_events = [stage.name for stage in stages], [event.step.stage for event in events]
        if not events or not set(of_events) <= set(order) or of_events != sorted(of_events, key=order.index):
            return False
        for stage in stages:
            of_stage = [event for event in events if event.step.stage == stage.name]
            if stage.releases and not same_events(stage.releases, of_stage):
                return False
        return self._pays([event for stage in stages for event in self._reserved_for(stage)], events)

    def _pays(self, reserved: Sequence[ReleaseEvent], events: Sequence[ReleaseEvent]) -> bool:
        """Say whether releases protect what the budget does, and cost no more than was reserved."""
        neighboring = self.settings.budget.neighboring
        same = all(event.neighboring is neighboring for event in events)
        return same and Composition.of(reserved).covers(Composition.of(events))

    def _reserved_for(self, stage: Stage) -> tuple[ReleaseEvent, ...]:
        """Return what is reserved for a stage: its releases if they are known, else one event for all."""
        if stage.releases:
            return stage.releases
        budget = self.settings.budget
        return (
            release_event(
                step=stage.step(),
                cost=Fraction(stage.cost),
                noise=noise_of_sums(budget),
                neighboring=budget.neighboring,
                n_draws=stage.n_draws,
                smallest_scale=SMALLEST_SCALE,
            ),
        )
