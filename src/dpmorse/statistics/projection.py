"""Records projected on directions that were released: integers, exact in any order of additions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmorse.typing import FloatArray

if TYPE_CHECKING:
    from dpmorse.statistics.domain import Domain

MATRIX_BITS = 16
"""Entries of the matrix are multiples of 2^-16: directions are off by an angle of at most sqrt(D) 2^-17."""


@dataclass(frozen=True, eq=False)
class Projection:
    """The map from a record to ``A t``: t its integers in a domain, A a matrix of integers.

    Both are made of released values and one record is mapped at a time, so that ``A t`` depends on that
    record and on released values only. The next domain bounds it; no sensitivity relies on its size.

    Parameters
    ----------
    domain : Domain
        Where records are clipped first.
    matrix : ndarray of shape (n_directions, n_columns)
        Whole numbers of at most 2^16 in size.
    """

    domain: "Domain"
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
