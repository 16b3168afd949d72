"""Whether published numbers are right: coverage and width of intervals, totals, synthetic records.

``python -m benchmarks.numbers --out FILE`` draws settings at random (columns, categories, missing values,
persons, records, budget, overlap and shape of the groups), fits the default estimator and compares what it
publishes with the records at hand: those that ``predict`` puts into each cluster. Prints tables and writes
JSON.
"""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from benchmarks import _small_and_far, _statements
from benchmarks._drawn import SHAPES
from benchmarks._tables_drawn import MOST_ROWS, DrawnTable, Setting
from dpmorse import DPMorse
from dpmorse.profiles import ClusterView, Estimate, LevelView, NumberView
from dpmorse.typing import FloatArray, IntArray

FIRST_SETTING = 70_000
"""Settings below were used while the design was chosen; published figures are of those from here on."""

KINDS = ("share", "median", "quartiles", "level", "missing")

_LARGE = 0.2
"""Part of the records of the clusters whose intervals have a width in the tables."""

_N_SYNTHETIC = 20_000


def measure(setting: Setting, seed: int) -> dict[str, Any]:
    """Fit once; compare each published number with the records at hand."""
    table = setting.table(seed)
    frame, groups = table.frame(), table.owners
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPMorse(
            4,
            epsilon=setting.epsilon,
            delta=1e-6,
            max_rows_per_group=None if groups is None else MOST_ROWS,
            random_state=seed,
            **table.parameters(),
        ).fit(frame, groups=groups)
        labels = np.asarray(model.predict(frame))
    found = {**asdict(setting), "seed": seed, **compared(model, table, labels)}
    return {**found, "synthetic": synthetic(model, table, seed)}


def compared(model: DPMorse, table: DrawnTable, labels: IntArray) -> dict[str, Any]:
    """Compare a model's table with records: covered and unknown numbers, widths, what does not add up."""
    view = ClusterView.of(model.table(), model._released.schema_)
    found = _Compared(view, table, abs(float(view.share.value.sum()) - 1))
    for c in range(view.n_clusters):
        mine = labels == c
        if mine.any():
            found.add(c, mine)
    return {
        "counts": found.counts,
        "widths": {kind: _median(widths) for kind, widths in found.widths.items()},
        "off": found.off,
    }


class _Compared:
    """What was found of the clusters of a view so far."""

    def __init__(self, view: ClusterView, table: DrawnTable, off: float) -> None:
        self.view, self.table, self.off = view, table, off
        self.counts = {kind: [0, 0, 0] for kind in KINDS}
        self.widths: dict[str, list[float | None]] = {"median": [], "quartiles": []}

    def add(self, c: int, mine: Any) -> None:
        """Compare one cluster with its records."""
        table, d = self.table, self.table.setting.n_columns
        self._count("share", self.view.share[c], float(mine.mean()))
        for j, column in enumerate(self.view.columns):
            holes = table.holes[mine, j]
            if column.missing is not None:
                self._count("missing", column.missing[c], float(holes.mean()))
            if isinstance(column, NumberView):
                there = np.clip(table.numbers[mine, j][~holes], *table.bounds)
                self._add_number(c, column, there, is_large=mine.mean() >= _LARGE)
            elif isinstance(column, LevelView):
                self._add_category(c, column, np.where(holes, -1, table.codes[mine, j - d]))

    def _add_number(self, c: int, column: NumberView, there: FloatArray, *, is_large: bool) -> None:
        for p, estimate in column.quantiles.items() if there.size > 1 else ():
            kind = "median" if p == 0.5 else "quartiles"
            self._count(kind, estimate[c], float(np.quantile(there, p)))
            if is_large and there.std() > 0:
                self.widths[kind].append(float(estimate.high[c] - estimate.low[c]) / float(there.std()))

    def _add_category(self, c: int, column: LevelView, codes: IntArray) -> None:
        for level in range(len(column.levels)):
            self._count("level", column.level_share[c, level], float(np.mean(codes == level)))
        total = float(column.level_share.value[c].sum())
        total += 0.0 if column.missing is None else float(column.missing.value[c])
        self.off = max(self.off, 0.0 if np.isnan(total) else abs(total - 1))

    def _count(self, kind: str, estimate: Estimate, truth: float) -> None:
        """Count a number as covered, as missed, or as not known."""
        if np.isnan(estimate.low):
            self.counts[kind][2] += 1
        else:
            self.counts[kind][not (estimate.low - 1e-9 <= truth <= estimate.high + 1e-9)] += 1


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.median(known)) if known else None


