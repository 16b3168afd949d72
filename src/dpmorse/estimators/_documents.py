"""Between fitted estimators and the plain data of a model file, with every field checked."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import DPMorseError, ModelFormatError
from dpmorse.privacy.budget import Budget, Neighboring
from dpmorse.privacy.calibration import Calibration
from dpmorse.privacy.events import Noise, ReleaseEvent
from dpmorse.privacy.report import PrivacyReport
from dpmorse.privacy.sampler import LARGEST_SCALE
from dpmorse.statistics.cells import LARGEST_N_CELLS
from dpmorse.statistics.domain import Domain
from dpmorse.typing import FloatArray

_LARGEST_NUMBER = 1e300
_LARGEST_RHO = 1e6
_Value = TypeVar("_Value")


def mixture_to_dict(mixture: GaussianMixture) -> dict[str, Any]:
    """Return the parameters of a mixture as nested lists."""
    rows, columns = np.tril_indices(mixture.n_features)
    return {
        "weights": mixture.weights.tolist(),
        "means": mixture.means.tolist(),
        "covariances_lower": mixture.covariances[:, rows, columns].tolist(),
    }


def domain_to_dict(domain: Domain) -> dict[str, Any]:
    """Return a domain as plain data."""
    return {"lower": domain.lower.tolist(), "upper": domain.upper.tolist(), "radius": domain.radius}


def domain_from_dict(content: object, n_features: int) -> Domain:
    """Rebuild a domain; it is checked like a caller's bounds."""
    parts = fields("domain", content, "lower", "upper", "radius")
    bounds = parts["lower"], parts["upper"]
    return rebuild("domain", lambda: Domain.from_bounds(bounds, n_features, parts["radius"]))


def mixture_from_dict(content: object) -> GaussianMixture:
    """Rebuild a mixture; its constructor checks shapes, finiteness and definiteness."""
    parts = fields("mixture", content, "weights", "means", "covariances_lower")
    return rebuild("mixture", lambda: _mixture(**{name: _array(name, part) for name, part in parts.items()}))


