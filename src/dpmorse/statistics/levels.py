"""Counts of missing values and levels in each cell, and their sensitivity.

Records are encoded (``schema/layout.py``): ``[holes | numbers | levels]``, where an entry of ``holes`` is 1
if its number is missing. A record adds ``gamma_k`` times these entries and its levels, which are 0 or 1, to
cell k, beside the moments of its numbers.

**Sensitivity.** The cost of the moments is proved in ``sensitivity.py``. Let ``h`` be the missing values and
levels of a record. Of each column of categories at most one level is 1, so ``|h|^2 <= C + H`` with C columns
of categories and H numbers that may be missing. With inverse noise ``e`` a record moves these counts by at
most ``e^2 (C + H)``, and a replaced one by twice that: in another cell the two are orthogonal, in the same
cell ``|h - h'|^2 <= 2 C + H``. Blocks are orthogonal, so squared sensitivities add up. Memberships
``gamma`` are those of the proof of soft cells: the squared distance is convex in them, and largest at the
cases above.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Neighboring, Noise, Norm
from dpmorse.schema import Layout
from dpmorse.statistics.domain import Domain
from dpmorse.typing import IntArray


@dataclass(frozen=True)
class LevelCounts:
    """Counts of the missing values and levels of a layout."""

    layout: Layout

    @property
    def places(self) -> IntArray:
        """Positions of the entries that are counted."""
        return np.asarray(np.r_[self.layout.hole_part, self.layout.level_part])

    @property
    def n_ones(self) -> int:
        """The C + H of the proof: the most missing values and levels that one record can have."""
        return self.layout.n_categories + self.layout.n_holes

    def check(self, domain: Domain) -> None:
        """Refuse domains in which a level is not 1: the proof counts in these units."""
        boxes = np.array([domain.lower, domain.upper])
        if domain.n_features != self.layout.width or np.any(boxes[:, self.places] != [[-1.0], [1.0]]):
            raise ValueError(
                "the domain must be one of encoded records, with missing values and levels in [-1, 1]"
            )
        if domain.radius is not None or domain.projection is not None:
            raise ValueError("encoded records must not be shrunk to a ball or projected: levels are counted")

    def squared_sensitivity(self, neighboring: Neighboring) -> int:
        """Return the squared sensitivity of the counts, as proved above."""
        return self.n_ones * (1 if neighboring is Neighboring.ADD_REMOVE else 2)

    def cost(self, inverse_scale: Fraction, neighboring: Neighboring, noise: Noise) -> Fraction:
        """Return rho, the cost of the counts if their noise has this inverse scale."""
        return noise.cost(self.squared_sensitivity(neighboring) * inverse_scale**2)

    def smallest_scale(self, cost: float, neighboring: Neighboring, noise: Noise) -> float:
        """Return the smallest scale of noise that costs at most ``cost``; any scale if nothing is counted."""
        if noise.norm is not Norm.L2:
            raise InvalidParameterError("delta must be above 0 for tables with categories or missing values.")
        moved = self.squared_sensitivity(neighboring)
        if moved and not cost:
            raise ValueError("levels must have a part of the cost: shares.levels must be above 0")
        return math.sqrt(moved / (2 * cost)) * (1 + 1e-12) if moved else 1 + 1e-12
