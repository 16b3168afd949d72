"""The fit that all private bases share: check, reserve, read, release, and only then remember."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from threadpoolctl import threadpool_limits

from dpmorse import _validate
from dpmorse._plain_data import holds_boolean
from dpmorse.bases.groups import check_owners
from dpmorse.bases.mixture_estimator import PrivateMixtureEstimator
from dpmorse.bases.private_bounds import planned_events, release_bounds, without_bounds
from dpmorse.bases.queries import Queries
from dpmorse.bases.randomness import Randomness
from dpmorse.bases.settings import Settings
from dpmorse.densities import GaussianMixture
from dpmorse.engine import Engine
from dpmorse.exceptions import (
    InvalidParameterError,
    InvalidTypeError,
    ModelFormatError,
    NoisyModelWarning,
    PrivacyLeakWarning,
)
from dpmorse.privacy import Budget, Ledger, Mechanism, Neighboring, PrivacyReport, ReleaseEvent, same_events
from dpmorse.records import Records, open_records
from dpmorse.records.base import refuse_no_columns
from dpmorse.records.memory import without_sizes
from dpmorse.statistics import Domain


class Plan(Protocol):
    """All that is decided before data is touched."""

    @property
    def settings(self) -> Settings:
        """The checked parameters."""
        ...

    @property
    def events(self) -> Sequence[ReleaseEvent]:
        """Queries whose cost is reserved. What is made may be divided otherwise, never cost more."""
        ...

    @property
    def bounds_cost(self) -> float:
        """What may be spent on bounds before all else; 0 where they are public."""
        ...

    def with_domain(self, domain: Domain) -> Self:
        """Return this plan for bounds that were released."""
        ...


@dataclass(frozen=True)
class FitResult:
    """What a fit learns: a mixture in the caller's units, where it holds, and if it is more than noise."""

    mixture: GaussianMixture
    domain: Domain
    supported: bool


