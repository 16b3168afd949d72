"""Invented records for audits of estimators, inside their public bounds."""

from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.bases import PrivateFit
from dpmorse.exceptions import InvalidTypeError
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray

_N_RECORDS = 2000
_N_GROUPS = 4
_SPREAD = 0.08
"""Standard deviation of a group of invented records, as a part of the half-width of the bounds."""


def check_is_estimator(estimator: Any) -> None:
    """Refuse an object that is no private estimator."""
    methods = (getattr(estimator, name, None) for name in ("fit", "get_params", "set_params"))
    if isinstance(estimator, type) or not all(callable(method) for method in methods):
        raise InvalidTypeError(
            f"estimator must be a private estimator, got {_validate.describe(estimator)}. "
            "For instance: DPMorse(epsilon=1.0, bounds=(-1, 1))."
        )


def parameter(estimator: Any, name: str) -> Any:
    """Return a parameter of an estimator, or of the base inside it."""
    parameters = estimator.get_params(deep=True)
    return parameters.get(name, parameters.get(f"base__{name}"))


def base_of(estimator: Any, n_features: int) -> PrivateFit:
    """Return the unfitted base that makes the releases of an estimator."""
    base = estimator._base_for(n_features) if hasattr(estimator, "_base_for") else estimator
    if not isinstance(base, PrivateFit):
        raise InvalidTypeError(
            f"estimator must release what it learns through a base derived from PrivateFit, got "
            f"{type(base).__name__}. See docs/bases.md."
        )
    return base


def public_box(estimator: Any, n_features: int) -> Domain:
    """Return the bounds of an estimator; -1 and 1 if it finds them itself."""
    return Domain.from_bounds(parameter(estimator, "bounds"), n_features)


def invented_box(estimator: Any, n_features: int) -> Domain:
    """Return the same for invented records; a bound for each column says how many columns there are."""
    wanted, bounds = _validate.positive_int(n_features=n_features), parameter(estimator, "bounds")
    sizes = [np.size(part) for part in (() if bounds is None else bounds) if np.ndim(part) == 1]
    return public_box(estimator, max(sizes, default=wanted))


def invented_records(estimator: Any, n_features: int) -> FloatArray:
    """Return records in a few groups well inside the bounds."""
    rng, domain = np.random.default_rng(0), invented_box(estimator, n_features)
    centres = rng.uniform(-0.6, 0.6, size=(_N_GROUPS, domain.n_features))
    groups = rng.integers(_N_GROUPS, size=_N_RECORDS)
    scaled = centres[groups] + _SPREAD * rng.standard_normal((_N_RECORDS, domain.n_features))
    return domain.centre + domain.half_width * np.clip(scaled, -1, 1)


def far_records(estimator: Any, n_features: int) -> FloatArray:
    """Return records that are easy to notice: corners of the bounds, faces, and records in the middle."""
    domain = public_box(estimator, n_features)
    alternating = np.where(np.arange(n_features) % 2, -1.0, 1.0)
    axis = np.eye(n_features)[0]
    one = np.ones(n_features)
    scaled = np.array([one, -one, alternating, -alternating, axis, -axis, 0.4 * one, 0 * one])
    return np.asarray(domain.centre + domain.half_width * scaled)
