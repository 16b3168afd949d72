"""Algorithm 2 of Byun, Choi and Lee (2025) as it is printed, kept to be attacked: it is not private.

Its M-step (lines 12 to 14) releases, for a cell C with records x_n,

    N     = |C| + noise
    mu    = (sum x_n + noise) / N
    Sigma = (sum (x_n - mu) (x_n - mu)^T + sym(noise)) / N

with the same sigma for all noise. The proof takes the diagonal of the scatter to move by 1 and all else by
2, as if it were sum x_n x_n^T. But given mu one record moves it by (x - mu)(x - mu)^T, and mu is not
bounded: N may be close to 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmorse.audit import AuditResult, Claim, Scores, Unit
from dpmorse.typing import FloatArray

Releases = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""Counts, sums, means and noisy scatters of one cell, run by run."""


@dataclass(frozen=True)
class PrintedAlgorithm:
    """The printed noise for a total of (epsilon, delta) over ``n_iter`` rounds (line 4)."""

    epsilon: float
    delta: float
    n_iter: int
    n_features: int

    @property
    def sigma(self) -> float:
        """Line 4: sqrt(r tau / 2) (sqrt(L + epsilon) + sqrt(L)) / epsilon, with L = ln(1 / delta)."""
        log = math.log(1 / self.delta)
        roots = math.sqrt(log + self.epsilon) + math.sqrt(log)
        return math.sqrt(self.squared_sensitivity * self.n_iter / 2) * roots / self.epsilon

    @property
    def squared_sensitivity(self) -> int:
        """The r of the paper's proof, 1 + 3D + 2D^2."""
        return 1 + 3 * self.n_features + 2 * self.n_features**2

    @property
    def claim_of_a_round(self) -> Claim:
        """What the proof says of one round: as a Gaussian mechanism, mu^2 = r / sigma^2."""
        return Claim(Unit.MU, math.sqrt(self.squared_sensitivity) / self.sigma, self.delta)

    def m_step(self, records: FloatArray, runs: int, rng: np.random.Generator, *, clipped: bool) -> Releases:
        """Release N, mu and the noisy scatter N Sigma of one cell, ``runs`` times.

        ``clipped`` brings mu into the box first, a guard that the paper does not print.
        """
        d = self.n_features
        counts = len(records) + self.sigma * rng.standard_normal(runs)
        sums = records.sum(axis=0) + self.sigma * rng.standard_normal((runs, d))
        means = sums / counts[:, None]
        means = np.clip(means, -1, 1) if clipped else means
        noise = self.sigma * rng.standard_normal((runs, d, d))
        return (
            counts,
            sums,
            means,
            scatters(records, means) + np.tril(noise) + np.tril(noise, -1).transpose(0, 2, 1),
        )


def scatters(records: FloatArray, means: FloatArray) -> FloatArray:
    """Return sum (x - mu)(x - mu)^T for each mu: sum x x^T - S mu^T - mu S^T + n mu mu^T."""
    total = records.sum(axis=0)
    cross = means[:, :, None] * total
    outer = len(records) * means[:, :, None] * means[:, None, :]
    return np.asarray(records.T @ records - cross - cross.transpose(0, 2, 1) + outer)


def scores(
    algorithm: PrintedAlgorithm, record: FloatArray, others: FloatArray, releases: Releases
) -> FloatArray:
    """Return the log-likelihood ratio of releases of one cell: with a record beside others, or without."""
    counts, sums, means, released = releases
    lower = np.tril_indices(algorithm.n_features)
    with_record = np.vstack([others, record])
    total = _ratio(counts[:, None], np.array([[len(with_record)]]), np.array([[len(others)]]))
    total += _ratio(sums, with_record.sum(axis=0), others.sum(axis=0))
    both = (scatters(records, means)[:, lower[0], lower[1]] for records in (with_record, others))
    total += _ratio(released[:, lower[0], lower[1]], *both)
    return total / algorithm.sigma**2


def attack(
    algorithm: PrintedAlgorithm,
    record: FloatArray,
    others: FloatArray,
    *,
    runs: int,
    confidence: float = 0.95,
    clipped: bool = False,
    seed: int = 0,
) -> AuditResult:
    """Audit one M-step on a cell with and without a record; without clipping, against the whole budget."""
    rng = np.random.default_rng(seed)
    present, absent = (
        scores(algorithm, record, others, algorithm.m_step(records, runs, rng, clipped=clipped))
        for records in (np.vstack([others, record]), others)
    )
    return AuditResult.of_scores(
        "Algorithm 2 as printed, one of its rounds",
        "likelihood ratio",
        algorithm.claim_of_a_round if clipped else Claim(Unit.EPSILON, algorithm.epsilon, algorithm.delta),
        Scores(present, absent),
        confidence,
    )


def empty_cell(n_features: int, *, runs: int, epsilon: float = 1.0, seed: int = 0) -> AuditResult:
    """Attack a record that is alone in its cell, or not there."""
    algorithm = PrintedAlgorithm(epsilon, 1e-5, 10, n_features)
    record, nobody = np.ones((1, n_features)), np.empty((0, n_features))
    return attack(algorithm, record, nobody, runs=runs, seed=seed)


def cross(n_features: int, *, runs: int, seed: int = 0) -> AuditResult:
    """Attack a record opposite to 2000 others, with the mean clipped to the box: one round in all."""
    algorithm = PrintedAlgorithm(1.0, 1e-5, 1, n_features)
    record, others = -np.ones((1, n_features)), np.ones((2000, n_features))
    return attack(algorithm, record, others, runs=runs, clipped=True, seed=seed)


def _ratio(released: FloatArray, mean: FloatArray, other: FloatArray) -> FloatArray:
    """Return ln N(released; mean, 1) - ln N(released; other, 1), summed over columns."""
    return np.asarray(((np.square(released - other) - np.square(released - mean)) / 2).sum(axis=1))
