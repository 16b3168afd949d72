"""A cluster in words: a sentence, and for each column that makes it two numbers: its own, and the others'."""

import math
from collections.abc import Sequence

from dpmorse.profiles import Interval
from dpmorse.report.traits import About, Trait

_SMALL = 0.0095
"""Smaller parts are written in tenths of a percent."""

OF_ALL_RECORDS = "All records: there is nothing to compare them with."
"""The sentence about the only cluster there is."""

_MOST_PHRASES = 4
"""Most columns in a sentence; the others are ranked beside it."""

_CLEAR, _STRONG = 0.5, 1.5
"""Differences, in standard deviations, that are worth a word, and that are worth "very"."""

_MOST_DECIMALS_OF_SIZE = 2
"""Most decimals of a share of all records, in percent."""

_MOSTLY, _HARDLY = 0.5, 0.02
"""Parts of a cluster from which on it has a level mostly, and up to which it hardly ever has it."""


def compared(trait: Trait) -> str:
    """Write the number of the cluster and that of the others."""
    if trait.about is About.MEDIAN:
        own, others = (trait.column.in_words(one, trait.decimals) for one in (trait.own, trait.others))
        return f"median {own}, others {others}"
    what = trait.column.levels[trait.level] if trait.about is About.LEVEL else "missing"
    return f"{what} {_in_percent(trait.own)}, others {_in_percent(trait.others)}"


def sentence(traits: Sequence[Trait], share: Interval, *, supported: bool = True) -> str:
    """Describe a cluster.

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
        return f"May be noise: too small to be told from it ({size_in_words(share)})."
    words = described(traits)
    return f"{words[:1].upper()}{words[1:]}; {size_in_words(share)}."


def described(traits: Sequence[Trait]) -> str:
    """Say how a cluster differs, in a part of a sentence."""
    if not traits:
        return "no column stands out from the noise"
    worth = [trait for trait in traits if abs(trait.difference) >= _CLEAR]
    if not worth:
        return f"close to the other records; slightly {_phrase(traits[0])}"
    phrases = [_phrase(trait) for trait in worth[:_MOST_PHRASES]]
    more = len(worth) - len(phrases)
    if more:
        return f"{', '.join(phrases)}, and {more} more column{'s' * (more > 1)}"
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _phrase(trait: Trait) -> str:
    if trait.about is About.MISSING:
        often = "more often" if trait.difference > 0 else "less often"
        return f"{trait.column.name} {often} missing ({_in_percent(trait.own)})"
    if trait.about is About.LEVEL:
        if trait.difference > 0:
            often = "mostly" if trait.own >= _MOSTLY else "more often"
        else:
            often = "hardly ever" if trait.own <= _HARDLY else "less often"
        level = trait.column.levels[trait.level]
        return f"{trait.column.name} {often} {level} ({_in_percent(trait.own)})"
    very = "very " * (abs(trait.difference) >= _STRONG)
    if trait.column.kind == "date":
        return f"{trait.column.name} {very}{'late' if trait.difference > 0 else 'early'} ({_typical(trait)})"
    return f"{very}{'high' if trait.difference > 0 else 'low'} {trait.column.name} ({_typical(trait)})"


def _typical(trait: Trait) -> str:
    """Say between which values half of a cluster lies; if that is not known, what its median is."""
    if trait.half is None:
        return f"median {trait.column.in_words(trait.own, trait.decimals)}"
    low, high = (trait.column.in_words(end, trait.decimals) for end in trait.half)
    return f"half of them {low} to {high}" if low != high else f"half of them {low}"


def size_in_words(share: Interval) -> str:
    """Write a share, and half the width of its interval if it has one, to one digit of that."""
    value, low, high = share
    half = (high - low) / 2
    if not half > 0:
        return f"{_in_percent(value, 0)} of the records"
    decimals = min(max(0, -math.floor(math.log10(100 * half))), _MOST_DECIMALS_OF_SIZE)
    give_or_take = max(half, 10.0 ** -(decimals + 2))
    return (
        f"{_in_percent(value, decimals)} of the records, give or take {_in_percent(give_or_take, decimals)}"
    )


def _in_percent(part: float, decimals: int | None = None) -> str:
    """Write a part of all on one line: in whole percents, or in tenths where it is small."""
    if decimals is None:
        decimals = 0 if part >= _SMALL or part == 0 else 1
    return f"{100 * part:.{decimals}f}\N{NO-BREAK SPACE}%"
