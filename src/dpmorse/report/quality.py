"""How good a cluster is: how clearly its records belong to it, and how much larger it is than its noise.

Both are functions of released values, and mean the same whatever rule has merged the components.

With r_k(x) the probability of component k given a record x, and J = E[r r^T] over records of the released
mixture: a record that is drawn from cluster C belongs to it with the probability sum_CC J / sum_C J on
average. Two groups that cannot be told apart share their records by size alone, so that
J_AB = w_A w_B J_(AB)(AB) / (w_A + w_B)^2; how far J_AB is below that says how well they are apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.typing import FloatArray

N_RECORDS = 4000
"""Synthetic records over which memberships are averaged: three digits of a part."""


@dataclass(frozen=True)
class Word:
    """What a number is called from ``least`` on, and what that promises: a part that is not exceeded."""

    least: float
    name: str
    promise: float


APART = (
    Word(0.95, "clearly apart", 0.05),
    Word(0.85, "mostly apart", 0.15),
    Word(0.7, "overlaps others", 0.4),
    Word(0.0, "hardly apart", np.inf),
)
"""What a mean membership is called. The promise is about strangers: of the records with the label of the
cluster, the part that belongs to a group most of whose records have another label."""

LARGER = (
    Word(20.0, "far larger than its noise", 0.1),
    Word(5.0, "larger than its noise", 0.4),
    Word(3.0, "barely larger than its noise", 0.65),
    Word(-np.inf, "may be noise", np.inf),
)
"""What a size is called, in standard deviations of its noise. The promise is by how much it is off."""


def joint_memberships(memberships: FloatArray) -> FloatArray:
    """Return J of memberships of shape (n_records, n_components)."""
    joint: FloatArray = memberships.T @ memberships / len(memberships)
    return joint


def separation(joint: FloatArray, members: FloatArray) -> FloatArray:
    """Return the mean membership of the records of each group in it; 1 for a group without records."""
    own = np.einsum("gk,kl,gl->g", members, joint, members)
    mass = members @ joint.sum(axis=1)
    parts: FloatArray = np.where(mass > 0, own / np.where(mass > 0, mass, 1.0), 1.0)
    return np.minimum(parts, 1.0)


def apartness(joint: FloatArray, first: FloatArray, second: FloatArray) -> float | None:
    """Return how well two groups are told apart, from 0 to 1; None if either has no records."""
    sizes = joint.sum(axis=1)
    a, b = float(first @ sizes), float(second @ sizes)
    both = first + second
    expected = a * b / (a + b) ** 2 * float(both @ joint @ both) if a > 0 and b > 0 else 0.0
    if not expected > 0:
        return None
    return float(np.clip(1 - first @ joint @ second / expected, 0.0, 1.0))


def merges_apart(joint: FloatArray, leaves: FloatArray, linkage: FloatArray) -> list[float | None]:
    """Return how well the two sides of each merge are told apart; ``leaves`` has a row for each leaf."""
    groups = list(leaves)
    found = []
    for a, b, *_ in linkage:
        first, second = groups[int(a)], groups[int(b)]
        found.append(apartness(joint, first, second))
        groups.append(first + second)
    return found


def separation_in_words(part: float) -> str:
    """Name a mean membership."""
    return _named(part, APART)


def size_in_words(over_noise: float) -> str:
    """Name a size, in standard deviations of its noise."""
    return _named(over_noise, LARGER)


def _named(value: float, words: Sequence[Word]) -> str:
    return next(word.name for word in words if value >= word.least)
