"""Last stage: how many records each component has, and how many in which bin of every column.

The other stages find components in a ball, which keeps their noise small and moves far records to its
surface. Here a record finds its component as in ``predict`` and is counted where it is, inside the public
bounds: of a number in bins between quantiles that the released mixture lets one expect for that component, of
a category in its levels, of either in a bin of missing values. The cost does not depend on the number of
bins; noise does, so that there are fewer where records are few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpmorse.bases.plan import Stage
from dpmorse.bases.queries import Queries
from dpmorse.bases.ranges import Outside
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.predicted import N_STEPS, Predicted, predict_records
from dpmorse.densities import GaussianMixture, ProductMixture
from dpmorse.privacy import ReleaseEvent
from dpmorse.profiles import Profile
from dpmorse.schema import Schema
from dpmorse.statistics import FINE_GRID_BITS, Domain, GaussianCells, ProfileCounts
from dpmorse.typing import BoolArray, FloatArray, IntArray

_BINS = (2, 3, 4, 6, 8, 12, 16, 24, 48)
"""Numbers of bins between quantiles: those that divide the steps of a curve."""

MOST_BINS = _BINS[-1] + 2
"""With those far outside of what is expected."""

_OF_NOISE = 3.0
"""A component of n records, with noise s of a bin, has about (3 n / s)^(2/5) bins: the noise of a quantile
grows with the root of their number, and what is not known inside a bin falls with its square."""

_REACH = 0.5
"""Where the outermost bins begin: beyond the last point of a curve, by this part of its distance from the
median. Hardly a record is expected there, so that they tell where an expectation is wrong."""

_LISTED = 12
"""Whole numbers of at most so many values have a bin for each."""


@dataclass(frozen=True)
class Labelling:
    """How a record finds its component: a rule, and the domain that it is clipped to for it."""

    cells: GaussianCells
    domain: Domain

    @classmethod
    def of(cls, partition: GaussianMixture, ball: Domain) -> "Labelling":
        """Label as ``predict`` does, by a mixture in the caller's units."""
        fine = replace(ball, grid_bits=FINE_GRID_BITS)
        weights = np.maximum(partition.weights, 1e-12)  # a component that was kept may have weight 0
        scaled = partition.covariances / fine.unit[:, None] / fine.unit
        means = (partition.means - fine.centre) / fine.unit
        return cls(GaussianCells.from_mixture(weights, means, scaled, 1.0, FINE_GRID_BITS), fine)


@dataclass(frozen=True)
class Known:
    """What earlier releases say of all records: how many there are, and what lies outside of the bounds.

    ``missing`` has the part of the values of each number and category that is missing.
    """

    n_records: float
    outside: Outside
    missing: FloatArray


def release_profile(
    queries: Queries,
    partition: GaussianMixture | ProductMixture,
    labelling: Labelling,
    stage: Stage,
    rng: np.random.Generator,
    *,
    ball: Domain,
    schema: Schema,
    known: Known,
) -> Profile:
    """Spend a stage on the profile of a partition.

    ``labelling`` is that of the partition for records clipped to ``ball``.
    """
    layout, n_categories = schema.layout, len(schema.categories)
    lower, upper, part = np.array(layout.lower), np.array(layout.upper), layout.number_part
    predicted = predict_records(partition, ball, schema, known.missing, rng)
    curves = np.clip(predicted.curves, lower[:, None], upper[:, None])
    noise = queries.noise_of_bins(stage.cost, layout.n_numbers + n_categories)
    n_bins = bins_of(known.n_records * predicted.shares, noise)
    edges = edges_of(curves, n_bins, lower, upper, schema.whole)
    box = encoded_domain(layout, lower, upper, FINE_GRID_BITS)
    centre, per_unit = box.centre[part, None], box.steps_per_unit[part, None]
    farthest = 2.0**FINE_GRID_BITS
    steps = np.clip(np.rint((edges - centre) * per_unit), -farthest, farthest)
    statistic = ProfileCounts(
        labelling.cells,
        labelling.domain,
        box,
        layout,
        steps.astype(np.int64),
        counted=tuple(range(n_categories)),
        may_miss=schema.with_gaps,
    )
    released, event = queries.profile(stage.step(), statistic, stage.cost)
    # A value below half a step above an edge is rounded to the edge, or to less.
    ends = centre + (steps + 0.5) / np.where(per_unit > 0, per_unit, np.inf)
    profile = Profile(
        sizes=released[:, 0],
        entries=released[:, 1:],
        size_stddev=event.noise_stddev["count"],
        entry_stddev=event.noise_stddev["bin"],
        edges=np.clip(ends, lower[:, None], upper[:, None]),
        curves=curves,
        expected=np.zeros((len(released), released.shape[1] - 1)),
        lower=lower,
        upper=upper,
        whole=schema.whole.astype(np.float64),
        outside=known.outside.counts,
        outside_stddev=known.outside.stddev,
        n_levels=layout.n_levels[:n_categories],
        may_miss=schema.with_gaps,
        n_records=queries.public_size,
    )
    return replace(profile, expected=_expected(profile, predicted))


