"""Every base, with settings in which one record shows as much as it can."""

import itertools
from typing import Any

import numpy as np

from audits.attacks.sampler import seeded
from dpmorse import DPCube, DPLloyd, DPMoG, DPMoGHard, DPTree, PrivateGaussianMixture
from dpmorse.audit import AuditResult, Transcript, audit_releases, far_records, watched_fit
from dpmorse.bases import PrivateFit
from dpmorse.privacy.accounting import gaussian_epsilon
from dpmorse.typing import FloatArray

DELTA = 1e-5
RELATIONS = ("add-remove", "replace-one")
BASES = (DPMoGHard, DPMoG, DPLloyd, DPTree, DPCube, PrivateGaussianMixture)

COLUMNS: dict[Any, tuple[int, ...]] = {PrivateGaussianMixture: (2, 3)}
"""Numbers of columns of bases that work otherwise in few: a joint histogram in 2, rounds of EM from 3 on."""

WITH_PURE = (DPLloyd, DPTree, DPCube)
"""Bases that keep pure promises (``delta=0``)."""

LEAST_MOVED = {"add-remove": 0.95, "replace-one": 0.8}
"""The part of what a fit pays for that its worst record uses up, at least.

It is less than all of it where records are too close to a released centre (the coreset of
``PrivateGaussianMixture``), where cubes were dropped, and where the worst pair of one release is not that of
another (replace-one).
"""


def base(kind: Any, relation: str, mu: float, **options: Any) -> Any:
    """Return a base with few rounds whose budget is ``mu`` as a Gaussian mechanism."""
    epsilon = min(gaussian_epsilon(mu, DELTA), 10.0)  # larger ones are refused; mu = 2 is epsilon = 9.997
    few = {"n_iter": 2} if kind in {DPMoGHard, DPMoG, DPLloyd} else {}
    parameters = {"epsilon": epsilon, "delta": DELTA, "bounds": (-1, 1), "neighboring": relation}
    return kind(2, **{**parameters, **few, **options})


def every_base() -> list[tuple[Any, int, str, float]]:
    """Return all bases, numbers of columns that make a difference, relations and sizes of mu."""
    cases = [(kind, n_features) for kind in BASES for n_features in COLUMNS.get(kind, (2,))]
    return [
        (kind, n_features, relation, mu)
        for (kind, n_features), relation, mu in itertools.product(cases, RELATIONS, (1.0, 2.0))
    ]


def least_moved(kind: Any, n_features: int, relation: str) -> float:
    """Return how much of a base's cost one record is known to use up."""
    return 0.8 if (kind, n_features) == (PrivateGaussianMixture, 3) else LEAST_MOVED[relation]


def audited(
    estimator: Any,
    *,
    runs: int,
    seed: int,
    confidence: float = 0.999,
    n_candidates: int = 4,
    n_features: int = 2,
) -> AuditResult:
    """Audit all releases of a base on the worst of a few far records."""
    return audit_releases(
        estimator,
        neighbours=far_records(estimator, n_features)[:n_candidates],
        n_features=n_features,
        runs=runs,
        confidence=confidence,
        sampler=seeded(seed),
    )


def moved(result: AuditResult) -> float:
    """Return how far all sums move together, as a part of the claim; for pure epsilons, the sum."""
    return float(result.details["moved_together"])


def any_records(seed: int, n: int, n_features: int = 2) -> FloatArray:
    """Return records of a law that depends on whether the seed is even: two seeds, two unlike datasets."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(-1, 1, size=(n, n_features)) ** (1 + 2 * (seed % 2)))


def repeated_fits(
    estimator: PrivateFit, records: FloatArray, others: FloatArray, seed: int
) -> tuple[Transcript, Transcript]:
    """Fit a base to some records, then to others while it is given the answers of the first fit."""
    first = watched_fit(estimator, records, seeded(seed))
    return first, watched_fit(estimator, others, seeded(seed + 1), earlier=first)


def same_exact_answers(first: Transcript, second: Transcript) -> bool:
    """Say whether two fits were released noisy versions of the same exact values."""
    pairs = zip(first.asked, second.asked, strict=True)
    return all(np.array_equal(a.exact, b.exact) for a, b in pairs)
