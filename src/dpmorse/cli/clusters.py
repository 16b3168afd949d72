"""The clusters of a model as a table, as warnings and as plain data, with intervals if it has a profile."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.cli.messages import printable, say, warn
from dpmorse.cli.models import Model, column_names, label_name
from dpmorse.clustering import MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import Suggestion
from dpmorse.profiles import NO_INTERVALS, Caution, Profile, about_intervals, shown_decimals
from dpmorse.typing import FloatArray, IntArray

_SHOWN_COLUMNS = 5
"""Columns of the data in a printed table: more would not fit in a terminal. --json has all."""

_WIDTH = 18
"""Characters of a name, and of a cell without interval; longer names are cut."""

_MARKED = "  * see the warnings"
"""The line below a table with stars."""

_MOST_WARNINGS = 12
"""Warnings about numbers that are printed. --json has all."""


@dataclass(frozen=True)
class Part:
    """A cluster, or a component of a model without clusters; ends of intervals where there is a profile."""

    share: float
    """Of all records."""

    mean: FloatArray
    deviation: FloatArray
    records: float | None = None
    ends: Mapping[str, Any] | None = None
    """By "share", "mean" and "standard_deviation": the low and the high end."""


def parts(model: Model, *, population: bool = False) -> list[Part]:
    """Describe the clusters of a model, heaviest first: from its profile, else from the mixture alone."""
    if _profile(model) is not None:
        return list(_measured(model, population=population))
    if population:
        raise InvalidParameterError("--population needs intervals, and this model has no profile.")
    return list(_moments(model, _labels(model)))


def _profile(model: Model) -> Profile | None:
    return getattr(getattr(model, "base_", model), "profile_", None)


def _measured(model: Model, *, population: bool) -> Iterator[Part]:
    table = model.table(population=population)
    estimates = {"share": table.share, "mean": table.centre, "standard_deviation": table.spread}
    for c in range(len(table.counts)):
        ends = {name: (of.low[c], of.high[c]) for name, of in estimates.items()}
        values = (float(table.share.value[c]), table.centre.value[c], table.spread.value[c])
        yield Part(*values, float(table.counts[c]), ends)


def _labels(model: Model) -> IntArray:
    if isinstance(model, MorseEstimator):
        return model.component_labels_
    return np.arange(model.mixture_.n_components)


def _moments(model: Model, labels: IntArray) -> Iterator[Part]:
    mixture = model.mixture_
    for label in range(int(labels.max()) + 1):
        mine = labels == label
        share = float(mixture.weights[mine].sum())
        weights = mixture.weights[mine] / share if share > 0 else np.full(mine.sum(), 1 / max(mine.sum(), 1))
        # Law of total variance: the variance inside the components plus that between their means.
        mean = weights @ mixture.means[mine]
        inside = weights @ np.diagonal(mixture.covariances[mine], axis1=1, axis2=2)
        between = weights @ (mixture.means[mine] - mean) ** 2
        yield Part(share, mean, np.sqrt(inside + between))


# -- printed ------------------------------------------------------------------------------------------


def say_clusters(model: Model, *, population: bool = False) -> None:
    """Print the table of the clusters, and below it what must be said about its numbers."""
    say(cluster_table(model, population=population))
    tell_cautions(model)


def tell_cautions(model: Model) -> None:
    """Print what must be said about the numbers of a model as warnings."""
    texts = caution_texts(model)
    for text in texts[:_MOST_WARNINGS]:
        warn(text)
    if len(texts) > _MOST_WARNINGS:
        warn(f"{len(texts) - _MOST_WARNINGS} more warnings about numbers; `dpmorse show --json` has all.")


def caution_texts(model: Model) -> list[str]:
    """Return what must be said about the numbers of a model, a sentence each."""
    return [] if _profile(model) is None else [caution.text for caution in model.cautions()]


def about_numbers(model: Model, *, population: bool = False) -> str:
    """Say what the intervals are about, or why there are none."""
    return NO_INTERVALS if _profile(model) is None else about_intervals(population=population)


def suggestion(model: Model) -> Suggestion | None:
    """Return how sure the number of clusters is; None where the user gave it, or where there are none."""
    if isinstance(model, MorseEstimator) and model.n_clusters == "auto":
        return model.merge_tree_.suggestion
    return None


def cluster_table(model: Model, *, population: bool = False) -> str:
    """Return the clusters as a table of text, what its intervals are about, and how sure their number is."""
    described, names = parts(model, population=population), column_names(model)
    lines = _rows(model, described) if _profile(model) is None else _rows_with_intervals(model, described)
    below = [about_numbers(model, population=population)]
    number = suggestion(model)
    if number is not None:
        below.append(f"No number of clusters was given: {number.in_words}.")
    return "\n".join([_title(model, described, names), "", *lines, "", *below])


def _title(model: Model, described: Sequence[Part], names: Sequence[str]) -> str:
    counted = f"{len(described)} {label_name([], model)}s"
    if isinstance(model, MorseEstimator):
        counted += f" of {model.mixture_.n_components} components"
    more = f" ({_SHOWN_COLUMNS} shown; --json has all)" if len(names) > _SHOWN_COLUMNS else ""
    profile = _profile(model)
    if profile is None:
        return f"{counted} in {len(names)} columns{more}; share, mean ± standard deviation as released:"
    total = f"about {profile.counts.sum():,.0f} records"
    return f"{counted} in {len(names)} columns{more}, {total}:"


def _rows(model: Model, described: Sequence[Part]) -> list[str]:
    """Return one line a cluster: its share, and mean ± standard deviation of the first columns."""
    shown = [_short(name) for name in column_names(model)[:_SHOWN_COLUMNS]]
    header = f"{label_name([], model):>9}{'share':>9}" + "".join(f"  {name:>{_WIDTH}}" for name in shown)
    return [
        header,
        *(
            f"{number:>9}{part.share:>9.1%}"
            + "".join(f"  {cell:>{_WIDTH}}" for cell in _cells(part, len(shown)))
            for number, part in enumerate(described)
        ),
    ]


def _cells(part: Part, n_shown: int) -> list[str]:
    pairs = zip(part.mean[:n_shown], part.deviation[:n_shown], strict=True)
    return [f"{mean:.4g} ± {deviation:.2g}" for mean, deviation in pairs]


def _rows_with_intervals(model: Model, described: Sequence[Part]) -> list[str]:
    """Return one line for each cluster and column; the share stands in the first line of its cluster."""
    rows = [(label_name([], model), "share, %", "column", "centre", "spread")]
    notes = model.cautions()
    for c, part in enumerate(described):
        ends = part.ends or {}
        share = _with_ends(100 * part.share, *(100 * end for end in ends["share"]))
        first = (f"{c}{_mark(notes, 'tail', c)}", share + _mark(notes, "size", c))
        for j, name in enumerate(column_names(model)[:_SHOWN_COLUMNS]):
            mean, spread = (
                _with_ends(value[j], *(end[j] for end in ends[key]))
                for key, value in (("mean", part.mean), ("standard_deviation", part.deviation))
            )
            column = _short(name) + _mark(notes, "bounds", None, j)
            rows.append(
                (*(first if j == 0 else ("", "")), column, mean, spread + _mark(notes, "spread", c, j))
            )
    lines = _aligned(rows)
    return [*lines, *([_MARKED] if any("*" in line for line in lines) else [])]


def _mark(notes: Sequence[Caution], kind: str, cluster: int | None, column: int | None = None) -> str:
    """Return a star for what a warning is about."""
    found = any((note.kind, note.cluster, note.column) == (kind, cluster, column) for note in notes)
    return "*" if found else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line.rstrip()}" for line in padded]


def _with_ends(value: float, low: float, high: float) -> str:
    """Write a number and its interval to two digits of half the interval's width."""
    decimals = shown_decimals(low, high)
    if max(abs(low), abs(high)) >= 1e7 or decimals > 6:
        return f"{value:.5g} [{low:.5g}, {high:.5g}]"
    value, low, high = (round(number, decimals) + 0.0 for number in (value, low, high))
    shown = max(decimals, 0)
    return f"{value:.{shown}f} [{low:.{shown}f}, {high:.{shown}f}]"


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 3]}..."


