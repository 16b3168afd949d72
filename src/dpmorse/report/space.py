"""The space in which a page draws a density: the columns that are numbers, and a few directions.

A model of numbers alone is drawn in its own columns. Modes and saddles of a table are those of its shadow:
Gaussians with the moments of the components, in the directions that tell them apart. There columns and
directions are drawn together.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpmorse.densities import GaussianMixture, ProductMixture, carried
from dpmorse.profiles import Profile, draw_records
from dpmorse.report.axes import Axes, choose_axes, table_axes
from dpmorse.report.text import plain
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray, IntArray


class Box(Protocol):
    """Where records lie after clipping; a statistic counts in units of its half-widths."""

    lower: FloatArray
    upper: FloatArray
    centre: FloatArray
    half_width: FloatArray
    unit: FloatArray


@dataclass(frozen=True)
class Source:
    """What synthetic records are drawn from: a profile, what labels records, and the columns."""

    profile: Profile
    partition: GaussianMixture | ProductMixture
    schema: Schema

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draw encoded records, and their components."""
        return draw_records(self.profile, self.partition, self.schema, n, rng)


@dataclass(frozen=True)
class PlainSpace:
    """The columns of a model of numbers.

    Attributes
    ----------
    mixture : GaussianMixture
        The released mixture.
    partition : GaussianMixture
        What the tree is of; another mixture than that where clipping had moved records.
    source : Source or None
        What synthetic records are drawn from; None if that is the mixture, because there is no profile.
    domain : Box or None
        Where records were clipped to for their labels; None if the base does not say.
    """

    mixture: GaussianMixture
    partition: GaussianMixture
    source: Source | None
    domain: Box | None

    def axes(self, names: list[str]) -> Axes:
        """Return columns and principal directions."""
        return choose_axes(self.mixture, names)

    def shown(self, points: FloatArray) -> FloatArray:
        """Return points among the records that the mixture describes."""
        return carried(points, self.partition, self.mixture)

    def sampled(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draw synthetic records."""
        return self.mixture.sample(n, rng) if self.source is None else self.source.drawn(n, rng)

    def memberships(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return memberships by the mixture that labels records."""
        return self.partition.responsibilities(self.partition.sample(n, rng)[0])


@dataclass(frozen=True)
class TableSpace:
    """The numbers of a table, then the directions of its shadow.

    Attributes
    ----------
    product : ProductMixture
        The released mixture of the table.
    schema : Schema
        Its columns.
    source : Source or None
        As above.
    """

    product: ProductMixture
    schema: Schema
    source: Source | None = None
    domain: None = None

    @cached_property
    def mixture(self) -> GaussianMixture:
        """Gaussians with the moments of the components, in numbers and directions together."""
        product, (matrix, origin) = self.product, self.product.shadow_map
        n = product.layout.n_numbers
        frame = np.vstack([np.eye(n, matrix.shape[1]), matrix])
        means, covariances = product.record_moments
        shifted = np.hstack([means[:, :n], (means - origin) @ matrix.T])
        floor = np.diag(np.r_[np.zeros(n), np.full(len(matrix), _FLOOR)])
        return GaussianMixture(product.weights, shifted, frame @ covariances @ frame.T + floor)

    def axes(self, names: list[str]) -> Axes:
        """Return the columns that are numbers, and the first two directions of the shadow."""
        n, (matrix, _) = self.product.layout.n_numbers, self.product.shadow_map
        scale, marginals = self.product.units
        spread = np.r_[scale, np.sqrt(marginals * (1 - marginals))]
        levels = [plain(f"{name}: {level}") for name, own in self.schema.labels for level in own]
        return table_axes(self.mixture, names[:n], [*names[:n], *levels], matrix * spread)

    def shown(self, points: FloatArray) -> FloatArray:
        """Add to points of the shadow the numbers that records there have on average."""
        n, joint = self.product.layout.n_numbers, self.mixture
        own = np.s_[:, n:, n:]
        shadow = GaussianMixture(joint.weights, joint.means[:, n:], joint.covariances[own])
        offsets = points[:, None] - shadow.means  # (points, components, directions)
        slopes = np.linalg.solve(joint.covariances[own], joint.covariances[:, n:, :n])
        expected = joint.means[:, :n] + np.einsum("pkq,kqn->pkn", offsets, slopes)
        memberships = shadow.responsibilities(points) if len(points) else np.empty((0, len(joint.weights)))
        return np.hstack([np.einsum("pk,pkn->pn", memberships, expected), points])

    def sampled(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draw synthetic records inside the bounds, and map them to the shadow."""
        layout, (matrix, origin) = self.product.layout, self.product.shadow_map
        encoded, components = (self.product.sample if self.source is None else self.source.drawn)(n, rng)
        numbers = np.clip(encoded[:, layout.number_part], layout.lower, layout.upper)
        records = np.hstack([numbers, encoded[:, layout.level_part]])
        return np.hstack([numbers, (records - origin) @ matrix.T]), components

    def memberships(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return memberships of records without missing values."""
        return self.product.responsibilities(self.product.sample(n, rng)[0])


Space = PlainSpace | TableSpace
"""Coordinate system of the density plot."""

_FLOOR = 1e-4
"""Added to variances of directions, as in the shadow: one level alone would have no width."""
