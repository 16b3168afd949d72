"""DPMoG: every record counts in all components, by its responsibilities."""

from typing import ClassVar

from dpmorse.bases.em.maximisation import Prior
from dpmorse.bases.em.rounds import PrivateEM, uniform_stddev
from dpmorse.privacy import Neighboring
from dpmorse.statistics import GRID_BITS, WEIGHT_BITS, CellMoments, NoiseScales


class DPMoG(PrivateEM):
    r"""Differentially private Gaussian mixture by (soft) expectation-maximisation.

    The method of Park, Foulds, Chaudhuri and Welling (DP-EM, AISTATS 2017) with the prior of its
    program, on raw second moments. A record's contributions to all components are accounted for
    jointly: a vector of responsibilities is no longer than a one-hot vector, so the noise does not grow
    with the number of components. ``calibration="paper"`` composes 1 + 2K mechanisms a round, as the paper
    does.

    Parameters
    ----------
    n_components, n_iter, n_averaged, radius, shares, reg_covar, relocate
        Those of expectation-maximisation; see ``PrivateEM``.
    epsilon, delta, bounds, neighboring, max_rows_per_group, calibration, noise, engine, ledger, random_state
        Those of every base; see ``PrivateFit``.

    Attributes
    ----------
    mixture_, domain_, privacy_, n_features_in_, feature_names_in_
        Those of every base; see ``PrivateFit``.

    Notes
    -----
    **Privacy.** The unit is one row of X. Responsibilities are integers (units of 2^-12) that sum to at
    most 1 and depend on the record and released values only; the sensitivity is Theorem 5 of
    docs/privacy.md, the noise Theorems 1 and 2, the total Theorems 3 and 4. Labels of training records are
    not private.

    **Points outside the domain.** ``predict``, ``predict_proba`` and ``score_samples`` clip points to
    ``bounds`` and ``radius`` like ``fit`` does; ``mixture_`` takes them as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPMoG
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = DPMoG(3, epsilon=2.0, bounds=(-1, 1), random_state=0).fit(X)
    >>> model.predict_proba([[0.5, 0.5]]).shape
    (1, 3)
    """

    weight_bits: ClassVar[int] = WEIGHT_BITS
    prior: ClassVar[Prior | None] = Prior()

    def paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
        """Return one size of noise for 1 + 2K separately accounted mechanisms.

        As printed, the counts are one mechanism and the sum and the second moment of each component are
        two more, each with the full sensitivity of a record in the ball of squared radius P. Under
        replace-one: sqrt 2 for the counts, 2 sqrt P for a sum, sqrt 2 P for a second moment.
        """
        P = statistic.domain.largest_squared_norm * 4.0**-GRID_BITS
        k = statistic.n_cells
        if neighboring is Neighboring.ADD_REMOVE:
            return statistic.uniform(uniform_stddev(1 + k * (P + P * P), rho))
        return statistic.uniform(uniform_stddev(2 + k * (4 * P + 2 * P * P), rho))
