"""The sampler of noise: seeded ones for all attacks, and a test of their law."""

import math

import numpy as np
from scipy import stats

from dpmorse.privacy.random_bytes import SeededBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.typing import FloatArray, IntArray

_PER_BIN = 50
"""Values are pooled into bins of about this expected count: the chi-square law needs large counts."""

_REACH = 8
"""Values further out than this many scales are pooled: honest Gaussian noise has one in 10^15 there."""


def seeded(seed: int) -> NativeSampler:
    """Return the library's sampler on a stream of bytes that a seed decides on."""
    return NativeSampler(SeededBytes(np.random.SeedSequence(seed)))


def p_value(values: IntArray, law: str, scale: float) -> float:
    """Return the p-value of the hypothesis that values follow a law, by a chi-square test.

    Parameters
    ----------
    values : ndarray of int64
        Noise.
    law : {"gaussian", "laplace"}
        Discrete Gaussian noise, exp(-x^2 / (2 scale^2)), or discrete Laplace noise, exp(-|x| / scale).
    scale : float
        Scale of the law.
    """
    # Laplace noise has heavier tails: beyond 24 of its scales lie 4 of 10^11 draws.
    reach = math.ceil(_REACH * max(scale, 2) * (3 if law == "laplace" else 1))
    support = np.arange(-reach, reach + 1)
    exponents = np.abs(support) / scale if law == "laplace" else np.square(support / scale) / 2
    expected: FloatArray = np.exp(-exponents)
    expected *= values.size / expected.sum()
    observed = np.bincount(np.clip(values, -reach, reach) + reach, minlength=support.size)
    bins = np.unique(np.cumsum(expected) // _PER_BIN, return_inverse=True)[1]
    counted, wanted = np.bincount(bins, observed), np.bincount(bins, expected)
    return float(stats.chisquare(counted, wanted * counted.sum() / wanted.sum()).pvalue)
