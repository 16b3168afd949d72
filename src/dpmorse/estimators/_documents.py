"""Between fitted estimators and the plain data of a model file, with every field checked."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import DPMorseError, ModelFormatError
from dpmorse.privacy.budget import Budget, Neighboring
from dpmorse.privacy.calibration import Calibration
from dpmorse.privacy.discrete_gaussian import LARGEST_SCALE
from dpmorse.privacy.events import ReleaseEvent
from dpmorse.privacy.report import PrivacyReport

_LARGEST_LIST = 1 << 22
_Value = TypeVar("_Value")


def mixture_to_dict(mixture: GaussianMixture) -> dict[str, Any]:
    """Return the parameters of a mixture as nested lists."""
    return {
        "weights": mixture.weights.tolist(),
        "means": mixture.means.tolist(),
        "covariances": mixture.covariances.tolist(),
    }


def mixture_from_dict(content: object) -> GaussianMixture:
    """Rebuild a mixture; its constructor checks shapes, finiteness and definiteness."""
    fields = _fields("mixture", content, "weights", "means", "covariances")
    return _rebuild("mixture", lambda: GaussianMixture(**{k: _array(k, v) for k, v in fields.items()}))


def privacy_to_dict(report: PrivacyReport) -> dict[str, Any]:
    """Return a privacy report as plain data, with its derived epsilon beside the events."""
    return {
        "budget": {
            "epsilon": report.budget.epsilon,
            "delta": report.delta,
            "neighboring": report.neighboring,
        },
        "calibration": report.calibration.value,
        "secure": report.secure,
        "epsilon": report.epsilon,
        "rho": report.rho,
        "events": [_event_to_dict(event) for event in report.events],
    }


def privacy_from_dict(content: object) -> PrivacyReport:
    """Rebuild a privacy report and compare the epsilon and rho it states with those of its events."""
    fields = _fields("privacy", content, "budget", "calibration", "secure", "epsilon", "rho", "events")
    budget = _fields("privacy.budget", fields["budget"], "epsilon", "delta", "neighboring")
    events = _of_type("privacy.events", fields["events"], list)
    report = PrivacyReport(
        budget=_rebuild("privacy.budget", lambda: Budget(**budget)),
        events=tuple(_event_from_dict(event) for event in events),
        calibration=_rebuild("privacy.calibration", lambda: Calibration(fields["calibration"])),
        secure=_of_type("privacy.secure", fields["secure"], bool),
    )
    for name, derived in (("epsilon", report.epsilon), ("rho", report.rho)):
        stated = number(f"privacy.{name}", fields[name])
        if not math.isclose(stated, derived, rel_tol=1e-6):
            raise ModelFormatError(
                f"privacy.{name} is stated as {stated:g}, but the events add up to {derived:g}."
            )
    return report


def number(name: str, value: object) -> float:
    """Return a finite number or say which field is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelFormatError(f"{name} must be a finite number.")
    return float(value)


def names(name: str, value: object, length: int) -> list[str]:
    """Return a list of ``length`` strings or say what is wrong."""
    listed = _of_type(name, value, list)
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
    }


def _event_from_dict(content: object) -> ReleaseEvent:
    keys = ("name", "neighboring", "rho", "n_draws", "smallest_scale", "noise_stddev")
    fields = _fields("event", content, *keys)
    noise = _of_type("event.noise_stddev", fields["noise_stddev"], dict)
    rho = number("event.rho", fields["rho"])
    if rho < 0:
        raise ModelFormatError("event.rho must not be negative.")
    return ReleaseEvent(
        name=_of_type("event.name", fields["name"], str),
        neighboring=_rebuild("event.neighboring", lambda: Neighboring.parse(fields["neighboring"])),
        rho=rho,
        n_draws=_count("event.n_draws", fields["n_draws"]),
        smallest_scale=_count("event.smallest_scale", fields["smallest_scale"]),
        noise_stddev={str(block): number("event.noise_stddev", value) for block, value in noise.items()},
    )


def _fields(name: str, content: object, *keys: str) -> Mapping[str, Any]:
    fields = _of_type(name, content, dict)
    if set(fields) != set(keys):
        raise ModelFormatError(f"{name} must have exactly the fields {', '.join(keys)}.")
    return fields


def _of_type(name: str, value: object, kind: type[_Value]) -> _Value:
    if type(value) is not kind:
        raise ModelFormatError(f"{name} must be of type {kind.__name__}.")
    return value


def _count(name: str, value: object) -> int:
    count = _of_type(name, value, int)
    if not 1 <= count <= LARGEST_SCALE:
        raise ModelFormatError(f"{name} is out of range.")
    return count


def _array(name: str, value: object) -> Any:
    if not isinstance(value, list) or len(value) > _LARGEST_LIST:
        raise ModelFormatError(f"mixture.{name} must be a list of numbers.")
    array = np.array(value)  # ragged lists raise ValueError, which `_rebuild` turns into a format error
    if array.dtype.kind not in "fi":
        raise ModelFormatError(f"mixture.{name} must hold numbers only.")
    return array


def _rebuild(name: str, build: Callable[[], _Value]) -> _Value:
    """Call a constructor; its complaint about a value becomes a complaint about the file."""
    try:
        return build()
    except ModelFormatError:
        raise
    except (DPMorseError, ValueError, TypeError, OverflowError) as error:
        raise ModelFormatError(f"{name} is not valid: {str(error)[:200]}") from None