def noise_of_a_size(event: ReleaseEvent, schema: Schema) -> float:
    """Return the noise of a component's size, as ``Profile.count_stddev``, with a usual number of bins."""
    n_levels = [len(column.levels) for _, column in schema.categories]
    entries = [_USUAL_BINS] * schema.layout.n_numbers + n_levels
    entries = [n + (j in schema.with_gaps) for j, n in enumerate(entries)]
    size, entry = event.noise_stddev["count"], event.noise_stddev["bin"]
    return math.sqrt(1 / (size**-2 + math.fsum(1 / (n * entry**2) for n in entries)))


_USUAL_BINS = 8
"""Bins of a component of some thousand records, at epsilon 1 and in some ten columns."""


def bins_of(counts: FloatArray, noise: float) -> IntArray:
    """Return how many bins between quantiles components of these sizes have."""
    wanted = (_OF_NOISE * np.maximum(counts, 0.0) / noise) ** 0.4
    choices = np.array(_BINS)
    # The nearest by ratio.
    nearest: IntArray = choices[np.abs(np.log(np.maximum(wanted, 1.0)[:, None] / choices)).argmin(axis=1)]
    return nearest


def edges_of(
    curves: FloatArray, n_bins: IntArray, lower: FloatArray, upper: FloatArray, whole: BoolArray
) -> FloatArray:
    """Return the upper ends of bins, but for the last; what is not needed stands at the upper bound."""
    edges = np.tile(upper[:, None], (len(curves), 1, MOST_BINS - 1))
    for i, n in enumerate(n_bins):
        inner = curves[i][:, np.arange(1, n) * (N_STEPS // n)]
        low, middle, high = (curves[i][:, step] for step in (1, N_STEPS // 2, N_STEPS - 1))
        outer = [low - _REACH * (middle - low), high + _REACH * (high - middle)]
        inner = np.column_stack([outer[0], inner, outer[1]])
        edges[i, :, : inner.shape[1]] = np.clip(inner, lower[:, None], upper[:, None])
    for j in np.flatnonzero(whole):
        edges[:, j] = np.minimum(np.floor(edges[:, j]) + 0.5, upper[j])
        if upper[j] - lower[j] < _LISTED:
            halves = np.arange(np.floor(lower[j]), upper[j]) + 0.5
            edges[:, j], edges[:, j, : len(halves)] = upper[j], halves
    edges.sort(axis=2)
    # One of several edges at one place is enough.
    twice = np.diff(edges, axis=2, prepend=-np.inf) <= 0
    edges = np.where(twice, upper[:, None], edges)
    edges.sort(axis=2)
    n_needed = max(int((edges < upper[:, None]).sum(axis=2).max(initial=0)), 1)
    return edges[:, :, :n_needed]


def _expected(profile: Profile, predicted: Predicted) -> FloatArray:
    """Return the parts of records that are expected in each entry of a profile."""
    found = np.zeros(profile.entries.shape)
    steps, first = np.linspace(0, 1, N_STEPS + 1), 0
    for j, column in enumerate(profile.columns):
        there = np.ones(profile.n_components)
        if column.may_miss:
            found[:, column.part.stop - 1] = predicted.missing[:, j]
            there -= predicted.missing[:, j]
        if j < profile.n_numbers:
            for i in range(profile.n_components):
                ends = np.append(profile.edges[i, j], profile.upper[j])
                below = np.interp(ends, profile.curves[i, j], steps)
                below[-1] = 1.0
                found[i, column.present] = there[i] * np.maximum(np.diff(below, prepend=0.0), 0.0)
        else:  # a record that lacks the category has none of its levels
            found[:, column.present] = predicted.levels[:, first : first + column.n_bins]
            first += column.n_bins
    return np.clip(found, 0.0, 1.0)


def has_noise_of(profile: Profile, events: Sequence[ReleaseEvent]) -> bool:
    """Say whether a profile states the noise that was paid for."""
    stated = [{"count": profile.size_stddev, "bin": profile.entry_stddev}]
    return [dict(event.noise_stddev) for event in events] == stated
