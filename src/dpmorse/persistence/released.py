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
    mixture_from_dict,
    mixture_to_dict,
    product_from_dict,
    product_to_dict,
)
from dpmorse.persistence.profiles import (
    number_profile_from_dict,
    number_profile_to_dict,
    table_profile_from_dict,
    table_profile_to_dict,
)
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
    parts = {"domain": domain_to_dict(domain), "partition": None, "profile": None}
    if isinstance(mixture, ProductMixture):
        parts = {"mixture": product_to_dict(mixture), **parts}
        return parts if profile is None else {**parts, "profile": table_profile_to_dict(profile)}
    parts = {"mixture": mixture_to_dict(mixture), **parts}
    if profile is None:
        return parts
    return {**parts, "partition": mixture_to_dict(partition), "profile": number_profile_to_dict(profile)}


def released_from_dict(parts: Mapping[str, Any]) -> Released:
    """Rebuild what was released; every field is checked."""
    is_table = isinstance(parts["mixture"], dict) and "layout" in parts["mixture"]
    return _of_table(parts) if is_table else _of_numbers(parts)


def _of_table(parts: Mapping[str, Any]) -> Released:
    mixture = product_from_dict(parts["mixture"])
    domain = domain_from_dict(parts["domain"], mixture.layout.width)
    if parts["partition"] is not None:
        raise ModelFormatError("partition must be null for a table: its mixture labels records.")
    if parts["profile"] is None:
        return mixture, domain, None, None
    profile = table_profile_from_dict(parts["profile"], mixture.n_components, mixture.layout)
    return mixture, domain, None, profile


def _of_numbers(parts: Mapping[str, Any]) -> Released:
    """Rebuild the mixture of numbers; a partition and a profile come together."""
    mixture = mixture_from_dict(parts["mixture"])
    domain = domain_from_dict(parts["domain"], mixture.n_features)
    if (parts["partition"] is None) != (parts["profile"] is None):
        raise ModelFormatError("partition and profile must be given together, or both be null.")
    if parts["profile"] is None:
        return mixture, domain, None, None
    partition = mixture_from_dict(parts["partition"], "partition")
    profile = number_profile_from_dict(parts["profile"], mixture.n_components, mixture.n_features)
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
