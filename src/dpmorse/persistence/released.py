"""What a fit has released, as plain data of a model file, and back: a mixture, its domain and its profile.

The mixture of a table labels records itself. Where a profile has mended a mixture of Gaussians, labels are
those of the one before, the partition.
"""

from collections.abc import Mapping
from typing import Any

from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.documents import (
    domain_from_dict,
    domain_to_dict,
    mixture_from_dict,
    mixture_to_dict,
)
from dpmorse.persistence.products import product_from_dict, product_to_dict
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
    parts: dict[str, Any] = {"partition": None, "profile": None}
    if isinstance(mixture, ProductMixture):
        parts["mixture"] = product_to_dict(mixture)
        parts["profile"] = None if profile is None else table_profile_to_dict(profile)
    else:
        parts["mixture"] = mixture_to_dict(mixture)
        if profile is not None:
            parts |= {"partition": mixture_to_dict(partition), "profile": number_profile_to_dict(profile)}
    parts["domain"] = domain_to_dict(domain)
    return {name: parts[name] for name in RELEASED}


def released_from_dict(fields: Mapping[str, Any]) -> Released:
    """Rebuild what was released; every field is checked."""
    is_table = isinstance(fields["mixture"], dict) and "layout" in fields["mixture"]
    return _of_table(fields) if is_table else _of_numbers(fields)


def _of_table(fields: Mapping[str, Any]) -> Released:
    mixture = product_from_dict(fields["mixture"])
    domain = domain_from_dict(fields["domain"], mixture.layout.width)
    if fields["partition"] is not None:
        raise ModelFormatError("partition must be null for a table: its mixture labels records.")
    if fields["profile"] is None:
        return mixture, domain, None, None
    profile = table_profile_from_dict(fields["profile"], mixture.n_components, mixture.layout)
    return mixture, domain, None, profile


def _of_numbers(fields: Mapping[str, Any]) -> Released:
    """Rebuild the mixture of numbers; a partition and a profile come together."""
    mixture = mixture_from_dict(fields["mixture"])
    domain = domain_from_dict(fields["domain"], mixture.n_features)
    if (fields["partition"] is None) != (fields["profile"] is None):
        raise ModelFormatError("partition and profile must be given together, or both be null.")
    if fields["profile"] is None:
        return mixture, domain, None, None
    partition = mixture_from_dict(fields["partition"], "partition")
    profile = number_profile_from_dict(fields["profile"], mixture.n_components, mixture.n_features)
    if partition.means.shape != mixture.means.shape:
        raise ModelFormatError("partition must have the components of the mixture.")
    return mixture, domain, partition, profile
