"""Tables of the fused kernel: the domain and the cells in its layout, and the decoding of its sums."""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpmorse.statistics import GRID_BITS, ROUNDING_BITS, Domain, GaussianCells
from dpmorse.typing import FloatArray, IntArray

TILE = 64
"""Products ``z_i z_j`` that the kernel works on at a time: the rows of one product of matrices."""

RAISED = (1 << 2 * GRID_BITS) + (0x6400 << 16)
"""What the kernel adds to a product: 2^24, which makes it positive, and the bits that turn its highest digit
into the float16 number 1024 + digit."""

_BIAS = (1 << 2 * GRID_BITS) + 1024 * (1 + (1 << 8) + (1 << 16))
"""What the sum of the three digits of one product exceeds the product by: 2^24, and 1024 in each digit."""


class FastRule(NamedTuple):
    """Scores in float16 and float32, and the bound on their error below which their order is not decided.

    ``bound`` holds an absolute part, 1 minus a proportional part, and the unit of squares.
    """

    coefficients: npt.NDArray[np.float16]
    constants: npt.NDArray[np.float32]
    bound: npt.NDArray[np.float32]


def grid_table(domain: Domain, width: int) -> FloatArray:
    """Return centre, largest and lowest offset from it, steps and squared radius, padded with zeros."""
    grid = np.zeros((5, width))
    half = domain.half_width
    grid[:4, : domain.n_features] = domain.centre, half, -half, domain.steps_per_unit
    grid[4] = domain.largest_squared_norm
    return grid


def fast_rule(cells: GaussianCells, width: int) -> FastRule:
    r"""Return scores as products of float16 matrices, and what is known of their error.

    A record is ``(a_j, a_j, b_j, 2^10)`` for each column j, with ``q_j = 4 a_j + b_j``, ``|a_j| <= 2^10``
    and ``|b_j| <= 2``. Its coefficients are two halves of ``4 f_ij``, one of ``f_ij``, and three of
    ``2^-10 offset_i``, dealt out to the first columns; all are scaled by a power of two to be normal numbers.

    What is lost by these halves is known exactly. Products of float16 numbers are exact in float32, and their
    sum of n = 4 ``width`` terms is off by at most ``(n + 8) 2^-23`` times the sum of their sizes: additions
    have at least single precision, of unspecified rounding and order. This gives the error of each ``y_i``,
    hence ``d``, how far |y| is from the exact |v|, rounding to v included; from there on the argument is that
    of ``in_memory._single_precision``.
    """
    n_cells, d = cells.offsets.shape
    factors = np.zeros((n_cells + -n_cells % 4, width, width))
    offsets = np.zeros(factors.shape[:2])
    to_root_nats = 2.0 ** -(cells.score_bits + ROUNDING_BITS)
    factors[:n_cells, :d, :d] = cells.factors * to_root_nats
    offsets[:n_cells, :d] = cells.offsets * (to_root_nats / 1024)
    # A power of two, which loses no bit: the largest coefficient comes to lie between 2^14 and 2^15.
    scale = 2.0 ** (15 - np.frexp(max(4 * np.abs(factors).max(), np.abs(offsets).max()))[1])
    coefficients, lost = _in_halves(factors * scale, offsets * scale)
    sizes = np.abs(coefficients).astype(np.float64) @ np.tile([1024, 1024, 2, 1024], width)
    off = lost + (4 * width + 8) * 2.0**-23 * sizes
    distance = np.linalg.norm(off, axis=1).max() / scale + 0.5 * np.sqrt(d) * 2.0**-cells.score_bits
    relative = 2 * (width + 4) * 2.0**-24
    absolute, proportional = 4 * (4 * distance + distance**2), 4 * (distance / 4 + relative)
    # Cells that only pad to a multiple of four get a constant so large that no record is nearest to them.
    constants = np.full(len(factors), 1e30)
    constants[:n_cells] = cells.constants * 4.0**-cells.score_bits
    bound = np.array([absolute, 1 - proportional, scale**-2], dtype=np.float32)
    return FastRule(_in_order_of_threads(coefficients), constants.astype(np.float32), bound)


def _in_halves(factors: FloatArray, offsets: FloatArray) -> tuple[npt.NDArray[np.float16], FloatArray]:
    """Return coefficients of shape (K, D, 4 D) and how much each row can lose by them."""
    first, single = _half(4 * factors), _half(factors)
    second = _half(4 * factors - first)
    coefficients = np.stack([first, second, single, np.zeros_like(single)], axis=3)
    rest = offsets
    for j in range(3):
        coefficients[:, :, j, 3] = _half(rest)
        rest = rest - coefficients[:, :, j, 3]
    lost = 1024 * np.abs(4 * factors - first - second.astype(np.float64)) + 2 * np.abs(factors - single)
    return coefficients.reshape(*offsets.shape, -1), lost.sum(axis=2) + 1024 * np.abs(rest)


def _half(values: FloatArray) -> npt.NDArray[np.float16]:
    """Round to float16, and subnormal numbers to 0: tensor cores need not support them."""
    rounded = values.astype(np.float16)
    return np.where(np.abs(rounded) < 2.0**-14, np.float16(0), rounded)


def _in_order_of_threads(coefficients: npt.NDArray[np.float16]) -> npt.NDArray[np.float16]:
    """Return a matrix for every eight cells, and for four that may be left, one after the other.

    In eight columns of a product of matrices, four threads of a warp hold two each: so for every four cells
    and two coordinates, there is a column for each cell and, beside it, one for its other coordinate.
    """
    width = coefficients.shape[1]
    fours = coefficients.reshape(-1, 4, width // 2, 2, 4 * width).transpose(0, 4, 2, 1, 3)
    fours = fours.reshape(-1, 4 * width, 4 * width)
    in_pairs = len(fours) // 2 * 2
    pairs = fours[:in_pairs].reshape(-1, 2, 4 * width, 4 * width).swapaxes(1, 2)
    return np.concatenate([pairs.ravel(), fours[in_pairs:].ravel()])


@cache
def picks_of(n_features: int, width: int) -> npt.NDArray[np.int8]:
    """Return L and R, which pick the factors of products out of ``h``, ``l`` and 1; a pair for each tile."""
    coordinates = np.zeros((1 + n_features, 4 * width), dtype=np.int8)
    coordinates[0, 1] = 1
    for j in range(n_features):
        coordinates[1 + j, [4 * j, 4 * j + 2]] = 64, 1
    rows, columns = np.tril_indices(n_features)
    first = np.concatenate([np.arange(1 + n_features), 1 + rows])
    second = np.concatenate([np.zeros(1 + n_features, dtype=int), 1 + columns])
    both = np.stack([coordinates[first], coordinates[second]])
    padded = np.pad(both, ((0, 0), (0, -len(first) % TILE), (0, 0)))
    return padded.reshape(2, -1, TILE, 4 * width).swapaxes(0, 1)


def decode(totals: IntArray, n_features: int, n_cells: int) -> IntArray:
    """Combine the sums of digits, and subtract the bias once for every record of a cell."""
    low, middle, high = np.moveaxis(totals, 1, 0)
    raised = (low + (middle << 8) + (high << 16)).reshape(-1, totals.shape[-1])
    # The first product is 1 for every record, so that its raised sum is n (bias + 1).
    counts = raised[0] // (_BIAS + 1)
    sums: IntArray = (raised - counts * _BIAS)[: n_sums(n_features), :n_cells].T
    return sums


def n_sums(n_features: int) -> int:
    """Return how many sums a cell has: a count, sums, lower second moments."""
    return 1 + n_features + n_features * (n_features + 1) // 2
