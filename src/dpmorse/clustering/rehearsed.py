"""What a fitted model knows of its rehearsals, which are made when somebody first asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from dpmorse import _plain_data
from dpmorse.bases import Refits
from dpmorse.clustering.rehearsal import MOST_REHEARSALS, Refit, Rehearsal
from dpmorse.clustering.trees import Trees
from dpmorse.exceptions import ModelFormatError
from dpmorse.morse import MergeTree, Suggestion
from dpmorse.profiles import Again
from dpmorse.typing import IntArray


@dataclass(frozen=True)
class SuggestedNumber:
    """How many clusters "auto" suggests for a release, and how many rehearsals say the same.

    Attributes
    ----------
    n_clusters : int
        The suggested number.
    nearly : tuple of int
        This number and those that are nearly as good.
    rehearsed : tuple of int
        The number that each rehearsal suggests; empty where nothing is known of rehearsals.
    text : str
        All of it in words, also by ``str``.
    """

    n_clusters: int
    nearly: tuple[int, ...]
    rehearsed: tuple[int, ...]
    text: str

    @classmethod
    def of(cls, suggestion: Suggestion, rehearsed: Sequence[int]) -> "SuggestedNumber":
        """Put what rehearsals say beside the suggestion of a tree."""
        parts = [suggestion.in_words, *_votes(suggestion.n_clusters, rehearsed)]
        return cls(suggestion.n_clusters, suggestion.nearly, tuple(rehearsed), "; ".join(parts))

    @property
    def n_agreeing(self) -> int:
        """How many rehearsals suggest the same number."""
        return self.rehearsed.count(self.n_clusters)

    @property
    def others(self) -> tuple[int, ...]:
        """The other numbers that rehearsals suggest, in order."""
        return tuple(sorted(set(self.rehearsed) - {self.n_clusters}))

    def __str__(self) -> str:
        return self.text


def _votes(number: int, rehearsed: Sequence[int]) -> list[str]:
    """Say how many rehearsals suggest this number, and what the others do; nothing without rehearsals."""
    n, agreeing = len(rehearsed), list(rehearsed).count(number)
    if not n:
        return []
    *but_last, last = map(str, sorted(set(rehearsed) - {number}) or [number])
    others = f"{', '.join(but_last)} or {last}" if but_last else last
    of_them = f"of {n} rehearsal{'s' * (n > 1)}"
    if agreeing == n:
        return [f"{n} {of_them} say{'s' * (n == 1)} {number}"]
    if not agreeing:
        return [f"none {of_them} says {number}, but {others}"]
    says, rest = "s" * (agreeing == 1), "other" if n - agreeing == 1 else "others"
    return [f"{agreeing} {of_them} say{says} {number}, the {rest} {others}"]


@dataclass(eq=False)
class Rehearsals:
    """The rehearsals of one fit: its cuts share them, whoever asks first.

    ``n_rehearsals`` is how many were asked for, ``done`` what was found, as soon as it is known.
    """

    base: Any
    trees: Trees
    n_rehearsals: int
    done: Rehearsal | None = None

    def made(self, told: Callable[[float], None] = lambda _: None) -> Rehearsal | None:
        """Make them, once; None where none are asked for, or where the base says too little."""
        refits = Refits.of(self.base) if self.n_rehearsals and self.done is None else None
        if refits is not None:
            self.done = Rehearsal.of(refits, self.trees, self.n_rehearsals, told)
        return self.done

    def to_plain(self) -> dict[str, Any]:
        """Return them as plain data for a model file, with what is known by now."""
        done = None if self.done is None else [refit.to_plain() for refit in self.done.refits]
        return {"asked": self.n_rehearsals, "done": done}

    @classmethod
    def from_plain(cls, content: object, base: Any, trees: Trees) -> "Rehearsals":
        """Rebuild them; files that say nothing of rehearsals know none."""
        if content is None:
            return cls(base, trees, 0)
        parts = _plain_data.fields("rehearsals", content, "asked", "done")
        asked = _plain_data.of_type("rehearsals.asked", parts["asked"], int)
        if not 0 <= asked <= MOST_REHEARSALS:
            raise ModelFormatError(f"rehearsals.asked must be between 0 and {MOST_REHEARSALS}.")
        if parts["done"] is None:
            return cls(base, trees, asked)
        listed = _plain_data.of_type("rehearsals.done", parts["done"], list)
        if len(listed) != asked or not asked:
            raise ModelFormatError("rehearsals.done must be as many as were asked for.")
        n_components = base.mixture_.n_components
        refits = tuple(Refit.from_plain(each, n_components) for each in listed)
        return cls(base, trees, asked, Rehearsal(refits))


class RehearsedModel:
    """Mixin of models with a tree: how often clusters are found again, and how sure their number is."""

    merge_tree_: MergeTree
    n_clusters_: int
    _rehearsals: Rehearsals
    _fitted: dict[str, Any]

    def _labels_of_components(self, n_clusters: int | None) -> IntArray:
        """Return the cluster of each component."""
        raise NotImplementedError

    @property
    def suggestion_(self) -> SuggestedNumber:
        """The number of clusters that "auto" suggests, whatever was asked for, and what rehearsals say of it.

        The first to ask waits for the rehearsals.
        """
        check_is_fitted(self, "merge_tree_")
        made = self._rehearsals.made()
        return SuggestedNumber.of(self.merge_tree_.suggestion, () if made is None else made.suggested)

    def _again(self, n_clusters: int | None = None) -> Again | None:
        """Return how often the clusters of a cut were found again; None where that is not known.

        Rehearsals are cut into as many clusters; but where no number was given, and this is the one that was
        suggested, each into the number it suggests.
        """
        made = self._rehearsals.made()
        if made is None:
            return None
        number = n_clusters or self.n_clusters_
        suggested = self._fitted["chosen_for"] is None and number == self.merge_tree_.suggested_n_clusters
        return made.again(self._labels_of_components(n_clusters), number, own_numbers=suggested)
