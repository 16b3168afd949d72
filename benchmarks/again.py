"""Whether "found again" is right: what rehearsals say of a cluster, and what another fit then finds.

``python -m benchmarks.again --out FILE`` fits each table twice, with noise of its own, and the number of
clusters unknown (epsilon 1, delta 1e-5). Of each cluster of either fit, `again` stands beside its Jaccard
index with the most similar cluster of the other fit. Tables: generated numbers of 20 families, tables with
categories and missing values of six kinds, both of instances on which nothing was set; records without
groups; and small real tables of scikit-learn, each column standardised and bounded by -5 and 5. Fits that
suggest one cluster say nothing of groups and are counted apart. Results are appended to the file as JSON
lines; what is there already is not fitted again.
"""

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from benchmarks.generated import FAMILIES, make_family
from benchmarks.generated.mixed import KINDS, make_mixed
from benchmarks.mixed import columns_of, frame_of
from dpmorse import DPMorse
from dpmorse.typing import FloatArray, IntArray

_FIRST_INSTANCE = 3200  # no constant was set on these
_EPSILON, _DELTA, _REHEARSALS = 1.0, 1e-5, 5
_BANDS = (0.0, 0.4, 0.6, 0.75, 0.85, 0.95, np.inf)
_FOUND, _CLEAR = 0.75, 0.85
_REAL = ("wine", "breast_cancer", "iris", "diabetes")
_REAL_BOUND = 5.0

Row = dict[str, Any]
Table = tuple[Any, dict[str, Any]]
"""Records, and what the estimator is told of their columns."""


# -- tables -------------------------------------------------------------------------------------------


def _numbers(family: str, instance: int) -> Table:
    data = make_family(family, instance)
    return data.X, {"bounds": data.bounds}


def _mixed(kind: str, instance: int) -> Table:
    n = int(np.random.default_rng(instance).choice([3000, 6000, 12_000]))
    table = make_mixed(kind, n, instance)
    return frame_of(table), {"columns": columns_of(table)}


def _without_groups(law: str, instance: int) -> Table:
    """Draw records of one group, turned and stretched."""
    rng = np.random.default_rng([instance, *law.encode()])
    d, n = int(rng.integers(2, 11)), int(np.exp(rng.uniform(np.log(2000), np.log(20_000))))
    X = {
        "normal": lambda: rng.standard_normal((n, d)),
        "uniform": lambda: rng.uniform(-2, 2, (n, d)),
        "t": lambda: rng.standard_t(4, (n, d)),
        "gamma": lambda: rng.gamma(2.0, size=(n, d)) - 2.0,
    }[law]()
    turned = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-0.5, 0.5, d))
    return X @ turned.T, {"bounds": (-30.0, 30.0)}


def _real(name: str, _: int) -> Table:
    X = getattr(datasets, f"load_{name}")().data
    return (X - X.mean(axis=0)) / X.std(axis=0), {"bounds": (-_REAL_BOUND, _REAL_BOUND)}


SORTS: dict[str, tuple[Callable[[str, int], Table], Sequence[str]]] = {
    "numbers": (_numbers, list(FAMILIES)),
    "categories": (_mixed, list(KINDS)),
    "real": (_real, _REAL),
    "no groups": (_without_groups, ("normal", "uniform", "t", "gamma")),
}


# -- fits ---------------------------------------------------------------------------------------------


def compare(sort: str, name: str, instance: int, seed: int) -> list[Row]:
    """Fit a table twice; return a row for each cluster of either fit."""
    records, told = SORTS[sort][0](name, instance)
    first, second = (_fitted(records, told, 2 * seed + one) for one in (0, 1))
    about = {"sort": sort, "name": name, "instance": instance, "seed": seed}
    return [
        {**about, **row} for mine, other in ((first, second), (second, first)) for row in _rows(mine, other)
    ]


