"""Encoded records as vectors in a box: the domains that all stages look at them in.

A record is ``[holes | numbers | levels]`` (``schema/layout.py``); missing values and levels are told by 0 or
1. Whatever a stage looks at is a linear function of it, with released coefficients, on integers.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmorse.schema import Layout
from dpmorse.statistics import FINE_GRID_BITS, GRID_BITS, MATRIX_BITS, Domain, Projection
from dpmorse.typing import FloatArray, IntArray

_ROOM = 1 + 1e-9
"""Factor of the radius of the ball that holds all levels of a record: none may be shrunk by a rounding."""


def encoded_domain(
    layout: Layout, lower: FloatArray, upper: FloatArray, grid_bits: int = GRID_BITS
) -> Domain:
    """Return the box of encoded records whose numbers lie between these bounds."""
    holes, levels = np.ones(layout.n_holes), np.ones(layout.n_all_levels)
    return Domain(
        np.concatenate([-holes, lower, -levels]), np.concatenate([holes, upper, levels]), grid_bits=grid_bits
    )


def numbers_of(layout: Layout) -> Domain:
    """Return the public box of the numbers alone, in steps of a fine grid around the middle of the bounds."""
    return _selected(layout, np.arange(layout.width)[layout.number_part])


def counted_of(layout: Layout) -> Domain:
    """Return the ball that holds what every record tells of missing values and levels."""
    places = np.r_[layout.hole_part, layout.level_part]
    domain = _selected(layout, places)
    radius = math.sqrt(layout.n_holes + layout.n_categories) * _ROOM
    return Domain(domain.lower, domain.upper, radius=radius, projection=domain.projection)


def _selected(layout: Layout, places: IntArray) -> Domain:
    public = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), FINE_GRID_BITS)
    steps = np.full(len(places), 2.0**FINE_GRID_BITS)
    return Domain(-steps, steps, projection=Projection(public, np.eye(layout.width)[places]))


def linear_box(box: Domain, matrix: FloatArray, reach: float) -> Domain:
    """Return the box of values up to ``reach`` of a linear function of records; coefficients have 16 bits.

    Parameters
    ----------
    box : Domain
        A box of encoded records on the fine grid.
    matrix : ndarray of shape (n_values, width)
        From scaled units of the box, in which missing values and levels are 0 or 1, to values.
    reach : float
        Largest value.
    """
    largest = float(np.abs(matrix).max())
    projection = Projection(box, np.rint(matrix * (2.0**MATRIX_BITS / largest)))
    steps = np.full(len(matrix), reach * 2.0 ** (FINE_GRID_BITS + MATRIX_BITS) / largest)
    return Domain(-steps, steps, projection=projection)


def whiten_numbers(
    layout: Layout, box: Domain, means: FloatArray, factors: npt.NDArray[np.floating[Any]]
) -> tuple[FloatArray, FloatArray]:
    """Return rows of scores: numbers in coordinates of components, ``L_k^-1 (z - m_k) / sqrt 2``.

    They are linear functions of encoded records, as matrices and shifts; those of missing values and levels
    are 0. Means and Cholesky factors are in scaled units of the box. A missing number adds what moves it to
    the mean.
    """
    k, part, holes = len(means), layout.number_part, list(layout.holes)
    whiten, shift = np.zeros((k, layout.width, layout.width)), np.zeros((k, layout.width))
    inverse = np.linalg.inv(factors) * math.sqrt(0.5)
    whiten[:, part, part], shift[:, part] = inverse, -np.einsum("kij,kj->ki", inverse, means)
    offsets = place_of_missing(layout, box) - means
    whiten[:, part, layout.hole_part] = -inverse[:, :, holes] * offsets[:, None, holes]
    return whiten, shift


def place_of_missing(layout: Layout, box: Domain) -> FloatArray:
    """Return where a missing number stands in a box of encoded records, in its scaled units: one for each."""
    record = np.zeros((1, layout.width))
    record[:, layout.number_part] = layout.middle
    steps = box.quantise(record)[0, layout.number_part].astype(np.float64)
    return steps * 2.0**-box.grid_bits
