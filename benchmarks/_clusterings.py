"""Every clustering that is compared, by name: private ones, and references that see the records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import GaussianMixture

import dpmorse
from dpmorse import densities
from dpmorse.datasets import LabelledData
from dpmorse.morse import merge_tree
from dpmorse.typing import FloatArray, IntArray

BASES = ("PrivateGaussianMixture", "DPMoGHard", "DPMoG", "DPLloyd", "DPCube", "DPTree")
DEFAULT = "DPMorse"
MORSE = "-Morse"
DELTA = 1e-5
HDBSCAN_ROWS = 12_000  # its time grows with the square of the number of records


@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels of records, and the number of clusters.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Cluster of each record.
    n_clusters : int
        Clusters of the model; some of them may hold no record.
    rows : ndarray of shape (n,) or None
        Which records are labelled; None is all of them.
    """

    labels: IntArray
    n_clusters: int
    rows: IntArray | None = None


def private_methods() -> tuple[str, ...]:
    """Return the methods of dpmorse: every base alone and with the Morse step, then the default estimator."""
    bases = [base for base in BASES if hasattr(dpmorse, base)]
    methods = [name for base in bases for name in (base, base + MORSE)]
    return (*methods, DEFAULT) if hasattr(dpmorse, DEFAULT) else tuple(methods)


def merges(method: str) -> bool:
    """Return whether a method merges more components than there are clusters."""
    return method == DEFAULT or method.endswith(MORSE)


def cluster(
    method: str, data: LabelledData, n_components: int | None, epsilon: float | None, seed: int
) -> Clustering:
    """Cluster the records by the method of that name into as many clusters as there are classes."""
    if method in REFERENCES:
        return REFERENCES[method](data, n_components, seed)
    model = _estimator(method, data, n_components, epsilon, seed).fit(data.X)
    labels = model.predict(data.X)
    return Clustering(labels, int(getattr(model, "n_clusters_", np.unique(labels).size)))


def _estimator(
    method: str, data: LabelledData, n_components: int | None, epsilon: float | None, seed: int
) -> Any:
    k = data.n_clusters
    options = {"epsilon": epsilon, "delta": DELTA, "bounds": data.bounds, "random_state": seed}
    make = getattr(dpmorse, method.removesuffix(MORSE))
    if method == DEFAULT:
        return make(n_clusters=k, n_components=n_components, **options)
    if method.endswith(MORSE):
        return dpmorse.MorseClustering(make(n_components, **options), n_clusters=k)
    return make(k, **options)


def scaled(data: LabelledData) -> FloatArray:
    """Return the records with the box of the bounds mapped to [-1, 1]."""
    lower, upper = data.bounds
    sides = np.where(upper > lower, upper - lower, 1.0)
    X: FloatArray = 2 * (data.X - lower) / sides - 1  # the difference first: identifiers lie near 1e18
    return X


def _k_means(data: LabelledData, _n_components: int | None, seed: int) -> Clustering:
    k = data.n_clusters
    return Clustering(KMeans(k, n_init=10, random_state=seed).fit_predict(scaled(data)), k)


def _gaussian_mixture(data: LabelledData, _n_components: int | None, seed: int) -> Clustering:
    k = data.n_clusters
    return Clustering(GaussianMixture(k, max_iter=200, random_state=seed).fit_predict(scaled(data)), k)


def _gaussian_mixture_morse(data: LabelledData, n_components: int | None, seed: int) -> Clustering:
    model = GaussianMixture(n_components, max_iter=200, random_state=seed)
    components = model.fit_predict(scaled(data))
    mixture = densities.GaussianMixture(model.weights_, model.means_, model.covariances_)
    tree = merge_tree(mixture, rule="overlap")
    k = min(data.n_clusters, tree.n_leaves)
    return Clustering(tree.cut(k)[components], k)


def _hdbscan(data: LabelledData, _n_components: int | None, seed: int) -> Clustering:
    X = scaled(data)
    n = min(len(X), HDBSCAN_ROWS)
    rows = np.sort(np.random.default_rng(seed).choice(len(X), n, replace=False))
    labels = HDBSCAN(min_cluster_size=max(2, n // 100), copy=True).fit_predict(X[rows])
    return Clustering(labels, int(labels.max()) + 1, rows)


REFERENCES: Mapping[str, Callable[[LabelledData, int | None, int], Clustering]] = MappingProxyType(
    {
        "KMeans": _k_means,
        "GaussianMixture": _gaussian_mixture,
        "HDBSCAN": _hdbscan,
        "GaussianMixture-Morse": _gaussian_mixture_morse,
    }
)
