"""Six kinds of tables with numbers, categories and missing values, by the columns in which classes differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.spatial.distance import pdist

from benchmarks.generated.draws import Rng, draw_rotation
from benchmarks.generated.mixed_table import MixedTable, draw_codes, generous_bounds, punched
from dpmorse.datasets.draws import draw_labels, draw_shares
from dpmorse.typing import FloatArray, IntArray

_MOST_LEVELS = (2, 5, 10, 30)
_SHARES_MISSING = (0.02, 0.1, 0.3)


@dataclass(frozen=True)
class _Kind:
    """The differences between the classes of a table.

    ``separation`` is the median distance of two centres, where a typical standard deviation is 1;
    ``contrast``, from 0 to 1, how much of the distribution of a category is a class's own.
    """

    separation: float = 0.0
    contrast: float = 0.0
    fixed_classes: int | None = None
    fixed_numbers: int | None = None
    most_numbers: int = 10
    most_categories: int = 20


KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "num": _Kind(separation=6.0, most_categories=8),
        "cat": _Kind(contrast=0.85, most_numbers=5),
        "both": _Kind(separation=4.0, contrast=0.6),
        "combo": _Kind(separation=6.0, contrast=0.85, fixed_classes=9),
        "allcat": _Kind(contrast=0.8, fixed_numbers=0),
        "curved": _Kind(contrast=0.8, fixed_classes=4, fixed_numbers=3),
    }
)
"""The class is in the numbers, in the categories, or weakly in both. ``combo`` has three groups by numbers
and three by categories, whose nine pairs are the classes; ``allcat`` has no numbers; ``curved`` has two moons
by numbers, and two groups by categories."""


@dataclass(frozen=True)
class _Law:
    """The law of the records: shares of classes, groups of classes, and distributions of groups."""

    shares: FloatArray
    by_number: IntArray
    by_category: IntArray
    centres: FloatArray
    maps: FloatArray
    probabilities: list[FloatArray]
    scale: FloatArray
    missing: float


def make_mixed(kind: str, n: int, instance: int, missing: float | None = None) -> MixedTable:
    """Draw a table of one of the ``KINDS``: the same kind, n and instance give the same records.

    The kind and the instance alone decide on columns, levels, classes and their distributions, and on the
    share of values that are missing, unless that is given; the bounds are three times as wide as the range
    of the records.
    """
    rng = np.random.default_rng([instance, *kind.encode()])
    law = _draw_law(kind, rng)
    y = draw_labels(n, law.shares, rng)
    if kind == "curved":
        numbers = _draw_moons(y % 2, law.scale.size, rng) * law.scale
    else:
        numbers = _draw_numbers(law.by_number[y], law.centres, law.maps, rng) * law.scale
    codes = draw_codes(law.probabilities, law.by_category[y], rng)
    bounds = generous_bounds(numbers)
    n_levels = tuple(p.shape[1] for p in law.probabilities)
    holes = punched(numbers, codes, law.missing if missing is None else missing, rng)
    return MixedTable(f"{kind}-{instance}", *holes, n_levels, *bounds, y)


def _draw_law(kind: str, rng: Rng) -> _Law:
    """Draw all that does not depend on the number of records."""
    what = KINDS[kind]
    k, d, n_categories = (int(rng.integers(low, high)) for low, high in ((3, 8), (3, 11), (4, 21)))
    k = k if what.fixed_classes is None else what.fixed_classes
    d = min(d, what.most_numbers) if what.fixed_numbers is None else what.fixed_numbers
    most_levels, missing = int(rng.choice(_MOST_LEVELS)), float(rng.choice(_SHARES_MISSING))
    by_number, by_category = _groups(kind, np.arange(k))
    centres, maps = _draw_gaussians(int(by_number.max()) + 1, d, what.separation, rng)
    n_levels = rng.integers(2, most_levels + 1, min(n_categories, what.most_categories))
    groups = int(by_category.max()) + 1
    probabilities = [_draw_levels(groups, int(levels), what.contrast, rng) for levels in n_levels]
    shares, scale = draw_shares(k, 10.0, rng), 10 ** rng.uniform(-1, 3, d)
    return _Law(shares, by_number, by_category, centres, maps, probabilities, scale, missing)


def _groups(kind: str, classes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the group of each class by its numbers, and by its categories."""
    alone = np.zeros_like(classes)
    special = {
        "num": (classes, alone),
        "cat": (alone, classes),
        "combo": (classes // 3, classes % 3),
        "curved": (alone, classes // 2),
    }
    return special.get(kind, (classes, classes))


def _draw_gaussians(k: int, d: int, separation: float, rng: Rng) -> tuple[FloatArray, FloatArray]:
    """Draw k centres, all as far from the origin, and the maps of turned and stretched clouds around them."""
    centres = rng.standard_normal((k, d))
    if k > 1 and d:
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        centres *= separation / np.median(pdist(centres))
    axes = np.sqrt(rng.uniform(0.4, 1.6, (k, d)))
    rotations = np.array([draw_rotation(d, rng) for _ in range(k)]).reshape(k, d, d)
    return centres, axes[:, :, None] * rotations


def _draw_numbers(groups: IntArray, centres: FloatArray, maps: FloatArray, rng: Rng) -> FloatArray:
    """Draw one row of numbers for each record, around the centre of its group."""
    standard = rng.standard_normal((groups.size, centres.shape[1]))
    numbers = centres[groups]
    for group, factor in enumerate(maps):
        numbers[groups == group] += standard[groups == group] @ factor
    return numbers


def _draw_moons(groups: IntArray, d: int, rng: Rng) -> FloatArray:
    """Draw two interlocked half circles of radius 3 in the first two columns; others tell nothing of them."""
    numbers = rng.standard_normal((groups.size, d))
    angle = rng.uniform(0, np.pi, groups.size)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    numbers[:, :2] = 3 * np.where(groups[:, None] == 0, upper, lower) + 0.3 * numbers[:, :2]
    return numbers


def _draw_levels(k: int, n_levels: int, contrast: float, rng: Rng) -> FloatArray:
    """Draw the distributions of a category in k groups: a common one, mixed with one of each group's own."""
    common = rng.dirichlet(np.full(n_levels, 2.0))
    own = rng.dirichlet(np.full(n_levels, 0.3), k)
    mixed: FloatArray = (1 - contrast) * common + contrast * own
    return mixed