def synthetic(model: DPMorse, table: DrawnTable, seed: int) -> dict[str, float]:
    """Compare synthetic records with the real ones: the worst column and the worst pair of columns."""
    setting = table.setting
    d = setting.n_columns
    drawn = model.sample(_N_SYNTHETIC, random_state=seed, missing=table.is_table)[0]
    real = np.where(table.holes[:, :d], np.nan, np.clip(table.numbers, *table.bounds))
    made = np.column_stack([drawn[f"x{j}"] for j in range(d)]) if table.is_table else np.asarray(drawn)
    ks = [ks_2samp(a[~np.isnan(a)], b[~np.isnan(b)]).statistic for a, b in zip(real.T, made.T, strict=True)]
    coded = [_quartered(a, b) for a, b in zip(real.T, made.T, strict=True)]
    levels, outside = [], float(np.mean((made < table.bounds[0]) | (made > table.bounds[1])))
    for j, n in enumerate(table.n_levels.tolist()):
        known = np.where(table.holes[:, d + j], n, table.codes[:, j])
        texts = {str(i): i for i in range(n)} | {"None": n, "nan": n}
        found = np.array([texts.get(str(value), n + 1) for value in drawn[f"c{j}"]])
        levels.append(_variation(known, found, n + 2))
        coded.append((known, found, n + 2))
    pairs = [
        _variation(a[0] * b[2] + b[0], a[1] * b[2] + b[1], a[2] * b[2])
        for a, b in combinations(coded[:12], 2)
    ]
    return {
        "ks": float(np.mean(ks)),
        "levels": float(np.mean(levels)) if levels else float("nan"),
        "pairs": float(np.mean(pairs)) if pairs else float("nan"),
        "outside": outside,
    }


