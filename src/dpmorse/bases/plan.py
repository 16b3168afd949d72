"""Plans in stages: what each may spend is fixed beforehand, how it divides that is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

from dpmorse.bases import private_bounds as _private_bounds
from dpmorse.bases.settings import Settings
from dpmorse.privacy import (
    SMALLEST_SCALE,
    Composition,
    PrivacyReport,
    ReleaseEvent,
    noise_of_sums,
    release_event,
)
from dpmorse.statistics import Domain

AnySettings = TypeVar("AnySettings", bound=Settings)


@dataclass(frozen=True)
class Stage:
    """A part of the budget, and the most noise values that may be drawn for it."""

    share: float
    n_draws: int


@dataclass(frozen=True)
class Stages(Generic[AnySettings]):
    """What each stage may spend: rho, or epsilon where the promise is pure and the noise Laplace."""

    settings: AnySettings
    stages: Mapping[str, Stage]
    total: float
    bounds_cost: float

    @classmethod
    def of(cls, settings: AnySettings, stages: Mapping[str, Stage]) -> "Stages[AnySettings]":
        """Spread the budget over stages."""
        budget = settings.budget
        n_draws = sum(stage.n_draws for stage in stages.values())
        n_draws += _private_bounds.n_draws(settings.domain)
        total = noise_of_sums(budget).affordable(budget, settings.calibration, n_draws=n_draws)
        left, for_bounds = _private_bounds.divide(total, private=settings.private_bounds)
        return cls(settings, stages, left, for_bounds)

    def with_domain(self, domain: Domain) -> "Stages[AnySettings]":
        """Return this plan for bounds that were released."""
        return replace(self, settings=self.settings.with_domain(domain))

    @property
    def events(self) -> Sequence[ReleaseEvent]:
        """One event for each stage that spends anything."""
        return [
            release_event(
                name=name,
                cost=Fraction(self.cost_of(name)),
                noise=noise_of_sums(self.settings.budget),
                neighboring=self.settings.budget.neighboring,
                n_draws=stage.n_draws,
                smallest_scale=SMALLEST_SCALE,
            )
            for name, stage in self.stages.items()
            if stage.share > 0
        ]

    def cost_of(self, name: str) -> float:
        """Return what a stage may spend."""
        return self.stages[name].share * self.total

    def cover(self, report: PrivacyReport) -> bool:
        """Say whether releases, named after their stages, can be those of a fit by this plan."""
        stages, names = list(self.stages), [event.name.split(",")[0] for event in report.events]
        if not names or not set(names) <= set(stages):
            return False
        in_order = [stages.index(name) for name in names]
        spent, planned = Composition.of(report.events), Composition.of(self.events)
        return in_order == sorted(in_order) and planned.covers(spent)
