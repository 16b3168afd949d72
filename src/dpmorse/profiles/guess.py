"""The best guess of each component's mean and covariance, from released sums and what was expected of them.

Sums are unbiased, and for few records they are mostly noise. The coordinates of a profile are where its
components were expected: mean 0 and covariance I, by releases that had more of the budget. What differs from
that by no more than its noise is shrunk away. Intervals are not shrunk: they are those of the sums.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse._threads import one_blas_thread
from dpmorse.densities import james_stein, shrink_to_identity
from dpmorse.profiles.profile import Profile
from dpmorse.typing import FloatArray


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
