"""The public parameters of a fit: validated once, then used, reported and saved in this form only."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.privacy import Budget, Calibration
from dpmorse.statistics import Domain, MomentShares
from dpmorse.statistics.cells import LARGEST_N_CELLS
from dpmorse.statistics.domain import PRIVATE

LARGEST_N_ITER = 10_000
LARGEST_MODEL = 1 << 21  # entries of all covariances' lower triangles: what a model file can hold
NOISE_BACKENDS = ("native", "opendp")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Plain, checked values of the parameters that all bases have; subclasses add their own.

    ``domain`` is public, or with ``private_bounds`` a placeholder until bounds are released.
    """

    n_components: int
    budget: Budget
    domain: Domain
    private_bounds: bool
    calibration: Calibration
    noise: str

    def with_domain(self, domain: Domain) -> Self:
        """Return these settings for bounds that were released."""
        return replace(self, domain=domain)

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        raise NotImplementedError

    def common_to_dict(self) -> dict[str, Any]:
        """Return the parameters that all bases have as plain data."""
        domain = self.domain
        return {
            "n_components": self.n_components,
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "bounds": PRIVATE if self.private_bounds else [domain.lower.tolist(), domain.upper.tolist()],
            "neighboring": self.budget.neighboring_rows.value,
            "max_rows_per_group": self.budget.max_rows_per_group,
            "calibration": self.calibration.value,
            "noise": self.noise,
        }


def common_values(
    estimator: Any,
    n_features: int,
    *,
    n_components: object,
    most_components: int = LARGEST_N_CELLS,
    calibrations: Iterable[str] = ("gaussian", "zcdp"),
    radius: object = None,
) -> dict[str, Any]:
    """Read and check the parameters that all bases have, for a table with ``n_features`` columns."""
    wanted = _validate.positive_int(n_components=n_components, at_most=most_components)
    _check_size(wanted, n_features)
    return {
        "n_components": wanted,
        "budget": Budget.of(estimator),
        "domain": Domain.from_bounds(estimator.bounds, n_features, radius),
        "private_bounds": isinstance(estimator.bounds, str) and estimator.bounds == PRIVATE,
        "calibration": Calibration(_validate.choice(calibration=estimator.calibration, among=calibrations)),
        "noise": _validate.choice(noise=estimator.noise, among=NOISE_BACKENDS),
    }


@dataclass(frozen=True, kw_only=True)
class EMSettings(Settings):
    """The parameters of private expectation-maximisation."""

    n_iter: int
    n_averaged: int
    shares: MomentShares | None
    reg_covar: float
    relocate: bool

    @classmethod
    def of(cls, estimator: Any, n_features: int) -> "EMSettings":
        """Read and check an estimator's parameters, for a table with ``n_features`` columns."""
        n_iter = _validate.positive_int(n_iter=estimator.n_iter, at_most=LARGEST_N_ITER)
        common = common_values(
            estimator,
            n_features,
            n_components=estimator.n_components,
            calibrations=Calibration,
            radius=estimator.radius,
        )
        return cls(
            **common,
            n_iter=n_iter,
            n_averaged=_check_averaged(estimator.n_averaged, n_iter),
            reg_covar=_validate.positive_real(reg_covar=estimator.reg_covar),
            relocate=_validate.boolean(relocate=estimator.relocate),
            shares=_check_shares(estimator.shares, estimator.calibration),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's parameters as plain data for a model file."""
        return {
            **self.common_to_dict(),
            "n_iter": self.n_iter,
            "n_averaged": self.n_averaged,
            "radius": self.domain.radius,
            "shares": None if self.shares is None else asdict(self.shares),
            "reg_covar": self.reg_covar,
            "relocate": self.relocate,
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


def _check_size(n_components: int, n_features: int) -> None:
    """Refuse models that a file could not hold."""
    entries = n_components * n_features * (n_features + 1) // 2
    if entries > LARGEST_MODEL:
        raise InvalidParameterError(
            f"n_components={n_components} with {n_features} columns needs {entries} covariance entries; "
            f"at most {LARGEST_MODEL} are supported. Lower n_components, or use fewer columns."
        )
