"""Tables of categories alone that look like two public ones: many kinds of mushrooms, and votes on bills."""

import numpy as np

from benchmarks.generated.draws import Rng
from benchmarks.generated.mixed_table import MixedTable, draw_codes, punched
from dpmorse.datasets.draws import draw_labels, draw_shares
from dpmorse.typing import FloatArray, IntArray

_SPECIES = 8
"""Species of each of the two classes of mushrooms."""

_BILLS = 16
_MEMBERS = 435


def make_mushrooms(n: int = 8124, instance: int = 0) -> MixedTable:
    """Draw 22 categories of 2 to 12 levels; two classes of species, each with few levels of its own."""
    rng = np.random.default_rng([instance, *b"mushrooms"])
    n_levels = rng.integers(2, 13, 22)
    shares = draw_shares(2 * _SPECIES, 3.0, rng)
    probabilities = [_species_levels(int(levels), rng) for levels in n_levels]
    species = draw_labels(n, shares, rng)
    codes = draw_codes(probabilities, species, rng)
    return _table(f"mushrooms-{instance}", codes, tuple(n_levels.tolist()), species // _SPECIES)


def make_votes(replicates: int = 1, instance: int = 0, missing: float = 0.05) -> MixedTable:
    """Draw votes of two parties on 16 bills, a few of which were not cast.

    There are 435 members, ``replicates`` times as many if asked for, all with the same habits. Each party has
    a wing that votes by its own mind.
    """
    rng = np.random.default_rng([instance, *b"votes"])
    yes = rng.beta(0.7, 0.7, (2, _BILLS))
    wings = np.stack([yes, 0.5 * yes + 0.5 * rng.beta(0.7, 0.7, (2, _BILLS))], axis=1).reshape(4, _BILLS)
    wing = draw_labels(_MEMBERS * replicates, np.array([0.45, 0.16, 0.29, 0.1]), rng)
    codes = draw_codes([np.column_stack([1 - p, p]) for p in wings.T], wing, rng)
    _, codes = punched(np.empty((wing.size, 0)), codes, missing, rng)
    return _table(f"votes-{instance}", codes, (2,) * _BILLS, wing // 2)


def _species_levels(n_levels: int, rng: Rng) -> FloatArray:
    """Draw the distributions of one category: a part is the class's, most is the species' own."""
    classes = np.repeat(rng.dirichlet(np.full(n_levels, 0.5), 2), _SPECIES, axis=0)
    own = rng.dirichlet(np.full(n_levels, 0.3), 2 * _SPECIES)
    mixed: FloatArray = 0.4 * classes + 0.6 * own
    return mixed


def _table(name: str, codes: IntArray, n_levels: tuple[int, ...], y: IntArray) -> MixedTable:
    nothing = np.empty(0)
    return MixedTable(name, np.empty((len(y), 0)), codes, n_levels, nothing, nothing, y)
