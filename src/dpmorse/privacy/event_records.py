"""Release events as plain data, for model files and budget files, with every field checked."""

import math
from collections.abc import Sequence
from typing import Any

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.privacy.budget import Neighboring
from dpmorse.privacy.events import Noise, ReleaseEvent
from dpmorse.privacy.sampler import LARGEST_SCALE
from dpmorse.privacy.steps import Step

_LARGEST_RHO = 1e18  # that of an epsilon of a billion; accounting works up to there


def event_to_dict(event: ReleaseEvent) -> dict[str, Any]:
    """Return an event as plain data."""
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


def event_from_dict(content: object) -> ReleaseEvent:
    """Rebuild an event; costs must be costs, whatever a checksum says."""
    keys = ("name", "neighboring", "rho", "n_draws", "smallest_scale", "noise_stddev")
    parts = fields("event", content, *keys, "noise", "pure_epsilon")
    stddev = of_type("event.noise_stddev", parts["noise_stddev"], dict)
    rho = number("event.rho", parts["rho"])
    if not 0 <= rho <= _LARGEST_RHO:
        raise ModelFormatError("event.rho is out of range.")
    noise = rebuild("event.noise", lambda: Noise(parts["noise"]))
    return ReleaseEvent(
        step=Step.parse(of_type("event.name", parts["name"], str)),
        neighboring=rebuild("event.neighboring", lambda: Neighboring.parse(parts["neighboring"])),
        rho=rho,
        n_draws=_count("event.n_draws", parts["n_draws"]),
        smallest_scale=_count("event.smallest_scale", parts["smallest_scale"]),
        noise_stddev={block: _stddev(value) for block, value in stddev.items()},
        noise=noise,
        pure_epsilon=_pure_epsilon(parts["pure_epsilon"], noise, rho),
    )


def same_events(some: Sequence[ReleaseEvent], others: Sequence[ReleaseEvent]) -> bool:
    """Say whether these are the same releases, up to rounding between platforms."""
    return len(some) == len(others) and all(map(_same_event, some, others))


def _same_event(a: ReleaseEvent, b: ReleaseEvent) -> bool:
    numbers = ((a.rho, b.rho), (a.smallest_scale, b.smallest_scale), (a.pure_epsilon, b.pure_epsilon))
    return (
        (a.step, a.noise, a.n_draws, a.neighboring) == (b.step, b.noise, b.n_draws, b.neighboring)
        and set(a.noise_stddev) == set(b.noise_stddev)
        and all(math.isclose(x, y, rel_tol=1e-6) for x, y in numbers)
        and all(math.isclose(a.noise_stddev[k], b.noise_stddev[k], rel_tol=1e-6) for k in a.noise_stddev)
    )


def _stddev(value: object) -> float:
    stddev = number("event.noise_stddev", value)
    if stddev < 0:
        raise ModelFormatError("event.noise_stddev is out of range.")
    return stddev


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


def _count(name: str, value: object) -> int:
    count = of_type(name, value, int)
    if not 1 <= count <= LARGEST_SCALE:
        raise ModelFormatError(f"{name} is out of range.")
    return count
