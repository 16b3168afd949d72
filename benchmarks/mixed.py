"""Quality of the default on tables with categories and missing values, beside methods without privacy.

``python -m benchmarks.mixed`` runs all parts; ``--parts families,holes,categories,synthetic,speed`` some of
them. Every method is told K and nothing else; instances are ones on which nothing was set. Prints tables in
Markdown.
"""

import argparse
import multiprocessing
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from sklearn.metrics import adjusted_rand_score

from benchmarks._k_prototypes import k_prototypes
from benchmarks._measure import seconds
from benchmarks._product_em import product_em
from benchmarks.generated.categories import make_mushrooms, make_votes
from benchmarks.generated.mixed import KINDS, make_mixed
from benchmarks.generated.mixed_table import MixedTable, punched, with_noise_column
from dpmorse import DPMorse, Nominal, Numeric

_INSTANCES = range(50, 60)
_DELTA = 1e-5
Case = tuple[Any, ...]


def frame_of(table: MixedTable) -> pd.DataFrame:
    """Return the records as people have them: numbers and codes, None where one is missing."""
    numbers = {f"number {j}": column for j, column in enumerate(table.numbers.T)}
    codes = {
        f"code {j}": [None if c < 0 else int(c) for c in column] for j, column in enumerate(table.codes.T)
    }
    return pd.DataFrame({**numbers, **{name: pd.Series(c, dtype=object) for name, c in codes.items()}})


def columns_of(table: MixedTable) -> dict[str, Any]:
    """Return the public description of a table in which any value may be missing."""
    bounds = zip(table.lower, table.upper, strict=True)
    numbers = {f"number {j}": Numeric(low, high, missing="ignore") for j, (low, high) in enumerate(bounds)}
    levels = {f"code {j}": Nominal(list(range(n)), missing="ignore") for j, n in enumerate(table.n_levels)}
    return {**numbers, **levels}


