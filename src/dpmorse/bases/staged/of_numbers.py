"""Components of columns of numbers: from joint histograms in one or two columns, else from rounds."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.bases.staged import shares
from dpmorse.bases.staged.components import (
    RoundsOfGaussians,
    measurable_n_components,
    release_components,
    start_at,
)
from dpmorse.bases.staged.coreset import release_start
from dpmorse.bases.staged.directions import Directions, release_directions
from dpmorse.bases.staged.joint_histogram import count_cells
from dpmorse.bases.staged.mending import mended
from dpmorse.bases.staged.outskirts import release_histograms
from dpmorse.bases.staged.profile import Known, Labelling, has_noise_of, release_profile
from dpmorse.bases.staged.regime import Regime, StagedPlan, n_fitted, profile_events
from dpmorse.bases.staged.shares import COMPONENTS, CORESET, DIRECTIONS, MOMENTS, PROFILE, RANGES, Shares
from dpmorse.bases.staged.staged_settings import FEW_COLUMNS, StagedSettings
from dpmorse.bases.staged.units import OUTER, Units, release_units
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport


@dataclass(frozen=True)
class Found:
    """Components, and what their parameters are in units of."""

    estimates: Estimates
    units: Units
    """Units of all columns, with the ball that records are clipped to."""

    directions: Directions | None = None
    """Where there are many columns, what the components were measured in."""

    def kept(self, at_least: int) -> tuple[GaussianMixture, Labelling]:
        """Return the components that noise does not hide, in the caller's units, and how they label."""
        kept = self.estimates.kept(at_least)
        if self.directions is not None:
            return self.directions.lift(kept), self.directions.labelling(kept, self.units)
        domain, radius = self.units.domain, self.units.radius
        scaled = GaussianMixture(kept.weights, kept.means / radius, kept.covariances / radius**2)
        partition = scaled.affine(domain.unit, domain.centre)
        return partition, Labelling.of(partition, domain)


class _OfNumbers(Regime):
    """Units first, a profile last; how components are found in between is said by subclasses."""

    def release(self, queries: Queries, plan: StagedPlan, rng: np.random.Generator) -> FitResult:
        """Release the units, then estimate the mixture in them, then what its records look like."""
        bounds, stage, schema = plan.domain, plan[RANGES], plan.schema
        box, outside = occupied_box(queries, schema.layout, stage.step(), stage.cost)
        units = release_units(queries, bounds, box, plan[MOMENTS])
        found = self._find(queries, units, plan, rng)
        partition, labelling = found.kept(at_least=plan.settings.min_components)
        ball, supported = found.units.domain, bool(found.estimates.supported.any())
        if PROFILE not in plan:
            return FitResult(partition, ball, supported)
        known = Known(found.units.n_records, outside, np.zeros(bounds.n_features))
        profile = release_profile(
            queries, partition, labelling, plan[PROFILE], rng, ball=ball, schema=schema, known=known
        )
        return FitResult(mended(partition, profile), ball, supported, partition, profile)

    @abstractmethod
    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        """Find components; their units have a larger ball where clusters lie far outside of the first."""

    def check_restored(self, plan: StagedPlan, result: FitResult, report: PrivacyReport) -> None:
        """Refuse a domain that is no ball, and a profile of another fit."""
        if result.domain.radius is None:
            raise ModelFormatError("the domain must have a radius.")
        if result.profile is None:
            return
        if not isinstance(result.mixture, GaussianMixture):
            raise ModelFormatError("the profile must be one of numbers.")
        bounds = (result.profile.lower, result.profile.upper)
        wanted = np.array([plan.domain.lower, plan.domain.upper])
        if not plan.settings.private_bounds and np.any(bounds != wanted):
            raise ModelFormatError("the profile is not one inside the bounds.")
        if not has_noise_of(result.profile, profile_events(report)):
            raise ModelFormatError("the profile does not state the noise of its releases.")


class InPlane(_OfNumbers):
    """One or two columns: the counts of a grid, to which the mixture is fitted."""

    def _shares(self, settings: StagedSettings) -> Shares:
        return shares.PLANE if settings.profile else shares.PLANE_WITHOUT_PROFILE

    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        units, estimates = release_histograms(queries, units, plan, rng, partial(count_cells, queries))
        return Found(estimates, units)


class InRounds(_OfNumbers):
    """More columns: a coreset for the start, then rounds; in many columns along directions only."""

    def _shares(self, settings: StagedSettings) -> Shares:
        """Return the shares; in many columns directions have a part of the two stages after them."""
        split = shares.ROUNDS if settings.profile else shares.ROUNDS_WITHOUT_PROFILE
        return split.with_directions() if settings.n_features > FEW_COLUMNS else split

    def _find(self, queries: Queries, units: Units, plan: StagedPlan, rng: np.random.Generator) -> Found:
        settings, stages = plan.settings, [plan[CORESET], plan[COMPONENTS]]
        if DIRECTIONS in plan:  # whose share is theirs where no directions are needed
            stages = [replace(stage, cost=shares.undivided(stage.cost)) for stage in stages]
        measurable = measurable_n_components(queries, RoundsOfGaussians(units), stages[1])
        if DIRECTIONS in plan and measurable < settings.n_components:
            directions = release_directions(
                queries, units, settings.n_components, plan[DIRECTIONS], plan[COMPONENTS]
            )
            if directions.n_seen:
                return _along_directions(queries, directions, plan, rng)
            stages = [plan[CORESET], plan[COMPONENTS]]
        k = n_fitted(settings, measurable)
        start = release_start(queries, units, k, stages[0], rng, most=settings.n_components)
        first, rounds = start_at(start.means, start.variance), RoundsOfGaussians(start.units)
        return Found(release_components(queries, rounds, first, stages[1]), start.units)


def _along_directions(
    queries: Queries, directions: Directions, plan: StagedPlan, rng: np.random.Generator
) -> Found:
    """Find components along directions alone."""
    units, few, many = directions.whole, directions.units(directions.n_for_start), directions.units()
    measurable = measurable_n_components(queries, RoundsOfGaussians(many), plan[COMPONENTS])
    k = n_fitted(plan.settings, measurable)
    start = release_start(queries, few, k, plan[CORESET], rng, most=plan.settings.n_components)
    if start.units is not few:  # clusters lie apart: the ball of all columns has to hold them too
        units, many = units.widened(OUTER), many.widened(OUTER)
    first, rounds = directions.start(start), RoundsOfGaussians(many)
    return Found(release_components(queries, rounds, first, plan[COMPONENTS]), units, directions)
