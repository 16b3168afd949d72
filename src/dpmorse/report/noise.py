"""How much noise is in what a page shows, as far as the ledger tells.

The last release is the one the weights and means of a mixture come from. Its noise is known in records for a
count. For a sum it is known in units that depend on what the base adds up:

* ``"round i of n"`` (expectation-maximisation): records, in half-widths of the domain;
* ``"components, round i of n"`` (the default base): residuals in the component's own whitened coordinates,
  divided by ``RESIDUAL_RADIUS * sqrt(n_features)``;
* ``"covariances"`` (the bases that find centres): offsets in units that are not part of the model.

A ledger that looks different is shown, and nothing is derived from it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RESIDUAL_RADIUS = 1.5
"""That of the last stage of ``PrivateGaussianMixture``; a test compares the two."""

_SUMS_OF_RECORDS = re.compile(r"round \d+ of \d+")
_SUMS_OF_RESIDUALS = re.compile(r"components, round \d+ of \d+")
_COUNTS_ONLY = re.compile(r"covariances")


@dataclass(frozen=True)
class NoiseOfLastRelease:
    """Standard deviations of the noise in the last release; None where they cannot be known.

    Attributes
    ----------
    count : float or None
        Of the count of one component, in records.
    records, residuals : float or None
        Of the sum over one component: of records in half-widths of the domain, or of residuals in standard
        deviations of the component. At most one of them is known.
    """

    count: float | None = None
    records: float | None = None
    residuals: float | None = None


def noise_of_last_release(ledger: Sequence[Mapping[str, object]], n_features: int) -> NoiseOfLastRelease:
    """Read the last row of a ledger, if it is one of those described above."""
    last = ledger[-1] if ledger else {}
    name, count, total = (last.get(key) for key in ("release", "noise_stddev_count", "noise_stddev_sum"))
    if not (isinstance(name, str) and isinstance(count, float)):
        return NoiseOfLastRelease()
    if _COUNTS_ONLY.fullmatch(name) or not isinstance(total, float):
        return NoiseOfLastRelease(count=count) if _is_known(name) else NoiseOfLastRelease()
    if _SUMS_OF_RECORDS.fullmatch(name):
        return NoiseOfLastRelease(count=count, records=total)
    if _SUMS_OF_RESIDUALS.fullmatch(name):
        return NoiseOfLastRelease(count=count, residuals=RESIDUAL_RADIUS * math.sqrt(n_features) * total)
    return NoiseOfLastRelease()


def _is_known(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_SUMS_OF_RECORDS, _SUMS_OF_RESIDUALS, _COUNTS_ONLY))
