"""Cells of records: a rule made of released values, evaluated exactly on integers.

The privacy proof needs the cell of a record to depend on that record and on released values only. A
floating-point matrix product breaks this, since the last bit of a score may depend on the other rows of
the batch. Here every intermediate value is an integer below 2^53 held in float64, so that all sums are
exact in any order, on any machine, with or without fused multiply-add.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.statistics.domain import GRID_BITS
from dpmorse.typing import FloatArray, IntArray

ROUNDING_BITS = 25
"""Extra bits of ``u`` that are rounded away before squaring, so that |v|^2 fits in 53 bits."""

WEIGHT_BITS = 12
"""Soft responsibilities are multiples of 2^-12, so that they are added up as integers."""

TABLE_STEPS_PER_NAT = 1024
"""Steps of the table of e^-t: a responsibility is looked up to a thousandth of a nat."""

SMALLEST_PART = 0.01
"""The table ends where a weight falls below this part of the record's largest one: a cell that is a hundred
times less likely has no share in a record. Such shares are many, take time and change little."""

_N_STEPS = math.ceil(-math.log(SMALLEST_PART) * TABLE_STEPS_PER_NAT)
EXP_TABLE = np.floor(2.0**20 * np.exp(-np.arange(_N_STEPS) / TABLE_STEPS_PER_NAT))
"""The table: floor(2^20 e^-t)."""

LARGEST_N_CELLS = 2000
"""Most cells for which 2^12 2^20 / (sum of table entries) is exact; see ``responsibilities``."""

LARGEST_RESIDUAL = 4.0**GRID_BITS
"""Squared norm, in steps of the grid, that residuals are shrunk to: that of a ball of radius 1."""

_NORM_BITS = 26
"""Factors are scaled so that |v| <= 2^26, and |v|^2 + constant < 2^53 is exact in float64."""


@dataclass(frozen=True)
class GaussianCells:
    """Integer form of the scores -ln(w_k N(z; m_k, S_k)) of a released mixture.

    For a quantised record ``q``: ``u = offsets_k + factors_k q`` (exact), ``v = rint(2^-25 u)``,
    ``score_k = constants_k + |v|^2`` (exact), in units of ``4^-score_bits`` nats. The lowest score wins,
    ties go to the lowest index.

    Attributes
    ----------
    factors : ndarray of shape (n_cells, n_features, n_features)
        Lower triangular, integer-valued.
    offsets : ndarray of shape (n_cells, n_features)
        Integer-valued.
    constants : ndarray of shape (n_cells,)
        Integer-valued, non-negative, the smallest one 0.
    score_bits : int
        Resolution of the scores.
    radii : ndarray of shape (n_cells,)
        Radius of the ball that residuals are shrunk to, in standard deviations of the cell.
    grid_bits : int
        Resolution of the records that the rule is for.
    """

    factors: FloatArray
    offsets: FloatArray
    constants: FloatArray
    score_bits: int
    radii: FloatArray
    grid_bits: int = GRID_BITS

    @classmethod
    def from_mixture(
        cls,
        weights: FloatArray,
        means: FloatArray,
        covariances: FloatArray,
        radii: FloatArray | float = 1.0,
        grid_bits: int = GRID_BITS,
    ) -> "GaussianCells":
        """Round a mixture in scaled units, with weights > 0 and positive definite covariances.

        ``y = (S_k^(1/2))^-1 (z - m_k) / sqrt 2`` has ``|y|^2`` = half the squared Mahalanobis distance.
        """
        cholesky = np.linalg.cholesky(covariances)
        whiten = np.linalg.inv(cholesky) * math.sqrt(0.5)
        shift = -np.einsum("kij,kj->ki", whiten, means)
        half_log_det = np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
        return cls.from_scores(whiten, shift, half_log_det - np.log(weights), radii, grid_bits)

    @classmethod
    def from_scores(
        cls,
        whiten: FloatArray,
        shift: FloatArray,
        constants: FloatArray,
        radii: FloatArray | float = 1.0,
        grid_bits: int = GRID_BITS,
    ) -> "GaussianCells":
        """Round scores ``constants_k + |shift_k + whiten_k z|^2`` in nats, of ``z`` in the box [-1, 1]^D.

        ``whiten`` is lower triangular. A number added to all constants changes no cell.
        """
        constants = constants - constants.min()
        reach = np.linalg.norm(np.abs(shift) + np.abs(whiten).sum(axis=2), axis=1).max()
        # The finest resolution at which |v| <= 2^26 + sqrt(D) and the largest constant is at most 2^51.
        for_norm = math.floor(_NORM_BITS - math.log2(reach))
        for_constant = math.floor((2 * _NORM_BITS - 1 - math.log2(max(constants.max(), 1.0))) / 2)
        bits = min(for_norm, for_constant)
        scale = 2.0 ** (bits + ROUNDING_BITS)
        return cls(
            factors=np.rint(np.tril(whiten) * (scale * 2.0**-grid_bits)),
            offsets=np.rint(shift * scale),
            constants=np.rint(constants * 4.0**bits),
            score_bits=bits,
            radii=np.broadcast_to(radii, len(constants)).astype(np.float64),
            grid_bits=grid_bits,
        )

    @classmethod
    def nearest(cls, centres: FloatArray, radii: FloatArray | float = 1.0) -> "GaussianCells":
        """Return the cells of the nearest centre; residuals are offsets from it, in scaled units."""
        k, d = centres.shape
        return cls.from_mixture(np.full(k, 1 / k), centres, np.broadcast_to(np.eye(d), (k, d, d)), radii)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.constants.size)

    def scores(self, q: IntArray) -> FloatArray:
        """Return the exact scores, shape (n_samples, n_cells), of integer records (plain form)."""
        u = self.offsets + np.einsum("kij,nj->nki", self.factors, q.astype(np.float64))
        v = np.rint(u * 2.0**-ROUNDING_BITS)
        exact: FloatArray = self.constants + np.square(v).sum(axis=2)
        return exact

    def labels(self, q: IntArray) -> IntArray:
        """Return the cell of each integer record (plain form)."""
        labels: IntArray = self.scores(q).argmin(axis=1)
        return labels

    def responsibilities(self, q: IntArray) -> IntArray:
        """Return soft memberships in units of 2^-12 (plain form).

        Guarantees
        ----------
        Non-negative, and each row sums to at most 2^12: the quotients are rounded down. The float
        quotient of integers a < 2^33, b < 2^31 is either an integer or at least 2^-31 away from one, more
        than its rounding error, so its floor is the exact integer quotient.
        """
        scores = self.scores(q)
        behind = scores - scores.min(axis=1, keepdims=True)
        steps = np.floor(behind * self.steps_per_score)
        weight = np.where(
            steps < EXP_TABLE.size, EXP_TABLE[np.minimum(steps, EXP_TABLE.size - 1).astype(int)], 0.0
        )
        shares = np.floor(weight * 2.0**WEIGHT_BITS / weight.sum(axis=1, keepdims=True))
        whole: IntArray = shares.astype(np.int64)
        return whole

    def residuals(self, q: IntArray) -> IntArray:
        """Return each record in the whitened coordinates of each cell, as integers (plain form).

        ``v`` is the exact integer form of ``L_k^-1 (z - m_k) / sqrt 2``. It is rounded to steps of
        ``2^-12 radii_k`` standard deviations and shrunk to the ball of that radius.

        Returns
        -------
        residuals : ndarray of shape (n_samples, n_cells, n_features)

        Guarantees
        ----------
        ``sum_j r_j^2 <= 4^12``, by the argument of ``Domain.quantise``. A residual depends on its record
        and on released values only: products and square roots are correctly rounded, one at a time.
        """
        u = self.offsets + np.einsum("kij,nj->nki", self.factors, q.astype(np.float64))
        r = np.rint(np.rint(u * 2.0**-ROUNDING_BITS) * self.residual_steps[:, None])
        squared_norm = np.zeros(r.shape[:2])
        for column in range(r.shape[2]):  # in this order: beyond 2^53 sums are rounded
            squared_norm += np.square(r[:, :, column])
        shrink = np.sqrt(LARGEST_RESIDUAL / np.maximum(squared_norm, LARGEST_RESIDUAL))
        whole: IntArray = np.trunc(r * shrink[:, :, None]).astype(np.int64)
        return whole

    @property
    def residual_steps(self) -> FloatArray:
        """Steps of a residual per unit of ``v``, for each cell."""
        return math.sqrt(2) * 2.0 ** (GRID_BITS - self.score_bits) / self.radii

    @property
    def steps_per_score(self) -> float:
        """Table steps per unit of score: a power of two."""
        return TABLE_STEPS_PER_NAT * 4.0**-self.score_bits
