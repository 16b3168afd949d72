"""The audit of all releases of a fit, one after the other, on the worst of several neighbours."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from dpmorse import _validate
from dpmorse.audit.bounds import Scores
from dpmorse.audit.invented import base_of, check_is_estimator, far_records, invented_records
from dpmorse.audit.likelihoods import Pair
from dpmorse.audit.mechanisms import FEWEST_RUNS, LIKELIHOOD_RATIO
from dpmorse.audit.recording import QuestionsDifferError, Transcript, same_question, watched_fit
from dpmorse.audit.results import AuditResult, Claim, Unit, enough
from dpmorse.bases import PrivateFit
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Budget, Composition, Mechanism, Neighboring, Noise, NoiseSampler, PlannedRelease
from dpmorse.privacy.random_bytes import SystemBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.typing import FloatArray

_UNLIKELY = 1e-9
"""Smallest p-value of the size of the noise that is no problem: a correct sampler fails once in 10^9 fits."""

_MOST_REPEATS = 0.02
"""Largest part of the noise values that may repeat others: scales are too large for fresh ones to do so."""

_ROUNDING = 1 + 1e-9
"""Largest change of an answer, relative to the change that is paid for: costs are rounded floats."""


@dataclass(frozen=True)
class Neighbours:
    """The questions of a fit with their answers on two datasets, and problems that contradict the claim."""

    pairs: tuple[Pair, ...]
    transcript: Transcript
    problems: tuple[str, ...]

    @property
    def sums(self) -> tuple[Pair, ...]:
        """The releases of sums."""
        return tuple(pair for pair in self.pairs if isinstance(pair.planned, PlannedRelease))

    @property
    def moved(self) -> float:
        """Change of all sums together, as a part of the change that is paid for."""
        noises = (pair.planned.noise for pair in self.pairs if isinstance(pair.planned, PlannedRelease))
        noise = next(noises, None)  # a fit has one kind of noise
        if noise is None:
            return 0.0
        paid = math.fsum(pair.planned.event.cost for pair in self.sums)
        used = math.fsum(pair.moved**noise.degree * pair.planned.event.cost for pair in self.sums)
        return noise.widening(used / paid)


def audit_releases(
    estimator: Any,
    X: FloatArray | None = None,
    *,
    neighbours: FloatArray | None = None,
    n_features: int = 2,
    runs: int = 100_000,
    confidence: float = 0.95,
    sampler: NoiseSampler | None = None,
) -> AuditResult:
    """Attack everything a fit releases, as an attacker who knows all records but one.

    A fit is watched on invented records. It is then repeated with one record more (or another one, under
    "replace-one") and the answers of the first fit: the change of the exact answer to each question is then
    known exactly, and no question may differ. Noise for all releases of sums is drawn again and again, and
    the likelihood ratio of all of them together certifies a bound on their cost.

    Parameters
    ----------
    estimator : estimator
        Any private estimator of the library, or a base of your own that derives from ``PrivateFit``. It is
        not fitted, and its ledger is not touched.
    X : ndarray of shape (n_samples, n_features), optional
        **Invented** records: the result is computed from exact sums and is no private release. By default
        2000 records in a few groups.
    neighbours : ndarray of shape (n, n_features), optional
        Records of which the one that is easiest to notice is added; under "replace-one" the first of them is
        replaced by one of the others. By default corners and faces of the bounds.
    n_features : int, default=2
        Number of columns, if neither X nor the bounds determine it.
    runs : int, default=100000
        Times that the noise is drawn, for each dataset.
    confidence : float, default=0.95
        Confidence of the bound.
    sampler : NoiseSampler, optional
        Where the noise comes from: the operating system by default.

    Returns
    -------
    result : AuditResult
        ``certified`` is about the releases of sums together; ``details`` has the part of its cost that each
        release and each choice uses up; ``problems`` say what else is wrong.

    Examples
    --------
    >>> from dpmorse import DPMoGHard
    >>> from dpmorse.audit import audit_releases
    >>> result = audit_releases(DPMoGHard(3, epsilon=8.0, bounds=(-1, 1), n_iter=2), confidence=0.99999)
    >>> result.passed, 0.9 < result.certified / result.claimed
    (True, True)
    """
    check_is_estimator(estimator)
    runs = enough(FEWEST_RUNS, 100_000, runs=runs)
    confidence = _validate.open_unit_interval(confidence=confidence)
    noise = sampler or NativeSampler(SystemBytes())
    records = invented_records(estimator, n_features) if X is None else _checked_records("X", X)
    base = base_of(estimator, records.shape[1])
    budget: Budget = base.plan(records.shape[1]).settings.budget
    candidates = _checked_neighbours(
        far_records(estimator, records.shape[1]) if neighbours is None else neighbours, records, budget
    )
    worst = _worst_neighbours(base, records, candidates, budget, noise)
    mechanism = Mechanism([], noise)
    scores = Scores(*(_scores(worst.sums, mechanism, runs, neighbour=there) for there in (True, False)))
    return AuditResult.of_scores(
        f"{type(estimator).__name__}, {len(worst.pairs)} releases",
        LIKELIHOOD_RATIO,
        _claim(worst, budget),
        scores,
        confidence,
        problems=(*worst.problems, *_problems(worst, budget)),
        details={
            "neighboring": budget.neighboring.value,
            "epsilon": Composition.of(worst.transcript.events).epsilon(budget.delta),
            "moved_together": worst.moved,
            "moved": [[pair.planned.event.name, pair.moved] for pair in worst.pairs],
        },
    )


def _checked_records(name: str, values: object) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InvalidParameterError(
            f"{name} must be an array of finite numbers of shape (n, n_features), got shape {array.shape}."
        )
    return array


def _checked_neighbours(values: object, X: FloatArray, budget: Budget) -> FloatArray:
    candidates = _checked_records("neighbours", values)
    fewest = 2 if budget.neighboring is Neighboring.REPLACE_ONE else 1
    if len(candidates) < fewest or candidates.shape[1] != X.shape[1]:
        raise InvalidParameterError(
            f"neighbours must be at least {fewest} record(s) of {X.shape[1]} columns under "
            f"'{budget.neighboring}', got shape {candidates.shape}."
        )
    return candidates


def _worst_neighbours(
    base: PrivateFit, X: FloatArray, candidates: FloatArray, budget: Budget, sampler: NoiseSampler
) -> Neighbours:
    """Watch a fit and its repetitions on neighbouring datasets; return the neighbour that is noticed most."""
    replaced = budget.neighboring is Neighboring.REPLACE_ONE
    first = np.vstack([candidates[:1], X]) if replaced else X
    others = candidates[1:] if replaced else candidates
    transcript = watched_fit(base, first, sampler)
    found = [
        _compared(base, np.vstack([np.repeat(other[None], budget.rows, axis=0), X]), transcript, sampler)
        for other in others
    ]
    with_problems = [neighbours for neighbours in found if neighbours.problems]
    return with_problems[0] if with_problems else max(found, key=lambda neighbours: neighbours.moved)


def _compared(
    base: PrivateFit, neighbour: FloatArray, transcript: Transcript, sampler: NoiseSampler
) -> Neighbours:
    try:
        other = watched_fit(base, neighbour, sampler, earlier=transcript)
    except QuestionsDifferError:
        return Neighbours((), transcript, (_QUESTIONS,))
    both = list(zip(transcript.asked, other.asked, strict=False))
    pairs = tuple(Pair(a.planned, a.exact, b.exact) for a, b in both if a.exact.shape == b.exact.shape)
    same = len(transcript.asked) == len(other.asked) and transcript.questions == other.questions
    same &= all(same_question(a, b) for a, b in both)
    return Neighbours(pairs, transcript, () if same else (_QUESTIONS,))


_QUESTIONS = "given the same answers, the fit asks other questions of a neighbouring dataset."


def _scores(pairs: Sequence[Pair], mechanism: Mechanism, runs: int, *, neighbour: bool) -> FloatArray:
    """Return the log-likelihood ratio of all releases together, run by run."""
    total = np.zeros(runs)
    for pair in pairs:
        if np.any(pair.exact != pair.neighbour):
            total += pair.scores(mechanism, runs, neighbour=neighbour)
    return total


def _claim(neighbours: Neighbours, budget: Budget) -> Claim:
    """Return what the ledger says about the sums; choices are compared exactly, one by one."""
    sums = Composition.of(event for event in neighbours.transcript.events if isinstance(event.noise, Noise))
    if budget.is_pure:
        return Claim(Unit.EPSILON, sums.pure_epsilon)
    return Claim(Unit.MU, math.sqrt(2 * sums.gaussian_rho), budget.delta)


def _problems(neighbours: Neighbours, budget: Budget) -> Iterable[str]:
    transcript = neighbours.transcript
    spent = Composition.of(transcript.events).epsilon(budget.delta)
    if spent > budget.epsilon:
        yield f"the ledger says epsilon = {spent:.6g}, more than the budget of {budget.epsilon:g}."
    if len(transcript.events) != len(transcript.asked):
        yield f"{len(transcript.asked)} releases were made, {len(transcript.events)} are in the ledger."
    for pair in neighbours.pairs:
        if pair.moved > _ROUNDING:
            yield f"'{pair.planned.event.name}' moves by {pair.moved:.4g} times what its event pays for."
    yield from _problems_of_noise(transcript)


def _problems_of_noise(transcript: Transcript) -> Iterable[str]:
    """Look at the noise of one fit: its size, and whether it is fresh."""
    sums = [asked for asked in transcript.asked if isinstance(asked.planned, PlannedRelease)]
    noise = [asked.answer - asked.exact for asked in sums]
    if not noise:
        return
    smaller = _p_value(sums, noise)
    for name, p_value in (("small", smaller), ("large", 1 - smaller)):
        if p_value < _UNLIKELY:
            yield f"the noise is too {name} for its scales (p = {p_value:.2g})."
    values = np.abs(np.concatenate(noise))
    repeated = 1 - len(np.unique(values)) / len(values)
    if repeated > _MOST_REPEATS:
        yield f"{repeated:.0%} of the noise values repeat others."


def _p_value(sums: Sequence[Any], noise: Sequence[Any]) -> float:
    """Return how likely log-densities of honest noise add up to as little.

    A density proportional to ``exp(-|x|^p / p)``, p the degree, makes ``2 |x|^p / p`` a chi-square variable
    with 2 / p degrees of freedom: squares of Gaussian noise, twice the sizes of Laplace noise.
    """
    total, freedom = 0.0, 0
    for asked, values in zip(sums, noise, strict=True):
        steps = values / asked.planned.scales
        law = asked.planned.noise
        total += -2 * float(law.log_density(steps).sum())
        freedom += len(steps) * 2 // law.degree
    return float(chi2.cdf(total, freedom))
