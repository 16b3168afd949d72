"""The default base: a mixture that is measured in stages, each in units found by the one before."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from dpmorse.bases.base import PrivateFit
from dpmorse.bases.hurdles import NOISY, Hurdle
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.residuals import SUPPORT
from dpmorse.bases.settings import Settings
from dpmorse.bases.staged import hurdles
from dpmorse.bases.staged.of_numbers import InPlane, InRounds
from dpmorse.bases.staged.of_tables import InPlaneWithMissing, InRoundsWithMissing, OfProducts
from dpmorse.bases.staged.profile import noise_of_a_size
from dpmorse.bases.staged.regime import Regime
from dpmorse.bases.staged.shares import COMPONENTS, CORESET, HISTOGRAM, PROFILE
from dpmorse.bases.staged.staged_settings import MOST_COLUMNS, StagedSettings, has_products
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import PrivacyReport, ReleaseEvent, refuse_pure


def regime_of(settings: StagedSettings) -> Regime:
    """Return how components are found in such columns."""
    if has_products(settings.schema):
        return OfProducts()
    few = settings.n_features <= MOST_COLUMNS
    if settings.schema.layout.only_numbers:
        return InPlane() if few else InRounds()
    return InPlaneWithMissing() if few else InRoundsWithMissing()


@dataclass(eq=False, repr=False)
class PrivateGaussianMixture(PrivateFit):
    r"""Differentially private mixture of Gaussians, the default base of ``DPMorse``.

    Stages, each in units that the one before has found, so that noise stays relative to what is measured.
    ``plan`` says what each costs; docs/default.md explains the choice:

    1. a histogram of each column finds where the records lie inside the bounds;
    2. their number, means and variances give units in which all columns matter;
    3. three rounds of Lloyd's algorithm draw a coarse picture, from which synthetic records are clustered
       to find a start; small groups far from all others get a component of their own;
    4. 2 to 10 rounds of soft expectation-maximisation measure each component in its own whitened
       coordinates; what differs from the last round by no more than noise is shrunk away;
    5. sizes of the components, and counts in bins of every column, where no ball has cut their records:
       numbers that can be published (``profile``).

    In one or two columns histograms of all columns at once take the place of 3 and 4: a coarse one finds how
    far out clusters lie, and the mixture is fitted to the counts of a fine one. In more than 32 columns
    second moments of all records show the directions that these differ in, and 3 and 4 look along these only,
    unless the noise lets components be measured in all columns.

    ``columns`` that are numbers are treated alike. Where some may be missing, missing values are counted
    first; a record that has one of two numbers is counted along that number, and in more columns a missing
    number adds nothing to a round.

    With categories, a component is a Gaussian of the numbers times an independent distribution of each
    category. Records with each level and missing value are counted first, 3 looks along the directions in
    which columns go together, and 4 also counts levels and missing values of each component.

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of components. None takes 13, 16 in three columns, 24 in one or two; 13 for a table
        with categories. In three columns or more no more are fitted than the noise lets one measure, given
        the released number of records, and no fewer than ``min_components``. Components that the noise hides
        are left out of the mixture.
    min_components : int, default=1
        Components that are fitted, and kept even if the noise hides them, the heaviest first.
    profile : bool, default=True
        Whether to make stage 5. False gives its share to the others. There is no ``summary`` then, and in one
        or two columns no coarse histogram: far clusters are labelled, but shown too near.

    Notes
    -----
    **Privacy.** The unit is one row of X. Every release is a vector of exact integer sums plus discrete
    Gaussian noise: histograms (Theorem 6 of docs/privacy.md) and moments of cells (Theorem 5), of records
    or of residuals, and counts of levels and missing values (section 5). A record is encoded by public values
    alone. Units, directions, cells and the number of rounds depend on released values only, and the total
    cost is known before data is touched (Theorems 3 and 4). Labels of training records are not private.

    Examples
    --------
    >>> from dpmorse import PrivateGaussianMixture, datasets
    >>> PrivateGaussianMixture(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).n_features_in_
    2
    >>> from dpmorse import Nominal, Numeric
    >>> columns = {"age": Numeric(0, 120, missing="ignore"), "ward": Nominal(["north", "south"])}
    >>> model = PrivateGaussianMixture(3, columns=columns, epsilon=1.0)
    """

    settings_type: ClassVar[type[Settings]] = StagedSettings

    n_components: int | None = None
    _: KW_ONLY
    min_components: int = 1
    profile: bool = True

    def stages(self, settings: StagedSettings) -> Sequence[Stage]:
        """Return the stages for such columns; ``staged/shares.py`` has what each gets."""
        refuse_pure(settings.budget)
        return regime_of(settings).stages(settings)

    def hurdles(
        self, plan: Plan[StagedSettings], events: Sequence[ReleaseEvent], n_records: int
    ) -> Sequence[Hurdle]:
        """Return the counts that the stages which find clusters compare with noise."""
        noises, settings = hurdles.noise_by_stage(events), plan.settings
        if HISTOGRAM in plan:
            event = next(event for event in events if event.step.stage == HISTOGRAM)
            found = hurdles.of_histogram(event, settings.n_features)
        else:
            found = hurdles.of_coreset(noises[CORESET], n_records, settings.n_components)
            # A component that is not supported does not move to its records.
            found += [Hurdle.times(noise, SUPPORT) for noise in noises[COMPONENTS]]
        if PROFILE in noises:
            # The weight that was found has to be large beside the noise of a size: clusters of less are taken
            # for noise where the number of clusters is chosen.
            found.append(Hurdle(NOISY * self.noise_of_a_count(plan, events), found[-1].stddev))
        return found

    def noise_of_a_count(self, plan: Plan[StagedSettings], events: Sequence[ReleaseEvent]) -> float:
        """Return the noise of a component's size, which the profile has measured in many ways."""
        last = events[-1]
        if last.step.stage != PROFILE:
            return super().noise_of_a_count(plan, events)
        return noise_of_a_size(last, plan.settings.schema)

    def release(self, queries: Queries, plan: Plan[StagedSettings], rng: np.random.Generator) -> FitResult:
        """Make the releases of the regime."""
        return regime_of(plan.settings).release(queries, plan, rng)

    def check_restored(self, plan: Plan[StagedSettings], result: FitResult, report: PrivacyReport) -> None:
        """Refuse too many components, a profile that should not be there, and what the regime refuses.

        Files of older versions have profiles that are not read.
        """
        if result.mixture.n_components > plan.settings.n_components:
            raise ModelFormatError("the mixture has more than n_components components.")
        if result.profile is not None and not plan.settings.profile:
            raise ModelFormatError("there must be no profile where the parameter profile is false.")
        regime_of(plan.settings).check_restored(plan, result, report)


PrivateTableMixture = PrivateGaussianMixture
"""The name that it had for tables with stated columns."""
