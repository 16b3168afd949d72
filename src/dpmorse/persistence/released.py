"""What a fit has released, as plain data of a model file, and back: a mixture, its domain and its profile.

The mixture of a table labels records itself. Where a profile has mended a mixture of Gaussians, labels are
those of the one before, the partition.
"""

from collections.abc import Mapping
from typing import Any

from dpmorse._plain_data import fields, numbers, rebuild
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.mixtures import (
    gaussians_from_dict,
    gaussians_to_dict,
    mixture_from_dict,
    mixture_to_dict,
)
from dpmorse.persistence.profiles import profile_from_dict, profile_to_dict
from dpmorse.profiles import Profile
from dpmorse.statistics import Domain

RELEASED = ("mixture", "domain", "partition", "profile")
"""The parts of a model file that are written here."""

Released = tuple[GaussianMixture | ProductMixture, Domain, GaussianMixture | None, Profile | None]
"""The same, as objects."""


def released_to_dict(
    mixture: GaussianMixture | ProductMixture, domain: Domain, partition: Any, profile: Profile | None
) -> dict[str, Any]:
    """Return what was released as plain data."""
    apart = partition is not mixture
    return {
        "mixture": mixture_to_dict(mixture),
        "domain": domain_to_dict(domain),
        "partition": gaussians_to_dict(partition) if apart else None,
        "profile": None if profile is None else profile_to_dict(profile),
    }


def released_from_dict(parts: Mapping[str, Any]) -> Released:
    """Rebuild what was released; every field is checked."""
    mixture = mixture_from_dict(parts["mixture"])
    domain, partition, profile = domain_from_dict(parts["domain"], mixture.layout.width), None, None
    if isinstance(mixture, ProductMixture):
        if parts["partition"] is not None:
            raise ModelFormatError("partition must be null for a table: its mixture labels records.")
    elif (parts["partition"] is None) != (parts["profile"] is None):
        raise ModelFormatError("partition and profile must be given together, or both be null.")
    if parts["profile"] is not None:
        profile = profile_from_dict(parts["profile"], mixture.n_components, mixture.layout)
    if parts["partition"] is not None:
        partition = gaussians_from_dict(parts["partition"], "partition")
        if partition.means.shape != mixture.means.shape:
            raise ModelFormatError("partition must have the components of the mixture.")
    return mixture, domain, partition, profile


def domain_to_dict(domain: Domain) -> dict[str, Any]:
    """Return a domain as plain data."""
    return {"lower": domain.lower.tolist(), "upper": domain.upper.tolist(), "radius": domain.radius}


def domain_from_dict(content: object, n_features: int) -> Domain:
    """Rebuild a domain; it is checked like a caller's bounds."""
    parts = fields("domain", content, "lower", "upper", "radius")
    bounds = [numbers(f"domain.{side}", parts[side], n_features) for side in ("lower", "upper")]
    return rebuild("domain", lambda: Domain.from_bounds(bounds, n_features, parts["radius"]))
