"""The Morse step: right against an oracle, fast against the literal algorithm, useful on shapes.

``python -m benchmarks.morse`` runs all parts; ``--parts speed,shapes,rules,number,many,oracle`` some of them.
Prints tables and writes JSON.
"""

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from tests.morse_mixtures import FAMILIES, random_mixture
from tests.morse_oracle import flood

from benchmarks._literal_morse import LiteralMorse
from benchmarks._measure import machine, peak_extra_megabytes, seconds
from benchmarks._unknown_number import number
from benchmarks.generated import FAMILIES as DATA_FAMILIES
from benchmarks.generated import make_family
from dpmorse import DPMoGHard, DPMorse, MorseClustering
from dpmorse.clustering.standing_out import sizes_of
from dpmorse.clustering.trees import least_weight
from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, MergeTree, merge_tree
from dpmorse.morse.critical import Landscape, RidgelineSearch, spanning_edges

_FIRST_SEED = 5000  # seeds below 1000 were used while developing
_FIRST_INSTANCE = 700  # likewise, of the families of data
_PIXELS = {2: (1 << 17, 1 << 20, 1 << 22), 3: (1 << 18, 1 << 21)}
_SIZES = [(6, 8), (12, 8), (50, 8), (100, 8), (200, 8), (500, 8), (50, 2), (50, 32), (50, 64)]
_LITERAL_PAIRS = 60


def oracle(n_cases: int, processes: int) -> dict[str, Any]:
    """Compare trees with the oracle; a finer grid decides where the two disagree."""
    cases = list(_cases(n_cases))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        rows = pool.map(_compare, cases, chunksize=4)
    wrong = [row for row in rows if row["verdict"] != "right"]
    for row in wrong:
        print("  ", row)
    right = len(rows) - len(wrong)
    flagged = sum(not row["certified"] for row in rows)
    print(f"oracle: {right} of {len(rows)} right ({right / len(rows):.1%}); {flagged} trees flag themselves")
    print(f"every K reached and nested: {sum(row['nested'] for row in rows)} of {len(rows)}")
    return {"n": len(rows), "right": right, "flagged": flagged, "wrong": wrong}


