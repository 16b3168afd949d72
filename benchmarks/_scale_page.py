"""The section on scale of the page of results, between two marks: writing the rest anew keeps it."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEGIN = "<!-- Written by benchmarks/scale.py. -->"
END = "<!-- The end of what benchmarks/scale.py writes. -->"


def replace_section(page: Path, text: str) -> None:
    """Replace the section of a page, or add it."""
    whole = page.read_text(encoding="utf-8")
    old = kept_section(whole)
    new = whole.replace(old, text) if old else f"{whole.rstrip()}\n\n{text}\n"
    page.write_text(new, encoding="utf-8")


def kept_section(page: str) -> str:
    """Return the section of a page, with its marks; empty if it has none."""
    if BEGIN not in page:
        return ""
    return BEGIN + page.split(BEGIN, 1)[1].split(END, 1)[0] + END


def section(results: dict[str, Any]) -> str:
    """Return the measurements as Markdown."""
    parts = {
        "models": _models,
        "files": _files,
        "persons": _persons,
        "dask": _dask,
        "spark": _spark,
        "speed": _speed,
        "peers": _peers,
        "start": _start,
        "trees": _trees,
        "gpu": _gpu,
    }
    texts = [text for name, write in parts.items() if name in results for text in write(results[name])]
    where = f"{results['machine']['cores']} cores, {results['machine']['architecture']}"
    about = (
        f"`python -m benchmarks.scale`, on {where}; the GPU on a machine of its own. How to use it: "
        "[scale.md](scale.md)."
    )
    return "\n\n".join([BEGIN, "## Scale", about, *texts, END])


def _table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _prose(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _start(found: dict[str, float]) -> Iterator[str]:
    yield "### Start-up"
    yield _table(["", ""], [[f"`{name}`", f"{value:.2f}"] for name, value in found.items()])


def _trees(found: dict[str, dict[str, float]]) -> Iterator[str]:
    yield "### The tree of a mixture"
    rows = [
        [name, *(f"{times[key]:.2f}" for key in ("seconds", "CPU seconds"))] for name, times in found.items()
    ]
    yield _table(["mixture", "seconds", "CPU seconds"], rows)


def _models(found: dict[str, dict[str, bool]]) -> Iterator[str]:
    yield "### One released model"
    same = sum(sum(kinds.values()) for kinds in found.values())
    total = sum(len(kinds) for kinds in found.values())
    estimators = ", ".join(next(iter(found.values())))
    yield _prose(
        f"The same bits as from an array in memory in **{same} of {total}** fits: {estimators}, each from "
        f"{', '.join(found)}."
    )


def _files(found: dict[str, Any]) -> Iterator[str]:
    yield "### Files larger than memory"
    rows = []
    for name, result in found.items():
        for n_rows, fit in result["fits"].items():
            rows.append([name, f"{int(n_rows):,}", f"{fit['seconds']:.2f}", f"{fit['peak MB']:.0f}"])
    yield _table(["estimator", "rows x 8, Parquet", "seconds of fit", "peak memory of the process, MB"], rows)
    exponents = ", ".join(f"{result['exponent']:.2f} ({name})" for name, result in found.items())
    yield f"Seconds, of short fits the least of five, grow with the number of rows to the power {exponents}."


def _persons(found: dict[str, Any]) -> Iterator[str]:
    yield "### A promise to persons"
    kinds = [name for name, value in found.items() if isinstance(value, dict)]
    rows = [
        [name, *(f"{found[kind][name]:.{0 if 'MB' in name else 2}f}" for kind in kinds)]
        for name in found[kinds[0]]
    ]
    yield _table(
        [
            f"{found['rows']:,} x 8, {found['persons']:,} persons, {found['rows used of each']} rows of each",
            *kinds,
        ],
        rows,
    )


def _dask(found: dict[str, int]) -> Iterator[str]:
    yield "### Workers that die"
    yield _table(list(found), [[str(value) for value in found.values()]])


def _spark(found: dict[str, Any]) -> Iterator[str]:
    yield "### Spark"
    speed = found["speed"]
    yield _prose(
        f"`DPMorse`, {speed['rows']:,} x 8, a local session on two cores: {speed['Spark, s']:.1f} s from "
        f"Spark, {speed['Parquet, s']:.1f} s from the same Parquet file, a ratio of {speed['ratio']:.2f}. "
        "Fits of which a task fails in every pass:"
    )
    yield _table(list(found["failures"]), [[str(value) for value in found["failures"].values()]])


def _speed(found: dict[str, Any]) -> Iterator[str]:
    yield "### Speed beside scikit-learn"
    rows = [[name, f"{value:.2f}"] for name, value in found.items() if isinstance(value, float)]
    yield _table([f"{found['rows']:,} x 8, 12 components", ""], rows)
    seconds = {name: value for name, value in found.items() if name.endswith(", s")}
    lines = [
        [name, *(f"{key} {s * 1000:.1f} ms" for key, s in value.items())] for name, value in seconds.items()
    ]
    yield "\n".join(f"* {line[0].removesuffix(', s')}: {', '.join(line[1:])}" for line in lines)


def _peers(found: dict[str, Any]) -> Iterator[str]:
    yield "### Whole private fits"
    rows = [
        [name.removesuffix(", s"), f"{value:.2f}" if isinstance(value, float) else str(value)]
        for name, value in found.items()
        if name != "rows"
    ]
    yield _table([f"{found['rows']:,} x 8, 12 clusters", "seconds"], rows)


def _gpu(found: dict[str, Any]) -> Iterator[str]:
    fits, models, sums = found["fits"], found["models"], found["sums"]
    read, bandwidth = 1000 * fits["one read of the records, s"], fits["bandwidth of that read, TB/s"]
    slower = fits["plain torch: slower per row by a factor of"]
    yield "### A GPU"
    yield from _default_on_gpu(found["default"])
    yield _prose(
        f"{found['machine']['gpu']}, torch {found['machine']['torch']}: {fits['rows']:,} x 8 float32 on the "
        f"device, 12 components, a whole fit of `DPMoGHard` with {fits['iterations']} iterations in "
        f"**{fits['whole fit, s']:.2f} s**. One read of the records takes {read:.1f} ms "
        f"({bandwidth:.1f} TB/s), so that this is {fits['fraction of the bandwidth limit']:.0%} of the limit "
        f"that memory sets. Plain torch, without the fused kernel, takes {slower:.0f} times as long for a "
        "record."
    )
    same = [value for name, value in models.items() if name.endswith("same model")]
    yield _prose(
        f"The model of {models['rows']:,} records is that of the host, bit for bit, in {sum(same)} of "
        f"{len(same)} cases (`DPMoGHard` in float32 and float64, fused and plain; `DPMorse` on a tenth "
        f"of them), and so are the sums in {sums['cases'] - len(sums['differing'])} of {sums['cases']} "
        "(columns, cells, balls, residuals, soft cells, needles, near ties)."
    )


def _default_on_gpu(found: dict[str, Any]) -> Iterator[str]:
    headings = [
        "`DPMorse`, 12 clusters, records x 8",
        "whole fit, s",
        "passes, s",
        "all else, s",
        "GB besides",
    ]
    rows = [
        [f"{fit['rows']:,}", *(f"{value:.2f}" for name, value in fit.items() if name != "rows")]
        for fit in found["fits"]
    ]
    yield _table(headings, rows)
    textbook, product = (
        " and ".join(f"{times:.1f}" for times in found[f"EM, {name}: times a whole fit"])
        for name in ("textbook", "product")
    )
    yield _prose(
        "As many rounds of expectation-maximisation without privacy, in torch and float64, take "
        f"{textbook} times as long as these whole private fits if densities are those of "
        f"`torch.distributions`, and {product} times if records are whitened by one product of matrices."
    )
