"""What a reader of a table must be told, beside the number that it is about. All of it costs nothing."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpmorse.profiles.account import Account
from dpmorse.profiles.profile import SUPPORT, Profile
from dpmorse.profiles.table import ClusterTable
from dpmorse.schema import OTHER, Schema


@dataclass(frozen=True)
class Caution:
    """Something to be said about a cluster, a column of it, or a column of all records.

    Attributes
    ----------
    kind : str
        "budget", "size", "unknown", "bounds" or, for described columns, "missing" and "other".
    cluster : int or None
        The cluster; None for all records.
    column : int or None
        Position of the column; None for the whole cluster.
    text : str
        A sentence.
    """

    kind: str
    cluster: int | None
    column: int | None
    text: str


def cautions_of(
    table: ClusterTable, profile: Profile, schema: Schema, called: str = "cluster {}"
) -> list[Caution]:
    """Return what must be said about a table: first about columns, then in the order of clusters.

    ``called`` is how the sentences call a cluster; braces stand for its number.
    """
    found = cautions_of_columns(profile, schema)
    for c in range(len(table.counts)):
        cluster = called.format(c)
        if not table.supported[c]:
            found.append(Caution("size", c, None, _SIZE.format(cluster=cluster)))
            continue
        hidden = np.flatnonzero(np.isnan(table.median.value[c]) if table.quantiles else [])
        if hidden.size:
            names = [repr(schema.number_names[j]) for j in hidden[:_MOST_NAMES]]
            more = [f"{hidden.size - _MOST_NAMES} more"] if hidden.size > _MOST_NAMES else []
            text = _UNKNOWN.format(cluster=cluster, names=", ".join([*names, *more]))
            found.append(Caution("unknown", c, None, text))
    return found


def cautions_of_columns(profile: Profile, schema: Schema) -> list[Caution]:
    """Return what must be said about columns of all records.

    Values may lie outside of the bounds, may be missing, or may be others than were stated. What is said
    stands beyond what noise does to any of the columns (``beyond_noise``).
    """
    return [*_of_bounds(profile, schema), *_of_missing(profile, schema), *_of_others(profile, schema)]


def _of_bounds(profile: Profile, schema: Schema) -> Iterator[Caution]:
    least = beyond_noise(profile.outside.size) * profile.outside_stddev
    total = max(float(Account.of(profile).sizes.sum()), 1.0)
    for j, side in zip(*np.nonzero(profile.outside > least), strict=True):
        place = schema.number_places[j]
        part = min(float(profile.outside[j, side]) / total, 1.0)
        words = ("below its lower", "above its upper")[side]
        text = _BOUNDS.format(name=schema.names[place], part=in_percent(part), side=words)
        yield Caution("bounds", None, place, text)


def _of_missing(profile: Profile, schema: Schema) -> Iterator[Caution]:
    places = [*schema.number_places, *schema.category_places]
    for j, column in enumerate(profile.columns[: profile.n_numbers]):
        if column.may_miss and _stands_above(profile, [column.part.stop - 1], _NEARLY_ALL):
            name = schema.names[places[j]]
            yield Caution("missing", None, places[j], _MISSING.format(name=name))


def _of_others(profile: Profile, schema: Schema) -> Iterator[Caution]:
    columns = profile.columns[profile.n_numbers :]
    for own, place, (name, category) in zip(columns, schema.category_places, schema.categories, strict=True):
        other = category.levels.index(OTHER)
        if other >= len(category.listed):  # it is no value that was listed
            entry = own.part.start + other
            if _stands_above(profile, [entry], _MANY):
                account = Account.of(profile)
                part = float(account.entries[:, entry].sum() / account.sizes.sum())
                yield Caution("other", None, place, _OTHER.format(name=name, part=in_percent(part)))


def _stands_above(profile: Profile, entries: list[int], part: float) -> bool:
    """Say whether more than this part of all records are in some entries, beyond noise."""
    found = profile.unbiased[:, entries].sum() - part * profile.counts.sum()
    variance = len(entries) * profile.n_components * profile.entry_stddev**2
    variance += part**2 * float(np.square(profile.count_stddev).sum())
    return bool(found > beyond_noise(profile.n_columns) * math.sqrt(variance))


def beyond_noise(n_statements: int) -> float:
    """Return how many standard deviations of noise a statement has to stand beyond it, one of so many."""
    return max(SUPPORT, NormalDist().inv_cdf(1 - _FALSE / max(n_statements, 1)))


_FALSE = 0.002
"""Part of the fits in which noise alone may cause one of the statements of a kind."""


def in_percent(part: float) -> str:
    """Write a part of all for a sentence."""
    return f"{part:.0%}" if part >= 0.02 else f"{part:.1%}"


def cautions_of_budget(table: ClusterTable, called: str = "cluster {}") -> list[Caution]:
    """Say that a table has more clusters than can be told from noise."""
    seen, asked = int(table.supported.sum()), len(table.supported)
    text = _BUDGET.format(seen=seen, asked=asked, clusters=called.format("").strip() + "s")
    return [] if seen == asked else [Caution("budget", None, None, text)]


def in_one_text(cautions: Sequence[Caution], at_most: int | None = None) -> str:
    """Return the sentences as one text; beyond ``at_most`` the others are counted."""
    said = [f"{caution.text[:1].upper()}{caution.text[1:]}" for caution in cautions[:at_most]]
    more = len(cautions) - len(said)
    return " ".join([*said, *([f"And {more} more: see cautions()."] if more else [])])


_MANY = 0.2
"""Part of the records whose value must be "other" for something to be said."""

_NEARLY_ALL = 0.8
"""Part of the values of a number that must be missing, at least, for something to be said."""

_BUDGET = (
    "{seen} of {asked} {clusters} stand out from the noise: with this many records and this epsilon the "
    "others cannot be told from noise. Ask for fewer, or use more records or a larger epsilon."
)
_SIZE = (
    "{cluster} is smaller than three standard deviations of its size's noise: it may be noise, and nothing "
    "else is known of it."
)
_UNKNOWN = "in {cluster} the medians of {names} are not known: noise hides them."
_MOST_NAMES = 3
"""Names of columns in a sentence."""
_BOUNDS = (
    "about {part} of the values of column {name!r} lie {side} bound and were moved to it: the bounds cut "
    "this column. State wider ones, from public knowledge."
)
_MISSING = (
    "nearly all values of column {name!r} are missing, or could not be read as its description says. Look "
    "at how they are written, such as with decimal commas."
)
_OTHER = (
    "many values of column {name!r} are not listed: about {part} of the records have 'other'. List more of "
    "the values that can occur, from public knowledge."
)
