"""The public domain: a box in the caller's units, optionally a ball inside it, and an integer grid.

Records may be projected on released directions first: the domain is then in the space of these directions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.schema import LARGEST_BOUND, least_width, too_narrow
from dpmorse.typing import FloatArray, IntArray

GRID_BITS = 12
"""A scaled coordinate is a multiple of 2^-12: the rounding adds at most 5e-9 to a variance."""

FINE_GRID_BITS = 20
"""Bits of the grid on which records are counted in the end (``ProfileCounts``): a millionth of the box's
half-width. Whole numbers up to 2^20 are exact in float32, which compiled passes keep records in."""

MATRIX_BITS = 16
"""Entries of the matrix are multiples of 2^-16: directions are off by an angle of at most sqrt(D) 2^-17."""

PRIVATE = "private"
"""The value of ``bounds`` that asks for them to be found privately."""

_BOUNDS_HINT = (
    "Give bounds=(lower, upper), scalars or one value per column in the units of X, such as "
    '([0, 60], [110, 220]), from public knowledge; or bounds="private" to spend a part of the budget on them.'
)


@dataclass(frozen=True)
class Domain:
    """The region that records are clipped to; made of public values only.

    A record ``x`` becomes the integer vector ``q = rint(2^g z)``, ``z = (clip(x) - centre) / half_width``
    in the box [-1, 1]^D; with a ``radius`` it is then shrunk towards the centre until ``|z| <= radius``.
    Each record is mapped by itself, by correctly rounded operations in a fixed order, so that the result
    is the same on every engine and does not depend on any other record.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_features,)
        Bounds of each column, in the caller's units. Equal bounds make a constant column, which maps to 0.
    radius : float or None
        Radius of the ball, in scaled units (the box has half-width 1); None keeps the box.
    grid_bits : int
        A scaled coordinate is a multiple of 2^-grid_bits.
    projection : Projection or None
        Applied to records first; ``lower`` and ``upper`` are then in its units.
    """

    lower: FloatArray
    upper: FloatArray
    radius: float | None = None
    grid_bits: int = GRID_BITS
    projection: "Projection | None" = None

    @classmethod
    def from_bounds(
        cls, bounds: object, n_features: int, radius: object = None, names: Sequence[object] | None = None
    ) -> "Domain":
        """Validate the parameters ``bounds`` and ``radius`` of an estimator; columns may have names."""
        if isinstance(bounds, str) and bounds == PRIVATE:
            return cls.unknown(n_features, radius)
        if bounds is None:
            raise InvalidParameterError(f"bounds must be given, got None. {_BOUNDS_HINT}")
        if not isinstance(bounds, tuple | list | np.ndarray) or len(bounds) != 2:
            raise InvalidTypeError(
                f"bounds must be a pair (lower, upper), got {_validate.describe(bounds)}. {_BOUNDS_HINT}"
            )
        lower = _one_per_column("lower", bounds[0], n_features)
        upper = _one_per_column("upper", bounds[1], n_features)
        _check_order(lower, upper, names)
        return cls(lower, upper, _checked_radius(radius))

    @classmethod
    def unknown(cls, n_features: int, radius: object = None) -> "Domain":
        """Return a placeholder for bounds that are still to be released."""
        one = np.ones(n_features)
        return cls(-one, one, _checked_radius(radius))

    @property
    def n_features(self) -> int:
        """Number of columns, or of directions that records are projected on."""
        return int(self.lower.size)

    @property
    def n_columns(self) -> int:
        """Number of columns of the records themselves."""
        return self.n_features if self.projection is None else self.projection.domain.n_features

    @property
    def centre(self) -> FloatArray:
        """Middle of the box, in the caller's units."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def half_width(self) -> FloatArray:
        """Half the width of the box, in the caller's units; 0 for a constant column."""
        return (self.upper - self.lower) / 2

    @property
    def unit(self) -> FloatArray:
        """Length of a scaled unit in the caller's units: the half-width, or 1 for a constant column."""
        return np.where(self.half_width > 0, self.half_width, 1.0)

    @property
    def steps_per_unit(self) -> FloatArray:
        """Grid steps per unit of each column; 0 for a constant column."""
        return np.where(self.half_width > 0, 2.0**self.grid_bits / self.unit, 0.0)

    @property
    def largest_squared_norm(self) -> int:
        """Largest sum of squares of a quantised record that lies in the box and the ball, in grid steps."""
        box = self.n_features << (2 * self.grid_bits)
        if self.radius is None:
            return box
        return min(box, math.floor(Fraction(self.radius) ** 2 * (1 << 2 * self.grid_bits)))

    def is_same_as(self, other: "Domain") -> bool:
        """Say whether both have the same box, ball, grid and projection."""
        boxes_agree = np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)
        if not boxes_agree or (self.radius, self.grid_bits) != (other.radius, other.grid_bits):
            return False
        mine, theirs = self.projection, other.projection
        if mine is None or theirs is None:
            return mine is theirs
        return mine.domain.is_same_as(theirs.domain) and np.array_equal(mine.matrix, theirs.matrix)

    def clip(self, X: FloatArray) -> FloatArray:
        """Return points moved into the box and the ball, in the caller's units and without rounding."""
        inside: FloatArray = np.clip(X, self.lower, self.upper)
        if self.radius is None:
            return inside
        scaled = (inside - self.centre) / self.unit
        return self.centre + self.unit * shrink_to_ball(scaled, self.radius)

    def quantise(self, X: FloatArray) -> IntArray:
        """Return the integer records of an array of shape (n_samples, n_features).

        The plain form of what every engine computes; see ``engine/_kernels.py`` for the compiled one.

        Guarantees
        ----------
        ``|q_j| <= 2^g`` and ``sum_j q_j^2 <= largest_squared_norm``. For the ball: the factor
        ``sqrt(R2 / n2)`` is wrong by a relative 2^-52 at most, and truncation towards zero never raises a
        coordinate, so the squared norm is at most ``R2 (1 + 2^-50) < R2 + 1``; being an integer, it is
        at most ``R2``. (R2 is below 2^50 for up to 2^26 columns on the usual grid, 2^10 on the fine one,
        whose norms no sensitivity relies on.)
        """
        points = np.asarray(X, dtype=np.float64) if self.projection is None else self.projection.apply(X)
        offset = points - self.centre
        inside = np.where(offset < self.half_width, offset, self.half_width)  # np.clip would let NaN pass
        inside = np.where(inside > -self.half_width, inside, -self.half_width)
        q = np.rint(inside * self.steps_per_unit)
        if self.radius is not None:
            squared_norm = np.square(q).sum(axis=1)
            limit = float(self.largest_squared_norm)
            shrink = np.sqrt(limit / np.maximum(squared_norm, limit))
            q = np.trunc(q * shrink[:, None])
        return q.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Projection:
    """The map from a record to ``A t``: t its integers in a domain, A a matrix of integers.

    Both are made of released values and one record is mapped at a time, so that ``A t`` depends on that
    record and on released values only. The next domain bounds it; no sensitivity relies on its size.

    Parameters
    ----------
    domain : Domain
        The domain that records are clipped to first.
    matrix : ndarray of shape (n_directions, n_columns)
        Whole numbers of at most 2^16 in size.
    """

    domain: Domain
    matrix: FloatArray

    def __post_init__(self) -> None:
        """Refuse what would not be exact: ``|t_j| <= 2^20``, so sums over 2^17 columns are below 2^53."""
        shape_fits = self.matrix.ndim == 2 and self.matrix.shape[1] == self.domain.n_features
        if not shape_fits or self.domain.projection is not None:
            raise ValueError("matrix must have the columns of the domain, which must project nothing itself")
        if np.any(self.matrix != np.rint(self.matrix)) or np.any(np.abs(self.matrix) > 2.0**MATRIX_BITS):
            raise ValueError("matrix must hold whole numbers of at most 2^16 in size")

    def apply(self, X: FloatArray) -> FloatArray:
        """Return the projected records, whole numbers, of shape (n_samples, n_directions) (plain form)."""
        return self.domain.quantise(X).astype(np.float64) @ self.matrix.T


