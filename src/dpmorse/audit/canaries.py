"""Canaries: records whose presence a coin decides, and guesses about the coins from a released mixture.

A canary is a random corner of the bounds. In D columns its products of coordinates point in one of many
nearly orthogonal directions, D (D + 3) / 2 of them, so that the released moments of a mixture move
noticeably in the direction of each canary that is there.
"""

from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.statistics import Domain
from dpmorse.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Canaries:
    """Records, each of them there if its coin says so.

    Attributes
    ----------
    domain : Domain
        The public box in whose corners they are.
    there, instead : ndarray of shape (n_canaries, n_features)
        In scaled units: the record of each canary, and the record that replaces it where it is absent.
        Without ``instead``, absent canaries are left out.
    present : ndarray of bool
        The coins.
    """

    domain: Domain
    there: FloatArray
    instead: FloatArray | None
    present: BoolArray

    @classmethod
    def drawn(cls, domain: Domain, n: int, rng: np.random.Generator, *, replaced: bool) -> "Canaries":
        """Draw canaries, and toss their coins."""
        there, instead = (rng.choice([-1.0, 1.0], size=(n, domain.n_features)) for _ in range(2))
        return cls(domain, there, instead if replaced else None, rng.random(n) < 0.5)

    def __len__(self) -> int:
        return len(self.present)

    @property
    def records(self) -> FloatArray:
        """The records that are added to the data, in the caller's units."""
        chosen = self.there[self.present]
        if self.instead is not None:
            chosen = np.vstack([chosen, self.instead[~self.present]])
        return self.domain.centre + self.domain.half_width * chosen

    def scores(self, mixture: GaussianMixture, others: FloatArray) -> FloatArray:
        """Return the projection of the moments of a mixture on the direction of each canary.

        ``others`` are the records beside the canaries: the attacker knows them.
        """
        there = moments_of_records(self.there)
        instead = np.zeros_like(there) if self.instead is None else moments_of_records(self.instead)
        expected = (there + instead).sum(axis=0) / 2
        n_expected = len(others) + len(self) / (2 if self.instead is None else 1)
        scaled = (others - self.domain.centre) / self.domain.unit
        known = moments_of_records(np.clip(scaled, -1, 1)).sum(axis=0) + expected
        released = n_expected * moments_of_mixture(mixture, self.domain)
        return np.asarray((there - instead) @ (released - known))


def moments_of_records(scaled: FloatArray) -> FloatArray:
    """Return first and second moments of each record, those off the diagonal weighted by sqrt 2."""
    below = np.tril_indices(scaled.shape[1], -1)
    products = scaled[:, below[0]] * scaled[:, below[1]]
    return np.hstack([scaled, np.square(scaled), np.sqrt(2) * products])


def moments_of_mixture(mixture: GaussianMixture, domain: Domain) -> FloatArray:
    """Return the same moments of a mixture, in the units of a domain."""
    means = (mixture.means - domain.centre) / domain.unit
    covariances = mixture.covariances / (domain.unit[:, None] * domain.unit)
    squares = covariances + means[:, :, None] * means[:, None, :]
    second = np.einsum("k,kij->ij", mixture.weights, squares)
    below = np.tril_indices(len(second), -1)
    return np.concatenate([mixture.weights @ means, np.diagonal(second), np.sqrt(2) * second[below]])