def fitted(table: MixedTable, epsilon: float, seed: int = 0) -> DPMorse:
    """Fit the default."""
    model = DPMorse(
        table.n_clusters, epsilon=epsilon, delta=_DELTA, columns=columns_of(table), random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at this budget some clusters may be noise
        return model.fit(frame_of(table))


def _private(table: MixedTable, epsilon: float) -> float:
    model = fitted(table, epsilon)
    return float(adjusted_rand_score(table.y, model.predict(frame_of(table))))


def _exact(table: MixedTable) -> tuple[float, float]:
    """Return the scores of the two methods without privacy."""
    product = product_em(table, table.n_clusters).labels(table.encoded())
    labels = (product, k_prototypes(table, table.n_clusters))
    of_em, of_prototypes = (float(adjusted_rand_score(table.y, found)) for found in labels)
    return of_em, of_prototypes


def _family(kind: str, instance: int) -> list[float]:
    table, large = (make_mixed(kind, n, instance) for n in (10_000, 50_000))
    private = [_private(table, 1.0), _private(table, 10.0), _private(large, 1.0)]
    return [*private, *_exact(table)]


def families(pool: Any) -> None:
    """Compare budgets and numbers of records on the six kinds."""
    cases = [(kind, instance) for kind in KINDS for instance in _INSTANCES]
    found = np.array(pool.starmap(_family, cases, chunksize=1)).reshape(len(KINDS), len(_INSTANCES), -1)
    head = ("10,000, eps 1", "eps 10", "50,000, eps 1", "product EM, 10,000", "k-prototypes")
    _show("", head, [*zip(KINDS, found.mean(axis=1), strict=True), ("all", found.mean(axis=(0, 1)))])


def _holes(instance: int, rate: float) -> list[float]:
    table = make_mixed("both", 10_000, instance, missing=rate)
    rng = np.random.default_rng(instance)
    model = fitted(table, 1.0)
    numbers, codes = punched(table.numbers, table.codes, 0.5, rng)
    half = replace(table, numbers=numbers, codes=codes)
    labels = (model.predict(frame_of(each)) for each in (table, half))
    scores = [float(adjusted_rand_score(table.y, found)) for found in labels]
    return [*scores, _exact(table)[0]]


def holes(pool: Any) -> None:
    """Remove values at random before the fit, and half of the others before the prediction."""
    rates = (0.0, 0.1, 0.3)
    cases = [(instance, rate) for rate in rates for instance in _INSTANCES]
    found = np.array(pool.starmap(_holes, cases, chunksize=1)).reshape(len(rates), len(_INSTANCES), -1)
    rows = [(f"{rate:.0%} removed", row) for rate, row in zip(rates, found.mean(axis=1), strict=True)]
    _show("", ("eps 1", "half removed at predict", "product EM"), rows)


def _categories(make: Callable[..., MixedTable], instance: int) -> list[float]:
    table = make(instance=instance)
    return [
        _private(table, 1.0),
        _private(with_noise_column(table), 1.0),
        _private(table, 10.0),
        *_exact(table),
    ]


def categories(pool: Any) -> None:
    """Tables of categories alone, with and without a column of noise with 30 levels."""
    makers = {"mushroom-like": make_mushrooms, "votes-like, 8,700 rows": partial(make_votes, 20)}
    cases = [(make, instance) for make in makers.values() for instance in range(5)]
    found = np.array(pool.starmap(_categories, cases, chunksize=1)).reshape(len(makers), 5, -1)
    head = ("eps 1", "with a noise column", "eps 10", "product EM", "k-prototypes")
    for name, how in (("", np.mean), ("worst", np.min), ("best", np.max)):
        _show(name, head, list(zip(makers, how(found, axis=1), strict=True)))


def _synthetic(kind: str, instance: int) -> list[float]:
    table = make_mixed(kind, 10_000, instance)
    real, fake = frame_of(table), fitted(table, 1.0).sample(20_000, random_state=0)[0]
    others = frame_of(make_mixed(kind, 20_000, instance, missing=0.0))  # as many records of the same law
    names = [f"code {j}" for j in range(len(table.n_levels))]
    singles, pairs = ([name] for name in names), (list(pair) for pair in pairwise(names))
    return [
        float(np.mean([_total_variation(real, drawn, each) for each in some]))
        for some in (list(singles), list(pairs))
        for drawn in (fake, others)
    ]


def _total_variation(real: pd.DataFrame, fake: pd.DataFrame, names: list[str]) -> float:
    """Return the distance of the laws of some categories, over the records that have them."""
    shares = [
        frame[names].dropna().astype(str).value_counts(normalize=True).rename(str(i))
        for i, frame in enumerate((real, fake))
    ]
    both = pd.concat(shares, axis=1).fillna(0.0)
    return float(both.diff(axis=1).iloc[:, 1].abs().sum() / 2)


def synthetic(pool: Any) -> None:
    """Compare categories of synthetic records, and of new ones of the same law, with those of the records."""
    kinds = [kind for kind in KINDS if kind != "num"]
    cases = [(kind, instance) for kind in kinds for instance in _INSTANCES[:5]]
    found = np.array(pool.starmap(_synthetic, cases, chunksize=1)).reshape(len(kinds), 5, -1)
    head = ("one category", "new records", "pairs", "new records")
    _show(
        "total variation",
        head,
        [*zip(kinds, found.mean(axis=1), strict=True), ("all", found.mean(axis=(0, 1)))],
    )


def speed() -> None:
    """Time 6 numbers and 6 categories beside 12 numbers, 1,000,000 records each."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 1_000_000)
    numbers = rng.normal(size=(len(y), 12)) + 4 * rng.normal(size=(6, 12))[y]
    codes = (y[:, None] + rng.integers(0, 3, (len(y), 6))) % 8
    columns = {f"n{j}": Numeric(-30, 30) for j in range(6)} | {
        f"c{j}": Nominal(list(range(8))) for j in range(6)
    }
    frame = pd.DataFrame(
        {**{f"n{j}": numbers[:, j] for j in range(6)}, **{f"c{j}": codes[:, j] for j in range(6)}}
    )
    common: dict[str, Any] = {"epsilon": 1.0, "random_state": 0}
    plain = seconds(lambda: DPMorse(6, bounds=(-30, 30), **common).fit(numbers), 2)
    mixed = seconds(lambda: DPMorse(6, columns=columns, **common).fit(frame), 2)
    times = mixed / plain
    print(f"12 numbers {plain:.1f} s, 6 numbers and 6 categories {mixed:.1f} s: {times:.1f} times as long")


def _show(title: str, head: tuple[str, ...], rows: list[tuple[str, Any]]) -> None:
    print(f"\n| {title} | " + " | ".join(head) + " |\n" + "|---" * (len(head) + 1) + "|")
    for name, values in rows:
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + " |", flush=True)


def main() -> None:
    """Run the parts of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="families,holes,categories,synthetic,speed")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    asked = options.parts.split(",")
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for part in (families, holes, categories, synthetic):
            if part.__name__ in asked:
                part(pool)
    if "speed" in asked:
        speed()


if __name__ == "__main__":
    main()
