"""Profiles as plain data of a model file, and back; every field is checked.

A file of a fit of numbers has the sums alone; that of a table has them as ``numbers``, beside ``levels``.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpmorse._plain_data import fields, number, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.mixtures import array_of, lower_triangles, unfolded
from dpmorse.profiles import LevelCounts, Profile
from dpmorse.schema import Layout

_MATRICES = ("second_moments", "factors")
"""The parts of which a file holds the lower triangles: symmetric, and lower triangular."""

_OF_NUMBERS = tuple(field.name for field in dataclasses.fields(Profile) if field.name != "levels")

_OF_LEVELS = ("counts", "holes", "levels", "count_stddev", "level_stddev")


def number_profile_to_dict(profile: Profile) -> dict[str, Any]:
    """Return the sums of numbers as plain data; of matrices the lower triangles."""
    parts = {name: np.asarray(getattr(profile, name)).tolist() for name in _OF_NUMBERS}
    for name in _MATRICES:
        del parts[name]
        parts[f"{name}_lower"] = lower_triangles(getattr(profile, name))
    return parts


def table_profile_to_dict(profile: Profile) -> dict[str, Any]:
    """Return the profile of a table as plain data; its layout is that of the mixture."""
    levels = profile.levels
    return {
        "levels": {
            "counts": profile.counts.tolist(),
            "holes": levels.holes.tolist(),
            "levels": levels.levels.tolist(),
            "count_stddev": float(profile.count_stddev),
            "level_stddev": float(levels.stddev),
        },
        "numbers": number_profile_to_dict(profile) if profile.n_features else None,
    }


def number_profile_from_dict(content: object, n_components: int, n_features: int) -> Profile:
    """Rebuild a profile of numbers; its constructor checks what is in its parts."""
    keys = (f"{name}_lower" if name in _MATRICES else name for name in _OF_NUMBERS)
    parts = fields("profile", content, *keys)

    def build() -> Profile:
        values = _read("profile", parts)
        if values["sums"].shape != (n_components, n_features):
            raise ModelFormatError("profile.sums does not have the shape of the mixture.")
        for name in _MATRICES:
            lower = values.pop(f"{name}_lower")
            values[name] = unfolded(f"profile.{name}_lower", lower, n_components, n_features)
        values["second_moments"] += np.tril(values["second_moments"], -1).transpose(0, 2, 1)
        return Profile(**values)

    return rebuild("profile", build)


def table_profile_from_dict(content: object, n_components: int, layout: Layout) -> Profile:
    """Rebuild the profile of a table; constructors check its parts, and the parts against one another."""
    parts = fields("profile", content, "levels", "numbers")
    if (parts["numbers"] is None) != (layout.n_numbers == 0):
        raise ModelFormatError("profile: numbers must be given where there are columns of numbers.")
    numbers = None
    if parts["numbers"] is not None:
        numbers = number_profile_from_dict(parts["numbers"], n_components, layout.n_numbers)
    counted = fields("profile.levels", parts["levels"], *_OF_LEVELS)

    def build() -> Profile:
        values = _read("profile.levels", counted)
        counts, count_stddev = values["counts"], values["count_stddev"]
        if counts.shape != (n_components,):
            raise ModelFormatError("profile.levels.counts does not have the components of the mixture.")
        levels = LevelCounts(values["holes"], values["levels"], values["level_stddev"], layout)
        if numbers is None:
            return Profile.of_levels(counts, count_stddev, levels)
        if not np.array_equal(numbers.counts, counts) or numbers.count_stddev != count_stddev:
            raise ModelFormatError(
                "profile: numbers and levels must have the same counts and noise of counts."
            )
        return dataclasses.replace(numbers, levels=levels)

    return rebuild("profile", build)


def _read(name: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers and arrays of numbers."""
    return {
        key: number(f"{name}.{key}", part) if key.endswith("_stddev") else array_of(name, key, part)
        for key, part in parts.items()
    }
