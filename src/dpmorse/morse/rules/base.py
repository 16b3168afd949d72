"""Merge rules: their base class, their input and their result, with the number of clusters it suggests."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from dpmorse.densities import GaussianMixture, differing_part
from dpmorse.morse.critical.points import CriticalPoints
from dpmorse.morse.rules.sizes import Sizes
from dpmorse.typing import FloatArray, IntArray

# Covariances of hard cells are too small, because each component is estimated from records of its own cell
# only. This factor undoes the truncation on average (docs/morse.md, "Which merge rule").
_INFLATION = 1.5

# Pairs of opposite points in the sample of the whole mixture, so that time does not grow with the number of
# components; and the fewest and the most of them for one component.
_SAMPLES, _SAMPLES_PER_COMPONENT = 4000, (20, 500)

# Memberships that are held in memory at a time: 8 MB of doubles.
_CHUNK_VALUES = 1 << 20

NO_GROUPS = "no groups can be told apart"

# Smallest length of a run of numbers that is written by its ends.
_LONG = 3


@dataclass(frozen=True)
class Leaves:
    """Leaves of a tree: components of positive weight, then modes that no component descends to.

    ``components`` is -1 for the latter, which are called bare.
    """

    components: IntArray
    modes: IntArray

    @classmethod
    def of(cls, mixture: GaussianMixture, points: CriticalPoints) -> "Leaves":
        """Return the leaves of a mixture."""
        kept = np.flatnonzero(mixture.weights > 0)
        bare = np.setdiff1d(np.arange(len(points.modes)), points.component_modes[kept])
        components = np.r_[kept, np.full(len(bare), -1)]
        return cls(components, np.r_[points.component_modes[kept], bare])

    def __len__(self) -> int:
        return len(self.modes)

    @property
    def full(self) -> IntArray:
        """The leaves that are components."""
        return np.flatnonzero(self.components >= 0)

    @property
    def bare(self) -> IntArray:
        """The leaves that are modes without component."""
        return np.flatnonzero(self.components < 0)


@dataclass(frozen=True)
class Merges:
    """Merges of leaves, first to last: a leaf of either group, and the height. Heights do not fall.

    ``saddles`` are the numbers of the saddles over which modes merge, -1 for merges not decided by one.
    """

    first: IntArray
    second: IntArray
    heights: FloatArray
    saddles: IntArray

    @classmethod
    def without_saddles(cls, first: IntArray, second: IntArray, heights: FloatArray) -> "Merges":
        """Return merges that no saddle decides."""
        return cls(first, second, heights, np.full(len(first), -1))

    def __add__(self, other: "Merges") -> "Merges":
        return Merges(*map(np.concatenate, zip(vars(self).values(), vars(other).values(), strict=True)))

    def linkage_matrix(self) -> FloatArray:
        """Name groups as SciPy does: leaf i is i, the group made by row j is n_leaves + j."""
        n_leaves = len(self.heights) + 1
        group, size = np.arange(n_leaves), np.ones(2 * n_leaves - 1)
        matrix = np.empty((len(self.heights), 4))
        for row, (a, b, height) in enumerate(zip(self.first, self.second, self.heights, strict=True)):
            low, high = sorted((group[a], group[b]))
            made = n_leaves + row
            size[made] = size[low] + size[high]
            group[(group == low) | (group == high)] = made
            matrix[row] = low, high, height, size[made]
        return matrix


@dataclass(frozen=True)
class MergeInput:
    """Input of a rule, all of it released.

    ``n_clusters`` is the number of clusters asked for, or None; ``find`` searches another mixture for the
    critical points that may matter to its tree; clusters lighter than ``least_weight`` may be noise;
    ``sizes`` are those of components, where they were released. Most rules need none of these.
    """

    mixture: GaussianMixture
    points: CriticalPoints
    leaves: Leaves
    n_clusters: int | None
    find: Callable[[GaussianMixture], CriticalPoints]
    least_weight: float = 0.0
    sizes: Sizes | None = None

    @cached_property
    def differing(self) -> GaussianMixture:
        """The mixture where its components differ: enough for memberships and ratios of determinants."""
        part = differing_part(self.mixture)
        return self.mixture if part is None else part.mixture

    @cached_property
    def barriers(self) -> FloatArray:
        """The height of the pass between the modes of any two leaves, -inf within one mode."""
        return self.points.barriers[np.ix_(self.leaves.modes, self.leaves.modes)]

    @cached_property
    def shared(self) -> FloatArray:
        """Q_ab = E[w_a w_b] between leaves, from a fixed sample of the inflated mixture.

        Every component is sampled with the same normal numbers and their negatives, and counts by its
        weight: the result does not depend on the order of components. Modes without component share nothing.
        """
        mixture, full = self.differing, self.leaves.full
        components = self.leaves.components[full]
        inflated = GaussianMixture(mixture.weights, mixture.means, _INFLATION * mixture.covariances)
        n = int(np.clip(_SAMPLES // len(components), *_SAMPLES_PER_COMPONENT))
        normal = np.random.default_rng(0).standard_normal((n, mixture.n_features))
        normal = np.vstack([normal, -normal])
        spreads = np.linalg.cholesky(inflated.covariances).swapaxes(1, 2)
        shared = np.zeros((len(components), len(components)))
        n_chunks = -(-2 * n * len(components) * mixture.n_components // _CHUNK_VALUES)
        for some in np.array_split(components, n_chunks):
            points = inflated.means[some, None] + normal @ spreads[some]
            memberships = inflated.responsibilities(points.reshape(-1, mixture.n_features))[:, components]
            each = np.repeat(inflated.weights[some] / len(normal), len(normal))
            shared += (memberships * each[:, None]).T @ memberships
        of_leaves = np.zeros((len(self.leaves), len(self.leaves)))
        of_leaves[np.ix_(full, full)] = shared
        return of_leaves


@dataclass(frozen=True)
class Suggestion:
    """A number of clusters, and the numbers that are nearly as good.

    Attributes
    ----------
    n_clusters : int
        The suggested number.
    nearly : tuple of int
        This number and those that are nearly as good, in order.
    n_noise : int
        Groups that stand apart and may be noise. They are no clusters: each is in the one next to it.
    why_one : callable or None
        Says why no groups can be told apart; where nobody knows, that they cannot.
    """

    n_clusters: int
    nearly: tuple[int, ...]
    n_noise: int = 0
    why_one: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    @property
    def in_words(self) -> str:
        """The suggestion as a part of a sentence."""
        if self.n_clusters == 1:
            number = f"1 cluster suggested: {NO_GROUPS if self.why_one is None else self.why_one()}"
        else:
            number = f"{self.n_clusters} clusters suggested"
        if self.n_noise > 0:
            number += (
                f", and {'one group' if self.n_noise == 1 else f'{self.n_noise} groups'} that may be noise"
            )
        others = [k for k in self.nearly if k != self.n_clusters]
        if not others:
            return number
        return f"{number}; {_listed(others)} {'are' if len(others) > 1 else 'is'} nearly as good"


def _listed(numbers: list[int]) -> str:
    """Write numbers in order as "2, 5 to 8 and 10"."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) >= _LONG else map(str, run)
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


