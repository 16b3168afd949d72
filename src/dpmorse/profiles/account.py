"""The one account of a release: numbers of records that add up, from counts that have noise.

Released counts may be negative, and those of one column add up to another size than those of the next. Here
every component has a size, its entries are not negative and add up to it in every column. Sums over
components are then right for all clusters of all cuts, and clusters add up to all records.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import james_stein
from dpmorse.profiles.profile import Profile, hidden_together
from dpmorse.typing import FloatArray


@dataclass(frozen=True)
class Account:
    """Numbers of records that add up: of each component, and in each of its entries."""

    sizes: FloatArray
    entries: FloatArray

    @classmethod
    def of(cls, profile: Profile) -> "Account":
        """Make the account of a release.

        What differs from what was expected of a component, column by column, is shrunk by its noise. Where
        noise hides whole components, even together, their records are taken to be like all records.
        """
        sizes = np.maximum(profile.counts, 0.0)
        if not sizes.any():  # nothing was seen at all
            sizes = np.ones_like(sizes)
        entries = np.zeros_like(profile.entries)
        for j, column in enumerate(profile.columns):
            found, used = profile.unbiased[:, column.part], profile.used[:, column.part]
            usual = profile.expected[:, column.part] * used
            usual *= (sizes / np.maximum(usual.sum(axis=1), _LEAST))[:, None]
            beyond = np.where(used, found - usual, 0.0)
            noise = np.maximum(profile.n_used[:, j] - 1, 0) * profile.entry_stddev**2
            kept = james_stein(np.square(beyond).sum(axis=1), noise)
            moved = np.where(used, usual + kept[:, None] * beyond, -np.inf)
            entries[:, column.part] = _onto_simplex(moved, sizes)
        total = profile.n_records or sizes.sum()
        factor = total / sizes.sum()
        whole = cls(sizes * factor, entries * factor)
        hidden = hidden_together(profile.counts, profile.count_stddev)
        return whole._like_all(profile, ~hidden) if hidden.any() and not hidden.all() else whole

    def _like_all(self, profile: Profile, seen: np.ndarray) -> "Account":
        """Return the account in which hidden components are like those that are seen together.

        Bins of numbers are those of each component: what is alike is the distribution over values.
        """
        entries = self.entries.copy()
        for j, column in enumerate(profile.columns):
            part = column.part
            if j < profile.n_numbers:
                continue
            common = self.entries[seen, part].sum(axis=0)
            common /= max(float(common.sum()), _LEAST)
            entries[~seen, part] = self.sizes[~seen, None] * common
        return Account(self.sizes, entries)


_LEAST = 1e-300


def _onto_simplex(points: FloatArray, totals: FloatArray) -> FloatArray:
    """Return the nearest points without negative entries that add up to the totals, row by row."""
    ordered = -np.sort(-points, axis=1)
    finite = np.isfinite(ordered)
    sums = np.cumsum(np.where(finite, ordered, 0.0), axis=1)
    shifts = (sums - totals[:, None]) / np.arange(1, points.shape[1] + 1)
    n_kept = np.maximum((finite & (ordered > shifts)).sum(axis=1), 1)
    found = np.maximum(points - shifts[np.arange(len(points)), n_kept - 1][:, None], 0.0)
    # Rounding: rows add up to the last bit that matters.
    scale = totals / np.maximum(found.sum(axis=1), _LEAST)
    exact: FloatArray = found * scale[:, None]
    return exact
