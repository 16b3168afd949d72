"""The fit that all private bases share: prepare, reserve, ask, remember."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpmorse import _validate
from dpmorse._threads import one_library_thread
from dpmorse.bases.hurdles import Hurdle, smallest_seen
from dpmorse.bases.mixture_estimator import FitResult, PrivateMixtureEstimator
from dpmorse.bases.parameters import FitParameters
from dpmorse.bases.pipelines import warn_of_pipelines
from dpmorse.bases.plan import Plan, Stage
from dpmorse.bases.private_bounds import release_bounds
from dpmorse.bases.queries import Queries
from dpmorse.bases.randomness import Randomness
from dpmorse.bases.settings import Settings
from dpmorse.engine import Source
from dpmorse.exceptions import (
    InvalidParameterError,
    InvalidTypeError,
    ModelFormatError,
    NoisyModelWarning,
    PrivacyLeakWarning,
)
from dpmorse.persistence import domain_to_dict
from dpmorse.privacy import Budget, Ledger, Mechanism, Neighboring, PrivacyReport, ReleaseEvent
from dpmorse.records import Records, open_records, refuse_no_columns, without_sizes

_NOT_IN_TABLES = {"engine", "ledger", "random_state"}
"""Parameters of constructors that have no part in what is released, and are in no file."""


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateFit(PrivateMixtureEstimator, FitParameters):
    """Base of the estimators that read records: subclasses plan what is asked, and ask.

    A subclass names the table of its parameters (``settings_type``), says what shares of the budget its
    stages get (``stages``), and asks (``release``).
    """

    settings_type: ClassVar[type[Settings]] = Settings
    """The table of the parameters."""

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Spend the budget on X and release a mixture.

        Parameters
        ----------
        X : array-like, data frame, path, query, Dask or Spark collection, tensor, or re-iterable of batches
            Records, one person each, shape (n_samples, n_features). Values outside ``bounds`` are clipped.
            The same records give the same model, wherever they are.
        y : ignored
            For scikit-learn's conventions.
        groups : array-like of shape (n_samples,) or str, optional
            Whose record each row is, for a promise to persons with several rows; goes with the parameter
            ``max_rows_per_group``. Whole numbers or text; for data frames, files and Dask also the name of
            a column; for Spark always. Of each group, that many rows are used: which ones depends on that
            group's rows alone, not on their order.

        Returns
        -------
        self
            The fitted estimator. If anything fails, it is left as it was before.
        """
        self._fit(X, groups)
        self._warn_of_numbers(stacklevel=2)
        return self

    def _fit(self, X: Any, groups: Any = None) -> Self:
        """Spend the budget on X; the caller says what must be said about the numbers."""
        records = open_records(X, groups, self._stated_schema)
        plan = self._prepare(records)
        warn_of_pipelines()
        if not isinstance(self.ledger, Ledger | None):
            raise InvalidTypeError(f"ledger must be a Ledger or None, got {_validate.describe(self.ledger)}.")
        budget = plan.settings.budget
        if budget.max_rows_per_group is not None:
            budget = replace(budget, unit=records.unit)  # groups are named as where they came from
        own_ledger = Ledger(budget)
        ledgers = [own_ledger] if self.ledger is None else [own_ledger, self.ledger]
        randomness = Randomness.from_parameters(self.random_state, plan.settings.noise)
        with (
            without_sizes(),
            Mechanism.reserve(ledgers, plan.events, randomness.sampler, budget) as mechanism,
        ):
            result = self._ask(records, plan, mechanism, randomness.init)
        secure, calibration = randomness.sampler.secure, plan.settings.calibration
        report = PrivacyReport(budget, plan.events, own_ledger.events, calibration, secure)
        self.remember(result, plan.checked(report), plan.settings, records.columns)
        return self

    def plan(self, n_features: int, names: Sequence[Any] | None = None) -> Plan[Any]:
        """Check every parameter and fix what may be spent, for a table with ``n_features`` columns.

        ``names`` are those of the columns: bounds may go by them. A subclass whose constructor has parameters
        that its table does not have is refused.
        """
        missing = set(self.get_params(deep=False)) - set(self.settings_type.table()) - _NOT_IN_TABLES
        if missing:
            raise TypeError(
                f"{type(self).__name__} has parameters that are not in the table of its settings_type, "
                f"{self.settings_type.__name__}: {', '.join(sorted(missing))}. See docs/bases.md."
            )
        return self.plan_of(self.settings_type.of(self, n_features, names))

    @property
    def plan_(self) -> Plan[Any]:
        """The plan of the fit: its stages, what each could cost, and the units of their noise."""
        check_is_fitted(self, "mixture_")
        return self.plan_of(self._settings)

    def plan_of(self, settings: Any) -> Plan[Any]:
        """Return the plan of a fit with these settings."""
        return Plan.of(settings, self.stages(settings))

    def stages(self, settings: Any) -> Sequence[Stage]:
        """Return the stages of a fit; their costs are shares of the budget that add up to 1."""
        raise NotImplementedError

    def release(self, queries: Queries, plan: Any, rng: np.random.Generator) -> FitResult:
        """Ask for what the plan pays for; ``rng`` is for starts and owes nothing to the records."""
        raise NotImplementedError

    def hurdles(self, plan: Any, events: Sequence[ReleaseEvent], n_records: int) -> Sequence[Hurdle]:
        """Return what a small cluster has to pass to be seen, for a plan whose releases are known.

        This is the last count alone; a base that says more keeps its promise by it (``dpmorse plan``).
        """
        return [Hurdle.times(self.noise_of_a_count(plan, events))]

    @property
    def _smallest_seen(self) -> int | None:
        """The size from which on a group that lies apart is found in 19 of 20 such fits, as in a plan."""
        if self.profile_ is None:
            return None
        n_records = max(round(float(self.profile_.counts.sum())), 1)
        return smallest_seen(self.hurdles(self.plan_, self.privacy_.events, n_records))

    def noise_of_a_count(self, plan: Any, events: Sequence[ReleaseEvent]) -> float:
        """Return the noise of a component's count in the released mixture: that of the last count."""
        last = next(event for event in reversed(events) if "count" in event.noise_stddev)
        return last.noise_stddev["count"]

    def spend(self, queries: Queries, plan: Plan[Any], rng: np.random.Generator) -> FitResult:
        """Make all releases: those of bounds first, where they are private."""
        if plan.settings.private_bounds:
            plan = replace(plan, domain=release_bounds(queries, plan))
        return self.release(queries, plan, rng)

    def check_restored(self, plan: Any, result: FitResult, report: PrivacyReport) -> None:
        """Refuse parts of a model file that cannot come from one fit by this plan."""
        if result.profile is not None:
            raise ModelFormatError(f"{type(self).__name__} releases no profile.")
        if result.mixture.n_components != plan.settings.n_components:
            raise ModelFormatError("the mixture does not have n_components components.")
        domain = result.domain
        given = replace(domain, radius=plan.domain.radius) if plan.settings.private_bounds else plan.domain
        if domain_to_dict(domain) != domain_to_dict(given):
            raise ModelFormatError("the domain is not that of the bounds and the radius.")

    @classmethod
    def restore(
        cls, parameters: dict[str, Any], result: FitResult, report: PrivacyReport
    ) -> tuple[Self, Settings, PrivacyReport]:
        """Rebuild an estimator whose parameters, mixture and ledger agree with one another."""
        estimator = cls(**cls.settings_type.restored(parameters))
        plan = estimator.plan(len(estimator._stated_schema.names) or result.mixture.n_features)
        asked = replace(report.budget, unit=None)  # the unit's name came with the records
        if asked != plan.settings.budget or report.calibration is not plan.settings.calibration:
            raise ModelFormatError("privacy.budget does not agree with the parameters.")
        estimator.check_restored(plan, result, report)
        return estimator, plan.settings, plan.checked(report)

    def _prepare(self, records: Records) -> Plan[Any]:
        """Check everything that can be checked before a value is looked at, and plan."""
        refuse_no_columns(records.columns.n_features_in_, self)
        records.columns.check_published_names()
        plan = self.plan(records.columns.n_features_in_, records.columns.names)
        _check_rows(records, plan.settings.budget)
        engine = self.engine
        methods = [getattr(engine, name, None) for name in ("reduce", "count", "tally")]
        if engine is not None and (isinstance(engine, type) or not all(map(callable, methods))):
            raise InvalidTypeError(f"engine must be an Engine or None, got {_validate.describe(engine)}.")
        records.engine(engine)  # refuses one that cannot add up these records
        return plan

    def _ask(
        self, records: Records, plan: Plan[Any], mechanism: Mechanism, rng: np.random.Generator
    ) -> FitResult:
        """Look at the records, now that the budget is reserved, and make all releases.

        Matrices here are small: threads of BLAS would only spin on the cores that the engine wants; those of
        OpenMP, which a base may call, add up in whatever order they end, and a seeded fit would not repeat to
        the last bit.
        """
        budget, engine = plan.settings.budget, records.engine(self.engine)
        with one_library_thread(), records.held() as still:
            data = read_numbers(self, still, budget.max_rows_per_group)
            budget.warn_if_weak(stacklevel=5)
            if budget.neighboring is Neighboring.REPLACE_ONE and budget.delta > 1 / len(data):  # n is public
                warnings.warn(
                    f"delta={budget.delta:g} is above 1/n = {1 / len(data):g}: choose it well below.",
                    PrivacyLeakWarning,
                    stacklevel=4,
                )
            result = self.spend(Queries(Source(data, engine), mechanism, budget), plan, rng)
        if not result.supported:  # which components are supported is released, so this costs nothing
            warnings.warn(
                "The noise supports no component: every component is noise, and the model reflects its "
                "random start only. It takes more records, a larger epsilon, fewer components, rounds or "
                "columns, or (in many columns) a radius.",
                NoisyModelWarning,
                stacklevel=4,
            )
        return result


def read_numbers(estimator: Any, records: Records, most: int | None = None) -> Any:
    """Look at the values for the first time: after everything else was checked, and the budget reserved."""
    return records.read(estimator, most)


def _check_rows(records: Records, budget: Budget) -> None:
    """Refuse owners without a limit, a limit without owners, and dropped rows where n is public."""
    if not records.owned and budget.max_rows_per_group is not None:
        raise InvalidParameterError(
            f"groups must be given with max_rows_per_group={budget.max_rows_per_group}: "
            "fit(X, groups=...), one value for each row that says whose it is."
        )
    if records.owned and budget.max_rows_per_group is None:
        raise InvalidParameterError(
            "max_rows_per_group must be set where groups are given: how many rows of each are used at most. "
            "It is public; the noise grows in proportion to it."
        )
    if records.drops_rows and budget.neighboring is Neighboring.REPLACE_ONE:
        raise InvalidParameterError(
            "dropping rows with missing values does not go with neighboring='replace-one': the number of "
            "rows that are left would tell who has missing values. Use add-remove, or fill them in, each row "
            "by itself."
        )
