"""The public parameters of a fit: validated once, then used, reported and saved in this form only."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, Self

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import Budget, Calibration
from dpmorse.statistics import Domain, MomentShares
from dpmorse.statistics.cells import LARGEST_N_CELLS
from dpmorse.statistics.domain import PRIVATE

LARGEST_N_ITER = 10_000
LARGEST_MODEL = 1 << 21  # entries of all covariances' lower triangles: what a model file can hold
NOISE_BACKENDS = ("native", "opendp")


class Settings(Protocol):
    """Plain, checked values of the parameters that decide a released model."""

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        ...

    @property
    def domain(self) -> Domain:
        """The public domain."""
        ...

    @property
    def private_bounds(self) -> bool:
        """Whether the domain is a placeholder for bounds that are yet to be released."""
        ...

    @property
    def calibration(self) -> Calibration:
        """Which proof sets the noise."""
        ...

    @property
    def noise(self) -> str:
        """Which sampler draws it."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        ...

    def with_domain(self, domain: Domain) -> Self:
        """Return these settings for bounds that were released."""
        ...


class WithDomain:
    """Settings whose domain may be found privately."""

    domain: Domain
    private_bounds: bool

    def with_domain(self, domain: Domain) -> Self:
        """Return these settings for bounds that were released."""
        return replace(self, domain=domain)  # type: ignore[type-var]  # subclasses are dataclasses

    @property
    def bounds_to_save(self) -> str | list[list[float]]:
        """The parameter ``bounds``, as plain data."""
        return PRIVATE if self.private_bounds else [self.domain.lower.tolist(), self.domain.upper.tolist()]


@dataclass(frozen=True)
class EMSettings(WithDomain):
    """The parameters of private expectation-maximisation."""

    n_components: int
    n_iter: int
    n_averaged: int
    budget: Budget
    domain: Domain
    private_bounds: bool
    shares: MomentShares | None
    calibration: Calibration
    reg_covar: float
    relocate: bool
    noise: str

    @classmethod
    def of(cls, estimator: Any, n_features: int) -> "EMSettings":
        """Read and check an estimator's parameters, for a table with ``n_features`` columns."""
        n_iter = _validate.positive_int(n_iter=estimator.n_iter, at_most=LARGEST_N_ITER)
        settings = cls(
            n_components=_validate.positive_int(n_components=estimator.n_components, at_most=LARGEST_N_CELLS),
            n_iter=n_iter,
            n_averaged=_check_averaged(estimator.n_averaged, n_iter),
            reg_covar=_validate.positive_real(reg_covar=estimator.reg_covar),
            relocate=_validate.boolean(relocate=estimator.relocate),
            budget=Budget.of(estimator),
            calibration=Calibration(_validate.choice(calibration=estimator.calibration, among=Calibration)),
            noise=_validate.choice(noise=estimator.noise, among=NOISE_BACKENDS),
            shares=_check_shares(estimator.shares, estimator.calibration),
            domain=Domain.from_bounds(estimator.bounds, n_features, estimator.radius),
            private_bounds=are_private(estimator.bounds),
        )
        check_size(settings.n_components, n_features)
        return settings

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        return {
            "n_components": self.n_components,
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "bounds": self.bounds_to_save,
            "neighboring": self.budget.neighboring_rows.value,
            "max_rows_per_group": self.budget.max_rows_per_group,
            "n_iter": self.n_iter,
            "n_averaged": self.n_averaged,
            "radius": self.domain.radius,
            "shares": None if self.shares is None else asdict(self.shares),
            "calibration": self.calibration.value,
            "reg_covar": self.reg_covar,
            "relocate": self.relocate,
            "noise": self.noise,
        }


def _check_averaged(n_averaged: object, n_iter: int) -> int:
    """Return how many of the last rounds are averaged: by default a third of them."""
    if n_averaged is None:
        return max(1, n_iter // 3)
    return _validate.positive_int(n_averaged=n_averaged, at_most=n_iter)


def _check_shares(shares: object, calibration: object) -> MomentShares | None:
    if shares is None:
        return None
    if not isinstance(shares, MomentShares):
        raise InvalidTypeError(f"shares must be a MomentShares or None, got {_validate.describe(shares)}.")
    if calibration == Calibration.PAPER:
        raise InvalidParameterError("shares cannot be set with calibration='paper', which fixes them.")
    return shares


def are_private(bounds: object) -> bool:
    """Say whether the parameter ``bounds`` asks for them to be found privately."""
    return isinstance(bounds, str) and bounds == PRIVATE


def check_size(n_components: int, n_features: int) -> None:
    """Refuse models that a file could not hold."""
    entries = n_components * n_features * (n_features + 1) // 2
    if entries > LARGEST_MODEL:
        raise InvalidParameterError(
            f"n_components={n_components} with {n_features} columns needs {entries} covariance entries; "
            f"at most {LARGEST_MODEL} are supported. Lower n_components, or use fewer columns."
        )
