"""The experiments: their runs and records, and the score of one run."""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import _paper, public
from benchmarks._clusterings import DEFAULT, MORSE, REFERENCES, Clustering, cluster, merges
from benchmarks.generated import FAMILIES, make_family
from dpmorse.datasets import NOISE, LabelledData

Row = dict[str, Any]
GENERATED_EPSILONS = (1.0, 10.0)
GENERATED_METHODS = (DEFAULT, "KMeans", "GaussianMixture")
WIDE_EPSILON = 1.0
_ONCE = ("HDBSCAN",)  # draws nothing but which records it leaves out


@dataclass(frozen=True)
class Task:
    """One run. Equal tasks have equal results, so that a task is the key under which its result is kept.

    Parameters
    ----------
    method : str
        Name of a clustering, see ``_clusterings``.
    dataset : str
        One of the six, or family and instance as in "moons-100".
    n_components : int or None
        Components; None leaves them to the method: a base alone has one for each cluster.
    epsilon : float or None
        Budget; None for a reference, which has none.
    seed : int
        Seed of the method.
    bounds_factor : float
        Width of the bounds, relative to the published ones.
    config : str
        Fingerprint of code and records.
    """

    method: str
    dataset: str
    n_components: int | None
    epsilon: float | None
    seed: int
    bounds_factor: float
    config: str


@dataclass(frozen=True)
class Plan:
    """The options of a command; ``configs`` has the fingerprint of each of the six, and "" for the rest."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...] = _paper.DATASETS
    epsilons: tuple[float, ...] = _paper.EPSILONS
    n_seeds: int = 10
    bounds_factors: tuple[float, ...] = ()
    instances: tuple[int, ...] = ()
    n_generated_seeds: int = 3
    configs: Mapping[str, str] = field(default_factory=dict)

    def tasks(self) -> list[Task]:
        """Return every run once, seed by seed, so that all settings have results of a few seeds early."""
        parts = chain(self._six(), self._more_components(), self._wide())
        six = sorted(dict.fromkeys(parts), key=lambda task: task.seed)
        return [*six, *dict.fromkeys(self._generated())]  # set by set: they are drawn anew when needed

    def _six(self) -> Iterator[Task]:
        for dataset in self.datasets:
            for method in self.methods:
                components = main_components(method, dataset)
                yield from self._runs(method, dataset, components, self.epsilons, self.n_seeds)

    def _more_components(self) -> Iterator[Task]:
        merging = [method for method in self.methods if merges(method) and method not in REFERENCES]
        for dataset in (name for name in self.datasets if name in _paper.PRINTED):
            for components in _paper.PRINTED_COMPONENTS:
                for method in merging:
                    yield from self._runs(method, dataset, components, self.epsilons, self.n_seeds)

    def _wide(self) -> Iterator[Task]:
        if DEFAULT not in self.methods or not self.bounds_factors:
            return
        for dataset in self.datasets:
            for task in self._runs(DEFAULT, dataset, None, (WIDE_EPSILON,), self.n_seeds):
                yield from (replace(task, bounds_factor=factor) for factor in (1.0, *self.bounds_factors))

    def _generated(self) -> Iterator[Task]:
        for dataset in generated_names(self.instances):
            for method in GENERATED_METHODS:
                if method in self.methods:
                    yield from self._runs(method, dataset, None, GENERATED_EPSILONS, self.n_generated_seeds)

    def _runs(
        self, method: str, dataset: str, components: int | None, epsilons: tuple[float, ...], n_seeds: int
    ) -> Iterator[Task]:
        config = self.configs.get(dataset, self.configs.get("", ""))
        budgets: tuple[float | None, ...] = (None,) if method in REFERENCES else epsilons
        for seed in range(1 if method in _ONCE else n_seeds):
            for epsilon in budgets:
                yield Task(method, dataset, components, epsilon, seed, 1.0, config)


def main_components(method: str, dataset: str) -> int | None:
    """Return the paper's K0 for bases with the Morse step; all else, the default included, decides itself."""
    return _paper.COMPONENTS[dataset] if method.endswith(MORSE) else None


def generated_names(instances: Sequence[int]) -> list[str]:
    """Return the names of the generated sets: every family, every instance."""
    return [f"{family}-{instance}" for family in FAMILIES for instance in instances]


@lru_cache(maxsize=8)  # the six are small; of generated sets one is in use at a time
def load(dataset: str, folder: Path | None) -> LabelledData:
    """Return one of the six from its folder, or a generated set."""
    if dataset in _paper.DATASETS:
        data: LabelledData = getattr(public, f"fetch_{dataset}")(folder=folder)
        return data
    family, instance = dataset.rsplit("-", 1)
    return make_family(family, int(instance))


def widen(data: LabelledData, factor: float) -> LabelledData:
    """Return the same records in a box with the same centre, and sides ``factor`` times as long."""
    if factor == 1.0:
        return data  # not even a rounding is added
    lower, upper = data.bounds
    centre, half = lower / 2 + upper / 2, factor * (upper - lower) / 2
    return replace(data, bounds=(centre - half, centre + half))


def run(task: Task, folder: Path | None) -> Row:
    """Return the task with its score, on one thread. A method that fails scores 0 and says why."""
    data = widen(load(task.dataset, folder), task.bounds_factor)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")  # at small budgets every model warns that it is noisy
            found = cluster(task.method, data, task.n_components, task.epsilon, task.seed)
        outcome = {**_score(data, found), "error": None}
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is a result of the method
        outcome = {"ari": 0.0, "clusters": 0, "labels": 0, "reached": False, "error": _describe(error)}
    return {**asdict(task), **outcome, "seconds": time.perf_counter() - start}


def _score(data: LabelledData, found: Clustering) -> Row:
    y = data.y if found.rows is None else data.y[found.rows]
    known = y != NOISE  # background noise belongs to no class: no label of it is right or wrong
    return {
        "ari": float(adjusted_rand_score(y[known], found.labels[known])),
        "clusters": found.n_clusters,
        "labels": int(np.unique(found.labels).size),
        "reached": found.n_clusters == data.n_clusters,
    }


def _describe(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:160]}"