def _cases(n_cases: int) -> Iterator[tuple[str, int, int]]:
    for i in range(n_cases):
        yield (
            FAMILIES[i % len(FAMILIES)],
            2 + (i // len(FAMILIES)) % 2,
            _FIRST_SEED + i // (2 * len(FAMILIES)),
        )


def _compare(case: tuple[str, int, int]) -> dict[str, Any]:
    family, n_features, seed = case
    mixture = random_mixture(family, n_features, seed)
    tree = merge_tree(mixture)
    verdict, sure = "", True
    for n_pixels in _PIXELS[n_features]:
        reference = flood(mixture, n_pixels)
        verdict, sure = _verdict(tree, reference), reference.sure
        if verdict == "right":
            break
    return {
        "family": family,
        "D": n_features,
        "seed": seed,
        "K0": mixture.n_components,
        "verdict": verdict,
        "oracle_sure": sure,
        "certified": tree.certified,
        "nested": _nested(tree),
    }


def _verdict(tree: MergeTree, reference: Any) -> str:
    heights = tree.critical_points.saddle_heights[tree.spanning_saddles]
    if tree.n_modes != len(reference.modes):
        return f"{tree.n_modes} modes, oracle {len(reference.modes)}"
    off = np.abs(heights - reference.heights) > 1e-3 * np.maximum(1, np.abs(reference.heights))
    return "right" if not off.any() else f"{off.sum()} of {len(off)} heights"


def _nested(tree: MergeTree) -> bool:
    cuts = [tree.cut(k) for k in range(1, tree.n_leaves + 1)]
    reached = all(len(set(cut.tolist())) == k for k, cut in enumerate(cuts, 1))
    return reached and all(
        len(set(zip(fine, coarse, strict=True))) == len(set(fine)) for coarse, fine in pairwise(cuts)
    )


def speed() -> list[dict[str, Any]]:
    """Measure time and memory beside the literal algorithm, extrapolated from its first pairs."""
    merge_tree(random_mixture("overlapping", 2, 0))  # compile
    print("  K0   D  seconds     MB  literal s  times  modes certified")
    rows = []
    for n_components, d in _SIZES:
        mixture = random_mixture("overlapping", d, 1, n_components)
        taken = seconds(lambda m=mixture: merge_tree(m), repeats=1 if n_components > 100 else 3)  # type: ignore[misc]
        memory = peak_extra_megabytes(lambda m=mixture: lambda: merge_tree(m))  # type: ignore[misc]
        tree = merge_tree(mixture)
        literal = _literal_seconds(mixture)
        row = {
            "K0": n_components,
            "D": d,
            "seconds": taken,
            "megabytes": memory,
            "literal_seconds": literal,
            "modes": tree.n_modes,
            "certified": tree.certified,
        }
        rows.append(row)
        print(
            f"{n_components:4d} {d:3d} {taken:8.3f} {memory:6.0f} {literal:10.1f} {literal / taken:6.0f} "
            f"{tree.n_modes:6d} {tree.certified}",
            flush=True,
        )
    return rows


def _literal_seconds(mixture: GaussianMixture) -> float:
    """Return what all pairs would take: modes, plus the mean of the first pairs times their number."""
    n_pairs = mixture.n_components * (mixture.n_components - 1) // 2
    some = min(n_pairs, _LITERAL_PAIRS)
    modes = seconds(lambda: LiteralMorse(mixture).run(0), repeats=1)
    both = seconds(lambda: LiteralMorse(mixture).run(some), repeats=1)
    return modes + (both - modes) / some * n_pairs


def shapes(n_seeds: int = 20) -> list[dict[str, Any]]:
    """Cluster two moons and two rings at epsilon 10 with 20,000 records, for every merge rule."""
    rows = []
    for name, n_components in (("moons", 20), ("rings", 20)):
        for rule in ("overlap", "persistence", "single"):
            scores = np.array([_shape_score(name, n_components, rule, seed) for seed in range(n_seeds)])
            row = {
                "shape": name,
                "rule": rule,
                "mean": scores.mean(),
                "std": scores.std(),
                "above": int((scores > 0.9).sum()),
            }
            rows.append(row)
            print(f"{name} {rule}: {row['mean']:.3f} +- {row['std']:.3f}, above .9: {row['above']}/{n_seeds}")
    return rows


def rules(processes: int, n_sets: int = 8, n_seeds: int = 1) -> list[dict[str, Any]]:
    """Compare merge rules at the true number of clusters."""
    cases = [
        (family, instance, seed, epsilon)
        for epsilon in (10.0, 1.0)
        for family in DATA_FAMILIES
        for instance in range(_FIRST_INSTANCE, _FIRST_INSTANCE + n_sets)
        for seed in range(n_seeds)
    ]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        rows = pool.starmap(_rule_scores, cases, chunksize=1)
    for epsilon in (10.0, 1.0):
        for family in ("all", *DATA_FAMILIES):
            mine = [r for r in rows if r["epsilon"] == epsilon and family in ("all", r["family"])]
            means = "  ".join(f"{rule} {np.mean([r[rule] for r in mine]):.3f}" for rule in RULES)
            print(f"eps {epsilon:g} {family:>10}: {means}")
    return rows


def _rule_scores(family: str, instance: int, seed: int, epsilon: float) -> dict[str, Any]:
    data = make_family(family, instance)
    X, y, n_clusters = data.X, data.y, data.n_clusters
    model = DPMorse(
        n_clusters, epsilon=epsilon, delta=1e-5, bounds=data.bounds, merge="single", random_state=seed
    ).fit(X)
    base = model.base_
    components, known = base.predict(X), y >= 0
    points = model.merge_tree_.critical_points
    row: dict[str, Any] = {
        "family": family,
        "instance": instance,
        "seed": seed,
        "epsilon": epsilon,
        "K": n_clusters,
    }
    for rule in RULES:
        tree = merge_tree(
            base.partition_,
            rule=rule,
            n_clusters=n_clusters,
            critical_points=points,
            least_weight=least_weight(sizes_of(base)),
        )
        labels = tree.cut(min(n_clusters, tree.n_leaves))[components]
        row[rule] = float(adjusted_rand_score(y[known], labels[known]))
    return row


def many(n_seeds: int = 2, n_components: int = 60) -> dict[str, int]:
    """Compare the selective search of many components with the full one."""
    cases = [
        (f, d, s) for f in FAMILIES for d in (2, 3, 8) for s in range(_FIRST_SEED, _FIRST_SEED + n_seeds)
    ]
    same = sum(_same_tree(random_mixture(f, d, s, n_components)) for f, d, s in cases)
    print(f"selective search of {n_components} components: the full search's tree in {same} of {len(cases)}")
    return {"n": len(cases), "same": same}


def _same_tree(mixture: GaussianMixture) -> bool:
    heights = []
    for thorough in (False, True):
        search = RidgelineSearch(Landscape(mixture), thorough=thorough)
        search.run()
        ends = search.saddles.ends
        edges = spanning_edges(len(search.modes), ends[:, 0], ends[:, 1], search.saddles.heights)
        heights.append(search.saddles.heights[edges])
    return len(heights[0]) == len(heights[1]) and bool(np.allclose(heights[0], heights[1], atol=1e-6))


def _shape_score(name: str, n_components: int, rule: str, seed: int) -> float:
    if name == "moons":
        (X, y), bounds = make_moons(20_000, noise=0.08, random_state=seed), ([-1.5, -1.0], [2.5, 1.5])
    else:
        (X, y), bounds = make_circles(20_000, noise=0.05, factor=0.4, random_state=seed), (-1.3, 1.3)  # type: ignore[assignment]
    base = DPMoGHard(n_components, epsilon=10.0, bounds=bounds, random_state=seed)
    return float(adjusted_rand_score(y, MorseClustering(base, 2, merge=rule).fit_predict(X)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="speed,shapes,rules,number,many,oracle")
    parser.add_argument("--cases", type=int, default=308, help="mixtures compared with the oracle")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("benchmark-morse.json"))
    options = parser.parse_args()
    parts = options.parts.split(",")
    results: dict[str, Any] = {"machine": machine()}
    if "speed" in parts:
        results["speed"] = speed()
    if "shapes" in parts:
        results["shapes"] = shapes()
    if "rules" in parts:
        results["rules"] = rules(options.processes)
    if "number" in parts:
        results["number"] = number(options.processes)
    if "many" in parts:
        results["many"] = many()
    if "oracle" in parts:
        results["oracle"] = oracle(options.cases, options.processes)
    options.out.write_text(json.dumps(results, indent=2, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