# -- plain data ---------------------------------------------------------------------------------------


def clusters_to_dict(model: Model, *, population: bool = False) -> dict[str, Any]:
    """Return the clusters, how sure their number is, what intervals are about, and warnings, for --json."""
    kind, described = label_name([], model), parts(model, population=population)
    names, number = column_names(model), suggestion(model)
    return {
        f"{kind}s": [{kind: number, **_part_to_dict(part, names)} for number, part in enumerate(described)],
        "nearly_as_good": None if number is None else list(number.nearly),
        "intervals_about": about_numbers(model, population=population),
        "warnings": caution_texts(model),
    }


def _part_to_dict(part: Part, names: Sequence[str]) -> dict[str, Any]:
    intervals = dict.fromkeys(("share_interval", "mean_interval", "standard_deviation_interval"))
    if part.ends is not None:
        share, *of_columns = part.ends.values()
        pairs = [dict(zip(names, np.transpose(ends).tolist(), strict=True)) for ends in of_columns]
        intervals = dict(zip(intervals, [np.array(share).tolist(), *pairs], strict=True))
    return {
        "share": part.share,
        "mean": dict(zip(names, part.mean.tolist(), strict=True)),
        "standard_deviation": dict(zip(names, part.deviation.tolist(), strict=True)),
        "records": part.records,
        **intervals,
    }
