"""How many clusters "auto" suggests: with groups and without, on generated and on small real tables.

``python -m benchmarks.suggested`` fits every table twice or more at epsilon 1, and prints lines for each kind
of table: of the rule as it is, and as it was before on the same releases, when only its purity spoke for one
cluster and clusters that may be noise were counted. The last lines are the families of the generated sets.
Nothing was set on the generated tables; the real ones were seen when one of two rules was chosen. "Noise"
are fits whose suggested cut, into two or more, has a cluster below three standard deviations of its noise.
"""

import argparse
import math
import multiprocessing
import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score

from benchmarks.generated import FAMILIES, make_family
from benchmarks.generated.mixed import KINDS as MIXED
from benchmarks.generated.mixed import make_mixed
from benchmarks.generated.structureless import KINDS, make_structureless
from benchmarks.mixed import columns_of, frame_of
from dpmorse import DPMorse
from dpmorse.datasets import make_blobs, widened_bounds
from dpmorse.morse import Sizes
from dpmorse.morse.rules.scores import agreements, chosen_cut
from dpmorse.typing import IntArray

_EPSILON, _DELTA = 1.0, 1e-5
_FAMILIES, _WITHOUT, _TABLES, _SMALL = (
    range(1100, 1108),
    range(1100, 1112),
    range(1100, 1104),
    range(1100, 1130),
)
_REAL = ("wine", "breast_cancer", "iris", "digits")
_DIGITS = 5
"""Of the digits, those below this."""

Case = tuple[str, str, int]


def cases() -> list[Case]:
    """Return all tables: the group of lines they belong to, a name and an instance."""
    return [
        *(("generated", name, i) for i in _FAMILIES for name in FAMILIES),
        *(("without groups", name, i) for i in _WITHOUT for name in KINDS),
        *(("with categories", name, i) for i in _TABLES for name in MIXED),
        *(("small", "blobs", i) for i in _SMALL),
        *((f"{name}", name, 0) for name in _REAL),
    ]


def table(case: Case) -> tuple[Any, Any, dict[str, Any]]:
    """Return records, classes (None where there are none) and what the estimator is told."""
    group, name, instance = case
    rng = np.random.default_rng([instance, 39])
    if group == "generated":
        data = make_family(name, instance)
        return data.X, data.y, {"bounds": data.bounds}
    if group == "without groups":
        records, told = make_structureless(name, instance)
        return pd.DataFrame(records) if isinstance(records, dict) else records, None, told
    if group == "with categories":
        drawn = make_mixed(name, int(np.exp(rng.uniform(np.log(1_000), np.log(20_000)))), instance)
        return frame_of(drawn), drawn.y, {"columns": columns_of(drawn)}
    if group == "small":
        n, d = int(np.exp(rng.uniform(np.log(150), np.log(2_000)))), int(rng.integers(4, 35))
        k, apart = int(rng.integers(2, 6)), float(rng.uniform(2.5, 8.0))
        X, y = make_blobs(n, n_clusters=k, n_features=d, separation=apart, random_state=instance)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        X, y = (X[y < _DIGITS], y[y < _DIGITS]) if name == "digits" else (X, y)
    return X, y, {"bounds": widened_bounds(X)}


def before(proposals: Any) -> IntArray:
    """Return the cut of the components that the rule took before."""
    score, best, most = proposals.score, 5.0, np.zeros(len(proposals.score.weights), dtype=np.int64)
    for number in range(2, min(50, len(score.weights)) + 1):
        cuts = [one.cut(number) for one in proposals.each]
        taken = chosen_cut(cuts, score)
        agreement, climbs = agreements(cuts, score.weights)[taken].mean(), score.climbs(cuts[taken])
        value = math.log(number) + 5 * score.purity(cuts[taken]) + 2 * agreement
        value -= 0.25 * (climbs < math.log(2)).sum()
        if value > best:
            best, most = value, cuts[taken]
    return most


def fits(case: Case) -> list[dict[str, Any]]:
    """Fit a table several times; return what either rule suggests, and how good its labels are."""
    X, y, told = table(case)
    rows = []
    for seed in range(8 if case[0] in _REAL else 2):
        model = DPMorse(epsilon=_EPSILON, delta=_DELTA, random_state=seed, **told)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = model.fit(X).merge_tree_
        components = tree.leaves.components[tree.leaves.full]
        found, profile = np.asarray(model.base_.predict(X)), model.base_.profile_
        sizes = Sizes(profile.counts[components], profile.count_stddev[components])
        row: dict[str, Any] = {"true": None if y is None else len(np.unique(y[y >= 0]))}
        of_rules = {"now": tree.cut(tree.suggested_n_clusters)[components], "before": before(tree.proposals)}
        for rule, cut in of_rules.items():
            labels = np.zeros(tree.weights.size, dtype=np.int64)
            labels[components] = cut
            known = None if y is None else y >= 0
            index = 0.0 if known is None else adjusted_rand_score(y[known], labels[found][known])
            row[rule] = {
                "number": int(cut.max()) + 1,
                "index": index,
                "noise": cut.any() and not sizes.all_seen(cut),
            }
        rows.append(row)
    return rows


def line(name: str, tables: Sequence[list[dict[str, Any]]], rule: str) -> str:
    """Return a line of the table in Markdown."""
    each, true = (
        [row[rule] for rows in tables for row in rows],
        [row["true"] for rows in tables for row in rows],
    )
    numbers = np.array([row["number"] for row in each])
    same = np.mean(
        [
            np.mean([a[rule]["number"] == b[rule]["number"] for a, b in combinations(rows, 2)])
            for rows in tables
        ]
    )
    cells = [
        f"{same:.2f}",
        f"{np.mean(numbers == 1):.2f}",
        f"{sum(row['noise'] for row in each)} of {len(each)}",
    ]
    if true[0] is None:
        return f"| {name} | {rule} | | | | | {' | '.join(cells)} |"
    off = np.abs(numbers - np.array(true))
    gains = [np.mean([row[rule]["index"] - row["before"]["index"] for row in rows]) for rows in tables]
    error = f" ± {np.std(gains, ddof=1) / np.sqrt(len(gains)):.3f}" if len(gains) > 1 else ""
    change = f"{np.mean(gains):+.3f}{error}" if rule == "now" else ""
    index = np.mean([row["index"] for row in each])
    quality = [f"{index:.3f}", change, f"{np.mean(off == 0):.2f}", f"{np.mean(off < 2):.2f}"]
    return f"| {name} | {rule} | {' | '.join([*quality, *cells])} |"


def main() -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given, wanted = parser.parse_args(), cases()
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        found = pool.map(fits, wanted, chunksize=1)
    print("| tables | rule | Rand index | change | exact | within one | same number | one cluster | noise |")
    print("|---|---|---|---|---|---|---|---|---|")
    groups = dict.fromkeys(case[0] for case in wanted)
    for group in groups:
        tables = [rows for case, rows in zip(wanted, found, strict=True) if case[0] == group]
        for rule in ("before", "now"):
            print(line(group, tables, rule))
    for name in FAMILIES:
        tables = [rows for case, rows in zip(wanted, found, strict=True) if case[:2] == ("generated", name)]
        print(line(name, tables, "now"))


if __name__ == "__main__":
    main()
