"""The parameters of the default base, checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpmorse.bases.settings import Settings, parameter, true_or_false, whole
from dpmorse.bases.staged.encoded import encoded_domain
from dpmorse.bases.staged.predicted import N_STEPS
from dpmorse.bases.staged.profile import MOST_BINS
from dpmorse.schema import Schema
from dpmorse.statistics import LARGEST_N_CELLS, Domain

MOST_COLUMNS = 2
"""Most columns for a joint histogram. The number of cells grows exponentially with the columns; in three or
four columns the histogram was tried and not kept (docs/default.md)."""

FEW_COLUMNS = 32
"""Largest number of columns for which directions cost more than they tell (docs/default.md)."""

SOME_CLUSTERS = 6
"""Number of clusters that components are made for where none is given: two for each cluster and one, which is
13 in four columns or more, and with ``DPMorse`` at least this many (docs/default.md)."""


def default_n_components(n_features: int, n_clusters: int | None = None, *, products: bool = False) -> int:
    """Return two components for each cluster and one; more in few columns, to follow curved shapes.

    In one or two columns counts of cells are released, which support more components than moments do. Above
    32 columns a component describes a cluster by itself; two are to spare (docs/default.md). ``products`` are
    components of tables with categories, or with many columns that may be missing.
    """
    if products:
        return 2 * (n_clusters or SOME_CLUSTERS) + 1
    if n_features > FEW_COLUMNS and n_clusters is not None:
        return n_clusters + 2
    n_clusters = n_clusters or SOME_CLUSTERS
    if n_features <= MOST_COLUMNS:
        return max(math.ceil(1.5 * n_clusters), 24)
    return max(2 * n_clusters + 1, min(16, 48 // n_features))


def has_products(columns: Schema) -> bool:
    """Say whether components are products: there are categories, or many numbers that may be missing."""
    layout = columns.layout
    return layout.n_categories > 0 or (layout.n_holes > 0 and layout.n_numbers > FEW_COLUMNS)


def _n_components(name: str, value: Any, given: Mapping[str, Any]) -> int | None:
    """Check the largest number of components; by default it follows from the columns."""
    usual = default_n_components(given["n_features"], products=has_products(given["of_columns"]["columns"]))
    return whole(LARGEST_N_CELLS // 2)(name, usual if value is None else value, given)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class StagedSettings(Settings):
    """Checked parameters of a ``PrivateGaussianMixture``."""

    numbers_only: ClassVar[bool] = False

    n_components: int = parameter(_n_components, refused=(0, -1, 2.5, "three", LARGEST_N_CELLS, True))
    min_components: int = parameter(whole(), refused=(0, -1, 2.5, "two", None, True))
    profile: bool = parameter(true_or_false, refused=(0, 1, "yes", None))

    @property
    def values_of_a_component(self) -> int:
        """Covariances of mixture and, for numbers, partition; edges, curves and counts of the profile."""
        of_mixture, layout = super().values_of_a_component, self.schema.layout
        if not self.profile:
            return of_mixture
        entries = layout.n_numbers * MOST_BINS + layout.n_all_levels + self.n_features
        of_profile = layout.n_numbers * (MOST_BINS + N_STEPS) + 2 * entries
        return (2 if layout.only_numbers else 1) * of_mixture + of_profile

    @cached_property
    def domain(self) -> Domain:
        """Where records are clipped to: the public box of encoded records."""
        layout = self.schema.layout
        return encoded_domain(layout, np.array(layout.lower), np.array(layout.upper))
