"""Quantiles of numbers in groups of components, each with an interval that covers, from counts in bins.

With F(x) the number of a group's records whose value is at most x, and N that of all records that have one,
the p-quantile is where F(x) - p N changes its sign. Both are sums of released counts, so that the variance of
the difference is known exactly: for a component with B entries of noise s, estimates that add up to a size of
variance v, and weights a_b of the entries (1 - p below x, -p above, in between inside the bin of x, 0 for
missing values), it is ``s^2 (sum a^2 - (sum a)^2 / B) + v (sum a / B)^2``. The interval holds all x at which
the difference is at most z standard deviations.

Inside a bin, F follows the shape that the mixture lets one expect there, bent by what the counts of the
neighbouring bins say: relative to that shape, density changes linearly from bin to bin. Where it bends more
than noise explains, the interval is wider (``_SLOPE``, ``_BEND``, ``_SHAPE``): its coverage is measured
(docs/numbers.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmorse.profiles.account import Account
from dpmorse.profiles.estimate import Estimate
from dpmorse.profiles.profile import Profile
from dpmorse.typing import FloatArray, IntArray

_SLOPE, _BEND, _SHAPE = 0.15, 0.3, 0.1
"""Parts of a bin's records by which F may be off in its middle: of what the slope has changed there, of how
much the slope itself changes, and of all of them, four times."""

_SHAPE_OF_TAILS = 0.4
"""The same instead of ``_SHAPE`` in the outermost bins, of whose shape nothing more is known."""

_STEEPNESS = 3
"""Power of the squared difference from what is expected that the doubt about all shapes grows with: up to a
half, what neighbouring bins say is enough."""

_LEAST_EXPECTED = 0.1
"""Least part of a component's records to which what is found in a bin is compared."""

_WITH_TAILS = 4
"""Bins from which on the outermost two are far outside of what is expected: they say nothing of others."""

_BEYOND = 2.0
"""Standard deviations of noise that the outermost bin must hold before the one beside it is a tail."""

_STRETCH = 0.5
"""Part of the records that this moves which F may be off by."""

_MOST_IN_DOUBT = 0.25
"""Part of a group's records that may lie on either side of a quantile; where noise leaves more in doubt, it
is not known."""

_REACH, _LEAST_REACH = 0.2, 1e-9
"""Distance beyond all that is expected within which half of the records there lie, if bounds are far: a part
of the range that is expected, and of the width of the bounds at least."""

_FAR = 4.0 ** np.arange(-1, 8)
"""Points of the grid beyond what is expected, in these distances."""

_LEAST = 1e-12


