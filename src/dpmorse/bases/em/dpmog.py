"""DPMoG: every record counts in all components, by its responsibilities."""

from typing import ClassVar

from dpmorse.bases.em.maximisation import Prior
from dpmorse.bases.em.rounds import PrivateEM
from dpmorse.privacy import Neighboring
from dpmorse.statistics import GRID_BITS, WEIGHT_BITS, CellMoments


class DPMoG(PrivateEM):
    r"""Differentially private Gaussian mixture by (soft) expectation-maximisation.

    The method of Park, Foulds, Chaudhuri and Welling (DP-EM, AISTATS 2017) with the prior of its
    program, on raw second moments. A record's contributions to all components are accounted for
    jointly: a vector of responsibilities is no longer than a one-hot vector, so the noise does not grow
    with the number of components. ``calibration="paper"`` composes 1 + 2K mechanisms a round, as the paper
    does.

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
    >>> from dpmorse import DPMoG, datasets
    >>> DPMoG(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).mixture_.means.shape
    (3, 2)
    """

    weight_bits: ClassVar[int] = WEIGHT_BITS
    prior: ClassVar[Prior | None] = Prior()

    def paper_squared_sensitivity(self, statistic: CellMoments, neighboring: Neighboring) -> float:
        """Return the sum of squared sensitivities of 1 + 2K separately accounted mechanisms.

        As printed, the counts are one mechanism and the sum and the second moment of each component are
        two more, each with the full sensitivity of a record in the ball of squared radius P. Under
        replace-one: sqrt 2 for the counts, 2 sqrt P for a sum, sqrt 2 P for a second moment.
        """
        P = statistic.domain.largest_squared_norm * 4.0**-GRID_BITS
        k = statistic.n_cells
        if neighboring is Neighboring.ADD_REMOVE:
            return 1 + k * (P + P * P)
        return 2 + k * (4 * P + 2 * P * P)
