"""The audit of one mechanism: the best attack on many releases of two neighbouring datasets."""

import math

import numpy as np

from dpmorse import _validate
from dpmorse.audit.bounds import Scores
from dpmorse.audit.likelihoods import Pair
from dpmorse.audit.results import AuditResult, Claim, Unit, enough
from dpmorse.exceptions import InvalidTypeError
from dpmorse.privacy import Mechanism, Noise, NoiseSampler, PlannedChoice, PlannedRelease
from dpmorse.privacy.random_bytes import SystemBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.typing import IntArray

LIKELIHOOD_RATIO = "likelihood ratio"
"""The name of this attack in results."""

FEWEST_RUNS = 100
"""With fewer runs the bounds on error rates are so wide that hardly anything is certified."""


def audit_mechanism(
    planned: PlannedRelease | PlannedChoice,
    exact: IntArray,
    neighbour: IntArray,
    *,
    runs: int = 100_000,
    confidence: float = 0.95,
    sampler: NoiseSampler | None = None,
) -> AuditResult:
    """Attack one mechanism with the exact likelihood ratio of its releases.

    Draws ``runs`` releases of each of two datasets through ``Mechanism``, scores each by the log-likelihood
    ratio under the planned law of the noise, and certifies the bound of the best threshold. By the lemma of
    Neyman and Pearson no attacker does better if the noise follows the plan; if it does not, the bound
    holds all the same.

    Parameters
    ----------
    planned : PlannedRelease or PlannedChoice
        The release and its stated cost. The claim is that of its event: mu for Gaussian noise and for
        choices, epsilon for Laplace noise.
    exact, neighbour : ndarray of int64
        The exact answers on two neighbouring datasets. The claim must hold for every such pair; the worst one
        makes the audit tight.
    runs : int, default=100000
        Releases of each dataset.
    confidence : float, default=0.95
        Confidence of the bound.
    sampler : NoiseSampler, optional
        Source of the noise; by default the library's sampler on the operating system's randomness.

    Returns
    -------
    result : AuditResult
        Claim, certified bound, and whether the one contradicts the other.

    Notes
    -----
    Invented datasets only: the result is computed from exact sums and is no private release.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse.audit import audit_mechanism
    >>> from dpmorse.privacy import Neighboring, Step
    >>> from dpmorse.statistics import UNIT_BITS, GroupCounts
    >>> planned = GroupCounts(3).plan(Step("three groups"), 0.5, Neighboring.ADD_REMOVE)
    >>> exact, neighbour = (np.array(n) << UNIT_BITS for n in ([5, 0, 2], [5, 1, 2]))
    >>> result = audit_mechanism(planned, exact, neighbour, confidence=0.99999)
    >>> 0.9 < result.certified <= result.claimed, result.passed
    (True, True)
    """
    if not isinstance(planned, PlannedRelease | PlannedChoice):
        raise InvalidTypeError(
            f"planned must be a PlannedRelease or a PlannedChoice, got {_validate.describe(planned)}. "
            "Statistics make them: GroupCounts(3).plan(...), for instance."
        )
    pair = Pair(planned, _integers("exact", exact), _integers("neighbour", neighbour))
    runs = enough(FEWEST_RUNS, 100_000, runs=runs)
    confidence = _validate.open_unit_interval(confidence=confidence)
    mechanism, event = Mechanism([], sampler or NativeSampler(SystemBytes())), planned.event
    if isinstance(event.noise, Noise) and event.noise.is_pure:
        claim = Claim(Unit.EPSILON, event.pure_epsilon)
    else:
        claim = Claim(Unit.MU, math.sqrt(2 * event.gaussian_rho))
    scores = Scores(
        pair.scores(mechanism, runs, neighbour=True), pair.scores(mechanism, runs, neighbour=False)
    )
    return AuditResult.of_scores(
        event.name or "mechanism",
        LIKELIHOOD_RATIO,
        claim,
        scores,
        confidence,
        details={"moved": pair.moved, "neighboring": event.neighboring.value},
    )


def _integers(name: str, values: object) -> IntArray:
    array = np.asarray(values)
    if array.dtype != np.int64:
        raise InvalidTypeError(
            f"{name} must be an array of int64, got dtype {array.dtype}. Statistics make them: to_units(...)."
        )
    return array
