"""The clusters of a model as a table, as warnings and as plain data, with intervals if it has a profile."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmorse.cli.described_clusters import MOST_COLUMNS, NO_SIZES, described_part, described_rows
from dpmorse.cli.intervals import with_ends
from dpmorse.cli.messages import printable, say, warn
from dpmorse.cli.models import Model, column_names, label_name, schema_of
from dpmorse.cli.parts import Part, parts, profile_of
from dpmorse.clustering import MorseEstimator
from dpmorse.morse import Suggestion
from dpmorse.profiles import NO_INTERVALS, Caution, about_intervals

_SHOWN_COLUMNS = 5
"""Columns of the data in a printed table: more would not fit in a terminal. --json has all."""

_WIDTH = 18
"""Characters of a name, and of a cell without interval; longer names are cut."""

_MARKED = "  * see the warnings"
"""The line below a table with stars."""

_MOST_WARNINGS = 12
"""Warnings about numbers that are printed. --json has all."""


# -- printed ------------------------------------------------------------------------------------------


def say_clusters(model: Model, *, population: bool = False) -> None:
    """Print the table of the clusters, and below it what must be said about its numbers."""
    say(cluster_table(model, population=population))
    tell_cautions(model)


def tell_cautions(model: Model) -> None:
    """Print what must be said about the numbers of a model as warnings."""
    texts = [] if profile_of(model) is None else _one_a_cluster(model.cautions())
    for text in texts[:_MOST_WARNINGS]:
        warn(text)
    more = len(texts) - _MOST_WARNINGS
    if more > 0:
        warn(f"{more} more warning{'s' * (more > 1)} about numbers; `dpmorse show --json` has all.")


def _one_a_cluster(cautions: Sequence[Caution]) -> list[str]:
    """Return the sentences, but of each kind only the first about a cluster, and how many more there are."""
    alike: dict[tuple[Any, ...], list[Caution]] = {}
    for caution in cautions:
        about = caution.cluster if caution.cluster is not None else ("column", caution.column)
        alike.setdefault((caution.kind, about), []).append(caution)
    return [first.text + _and_of(len(others)) for first, *others in alike.values()]


def _and_of(n_more: int) -> str:
    return f" The same is true of {n_more} more of its columns." if n_more else ""


def caution_texts(model: Model) -> list[str]:
    """Return what must be said about the numbers of a model, a sentence each."""
    return [] if profile_of(model) is None else [caution.text for caution in model.cautions()]


def about_numbers(model: Model, *, population: bool = False) -> str:
    """Say what the intervals are about, or why there are none."""
    if profile_of(model) is not None:
        return about_intervals(population=population)
    return NO_INTERVALS if schema_of(model) is None else NO_SIZES


def suggestion(model: Model) -> Suggestion | None:
    """Return how sure the number of clusters is; None where the user gave it, or where there are none."""
    if isinstance(model, MorseEstimator) and model.n_clusters == "auto":
        return model.merge_tree_.suggestion
    return None


def cluster_table(model: Model, *, population: bool = False) -> str:
    """Return the clusters as a table of text, what its intervals are about, and how sure their number is."""
    described, names = parts(model, population=population), column_names(model)
    lines = _lines(model, described)
    below = [about_numbers(model, population=population)]
    number = suggestion(model)
    if number is not None:
        below.append(f"No number of clusters was given: {number.in_words}.")
    return "\n".join([_title(model, described, names), "", *lines, "", *below])


def _lines(model: Model, described: Sequence[Part]) -> list[str]:
    """Return the lines of the table, as much as the model has released."""
    schema = schema_of(model)
    if schema is not None:
        return _aligned(described_rows(model, schema, described))
    return _rows(model, described) if profile_of(model) is None else _rows_with_intervals(model, described)


def _title(model: Model, described: Sequence[Part], names: Sequence[str]) -> str:
    counted = _counted(len(described), label_name([], model))
    if isinstance(model, MorseEstimator):
        counted += f" of {_counted(model.mixture_.n_components, 'component')}"
    counted += f" in {_counted(len(names), 'column')}"
    profile, schema = profile_of(model), schema_of(model)
    most = _SHOWN_COLUMNS if schema is None else MOST_COLUMNS
    more = f" ({most} shown; --json has all)" if len(names) > most else ""
    if profile is None and schema is not None:
        return f"{counted}{more}, as released:"
    if profile is None:
        return f"{counted}{more}; share, mean ± standard deviation as released:"
    total = f"about {profile.counts.sum():,.0f} records"
    return f"{counted}{more}, {total}:"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
        share = with_ends(100 * part.share, *(100 * end for end in ends["share"]))
        first = (f"{c}{_mark(notes, 'tail', c)}", share + _mark(notes, "size", c))
        for j, name in enumerate(column_names(model)[:_SHOWN_COLUMNS]):
            mean, spread = (
                with_ends(value[j], *(end[j] for end in ends[key]))
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


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 3]}..."


# -- plain data ---------------------------------------------------------------------------------------


def clusters_to_dict(model: Model, *, population: bool = False) -> dict[str, Any]:
    """Return the clusters, how sure their number is, what intervals are about, and warnings, for --json."""
    kind, described = label_name([], model), parts(model, population=population)
    number = suggestion(model)
    return {
        f"{kind}s": [{kind: c, **_part_to_dict(model, part)} for c, part in enumerate(described)],
        "nearly_as_good": None if number is None else list(number.nearly),
        "intervals_about": about_numbers(model, population=population),
        "warnings": caution_texts(model),
    }


def _part_to_dict(model: Model, part: Part) -> dict[str, Any]:
    schema, names = schema_of(model), column_names(model)
    if schema is not None:
        return described_part(schema, part)
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
