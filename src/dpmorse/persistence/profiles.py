"""Profiles as plain data of a model file, and back; every field is checked."""

import dataclasses
from typing import Any

import numpy as np

from dpmorse._plain_data import fields, number, of_type, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.mixtures import array_of
from dpmorse.profiles import Profile
from dpmorse.schema import Layout

_NAMES = tuple(field.name for field in dataclasses.fields(Profile))
_WHOLE = ("n_levels", "may_miss")
_REAL = ("size_stddev", "entry_stddev", "outside_stddev")


def profile_to_dict(profile: Profile) -> dict[str, Any]:
    """Return a profile as plain data."""
    parts = {name: getattr(profile, name) for name in _NAMES}
    lists = {name: list(parts[name]) for name in _WHOLE}
    return {
        name: part.tolist() if isinstance(part, np.ndarray) else lists.get(name, part)
        for name, part in parts.items()
    }


def profile_from_dict(content: object, n_components: int, layout: Layout) -> Profile:
    """Rebuild the profile of such a mixture; its constructor checks what is in its parts."""
    parts = fields("profile", content, *_NAMES)

    def build() -> Profile:
        values = {name: _read(name, part) for name, part in parts.items()}
        if values["sizes"].shape != (n_components,) or values["lower"].shape != (layout.n_numbers,):
            raise ModelFormatError("profile does not have the components and numbers of the mixture.")
        if values["n_levels"] != layout.n_levels[: len(values["n_levels"])]:
            raise ModelFormatError("profile.n_levels are not those of the mixture.")
        if not layout.n_numbers:  # lists of nothing have no second and third dimension
            shapes = {"edges": (n_components, 0, 1), "curves": (n_components, 0, 2), "outside": (0, 2)}
            values |= {name: values[name].reshape(shape) for name, shape in shapes.items()}
        return Profile(**values)

    return rebuild("profile", build)


def _read(name: str, part: Any) -> Any:
    """Return a list of whole numbers, a number, or an array of numbers."""
    called = f"profile.{name}"
    if name in _WHOLE:
        return tuple(of_type(called, each, int) for each in of_type(called, part, list))
    if name in _REAL:
        return number(called, part)
    if name == "n_records":
        return None if part is None else number(called, part)
    return array_of("profile", name, part)
