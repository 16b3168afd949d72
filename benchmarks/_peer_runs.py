"""One run of the comparison with other libraries: records in a common box, a fit, its cost and its score."""

import warnings
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin_min
from threadpoolctl import threadpool_limits

from benchmarks._clusterings import DEFAULT, _estimator, merges, private_methods, scaled
from benchmarks._experiments import Row, Task, _describe, load
from benchmarks._measure import seconds
from benchmarks._peer_libraries import PEERS, Peer, fit_peer
from dpmorse.datasets import LabelledData
from dpmorse.typing import FloatArray, IntArray

BLOBS = "blobs"
REFERENCE = "KMeans"
_N_RECORDS, _N_COLUMNS, _N_BLOBS, _SPREAD, _CENTRES_WITHIN = 50_000, 8, 10, 0.05, 0.8
_FEW = 5_000
_BY_NAME = {peer.name: peer for peer in PEERS}


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a fit: labels, centres if it releases any, seconds of the fit alone, and epsilon spent."""

    labels: IntArray
    centres: FloatArray | None
    seconds: float
    spent: float | None


def own_methods() -> tuple[str, ...]:
    """Return every base that dpmorse exports, with one component for each cluster, and the default."""
    return tuple(name for name in private_methods() if name == DEFAULT or not merges(name))


def blobs(seed: int) -> LabelledData:
    """Draw round, well separated clusters: what every clustering should find."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-_CENTRES_WITHIN, _CENTRES_WITHIN, size=(_N_BLOBS, _N_COLUMNS))
    y = rng.integers(0, _N_BLOBS, _N_RECORDS)
    X = centres[y] + _SPREAD * rng.standard_normal((_N_RECORDS, _N_COLUMNS))
    return _boxed(BLOBS, np.clip(X, -1, 1), y)


def in_box(data: LabelledData) -> LabelledData:
    """Return the records in the box [-1, 1]: all methods then have the same bounds and the same units."""
    return _boxed(data.name, np.clip(scaled(data), -1, 1), data.y)


def _boxed(name: str, X: FloatArray, y: IntArray) -> LabelledData:
    one = np.ones(X.shape[1])
    return LabelledData(name, X, y, (-one, one))


def records(dataset: str, seed: int, folder: Path | None) -> LabelledData:
    """Return one of the six, or blobs drawn from the seed of the run, in the box."""
    return _records(dataset, _drawn_from(dataset, seed), folder)


@lru_cache(maxsize=7)
def _records(dataset: str, seed: int, folder: Path | None) -> LabelledData:
    return blobs(seed) if dataset == BLOBS else in_box(load(dataset, folder))


def _drawn_from(dataset: str, seed: int) -> int:
    return seed if dataset == BLOBS else 0  # the six are the same in every run


def cost(X: FloatArray, centres: FloatArray) -> float:
    """Return the mean squared distance of records to the nearest centre, the objective of k-means."""
    return float(_nearest(X, centres)[1].mean())


def _nearest(X: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    labels, squared = pairwise_distances_argmin_min(X, centres, metric="sqeuclidean")
    return labels, squared


@lru_cache(maxsize=7)
def _cost_without_privacy(dataset: str, seed: int, folder: Path | None) -> float:
    data = _records(dataset, seed, folder)
    model = KMeans(data.n_clusters, n_init=10, random_state=seed).fit(data.X)
    return float(model.inertia_) / len(data.X)


def run(task: Task, folder: Path | None) -> Row:
    """Return the task with its scores, on one thread. A fit that fails has no cost and says why."""
    data = records(task.dataset, task.seed, folder)
    try:
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")  # seeded noise warns, and so do noisy models
            outcome = _scores(data, _fit(task, data), task, folder)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is a result of the method
        outcome = {"ari": 0.0, "ratio": None, "seconds": None, "spent": None, "error": _describe(error)}
    return {**asdict(task), **outcome}


def _scores(data: LabelledData, found: Found, task: Task, folder: Path | None) -> Row:
    ratio = None
    if found.centres is not None:
        best = _cost_without_privacy(task.dataset, _drawn_from(task.dataset, task.seed), folder)
        ratio = cost(data.X, found.centres) / best
    return {
        "ari": float(adjusted_rand_score(data.y, found.labels)),
        "ratio": ratio,
        "seconds": found.seconds,
        "spent": found.spent,
        "error": None,
    }


def _fit(task: Task, data: LabelledData) -> Found:
    if task.method == REFERENCE:
        return _fit_reference(task, data)
    if task.epsilon is None:
        raise ValueError(f"{task.method} needs a budget.")
    if task.method in _BY_NAME:
        return _fit_peer(_BY_NAME[task.method], data, task.epsilon, task.seed)
    return _fit_own(task, data)


def _fit_reference(task: Task, data: LabelledData) -> Found:
    model = KMeans(data.n_clusters, n_init=10, random_state=task.seed)
    taken = seconds(lambda: model.fit(data.X), repeats=1)
    return Found(model.labels_, model.cluster_centers_, taken, None)


def _fit_peer(peer: Peer, data: LabelledData, epsilon: float, seed: int) -> Found:
    centres, taken = fit_peer(peer, data.X, data.n_clusters, epsilon, seed)
    return Found(_nearest(data.X, centres)[0], centres, taken, epsilon * peer.spent(data.n_features))


def _fit_own(task: Task, data: LabelledData) -> Found:
    _compile(task.method)
    model = _estimator(task.method, data, None, task.epsilon, task.seed)
    taken = seconds(lambda: model.fit(data.X), repeats=1)
    centres = None if merges(task.method) else model.mixture_.means
    return Found(model.predict(data.X), centres, taken, model.privacy_.epsilon)


@lru_cache
def _compile(method: str) -> None:
    """Fit once, so that compiling and loading are not timed, here as with other libraries."""
    data = blobs(0)
    few = replace(data, X=data.X[:_FEW], y=data.y[:_FEW])
    _estimator(method, few, None, 1.0, 0).fit(few.X)
