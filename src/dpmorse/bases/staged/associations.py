"""The directions in which records of a table differ, and a start for the components found along them.

One release of the second moments of encoded records shows which columns go together. What a column does by
itself is known from its marginal, and is no structure: directions are those of the largest variance relative
to that of independent columns and to the noise.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.staged.encoded import linear_box, place_of_missing
from dpmorse.bases.staged.levels import TableUnits
from dpmorse.bases.staged.units import Units, radius_of_ball
from dpmorse.statistics import CellMoments, GaussianCells, MomentShares
from dpmorse.typing import FloatArray

_SHARES = MomentShares(count=0.01, sum=0.04, second_moment=0.95)
"""Shares of the stage's cost: it is about second moments, and their centre is known."""

_RADIUS = (1.1, 0.3)
"""Records are shrunk to a length of 1.1 times the root mean square, plus 0.3."""

_REACH = 4.0
"""Half-width of the box around that ball, in its radii; what lies outside keeps its direction roughly."""

LEAST_DIRECTIONS, MOST_DIRECTIONS = 3, 12
"""The fewest and the most directions that the start is found in, of those that stand out from the noise."""

_LEAST_VARIANCE = 1e-3
"""Smallest variance along a direction."""


@dataclass(frozen=True)
class TableDirections:
    """Directions, as a linear function of records, and how a place along them is decoded."""

    units: Units
    """Units of records along the directions: their mean variance is 1."""

    scale: float
    """What 1 in these units is along the directions."""

    decoder: FloatArray
    """The regression of standardised columns on the directions, shape (n_columns, n_directions)."""

    def decode(self, points: FloatArray) -> FloatArray:
        """Return the standardised columns that are expected at places along the directions."""
        return np.asarray(self.scale * points @ self.decoder.T)


def release_table_directions(queries: Queries, table: TableUnits, stage: Stage) -> TableDirections:
    """Spend a stage on second moments of all standardised columns; choose directions by what they show."""
    columns = _standardised(table)
    total = float((table.numbers.variances * table.observed).sum() + table.present.sum())
    radius = _RADIUS[0] * math.sqrt(total) + _RADIUS[1]
    statistic = CellMoments(linear_box(table.outer, columns, _REACH * radius), 1, of_residuals=True)
    ball = GaussianCells.nearest(np.zeros((1, statistic.domain.n_features)), 1 / _REACH)
    scales = queries.calibrate(statistic, stage.cost, _SHARES)
    noisy = queries.moments(stage.step(), statistic, ball, scales)
    scatter = noisy.second_moments[0] * radius**2 / table.n_records
    stddev = noisy.second_moment_stddev * radius**2 / table.n_records
    directions, scatter = _leading(scatter, stddev, table)
    # The variance along each direction, and the regression of all columns on them.
    positive = _power(scatter, 1.0, floor=1e-4)
    along = _power(directions @ positive @ directions.T, 1.0, floor=_LEAST_VARIANCE)
    decoder: FloatArray = positive @ directions.T @ np.linalg.inv(along)
    variances = np.maximum(np.diagonal(along), _LEAST_VARIANCE)
    scale, reach = math.sqrt(float(variances.mean())), radius_of_ball(len(variances))
    ball_along = replace(linear_box(table.outer, directions @ columns, reach * scale), radius=1.0)
    return TableDirections(Units(ball_along, reach, variances / scale**2, table.n_records), scale, decoder)


def _standardised(table: TableUnits) -> FloatArray:
    """Return the matrix from records in ``table.outer`` to columns in comparable units, around their means.

    What is missing is 0. A number is in units of z. Level l of a category is ``w (e_l - p_l)``, which is
    linear in the levels: they add up to 1 where the category is there, and to 0 where it is missing.
    """
    layout, box = table.layout, table.outer
    d, levels = layout.n_numbers, np.arange(layout.width)[layout.level_part]
    matrix = np.zeros((d + layout.n_all_levels, layout.width))
    reach = box.half_width[layout.number_part] / table.numbers.domain.half_width * table.numbers.radius
    places = place_of_missing(layout, box)
    matrix[range(d), np.arange(layout.width)[layout.number_part]] = reach
    matrix[list(layout.holes), range(layout.n_holes)] = -(reach * places)[list(layout.holes)]
    same = layout.category_of_level[:, None] == layout.category_of_level
    centred = np.eye(layout.n_all_levels) - table.marginals[:, None] * same
    matrix[d:, levels] = table.level_scales[:, None] * centred
    return matrix


def _leading(scatter: FloatArray, stddev: float, table: TableUnits) -> tuple[FloatArray, FloatArray]:
    """Return the directions, one a row, and the scatter without what is known to be noise.

    The block of one category is known from its marginal, with less noise. Levels of a category add up to 0,
    so that one direction of each is empty.
    """
    d, alone, empty = table.layout.n_numbers, _independent(table), _without_empty(table)
    known = np.zeros(scatter.shape, dtype=bool)
    of_level = table.layout.category_of_level
    known[d:, d:] = of_level[:, None] == of_level
    scatter = empty @ np.where(known, alone, scatter) @ empty
    edge = stddev * math.sqrt(2 * len(scatter))  # of the noise's spectrum (Wigner)
    whiten = _power(alone + edge * np.eye(len(alone)), -0.5)
    values, vectors = np.linalg.eigh(whiten @ scatter @ whiten)
    # Noise like that of the release, from a fixed seed: its spectrum hardly varies.
    draw = np.random.default_rng(0).standard_normal(scatter.shape) * stddev / math.sqrt(2)
    drawn = np.tril(draw, -1) + np.tril(draw, -1).T + math.sqrt(2) * np.diag(np.diagonal(draw))
    noise = whiten @ empty @ np.where(known, 0.0, drawn) @ empty @ whiten
    n_seen = int((values > float(np.linalg.eigvalsh(noise)[-1])).sum())
    rank = len(scatter) - table.layout.n_categories
    n = min(int(np.clip(n_seen, LEAST_DIRECTIONS, MOST_DIRECTIONS)), rank)
    return vectors[:, ::-1][:, :n].T @ whiten, scatter


def _independent(table: TableUnits) -> FloatArray:
    """Return the covariance of standardised columns that have nothing to do with each other."""
    layout, p, scales = table.layout, table.marginals, table.level_scales
    same = layout.category_of_level[:, None] == layout.category_of_level
    there = table.present[layout.category_of_level]
    levels = (np.diag(p) - np.outer(p, p)) * np.outer(scales, scales) * same * there[:, None]
    d = layout.n_numbers
    alone = np.zeros((d + len(p), d + len(p)))
    alone[:d, :d], alone[d:, d:] = np.diag(table.numbers.variances * table.observed), levels
    return alone


def _without_empty(table: TableUnits) -> FloatArray:
    """Return the projection on what the levels of every category can do: they add up to 0."""
    d, layout = table.layout.n_numbers, table.layout
    columns = np.eye(layout.n_categories)[layout.category_of_level] / table.level_scales[:, None]
    columns /= np.linalg.norm(columns, axis=0)
    projection = np.eye(d + layout.n_all_levels)
    projection[d:, d:] -= columns @ columns.T
    return projection


def _power(matrix: FloatArray, exponent: float, floor: float = 1e-12) -> FloatArray:
    """Return a power of a symmetric matrix whose eigenvalues are raised to a floor."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, floor) ** exponent) @ vectors.T)