def _quartered(real: FloatArray, made: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Return the quarter of the real values that each value lies in; missing ones are a fifth."""
    ends = np.nanquantile(real, [0.25, 0.5, 0.75])
    parts = [np.where(np.isnan(x), 4, np.searchsorted(ends, x)) for x in (real, made)]
    return parts[0], parts[1], 5


def _variation(real: IntArray, made: IntArray, n: int) -> float:
    """Return the total variation between two distributions of codes."""
    parts = [np.bincount(codes, minlength=n) / len(codes) for codes in (real, made)]
    return float(np.abs(parts[0] - parts[1]).sum() / 2)


# -- figures ------------------------------------------------------------------------------------------


Rows = Sequence[Mapping[str, Any]]


def _is_usual(row: Mapping[str, Any]) -> bool:
    return bool(row["epsilon"] == 1 and row["n_records"] >= 20_000 and not row["persons"])


FACTORS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("all", lambda _: "settings"),
    ("missing", lambda row: "none" if not row["missing"] else f"{row['missing']:.0%} {row['gaps']}"),
    ("categories", lambda row: str(row["n_categories"])),
    ("unit", lambda row: "persons" if row["persons"] else "rows"),
    ("distance", lambda row: f"{row['distance']:g}"),
    ("shape", lambda row: str(row["shape"])),
    ("columns", lambda row: str(row["n_columns"])),
    ("records", lambda row: f"{row['n_records']:,}"),
    ("epsilon", lambda row: f"{row['epsilon']:g}"),
    ("rows, epsilon 1, 20,000 records or more", lambda row: "yes" if _is_usual(row) else "no"),
)


def summarise(rows: Rows) -> dict[str, Any]:
    """Return coverage, widths and distances for each value of each factor."""
    found = {}
    for name, of in FACTORS:
        for value in sorted({of(row) for row in rows}, key=_order):
            found[f"{name}: {value}"] = _of(rows=[row for row in rows if of(row) == value])
    return found


def _order(text: str) -> tuple[float, str]:
    digits = text.replace(",", "").replace("%", " ").split()[0]
    return (float(digits), text) if digits.replace(".", "").isdigit() else (-1.0, text)


def _of(rows: Rows) -> dict[str, Any]:
    totals = {kind: np.sum([row["counts"][kind] for row in rows], axis=0) for kind in KINDS}
    known = {kind: float(total[0] / total[:2].sum()) for kind, total in totals.items() if total[:2].any()}
    everything = np.sum(list(totals.values()), axis=0)
    return {
        "fits": len(rows),
        "coverage": {kind: known.get(kind) for kind in KINDS},
        "unknown": float(everything[2] / everything.sum()),
        "width": {kind: _median([row["widths"][kind] for row in rows]) for kind in rows[0]["widths"]},
        "synthetic": {key: _median([row["synthetic"][key] for row in rows]) for key in rows[0]["synthetic"]},
        "off": max(row["off"] for row in rows),
    }


def tables(summary: Mapping[str, Any]) -> str:
    """Return the table of docs/numbers.md."""
    lines = [_HEAD]
    for name, of in summary.items():
        cells = [*of["coverage"].values(), of["unknown"], *of["width"].values(), *of["synthetic"].values()]
        shown = ["" if cell is None else f"{cell:.2f}" for cell in cells[:8]]
        shown += ["" if cell is None else f"{cell:.3f}" for cell in cells[8:]]
        lines.append(f"| {name} | {of['fits']} | {' | '.join(shown)} |")
    return "\n".join(lines)


_HEAD = (
    "| | fits | share | median | quartiles | level | missing | not known | width of a median, sds "
    "| of a quartile | synthetic: KS | levels | pairs | outside |\n" + "| --- " * 14 + "|"
)


def widths(rows: Rows) -> str:
    """Return the table of widths in settings that have nothing else in them."""
    lines = [
        "| groups of 20 % and more | width of a median, sds | of a quartile | covered |",
        "| --- " * 4 + "|",
    ]
    for columns, records, shape in _PLAIN:
        own = [
            row
            for row in rows
            if (row["n_columns"], row["n_records"], row["shape"]) == (columns, records, shape)
        ]
        of = _of(own)
        known = [of["coverage"][kind] for kind in of["width"]]
        cells = [*of["width"].values(), *known]
        shown = [f"{cell:.2f}" for cell in cells[:2]] + [", ".join(f"{cell:.2f}" for cell in cells[2:])]
        lines.append(f"| {shape}, {columns} columns, {records:,} records | {' | '.join(shown)} |")
    return "\n".join(lines)


_PLAIN = [(d, n, shape) for d, n in ((4, 20_000), (10, 20_000), (10, 5_000)) for shape in SHAPES]
"""Columns, records and shape of settings with complete rows, at epsilon 1."""


def _plain(columns: int, records: int, shape: str) -> Setting:
    setting = Setting.draw(FIRST_SETTING)
    return replace(
        setting, number=10 * columns + SHAPES.index(shape), shape=shape, n_columns=columns, n_records=records,
        n_categories=0, epsilon=1.0, distance=6.0, gaps="complete", missing=0.0, persons=False,
        correlation=0.0,
    )  # fmt: skip


def _task(task: tuple[Setting, int]) -> dict[str, Any]:
    return measure(*task)


def _special(task: tuple[Any, ...]) -> dict[str, Any]:
    function, *arguments = task
    result: dict[str, Any] = function(*arguments)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the settings and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--settings", type=int, default=60, help="settings (default 60)")
    parser.add_argument("--seeds", type=int, default=20, help="fits of each setting (default 20)")
    parser.add_argument(
        "--statements", type=int, default=100, help="fits of each kind of statement (default 100)"
    )
    parser.add_argument("--first", type=int, default=FIRST_SETTING, help="number of the first setting")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    given = parser.parse_args(arguments)
    settings = [Setting.draw(number) for number in range(given.first, given.first + given.settings)]
    tasks = [(setting, seed) for setting in settings for seed in range(given.seeds)]
    plain = [(_plain(*which), seed) for which in _PLAIN for seed in range(given.seeds)]
    with ProcessPoolExecutor(given.jobs) as processes:
        rows = list(processes.map(_task, tasks, chunksize=1))
        bare = list(processes.map(_task, plain, chunksize=1))
        special = list(processes.map(_special, _small_and_far.tasks(given.seeds), chunksize=2))
        said = list(processes.map(_special, _statements.tasks(given.statements), chunksize=2))
    summary = summarise(rows)
    found = {"summary": summary, "rows": rows, "plain": bare, "small and far": special, "statements": said}
    given.out.write_text(json.dumps(found))
    shown = (tables(summary), widths(bare), _statements.tables(said), _small_and_far.tables(special))
    print(*shown, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
