"""The base for tables with categories and holes: a mixture of products, measured in stages."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpmorse import _validate
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.hurdles import Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage, SumsOf
from dpmorse.bases.queries import Queries
from dpmorse.bases.settings import Settings, parameter, true_or_false, whole
from dpmorse.bases.staged import components, coreset, hurdles
from dpmorse.bases.staged.associations import MOST_DIRECTIONS, release_table_directions
from dpmorse.bases.staged.components import start_at
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.histogram_with_missing import (
    HISTOGRAM,
    OUTSKIRTS,
    largest_n_cells,
    release_histograms,
)
from dpmorse.bases.staged.levels import LEVELS, MOMENTS, RANGES, TableUnits, release_table_units
from dpmorse.bases.staged.product_profile import has_noise_of, n_draws, release_table_profile
from dpmorse.bases.staged.products import Products, measurable_n_components, release_products, start_from
from dpmorse.bases.staged.units import Gaps
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError, ModelFormatError
from dpmorse.privacy import PrivacyReport, ReleaseEvent, refuse_pure
from dpmorse.profiles import AnyProfile, TableProfile
from dpmorse.schema import Ordinal, Schema
from dpmorse.statistics import LARGEST_N_CELLS, N_BINS, Domain
from dpmorse.typing import BoolArray

DIRECTIONS, CORESET, COMPONENTS, PROFILE = "directions", "coreset", "components", "profile"
"""Names of the stages after those of units, in the order in which they are released."""

_PROFILE = 0.10
"""Share of the budget for the profile; the others share the rest."""

_SOME_COMPONENTS = 13
"""Components where no number is given: two for each of six clusters, and one."""


def _n_components(name: str, value: Any, given: Mapping[str, Any]) -> int | None:
    wanted = _SOME_COMPONENTS if value is None else value
    return whole(LARGEST_N_CELLS // 2)(name, wanted, given)  # type: ignore[no-any-return]


def _no_bounds(_: str, value: Any, __: Mapping[str, Any]) -> None:
    if value is not None:
        raise InvalidParameterError(
            f"bounds must be None where columns are given, got {_validate.describe(value)}: "
            "Numeric(lower, upper) states those of a column."
        )


def _columns(_: str, value: Any, given: Mapping[str, Any]) -> Schema:
    schema = Schema.of(value)
    if len(schema.names) != given["n_features"]:
        raise InvalidParameterError(
            f"columns must name every column of X: it names {len(schema.names)}, X has {given['n_features']}."
        )
    return schema


@dataclass(frozen=True, kw_only=True)
class TableSettings(Settings):
    """Checked parameters of a ``PrivateTableMixture``."""

    n_components: int = parameter(_n_components, refused=(0, -1, 2.5, "three", LARGEST_N_CELLS, True))
    bounds: None = parameter(_no_bounds, refused=((0, 1), "private"))
    columns: Schema = parameter(
        _columns,
        refused=(None, {}, {"age": (0, 120)}, "age"),
        to_plain=lambda schema: schema.to_plain(),
        from_plain=Schema.from_plain,
    )
    min_components: int = parameter(whole(), refused=(0, -1, 2.5, "two", None, True))
    profile: bool = parameter(true_or_false, refused=(0, 1, "yes", None))

    @property
    def n_triangles(self) -> int:
        """Covariances of the mixture, second moments and factors of the profile."""
        return 3 if self.profile else 1

    @cached_property
    def domain(self) -> Domain:
        """The public box of encoded records."""
        layout = self.columns.layout
        return encoded_domain(layout, np.array(layout.lower), np.array(layout.upper))


@dataclass(eq=False, repr=False)
class PrivateTableMixture(PrivateFit):
    r"""Differentially private mixture for tables with numbers, categories, dates and holes.

    Each component is a Gaussian over the numbers times an independent distribution for each category. Stages:

    1. how many records have each level, and how many values of each number are missing (4 % of the budget);
    2. a histogram of each number, then means and variances, give units (8 %);
    3. second moments of all columns show the directions in which records differ (20 %);
    4. three rounds of Lloyd's algorithm along these directions find a start (32 %);
    5. 2 to 10 rounds of soft expectation-maximisation measure counts, moments of the numbers in each
       component's own coordinates, and levels (36 %).

    Without numbers, 2 goes to 1. With ``profile`` all of these are nine tenths of what they say, and a last
    stage measures the records of each component once more, for numbers that can be published (10 %).

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of components. None takes 13. No more are fitted than the noise lets one measure, and
        no fewer than ``min_components``.
    columns : dict
        What each column is: ``Numeric(lower, upper)``, ``Ordinal(values)``, ``Nominal(values)``,
        ``Boolean()`` or ``Date(earliest, latest)``. Bounds and lists of values are public: never read off the
        data. Values that are not listed become "other", record by record.
    min_components : int, default=1
        Components that are fitted, and kept even if the noise hides them, the heaviest first.
    profile : bool, default=True
        Whether to spend 10 % of the budget on sizes, centres, spreads, levels and missing values that can be
        published: ``summary`` (docs/numbers.md). False leaves more for the components.

    Attributes
    ----------
    schema_ : Schema
        The checked columns.
    landscape_ : GaussianMixture
        Moments of the components in the directions that tell them apart: what the Morse step looks at.

    Notes
    -----
    **Privacy.** The unit is one row of X. Every release is a vector of exact integer sums plus discrete
    Gaussian noise: Theorems 5 and 6 of docs/privacy.md, and what its section 5 proves of levels and holes. A
    record is encoded by public values alone. Labels of training records are not private.

    Examples
    --------
    >>> from dpmorse import Nominal, Numeric, PrivateTableMixture
    >>> columns = {"age": Numeric(0, 120, missing="ignore"), "ward": Nominal(["north", "south"])}
    >>> model = PrivateTableMixture(3, columns=columns, epsilon=1.0)
    """

    settings_type: ClassVar[type[Settings]] = TableSettings

    n_components: int | None = None
    _: KW_ONLY
    columns: Any = None
    min_components: int = 1
    profile: bool = True

    @property
    def schema(self) -> Schema:
        """The columns as they will be read."""
        return Schema.of(self.columns)

    @property
    def schema_(self) -> Schema:
        """The columns of the fit."""
        columns: Schema = self.plan_.settings.columns
        return columns

    @cached_property
    def landscape_(self) -> GaussianMixture:
        """What the Morse step looks at, of released values alone."""
        m = self.mixture_
        if not m.layout.n_categories:
            return GaussianMixture(m.weights, m.means, m.covariances)
        scale, marginals = self.mixture_.units
        shadow: GaussianMixture = self.mixture_.shadow(scale, marginals)
        return shadow

    def n_columns_of(self, result: FitResult) -> int:
        """Return the number of columns that are stated."""
        return len(self.schema.names)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names of a file that are not those of the columns that it describes."""
        if tuple(names) != tuple(self.schema.names):
            raise ModelFormatError("feature_names must be those of the columns that parameters describe.")

    def stages(self, settings: TableSettings) -> Sequence[Stage]:
        """Return the stages for the columns of a table."""
        refuse_pure(settings.budget)
        layout, k = settings.columns.layout, settings.n_components
        d, n_counted = layout.n_numbers, layout.n_holes + layout.n_all_levels
        if not layout.n_categories and d <= 2:
            stages = [
                Stage(LEVELS, 0.03, 1 + n_counted),
                Stage(RANGES, 0.04, N_BINS * d),
                Stage(MOMENTS, 0.05, 1 + 2 * d),
            ]
            if settings.profile:
                stages += [Stage(OUTSKIRTS, 0.06, largest_n_cells(layout, 6))]
            share = 1 - sum(s.cost for s in stages) - _PROFILE * settings.profile
            stages += [Stage(HISTOGRAM, share, largest_n_cells(layout, 7, k), SumsOf.CELLS)]
            if settings.profile:
                stages += [Stage(PROFILE, _PROFILE, n_draws(k, layout))]
            return stages
        in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + MOST_DIRECTIONS)
        in_components = components.N_ROUNDS[1] * k * (_moments(d) + n_counted)
        reach = components.radius_of_residuals(d)
        if not layout.n_categories and d <= 32:
            in_coreset = coreset.N_ROUNDS * coreset.largest_n_cells(k) * (2 + d + layout.n_holes)
            a, b = (0.32, 0.46) if settings.profile else (0.36, 0.52)
            stages = [
                Stage(LEVELS, 0.03, 1 + n_counted),
                Stage(RANGES, 0.04, N_BINS * d),
                Stage(MOMENTS, 0.05, 1 + 2 * d),
                Stage(CORESET, a, in_coreset),
                Stage(COMPONENTS, b, in_components, SumsOf.RESIDUALS, reach),
            ]
            return stages + [Stage(PROFILE, _PROFILE, n_draws(k, layout))] * settings.profile
        for_levels = 0.04 if d else 0.12
        units = [Stage(RANGES, 0.04, N_BINS * d), Stage(MOMENTS, 0.04, 1 + 2 * d)] if d else []
        reach = components.radius_of_residuals(d)
        stages = [
            Stage(LEVELS, for_levels, 1 + n_counted),
            *units,
            Stage(DIRECTIONS, 0.20, _moments(d + layout.n_all_levels)),
            Stage(CORESET, 0.32, in_coreset),
            Stage(COMPONENTS, 0.36, in_components, SumsOf.RESIDUALS, reach),
        ]
        if not settings.profile:
            return stages
        rest = [replace(stage, cost=(1 - _PROFILE) * stage.cost) for stage in stages]
        return [*rest, Stage(PROFILE, _PROFILE, n_draws(k, layout))]

    def hurdles(
        self, plan: Plan[TableSettings], events: Sequence[ReleaseEvent], n_records: int
    ) -> Sequence[Hurdle]:
        """Return the counts that the stages which find clusters compare with noise."""
        if HISTOGRAM in plan:
            noises = hurdles.noise_by_stage(events)
            event = next(event for event in events if event.step.stage == HISTOGRAM)
            found = hurdles.of_histogram(event, plan.settings.columns.layout.n_numbers)
            return [*found, *hurdles.of_profile(noises.get(PROFILE, []), found[-1])]
        noises, stages = hurdles.noise_by_stage(events), (CORESET, COMPONENTS)
        found = hurdles.of_rounds(noises, stages, n_records, plan.settings.n_components)
        return [*found, *hurdles.of_profile(noises.get(PROFILE, []), found[-1])]

    def release(self, queries: Queries, plan: Plan[TableSettings], rng: np.random.Generator) -> FitResult:
        """Release units, directions and a start along them, then the components."""
        settings = plan.settings
        table = release_table_units(queries, settings.columns.layout, plan)
        if HISTOGRAM in plan:
            table, estimates = release_histograms(queries, table, settings.n_components, plan, rng)
            products = Products(estimates, np.zeros((len(estimates.means), 0)))
            return self._described(queries, table, products, plan, rng)
        if DIRECTIONS not in plan:
            table = replace(table, numbers=replace(table.numbers, gaps=Gaps(table.layout, table.observed)))
            measurable = measurable_n_components(queries, table, plan[COMPONENTS])
            k = min(settings.n_components, max(measurable, settings.min_components))
            balls = release_coreset(queries, table.numbers, k, plan[CORESET], rng)
            start = spread_centres(balls, table.numbers, k, rng, most=settings.n_components)
            table = replace(table, numbers=start.units)
            gaussians = start_at(start.means, start.variance)
            products = Products(gaussians, np.zeros((len(start.means), 0)))
            found = release_products(queries, table, products, plan[COMPONENTS])
            return self._described(queries, table, found, plan, rng)
        directions = release_table_directions(queries, table, plan[DIRECTIONS])
        measurable = measurable_n_components(queries, table, plan[COMPONENTS])
        k = min(settings.n_components, max(measurable, settings.min_components))
        balls = release_coreset(queries, directions.units, k, plan[CORESET], rng)
        start = spread_centres(balls, directions.units, k, rng)
        products = start_from(directions.decode(start.means), table)
        found = release_products(queries, table, products, plan[COMPONENTS])
        return self._described(queries, table, found, plan, rng)

    @staticmethod
    def _described(
        queries: Queries,
        table: TableUnits,
        found: Products,
        plan: Plan[TableSettings],
        rng: np.random.Generator,
    ) -> FitResult:
        """Return the components that noise does not hide, with their profile if it is paid for."""
        settings = plan.settings
        kept = found.kept(at_least=min(settings.min_components, settings.n_components))
        result = FitResult(kept.mixture(table), table.domain, bool(found.gaussians.supported.any()))
        if PROFILE not in plan:
            return result
        piled = _cut_by_bounds(table, settings.columns)
        return replace(
            result, profile=release_table_profile(queries, kept, table, plan[PROFILE], rng, piled=piled)
        )

    @classmethod
    def restore(
        cls, parameters: dict[str, Any], result: FitResult, report: PrivacyReport
    ) -> tuple[Self, Settings, PrivacyReport]:
        """Rebuild an estimator; the first files did not say that there was no profile."""
        return super().restore({"profile": False, **parameters}, result, report)

    def check_restored(self, plan: Plan[TableSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse a mixture of other columns or with too many components, and a profile of another fit."""
        if result.mixture.n_components > plan.settings.n_components:
            raise ModelFormatError("the mixture has more than n_components components.")
        if getattr(result.mixture, "layout", None) != plan.settings.columns.layout:
            raise ModelFormatError("the mixture is not one of the columns.")
        if (result.profile is not None) != plan.settings.profile:
            raise ModelFormatError("there must be a profile, unless the parameter profile is false.")
        if result.profile is not None:
            _check_profile(result.profile, plan.settings.columns, report)


def _check_profile(profile: AnyProfile, columns: Schema, report: PrivacyReport) -> None:
    if not isinstance(profile, TableProfile) or profile.levels.layout != columns.layout:
        raise ModelFormatError("the profile is not one of the columns.")
    numbers, bounds = profile.numbers, np.array([columns.layout.lower, columns.layout.upper])
    if numbers is not None and np.any(bounds != (numbers.lower, numbers.upper)):
        raise ModelFormatError("the profile is not one inside the bounds.")
    if not has_noise_of(profile, [event for event in report.events if event.step.stage == PROFILE]):
        raise ModelFormatError("the profile does not state the noise of its releases.")


def _cut_by_bounds(table: TableUnits, columns: Schema) -> BoolArray:
    """Say which numbers pile up at bounds that may cut them: ranks have no values beyond theirs."""
    has_more = np.array([not isinstance(column, Ordinal) for _, column in columns.numbers], dtype=np.bool_)
    return np.asarray(table.piled & has_more[:, None])


def _moments(n_columns: int) -> int:
    """Return how many counts, sums and products one cell has."""
    return 1 + n_columns + n_columns * (n_columns + 1) // 2
