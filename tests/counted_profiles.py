"""Profiles of labelled records, as counting them gives it, with the noise that they state or without any."""

from dataclasses import replace

import numpy as np

from dpmorse.bases.staged.profile import edges_of
from dpmorse.profiles import Profile

NO_NOISE = 1e-9
"""Noise that a profile without noise states: it must be positive."""

STEPS = 48


def counted(
    X, components, *, codes=None, holes=None, bounds=(-50.0, 50.0), n_bins=12, whole=False, curves=None
):
    """Count labelled records: numbers X, codes of categories, and where values are missing.

    ``curves`` are what is expected of each component and number, by default what the records are like.
    """
    k, d = int(components.max()) + 1, X.shape[1]
    codes = np.zeros((len(X), 0), dtype=int) if codes is None else codes
    n_levels = tuple(int(n) for n in codes.max(axis=0, initial=0) + 1)
    missing = np.zeros((len(X), d + len(n_levels)), dtype=bool) if holes is None else holes
    may_miss = tuple(np.flatnonzero(missing.any(axis=0)).tolist())
    lower, upper, steps = np.full(d, bounds[0]), np.full(d, bounds[1]), np.linspace(0, 1, STEPS + 1)
    own = [components == i for i in range(k)]
    if curves is None:
        curves = np.array(
            [[np.quantile(X[mine & ~missing[:, j], j], steps) for j in range(d)] for mine in own]
        )
        curves = curves.reshape(k, d, STEPS + 1)
    edges = edges_of(curves, np.full(k, n_bins), lower, upper, np.full(d, whole))
    rows, expected = [], []
    for i, mine in enumerate(own):
        row, usual = [], []
        for j in range(d + len(n_levels)):
            there = mine & ~missing[:, j]
            if j < d:
                ends = np.append(edges[i, j], upper[j])
                row.append(np.bincount(np.searchsorted(edges[i, j], X[there, j]), minlength=len(ends)))
                below = np.interp(ends, curves[i, j], steps)
                below[-1] = 1.0
                usual.append(np.diff(below, prepend=0.0))
            else:
                row.append(np.bincount(codes[there, j - d], minlength=n_levels[j - d]))
                usual.append(np.full(n_levels[j - d], 1 / n_levels[j - d]))
            if j in may_miss:
                row.append([np.sum(mine & missing[:, j])])
                usual[-1] = usual[-1] * (1 - missing[:, j].mean())
                usual.append([missing[:, j].mean()])
        rows.append(np.concatenate(row))
        expected.append(np.concatenate(usual))
    return Profile(
        sizes=np.bincount(components, minlength=k),
        entries=np.array(rows, dtype=float),
        size_stddev=NO_NOISE,
        entry_stddev=NO_NOISE,
        edges=edges,
        curves=curves,
        expected=np.clip(np.array(expected), 0, 1),
        lower=lower,
        upper=upper,
        whole=np.full(d, float(whole)),
        outside=np.zeros((d, 2)),
        outside_stddev=NO_NOISE,
        n_levels=n_levels,
        may_miss=may_miss,
    )


def with_noise(profile, rng, size=10.0, entry=20.0):
    """Add as much noise as is stated."""
    return replace(
        profile,
        sizes=profile.sizes + size * rng.normal(size=profile.sizes.shape),
        entries=profile.entries + entry * rng.normal(size=profile.entries.shape),
        size_stddev=size,
        entry_stddev=entry,
    )


def labelled(rng, n=4000, n_components=6, n_numbers=3, n_categories=2):
    """Records with numbers and codes, what is missing of them, and a component for each."""
    components = np.append(np.arange(n_components), rng.integers(n_components, size=n - n_components))
    X = rng.normal(size=(n, n_numbers)) + 2 * rng.normal(size=(n_components, n_numbers))[components]
    codes = rng.integers(1 + components[:, None] % 3, size=(n, n_categories)) if n_categories else None
    holes = rng.random((n, n_numbers + n_categories)) < np.linspace(0, 0.4, n_numbers + n_categories)
    holes[:n_components] = False
    return X, codes, holes, components
