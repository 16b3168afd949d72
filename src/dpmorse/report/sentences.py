"""A cluster in words: a sentence, and for each column that makes it two numbers: its own, and the others'."""

import math
from collections.abc import Callable, Sequence

from dpmorse.profiles import Interval
from dpmorse.report.traits import About, Trait

_SMALL = 0.0095
"""Smaller parts are written in tenths of a percent."""

_NEXT_TO_NOTHING = 0.0005
"""Parts below it would be written as 0.0."""

OF_ALL_RECORDS = "all records: there is nothing to compare them with."
"""The sentence about the only cluster there is."""

_MOST_PHRASES = 3
"""Most columns in a sentence; the others are ranked beside it."""

_CLEAR = 0.5
"""Differences, in standard deviations, that are worth a word."""

_SURE = 0.1
"""Part of a share that half its interval may be without being said."""

_PARTS_OF_A_HALF = 3
"""Units of the last decimal between quartiles, at least."""

_MOSTLY, _HARDLY = 0.5, 0.02
"""Parts of a cluster from which on it has a level mostly, and up to which it hardly ever has it."""


def compared(trait: Trait) -> str:
    """Write the number of the cluster and that of the others."""
    if trait.about is About.MEDIAN:
        own, others = (trait.column.in_words(one, trait.decimals) for one in (trait.own, trait.others))
        return f"median {own}, others {others}"
    what = trait.column.levels[trait.level] if trait.about is About.LEVEL else "missing"
    return f"{what} {share_in_words(trait.own)}, others {share_in_words(trait.others)}"


def sentence(traits: Sequence[Trait], share: Interval, *, supported: bool = True) -> str:
    """Describe a cluster: "38 % of the records: half of them are between 52 and 67 years old".

    Parameters
    ----------
    traits : sequence of Trait
        Where it differs from the other records, strongest first.
    share : Interval
        Its part of all records.
    supported : bool
        Whether it is larger than its noise.
    """
    if not supported:
        return f"{size_in_words(share)}: may be noise, too small to be told from it."
    return f"{size_in_words(share)}: {described(traits)}."


def described(traits: Sequence[Trait]) -> str:
    """Say how a cluster differs, in a part of a sentence."""
    if not traits:
        return "no column stands out from the noise"
    worth = [trait for trait in traits if abs(trait.difference) >= _CLEAR]
    if not worth:
        return f"much like the other records; the clearest difference: {_phrase(traits[0])}"
    phrases = [_phrase(trait) for trait in worth[:_MOST_PHRASES]]
    more = len(worth) - len(phrases)
    rest = [f"and {more} more column{'s differ' if more > 1 else ' differs'}"] if more else []
    return "; ".join([*phrases, *rest])


def _phrase(trait: Trait) -> str:
    called = trait.column.called
    if trait.about is About.MISSING:
        often = "more often" if trait.difference > 0 else "less often"
        return f"{called} {often} missing ({_against(trait, share_in_words)})"
    if trait.about is About.LEVEL:
        if trait.difference > 0:
            often = "mostly" if trait.own >= _MOSTLY else "more often"
        else:
            often = "hardly ever" if trait.own <= _HARDLY else "less often"
        level = trait.column.levels[trait.level]
        return f"{called} {often} {level} ({_against(trait, share_in_words)})"
    return f"{_typical(trait)} (others: {_middle(trait)})"


def _against(trait: Trait, text: Callable[[float], str]) -> str:
    return f"{text(trait.own)}, others {text(trait.others)}"


def _middle(trait: Trait) -> str:
    """Write the median of the others, in full where it is a day or a rank."""
    others = trait.column.in_words(trait.others, _decimals(trait))
    return f"about {others}" if trait.column.kind == "number" else others


def _typical(trait: Trait) -> str:
    """Say between which values half of a cluster lies; if that is not known, what its median is."""
    column, decimals = trait.column, _decimals(trait)
    unit = f" {column.unit}" if column.unit else ""
    is_age = column.called.lower() == "age" and column.unit == "years"
    if trait.half is None:
        own = column.in_words(trait.own, decimals)
        return f"in the middle {own} years old" if is_age else f"{column.called} in the middle {own}{unit}"
    low, high = (column.in_words(end, decimals) for end in trait.half)
    between = f"between {low} and {high}" if low != high else low
    if is_age:
        return f"half of them are {between} years old"
    if column.kind != "number":
        return f"for half of them {column.called} is {between}"
    return f"half of them have {column.called} {between}{unit}"


def _decimals(trait: Trait) -> int:
    """Return as many decimals as tell the quartiles apart: readers of a sentence need no more."""
    apart = 0.0 if trait.half is None else trait.half[1] - trait.half[0]
    if not apart > 0:
        return trait.decimals
    return min(trait.decimals, max(0, -math.floor(math.log10(apart / _PARTS_OF_A_HALF))))


def size_in_words(share: Interval) -> str:
    """Write a share in whole percents, in tenths where it is small, and how sure it is where it is not."""
    value, low, high = share
    half = (high - low) / 2
    said = f"{share_in_words(value)} of the records"
    if not half > _SURE * value:
        return said
    return f"{said}, give or take {share_in_words(half)}"


def share_in_words(part: float) -> str:
    """Write a part of all, the same wherever it is read: in whole percents, in tenths where it is small."""
    decimals = 0 if part >= _SMALL or part < _NEXT_TO_NOTHING else 1
    return f"{100 * part:.{decimals}f}\N{NO-BREAK SPACE}%"
