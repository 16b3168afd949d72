r"""Sensitivities of counts, sums and second moments of cells: the proofs, in exact arithmetic.

Let ``phi(z) = (c, a z, b s(z))`` with c, a, b the inverse noise standard deviations of counts, sums
and (diagonal) second moments, and ``s(z)`` the part of ``z z^T`` that is released: ``vech_w``,
with ``w`` <= sqrt 2 the ratio of diagonal to off-diagonal noise; the diagonal; or the trace. A
record adds ``phi(z)`` to the block of its cell. All of this is exact: the record, or its residual,
is already on the grid, and the sums are integers.

**Largest norm.** ``|phi|^2 = c^2 + a^2 |z|^2 + b^2 |s|^2``, and ``|s|^2`` is at most

* full: ``sum_i z_i^4 + w^2 sum_{i<j} z_i^2 z_j^2 <= min(P^2, D + w^2 D (D-1)/2)``, by w^2 <= 2 and
  at a corner of the box;
* diagonal: ``sum_i z_i^4 <= min(P^2, P)``, by |z_i| <= 1;
* trace: ``|z|^4 <= P^2``.

We call this bound ``M``, and ``N = c^2 + a^2 P + b^2 M``.

**Add or remove one record**: exactly one term appears or disappears. Squared sensitivity N.

**Replace one**, different cells: two orthogonal blocks change, 2 N.
**Replace one**, same cell: the count stays, and with ``t = <z, z'>`` we have
``<s(z), s(z')> >= h t^2``: full, ``(w^2/2) t^2 + (1 - w^2/2) sum z_i^2 z'_i^2``, so h = w^2/2;
diagonal, ``sum z_i^2 z'_i^2``, so h = 1/D by Cauchy and Schwarz; trace, ``|z|^2 |z'|^2``, so h = 1.
Hence ``|phi - phi'|^2 <= 2 a^2 P + 2 b^2 M - 2 a^2 t - 2 b^2 h t^2``, largest over ``|t| <= P`` at
``t = -min(P, a^2 / (2 b^2 h))``. The sensitivity is the larger of the two cases; with one cell
only the second exists.

**Soft cells.** A record adds ``gamma_k phi(z_k)`` to every cell k, with gamma >= 0, sum gamma <= 1
(= 1 for one cell) and, for residuals, another ``z_k`` in each cell. The squared distance of two
such vectors is convex in (gamma, gamma'), so its maximum is at vertices: one-hot vectors, the
cases above, or 0, which is no worse. Soft costs what hard costs.

**Residuals.** ``z_k`` depends on the record and on released values only, and |z_k| <= 1 = P. Profile cells
(``profiles.py``) are hard cells of this kind: the cell is that of the record clipped to one domain, ``z_k``
that of the record clipped to another, and both domains are released values.

**Partial cells.** Where a record may have no cell it adds 0, the vertex of the last paragraph; only for a
single cell does this matter, since there a replaced record may enter or leave it: N.

**Laplace noise** asks for the L1 norm, in units of scales 1/c, 1/a, 1/b that are the same on and off the
diagonal. In the box ``|z|_1 <= D``, in a ball ``|z|_1 <= sqrt(D P)``; we call the smaller of both ``L``.
``|s|_1`` is at most ``(|z|_1^2 + |z|^2) / 2 <= (L^2 + P) / 2`` for the full matrix's lower triangle and
``P`` for its diagonal or its trace. Adding or removing a record costs ``c + a L + b |s|_1``, replacing one
at most twice that, without ``c`` if there is one cell only. The norm is convex, so soft cells cost as
much as hard ones here too.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from dpmorse.privacy import Neighboring, Norm
from dpmorse.typing import FloatArray


class SecondMoments(StrEnum):
    """The part of ``z z^T`` that is released: the matrix, its diagonal, its trace ``|z|^2``, or nothing."""

    FULL = "full"
    DIAGONAL = "diagonal"
    TRACE = "trace"
    NONE = "none"


@dataclass(frozen=True)
class InverseScales:
    """The c, a, b of the proof, and w^2: inverse noise of counts, sums and second moments."""

    count: Fraction
    sum: Fraction
    second: Fraction
    squared_ratio: Fraction


@dataclass(frozen=True)
class RecordBounds:
    """Bounds of what one record adds to its cell; see the module's docstring.

    Parameters
    ----------
    n_features : int
        D.
    squared_norm : Fraction
        P, the largest ``|z|^2``.
    second_moments : SecondMoments
        Which ``s(z)`` is released.
    only_cell : bool
        Whether every record is in one and the same cell.
    """

    n_features: int
    squared_norm: Fraction
    second_moments: SecondMoments
    only_cell: bool

    def __post_init__(self) -> None:
        """Normalise strings to enum members."""
        object.__setattr__(self, "second_moments", SecondMoments(self.second_moments))

    def sensitivity(self, scales: InverseScales, neighboring: Neighboring, norm: Norm) -> Fraction:
        """Return the sensitivity in units of the noise: an L1 norm, or a squared L2 norm."""
        return (self.l1 if norm is Norm.L1 else self.squared_l2)(scales, neighboring)

    def largest_norms(self, w2: Fraction, norm: Norm) -> FloatArray:
        """Return the largest norms of 1, z and s(z)."""
        if norm is Norm.L1:
            return np.array([1.0, float(self.l1_norm), float(self.l1_second_norm)])
        return np.sqrt([1.0, float(self.squared_norm), float(self.squared_second_norm(w2))])

    def squared_l2(self, scales: InverseScales, neighboring: Neighboring) -> Fraction:
        """Return the squared L2 sensitivity in units of the noise: twice the zCDP cost."""
        c2, a2, b2, w2 = scales.count**2, scales.sum**2, scales.second**2, scales.squared_ratio
        if w2 > 2:
            raise ValueError("off-diagonal noise must be at least 1/sqrt(2) of the diagonal noise")
        P, M, h = self.squared_norm, self.squared_second_norm(w2), self._h(w2)
        largest_norm = c2 + a2 * P + b2 * M
        if neighboring is Neighboring.ADD_REMOVE:
            return largest_norm
        t = -P if b2 * h == 0 else -min(P, a2 / (2 * b2 * h))
        same_cell = 2 * a2 * P + 2 * b2 * M - 2 * a2 * t - 2 * b2 * h * t * t
        return same_cell if self.only_cell else max(2 * largest_norm, same_cell)

    def l1(self, scales: InverseScales, neighboring: Neighboring) -> Fraction:
        """Return the L1 sensitivity in units of Laplace noise: the pure epsilon."""
        moments = scales.sum * self.l1_norm + scales.second * self.l1_second_norm
        if neighboring is Neighboring.ADD_REMOVE:
            return scales.count + moments
        return 2 * moments if self.only_cell else 2 * (scales.count + moments)

    def squared_second_norm(self, w2: Fraction) -> Fraction:
        """Return the M of the proof."""
        d, P = self.n_features, self.squared_norm
        if self.second_moments is SecondMoments.FULL:
            return min(P * P, d + w2 * d * (d - 1) / 2)
        if self.second_moments is SecondMoments.DIAGONAL:
            return min(P * P, P)
        return P * P if self.second_moments is SecondMoments.TRACE else Fraction(0)

    @property
    def l1_norm(self) -> Fraction:
        """Return the L of the proof, rounded up."""
        root = math.sqrt(self.n_features * float(self.squared_norm))
        return min(Fraction(self.n_features), Fraction(root * (1 + 1e-12)))

    @property
    def l1_second_norm(self) -> Fraction:
        """Return the largest |s|_1."""
        if self.second_moments is SecondMoments.FULL:
            return (self.l1_norm**2 + self.squared_norm) / 2
        return Fraction(0) if self.second_moments is SecondMoments.NONE else self.squared_norm

    def _h(self, w2: Fraction) -> Fraction:
        if self.second_moments is SecondMoments.FULL:
            return w2 / 2
        if self.second_moments is SecondMoments.DIAGONAL:
            return Fraction(1, self.n_features)
        return Fraction(1 if self.second_moments is SecondMoments.TRACE else 0)