def _fitted(
    records: Any, told: dict[str, Any], seed: int
) -> tuple[DPMorse, IntArray, FloatArray, list[float]]:
    """Return a fit, the labels of its records, how nearly clusters are found again, and seconds of both."""
    model = DPMorse("auto", epsilon=_EPSILON, delta=_DELTA, rehearsals=_REHEARSALS, random_state=seed, **told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        model.fit(records)
        fitted = time.perf_counter()
        again = model.summary(library="pandas").groupby("cluster")["again"].first().to_numpy()
        seconds = [fitted - begun, time.perf_counter() - fitted]
        return model, np.asarray(model.predict(records)), again, seconds


def _rows(mine: Any, other: Any) -> Iterable[Row]:
    (model, labels, again, seconds), (another, others, *_) = mine, other
    number, same = model.suggestion_, model.n_clusters_ == another.n_clusters_
    both = np.zeros((model.n_clusters_, another.n_clusters_))
    np.add.at(both, (labels, others), 1)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    found = (both / np.maximum(either, 1)).max(axis=1)
    again_of = model._again()
    for c in range(model.n_clusters_):
        yield {
            "clusters": model.n_clusters_,
            "cluster": c,
            "again": None if np.isnan(again[c]) else float(again[c]),
            "found_in": None if again_of is None else again_of.n_found(c),
            "other_fit": float(found[c]),
            "agreeing": number.n_agreeing,
            "same_number": bool(same),
            "seconds": seconds,
        }


# -- tables of results --------------------------------------------------------------------------------


def tables(rows: Sequence[Row]) -> str:
    """Return all tables in Markdown."""
    known = [row for row in rows if row["clusters"] > 1 and row["again"] is not None]
    grouped = [row for row in known if row["sort"] != "no groups"]
    parts = [_bands(grouped), _votes(grouped), _numbers_agreeing(rows), _of_no_groups(rows), _times(rows)]
    return "\n\n".join(parts)


def _bands(rows: Sequence[Row]) -> str:
    """Compare the index in rehearsals with that in another fit, by bands and sorts of tables."""
    sorts = [sort for sort in SORTS if sort != "no groups"]
    lines = [
        "| again | clusters | mean | other fit | " + " | ".join(sorts) + " |",
        "|---" * (4 + len(sorts)) + "|",
    ]
    for low, high in pairwise(_BANDS):
        ends = f"{low:.2f} to {high:.2f}" if low else f"below {high:.2f}"
        own = [r for r in rows if low <= r["again"] < high]
        of_sorts = [[r for r in own if r["sort"] == sort] for sort in sorts]
        cells = [f"{_mean(each, 'other_fit')} ({len(each)})" for each in of_sorts]
        found = f"{_mean(own, 'other_fit')} \u00b1 {_error(own):.2f}"
        named = ends if np.isfinite(high) else f"{low:.2f} and more"
        lines.append(f"| {named} | {len(own)} | {_mean(own, 'again')} | {found} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _error(rows: Sequence[Row]) -> float:
    """Return the standard error of the mean index in the other fit; clusters of one table go together."""
    if not rows:
        return math.nan
    found = np.array([row["other_fit"] for row in rows])
    tables_of = np.array([f"{row['sort']} {row['name']} {row['instance']} {row['seed']}" for row in rows])
    sums = [np.sum(found[tables_of == one] - found.mean()) for one in np.unique(tables_of)]
    return float(np.sqrt(np.sum(np.square(sums))) / len(rows))


def _votes(rows: Sequence[Row]) -> str:
    """Say how often another fit finds what so many rehearsals have found."""
    lines = [
        "| found again in | clusters | other fit, Jaccard index .75 or more |",
        "|---|---|---|",
    ]
    for votes in range(_REHEARSALS + 1):
        own = [r["other_fit"] >= _FOUND for r in rows if r["found_in"] == votes]
        lines.append(f"| {votes} of {_REHEARSALS} | {len(own)} | {np.mean(own):.2f} |" if own else "")
    return "\n".join(filter(None, lines))


def _numbers_agreeing(rows: Sequence[Row]) -> str:
    """Say how often another fit suggests the number that so many rehearsals suggest."""
    fits = [r for r in rows if r["cluster"] == 0 and r["sort"] != "no groups"]
    lines = ["| rehearsals that suggest the same number | fits | another fit has the same |", "|---|---|---|"]
    for votes in range(_REHEARSALS + 1):
        own = [r["same_number"] for r in fits if r["agreeing"] == votes]
        lines.append(f"| {votes} of {_REHEARSALS} | {len(own)} | {np.mean(own):.2f} |" if own else "")
    return "\n".join(filter(None, lines))


def _of_no_groups(rows: Sequence[Row]) -> str:
    """Say how many clusters of records without groups look as if they would be found again."""
    lines = [
        "| without groups | fits | of one cluster | clusters of others | again .85 or more | in another fit |"
    ]
    lines.append("|---|---|---|---|---|---|")
    laws = SORTS["no groups"][1]
    for names in (laws, *([law] for law in laws)):
        own = [r for r in rows if r["sort"] == "no groups" and r["name"] in names]
        fits, one = [r for r in own if r["cluster"] == 0], [r for r in own if r["clusters"] == 1]
        others = [r for r in own if r["clusters"] > 1 and r["again"] is not None]
        clear = [r for r in others if r["again"] >= _CLEAR]
        named = "all" if len(names) > 1 else names[0]
        counts = f"{len(fits)} | {len(one)} | {len(others)} | {len(clear)}"
        lines.append(f"| {named} | {counts} | {_mean(clear, 'other_fit')} |")
    return "\n".join(lines)


def _times(rows: Sequence[Row]) -> str:
    seconds = np.array([r["seconds"] for r in rows if r["cluster"] == 0])
    ratio = seconds.sum(axis=1) / seconds[:, 0]
    return (
        f"Seconds: a fit {seconds[:, 0].mean():.2f} on average, five rehearsals {seconds[:, 1].mean():.2f}; "
        f"both together take {np.median(ratio):.1f} times a fit (median), {np.quantile(ratio, 0.95):.1f} "
        "in one of twenty."
    )


def _mean(rows: Sequence[Row], name: str) -> str:
    return f"{np.mean([row[name] for row in rows]):.2f}" if rows else "-"


# -- running ------------------------------------------------------------------------------------------


def run(wanted: Sequence[tuple[str, str, int, int]], path: Path) -> list[Row]:
    """Make all fits that the file has not; return a row for each cluster."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows: list[Row] = list(map(json.loads, lines))
    done = {(row["sort"], row["name"], row["instance"], row["seed"]) for row in rows}
    missing = [task for task in wanted if task not in done]
    with path.open("a", encoding="utf-8") as file:
        for n, task in enumerate(missing, 1):
            found = compare(*task)
            rows += found
            print(*map(json.dumps, found), sep="\n", file=file, flush=True)
            print(f"\r{n} of {len(missing)} tables", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    asked = set(wanted)
    return [row for row in rows if (row["sort"], row["name"], row["instance"], row["seed"]) in asked]


def tasks(n_instances: int) -> list[tuple[str, str, int, int]]:
    """Return sort, name, instance and seed of every table; real ones have seeds in place of instances."""
    found = []
    for sort, (_, names) in SORTS.items():
        n = n_instances * (4 if sort == "no groups" else 2 if sort == "categories" else 1)
        for i in range(n):
            seed = i if sort == "real" else 0
            instance = 0 if sort == "real" else _FIRST_INSTANCE + i
            found += [(sort, name, instance, seed) for name in names]
    return found


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("again.jsonl"))
    parser.add_argument("--instances", type=int, default=2)
    given = parser.parse_args()
    print(tables(run(tasks(given.instances), given.out)))


if __name__ == "__main__":
    main()
