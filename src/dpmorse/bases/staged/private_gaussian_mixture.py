"""The default base: a mixture that is measured in stages, each in units found by the one before."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.bases.base import FitResult, PrivateFit
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.plan import Stage, Stages
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import occupied_box
from dpmorse.bases.settings import Settings, common_values
from dpmorse.bases.staged import components as _components
from dpmorse.bases.staged import coreset as _coreset
from dpmorse.bases.staged import joint_histogram as _joint_histogram
from dpmorse.bases.staged.binned_em import fit_cells
from dpmorse.bases.staged.components import (
    in_units_of,
    measurable_n_components,
    release_components,
    start_at,
)
from dpmorse.bases.staged.coreset import release_coreset, spread_centres
from dpmorse.bases.staged.joint_histogram import release_cells
from dpmorse.bases.staged.units import Units, release_units
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy import DEFAULT_DELTA, Ledger, PrivacyReport, refuse_pure
from dpmorse.statistics import LARGEST_N_CELLS, N_BINS, Domain

_SOME_CLUSTERS = 6  # where nobody says how many there are


def default_n_components(n_features: int, n_clusters: int = _SOME_CLUSTERS) -> int:
    """Return two components for each cluster and one, and in few columns enough to follow curved shapes.

    Counts of cells, in one or two columns, carry more components than moments do.
    """
    if n_features <= _joint_histogram.MOST_COLUMNS:
        return max(math.ceil(1.5 * n_clusters), 24)
    return max(2 * n_clusters + 1, min(16, 48 // n_features))


@dataclass(frozen=True, kw_only=True)
class StageSettings(Settings):
    """Checked parameters of a ``PrivateGaussianMixture``."""

    min_components: int

    @classmethod
    def of(cls, estimator: Any, n_features: int) -> "StageSettings":
        """Read and check an estimator's parameters, for a table with ``n_features`` columns."""
        n_components = estimator.n_components
        if n_components is None:
            n_components = default_n_components(n_features)
        common = common_values(
            estimator, n_features, n_components=n_components, most_components=LARGEST_N_CELLS // 2
        )
        least = _validate.positive_int(min_components=estimator.min_components)
        return cls(**common, min_components=least)

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        return {**self.common_to_dict(), "min_components": self.min_components}


