"""Profiles of labelled records, with the noise that they state or without any."""

from dataclasses import replace

import numpy as np

from dpmorse.profiles import Profile

NO_NOISE = 1e-9
"""Noise that a profile without noise states: it must be positive."""

STEPS = np.linspace(0, 1, 25)
"""Parts of the values at which curves are known."""


def exact_profile(X, components, *, bounds=(-1e3, 1e3), n_bins=8) -> Profile:
    """The profile of labelled records of numbers, as counting them gives it.

    Bins hold equal parts of the records of their component, so that what is expected is what is there.
    """
    n_components, d = int(components.max()) + 1, X.shape[1]
    sizes = np.bincount(components).astype(float)
    curves = np.stack([np.quantile(X[components == k], STEPS, axis=0).T for k in range(n_components)])
    inner = np.arange(1, n_bins) / n_bins
    edges = np.stack([np.quantile(X[components == k], inner, axis=0).T for k in range(n_components)])
    counts = np.zeros((n_components, d, n_bins))
    for k in range(n_components):
        for j in range(d):
            places = np.searchsorted(edges[k, j], X[components == k, j])  # values at an edge are below it
            counts[k, j] = np.bincount(places, minlength=n_bins)
    entries = counts.reshape(n_components, -1)
    return Profile(
        sizes=sizes,
        entries=entries,
        size_stddev=NO_NOISE,
        entry_stddev=NO_NOISE,
        edges=edges,
        curves=curves,
        expected=entries / sizes[:, None],
        lower=np.full(d, bounds[0]),
        upper=np.full(d, bounds[1]),
        whole=np.zeros(d),
        outside=np.zeros((d, 2)),
        outside_stddev=NO_NOISE,
    )


def with_noise(exact: Profile, rng, *, size, entry) -> Profile:
    """The profile with fresh noise of these sizes, which it states."""
    return replace(
        exact,
        sizes=exact.sizes + size * rng.normal(size=exact.sizes.shape),
        entries=exact.entries + entry * rng.normal(size=exact.entries.shape),
        size_stddev=size,
        entry_stddev=entry,
    )
