"""Profiles of labelled records, with the noise that they state or without any."""

import math
from dataclasses import replace

import numpy as np

from dpmorse.profiles import Profile

NO_NOISE = 1e-9
"""Noise that a profile without noise states: it must be positive."""


def edges_of(n_features, n_bins=20):
    return (math.sqrt(n_features) + 1.0) * 2.0 ** (np.arange(n_bins) / 2)


def random_factors(rng, n_components, n_features):
    """Lower triangular matrices with a positive diagonal, in narrow units: spreads are not expected to be wide."""
    factors = np.tril(rng.normal(size=(n_components, n_features, n_features)))
    factors[:, range(n_features), range(n_features)] = rng.uniform(0.5, 2.0, size=(n_components, n_features))
    return 0.1 * factors


def exact_profile(X, components, rng, *, bounds=(-1e3, 1e3), reach=None, standard=False) -> Profile:
    """The profile of labelled records in random coordinates, as sums over records give it.

    ``reach`` is the radius of all components, beyond all records if it is None; ``standard`` coordinates are
    the records' own.
    """
    n_components, d = int(components.max()) + 1, X.shape[1]
    origins, factors = rng.normal(size=(n_components, d)), random_factors(rng, n_components, d)
    if standard:
        origins, factors = np.zeros((n_components, d)), np.tile(np.eye(d), (n_components, 1, 1))
    u = np.array([np.linalg.solve(factors[k], x - origins[k]) for x, k in zip(X, components, strict=True)])
    lengths, edges = np.linalg.norm(u, axis=1), edges_of(d)
    radius = 1.01 * lengths.max() if reach is None else reach
    bins = np.searchsorted(edges, lengths, side="right") - 1
    tails = np.zeros((n_components, len(edges)))
    np.add.at(tails, (components[bins >= 0], bins[bins >= 0]), 1.0)
    u *= np.minimum(1.0, radius / np.maximum(lengths, 1e-300))[:, None]
    members = np.eye(n_components)[components]
    return Profile(
        counts=members.sum(axis=0),
        sums=members.T @ u,
        second_moments=np.einsum("nk,ni,nj->kij", members, u, u),
        tails=tails,
        edges=edges,
        origins=origins,
        factors=factors,
        radii=np.full(n_components, radius),
        lower=np.full(d, bounds[0]),
        upper=np.full(d, bounds[1]),
        piled=np.zeros((d, 2)),
        count_stddev=NO_NOISE,
        sum_stddev=NO_NOISE,
        second_moment_stddev=NO_NOISE,
        tail_stddev=NO_NOISE,
    )


def with_noise(exact: Profile, rng, *, count, sums, squares) -> Profile:
    """The profile with fresh noise of these sizes, which it states."""
    k, d = exact.sums.shape
    noise = np.tril(rng.normal(size=(k, d, d)) / math.sqrt(2), -1)
    noise += noise.transpose(0, 2, 1)
    noise[:, range(d), range(d)] = rng.normal(size=(k, d))
    radii = exact.radii
    return replace(
        exact,
        counts=exact.counts + count * rng.normal(size=k),
        sums=exact.sums + sums * radii[:, None] * rng.normal(size=(k, d)),
        second_moments=exact.second_moments + squares * radii[:, None, None] ** 2 * noise,
        count_stddev=count,
        sum_stddev=sums,
        second_moment_stddev=squares,
    )
