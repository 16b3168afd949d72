"""The profile of a table with categories and holes as plain data of a model file; every field is checked."""

from typing import Any

from dpmorse._plain_data import fields, number, rebuild
from dpmorse.exceptions import ModelFormatError
from dpmorse.persistence.arrays import array_of
from dpmorse.persistence.documents import profile_from_dict, profile_to_dict
from dpmorse.profiles import LevelProfile, TableProfile
from dpmorse.schema import Layout

_ARRAYS, _STDDEVS = ("counts", "holes", "levels"), ("count_stddev", "level_stddev")


def table_profile_to_dict(profile: TableProfile) -> dict[str, Any]:
    """Return a profile as plain data; its layout is that of the mixture."""
    levels = profile.levels
    return {
        "levels": {
            **{name: getattr(levels, name).tolist() for name in _ARRAYS},
            **{name: float(getattr(levels, name)) for name in _STDDEVS},
        },
        "numbers": None if profile.numbers is None else profile_to_dict(profile.numbers),
    }


def table_profile_from_dict(content: object, n_components: int, layout: Layout) -> TableProfile:
    """Rebuild a profile; its constructors check what is in its parts, and the parts against one another."""
    parts = fields("profile", content, "levels", "numbers")
    numbers = None
    if parts["numbers"] is not None:
        numbers = profile_from_dict(parts["numbers"], n_components, layout.n_numbers)
    return rebuild("profile", lambda: TableProfile(_levels(parts["levels"], n_components, layout), numbers))


def _levels(content: object, n_components: int, layout: Layout) -> LevelProfile:
    parts = fields("profile.levels", content, *_ARRAYS, *_STDDEVS)
    values: dict[str, Any] = {name: array_of("profile.levels", name, parts[name]) for name in _ARRAYS}
    values |= {name: number(f"profile.levels.{name}", parts[name]) for name in _STDDEVS}
    if values["counts"].shape != (n_components,):
        raise ModelFormatError("profile.levels.counts does not have the components of the mixture.")
    return LevelProfile(**values, layout=layout)