class PrivateFit(PrivateMixtureEstimator):
    """Base of the estimators that read records: subclasses plan releases and make them."""

    engine: Engine | None
    ledger: Ledger | None
    random_state: Any

    def fit(self, X: Any, y: object = None, *, groups: Any = None) -> Self:
        """Spend the budget on X and release a mixture.

        Parameters
        ----------
        X : array-like, data frame, path, Dask collection, tensor, or re-iterable of batches
            Records, one person each, shape (n_samples, n_features). Values outside ``bounds`` are clipped.
            The same records give the same model, wherever they are.
        y : ignored
            For scikit-learn's conventions.
        groups : array-like of shape (n_samples,) or str, optional
            Whose record each row is, for a promise to persons with several rows; goes with the parameter
            ``max_rows_per_group``. Whole numbers or text; for data frames, files and Dask also the name of
            a column. Of each group, that many rows are used: which ones depends on that group's rows alone,
            not on their order.

        Returns
        -------
        self
            The fitted estimator. If anything fails, it is left as it was before.
        """
        records = open_records(X, groups)
        refuse_no_columns(records.columns.n_features_in_, self)
        records.columns.check_published_names()
        plan = self._plan(records.columns.n_features_in_)
        check_owners(records, plan.settings.budget)
        _check_dropped_rows(records, plan.settings.budget)
        settings, engine = plan.settings, records.engine(self._engine())
        randomness = Randomness.from_parameters(self.random_state, settings.noise)
        budget, reserved = _budget_of_unit(settings.budget, records), reserved_events(plan)
        own_ledger, sampler = Ledger(budget), randomness.sampler
        shared = self._shared_ledgers()
        ledgers = [own_ledger, *shared]
        _warn_of_units_without_names(shared, budget)
        # Matrices here are small: threads of BLAS would only spin on the cores that the engine wants; those
        # of OpenMP add up in whatever order they end, and a seeded fit would not repeat to the last bit.
        with (
            without_sizes(),
            Mechanism.reserve(ledgers, reserved, sampler, budget) as mechanism,
            threadpool_limits(limits=1),
        ):
            data = read_numbers(self, records, settings.budget.max_rows_per_group)
            _warn_of_weak_promise(settings.budget, len(data))
            queries = Queries(data, engine, mechanism, settings.budget)
            released = self._spend(queries, plan, randomness.init)
        if not released.supported:
            _warn_of_pure_noise()
        report = PrivacyReport(
            budget, tuple(reserved), own_ledger.events, settings.calibration, sampler.secure
        )
        self._set_fitted(released.mixture, released.domain, report, settings, records.columns)
        return self

    def _plan(self, n_features: int) -> Plan:
        """Validate every parameter and fix what may be spent, before data is touched."""
        raise NotImplementedError

    def _spend(self, queries: Queries, plan: Plan, rng: np.random.Generator) -> FitResult:
        """Spend the budget, on bounds first where they are private."""
        if plan.settings.private_bounds:
            plan = plan.with_domain(release_bounds(queries, plan.settings.domain, plan.bounds_cost))
        return self._release(queries, plan, rng)

    def _release(self, queries: Queries, plan: Any, rng: np.random.Generator) -> FitResult:
        """Spend the budget."""
        raise NotImplementedError

    def _check_restored(
        self, plan: Any, mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> None:
        """Refuse parts of a file that cannot come from one fit."""
        raise NotImplementedError

    @classmethod
    def _from_values(cls, parameters: dict[str, Any]) -> Self:
        """Return an unfitted estimator with the parameters of a file."""
        return cls(**parameters)

    def _engine(self) -> Engine | None:
        if self.engine is None:
            return None
        methods = (getattr(self.engine, name, None) for name in ("reduce", "count", "tally"))
        if isinstance(self.engine, type) or not all(callable(method) for method in methods):
            raise InvalidTypeError(
                f"engine must be an Engine or None, got {_validate.describe(self.engine)}."
            )
        return self.engine

    def _shared_ledgers(self) -> list[Ledger]:
        if self.ledger is None:
            return []
        if not isinstance(self.ledger, Ledger):
            raise InvalidTypeError(f"ledger must be a Ledger or None, got {_validate.describe(self.ledger)}.")
        return [self.ledger]

    @classmethod
    def _restore(
        cls, parameters: dict[str, Any], mixture: GaussianMixture, domain: Domain, report: PrivacyReport
    ) -> tuple[Self, Settings, PrivacyReport]:
        """Rebuild an estimator whose parameters, mixture and ledger agree with one another."""
        expected = set(cls().get_params(deep=False)) - {"engine", "ledger", "random_state"}
        if set(parameters) != expected:
            raise ModelFormatError(f"parameters must have exactly the fields {', '.join(sorted(expected))}.")
        if holds_boolean(parameters["bounds"]):
            raise ModelFormatError("parameters.bounds must hold numbers only.")
        estimator = cls._from_values(parameters)
        plan = estimator._plan(mixture.n_features)  # noqa: SLF001 - an instance of cls
        settings = plan.settings
        asked = replace(report.budget, unit=None)  # the unit's name came with the records
        if asked != settings.budget or report.calibration is not settings.calibration:
            raise ModelFormatError("privacy.budget does not agree with the parameters.")
        own, planned = report, plan
        if settings.private_bounds:
            plan, own = plan.with_domain(domain), without_bounds(report, _events_of_bounds(plan))
        estimator._check_restored(plan, mixture, domain, own)  # noqa: SLF001 - an instance of cls
        return estimator, settings, _with_reserved(report, planned)


def read_numbers(estimator: Any, records: Records, most: int | None = None) -> Any:
    """Look at the values for the first time: after everything else was checked, and the budget reserved."""
    return records.read(estimator, most)


def _check_dropped_rows(records: Records, budget: Budget) -> None:
    if getattr(records, "drops_rows", False) and budget.neighboring is Neighboring.REPLACE_ONE:
        raise InvalidParameterError(
            "dropping rows with missing values does not go with neighboring='replace-one': the number of "
            "rows that are left would tell who has missing values. Use add-remove, or fill them in, each row "
            "by itself."
        )


def reserved_events(plan: Plan) -> list[ReleaseEvent]:
    """Return all that is reserved before data is touched."""
    return [*_events_of_bounds(plan), *plan.events]


def _budget_of_unit(budget: Budget, records: Records) -> Budget:
    """Return a budget that says whose it is: groups are named as where they came from."""
    if budget.max_rows_per_group is None:
        return budget
    return replace(budget, unit=records.unit)


def _with_reserved(report: PrivacyReport, plan: Plan) -> PrivacyReport:
    """Compare what a file says was reserved with the plan of its parameters; version 1 does not say."""
    planned = tuple(reserved_events(plan))
    if report.reserved and not same_events(planned, report.reserved):
        raise ModelFormatError("privacy.reserved is not what a fit with these parameters reserves.")
    return report if report.reserved else replace(report, reserved=planned)


def _events_of_bounds(plan: Plan) -> list[ReleaseEvent]:
    return planned_events(plan.settings.budget, plan.settings.domain, plan.bounds_cost)


def _warn_of_weak_promise(budget: Budget, n_records: int) -> None:
    """Warn of a large epsilon or delta; under replace-one n is public, and delta should be below 1/n."""
    budget.warn_if_weak(stacklevel=4)
    if budget.neighboring is Neighboring.REPLACE_ONE and budget.delta > 1 / n_records:
        warnings.warn(
            f"delta={budget.delta:g} is above 1/n = {1 / n_records:g}: choose it well below.",
            PrivacyLeakWarning,
            stacklevel=3,
        )


def _warn_of_units_without_names(ledgers: list[Ledger], budget: Budget) -> None:
    """Warn where nobody can tell if fits that share a ledger protect the same groups."""
    if budget.max_rows_per_group is None or budget.unit is not None:
        return
    if any(ledger.events and ledger.budget.unit is None for ledger in ledgers):
        warnings.warn(
            "groups have no name, so that nothing tells if they are those that the ledger was used for. "
            "Give them as a named column or Series, and name the ledger's unit: Budget(..., unit='patient').",
            PrivacyLeakWarning,
            stacklevel=3,
        )


def _warn_of_pure_noise() -> None:
    """Say that nothing was learnt. Which components are supported is released, so this costs nothing."""
    warnings.warn(
        "The noise supports no component: the model shows no more than its start. It takes more records, a "
        "larger epsilon, fewer components, rounds or columns, or (in many columns) a radius.",
        NoisyModelWarning,
        stacklevel=3,
    )
