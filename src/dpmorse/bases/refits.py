"""Fits of synthetic records, with the noise of the fit that released them: post-processing, at no cost.

Whatever a fit has found would be found again, or not, in such records: they are drawn from what was released,
with fixed seeds, and nothing else is read.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpmorse._threads import one_library_thread
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.labelling import Label
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.queries import Queries
from dpmorse.bases.randomness import Randomness
from dpmorse.bases.staged.shares import PROFILE
from dpmorse.bases.synthetic import make_holes
from dpmorse.engine import InMemoryEngine, Source
from dpmorse.privacy import Mechanism, noise_of_sums
from dpmorse.profiles import Profile, draw_missing, draw_records
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, LabelArray

_MOST_RECORDS = 50_000
"""Most synthetic records of a fit. Of more, as many are drawn, and noise is as much smaller: it is the ratio
of noise and records that decides what is found."""

_STREAM = 20_261_120
"""Keeps the randomness of rehearsals apart from that of a fit with a small seed."""


def _randomness(*numbers: int) -> np.random.Generator:
    return np.random.default_rng([_STREAM, *numbers])


@dataclass(frozen=True)
class Refits:
    """Makes fits of synthetic records of a fitted base.

    Privacy
    -------
    All that is read of the base is released or public: profile, partition, domain and settings. The mechanism
    has no ledger, because the records that it protects are nobody's.
    """

    base: PrivateFit
    profile: Profile

    @classmethod
    def of(cls, base: object) -> "Refits | None":
        """Return None for a base that others wrote, or whose numbers of records nobody knows."""
        profile = base.profile_ if isinstance(base, PrivateFit) else None
        return None if not isinstance(base, PrivateFit) or profile is None else cls(base, profile)

    def compared(self, n: int) -> FloatArray:
        """Draw the encoded records by whose labels fits are compared."""
        return self._draw(n, _randomness(1))

    def labels(self, records: FloatArray) -> LabelArray:
        """Return the component of each encoded record."""
        return Label(self.base.partition_, self.base.domain_)(records)

    def sizes(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sizes of components with these weights, and the noise of each, as a profile has it."""
        noise = np.full(len(weights), float(np.median(self.profile.count_stddev)))
        return weights * float(self.profile.counts.sum()), noise

    def fit(self, number: int) -> FitResult:
        """Fit synthetic records, with the parameters of the base, and noise as large beside them.

        Bounds stay those that were stated or released, and nobody needs a profile of synthetic records.
        """
        plan = self.base.plan_
        n_records = max(round(float(self.profile.counts.sum())), 1)
        n_drawn = min(n_records, _MOST_RECORDS)
        budget, domain = plan.settings.budget, plan.domain
        factor = (n_records / n_drawn) ** noise_of_sums(budget).degree
        stages = tuple(
            replace(stage, cost=stage.cost * factor) for stage in plan.stages if stage.name != PROFILE
        )
        if plan.settings.private_bounds:
            domain = Domain(self.profile.lower, self.profile.upper, radius=domain.radius)
        records = self._draw(n_drawn, _randomness(2 + number, 1))
        randomness = Randomness.from_parameters(_randomness(2 + number, 2), "native")
        queries = Queries(Source(records, InMemoryEngine()), Mechanism([], randomness.sampler), budget)
        with one_library_thread():  # as in a fit
            return self.base.release(queries, replace(plan, stages=stages, domain=domain), randomness.init)

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw encoded records, with missing values as published."""
        base, schema = self.base, self.base.schema_
        records, components = draw_records(self.profile, base.partition_, schema, n, rng)
        if not schema.layout.only_numbers:
            make_holes(records, draw_missing(self.profile, schema, components, rng), schema)
        return records
