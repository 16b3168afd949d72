"""Synthetic records of a released model, complete or with missing values, computed from the release alone."""

from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.bases.fitted import FittedBase
from dpmorse.bases.randomness import seed_of
from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles import SUPPORT, Profile, level_table
from dpmorse.schema import Schema
from dpmorse.typing import BoolArray, FloatArray, IntArray

_NO_SHARES = (
    "missing=True needs to know how often values are missing, and this model has no profile. Fit with "
    "profile=True, or draw complete records with missing=False."
)

_NO_TABLE = (
    "missing=True is for models of tables: this one was fitted without columns, and no value of its "
    "records is missing. Draw complete records with missing=False."
)


def draw_records(
    base: FittedBase, n_samples: object, random_state: Any, *, missing: object = False
) -> tuple[Any, IntArray]:
    """Draw synthetic records of a base's mixture, inside the bounds, and the component of each.

    They are an array, or decoded columns by name where columns were stated. With ``missing``, values are left
    out as often as those of each component were missing; without, a number is always there.
    """
    n, with_holes = _validate.positive_int(n_samples=n_samples), _validate.boolean(missing=missing)
    profile, schema = base.profile_, base.schema_
    if with_holes and not schema.stated:
        raise InvalidParameterError(_NO_TABLE)
    if with_holes and profile is None and any(column.missing == "ignore" for _, column in schema.columns):
        raise InvalidParameterError(_NO_SHARES)
    rng = np.random.default_rng(None if random_state is None else seed_of(random_state))
    points, components = base.mixture_.sample(n, rng)
    numbers = base.mixture_.numbers_of(points)
    if not schema.stated:
        return numbers if profile is None else np.clip(numbers, profile.lower, profile.upper), components
    np.clip(numbers, schema.layout.lower, schema.layout.upper, out=numbers)
    if with_holes and not schema.layout.only_numbers:
        parts = np.zeros((base.mixture_.n_components, base.n_features_in_))
        if profile is not None:
            parts = missing_parts(profile, schema)
        make_holes(points, rng.random((n, parts.shape[1])) < parts[components], schema)
    return schema.decode(points), components


def missing_parts(profile: Profile, schema: Schema) -> FloatArray:
    """Return how often each column is missing in each component: numbers first, then categories.

    A component that the noise hides has the parts of all components together. Columns with
    ``missing="level"`` have 0: whether they are missing is drawn with the levels.
    """
    k = profile.n_components
    own = level_table(profile, np.eye(k)).missing.value
    of_all = level_table(profile, np.ones((1, k))).missing.value
    seen = profile.counts > SUPPORT * profile.count_stddev
    parts = np.where(seen[:, None], own, of_all)
    described = [*schema.numbers, *schema.categories]
    return parts[:, : len(described)] * [column.missing == "ignore" for _, column in described]


def make_holes(points: FloatArray, missing: BoolArray, schema: Schema) -> None:
    """Leave values out of encoded records, in place: columns of ``missing`` are numbers, then categories.

    A number whose missing values have a category of their own is left out where that says so.
    """
    layout, n_numbers = schema.layout, schema.layout.n_numbers
    levels = points[:, layout.level_part]
    holes = missing[:, :n_numbers].copy()
    for j, part in zip(schema.tracked, layout.levels[len(schema.categories) :], strict=True):
        holes[:, j] = levels[:, part][:, 1] > 0  # the second of its two levels
    points[:, layout.hole_part] = holes[:, list(layout.holes)]
    points[:, layout.number_part][holes] = np.broadcast_to(layout.middle, holes.shape)[holes]
    for hidden, part in zip(missing.T[n_numbers:], layout.levels, strict=False):
        levels[hidden, part] = 0.0
