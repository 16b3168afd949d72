"""A model in sentences: how many groups, what sets each apart, what is promised, and what to beware of.

The page, notebooks and the command line say the same words, made here.
"""

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse import _validate
from dpmorse.profiles import Account, Caution, ClusterView, Profile, cautions_of, cautions_of_budget
from dpmorse.report.columns import Measured
from dpmorse.report.released import Promise, ReleasedModel, released
from dpmorse.report.sentences import OF_ALL_RECORDS, sentence, size_in_words
from dpmorse.report.text import plain
from dpmorse.report.traits import Traits
from dpmorse.typing import FloatArray

_NUMBERS = (
    "No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
)  # fmt: skip
"""Numbers that a headline writes as words."""

_WEAK = 1000.0
"""Factor of the odds from which on a promise says little."""

_ORDER = ("budget", "size", "bounds", "missing", "other", "unknown")
"""Kinds of cautions, those first that change most of what is read."""

_MOST_SAID = 3
"""Cautions that are printed; the others are counted."""

_CALLED = "group {}"
"""What sentences call a cluster."""


@dataclass(frozen=True)
class Description:
    """A model in sentences; printed, they are a bulletin.

    Attributes
    ----------
    headline : str
        How many groups there are.
    groups : tuple of str
        One sentence for each group, in the order of the labels of ``predict``.
    privacy : str
        What is promised.
    cautions : tuple of str
        What a reader must be told, the most important first.
    """

    headline: str
    groups: tuple[str, ...]
    privacy: str
    cautions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.headline, "", *self.groups, "", self.privacy, *self._cautions()])

    def _repr_html_(self) -> str:
        """Show the sentences in a notebook; names in them are escaped."""
        groups = "".join(f"<p>{html.escape(group)}</p>" for group in self.groups)
        below = "".join(f"<p>{html.escape(line)}</p>" for line in (self.privacy, *self._cautions()))
        return f"<div><h3>{html.escape(self.headline)}</h3>{groups}{below}</div>"

    def _cautions(self) -> Iterator[str]:
        """Count the cautions, and say the first of them."""
        if not self.cautions:
            return
        n, shown = len(self.cautions), self.cautions[:_MOST_SAID]
        more = " The first of them:" if n > len(shown) else ""
        yield f"{n} caution{'s' * (n > 1)}.{more}"
        yield from (f"- {caution}" for caution in shown)


def describe(model: Any, n_clusters: int | None = None) -> Description:
    """Say in sentences what a fitted or loaded model has found. Costs nothing.

    Parameters
    ----------
    model : estimator
        As for ``render``.
    n_clusters : int or None, default=None
        Number of groups; None takes that of ``predict``.
    """
    parts = released(model)
    k = parts.n_clusters if n_clusters is None else _validate.positive_int(n_clusters=n_clusters)
    return description(parts, parts.members(k))


def description(model: ReleasedModel, members: FloatArray) -> Description:
    """Describe groups of components: rows of ``members`` have 1 where a component belongs."""
    privacy = privacy_in_words(model.promise)
    if model.profile is None:
        view = ClusterView.of_groups(model.density, members, model.schema)
        said = [f"{size_in_words(view.share.at(i))}." for i in range(len(members))]
        return Description(headline(len(members)), _numbered(said), privacy)
    places = np.arange(len(model.columns))
    traits = Traits(Measured(model.profile, model.columns, places, model.schema), members)
    table = traits.table
    said = [said_of(traits, i, is_whole=bool(members[i].all())) for i in range(len(members))]
    cautions = [
        *cautions_of_budget(table, _CALLED),
        *cautions_of(table, model.profile, model.schema, _CALLED),
    ]
    n_noise = int((~table.supported).sum())
    return Description(
        headline(len(members), n_noise, model.profile), _numbered(said), privacy, in_order(cautions)
    )


def _numbered(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"Group {i}, {text}" for i, text in enumerate(said))


def said_of(traits: Traits, group: int, *, is_whole: bool) -> str:
    """Say what a group is, without its number."""
    if is_whole:
        return OF_ALL_RECORDS
    share, supported = traits.table.share.at(group), bool(traits.table.supported[group])
    return sentence(traits.of(group), share, supported=supported)


def in_order(cautions: Sequence[Caution]) -> tuple[str, ...]:
    """Return what cautions say, the most important first."""
    ranked = sorted(cautions, key=lambda caution: _ORDER.index(caution.kind))
    return tuple(plain(f"{caution.text[:1].upper()}{caution.text[1:]}", 600) for caution in ranked)


def headline(n_groups: int, n_noise: int = 0, profile: Profile | None = None) -> str:
    """Say how many groups there are, among how many records, and how many of them may be noise."""
    records = "the records" if profile is None else _records(profile)
    if n_groups == n_noise:
        return f"No group stands out from the noise among {records}"
    if n_groups == 1:
        return f"One group: all of {records}"
    doubt = f", {_in_words(n_noise).lower()} of which may be noise" if n_noise else ""
    return f"{_in_words(n_groups)} groups among {records}{doubt}"


def _records(profile: Profile) -> str:
    """Write how many records there are: to two digits, unless that is public."""
    if profile.n_records is not None:
        return f"{profile.n_records:,.0f} records"
    total = max(float(Account.of(profile).sizes.sum()), 1.0)
    return f"about {round(total, 1 - math.floor(math.log10(total))):,.0f} records"


def _in_words(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def privacy_in_words(promise: Promise) -> str:
    """Say in one sentence what is promised; that nothing is promised, where the noise came from a seed."""
    if not promise.secure:
        return "Not secure: this was made for a test, with noise that can be made again, and protects nobody."
    unit = promise.unit.split(",")[0].removeprefix("one ").replace("row", "record")
    if promise.epsilon > math.log(_WEAK):
        return (
            f"Noise was added to protect every single {unit}, but so little that it protects hardly at all."
        )
    factor = math.exp(promise.epsilon)
    digits = 1 - math.floor(math.log10(factor))
    odds = math.ceil(factor * 10**digits) / 10**digits
    chance = f", but for a chance of one in {math.floor(1 / promise.delta):,}" if promise.delta else ""
    return (
        f"Noise was added to protect every single {plain(unit)}: whatever is guessed about one, what is "
        f"published here changes the odds by a factor of at most {odds:g}{chance}."
    )
