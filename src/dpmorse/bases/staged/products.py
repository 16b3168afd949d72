"""Last stage: soft expectation-maximisation of products, a Gaussian of the numbers times each category.

A round releases, for each component, the count, the first two moments of the residuals of its numbers in its
own whitened coordinates, and counts of its missing values and levels. A missing number has the component's
mean: it adds nothing to the moments, which are divided by the part of the records that has it.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.estimates import Estimates
from dpmorse.bases.residuals import SUPPORT, maximise
from dpmorse.bases.staged.components import SMALLEST_VARIANCE, radius_of_residuals
from dpmorse.bases.staged.encoded import whiten_numbers
from dpmorse.bases.staged.levels import TableUnits
from dpmorse.densities import ProductMixture, james_stein
from dpmorse.statistics import (
    GRID_BITS,
    WEIGHT_BITS,
    CellMoments,
    GaussianCells,
    MomentShares,
    NoiseScales,
    NoisyMoments,
)
from dpmorse.typing import FloatArray

_COUNT = 0.10
"""Share of a round's cost for counts."""

_COUNT_OF_LEVELS = 0.12
"""The same where there are no numbers."""

_SUMS = 0.39
"""Share of sums in what the moments of numbers get; second moments, which are more, get the rest."""

_OF_A_HOLE = 0.15
"""What a missing value counts, beside a category, where the cost is divided: it corrects moments by a part
that varies little from component to component."""

_START_VARIANCE = 0.5
"""Variance of a number around its component's mean at the start, as a part of that of all records."""

_START_MARGINAL = 0.1
"""Part of the marginals in the probabilities of the start."""

_LEAST_PROBABILITY = 1e-4
"""Smallest probability of a level before marginals are mixed in."""

_MARGINAL = (0.001, 0.5)
"""Least and largest part of the marginals in released probabilities: that of the noise. What noise cannot
exclude stays possible."""

_LEAST_PRESENT = 0.1
"""Smallest part of a component's records in which a column is taken to be there."""


@dataclass(frozen=True)
class Products:
    """Components on their way to a release: Gaussians in units of z, and probabilities of levels."""

    gaussians: Estimates
    probabilities: FloatArray

    @classmethod
    def of_numbers(cls, gaussians: Estimates) -> "Products":
        """Return products without categories."""
        return cls(gaussians, np.zeros((len(gaussians), 0)))

    def __len__(self) -> int:
        return len(self.gaussians)

    def kept(self, at_least: int) -> "Products":
        """Drop unsupported components, but keep the heaviest ones that were asked for."""
        keep = self.gaussians.supported.copy()
        keep[np.argsort(-self.gaussians.weights)[:at_least]] = True
        return Products(self.gaussians.kept(at_least), self.probabilities[keep])

    def mixture(self, table: TableUnits) -> ProductMixture:
        """Return the mixture in the units of the table."""
        found, box = self.gaussians, table.numbers.domain
        unit = box.unit / table.numbers.radius
        means, covariances = box.centre + unit * found.means, found.covariances * np.outer(unit, unit)
        return ProductMixture(found.weights, means, covariances, self.probabilities, table.layout)


def start_from(columns: FloatArray, table: TableUnits) -> Products:
    """Return components of equal weight at places given by standardised columns."""
    k, d = len(columns), table.layout.n_numbers
    variances = np.maximum(_START_VARIANCE * table.numbers.variances, SMALLEST_VARIANCE)
    covariances = np.tile(np.diag(variances), (k, 1, 1))
    of_level, p = table.layout.category_of_level, table.marginals
    moved = p + columns[:, d:] / table.level_scales / np.maximum(table.present, _LEAST_PRESENT)[of_level]
    own = np.clip(moved, 0.02 * p + 0.002, 1.0)
    for levels in table.layout.levels:
        own[:, levels] /= own[:, levels].sum(axis=1, keepdims=True)
    means = table.numbers.project(columns[:, :d])
    gaussians = Estimates(np.full(k, 1 / k), means, covariances, np.ones(k, dtype=bool))
    return Products(gaussians, (1 - _START_MARGINAL) * own + _START_MARGINAL * p)


