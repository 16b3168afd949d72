"""Fits of synthetic records, with the noise of the fit that released them: post-processing, which costs nothing.

Whatever a fit has found would be found again, or not, in such records: they are drawn from what was released, and
nothing else is read.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpmorse._threads import one_library_thread
from dpmorse.bases.base import PrivateFit
from dpmorse.bases.mixture_estimator import FitResult
from dpmorse.bases.queries import Queries
from dpmorse.bases.randomness import Randomness
from dpmorse.bases.synthetic import make_holes
from dpmorse.engine import InMemoryEngine, Source
from dpmorse.exceptions import InvalidTypeError
from dpmorse.privacy import Mechanism
from dpmorse.profiles import Profile, draw_missing, draw_records
from dpmorse.statistics import Domain
from dpmorse.typing import FloatArray, IntArray

_MOST_RECORDS = 50_000
"""Most synthetic records of a fit. Of more, as many are drawn, and noise is as much smaller: it is the ratio of
noise and records that decides what is found."""


@dataclass(frozen=True)
class Refits:
    """Makes fits of synthetic records of a fitted base."""

    base: PrivateFit
    profile: Profile

    @classmethod
    def of(cls, base: object) -> "Refits":
        """Refuse bases that know nothing of their records, or that others wrote."""
        profile = base.profile_ if isinstance(base, PrivateFit) else None
        if not isinstance(base, PrivateFit) or profile is None:
            raise InvalidTypeError(
                f"rehearsals need a base with a profile, got {type(base).__name__}: fit DPMorse or "
                "PrivateGaussianMixture with profile=True, or set rehearsals=0."
            )
        return cls(base, profile)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draw encoded records with missing values as published, and the component that labels each."""
        base, schema = self.base, self.base.schema_
        records, drawn = draw_records(self.profile, base.partition_, schema, n, rng)
        if not schema.layout.only_numbers:
            make_holes(records, draw_missing(self.profile, schema, drawn, rng), schema)
        return records, base.partition_.labels(base.domain_.clip(records))

    def fit(self, seed: int) -> FitResult:
        """Fit synthetic records, with the parameters of the base and the noise that it had beside its records."""
        base, rng = self.base, np.random.default_rng([seed, 1])
        n_records = max(round(float(self.profile.counts.sum())), 1)
        n_drawn = min(n_records, _MOST_RECORDS)
        records, _ = self.draw(n_drawn, rng)
        factor = (n_records / n_drawn) ** 2  # a cost that is four times as large buys half the noise
        plan = base.plan_
        stages = tuple(replace(stage, cost=stage.cost * factor) for stage in plan.stages)
        domain = (
            Domain(self.profile.lower, self.profile.upper) if plan.settings.private_bounds else plan.domain
        )
        randomness = Randomness.from_parameters(seed, "native")
        queries = Queries(
            Source(records, InMemoryEngine()), Mechanism([], randomness.sampler), plan.settings.budget
        )
        with one_library_thread():
            return base.release(queries, replace(plan, stages=stages, domain=domain), randomness.init)
