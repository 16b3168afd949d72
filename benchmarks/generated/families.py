"""Families of synthetic datasets: a name and a seed stand for size, shape, difficulty and records.

A family draws its parameters from ranges wide enough that k-means, which sees the exact records, finds
anything from nothing to everything. Averages over many seeds of many families depend little on any one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.generated import curves, mixtures, tables
from benchmarks.generated.draws import Labelled, Rng
from dpmorse.datasets import LabelledData, make_blobs, make_moons, make_rings, widened_bounds

Range = tuple[bool, bool] | tuple[int, int] | tuple[float, float]

_ROWS = (3_000, 40_000)
"""Fewest and most records: the order of magnitude of the public datasets, which have 7,000 to 60,000."""


@dataclass(frozen=True)
class Family:
    """A generator and the range of each of its parameters.

    Parameters
    ----------
    generate : callable
        A generator of records and classes.
    ranges : mapping of str to (low, high)
        Whole numbers if both ends are, with both ends possible; real numbers otherwise.
    """

    generate: Callable[..., Labelled]
    ranges: Mapping[str, Range]

    def draw(self, n_samples: int, rng: Rng) -> Labelled:
        """Draw the parameters, then the records."""
        parameters = {name: _draw_from(ends, rng) for name, ends in self.ranges.items()}
        return self.generate(n_samples, random_state=rng, **parameters)


def make_family(name: str, seed: int, columns: tuple[int, int] | None = None) -> LabelledData:
    """Draw a dataset of one of the ``FAMILIES``: the same name and seed give the same records.

    The seed, an integer >= 0, decides on 3,000 to 40,000 records, on columns, classes, their weights and how
    hard they are to tell apart, and on the records. The bounds are those of the records, widened by 5 % on
    each side. ``columns`` are the fewest and the most, if they are to be others than the family's own.
    """
    family, called = FAMILIES[name], name
    if columns is not None:
        family = Family(family.generate, {**family.ranges, "n_features": columns})
        called = f"{name}@{columns[0]}-{columns[1]}@{seed}"
    # The name is part of the seed, letter by letter, so that a new family changes no other one.
    rng = np.random.default_rng([seed, *called.encode()])
    n = int(_ROWS[0] * (_ROWS[1] / _ROWS[0]) ** rng.random())
    X, y = family.draw(n, rng)
    return LabelledData(f"{name}-{seed}", X, y, widened_bounds(X))


def _draw_from(ends: Range, rng: Rng) -> Any:
    low, high = ends
    if isinstance(low, bool):
        return bool(rng.integers(2))
    if isinstance(low, int) and isinstance(high, int):
        return int(rng.integers(low, high + 1))
    return float(rng.uniform(low, high))


def _family(generate: Callable[..., Labelled], **ranges: Range) -> Family:
    return Family(generate, MappingProxyType(ranges))


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "blobs": _family(
            make_blobs,
            n_features=(2, 16),
            n_clusters=(3, 12),
            separation=(2.5, 8.0),
            spread_ratio=(2.0, 6.0),
        ),
        "elongated": _family(
            mixtures.make_elongated,
            n_features=(2, 10),
            n_clusters=(3, 10),
            separation=(2.5, 7.0),
            stretch=(4.0, 30.0),
        ),
        "many": _family(
            make_blobs,
            n_features=(2, 2),
            n_clusters=(15, 40),
            separation=(3.0, 6.0),
            spread_ratio=(1.2, 3.0),
        ),
        "unbalanced": _family(
            mixtures.make_unbalanced,
            n_features=(2, 8),
            n_clusters=(6, 12),
            n_heavy=(2, 4),
            separation=(3.0, 8.0),
        ),
        "dominant": _family(
            mixtures.make_dominant,
            n_features=(4, 12),
            n_clusters=(5, 8),
            share=(0.75, 0.85),
            n_pieces=(3, 6),
            separation=(3.0, 8.0),
        ),
        "concentric": _family(
            mixtures.make_concentric, n_features=(5, 10), n_clusters=(2, 4), ratio=(2.0, 5.0)
        ),
        "moons": _family(make_moons, n_features=(2, 6), noise=(0.05, 0.25)),
        "rings": _family(make_rings, n_features=(2, 4), n_clusters=(2, 4), noise=(0.05, 0.3)),
        "spirals": _family(
            curves.make_spirals,
            n_features=(2, 4),
            n_clusters=(2, 5),
            turns=(0.4, 1.2),
            noise=(0.02, 0.08),
        ),
        "worms_2d": _family(
            curves.make_worms,
            n_features=(2, 2),
            n_clusters=(5, 30),
            room=(0.2, 0.8),
            radius=(0.04, 0.2),
            bend=(0.5, 3.0),
        ),
        "worms_high": _family(
            curves.make_worms,
            n_features=(16, 64),
            n_clusters=(4, 15),
            room=(0.1, 0.8),
            radius=(0.3, 2.0),
            bend=(0.5, 3.0),
        ),
        "subclasses": _family(
            tables.make_subclasses,
            n_features=(6, 14),
            n_clusters=(2, 5),
            n_subclasses=(2, 4),
            n_nuisance=(1, 4),
            separation=(2.5, 7.0),
            tail=(3.0, 8.0),
        ),
        "skewed": _family(
            tables.make_skewed,
            n_features=(3, 12),
            n_clusters=(2, 6),
            separation=(2.0, 6.0),
            skewness=(0.3, 1.0),
        ),
        "multiscale": _family(
            mixtures.make_multiscale,
            n_features=(2, 6),
            n_clusters=(3, 6),
            n_subclusters=(2, 5),
            ratio=(2.0, 6.0),
            fine=(False, True),
        ),
        "background": _family(
            mixtures.make_background,
            n_features=(2, 8),
            n_clusters=(3, 10),
            share=(0.05, 0.3),
            separation=(4.0, 9.0),
        ),
        "discrete": _family(tables.make_discrete, n_features=(4, 14), n_clusters=(2, 5), contrast=(0.5, 2.0)),
        "manifold": _family(
            curves.make_manifold,
            n_features=(16, 64),
            n_clusters=(4, 10),
            dimension=(2, 4),
            curvature=(0.2, 1.0),
            noise=(0.05, 0.4),
        ),
        "slab": _family(
            tables.make_slab,
            n_features=(3, 10),
            n_clusters=(2, 3),
            separation=(3.0, 10.0),
            width=(2.0, 20.0),
            tail=(2.0, 6.0),
        ),
        "boxes": _family(tables.make_boxes, n_features=(2, 6), n_clusters=(3, 10), gap=(0.01, 0.3)),
        "trajectory": _family(
            tables.make_trajectory,
            n_features=(4, 12),
            n_clusters=(3, 7),
            contrast=(2.0, 8.0),
            memory=(0.5, 0.98),
        ),
    }
)
