"""Synthetic records of a released model, complete or with missing values, computed from the release alone."""

from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.bases.fitted import FittedBase
from dpmorse.bases.randomness import seed_of
from dpmorse.exceptions import InvalidParameterError
from dpmorse.profiles import draw_missing
from dpmorse.profiles import draw_records as draw_encoded
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
    if profile is None:
        points, components = base.mixture_.sample(n, rng)
    else:
        points, components = draw_encoded(profile, base.partition_, schema, n, rng)
    numbers = base.mixture_.numbers_of(points)
    if not schema.stated:
        return numbers, components
    np.clip(numbers, schema.layout.lower, schema.layout.upper, out=numbers)
    if with_holes:
        missing = np.zeros((n, len(schema.names)), dtype=np.bool_)
        if profile is not None:
            missing = draw_missing(profile, schema, components, rng)
        make_holes(points, missing, schema)
    return schema.decode(points), components


def make_holes(points: FloatArray, missing: BoolArray, schema: Schema) -> None:
    """Leave values out of encoded records, in place: columns of ``missing`` are numbers, then categories.

    A number whose missing values have a category of their own is left out where that says so.
    """
    layout, n_numbers = schema.layout, schema.layout.n_numbers
    levels, holes = points[:, layout.level_part], missing[:, :n_numbers].copy()
    for j, part in zip(schema.tracked, layout.levels[len(schema.categories) :], strict=True):
        holes[:, j] = levels[:, part][:, 1] > 0  # the second of its two levels
    points[:, layout.hole_part] = holes[:, list(layout.holes)]
    points[:, layout.number_part][holes] = np.broadcast_to(layout.middle, holes.shape)[holes]
    for hidden, part in zip(missing.T[n_numbers:], layout.levels, strict=False):
        levels[hidden, part] = 0.0
