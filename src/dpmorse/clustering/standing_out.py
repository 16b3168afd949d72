"""Sizes of the components of a fit, and words for the case that no groups stand out of its noise.

What would be needed is found as ``dpmorse plan`` does it: a fit of invented records is rehearsed, and says
how small a group may be to be seen. Only released values and public parameters are read.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpmorse.bases import FittedBase, PrivateFit, rehearse
from dpmorse.morse import NO_GROUPS, Sizes

_GROUPS = 4
"""Groups of equal size that are asked for: as many records, or as large a budget, as let them be seen."""

_TURNS = 3
"""Rehearsals of each search. What is seen hardly depends on the number of records, and is nearly proportional
to 1 / epsilon, so that each turn starts from the answer of the last."""


def sizes_of(base: FittedBase) -> Sizes | None:
    """Return the released sizes of the components; None without a profile."""
    profile = base.profile_
    if profile is None:
        return None
    why_one = WhyOne(base) if isinstance(base, PrivateFit) else None
    return Sizes(profile.counts, profile.count_stddev, why_one)


@dataclass(frozen=True, eq=False)
class WhyOne:
    """Says why one cluster is suggested; nothing is computed until somebody asks."""

    base: Any

    def __call__(self) -> str:
        """Return a part of a sentence."""
        return self._words

    @cached_property
    def _words(self) -> str:
        base, n_records = self.base, max(round(float(self.base.profile_.counts.sum())), 1)
        smallest = self._smallest_seen(n_records, base.epsilon)
        if _GROUPS * smallest <= n_records:
            return (
                f"{NO_GROUPS}; one of {_rounded(smallest)} records or more that lies apart from all others "
                "would be seen in 19 of 20 such fits"
            )
        n_columns, records = len(base.schema_.names), _rounded(self._enough_records(n_records))
        return (
            f"with about {n_records:,} records, {n_columns} column{'s' * (n_columns > 1)} and epsilon "
            f"{base.epsilon:g} {NO_GROUPS}; about {records} records or epsilon "
            f"{float(f'{self._enough_epsilon(n_records):.2g}'):g} would be needed"
        )

    def _smallest_seen(self, n_records: int, epsilon: float) -> int:
        base = self.base
        parameters = base.get_params(deep=False) | {"epsilon": epsilon, "ledger": None, "engine": None}
        if base.columns is None and not isinstance(base.bounds, str):
            parameters["bounds"] = (-1.0, 1.0)  # noise does not depend on them, and names need a table
        return rehearse(type(base)(**parameters), base.n_features_in_, n_records).smallest_cluster

    def _enough_records(self, n_records: int) -> int:
        for _ in range(_TURNS):
            n_records = max(n_records, _GROUPS * self._smallest_seen(n_records, self.base.epsilon))
        return n_records

    def _enough_epsilon(self, n_records: int) -> float:
        epsilon = float(self.base.epsilon)
        for _ in range(_TURNS):
            epsilon *= max(_GROUPS * self._smallest_seen(n_records, epsilon) / n_records, 1.0)
        return epsilon


def _rounded(number: float) -> str:
    """Write a number to two digits."""
    return f"{float(f'{number:.2g}'):,.0f}"
