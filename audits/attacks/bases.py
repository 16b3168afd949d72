"""Every base, in the settings in which one record has the largest effect."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.attacks.sampler import seeded
from audits.attacks.tables import TABLES, OfEncoded, far_encoded, invented_table
from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    MorseClustering,
    PrivateGaussianMixture,
)
from dpmorse.audit import (
    AuditResult,
    Transcript,
    audit_releases,
    far_records,
    invented_records,
    watched_fit,
)
from dpmorse.bases import PrivateFit
from dpmorse.privacy.accounting import gaussian_epsilon
from dpmorse.typing import FloatArray

DELTA = 1e-5
RELATIONS = ("add-remove", "replace-one")
BASES = (DPMoGHard, DPMoG, DPLloyd, DPTree, DPCube, PrivateGaussianMixture)
"""Bases of tables of numbers; that of other tables is in ``further``."""

COLUMNS: dict[Any, tuple[int, ...]] = {PrivateGaussianMixture: (2, 3)}
"""Numbers of columns of bases with other stages in few columns: a joint histogram in 2, EM from 3 on."""

WITH_PURE = (DPLloyd, DPTree, DPCube)
"""Bases that keep pure promises (``delta=0``)."""

LEAST_MOVED = {"add-remove": 0.95, "replace-one": 0.8}
"""Least part of the cost of a fit that its worst record uses up.

It is less than all of it where records are too close to a released centre (the coreset of
``PrivateGaussianMixture``), where cubes were dropped, and where the worst pair of one release is not that of
another (replace-one).
"""


ROWS = 3
"""Rows of a person, where persons are protected."""

WIDE = {"n_components": 13}
"""More components than the noise lets one measure in 36 columns: directions are released first."""


@dataclass(frozen=True)
class Attack:
    """An estimator, the records that it is watched on, and records that it may be noticed to have.

    ``slow`` ones release thousands of values that one record moves: fewer runs are made.
    """

    name: str
    estimator: Any
    X: FloatArray
    neighbours: FloatArray
    slow: bool = False

    @property
    def relation(self) -> str:
        """The neighbouring relation."""
        parameters = self.estimator.get_params(deep=True)
        return str(parameters.get("neighboring", parameters.get("base__neighboring")))

    def audited(self, *, runs: int, seed: int, confidence: float = 0.999) -> AuditResult:
        """Audit all releases on the worst of the neighbours."""
        return audit_releases(
            self.estimator,
            self.X,
            neighbours=self.neighbours,
            runs=runs // 4 if self.slow else runs,
            confidence=confidence,
            sampler=seeded(seed),
        )


def base(kind: Any, relation: str, mu: float, **options: Any) -> Any:
    """Return a base with few rounds whose budget is ``mu`` as a Gaussian mechanism."""
    epsilon = min(gaussian_epsilon(mu, DELTA), 10.0)  # larger ones are refused; mu = 2 is epsilon = 9.997
    few = {"n_iter": 2} if kind in {DPMoGHard, DPMoG, DPLloyd} else {}
    of_table = {} if "columns" in options else {"bounds": (-1, 1)}
    parameters = {"n_components": 2, "epsilon": epsilon, "delta": DELTA, "neighboring": relation}
    return kind(**{**parameters, **of_table, **few, **options})


def further() -> list[Attack]:
    """Return attacks beyond ``every_base``: other columns, stages, units, bounds and tables; at mu = 2."""
    return [attack for relation in RELATIONS for attack in (*_staged(relation), *_tables(relation))] + [
        *_private_bounds(),
        *_persons(),
        *_on_top(),
    ]


def _staged(relation: str) -> Iterator[Attack]:
    """Yield the default base in one column, along directions, and without a profile."""
    kind = PrivateGaussianMixture
    yield _numbers(kind, 1, relation)
    yield _numbers(kind, 36, relation, "directions", **WIDE)
    for n_features in (2, 6):
        yield _numbers(kind, n_features, relation, "no profile", profile=False)


def _tables(relation: str) -> Iterator[Attack]:
    for name in TABLES:
        yield _table(name, relation)
    yield _table("numbers, categories, missing values", relation, "no profile", profile=False)


def _private_bounds() -> Iterator[Attack]:
    """Yield every base that finds its bounds; the far record lies outside of all that it can find."""
    for kind, relation in zip(BASES, itertools.cycle(RELATIONS)):
        found = _numbers(kind, 2, relation, "private bounds", bounds="private")
        yield replace(found, neighbours=1e6 * found.neighbours)


def _persons() -> Iterator[Attack]:
    """Yield every base where neighbours differ in a person with several rows."""
    words = f"persons with {ROWS} rows"
    for kind in BASES:
        for n_features in COLUMNS.get(kind, (2,)):
            yield _numbers(kind, n_features, "add-remove", words, max_rows_per_group=ROWS)
    for name in ("numbers, categories, missing values", "categories"):
        yield _table(name, "add-remove", words, max_rows_per_group=ROWS)


def _on_top() -> Iterator[Attack]:
    """Yield estimators that cluster the mixture of a base."""
    options: dict[str, Any] = {"epsilon": 8.0, "delta": DELTA, "bounds": (-1, 1)}
    for estimator in (DPMorse(2, **options), MorseClustering(base(DPLloyd, "replace-one", 2.0), 2)):
        records = invented_records(estimator, 2), far_records(estimator, 2)[:4]
        yield Attack(f"{type(estimator).__name__}, 2 columns", estimator, *records)


def _numbers(kind: Any, n_features: int, relation: str, words: str = "", **options: Any) -> Attack:
    estimator = base(kind, relation, 2.0, **options)
    records = invented_records(estimator, n_features), far_records(estimator, n_features)[:4]
    name = ", ".join(
        [kind.__name__, f"{n_features} column{'s' * (n_features > 1)}", *([words] if words else [])]
    )
    return Attack(name, estimator, *records, slow=n_features > 32)


def _table(columns: str, relation: str, words: str = "", **options: Any) -> Attack:
    estimator = base(OfEncoded, relation, 2.0, columns=TABLES[columns], **options)
    records = invented_table(TABLES[columns]), far_encoded(TABLES[columns])
    name = ", ".join(["PrivateGaussianMixture", columns, *([words] if words else [])])
    return Attack(name, estimator, *records)


def every_base() -> list[tuple[Any, int, str, float]]:
    """Return all bases, numbers of columns that make a difference, relations and sizes of mu."""
    cases = [(kind, n_features) for kind in BASES for n_features in COLUMNS.get(kind, (2,))]
    return [
        (kind, n_features, relation, mu)
        for (kind, n_features), relation, mu in itertools.product(cases, RELATIONS, (1.0, 2.0))
    ]


def least_moved(kind: Any, n_features: int, relation: str) -> float:
    """Return the least part of the cost of a base that one record uses up."""
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
