"""The table of a cut: share, quartiles, levels and missing values of each cluster, each with an interval.

Point values are those of the account (``account.py``), so that they add up: levels and missing values of a
category to 1, clusters to all records. Intervals are those of the released counts, which are not biased, and
hold the point values too. With x the estimate of an entry that adds up to sizes of variance v, s the noise of
an entry, B the entries of its column and q the share, ``x - q n`` has the variance ``s^2 (1 - 1 / B) + v (1 /
B - q)^2`` in each component.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpmorse.profiles.account import Account
from dpmorse.profiles.estimate import Estimate, Quartiles
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.profiles.quantiles import Curves
from dpmorse.typing import BoolArray, FloatArray, IntArray

QUARTILES = (0.25, 0.5, 0.75)
"""Quantiles of numbers that every table has: q1, median and q3."""


@dataclass(frozen=True)
class ClusterTable(Quartiles):
    """What may be published about the clusters of one cut. What is not known is NaN, with its interval.

    Attributes
    ----------
    counts, count_stddev : ndarray of shape (n_clusters,)
        Number of records, and its noise.
    share : Estimate of shape (n_clusters,)
        Part of all records.
    quantiles : dict of Estimate of shape (n_clusters, n_numbers)
        Quantiles of each column that is a number, of the values that are there, by the part of the values
        below: 0.25, 0.5 and 0.75, and others that were asked for.
    level_share : tuple of Estimate of shape (n_clusters, n_levels)
        For each category, parts of all of the cluster's records with each level.
    missing : Estimate of shape (n_clusters, n_columns)
        Part of the cluster's records in which a column is missing: numbers first, then categories. 0 for one
        that may not be missing.
    supported : ndarray of shape (n_clusters,)
        Whether a cluster is larger than three standard deviations of its size's noise. Of all others nothing
        but the share is known.
    """

    counts: FloatArray
    count_stddev: FloatArray
    share: Estimate
    quantiles: dict[float, Estimate]
    level_share: tuple[Estimate, ...]
    missing: Estimate
    supported: BoolArray

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3g}" for share in self.share.value)
        return f"ClusterTable(shares: {shares}; {self.median.value.shape[1]} columns of numbers)"


def cluster_table(
    profile: Profile,
    labels: IntArray,
    *,
    n_clusters: int | None = None,
    level: float = 0.95,
    population: bool = False,
    quantiles: Sequence[float] | None = (),
) -> ClusterTable:
    """Return the table of the clusters that components are labelled with, 0, 1, ...

    ``n_clusters`` is given where a cluster may have no component: a mode of the density that no component is
    nearest to. ``population`` widens the intervals from the records at hand to where they were drawn from.
    ``quantiles=None`` leaves quantiles out, which take longer than all else.
    """
    members = np.eye(n_clusters or int(labels.max()) + 1)[labels].T  # (clusters, components)
    return group_table(profile, members, level=level, population=population, quantiles=quantiles)


def group_table(
    profile: Profile,
    members: FloatArray,
    *,
    level: float = 0.95,
    population: bool = False,
    quantiles: Sequence[float] | None = (),
) -> ClusterTable:
    """Return the table of any groups of components: rows of ``members`` have 1 where a component belongs.

    A group's row is the same whatever the others are, so that one table can serve all cuts of a tree.
    """
    z, account = float(ndtri(0.5 + level / 2)), Account.of(profile)
    counts, noise = members @ profile.counts, np.sqrt(members @ np.square(profile.count_stddev))
    supported = counts > SUPPORT * noise
    if profile.n_records is not None:  # so it is known that there are some
        supported = supported | (members.sum(axis=1) == profile.n_components)
    parts = _Parts(profile, account, members, supported, z, population)
    return ClusterTable(
        counts=members @ account.sizes,
        count_stddev=noise,
        share=parts.shares(),
        quantiles={} if quantiles is None else parts.quantiles(sorted({*QUARTILES, *quantiles})),
        level_share=tuple(parts.levels()),
        missing=parts.missing(),
        supported=supported,
    )


@dataclass(frozen=True)
class _Parts:
    """Groups of components, and what is asked of them."""

    profile: Profile
    account: Account
    members: FloatArray
    supported: BoolArray
    z: float
    population: bool

    def shares(self) -> Estimate:
        """Return the parts of all records."""
        profile, variances = self.profile, np.square(self.profile.count_stddev)
        value = self._parted(self.account.sizes)
        total = float(profile.counts.sum())
        if total <= SUPPORT * np.sqrt(variances.sum()):
            n_own = self.members.sum(axis=1)
            certain = (n_own == 0) | (n_own == profile.n_components)  # nothing and everything
            low, high = np.where(certain, value, 0.0), np.where(certain, value, 1.0)
            return Estimate(value, low, high)
        share = np.clip(self._parted(profile.counts), 0.0, 1.0)
        own, rest = self.members @ variances, (1 - self.members) @ variances
        variance = ((1 - share) ** 2 * own + share**2 * rest) / total**2
        if self.population:
            variance = variance + share * (1 - share) / total
        return Estimate.of_parts(share, self.z * np.sqrt(variance)).around(value)

    def _parted(self, numbers: FloatArray) -> FloatArray:
        """Return the groups' parts of numbers: those of everything are exactly 1."""
        own = self.members @ numbers
        parts: FloatArray = own / (own + (1 - self.members) @ numbers)
        return parts

    def quantiles(self, of: Sequence[float]) -> dict[float, Estimate]:
        """Return the quantiles of all numbers."""
        profile, n = self.profile, len(self.members)
        found: dict[float, list[Estimate]] = {p: [] for p in of}
        for j in range(profile.n_numbers):
            curves = Curves.of(profile, self.account, j)
            each = curves.quantiles(self.members, self.account, of, self.z, population=self.population)
            for p, one in zip(of, each, strict=True):
                found[p].append(one.unknown_where(~self.supported))
        none = np.zeros((n, 0))
        return {
            p: Estimate.stacked(each) if each else Estimate(none, none, none) for p, each in found.items()
        }

    def levels(self) -> list[Estimate]:
        """Return the shares of levels, category by category."""
        columns = list(enumerate(self.profile.columns))[self.profile.n_numbers :]
        return [self._part_of(j, np.arange(own.present.start, own.present.stop)) for j, own in columns]

    def missing(self) -> Estimate:
        """Return the shares of missing values of all columns."""
        none = np.zeros((len(self.members), 1))
        found = [
            self._part_of(j, np.array([own.part.stop - 1])) if own.may_miss else Estimate(none, none, none)
            for j, own in enumerate(self.profile.columns)
        ]
        return Estimate(
            *(np.hstack([getattr(one, name) for one in found]) for name in ("value", "low", "high"))
        )

    def _part_of(self, column: int, entries: IntArray) -> Estimate:
        """Return parts of the groups' records in some entries of a column."""
        profile, members = self.profile, self.members
        sizes = np.maximum(members @ profile.counts, 1.0)[:, None]
        share = np.clip(members @ profile.unbiased[:, entries] / sizes, 0.0, 1.0)
        n_entries = profile.n_used[:, column]
        of_entry = members @ (profile.entry_stddev**2 * (1 - 1 / n_entries))
        offsets = (1 / n_entries)[None, :, None] - share[:, None, :]  # (groups, components, entries)
        of_size = np.einsum("gk,gke->ge", members * np.square(profile.count_stddev), offsets**2)
        variance = (of_entry[:, None] + of_size) / sizes**2
        if self.population:
            variance = variance + share * (1 - share) / sizes
        kept = np.maximum(members @ self.account.sizes, 1e-300)[:, None]
        value = members @ self.account.entries[:, entries] / kept
        found = Estimate.of_parts(share, self.z * np.sqrt(variance)).around(value)
        return found.unknown_where(~self.supported[:, None] & np.ones(share.shape, dtype=np.bool_))