def _mixture(weights: FloatArray, means: FloatArray, covariances_lower: FloatArray) -> GaussianMixture:
    """Unfold the lower triangles; shapes are checked before anything of their size is allocated."""
    if weights.ndim != 1 or means.ndim != 2 or not 1 <= len(weights) <= LARGEST_N_CELLS:
        raise ModelFormatError("mixture.weights and mixture.means do not have the shapes of a mixture.")
    k, d = means.shape
    if covariances_lower.shape != (k, d * (d + 1) // 2):
        raise ModelFormatError("mixture.covariances_lower does not have the shape of k lower triangles.")
    covariances = np.empty((k, d, d))
    rows, columns = np.tril_indices(d)
    covariances[:, rows, columns] = covariances[:, columns, rows] = covariances_lower
    return GaussianMixture(weights, means, covariances)


def privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    """Return a privacy report as plain data, with its derived epsilon beside the events."""
    return {
        "budget": {
            "epsilon": report.budget.epsilon,
            "delta": report.delta,
            "neighboring": report.neighboring,
            "max_rows_per_group": report.budget.max_rows_per_group,
        },
        "calibration": report.calibration.value,
        "secure": report.secure,
        "epsilon": report.epsilon,
        "rho": report.rho,
        "events": [_event_to_dict(event) for event in report.events],
    }


def privacy_from_dict(content: object) -> PrivacyReport:
    """Rebuild a privacy report and compare the epsilon and rho it states with those of its events."""
    parts = fields("privacy", content, "budget", "calibration", "secure", "epsilon", "rho", "events")
    budget = fields(
        "privacy.budget", parts["budget"], "epsilon", "delta", "neighboring", "max_rows_per_group"
    )
    events = of_type("privacy.events", parts["events"], list)
    report = PrivacyReport(
        budget=rebuild("privacy.budget", lambda: Budget(**budget)),
        events=tuple(_event_from_dict(event) for event in events),
        calibration=rebuild("privacy.calibration", lambda: Calibration(parts["calibration"])),
        secure=of_type("privacy.secure", parts["secure"], bool),
    )
    for name, derived in (("epsilon", report.epsilon), ("rho", report.rho)):
        stated = number(f"privacy.{name}", parts[name])
        if not math.isclose(stated, derived, rel_tol=1e-6):
            raise ModelFormatError(
                f"privacy.{name} is stated as {stated:g}, but the events add up to {derived:g}."
            )
    return report


def number(name: str, value: object) -> float:
    """Return a finite number or say which field is not one."""
    if type(value) not in (int, float) or not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:  # type: ignore[operator]
        raise ModelFormatError(f"{name} must be a finite number.")
    return float(value)  # type: ignore[arg-type]


def names(name: str, value: object, length: int) -> list[str]:
    """Return a list of ``length`` strings or say what is wrong."""
    listed = of_type(name, value, list)
    if len(listed) != length or not all(isinstance(item, str) for item in listed):
        raise ModelFormatError(f"{name} must hold {length} names.")
    return listed


def _event_to_dict(event: ReleaseEvent) -> dict[str, Any]:
    return {
        "name": event.name,
        "neighboring": event.neighboring.value,
        "rho": event.rho,
        "n_draws": event.n_draws,
        "smallest_scale": event.smallest_scale,
        "noise_stddev": dict(event.noise_stddev),
        "noise": event.noise.value,
        "pure_epsilon": None if math.isinf(event.pure_epsilon) else event.pure_epsilon,
    }


def _event_from_dict(content: object) -> ReleaseEvent:
    keys = ("name", "neighboring", "rho", "n_draws", "smallest_scale", "noise_stddev")
    parts = fields("event", content, *keys, "noise", "pure_epsilon")
    stddev = of_type("event.noise_stddev", parts["noise_stddev"], dict)
    rho = number("event.rho", parts["rho"])
    if not 0 <= rho <= _LARGEST_RHO:
        raise ModelFormatError("event.rho is out of range.")
    noise = rebuild("event.noise", lambda: Noise(parts["noise"]))
    return ReleaseEvent(
        name=of_type("event.name", parts["name"], str),
        neighboring=rebuild("event.neighboring", lambda: Neighboring.parse(parts["neighboring"])),
        rho=rho,
        n_draws=_count("event.n_draws", parts["n_draws"]),
        smallest_scale=_count("event.smallest_scale", parts["smallest_scale"]),
        noise_stddev={str(block): number("event.noise_stddev", value) for block, value in stddev.items()},
        noise=noise,
        pure_epsilon=_pure_epsilon(parts["pure_epsilon"], noise, rho),
    )


def _pure_epsilon(value: object, noise: Noise, rho: float) -> float:
    """Return the pure epsilon of an event; it must be the one that its rho follows from."""
    if noise is Noise.GAUSSIAN:
        if value is not None:
            raise ModelFormatError("event.pure_epsilon must be null for Gaussian noise.")
        return math.inf
    pure = number("event.pure_epsilon", value)
    if pure <= 0 or not math.isclose(rho, pure**2 / (2 if noise is Noise.LAPLACE else 8), rel_tol=1e-6):
        raise ModelFormatError("event.pure_epsilon does not agree with event.rho.")
    return pure


def fields(name: str, content: object, *keys: str) -> Mapping[str, Any]:
    """Return a dictionary that has exactly these keys."""
    parts = of_type(name, content, dict)
    if set(parts) != set(keys):
        raise ModelFormatError(f"{name} must have exactly the fields {', '.join(keys)}.")
    return parts


def of_type(name: str, value: object, kind: type[_Value]) -> _Value:
    """Return a value of exactly this type."""
    if type(value) is not kind:
        raise ModelFormatError(f"{name} must be of type {kind.__name__}.")
    return value


def _count(name: str, value: object) -> int:
    count = of_type(name, value, int)
    if not 1 <= count <= LARGEST_SCALE:
        raise ModelFormatError(f"{name} is out of range.")
    return count


def _array(name: str, value: object) -> Any:
    if not isinstance(value, list):
        raise ModelFormatError(f"mixture.{name} must be a list of numbers.")
    array = np.array(value)  # ragged lists raise ValueError, which `_rebuild` turns into a format error
    if array.dtype.kind not in "fi":
        raise ModelFormatError(f"mixture.{name} must hold numbers only.")
    return array


def rebuild(name: str, build: Callable[[], _Value]) -> _Value:
    """Call a constructor; its complaint about a value becomes a complaint about the file."""
    try:
        return build()
    except ModelFormatError:
        raise
    except (DPMorseError, ValueError, TypeError, OverflowError) as error:
        raise ModelFormatError(f"{name} is not valid: {str(error)[:200]}") from None
