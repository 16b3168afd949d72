"""Counts of the records of each component in bins of every column: what is published about them.

A record finds its component by its clipped form, as in ``predict``, and is counted where it is, inside the
bounds: of a number in the bin of its value, of a category in its level, of either in a bin of missing values.

**Sensitivity.** A record is in one component, and of each of D columns in one bin. With inverse noise ``c``
of sizes and ``b`` of bins, one record more moves the release by ``c^2 + D b^2`` in squared norm. A replaced
one moves it by at most twice that: all that it leaves and all that it enters are different entries, or the
same one, which does not change. Neither the width of the bounds nor where a record lies enters. The component
and the bins of a record depend on that record, and on public and released values only.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpmorse.privacy import GAUSSIAN, Exact, Neighboring, Noise, PlannedRelease, Step, release_event
from dpmorse.schema import Layout
from dpmorse.statistics.cells import ROUNDING_BITS, GaussianCells
from dpmorse.statistics.counts import ColumnHistograms, GroupCounts, MagnitudeHistograms
from dpmorse.statistics.domain import Domain
from dpmorse.typing import FloatArray, IntArray

OF_SIZES = 0.15
"""Share of the cost that goes to the sizes. Bins of all columns add up to them as well."""


@dataclass(frozen=True, eq=False)
class GapRule:
    """What a score of ``GaussianCells`` lacks where numbers of a record are missing.

    The score takes a missing number to be at the component's mean. With y the whitened numbers there, W the
    whitening (``score = |W d|^2``), m the missing numbers and ``A = W_m^T W_m``, integrating them out instead
    lowers it by ``v^T A^-1 v``, ``v = W_m^T y``, and adds ``ln det A / 2 - sum_m ln W_jj``, where the score
    has left the missing numbers out of the determinant.

    Floating-point numbers of one record, taken one at a time in a fixed order, by products, sums, quotients
    and square roots that are correctly rounded: the same on every machine. So they depend on that record and
    on released values only. What is below is made once, of released values, and travels with the statistic.
    """

    holes: IntArray
    """Which numbers may be missing: places among the numbers."""

    numbers: tuple[int, int]
    """Places of the first number in an encoded record, and of the one after the last."""

    whitening: FloatArray
    """W of each component."""

    products: FloatArray
    """W^T W of each component."""

    logs: FloatArray
    """ln W_jj of each component."""

    @classmethod
    def of(cls, rule: GaussianCells, layout: Layout) -> "GapRule":
        """Return that of a rule for encoded records."""
        part = layout.number_part
        whitening = rule.factors[:, part, part] * 2.0 ** -(rule.score_bits + ROUNDING_BITS)
        logs = np.log(np.diagonal(whitening, axis1=1, axis2=2))
        products = whitening.transpose(0, 2, 1) @ whitening
        holes = np.array(layout.holes, dtype=np.int64)
        return cls(holes, (part.start, part.stop), whitening, products, np.ascontiguousarray(logs))

    def change(self, k: int, y: FloatArray, missing: IntArray) -> float:
        """Return what is added to the score in nats of one record in cell k (plain form)."""
        n, logs, squares = len(missing), 0.0, 0.0
        root, solved = np.zeros((n, n)), np.zeros(n)
        for a, i in enumerate(missing):
            v = 0.0
            for j in range(i, len(y)):
                v += self.whitening[k, j, i] * y[j]
            for b in range(a + 1):
                total = self.products[k, i, missing[b]]
                for c in range(b):
                    total -= root[a, c] * root[b, c]
                root[a, b] = math.sqrt(max(total, LEAST_PIVOT)) if a == b else total / root[b, b]
            for c in range(a):
                v -= root[a, c] * solved[c]
            solved[a] = v / root[a, a]
            squares += solved[a] * solved[a]
            logs += natural_log(root[a, a]) - self.logs[k, i]
        return logs - squares


LEAST_PIVOT = 1e-300
"""Smallest square in a Cholesky factor: W^T W may seem singular by rounding."""

LN_2 = 0.6931471805599453
"""The logarithm of 2."""

LOG_TERMS = 12
"""Terms of the series of a logarithm; the next one would be below the rounding."""


def natural_log(x: float) -> float:
    """Return ln x to a rounding or two, by correctly rounded steps.

    Those of libraries differ in the last bit. A cluster may have machines with several libraries, and which
    machine has a record may depend on other records.
    """
    part, exponent = math.frexp(x)
    if part < 0.7071067811865476:
        part, exponent = 2 * part, exponent - 1
    ratio = (part - 1) / (part + 1)
    square, series = ratio * ratio, 0.0
    for i in range(LOG_TERMS - 1, -1, -1):
        series = series * square + 1 / (2 * i + 1)
    return 2 * ratio * series + exponent * LN_2


@dataclass(frozen=True, eq=False)
class ProfileCounts:
    """The statistic: sizes, bins of numbers, levels and missing values of each cell.

    Parameters
    ----------
    rule : GaussianCells
        Gives a record, clipped to ``ball``, its cell.
    ball : Domain
        The domain that records are clipped to, and perhaps projected on, to find their cell.
    box : Domain
        Where records are counted: encoded ones inside the public bounds, on a fine grid.
    layout : Layout
        Where numbers, missing values and levels are in an encoded record.
    edges : ndarray of shape (n_cells, n_numbers, n_edges)
        Upper ends of the bins but for the last, in steps of the grid, ascending. A value at an edge is below.
    counted : tuple of int
        Which columns of categories are counted; others say what bins of numbers say already.
    may_miss : tuple of int
        Which columns may be missing: numbers first, then those categories.
    """

    rule: GaussianCells
    ball: Domain
    box: Domain
    layout: Layout
    edges: IntArray
    counted: tuple[int, ...] = ()
    may_miss: tuple[int, ...] = ()
    gaps: GapRule | None = field(init=False)

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together: compiled code would read beside its arrays."""
        layout = self.layout
        if self.ball.n_columns != self.box.n_columns or self.box.n_features != layout.width:
            raise ValueError("ball, box and layout must have the same columns")
        if self.box.projection is not None or self.box.radius is not None:
            raise ValueError("records are counted in a box, where they are")
        if (self.rule.offsets.shape[1], self.rule.grid_bits) != (self.ball.n_features, self.ball.grid_bits):
            raise ValueError("the rule must be for the columns and the grid of the ball")
        self._check_edges()
        self._check_columns()
        if layout.holes:
            self._check_whitens_numbers()
        object.__setattr__(self, "gaps", GapRule.of(self.rule, layout) if layout.holes else None)

    def _check_edges(self) -> None:
        shape = self.edges.shape
        if len(shape) != 3 or shape[:2] != (self.rule.n_cells, self.layout.n_numbers):
            raise ValueError("edges must have a row for each cell and number")
        if np.any(np.diff(self.edges, axis=2) < 0):
            raise ValueError("edges must be in ascending order")
        if self.edges.dtype != np.int64 or np.any(np.abs(self.edges) > 1 << self.box.grid_bits):
            raise ValueError("edges must be integers on the grid of the box")

    def _check_columns(self) -> None:
        layout = self.layout
        if any(not 0 <= j < layout.n_categories for j in self.counted):
            raise ValueError("the categories that are counted must be those of the layout")
        if len(set(self.counted)) != len(self.counted) or len(set(self.may_miss)) != len(self.may_miss):
            raise ValueError("columns must be counted once")  # a record would be in two bins of one column
        unknown = {j for j in self.may_miss if j < layout.n_numbers} - set(layout.holes)
        if unknown or any(not 0 <= j < self.n_counted_columns for j in self.may_miss):
            raise ValueError("columns that may be missing must be those of the layout")

    def _check_whitens_numbers(self) -> None:
        """Refuse a rule from which missing numbers cannot be integrated out."""
        factors, part = self.rule.factors, self.layout.number_part
        if factors.shape[1] != self.layout.width:
            raise ValueError("where numbers may be missing, the rule must be one of encoded records")
        others = factors * ~np.eye(factors.shape[1], dtype=np.bool_)
        others[:, part] = 0.0
        if np.any(others) or np.any(np.diagonal(factors, axis1=1, axis2=2)[:, part] <= 0):
            raise ValueError("where numbers may be missing, the rule must whiten numbers and nothing else")

    @property
    def n_columns(self) -> int:
        """Number of columns of the records."""
        return self.box.n_columns

    @property
    def n_counted_columns(self) -> int:
        """The D of the proof."""
        return self.layout.n_numbers + len(self.counted)

    @property
    def n_features(self) -> int:
        """Number of rows of the table of counts: the cells."""
        return self.rule.n_cells

    @cached_property
    def level_places(self) -> tuple[IntArray, ...]:
        """Where the levels of each counted category are in an encoded record."""
        first = self.layout.level_part.start
        return tuple(
            np.arange(first + self.layout.levels[j].start, first + self.layout.levels[j].stop)
            for j in self.counted
        )

    @cached_property
    def starts(self) -> IntArray:
        """The first entry of each counted column in a row of counts, and the end of the row."""
        n_bins = self.edges.shape[2] + 1
        widths = [n_bins] * self.layout.n_numbers + [len(places) for places in self.level_places]
        widths = [width + (j in self.may_miss) for j, width in enumerate(widths)]
        return np.cumsum([1, *widths])

    @cached_property
    def missing_at(self) -> IntArray:
        """The entry of missing values of each counted column, or -1 for one that is never missing."""
        may_miss = np.isin(np.arange(self.n_counted_columns), self.may_miss)
        return np.where(may_miss, self.starts[1:] - 1, -1)

    @property
    def n_bins(self) -> int:
        """Entries of a row: the size, then those of each column."""
        return int(self.starts[-1])

    def labels(self, X: FloatArray) -> IntArray:
        """Return the cell of each record (plain form)."""
        q = self.ball.quantise(X)
        labels = self.rule.labels(q)
        if self.gaps is None:
            return labels
        gaps, first = self.gaps, self.gaps.numbers[0]
        unit = 2.0**-self.rule.score_bits
        for row in np.flatnonzero(np.any(q[:, : len(gaps.holes)] > 0, axis=1)):
            missing = gaps.holes[q[row, : len(gaps.holes)] > 0]
            scores = self.rule.scores(q[row : row + 1])[0]
            u = self.rule.offsets + self.rule.factors @ q[row].astype(np.float64)
            y = np.rint(u * 2.0**-ROUNDING_BITS)[:, first : gaps.numbers[1]] * unit
            nats = [score * unit * unit + gaps.change(k, y[k], missing) for k, score in enumerate(scores)]
            labels[row] = int(np.argmin(np.nan_to_num(nats, nan=np.inf, posinf=np.inf, neginf=-np.inf)))
        return labels

    def counts(self, X: FloatArray) -> IntArray:
        """Return the counts of all cells (plain form)."""
        labels, q = self.labels(X), self.box.quantise(X)
        found = np.zeros((self.rule.n_cells, self.n_bins), dtype=np.int64)
        found[:, 0] = np.bincount(labels, minlength=self.rule.n_cells)
        holes = {j: i for i, j in enumerate(self.layout.holes)}
        for j in range(self.layout.n_numbers):
            own = q[:, self.layout.number_part.start + j]
            places = self.starts[j] + (own[:, None] > self.edges[labels, j]).sum(axis=1)
            if j in holes:
                places = np.where(q[:, holes[j]] > 0, self.missing_at[j], places)
            there = places >= 0
            np.add.at(found, (labels[there], places[there]), 1)
        for j, levels in enumerate(self.level_places, self.layout.n_numbers):
            has = q[:, levels] > 0
            places = np.where(has.any(axis=1), self.starts[j] + has.argmax(axis=1), self.missing_at[j])
            there = places >= 0
            np.add.at(found, (labels[there], places[there]), 1)
        return found

    def plan(
        self, step: Step, cost: float, neighboring: Neighboring, noise: Noise = GAUSSIAN
    ) -> PlannedRelease:
        """Return the release that costs at most ``cost``: ``OF_SIZES`` of it for sizes, the rest for bins."""
        k, n_entries = self.rule.n_cells, self.n_bins - 1
        of_sizes = GroupCounts(k).plan(step, OF_SIZES * cost, neighboring, noise)
        counts = GroupCounts(k * n_entries, self.n_counted_columns)
        of_bins = self.plan_bins(step, counts, cost, neighboring, noise)
        parts = [of_sizes.event, of_bins.event]
        stddevs = (part.noise_stddev["count"] for part in parts)
        event = release_event(
            step=step,
            cost=sum((Fraction(part.cost) for part in parts), Fraction()),
            noise=noise,
            neighboring=neighboring,
            n_draws=sum(part.n_draws for part in parts),
            smallest_scale=min(part.smallest_scale for part in parts),
            noise_stddev=dict(zip(("count", "bin"), stddevs, strict=True)),
        )
        rows = (planned.scales.reshape(k, -1) for planned in (of_sizes, of_bins))
        return PlannedRelease(np.hstack(list(rows)).ravel(), event)

    @staticmethod
    def plan_bins(
        step: Step, counts: GroupCounts, cost: float, neighboring: Neighboring, noise: Noise
    ) -> PlannedRelease:
        """Return what the entries are released with, where the whole release costs this."""
        return counts.plan(step, (1 - OF_SIZES) * cost, neighboring, noise)

    def to_units(self, exact: Exact[IntArray]) -> Exact[IntArray]:
        """Bring exact counts to the unit of the noise, as one vector."""
        return GroupCounts(self.rule.n_cells).to_units(exact)

    def from_units(self, released: IntArray) -> FloatArray:
        """Return released integers as rows of counts."""
        return GroupCounts(self.rule.n_cells).from_units(released).reshape(self.rule.n_cells, self.n_bins)


Histograms = ColumnHistograms | MagnitudeHistograms | ProfileCounts
"""Counts of records in the bins of each column, or of each cell."""