@dataclass(frozen=True)
class RoundsOfProducts:
    """Rounds that measure products, in the units of a table."""

    table: TableUnits

    @property
    def shares(self) -> MomentShares:
        """Shares of a round's cost: those of numbers and levels go by the number of columns."""
        layout = self.table.layout
        if not layout.n_numbers:
            return MomentShares(count=0.5, sum=0.5, levels=1 - _COUNT_OF_LEVELS)  # there are no sums
        n_counted = layout.n_categories + _OF_A_HOLE * layout.n_holes
        levels = (1 - _COUNT) * n_counted / (n_counted + layout.n_numbers)
        moments = 1 - _COUNT / (1 - levels)
        sums = _SUMS * moments
        return MomentShares(count=1 - moments, sum=sums, second_moment=(1 - _SUMS) * moments, levels=levels)

    def statistic(self, n_components: int) -> CellMoments:
        """Return counts, two moments of residuals, levels and missing values."""
        table = self.table
        return CellMoments(table.domain, n_components, WEIGHT_BITS, of_residuals=True, layout=table.layout)

    def noise_of_an_entry(self, one: CellMoments, scales: NoiseScales) -> float:
        """Return the noise of a covariance entry or of a probability, whichever is larger."""
        layout, unit = self.table.layout, 2.0**-one.unit_bits / self.table.n_records
        of_levels = scales.level * unit if layout.n_categories else 0.0
        if not layout.n_numbers:
            return of_levels
        squared_radius = radius_of_residuals(layout.n_numbers) ** 2
        return max(of_levels, squared_radius * scales.diagonal * unit)

    def cells(self, components: Products) -> GaussianCells:
        """Return the rule that gives encoded records their memberships."""
        return cells_of(components, self.table)

    def maximise(self, previous: Products, noisy: NoisyMoments, relaxation: float) -> Products:
        """Return the components estimated from a release."""
        table, last = self.table, previous.gaussians
        if table.layout.n_numbers:
            radius = radius_of_residuals(table.layout.n_numbers)
            observed = _observed(noisy, table) if table.layout.n_holes else None
            project, least = table.numbers.project, SMALLEST_VARIANCE
            gaussians = maximise(
                last, noisy, project, radius, least, relaxation=relaxation, observed=observed
            )
        else:
            weights = np.maximum(noisy.counts, 1.0)
            supported = noisy.counts >= SUPPORT * noisy.count_stddev
            gaussians = replace(last, weights=weights / weights.sum(), supported=supported)
        counts = np.where(gaussians.supported, noisy.counts, 1.0)
        probabilities = _maximise_levels(previous.probabilities, noisy, table, counts, relaxation)
        kept = np.where(gaussians.supported[:, None], probabilities, previous.probabilities)
        return Products(gaussians, kept)


def cells_of(products: Products, table: TableUnits, grid_bits: int = GRID_BITS) -> GaussianCells:
    """Return the rule that gives encoded records, on a grid of the table's domain, their memberships.

    A score is a sum of squares of linear functions, one for each entry of a record:

    * numbers: the whitened residual; a missing number adds what moves it to the component's mean;
    * missing values: ``(r + b)^2 = r (1 + 2 b) + b^2`` for r = 0 or 1, with b such that a missing number
      leaves its ln L_jj out of the log determinant;
    * levels: ``(a e + b)^2 = e (a^2 + 2 a b) + b^2``, with b such that a level adds -ln p.

    What is left, the ``b^2``, is the same for every record and goes to the constants.
    """
    layout, gaussians, radius = table.layout, products.gaussians, table.numbers.radius
    box = replace(table.domain, grid_bits=grid_bits)
    means, factors = gaussians.means / radius, np.linalg.cholesky(gaussians.covariances / radius**2)
    whiten, shift = whiten_numbers(layout, box, means, factors)
    holes, own = list(layout.holes), np.arange(layout.n_holes)
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2))
    whiten[:, own, own] = 1.0
    shift[:, layout.hole_part] = ((logs.max(axis=0) - logs)[:, holes] - 1) / 2
    if layout.n_categories:
        nats = -np.log(products.probabilities)
        slope = math.sqrt(max(float(nats.mean()), 0.25))
        places = np.arange(layout.width)[layout.level_part]
        whiten[:, places, places] = slope
        shift[:, places] = (nats - slope**2) / (2 * slope)
    left = np.square(shift[:, np.r_[layout.hole_part, layout.level_part]]).sum(axis=1)
    constants = -np.log(np.maximum(gaussians.weights, 1e-12)) + logs.sum(axis=1) - left
    of_residuals = radius_of_residuals(layout.n_numbers) if layout.n_numbers else 1.0
    return GaussianCells.from_scores(whiten, shift, constants, of_residuals, grid_bits)


def _observed(noisy: NoisyMoments, table: TableUnits) -> FloatArray:
    """Return the part of each component's records that has each number, shrunk to that of all records."""
    counts = np.maximum(noisy.counts, 1.0)
    observed = np.tile(table.observed, (len(counts), 1))
    holes = list(table.layout.holes)
    differences = 1 - noisy.holes / counts[:, None] - observed[:, holes]
    noise = len(holes) * (noisy.level_stddev / counts) ** 2
    differences *= james_stein(np.square(differences).sum(axis=1), noise)[:, None]
    observed[:, holes] = np.clip(observed[:, holes] + differences, _LEAST_PRESENT, 1.0)
    return observed


def _maximise_levels(
    previous: FloatArray, noisy: NoisyMoments, table: TableUnits, counts: FloatArray, relaxation: float
) -> FloatArray:
    """Return probabilities of levels: steps shrunk by their noise, category by category."""
    probabilities = previous.copy()
    for j, levels in enumerate(table.layout.levels):
        found, last = noisy.levels[:, levels], previous[:, levels]
        # The part of each component's records that has the category, shrunk to that of all records.
        differences: FloatArray = found.sum(axis=1) / counts - table.present[j]
        noise = found.shape[1] * (noisy.level_stddev / counts) ** 2
        present = table.present[j] + differences * james_stein(differences**2, noise)
        n = counts * np.clip(present, _LEAST_PRESENT, 1.0)
        steps = found / n[:, None] - last
        steps -= steps.mean(axis=1, keepdims=True)
        noise = (last.shape[1] - 1) * (noisy.level_stddev / n) ** 2
        steps *= relaxation * james_stein(np.square(steps).sum(axis=1), noise)[:, None]
        moved = np.maximum(last + steps, _LEAST_PROBABILITY)
        part = np.clip(noisy.level_stddev / n, *_MARGINAL)[:, None]
        own = moved / moved.sum(axis=1, keepdims=True)
        probabilities[:, levels] = (1 - part) * own + part * table.marginals[levels]
    return probabilities
