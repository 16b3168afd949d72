"""The noise of the last release of a fit without a profile, as far as the plan of the fit states it.

The last release is the one the weights and means of a mixture come from. Its noise is known in records for a
count. For a sum the plan says what was added up, and so what its noise is measured in:

* ``"records"`` (expectation-maximisation): records, in half-widths of the domain;
* ``"residuals"`` (the default base): residuals in the component's own whitened coordinates, divided by their
  ``reach``;
* ``"cells"`` (the default base in one or two columns): nothing but counts of cells. A component that stands
  alone is seen in the cells within ``REACH`` of its standard deviations;
* ``"offsets"`` (the bases that find centres): offsets in units that are not part of the model.

Where there is no plan, nothing is derived from the ledger.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.report.space import Box

REACH = 4.0
"""Standard deviations within which the cells of a component lie: 99.97 % of its records in two columns."""


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
    base: Any, mixture: GaussianMixture, domain: Box | None = None
) -> NoiseOfLastRelease:
    """Return the noise of the weights and means of a mixture, as far as it is known."""
    if getattr(base, "profile_", None) is not None:
        return NoiseOfLastRelease()  # numbers of a profile have intervals
    plan, events = getattr(base, "plan_", None), getattr(getattr(base, "privacy_", None), "events", ())
    if plan is None or not events or "count" not in events[-1].noise_stddev:
        return NoiseOfLastRelease()
    last = events[-1]
    stage, stddev = plan[last.step.stage], last.noise_stddev
    if stage.sums_of == "cells":
        return _noise_of_cells(last.n_draws, stddev["count"], mixture, domain)
    counts, total = [stddev["count"]] * mixture.n_components, stddev.get("sum")
    if stage.sums_of == "records":
        return NoiseOfLastRelease(counts, records=total)
    if stage.sums_of == "residuals" and total is not None:
        # Residuals were divided by their reach.
        return NoiseOfLastRelease(counts, residuals=[stage.reach * total] * mixture.n_components)
    return NoiseOfLastRelease(counts)


def _noise_of_cells(
    n_cells: int, stddev: float, mixture: GaussianMixture, domain: Box | None
) -> NoiseOfLastRelease:
    """Add up the noise of the cells that a component covers: about an ellipse of radius ``REACH``.

    Cells are chosen by counts that were smoothed, which adds half a squared side to a variance. In a ball
    of radius r in d dimensions the mean square of one coordinate is r^2 / (d + 2).
    """
    if domain is None:
        return NoiseOfLastRelease()
    varying = np.flatnonzero(domain.half_width > 0)
    d = len(varying)
    sides = 2 * domain.half_width[varying] / n_cells ** (1 / d)
    spread = mixture.covariances[:, varying[:, None], varying] + np.diag(sides**2 / 2)
    # Volume of a ball of radius R in d dimensions, pi^(d/2) / Gamma(d/2 + 1) R^d, times sqrt(det Sigma).
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * REACH**d
    volumes = ball * np.sqrt(np.linalg.det(spread))
    counts = stddev * np.sqrt(volumes / np.prod(sides))
    return NoiseOfLastRelease(counts.tolist(), residuals=(counts * REACH / math.sqrt(d + 2)).tolist())
