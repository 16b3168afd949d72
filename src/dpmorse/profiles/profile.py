"""What a fit released about the records of each component: how many, where, how far spread.

The numbers are sums with noise of known size, in coordinates that each component has of its own. Sums of
several components are sums again, so that every cut of a tree has its table (``table.py``).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema import Layout
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Released numbers of records of each component with each missing value and level.

    Attributes
    ----------
    holes : ndarray of shape (n_components, n_holes)
        Records in which a number is missing, for each number that may be.
    levels : ndarray of shape (n_components, n_all_levels)
        Records with each level, one category after the other.
    stddev : float
        Noise of such a number.
    layout : Layout
        Which columns these are.
    """

    holes: FloatArray
    levels: FloatArray
    stddev: float
    layout: Layout

    @classmethod
    def none(cls, n_components: int, layout: Layout) -> Self:
        """Return those of columns of numbers that are always there: none are counted."""
        return cls(np.empty((n_components, 0)), np.empty((n_components, 0)), 1.0, layout)

    def __post_init__(self) -> None:
        """Check that the parts fit to one another."""
        shapes = {"holes": self.layout.n_holes, "levels": self.layout.n_all_levels}
        for name, width in shapes.items():
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.ndim != 2 or value.shape[1] != width or not np.isfinite(value).all():
                raise InvalidParameterError(f"profile: {name} must be finite and have the layout's shape.")
            object.__setattr__(self, name, value)
        named = {"profile.level_stddev": self.stddev}
        _validate.positive_real(hint="", **named)


_NO_LEVELS = LevelCounts.none(0, Layout((), ()))

_STDDEVS = ("count_stddev", "sum_stddev", "second_moment_stddev", "tail_stddev")


@dataclass(frozen=True)
class Profile:
    r"""Released sums over the records of each component.

    A record x of component k has the coordinates u = F_k^-1 (x - o_k), shrunk to a ball of radius r_k. Of a
    table x are the columns that are numbers; a missing number adds nothing, for it stands at the component's
    origin. A table without numbers has sums without columns (``Profile.of_levels``).

    Attributes
    ----------
    counts : ndarray of shape (n_components,)
        Number of records.
    sums : ndarray of shape (n_components, n_features)
        Of u.
    second_moments : ndarray of shape (n_components, n_features, n_features)
        Of u u^T.
    tails : ndarray of shape (n_components, n_bins)
        Records with lengths \|u\| from ``edges`` b to b + 1, in the last bin all beyond.
    edges : ndarray of shape (n_bins,)
        Where the bins of ``tails`` begin: the first just outside of what a normal distribution has.
    origins, factors, radii : ndarrays
        o_k, F_k (lower triangular) and r_k; o_k and F_k are in the units of the table.
    lower, upper : ndarray of shape (n_features,)
        Bounds that records were clipped to.
    piled : ndarray of shape (n_features, 2)
        1 where a column piles up at its lower or upper bound, else 0.
    count_stddev, tail_stddev : float
        Noise of a count, and of a count in ``tails``.
    sum_stddev, second_moment_stddev : float
        Noise of an entry of a sum where r_k = 1, and of a diagonal entry of a second moment.
    levels : LevelCounts
        Records with each level of a category, and without each number; default: there are neither.
    """

    counts: FloatArray
    sums: FloatArray
    second_moments: FloatArray
    tails: FloatArray
    edges: FloatArray
    origins: FloatArray
    factors: FloatArray
    radii: FloatArray
    lower: FloatArray
    upper: FloatArray
    piled: FloatArray
    count_stddev: float
    sum_stddev: float
    second_moment_stddev: float
    tail_stddev: float
    levels: LevelCounts = _NO_LEVELS

    @classmethod
    def of_levels(cls, counts: FloatArray, count_stddev: float, levels: LevelCounts) -> Self:
        """Return the profile of a table in which no column is a number; the noise of sums is that of none."""
        k = np.size(counts)
        none, squares = np.empty((k, 0)), np.empty((k, 0, 0))
        return cls(
            counts, none, squares, tails=np.zeros((k, 1)), edges=np.ones(1), origins=none,
            factors=squares, radii=np.ones(k), lower=np.empty(0), upper=np.empty(0), piled=np.empty((0, 2)),
            count_stddev=count_stddev, sum_stddev=1.0, second_moment_stddev=1.0, tail_stddev=1.0,
            levels=levels,
        )  # fmt: skip

    def __repr__(self) -> str:
        noise = f"noise of a size {self.count_stddev:.3g}"
        return f"Profile({self.n_components} components, {self.n_features} columns, {noise})"

    def __post_init__(self) -> None:
        """Check that the parts fit to one another."""
        if np.ndim(self.sums) != 2 or np.ndim(self.edges) != 1 or not np.size(self.edges):
            raise InvalidParameterError("profile: sums must be a matrix, and edges a list of numbers.")
        (k, d), n_bins = np.shape(self.sums), np.size(self.edges)
        shapes = {
            "counts": (k,), "sums": (k, d), "second_moments": (k, d, d), "origins": (k, d),
            "factors": (k, d, d), "radii": (k,), "lower": (d,), "upper": (d,),
            "tails": (k, n_bins), "edges": (n_bins,), "piled": (d, 2),
        }  # fmt: skip
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name), dtype=np.float64)
            if value.shape != shape or not np.isfinite(value).all():
                raise InvalidParameterError(
                    f"profile: {name} must be finite and have the shape of the others."
                )
            object.__setattr__(self, name, value)
        for name in _STDDEVS:
            _validate.positive_real(**{f"profile.{name}": getattr(self, name)})
        if self.levels is _NO_LEVELS:
            layout = Layout(tuple(self.lower.tolist()), tuple(self.upper.tolist()))
            object.__setattr__(self, "levels", LevelCounts.none(k, layout))
        for what, holds in self._claims().items():
            if not holds:
                raise InvalidParameterError(f"profile: {what}.")

    def _claims(self) -> dict[str, bool]:
        """Return what must hold of the values, and whether it does."""
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2)
        return {
            "numbers and levels must have the same components": len(self.levels.levels) == self.n_components
            and len(self.levels.holes) == self.n_components,
            "numbers and levels must have the same columns": self.levels.layout.n_numbers == self.n_features,
            "piled must be 0 or 1": bool(np.isin(self.piled, (0.0, 1.0)).all()),
            "radii must be positive": bool(np.all(self.radii > 0)),
            "lower must be at most upper": bool(np.all(self.lower <= self.upper)),
            "edges must be positive and grow": bool(np.all(np.diff(self.edges, prepend=0.0) > 0)),
            "factors must be lower triangular, with a positive diagonal": bool(
                np.all(diagonals > 0) and not np.triu(self.factors, 1).any()
            ),
        }

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.counts.size)

    @property
    def n_features(self) -> int:
        """Number of columns that are numbers."""
        return int(self.lower.size)

    def supported(self) -> BoolArray:
        """Say which components hold more records than noise alone would."""
        seen: BoolArray = self.counts > SUPPORT * self.count_stddev
        return seen


SUPPORT = 3.0
"""A number of records below this many standard deviations of its noise may be noise alone."""
