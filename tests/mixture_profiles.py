"""Profiles that nobody has released, for pages and tables of mixtures that nobody has fitted."""

import numpy as np

from dpmorse.profiles import Profile


def invented_profile(mixture, counts, **changes):
    """A profile in which every component has the mean and covariance of the mixture, and a little noise."""
    counts, d = np.array(counts, dtype=float), mixture.n_features
    parts = {
        "counts": counts,
        "sums": np.zeros((counts.size, d)),
        "second_moments": counts[:, None, None] * np.eye(d),
        "tails": np.zeros((counts.size, 20)),
        "edges": (np.sqrt(d) + 1) * 2.0 ** (np.arange(20) / 2),
        "origins": mixture.means,
        "factors": np.linalg.cholesky(mixture.covariances),
        "radii": np.full(counts.size, np.sqrt(d) + 1),
        "lower": np.full(d, -50.0),
        "upper": np.full(d, 50.0),
        "piled": np.zeros((d, 2)),
        "count_stddev": 10.0,
        "sum_stddev": 5.0,
        "second_moment_stddev": 5.0,
        "tail_stddev": 2.0,
    }
    return Profile(**{**parts, **changes})
