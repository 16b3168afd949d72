"""Whether the words of the report are right: how far apart a cluster is, how large, how it differs.

``python -m benchmarks.words --out FILE`` draws groups of five shapes that no other benchmark uses, from 2 to
10 columns, 2,000 to 40,000 records and epsilon .5 to 3, some as tables with categories, fits the default
estimator, and compares what the page says of each cluster with the truth, which is known here. Each group
belongs to the cluster that has most of its records; of a cluster, records of groups that belong elsewhere are
*strangers*. Fits with an even seed were looked at while thresholds were set; the table is about the others.
Results are appended to the file as JSON lines; what is there already is not fitted again.
"""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from dpmorse import DPMorse
from dpmorse.report.columns import Measured
from dpmorse.report.quality import (
    APART,
    LARGER,
    N_RECORDS,
    Word,
    joint_memberships,
    separation,
    word_of,
)
from dpmorse.report.released import released
from dpmorse.report.traits import About, Trait, Traits
from dpmorse.schema import Column, Nominal, Numeric
from dpmorse.typing import FloatArray, IntArray

N_FITS = 400
_EPSILONS = (0.5, 1.0, 3.0)
_TABLES = 3
"""Every third set is a table, half of whose columns are categories."""

_LARGEST = 1000.0
"""Bounds are generous: this many standard deviations of a group to both sides."""


