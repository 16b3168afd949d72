"""How many clusters a tree suggests, and how sure it is of that."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

# From so many numbers on a run is written by its ends.
_LONG = 3


@dataclass(frozen=True)
class Suggestion:
    """How many clusters there are, and which numbers are nearly as good.

    Attributes
    ----------
    n_clusters : int
        The number that is suggested.
    nearly : tuple of int
        It, and the numbers that are nearly as good, in order.
    """

    n_clusters: int
    nearly: tuple[int, ...]

    @property
    def in_words(self) -> str:
        """The suggestion as a part of a sentence."""
        number = f"{self.n_clusters} cluster{'s' if self.n_clusters > 1 else ''} suggested"
        others = [k for k in self.nearly if k != self.n_clusters]
        if not others:
            return number
        return f"{number}; {_listed(others)} {'are' if len(others) > 1 else 'is'} nearly as good"


def _listed(numbers: list[int]) -> str:
    """Write numbers in order as "2, 5 to 8 and 10"."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    parts = [part for run in runs for part in _run(run.tolist())]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _run(numbers: list[int]) -> list[str]:
    """Write consecutive numbers, a long run by its ends."""
    if len(numbers) < _LONG:
        return [str(number) for number in numbers]
    return [f"{numbers[0]} to {numbers[-1]}"]


class Suggests(Protocol):
    """What knows how many clusters there are."""

    @property
    def suggestion(self) -> Suggestion:
        """How many clusters there are; worked out when it is asked for."""
        ...
