"""The default base: a mixture that is measured in stages, each in units found by the one before."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpmorse.bases.base import PrivateFit
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.bases.settings import Settings, parameter, true_or_false, whole
from dpmorse.bases.staged import components, coreset, hurdles, joint_histogram, outskirts, profile
from dpmorse.bases.staged.binned_em import fit_cells
from dpmorse.bases.staged.components import (
    in_units_of,
    measurable_n_components,
    release_components,
    start_at,
)
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.directions import FEW_COLUMNS, Directions, release_directions
from dpmorse.bases.staged.joint_histogram import HALVINGS, MOST_COLUMNS, count_cells
from dpmorse.bases.staged.outskirts import release_outskirts
from dpmorse.bases.staged.profile import Labelling
from dpmorse.bases.staged.units import OUTER, Units, release_units
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport, ReleaseEvent, refuse_pure
from dpmorse.profiles import Profile
from dpmorse.statistics import LARGEST_N_CELLS, N_BINS

_PROFILE = 0.10
"""Share of the budget for the profile: more widens the noise of the clusters, less that of their numbers."""

_DIRECTIONS = 0.2
"""Part of what coreset and components get that directions cost, where there are many columns."""

SOME_CLUSTERS = 6
"""Number of clusters that components are made for where none is given: two for each cluster and one, which is
13 in four columns or more, and with ``DPMorse`` at least this many (docs/default.md)."""


def default_n_components(n_features: int, n_clusters: int | None = None) -> int:
    """Return two components for each cluster and one; more in few columns, to follow curved shapes.

    In one or two columns counts of cells are released, which support more components than moments do. Above
    32 columns a component describes a cluster by itself; two are to spare (docs/default.md).
    """
    if n_features > FEW_COLUMNS and n_clusters is not None:
        return n_clusters + 2
    n_clusters = n_clusters or SOME_CLUSTERS
    if n_features <= MOST_COLUMNS:
        return max(math.ceil(1.5 * n_clusters), 24)
    return max(2 * n_clusters + 1, min(16, 48 // n_features))


def _n_components(name: str, value: Any, given: Mapping[str, Any]) -> int | None:
    """Check the largest number of components; by default it follows from the number of columns."""
    wanted = default_n_components(given["n_features"]) if value is None else value
    return whole(LARGEST_N_CELLS // 2)(name, wanted, given)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class StagedSettings(Settings):
    """Checked parameters of a ``PrivateGaussianMixture``."""

    n_components: int = parameter(_n_components, refused=(0, -1, 2.5, "three", LARGEST_N_CELLS, True))
    min_components: int = parameter(whole(), refused=(0, -1, 2.5, "two", None, True))
    profile: bool = parameter(true_or_false, refused=(0, 1, "yes", None))

    @property
    def n_triangles(self) -> int:
        """Covariances of mixture and partition, second moments and factors of the profile."""
        return 4 if self.profile else 1


RANGES, MOMENTS, OUTSKIRTS, HISTOGRAM, DIRECTIONS, CORESET, COMPONENTS, PROFILE = (
    "ranges of the columns",
    "moments of the columns",
    "outskirts",
    "joint histogram",
    "directions",
    "coreset",
    "components",
    "profile",
)
"""Names of the stages, in the order in which they are released."""


def _units(d: int, for_moments: float) -> list[Stage]:
    return [Stage(RANGES, 0.04, N_BINS * d), Stage(MOMENTS, for_moments, 1 + 2 * d)]


def _histogram(k: int, d: int, share: float) -> Stage:
    """Return the stage that finds the components in few columns."""
    return Stage(HISTOGRAM, share, joint_histogram.largest_n_cells(d, k), SumsOf.CELLS)


def _rounds(k: int, d: int, for_coreset: float, for_components: float) -> list[Stage]:
    """Return the stages that find the components in more columns; in many, directions come first.

    These cost a part of either share, which they get back where no directions are needed.
    """
    moments = 1 + d + d * (d + 1) // 2
    in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + d)
    in_components = components.N_ROUNDS[1] * k * moments
    part = _DIRECTIONS if d > FEW_COLUMNS else 0.0
    directions = Stage(DIRECTIONS, part * (for_coreset + for_components), moments)
    radius = components.radius_of_residuals(d)
    return [
        *([directions] if part else []),
        Stage(CORESET, (1 - part) * for_coreset, in_coreset),
        Stage(COMPONENTS, (1 - part) * for_components, in_components, SumsOf.RESIDUALS, radius),
    ]


def _undivided(plan: Plan[StagedSettings]) -> tuple[Stage, Stage]:
    """Return the stages of the rounds with what directions would have cost."""
    part = _DIRECTIONS if DIRECTIONS in plan else 0.0
    stages = (plan[CORESET], plan[COMPONENTS])
    first, second = (replace(stage, cost=stage.cost / (1 - part)) for stage in stages)
    return first, second


@dataclass(frozen=True)
class _Found:
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
        partition = in_units_of(self.units, kept)
        return partition, Labelling.of(partition, self.units.domain)


def _along_directions(
    queries: Queries, directions: Directions, plan: Plan[StagedSettings], rng: np.random.Generator
) -> _Found:
    """Find components along directions alone."""
    units, few, many = directions.whole, directions.units(directions.n_for_start), directions.units()
    stages = plan[CORESET], plan[COMPONENTS]
    k = _n_fitted(plan, measurable_n_components(queries, many, stages[1]))
    balls = release_coreset(queries, few, k, stages[0], rng)
    start = spread_centres(balls, few, k, rng, most=plan.settings.n_components)
    if start.units is not few:  # clusters lie apart: the ball of all columns has to hold them too
        units, many = units.widened(OUTER), many.widened(OUTER)
    return _Found(release_components(queries, many, directions.start(start), stages[1]), units, directions)


def _n_fitted(plan: Plan[StagedSettings], measurable: int) -> int:
    """Return how many components are fitted where so many can be measured."""
    return min(plan.settings.n_components, max(measurable, plan.settings.min_components))


@dataclass(eq=False, repr=False)
class PrivateGaussianMixture(PrivateFit):
    r"""Differentially private Gaussian mixture, the default base of ``DPMorse``.

    Stages, each in units that the one before has found, so that noise stays relative to what is measured:

    1. a histogram of each column finds where the records lie inside the bounds (4 % of the budget);
    2. their number, means and variances give units in which all columns matter (8 %);
    3. three rounds of Lloyd's algorithm draw a coarse picture, from which synthetic records are clustered
       to find a start (32 %); small groups far from all others get a component of their own;
    4. 2 to 10 rounds of soft expectation-maximisation measure each component in its own whitened
       coordinates; what differs from the last round by no more than noise is shrunk away (46 %);
    5. sizes, centres and spreads of the components, measured where no ball has cut their records: numbers
       that can be published (10 %, ``profile``).

    In one or two columns histograms of all columns at once take the place of 3 and 4: a coarse one finds how
    far out clusters lie (6 %), and the mixture is fitted to the counts of a fine one (72 %). In more than 32
    columns second moments of all records show the directions that these differ in (16 %), and 3 and 4 look
    along these only, unless the noise lets components be measured in all columns.

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of components. None takes 13, 16 in three columns, 24 in one or two. In three columns
        or more no more are fitted than the noise lets one measure, given the released number of records,
        and no fewer than ``min_components``. Components that the noise hides are left out of the mixture.
    min_components : int, default=1
        Components that are fitted, and kept even if the noise hides them, the heaviest first.
    profile : bool, default=True
        Whether to make stage 5. False gives its share to the others. There is no ``summary`` then, and in one
        or two columns no coarse histogram: far clusters are labelled, but shown too near.

    Notes
    -----
    **Privacy.** The unit is one row of X. Every release is a vector of exact integer sums plus discrete
    Gaussian noise: histograms (Theorem 6 of docs/privacy.md) and moments of cells (Theorem 5), of records
    or of residuals. Units, directions, cells and the number of rounds depend on released values only, and
    the total cost is known before data is touched (Theorems 3 and 4). Labels of training records are not
    private.

    Examples
    --------
    >>> from dpmorse import PrivateGaussianMixture, datasets
    >>> PrivateGaussianMixture(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).n_features_in_
    2
    """

    settings_type: ClassVar[type[Settings]] = StagedSettings

    n_components: int | None = None
    _: KW_ONLY
    min_components: int = 1
    profile: bool = True

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages for a number of columns; docs/default.md explains the choice of their shares."""
        refuse_pure(settings.budget)
        k, d = settings.n_components, settings.n_features
        if not settings.profile:
            structure = [_histogram(k, d, 0.86)] if d <= MOST_COLUMNS else _rounds(k, d, 0.34, 0.52)
            return [*_units(d, 0.10), *structure]
        last = Stage(PROFILE, _PROFILE, profile.n_draws(k, d))
        if d <= MOST_COLUMNS:
            coarse = Stage(OUTSKIRTS, 0.06, outskirts.largest_n_cells(d))
            return [*_units(d, 0.08), coarse, _histogram(k, d, 0.72), last]
        return [*_units(d, 0.08), *_rounds(k, d, 0.32, 0.46), last]

    def hurdles(
        self, plan: Plan[StagedSettings], events: Sequence[ReleaseEvent], n_records: int
    ) -> Sequence[Hurdle]:
        """Return the counts that the stages which find clusters compare with noise."""
        noises = hurdles.noise_by_stage(events)
        if HISTOGRAM in plan:
            event = next(event for event in events if event.step.stage == HISTOGRAM)
            found = hurdles.of_histogram(event, plan.settings.n_features)
        else:
            stages = (CORESET, COMPONENTS)
            found = hurdles.of_rounds(noises, stages, n_records, plan.settings.n_components)
        return [*found, *hurdles.of_profile(noises.get(PROFILE, []), found[-1])]

    def release(self, queries: Queries, plan: Plan[StagedSettings], rng: np.random.Generator) -> FitResult:
        """Release the units, then estimate the mixture in them."""
        settings = plan.settings
        box, piled = occupied_box(queries, plan.domain, plan[RANGES].step(), plan[RANGES].cost)
        units = release_units(queries, plan.domain, box, plan[MOMENTS])
        found = self._components(queries, units, plan, rng)
        partition, labelling = found.kept(at_least=min(settings.min_components, settings.n_components))
        ball, supported = found.units.domain, bool(found.estimates.supported.any())
        if PROFILE not in plan:
            return FitResult(partition, ball, supported)
        bounds = replace(plan.domain, radius=None)
        measured, mixture = profile.release_profile(
            queries, partition, labelling, plan[PROFILE], rng, ball=ball, box=bounds, piled=piled
        )
        return FitResult(mixture, ball, supported, partition, measured)

    @staticmethod
    def _components(
        queries: Queries, units: Units, plan: Plan[StagedSettings], rng: np.random.Generator
    ) -> _Found:
        """Use the joint histogram in one or two columns, else rounds, in many columns on directions only.

        The units are those given, with a larger ball where clusters lie far outside of it.
        """
        k = plan.settings.n_components
        if units.n_features <= MOST_COLUMNS:
            far = None
            if OUTSKIRTS in plan:
                units, far = release_outskirts(queries, units, plan[OUTSKIRTS])
            grid = count_cells(queries, units, plan[HISTOGRAM], HALVINGS, k)
            return _Found(fit_cells(grid.cells(k, far), units, k, rng), units)
        stages = _undivided(plan)
        measurable = measurable_n_components(queries, units, stages[1])
        if DIRECTIONS in plan and measurable < k:
            directions = release_directions(queries, units, k, plan[DIRECTIONS], plan[COMPONENTS])
            if directions.n_seen:
                return _along_directions(queries, directions, plan, rng)
            stages = plan[CORESET], plan[COMPONENTS]
        k = _n_fitted(plan, measurable)
        balls = release_coreset(queries, units, k, stages[0], rng)
        start = spread_centres(balls, units, k, rng, most=plan.settings.n_components)
        first = start_at(start.means, start.variance)
        return _Found(release_components(queries, start.units, first, stages[1]), start.units)

    def check_restored(self, plan: Plan[StagedSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse a mixture with too many components, a domain that is no ball, a profile of another fit."""
        if result.mixture.n_components > plan.settings.n_components:
            raise ModelFormatError("the mixture has more than n_components components.")
        if result.domain.radius is None:
            raise ModelFormatError("the domain must have a radius.")
        if (result.profile is not None) != plan.settings.profile:
            raise ModelFormatError("there must be a profile, unless the parameter profile is false.")
        if result.profile is None:
            return
        if not isinstance(result.profile, Profile):
            raise ModelFormatError("the profile must be one of numbers.")
        bounds = (result.profile.lower, result.profile.upper)
        wanted = np.array([plan.domain.lower, plan.domain.upper])
        if not plan.settings.private_bounds and np.any(bounds != wanted):
            raise ModelFormatError("the profile is not one inside the bounds.")
        events = [event for event in report.events if event.step.stage == PROFILE]
        if not profile.has_noise_of(result.profile, events):
            raise ModelFormatError("the profile does not state the noise of its releases.")
