"""How much noise is in what a page shows, as far as the ledger tells.

The last release is the one the weights and means of a mixture come from. Its noise is known in records for a
count. For a sum it is known in units that depend on what the base adds up:

* ``"round i of n"`` (expectation-maximisation): records, in half-widths of the domain;
* ``"components, round i of n"`` (the default base): residuals in the component's own whitened coordinates,
  divided by their ``radius_of_residuals``;
* ``"joint histogram"`` (the default base in one or two columns): cells, of which the ledger tells how many
  there are. A component that stands alone is seen in the cells within ``REACH`` of its standard deviations;
* ``"covariances"`` (the bases that find centres): offsets in units that are not part of the model.

A ledger that looks different is shown, and nothing is derived from it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.report.released import Box
from dpmorse.typing import FloatArray

REACH = 4.0

_SUMS_OF_RECORDS = re.compile(r"round \d+ of \d+")
_SUMS_OF_RESIDUALS = re.compile(r"components, round \d+ of \d+")
_COUNTS_OF_CELLS = re.compile(r"joint histogram")
_COUNTS_ONLY = re.compile(r"covariances")


@dataclass(frozen=True)
class NoiseOfLastRelease:
    """Standard deviations of the noise in the last release; None where they cannot be known.

    Attributes
    ----------
    counts : list of float or None
        Of the count of each component, in records.
    records : float or None
        Of the sum of records over one component, in half-widths of the domain.
    residuals : list of float or None
        Of the sum of residuals over each component, in its standard deviations. At most one of the two
        is known.
    """

    counts: list[float] | None = None
    records: float | None = None
    residuals: list[float] | None = None


def noise_of_last_release(
    ledger: Sequence[Mapping[str, object]], mixture: GaussianMixture, domain: Box | None = None
) -> NoiseOfLastRelease:
    """Read the last row of a ledger, if it is one of those described above."""
    last = ledger[-1] if ledger else {}
    name, count, total = (last.get(key) for key in ("release", "noise_stddev_count", "noise_stddev_sum"))
    if not (isinstance(name, str) and isinstance(count, float)):
        return NoiseOfLastRelease()
    counts = [count] * mixture.n_components
    if _COUNTS_OF_CELLS.fullmatch(name):
        return _noise_of_cells(count, last.get("values"), mixture, domain)
    if _COUNTS_ONLY.fullmatch(name) or not isinstance(total, float):
        return NoiseOfLastRelease(counts) if _is_known(name) else NoiseOfLastRelease()
    if _SUMS_OF_RECORDS.fullmatch(name):
        return NoiseOfLastRelease(counts, records=total)
    if _SUMS_OF_RESIDUALS.fullmatch(name):
        residual = radius_of_residuals(mixture.n_features) * total
        return NoiseOfLastRelease(counts, residuals=[residual] * mixture.n_components)
    return NoiseOfLastRelease()


def radius_of_residuals(n_features: int) -> float:
    """Return that of the last stage of ``PrivateGaussianMixture``; a test compares the two."""
    return min(1.5 * math.sqrt(n_features), math.sqrt(n_features) + 1.5)


def _is_known(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in (_SUMS_OF_RECORDS, _SUMS_OF_RESIDUALS, _COUNTS_ONLY))


def _noise_of_cells(
    stddev: float, n_cells: object, mixture: GaussianMixture, domain: Box | None
) -> NoiseOfLastRelease:
    """Add up the noise of the cells that a component covers: about an ellipse of radius ``REACH``.

    Cells are chosen by counts that were smoothed, which adds half a squared side to a variance. In a ball
    of radius r in d dimensions the mean square of one coordinate is r^2 / (d + 2).
    """
    if domain is None or not isinstance(n_cells, int):
        return NoiseOfLastRelease()
    varying = np.flatnonzero(domain.half_width > 0)
    d = len(varying)
    sides = 2 * domain.half_width[varying] / n_cells ** (1 / d)
    spread = mixture.covariances[:, varying[:, None], varying] + np.diag(sides**2 / 2)
    counts = stddev * np.sqrt(_ellipses(spread) / np.prod(sides))
    return NoiseOfLastRelease(counts.tolist(), residuals=(counts * REACH / math.sqrt(d + 2)).tolist())


def _ellipses(covariances: FloatArray) -> FloatArray:
    """Return the volumes within ``REACH`` standard deviations."""
    d = covariances.shape[1]
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * REACH**d
    volumes: FloatArray = ball * np.sqrt(np.linalg.det(covariances))
    return volumes
