"""Whether ``dpmorse plan`` keeps its word: a cluster of the promised size is seen in 19 of 20 fits.

``python -m benchmarks.promise --out FILE`` takes each setting of columns, records and epsilon, asks the plan
for the smallest cluster that can be seen, draws tables in which one cluster has exactly that size and lies
apart from three others, and fits the default estimator: told the number of clusters, and with "auto". The
same with parts of the size shows how cautious the promise is. Results are appended to the file
as JSON lines; what is there already is not fitted again.
"""

import argparse
import itertools
import json
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpmorse import DPMorse
from dpmorse.bases import rehearse_all
from dpmorse.typing import FloatArray, IntArray

COLUMNS, RECORDS, EPSILONS = (2, 5, 10), (5_000, 50_000), (0.5, 1.0, 3.0)
N_FITS = 20

_N_CLUSTERS = 4
_APART = 9.0
"""Distance of the two nearest centres, in standard deviations of a cluster."""

_FARTHEST = 2.5
"""Largest distance of two centres, in smallest ones: beyond, a set is drawn anew."""

_BOUNDS = (-40.0, 40.0)
_FIRST_SEED = 1_000
"""Seeds below were used while the rule was designed. A first run from here on showed that two balls of the
coreset may share a group."""

_MOST = 0.8
"""The part of the group that one cluster has to hold, and the part of that cluster that has to be the
group."""


@dataclass(frozen=True)
class Setting:
    """One row of the table."""

    columns: int
    records: int
    epsilon: float

    def estimator(self, clusters: int | str = _N_CLUSTERS, seed: int | None = None) -> DPMorse:
        """Return the default estimator."""
        return DPMorse(clusters, epsilon=self.epsilon, bounds=_BOUNDS, random_state=seed)

    def promised(self) -> int:
        """Return the smallest cluster that can be seen, as ``dpmorse plan`` says for these budgets."""
        each = {epsilon: replace(self, epsilon=epsilon).estimator() for epsilon in EPSILONS}
        bases = {epsilon: model._base_for(self.columns) for epsilon, model in each.items()}
        return rehearse_all(bases, self.columns, self.records)[self.epsilon].smallest_cluster

    def table(self, size: int, seed: int) -> tuple[FloatArray, IntArray]:
        """Return records and their clusters; the last cluster has ``size`` records."""
        rng = np.random.default_rng([seed, self.columns])
        large = rng.integers(_N_CLUSTERS - 1, size=self.records - size)
        y = np.append(large, np.full(size, _N_CLUSTERS - 1))
        return _centres(self.columns, rng)[y] + rng.standard_normal((self.records, self.columns)), y


def _centres(n_columns: int, rng: np.random.Generator) -> FloatArray:
    """Draw centres of which the nearest two have the distance ``_APART``."""
    pairs = np.triu_indices(_N_CLUSTERS, 1)
    while True:
        centres = rng.standard_normal((_N_CLUSTERS, n_columns))
        distances = np.linalg.norm(centres[:, None] - centres, axis=-1)[pairs]
        if distances.max() < _FARTHEST * distances.min():
            return np.asarray(centres * (_APART / distances.min()))


def fit(setting: Setting, clusters: int | str, part: float, size: int, seed: int) -> dict[str, Any]:
    """Fit once; return whether one cluster holds most of the group and little else."""
    X, y = setting.table(size, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = setting.estimator(clusters, seed).fit(X)
        labels = model.predict(X)
    own = y == _N_CLUSTERS - 1
    mine = labels == np.bincount(labels[own]).argmax()
    seen = bool(mine[own].mean() >= _MOST and own[mine].mean() >= _MOST)
    task = {**asdict(setting), "clusters": clusters, "part": part, "seed": seed}
    return {**task, "size": size, "seen": seen, "found": model.n_clusters_}


Task = tuple[Setting, int | str, float, int]


def tasks(n_fits: int, parts: Sequence[float], auto: bool) -> Iterable[Task]:
    """Return all fits: those of one setting together."""
    kinds: list[int | str] = [_N_CLUSTERS, "auto"] if auto else [_N_CLUSTERS]
    seeds = range(_FIRST_SEED, _FIRST_SEED + n_fits)
    settings = itertools.starmap(Setting, itertools.product(COLUMNS, RECORDS, EPSILONS))
    return itertools.product(settings, kinds, parts, seeds)


def _values(task: Task) -> tuple[Any, ...]:
    setting, *others = task
    return setting.columns, setting.records, setting.epsilon, *others


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("columns", "records", "epsilon", "clusters", "part", "seed"))


def _stored(path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {_key(row): row for row in map(json.loads, lines)}


def _work(task: Task, size: int) -> dict[str, Any]:
    setting, clusters, part, seed = task
    return fit(setting, clusters, part, max(1, round(part * size)), seed)


def run(wanted: Iterable[Task], path: Path, jobs: int) -> list[dict[str, Any]]:
    """Make all fits that the file has not; return all rows."""
    rows, promised = _stored(path), defaultdict[Setting, int](int)
    missing = [task for task in wanted if _values(task) not in rows]
    for setting, *_ in missing:
        promised[setting] = promised[setting] or setting.promised()
    with ProcessPoolExecutor(jobs) as pool, path.open("a", encoding="utf-8") as file:
        for row in pool.map(_work, missing, [promised[task[0]] for task in missing]):
            rows[_key(row)] = row
            print(json.dumps(row), file=file, flush=True)
            print(f"\r{len(rows)} fits", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return list(rows.values())


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return a Markdown table: for each setting and size, in how many fits the cluster was seen."""
    counted: dict[tuple[Any, ...], list[bool]] = defaultdict(list)
    for row in rows:
        counted[*_key(row)[:3], row["size"], row["part"], str(row["clusters"])].append(row["seen"])
    lines = [
        "| columns | records | epsilon | size | of promise | clusters | seen |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, seen in sorted(counted.items()):
        columns, records, epsilon, size, part, clusters = key
        setting = f"| {columns} | {records:,} | {epsilon:g} | {size} | {part:g} | {clusters} |"
        lines.append(f"{setting} {sum(seen)}/{len(seen)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("promise.jsonl"))
    parser.add_argument("--fits", type=int, default=N_FITS)
    parser.add_argument("--parts", type=float, nargs="+", default=[1.0], help="sizes, in promised ones")
    parser.add_argument("--auto", action="store_true", help="fit with n_clusters='auto', too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    print(table(run(tasks(given.fits, given.parts, given.auto), given.out, given.jobs)))


if __name__ == "__main__":
    main()
