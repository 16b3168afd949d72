"""The noise of the sizes of components in a fit without a profile, as far as the plan of the fit states it.

It is that of the counts of the last release, which weights come from. Where that is made of counts of cells
(the default base in one or two columns), a component that stands alone is seen in the cells within ``REACH``
of its standard deviations. Means and covariances have noise, too; what it does to medians and quartiles of
clusters is not stated. Where there is no plan, nothing is derived from the ledger.
"""

import math
from typing import Any

import numpy as np

from dpmorse.densities import GaussianMixture
from dpmorse.report.space import Box
from dpmorse.typing import FloatArray

REACH = 4.0
"""Standard deviations within which the cells of a component lie: 99.97 % of its records in two columns."""


def noise_of_last_release(
    base: Any, mixture: GaussianMixture, domain: Box | None = None
) -> FloatArray | None:
    """Return the standard deviation of the noise in the size of each component; None if it is not known."""
    if base.profile_ is not None or base.plan_ is None:
        return None  # numbers of a profile have intervals
    last, plan = base.privacy_.events[-1], base.plan_
    if "count" not in last.noise_stddev:
        return None
    counted = float(last.noise_stddev["count"])
    if plan[last.step.stage].of_cells:
        return None if domain is None else _noise_of_cells(last.n_draws, counted, mixture, domain)
    return np.full(mixture.n_components, counted)


def _noise_of_cells(n_cells: int, stddev: float, mixture: GaussianMixture, domain: Box) -> FloatArray:
    """Add up the noise of the cells that each component covers: about an ellipse of radius ``REACH``.

    Cells are chosen by counts that were smoothed, which adds half a squared side to a variance.
    """
    varying = np.flatnonzero(domain.half_width > 0)
    d = len(varying)
    sides = 2 * domain.half_width[varying] / n_cells ** (1 / d)
    spread = mixture.covariances[:, varying[:, None], varying] + np.diag(sides**2 / 2)
    # Volume of a ball of radius R in d dimensions, pi^(d/2) / Gamma(d/2 + 1) R^d, times sqrt(det Sigma).
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * REACH**d
    volumes = ball * np.sqrt(np.linalg.det(spread))
    return np.asarray(stddev * np.sqrt(volumes / np.prod(sides)))
