"""A cluster in one sentence of plain words: what it is like, and how large it is."""

import math
from collections.abc import Sequence

from dpmorse.report.text import in_percent
from dpmorse.report.traits import About, Trait, percent

OF_ALL_RECORDS = "All records: there is nothing to compare them with."
"""The sentence about the only cluster there is."""

_MOST_PHRASES = 4
"""Most columns in a sentence; the others are ranked beside it."""

_CLEAR, _STRONG = 0.5, 1.5
"""Differences, in standard deviations, that are worth a word, and that are worth "very"."""

_MOST_DECIMALS = 2
"""Most decimals of a percentage."""

_MOSTLY, _HARDLY = 0.5, 0.02
"""Parts of a cluster from which on it has a level mostly, and up to which it hardly ever has it."""


def sentence(traits: Sequence[Trait], share: tuple[float, float, float], *, supported: bool = True) -> str:
    """Describe a cluster.

    Parameters
    ----------
    traits : sequence of Trait
        Where it differs from the other records, strongest first.
    share : tuple of float
        Its part of all records, and the ends of the interval.
    supported : bool
        Whether it is larger than its noise.
    """
    if not supported:
        return f"May be noise: too small to be told from it ({_size(share)})."
    words = described(traits)
    return f"{words[:1].upper()}{words[1:]}; {_size(share)}."


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
        return f"{trait.column.name} {often} missing ({percent(trait.own)})"
    if trait.about is About.LEVEL:
        level = trait.column.levels[trait.level]
        return f"{trait.column.name} {_how_often(trait)} {level} ({percent(trait.own)})"
    very = "very " * (abs(trait.difference) >= _STRONG)
    value = trait.column.in_words(trait.own, trait.decimals)
    if trait.column.kind == "date":
        return f"{trait.column.name} {very}{'late' if trait.difference > 0 else 'early'} ({value})"
    return f"{very}{'high' if trait.difference > 0 else 'low'} {trait.column.name} ({value})"


def _how_often(trait: Trait) -> str:
    if trait.difference > 0:
        return "mostly" if trait.own >= _MOSTLY else "more often"
    return "hardly ever" if trait.own <= _HARDLY else "less often"


def _size(share: tuple[float, float, float]) -> str:
    """Write a share and half the width of its interval, to one digit of that."""
    value, low, high = share
    half = (high - low) / 2
    if not half > 0:
        return f"{in_percent(value)} of the records"
    decimals = min(max(0, -math.floor(math.log10(100 * half))), _MOST_DECIMALS)
    give_or_take = max(half, 10.0 ** -(decimals + 2))
    return f"{in_percent(value, decimals)} of the records, give or take {in_percent(give_or_take, decimals)}"