def refuse_other_grids(domain: Domain) -> None:
    """Refuse a domain whose grid is not the usual one, where sensitivities or bins are in steps of that."""
    if domain.grid_bits != GRID_BITS:
        raise ValueError("records themselves are added up and counted on the usual grid only")


def shrink_to_ball(points: FloatArray, radius: float) -> FloatArray:
    """Move points outside a ball around the origin to its surface."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    inside: FloatArray = points * (radius / np.maximum(norms, radius))
    return inside


def _one_per_column(name: str, values: object, n_features: int) -> FloatArray:
    """Return bounds as one float per column."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # lists of different lengths
        array = np.asarray("not numbers")
    if array.dtype.kind not in "fiub":
        raise InvalidTypeError(
            f"bounds: {name} must be numbers, got {_validate.describe(values)}. {_BOUNDS_HINT}"
        )
    array = array.astype(np.float64)
    if array.ndim > 1 or (array.ndim == 1 and array.size != n_features):
        raise InvalidParameterError(
            f"bounds: {name} must be a scalar or have one value for each of the {n_features} columns, "
            f"got shape {array.shape}."
        )
    if not np.all(np.isfinite(array)) or np.any(np.abs(array) > LARGEST_BOUND):
        raise InvalidParameterError(
            f"bounds: {name} must be finite and at most {LARGEST_BOUND:g} in size, "
            f"got {_validate.describe(values)}. {_BOUNDS_HINT}"
        )
    return np.array(np.broadcast_to(array, n_features))


def _checked_radius(radius: object) -> float | None:
    if radius is None:
        return None
    value = _validate.positive_real(radius=radius)
    if value < 2.0**-GRID_BITS:
        raise InvalidParameterError(
            f"radius must be at least one grid step, 2^-{GRID_BITS} of the box's half-width, "
            f"got {_validate.describe(radius)}. It is in scaled units: the box is [-1, 1] in each column."
        )
    return value


def _check_order(lower: FloatArray, upper: FloatArray, names: Sequence[object] | None) -> None:
    width = upper - lower
    if np.all(width == 0):
        raise InvalidParameterError(
            "bounds: lower equals upper in every column, so that all records would look the same. The order "
            "is (lower, upper): all lower bounds first, then all upper bounds, not one pair per column."
        )
    if np.any(width < 0):
        column = int(np.flatnonzero(width < 0)[0])
        alike = np.all(lower == lower[0]) and np.all(upper == upper[0])
        where = "" if alike else f" in {_called(column, names)}"
        raise InvalidParameterError(
            f"bounds: lower must not exceed upper, got {lower[column]:g} > {upper[column]:g}{where}. "
            f"{_BOUNDS_HINT}"
        )
    narrow = too_narrow(lower, upper)
    if narrow.any():
        column = int(np.flatnonzero(narrow)[0])
        least = least_width(lower, upper)[column]
        raise InvalidParameterError(
            f"bounds: {_called(column, names)} is {width[column]:g} wide, less than {least:g}. Rescale it, "
            "or give equal bounds for a constant column."
        )


def _called(column: int, names: Sequence[object] | None) -> str:
    """Return how an error calls a column: by its name, or by its place, counted from 0."""
    return f"column {column}" if names is None else f"the column {names[column]!r}"