class Suggests(Protocol):
    """Anything that suggests a number of clusters."""

    @property
    def suggestion(self) -> Suggestion:
        """The suggested number of clusters, computed on demand."""
        ...

    @property
    def suggested_n_clusters(self) -> int:
        """That number alone."""
        ...


class MergeRule(ABC):
    """A rule for the order of merges.

    To add one, write a subclass in a file of its own, and name it in ``RULES``: the parameter's choices and
    the labels of axes and reports come from there.

    Attributes
    ----------
    name : str
        Value of the parameter ``merge``.
    description : str
        The rule in one sentence.
    height_label : str
        Meaning of the heights of the tree, for axes and reports.
    keeps_modes : bool
        Whether modes are merged as wholes: then the first merges put the components of each mode together,
        and a tree of modes can be drawn.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    height_label: ClassVar[str]
    keeps_modes: ClassVar[bool] = False

    @abstractmethod
    def merge(self, given: MergeInput) -> Merges:
        """Return merges that make one group of all leaves, bare ones too (see ``attach_bare_modes``)."""

    def decide(self, given: MergeInput) -> "Decision":
        """Return the merges and the rule that decided: this one, unless it chooses among others."""
        return Decision(self.merge(given), self, self.name)


@dataclass(frozen=True)
class Decision:
    """The merges of a tree, the rule that made them, and its name with the smoothing, if any (``basis``).

    ``proposals`` suggest a number of clusters; None, for rules that only count modes.
    """

    merges: Merges
    rule: MergeRule
    basis: str
    proposals: Suggests | None = None
