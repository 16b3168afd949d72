"""Counts and moments of the records of each cell: clipped to find the cell, unclipped to be measured.

Shrinking records to a ball keeps the noise of cells small, but moves far records. Here a record finds its
cell by its clipped form, as in ``predict``, and is measured where it is: in the whitened coordinates of that
cell, inside the box of the bounds. The noise of residuals does not depend on the width of that box.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmorse import _validate
from dpmorse.statistics.cells import ROUNDING_BITS, GaussianCells
from dpmorse.statistics.counts import ColumnHistograms, GroupCounts, MagnitudeHistograms
from dpmorse.statistics.domain import Domain
from dpmorse.typing import FloatArray, IntArray

N_RADII = 21
"""Number of bins of the lengths of residuals: the last begins at 2^9.5 times the end of the first."""


@dataclass(frozen=True)
class ProfileCells:
    """Cells whose records are measured in coordinates of their own; hard, so that each record is in one.

    A residual depends on its record and on released values only, by the argument of ``GaussianCells``; so
    does the cell. Both grids are fine, so that nearly all records have the label that ``predict`` gives.
    """

    partition: GaussianCells
    """The rule that gives a record, clipped to ``ball``, its cell."""

    ball: Domain
    """The domain that records are clipped to, and perhaps projected on, to find their cell."""

    units: GaussianCells
    """Origin and whitened coordinates of each cell, in ``box``; only its residuals are used."""

    box: Domain
    """The domain in which records are measured."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together: compiled code would read beside its arrays."""
        if self.ball.n_columns != self.box.n_columns or self.units.n_cells != self.n_cells:
            raise ValueError("ball and box must have the same columns, partition and units the same cells")
        for rule, domain in ((self.partition, self.ball), (self.units, self.box)):
            if (rule.offsets.shape[1], rule.grid_bits) != (domain.n_features, domain.grid_bits):
                raise ValueError("a rule must be for the columns and the grid of its domain")

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.partition.n_cells

    def labels(self, X: FloatArray) -> IntArray:
        """Return the cell of each record (plain form)."""
        return self.partition.labels(self.ball.quantise(X))

    def residuals(self, X: FloatArray) -> IntArray:
        """Return each record in the coordinates of its cell, shrunk to the cell's radius (plain form)."""
        residuals = self.units.residuals(self.box.quantise(X))
        return residuals[np.arange(len(residuals)), self.labels(X)]

    def squared_lengths(self, X: FloatArray) -> FloatArray:
        """Return the exact squared length of each ``v`` in its own cell (plain form)."""
        labels, q = self.labels(X), self.box.quantise(X).astype(np.float64)
        u = self.units.offsets[labels] + np.einsum("nij,nj->ni", self.units.factors[labels], q)
        squared: FloatArray = np.square(np.rint(u * 2.0**-ROUNDING_BITS)).sum(axis=1)
        return squared


@dataclass(frozen=True)
class RadiusHistograms:
    """Counts of the records of each cell by the length of their residuals.

    Bin b holds lengths from ``edges[b]`` to ``edges[b + 1]``, the last one all beyond.
    """

    cells: ProfileCells
    n_bins: int = N_RADII
    n_coordinates: int | None = None
    """Number of coordinates of a residual that are not always 0; None stands for all columns of the box."""

    def __post_init__(self) -> None:
        """Refuse a table without bins."""
        _validate.positive_int(n_bins=self.n_bins)

    @property
    def n_columns(self) -> int:
        """Number of columns of the records."""
        return self.cells.box.n_columns

    @property
    def n_features(self) -> int:
        """Number of rows of the table of counts: the cells."""
        return self.cells.n_cells

    @cached_property
    def edges(self) -> FloatArray:
        """Lower ends of the bins, in standard deviations of a cell."""
        # 0, the edge of a normal distribution, then factors of sqrt 2
        first = math.sqrt(self.n_coordinates or self.cells.box.n_features) + 1.0
        return np.concatenate([[0.0], first * 2.0 ** (np.arange(self.n_bins - 1) / 2)])

    @cached_property
    def limits(self) -> FloatArray:
        """Lower ends of the bins, in the exact units of ``squared_lengths``, which are those of scores."""
        return np.ceil(self.edges**2 / 2 * 4.0**self.cells.units.score_bits)

    @property
    def counts(self) -> GroupCounts:
        """The counts that are released: a record is in one bin of its own cell."""
        return GroupCounts(self.cells.n_cells * self.n_bins)

    def bins(self, X: FloatArray) -> IntArray:
        """Return the bin of each record in its cell (plain form)."""
        places: IntArray = np.searchsorted(self.limits, self.cells.squared_lengths(X), side="right") - 1
        return places


Histograms = ColumnHistograms | MagnitudeHistograms | RadiusHistograms
"""Counts of records in the bins of each column, or of each cell."""