@dataclass(frozen=True)
class Curves:
    """Numbers of records of each component with values of one column up to each point of a grid.

    Attributes
    ----------
    grid : ndarray of shape (n_points,)
        Values, ascending.
    below : ndarray of shape (n_components, n_points)
        Best linear estimates of the numbers.
    of_account : ndarray of shape (n_components, n_points)
        Those of the account, which never decrease.
    doubt : ndarray of shape (n_components, n_points)
        By how much the numbers may be off for what is not known inside a bin.
    before, part, n_bins : ndarray
        Bins below the one of a point; the part of that bin below the point; bins of the component.
    """

    profile: Profile
    column: int
    grid: FloatArray
    below: FloatArray
    of_account: FloatArray
    doubt: FloatArray
    before: IntArray
    part: FloatArray
    n_bins: IntArray

    @classmethod
    def of(cls, profile: Profile, account: Account, column: int) -> "Curves":
        """Make the curves of one column."""
        lower, upper, entries = profile.lower[column], profile.upper[column], profile.columns[column]
        edges, known = profile.edges[:, column], profile.curves[:, column]
        whole = bool(profile.whole[column])
        if whole:  # a whole number is counted at the half above it
            known = np.floor(known) + 0.5
        least = max((upper - lower) * _LEAST_REACH, _LEAST)
        reach = np.maximum(np.ptp(known, axis=1) * _REACH, least)
        far = np.concatenate([known[:, :1] - np.outer(reach, _FAR), known[:, -1:] + np.outer(reach, _FAR)])
        # Right beside an edge all of a bin's records may be on the other side, where no shape is believed.
        beside = edges.ravel() + np.multiply.outer([-1.0, 0.0, 1.0], least * np.ones(edges.size))
        points = np.concatenate([beside.ravel(), known.ravel(), far.ravel(), [lower, upper]])
        grid = np.unique(np.clip(points, lower, upper))
        levels = np.linspace(0, 1, known.shape[1])
        k, shape = profile.n_components, (profile.n_components, grid.size)
        below, of_account, doubt = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        before, part = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        used = profile.used[:, entries.present]
        for i in range(k):
            n = int(used[i].sum())
            ends = np.concatenate([[lower], edges[i, : n - 1], [upper]])
            at_ends, at_grid = (np.interp(x, known[i], levels) for x in (ends, grid))
            place = np.clip(np.searchsorted(ends, grid, side="right") - 1, 0, n - 1)
            expected = np.diff(at_ends)
            above, width = at_grid - at_ends[place], np.maximum(expected, _LEAST)[place]
            outside = _beyond(grid, ends, place, float(reach[i]))
            usual = np.clip(np.where(expected[place] > _LEAST, above / width, outside), 0.0, 1.0)
            found = profile.unbiased[i, entries.present][:n]
            even = (grid - ends[place]) / np.maximum(np.diff(ends), _LEAST)[place]
            stretched = _heavy(found, profile.entry_stddev)[place] * (even - usual)
            share = usual + stretched
            kept = account.entries[i, entries.present][:n]
            bent, off = _inside(found, expected, float(profile.counts[i]))
            unlike = _unlike(found, expected, float(profile.counts[i]), profile.entry_stddev)
            below[i] = np.concatenate([[0.0], np.cumsum(found)])[place] + share * found[place]
            below[i] += bent[place] * share * (share - 1)
            of_account[i] = np.concatenate([[0.0], np.cumsum(kept)])[place] + share * kept[place]
            anywhere = unlike * np.maximum(found, 0.0)[place] * np.maximum(share, 1 - share)
            inside = ~np.isin(grid, ends)
            doubt[i] = off[place] * share * (1 - share) + np.where(inside, anywhere, 0.0)
            doubt[i] += _STRETCH * np.abs(stretched) * np.maximum(found, 0.0)[place]
            before[i], part[i] = place, share
        return cls(profile, column, grid, below, of_account, doubt, before, part, used.sum(axis=1))

    def totals(self, entries: FloatArray) -> FloatArray:
        """Return how many records of each component have the column."""
        total: FloatArray = entries[:, self.profile.columns[self.column].present].sum(axis=1)
        return total

    @cached_property
    def variances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Variances of ``F(x) - p N`` of each component at each point: coefficients of 1, p and p^2."""
        profile, n, i, w = self.profile, self.n_bins[:, None], self.before, self.part
        all_entries = n + profile.columns[self.column].may_miss
        of_entry, of_size = profile.entry_stddev**2, np.square(profile.count_stddev)[:, None]
        of_sums = (of_size / all_entries - of_entry) / all_entries  # of (sum a)^2
        fixed = of_entry * (i + w**2) + of_sums * (i + w) ** 2
        return fixed, -2 * (i + w) * (of_entry + of_sums * n), of_entry * n + of_sums * n**2

    def quantiles(
        self, members: FloatArray, account: Account, of: Sequence[float], z: float, *, population: bool
    ) -> list[Estimate]:
        """Return quantiles of groups of components, NaN where they are not known.

        ``members`` has a row for each group, with 1 where a component belongs to it.
        """
        below, doubt, of_account = (members @ each for each in (self.below, self.doubt, self.of_account))
        variances = [members @ each for each in self.variances]
        totals, kept = (members @ self.totals(each) for each in (self.profile.unbiased, account.entries))
        found = []
        for p in of:
            variance = np.maximum(variances[0] + p * variances[1] + p**2 * variances[2], 0.0)
            if population:
                variance += p * (1 - p) * np.maximum(totals, 0.0)[:, None]
            distance, reach = below - p * totals[:, None], z * np.sqrt(variance) + doubt
            low = _first_at_least(self.grid, distance + reach)
            high = -_first_at_least(-self.grid[::-1], (reach - distance)[:, ::-1])
            value = _first_at_least(self.grid, of_account - p * kept[:, None])
            if self.profile.whole[self.column]:
                low, high, value = (np.round(end - _LEAST) for end in (low, high, value))
            low, high = np.minimum(low, high), np.maximum(low, high)
            value = np.clip(value, low, high)
            # Whether a number is known depends on the noise alone: were it asked of the interval, those that
            # are narrow by chance would be shown, and miss more often.
            place = np.clip(np.searchsorted(self.grid, value), 0, self.grid.size - 1)
            in_doubt = z * np.sqrt(variance[np.arange(len(totals)), place])
            known = in_doubt <= _MOST_IN_DOUBT * np.maximum(totals, 0.0)
            found.append(Estimate(value, low, high).unknown_where(~known))
        return found

    def noise_of_totals(self, members: FloatArray) -> FloatArray:
        """Return the noise of the number of records that have the column."""
        profile, n = self.profile, self.n_bins
        all_entries = n + profile.columns[self.column].may_miss
        of_entries = profile.entry_stddev**2 * (n - n**2 / all_entries)
        variance = of_entries + np.square(profile.count_stddev * n / all_entries)
        stddev: FloatArray = np.sqrt(members @ variance)
        return stddev


def _beyond(grid: FloatArray, ends: FloatArray, place: IntArray, reach: float) -> FloatArray:
    """Return the part of a bin below each point where nothing is expected in the bin.

    In the outermost bins density falls with the square of the distance from what is expected; in others,
    which are narrow, it is even.
    """
    width = np.maximum(np.diff(ends), _LEAST)[place]
    inside = (grid - ends[place]) / width
    first, last = place == 0, place == len(ends) - 2
    distance = np.where(first, 1 - inside, inside) * width
    part = (1 - 1 / (1 + distance / reach)) / (1 - 1 / (1 + width / reach))
    falling = np.where(first, 1 - part, part)
    outermost: FloatArray = np.where((first | last) & (len(ends) > 2), falling, inside)
    return outermost


def _heavy(found: FloatArray, noise: float) -> FloatArray:
    """Return how far each bin is the beginning of a tail, from 0 to 1.

    Of a bin beside the outermost one the mixture expects all records at its inner end. Where there are many
    beyond, they go on through that bin as well, and are taken to lie evenly in it.
    """
    heavy = np.zeros(found.size)
    if found.size >= _WITH_TAILS:
        beyond = np.maximum(found[[0, -1]] - _BEYOND * noise, 0.0)
        heavy[[1, -2]] = np.clip(2 * beyond / np.maximum(found[[1, -2]], 1.0), 0.0, 1.0)
    return heavy


def _unlike(found: FloatArray, expected: FloatArray, count: float, noise: float) -> float:
    """Return how far counts are from those expected, beyond noise, from 0 to 1: at 1 no shape is believed."""
    n, usual = max(count, 1.0), np.maximum(expected, _LEAST_EXPECTED)
    by_noise = (noise / n) ** 2 / usual
    # A standard deviation of the sum of squares of noise is taken off, too.
    square = np.sum((found / n - expected) ** 2 / usual - by_noise) - np.sqrt(2 * np.sum(by_noise**2))
    return float(np.clip(square, 0.0, 1.0)) ** _STEEPNESS


def _inside(found: FloatArray, expected: FloatArray, count: float) -> tuple[FloatArray, FloatArray]:
    """Return how F bends inside each bin, and how far it may be off.

    At the part w of a bin it is off a straight line by ``bent w (w - 1)``, and by at most ``off w (1 - w)``.
    """
    own, has_far = np.maximum(expected, _LEAST) * max(count, 1.0), found.size >= _WITH_TAILS
    ratio, outer = found / own, np.zeros(found.size, dtype=np.bool_)
    if has_far:
        ratio[[0, -1]] = ratio[[1, -2]]
        own[[0, -1]] = 0.0
    outer[: 1 + has_far] = outer[found.size - 1 - has_far :] = True
    around = np.concatenate([ratio[:1], ratio, ratio[-1:]])
    largest = 2 * np.maximum(ratio, 0.0)
    slope = np.clip((around[2:] - around[:-2]) / 2, -largest, largest)
    bend = np.abs(ratio - (around[2:] + around[:-2]) / 2)
    shape = np.where(outer, _SHAPE_OF_TAILS, _SHAPE) * np.maximum(found, 0.0)
    return own * slope / 2, own * (_SLOPE * np.abs(slope) + _BEND * bend) + shape


def _first_at_least(grid: FloatArray, values: FloatArray) -> FloatArray:
    """Return where each row first reaches 0, straight between points; the last point if it never does."""
    reached = values >= 0
    place = np.where(reached.any(axis=1), reached.argmax(axis=1), values.shape[1] - 1)
    rows, before = np.arange(len(values)), np.maximum(place - 1, 0)
    left, right = values[rows, before], values[rows, place]
    step = np.where((right > left) & (left < 0), -left / np.where(right > left, right - left, 1.0), 1.0)
    found: FloatArray = grid[before] + np.clip(step, 0.0, 1.0) * (grid[place] - grid[before])
    return found
