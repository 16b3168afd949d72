"""Labelled data of eight kinds, in a box known beforehand, for comparing merge rules."""

from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from dpmorse.typing import FloatArray, IntArray

KINDS = ("blobs", "unequal", "elongated", "unbalanced", "noise", "concentric", "moons", "rings")
_N = 10_000


def labelled_data(kind: str, seed: int) -> tuple[FloatArray, IntArray, tuple[Any, Any]]:
    """Return records, labels (-1 for background) and bounds a little wider than the records."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    k, d = int(rng.integers(3, 8)), int(rng.integers(2, 7))
    if kind == "moons":
        X, y = make_moons(_N, noise=0.1, random_state=seed)
    elif kind == "rings":
        X, y = make_circles(_N, noise=0.06, factor=0.4, random_state=seed)
    elif kind == "concentric":
        y = rng.integers(0, 3, _N)
        X = 4.0 ** y[:, None] * rng.standard_normal((_N, d + 3))
    else:
        X, y = _gaussians(kind, k, d, rng)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    return X, y, (low - margin, high + margin)


def _gaussians(kind: str, k: int, d: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    spread = rng.uniform(0.5, 3.0, k) if kind == "unequal" else np.ones(k)
    shares = 10.0 ** rng.uniform(-1.5, 0, k) if kind == "unbalanced" else np.ones(k)
    counts = np.maximum(1, (_N * shares / shares.sum()).astype(int))
    X, y = make_blobs(counts, d, cluster_std=spread, random_state=int(rng.integers(2**31)))
    if kind == "elongated":
        X = X @ (rng.standard_normal((d, d)) * 3.0 ** rng.uniform(-1, 1, d))
    if kind == "noise":
        background = rng.random(len(X)) < 0.1
        X[background] = rng.uniform(X.min(axis=0), X.max(axis=0), (int(background.sum()), d))
        y = np.where(background, -1, y)
    return X, y
