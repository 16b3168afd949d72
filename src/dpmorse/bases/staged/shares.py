"""The stages of a fit, and what each gets of the budget, as plans and the table of docs/default.md say."""

from dataclasses import dataclass, fields, replace
from typing import Self

LEVELS, RANGES, MOMENTS, OUTSKIRTS, HISTOGRAM, DIRECTIONS, CORESET, COMPONENTS, PROFILE = (
    "levels and holes",
    "ranges of the columns",
    "moments of the columns",
    "outskirts",
    "joint histogram",
    "directions",
    "coreset",
    "components",
    "profile",
)
"""Names of the stages, in the order in which they are released."""

OF_PROFILE = 0.10
"""Share of the profile: more widens the noise of the clusters, less that of their numbers."""

_DIRECTIONS = 0.2
"""Part of what coreset and components get that directions cost, where there are many columns of numbers."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of the budget, in the order of the stages; they add up to 1. A stage of 0 is left out."""

    levels: float = 0.0
    ranges: float = 0.0
    moments: float = 0.0
    outskirts: float = 0.0
    histogram: float = 0.0
    directions: float = 0.0
    coreset: float = 0.0
    components: float = 0.0
    profile: float = 0.0

    def with_profile(self) -> Self:
        """Return the same for what a profile leaves."""
        rest = {each.name: (1 - OF_PROFILE) * getattr(self, each.name) for each in fields(self)}
        return replace(self, **{**rest, "profile": OF_PROFILE})

    def with_directions(self) -> Self:
        """Return the same where directions come before coreset and components, and cost a part of both."""
        return replace(
            self,
            directions=_DIRECTIONS * (self.coreset + self.components),
            coreset=(1 - _DIRECTIONS) * self.coreset,
            components=(1 - _DIRECTIONS) * self.components,
        )


def undivided(cost: float) -> float:
    """Return what a stage gets that was planned after directions, where these turn out not to be needed."""
    return cost / (1 - _DIRECTIONS)


PLANE = Shares(ranges=0.04, moments=0.08, outskirts=0.06, histogram=0.72, profile=OF_PROFILE)
"""One or two columns of numbers."""

PLANE_WITHOUT_PROFILE = Shares(ranges=0.04, moments=0.10, histogram=0.86)
"""The same without a profile: far clusters are labelled, and nothing says how far they lie."""

PLANE_WITH_MISSING = Shares(
    levels=0.03, ranges=0.04, moments=0.05, outskirts=0.06, histogram=0.72, profile=OF_PROFILE
)
"""One or two columns of numbers that may be missing."""

PLANE_WITH_MISSING_WITHOUT_PROFILE = Shares(levels=0.03, ranges=0.04, moments=0.07, histogram=0.86)
"""The same without a profile."""

ROUNDS = Shares(ranges=0.04, moments=0.08, coreset=0.32, components=0.46, profile=OF_PROFILE)
"""Three columns of numbers or more; ``with_directions`` where they are many."""

ROUNDS_WITHOUT_PROFILE = Shares(ranges=0.04, moments=0.10, coreset=0.34, components=0.52)
"""The same without a profile."""

ROUNDS_WITH_MISSING = Shares(
    levels=0.03, ranges=0.04, moments=0.05, coreset=0.32, components=0.46, profile=OF_PROFILE
)
"""Three columns of numbers or more, of which some may be missing."""

ROUNDS_WITH_MISSING_WITHOUT_PROFILE = Shares(
    levels=0.03, ranges=0.04, moments=0.07, coreset=0.34, components=0.52
)
"""The same without a profile."""

PRODUCTS = Shares(levels=0.04, ranges=0.04, moments=0.04, directions=0.20, coreset=0.32, components=0.36)
"""Tables with categories, without a profile; ``with_profile`` for the others."""

LEVELS_ONLY = Shares(levels=0.12, directions=0.20, coreset=0.32, components=0.36)
"""The same where no column is a number."""
