"""The number of clusters that a tree suggests, and the numbers that are nearly as good."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

# Smallest length of a run of numbers that is written by its ends.
_LONG = 3


@dataclass(frozen=True)
class Suggestion:
    """A number of clusters, and the numbers that are nearly as good.

    Attributes
    ----------
    n_clusters : int
        The suggested number.
    nearly : tuple of int
        This number and those that are nearly as good, in order.
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
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) >= _LONG else map(str, run)
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


class Suggests(Protocol):
    """Anything that suggests a number of clusters."""

    @property
    def suggestion(self) -> Suggestion:
        """The suggested number of clusters, computed on demand."""
        ...
