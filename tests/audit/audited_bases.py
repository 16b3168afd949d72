"""Every base with settings in which one record shows as much as it can."""

import itertools

import numpy as np

from dpmorse import DPCube, DPLloyd, DPMoG, DPMoGHard, DPTree, PrivateGaussianMixture
from dpmorse.audit import audit_releases
from dpmorse.audit.invented import far_records
from dpmorse.privacy.accounting import gaussian_epsilon
from worst_pairs import seeded

DELTA = 1e-5
RELATIONS = ("add-remove", "replace-one")
BASES = (DPMoGHard, DPMoG, DPLloyd, DPTree, DPCube, PrivateGaussianMixture)
COLUMNS = {PrivateGaussianMixture: (2, 3)}  # a joint histogram up to 2, moving components from 3
WITH_PURE = (DPLloyd, DPTree, DPCube)

MOVED = {"add-remove": 0.95, "replace-one": 0.8}
"""The part of what a fit pays for that its worst record uses up, at least. Less than all of it where records are too
close to a released centre (the coreset of PrivateGaussianMixture), where cubes were dropped, and where the
worst pair
of one release is not that of another (replace-one)."""


def base(kind, relation, mu, **options):
    """Return a base with few rounds whose budget is mu as a Gaussian mechanism."""
    epsilon = min(gaussian_epsilon(mu, DELTA), 10.0)  # mu = 2 is epsilon = 9.997
    few = {"n_iter": 2} if kind in {DPMoGHard, DPMoG, DPLloyd} else {}
    parameters = {"epsilon": epsilon, "delta": DELTA, "bounds": (-1, 1), "neighboring": relation}
    return kind(2, **{**parameters, **few, **options})


def least_moved(kind, n_features, relation):
    """Return how much of a base's cost one record is known to use up."""
    return 0.8 if (kind, n_features) == (PrivateGaussianMixture, 3) else MOVED[relation]


def audited(estimator, *, runs, seed, confidence=0.999, n_candidates=4, n_features=2):
    """Audit all releases of a base on the worst of a few far records."""
    return audit_releases(
        estimator,
        neighbours=far_records(estimator, n_features)[:n_candidates],
        n_features=n_features,
        runs=runs,
        confidence=confidence,
        sampler=seeded(seed),
    )


def moved(result):
    """Return how far all sums move together, as a part of the claim; for pure epsilons, the sum."""
    return result.details["moved_together"]


def every_base():
    """Return all bases, numbers of columns that make a difference, relations and sizes of mu."""
    cases = [(kind, n_features) for kind in BASES for n_features in COLUMNS.get(kind, (2,))]
    return [
        (*case, *rest) for case, rest in itertools.product(cases, itertools.product(RELATIONS, (1.0, 2.0)))
    ]


def any_records(seed, n, n_features=2):
    """Return records that are nothing like any others."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, size=(n, n_features)) ** (1 + 2 * (seed % 2))
