"""Figures like the paper's: ARI against epsilon, a panel for each dataset."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image  # comes with matplotlib

from benchmarks._clusterings import BASES, DEFAULT, MORSE
from benchmarks._scores import Results

_COLOURS = dict(zip(BASES, ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d"), strict=True))
_DOTS = ((0, (1, 1)), (0, (1, 2)), (0, (1, 4)), (0, (3, 2, 1, 2)))
_COLUMNS = 3
_DPI = 100


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw all methods in one figure, and each base in one of its own; return the files, the first first."""
    bases = [base for base in BASES if {base, base + MORSE} & set(results.private_methods)]
    if not results.datasets or not results.private_methods:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [_draw(results, bases, folder / "utility.png")]
    if len(bases) > 1:
        pictures += [_draw(results, [base], folder / f"utility-{base}.png") for base in bases]
    return pictures


def _draw(results: Results, bases: list[str], path: Path) -> Path:
    n_columns = min(_COLUMNS, len(results.datasets))
    n_rows = -(-len(results.datasets) // n_columns)
    size = (3.4 * n_columns, 2.6 * n_rows + 0.8)
    figure, panels = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, sharex=True
    )
    for axes, dataset in zip(panels.flat, results.datasets, strict=False):
        _panel(axes, results, dataset, bases)
    for axes in panels.flat[len(results.datasets) :]:
        axes.set_axis_off()
    handles, names = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)), fontsize=8)
    _save(figure, path)
    return path


def _save(figure: Any, path: Path) -> None:
    """Write a picture of few colours, which takes a third of the room."""
    whole = io.BytesIO()
    figure.savefig(whole, dpi=_DPI)
    plt.close(figure)
    picture = Image.open(whole).convert("RGB")
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(path, optimize=True)


def _panel(axes: Any, results: Results, dataset: str, bases: list[str]) -> None:
    for method, dots in zip(results.references, _DOTS, strict=False):
        score = results.main(method, dataset)
        if score is not None:
            axes.axhline(score.mean, linestyle=dots, color="0.4", linewidth=1.3, label=method)
    for base in bases:
        _curve(axes, results, base, dataset, color=_COLOURS[base], linestyle="--", linewidth=1.2)
        _curve(axes, results, base + MORSE, dataset, color=_COLOURS[base], linestyle="-", linewidth=1.4)
    _curve(axes, results, DEFAULT, dataset, color="black", linestyle="-", linewidth=2.0)
    axes.set_xscale("log")
    axes.set_xticks(results.epsilons, [f"{epsilon:g}" for epsilon in results.epsilons])
    axes.minorticks_off()
    axes.set_title(dataset, fontsize=10)
    axes.set_xlabel("ε", fontsize=9)
    axes.set_ylabel("ARI", fontsize=9)
    axes.tick_params(labelsize=8, labelbottom=True)


def _curve(axes: Any, results: Results, method: str, dataset: str, **style: Any) -> None:
    """Draw the mean over seeds, and a band of one standard deviation."""
    found = [(epsilon, results.main(method, dataset, epsilon)) for epsilon in sorted(results.epsilons)]
    points = np.array([(epsilon, s.mean, s.std) for epsilon, s in found if s is not None])
    if not points.size:
        return
    epsilons, means, stds = points.T
    axes.plot(epsilons, means, marker="o", markersize=3, label=method, **style)
    axes.fill_between(epsilons, means - stds, means + stds, color=style["color"], alpha=0.12, linewidth=0)