def stages_of(settings: StageSettings) -> dict[str, Stage]:
    """Return what each stage may spend, and the most noise values it may draw."""
    k, d = settings.n_components, settings.domain.n_features
    units = {
        "ranges of the columns": Stage(0.04, N_BINS * d),
        "moments of the columns": Stage(0.10, 1 + 2 * d),
    }
    if d <= _joint_histogram.MOST_COLUMNS:
        return {**units, "joint histogram": Stage(0.86, _joint_histogram.largest_n_cells(d, k))}
    return {
        **units,
        "coreset": Stage(0.34, _coreset.N_ROUNDS * _coreset.largest_n_cells(k) * (2 + d)),
        "components": Stage(0.52, _components.N_ROUNDS[1] * k * (1 + d + d * (d + 1) // 2)),
    }


class PrivateGaussianMixture(PrivateFit):
    r"""Differentially private Gaussian mixture, the default base of ``DPMorse``.

    Stages, each in units that the one before has found, so that noise stays relative to what is measured:

    1. a histogram of each column finds where the records lie inside the bounds (4 % of the budget);
    2. their number, means and variances give units in which all columns matter (10 %);
    3. three rounds of Lloyd's algorithm draw a coarse picture, from which synthetic records are clustered
       to find a start (34 %);
    4. 2 to 10 rounds of soft expectation-maximisation measure each component in its own whitened
       coordinates; what differs from the last round by no more than noise is shrunk away (52 %).

    In one or two columns a histogram of all columns at once takes the place of 3 and 4 (86 %); the mixture is
    fitted to its counts.

    Parameters
    ----------
    n_components : int or None, default=None
        Largest number of components. None takes 13, 16 in three columns, 24 in one or two. In three columns
        or more no more are fitted than the noise lets one measure, given the released number of records,
        and no fewer than ``min_components``. Components that the noise hides are left out of the mixture.
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in (0, 1). Public; it never depends on the data.
    bounds : pair (lower, upper) or "private"
        Public bounds of the columns, scalars or one value per column, in the units of X. Values outside
        are clipped. They may be generous: ten times too wide costs little. Never read from the data, but for
        "private", which spends 5 % of the budget on finding them.
    neighboring : {"add-remove", "replace-one"}, default="add-remove"
        Whose presence or value is protected; under "replace-one" the number of records is public.
    max_rows_per_group : int or None, default=None
        None protects one record. A number protects all records of one group, such as a person, who are told
        apart by ``fit(X, groups=...)``; of each group at most so many records are used. Which ones depends
        on that group's records alone, not on their order.
    min_components : int, default=1
        Components that are fitted, and kept even if the noise hides them, the heaviest first.
    calibration : {"gaussian", "zcdp"}, default="gaussian"
        Which proof sets the noise, see ``Calibration``.
    noise : {"native", "opendp"}, default="native"
        Sampler of the noise; "opendp" needs the extra ``dpmorse[opendp]``.
    engine : Engine or None, default=None
        How sums are computed; changes speed and memory only.
    ledger : Ledger or None, default=None
        A ledger shared by several fits, with a total budget none of them may exceed.
    random_state : int, RandomState, Generator or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible and the model
        **not secure**, which its privacy report says.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture, in the units of X.
    domain_ : Domain
        The released ball in which records are clipped, in the units of X.
    privacy_ : PrivacyReport
        epsilon, delta, relation, rho, events (the ledger), statement, secure.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.

    Notes
    -----
    **Privacy.** The unit is one row of X. Every release is a vector of exact integer sums plus discrete
    Gaussian noise: histograms (Theorem 6 of docs/privacy.md) and moments of cells (Theorem 5), of records
    or of residuals. Units, cells and the number of rounds depend on released values only; the stages'
    shares are fixed, so the total is known before data is touched (Theorems 3 and 4). Labels of training
    records are not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import PrivateGaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.mixture_.n_features
    2
    >>> print(f"{model.privacy_.epsilon:.4f}, secure: {model.privacy_.secure}")
    1.0000, secure: False
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: float | None = None,
        delta: float = DEFAULT_DELTA,
        bounds: Any = None,
        neighboring: str = "add-remove",
        max_rows_per_group: int | None = None,
        min_components: int = 1,
        calibration: str = "gaussian",
        noise: str = "native",
        engine: Engine | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.neighboring = neighboring
        self.max_rows_per_group = max_rows_per_group
        self.min_components = min_components
        self.calibration = calibration
        self.noise = noise
        self.engine = engine
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, n_features: int) -> Stages[StageSettings]:
        settings = StageSettings.of(self, n_features)
        refuse_pure(settings.budget)
        return Stages.of(settings, stages_of(settings))

    def _release(self, queries: Queries, plan: Stages[StageSettings], rng: np.random.Generator) -> FitResult:
        settings = plan.settings
        box = occupied_box(queries, settings.domain, plan.cost_of("ranges of the columns"))
        units = release_units(queries, settings.domain, box, plan.cost_of("moments of the columns"))
        components = self._components(queries, units, plan, rng)
        kept = components.kept(at_least=min(settings.min_components, settings.n_components))
        return FitResult(in_units_of(units, kept), units.domain, bool(components.supported.any()))

    @staticmethod
    def _components(
        queries: Queries, units: Units, plan: Stages[StageSettings], rng: np.random.Generator
    ) -> Estimates:
        """Count all cells where there are few enough; else start from a coreset and move components."""
        k = plan.settings.n_components
        if units.n_features <= _joint_histogram.MOST_COLUMNS:
            cells = release_cells(queries, units, k, plan.cost_of("joint histogram"))
            return fit_cells(cells, units, k, rng)
        measurable = measurable_n_components(queries, units, plan.cost_of("components"))
        k = min(k, max(measurable, plan.settings.min_components))
        balls = release_coreset(queries, units, k, plan.cost_of("coreset"), rng)
        start = start_at(*spread_centres(balls, units, k, rng))
        return release_components(queries, units, start, plan.cost_of("components"))

    def _check_restored(
        self, plan: Stages[StageSettings], mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> None:
        if mixture.n_components > plan.settings.n_components:
            raise ModelFormatError("the mixture has more than n_components components.")
        if domain.radius is None:
            raise ModelFormatError("the domain must have a radius.")
        if not plan.cover(report):
            raise ModelFormatError("privacy.events are not those of a fit with these parameters.")