def _normal(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((n, d))


def _skewed(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    signs = rng.choice([-1.0, 1.0], d)
    return np.asarray(signs * (rng.gamma(2.0, size=(n, d)) - 2.0) / np.sqrt(2.0))


def _heavy(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(rng.standard_t(4, (n, d)) / np.sqrt(2.0))


def _box(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(rng.uniform(-1.0, 1.0, (n, d)) * np.sqrt(3.0))


def _bent(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    points = rng.standard_normal((n, d))
    points[:, 1 % d] += 0.5 * (points[:, 0] ** 2 - 1)
    return points


SHAPES: dict[str, Callable[[int, int, np.random.Generator], FloatArray]] = {
    "normal": _normal,
    "skewed": _skewed,
    "heavy": _heavy,
    "box": _box,
    "bent": _bent,
}


def drawn(seed: int) -> tuple[FloatArray, IntArray, dict[str, Any]]:
    """Return records, their groups, and the setting that they were drawn from."""
    rng = np.random.default_rng([seed, 20261117])
    shape = list(SHAPES)[seed % len(SHAPES)]
    d, k = int(rng.integers(2, 11)), int(rng.integers(2, 8))
    n = int(np.exp(rng.uniform(np.log(2_000), np.log(40_000))))
    shares = rng.dirichlet(np.full(k, 3.0))
    y = rng.choice(k, n, p=shares)
    centres = rng.standard_normal((k, d)) * rng.uniform(1.0, 7.0) * np.sqrt(2.0 / d)
    X = np.empty((n, d))
    for group in range(k):
        own = y == group
        turned = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-0.4, 0.4, d))
        X[own] = centres[group] + SHAPES[shape](int(own.sum()), d, rng) @ turned.T
    about = {"seed": seed, "shape": shape, "columns": d, "records": n, "groups": k}
    epsilon = float(rng.choice(_EPSILONS))
    return X, y, {**about, "epsilon": epsilon, "categories": d // 2 if seed % _TABLES == 0 else 0}


def as_table(X: FloatArray, n_categories: int) -> tuple[FloatArray, dict[str, Column] | None]:
    """Return records whose first columns are cut into three levels, and their schema."""
    if not n_categories:
        return X, None
    levels = np.digitize(X[:, :n_categories], (-1.0, 1.0))
    kinds: list[Column] = [Nominal([0, 1, 2]) for _ in range(n_categories)]
    kinds += [Numeric(-_LARGEST, _LARGEST) for _ in range(X.shape[1] - n_categories)]
    named = {f"column {j}": kind for j, kind in enumerate(kinds)}
    return np.hstack([levels, X[:, n_categories:]]), named


def fit(seed: int, told: bool) -> list[dict[str, Any]]:
    """Fit once, with or without the number of clusters; return words and truth about each cluster."""
    X, y, about = drawn(seed)
    X, columns = as_table(X, about["categories"])
    bounds = (-_LARGEST, _LARGEST) if columns is None else None
    clusters = about["groups"] if told else "auto"
    model = DPMorse(clusters, epsilon=about["epsilon"], bounds=bounds, columns=columns, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
        labels = model.predict(X)
    truth = _truth(labels, y, model.n_clusters_)
    said = _said(model, X, labels)
    return [{**about, "told": told, "cluster": c, **said[c], **truth[c]} for c in range(model.n_clusters_)]


def _truth(labels: IntArray, y: IntArray, n_clusters: int) -> list[dict[str, Any]]:
    """Return size and part of strangers of each cluster; None for the part if it has no records."""
    counts = np.zeros((n_clusters, y.max() + 1))
    np.add.at(counts, (labels, y), 1)
    own = np.arange(n_clusters)[:, None] == counts.argmax(axis=0)
    sizes, strangers = counts.sum(axis=1), np.where(own, 0, counts).sum(axis=1)
    return [
        {"size": int(size), "strangers": float(part / size) if size else None}
        for size, part in zip(sizes, strangers, strict=True)
    ]


def _said(model: DPMorse, X: FloatArray, labels: IntArray) -> list[dict[str, Any]]:
    """Return the numbers that the words of the page stand for, and which directions it states are right."""
    page, members = released(model), np.eye(model.n_clusters_)[model.component_labels_].T
    memberships = page.space.memberships(N_RECORDS, np.random.default_rng(0))
    parts, counted = separation(joint_memberships(memberships), members), model.table()
    measured = Measured(model.base_.profile_, page.columns, np.arange(X.shape[1]), page.schema)
    traits = Traits(measured, members)
    return [
        {
            "separation": float(parts[c]),
            "count": float(counted.counts[c]),
            "over_noise": float(counted.counts[c] / counted.count_stddev[c]),
            "directions": _directions(traits.of(c), X, labels == c),
        }
        for c in range(model.n_clusters_)
    ]


def _directions(traits: Sequence[Trait], X: FloatArray, own: Any) -> list[int]:
    """Return the number of columns in which the cluster is called high or low, and in which it is."""
    if own.all() or not own.any():
        return [0, 0]
    return [len(traits), sum(_is_right(trait, X[own], X[~own]) for trait in traits)]


def _is_right(trait: Trait, own: FloatArray, others: FloatArray) -> bool:
    mine, theirs = own[:, trait.place], others[:, trait.place]
    if trait.about is About.LEVEL:
        difference = np.mean(mine == trait.level) - np.mean(theirs == trait.level)
    else:
        difference = np.median(mine) - np.median(theirs)
    return bool(np.sign(trait.difference) == np.sign(difference))


# -- the table ----------------------------------------------------------------------------------------


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return a Markdown table: for each word, what it promises and how often that was true."""
    held_out = [row for row in rows if row["seed"] % 2]
    seen = [row for row in held_out if row["over_noise"] >= LARGER[-2].least]
    lines = ["| word | promises | clusters | kept | half of them at most |", "|---|---|---|---|---|"]
    lines += _lines(APART, [(row["separation"], _strangers(row)) for row in seen])
    lines += _lines(LARGER, [(row["over_noise"], _off(row)) for row in held_out])
    stated, right = np.sum([row["directions"] for row in held_out], axis=0)
    return "\n".join(
        [
            *lines,
            f"| high, low, mostly | the direction is right | {stated} columns | {right / stated:.1%} | |",
        ]
    )


def _strangers(row: dict[str, Any]) -> float:
    return 1.0 if row["strangers"] is None else float(row["strangers"])


def _off(row: dict[str, Any]) -> float:
    """Return the error of the stated size, relative to the true one."""
    return float(abs(row["count"] - row["size"]) / max(row["size"], 1))


def _lines(words: Sequence[Word], found: Sequence[tuple[float, float]]) -> Iterable[str]:
    """Yield a line for each word: the clusters that have it, and the part for which it was right."""
    for place, word in enumerate(words):
        own = np.array([truth for value, truth in found if word_of(value, words) == place])
        kept = f"{np.mean(own <= word.at_most):.0%}" if len(own) and np.isfinite(word.at_most) else ""
        middle = f"{np.median(own):.1%}" if len(own) and np.median(own) <= 1 else ""
        yield f"| {word.name} | {word.promise} | {len(own)} | {kept} | {middle} |"


# -- running ------------------------------------------------------------------------------------------


def _work(task: tuple[int, bool]) -> list[dict[str, Any]]:
    return fit(*task)


def run(n_fits: int, path: Path, jobs: int) -> list[dict[str, Any]]:
    """Make all fits that the file has not; return a row for each cluster."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = list(map(json.loads, lines))
    done = {(row["seed"], row["told"]) for row in rows}
    wanted = [(seed, bool(seed % 4 < 2)) for seed in range(n_fits)]
    missing = [task for task in wanted if task not in done]
    with ProcessPoolExecutor(jobs) as pool, path.open("a", encoding="utf-8") as file:
        for n, found in enumerate(pool.map(_work, missing), 1):
            rows += found
            print(*map(json.dumps, found), sep="\n", file=file, flush=True)
            print(f"\r{n} of {len(missing)} fits", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def main() -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("words.jsonl"))
    parser.add_argument("--fits", type=int, default=N_FITS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    print(table(run(given.fits, given.out, given.jobs)))


if __name__ == "__main__":
    main()
