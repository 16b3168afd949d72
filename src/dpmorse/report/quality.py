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
    """What a number is called, and what that promises.

    Attributes
    ----------
    least : float
        From this value on.
    name, promise : str
        The word, and what it means.
    at_most : float
        The part that is not exceeded if the promise is kept.
    grade : str
        "good", "fair" or "poor".
    """

    least: float
    name: str
    promise: str
    at_most: float
    grade: str


_STRANGERS = "of 100 records with its label, at most {} belong to another group"
_OFF = "its size is right to within {}\N{NO-BREAK SPACE}%"

APART = (
    Word(0.98, "clearly apart", _STRANGERS.format(5), 0.05, "good"),
    Word(0.93, "mostly apart", _STRANGERS.format(15), 0.15, "good"),
    Word(0.8, "overlaps others", _STRANGERS.format(40), 0.4, "fair"),
    Word(0.0, "hardly apart", "many records with its label may belong to another group", np.inf, "poor"),
)
"""What a mean membership is called. A record belongs to another group if most records of its group have
another label. Thresholds are such that the promise is kept for about nine of ten clusters of groups of many
shapes, which a fit knows by noisy sums only; see ``benchmarks/words.py``."""

LARGER = (
    Word(20.0, "far larger than its noise", _OFF.format(10), 0.1, "good"),
    Word(5.0, "larger than its noise", _OFF.format(40), 0.4, "good"),
    Word(3.0, "barely larger than its noise", _OFF.format(67), 0.67, "fair"),
    Word(-np.inf, "may be noise", "there may be nobody in it", np.inf, "poor"),
)
"""What a size is called, in standard deviations of its noise; it is off by two of them at most."""

WORDS = {
    about: [{"name": word.name, "promise": word.promise, "grade": word.grade} for word in words]
    for about, words in (("apart", APART), ("larger", LARGER))
}
"""What a page shows of them."""


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


def word_of(value: float, words: Sequence[Word]) -> int:
    """Return the place of the word for a value."""
    return next(place for place, word in enumerate(words) if value >= word.least)
