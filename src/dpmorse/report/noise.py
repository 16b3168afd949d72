"""The last release of a fit without a profile, and its noise, as far as the plan of the fit states it.

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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.report.space import Box

REACH = 4.0
"""Standard deviations within which the cells of a component lie: 99.97 % of its records in two columns."""


@dataclass(frozen=True)
class LastRelease:
    """What the plan and the ledger say of the last release of a fit."""

    n_values: int
    """How many numbers were released."""

    stddev: Mapping[str, float]
    """Noise of a count, and of a sum if there is one, in the units of what is added up."""

    sums_of: str
    """What was added up: one of the names above."""

    reach: float
    """What residuals were divided by."""


def last_release(base: Any) -> LastRelease | None:
    """Return the last release of a fitted base without a profile, if it has a plan."""
    if getattr(base, "profile_", None) is not None:
        return None  # its numbers have intervals
    plan, events = getattr(base, "plan_", None), getattr(getattr(base, "privacy_", None), "events", ())
    if plan is None or not events:
        return None
    event = events[-1]
    stage = plan[event.step.stage]
    return LastRelease(event.n_draws, event.noise_stddev, str(stage.sums_of), stage.reach)


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
    last: LastRelease | None, mixture: GaussianMixture, domain: Box | None = None
) -> NoiseOfLastRelease:
    """Return the noise of the weights and means of a mixture, as far as it is known."""
    if last is None or "count" not in last.stddev:
        return NoiseOfLastRelease()
    if last.sums_of == "cells":
        return _noise_of_cells(last, mixture, domain)
    counts, total = [last.stddev["count"]] * mixture.n_components, last.stddev.get("sum")
    if last.sums_of == "records":
        return NoiseOfLastRelease(counts, records=total)
    if last.sums_of == "residuals" and total is not None:
        return NoiseOfLastRelease(counts, residuals=[last.reach * total] * mixture.n_components)
    return NoiseOfLastRelease(counts)


def _noise_of_cells(last: LastRelease, mixture: GaussianMixture, domain: Box | None) -> NoiseOfLastRelease:
    """Add up the noise of the cells that a component covers: about an ellipse of radius ``REACH``.

    Cells are chosen by counts that were smoothed, which adds half a squared side to a variance. In a ball
    of radius r in d dimensions the mean square of one coordinate is r^2 / (d + 2).
    """
    if domain is None:
        return NoiseOfLastRelease()
    varying = np.flatnonzero(domain.half_width > 0)
    d = len(varying)
    sides = 2 * domain.half_width[varying] / last.n_values ** (1 / d)
    spread = mixture.covariances[:, varying[:, None], varying] + np.diag(sides**2 / 2)
    # Volume of a ball of radius R in d dimensions, pi^(d/2) / Gamma(d/2 + 1) R^d, times sqrt(det Sigma).
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * REACH**d
    volumes = ball * np.sqrt(np.linalg.det(spread))
    counts = last.stddev["count"] * np.sqrt(volumes / np.prod(sides))
    return NoiseOfLastRelease(counts.tolist(), residuals=(counts * REACH / math.sqrt(d + 2)).tolist())
