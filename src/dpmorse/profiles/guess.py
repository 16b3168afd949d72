"""The best guess of each component's mean and covariance, from released sums and what was expected of them.

Sums are unbiased, and for few records they are mostly noise. The coordinates of a profile are where its
components were expected: mean 0 and covariance I, by releases that had more of the budget. What differs from
that by no more than its noise is shrunk away. Intervals are not shrunk: they are those of the sums.

A missing value stands at its component's origin and adds nothing to sums and second moments. Divided by the
number of all records they would be too small; divided by that of the values that are there they are right.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpmorse._threads import one_blas_thread
from dpmorse.densities import james_stein, shrink_to_identity
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.typing import BoolArray, FloatArray

_LEAST_PART = 0.05
"""Smallest part of a component's records in which a column is taken to be there."""


@dataclass(frozen=True)
class Guess:
    """Mean and covariance of u for each component: (0, I) where the sums say no more."""

    steps: FloatArray
    spreads: FloatArray

    @classmethod
    def of(cls, profile: Profile) -> "Guess":
        """Shrink the moments of a profile by their noise."""
        d, known = profile.n_features, profile.supported()
        counts = np.where(known, profile.counts, 1.0)
        steps = profile.sums / counts[:, None]
        noise = d * (profile.radii * profile.sum_stddev / counts) ** 2
        steps *= (known * james_stein(np.square(steps).sum(axis=1), noise))[:, None]
        spreads = profile.second_moments / counts[:, None, None] - steps[:, :, None] * steps[:, None]
        with one_blas_thread():
            spreads = shrink_to_identity(spreads, profile.radii**2 * profile.second_moment_stddev / counts)
        return cls(steps, np.where(known[:, None, None], spreads, np.eye(d)))

    def means(self, profile: Profile) -> FloatArray:
        """Return the means in the units of the table, inside the bounds."""
        moved = profile.origins + np.einsum("kij,kj->ki", profile.factors, self.steps)
        inside: FloatArray = np.clip(moved, profile.lower, profile.upper)
        return inside

    def variances(self, profile: Profile) -> FloatArray:
        """Return the variance of each column."""
        variances: FloatArray = np.einsum("kij,kjl,kil->ki", profile.factors, self.spreads, profile.factors)
        return variances


@dataclass(frozen=True)
class Known:
    """Numbers of values that are there.

    Attributes
    ----------
    counts : ndarray of shape (n_components, n_columns)
        Records of the component in which the column is there.
    stddev : ndarray of shape (n_columns,)
        Noise of such a count.
    """

    counts: FloatArray
    stddev: FloatArray

    @classmethod
    def of(cls, profile: Profile) -> Self | None:
        """Return those of a profile; None where no number may be missing."""
        counted, holes = profile.levels, list(profile.levels.layout.holes)
        if not holes:
            return None
        counts = np.tile(profile.counts[:, None], profile.n_features)
        counts[:, holes] -= counted.holes
        stddev = np.full(profile.n_features, profile.count_stddev)
        stddev[holes] = np.hypot(profile.count_stddev, counted.stddev)
        return cls(counts, stddev)

    def unsure(self, members: FloatArray) -> BoolArray:
        """Say of which clusters and columns there may be no value at all."""
        noise = np.sqrt(members.sum(axis=1))[:, None] * self.stddev
        few: BoolArray = members @ self.counts <= SUPPORT * noise
        return few

    def guess(self, profile: Profile, members: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of clusters, with sums that are shrunk by their noise."""
        weights = members[:, :, None] * np.maximum(self.counts, 1.0)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        filled = self._filled(profile)
        guess = Guess.of(filled)
        of_components = guess.means(filled)
        means = np.einsum("ckj,kj->cj", weights, of_components)
        offsets = of_components[None] - means[:, None]
        return means, np.einsum("ckj,ckj->cj", weights, guess.variances(filled) + offsets**2)

    def _filled(self, profile: Profile) -> Profile:
        """Return the sums as if the values that are there were those of all records.

        Offsets x - o are divided by the part p that is there; their products by sqrt(p_i p_j), which is right
        for variances and leaves second moments positive.
        """
        of_all = np.maximum(profile.counts, 1.0)[:, None]
        parts = np.clip(self.counts / of_all, _LEAST_PART, 1.0)
        inverse = np.linalg.inv(profile.factors)
        to_all = inverse / parts[:, None] @ profile.factors
        to_squares = inverse / np.sqrt(parts)[:, None] @ profile.factors
        return replace(
            profile,
            sums=np.einsum("kij,kj->ki", to_all, profile.sums),
            second_moments=to_squares @ profile.second_moments @ to_squares.transpose(0, 2, 1),
        )
