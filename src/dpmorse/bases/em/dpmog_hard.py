"""DPMoG-hard: every record counts in exactly one component."""

from typing import ClassVar

from dpmorse.bases.em.maximisation import Prior
from dpmorse.bases.em.rounds import PrivateEM
from dpmorse.privacy import Neighboring
from dpmorse.statistics import CellMoments


class DPMoGHard(PrivateEM):
    r"""Differentially private Gaussian mixture by hard expectation-maximisation.

    Algorithm 2 of Byun, Choi and Lee (Pattern Recognition 157, 2025), corrected where its proof fails:
    the second moment is released raw and centred afterwards, cells are rebuilt in every round, every
    count has its own noise, and nothing is read from the data but noisy sums. Components without records
    are put to use (``relocate``), which the paper leaves open.

    Notes
    -----
    **Privacy.** The unit is one row of X. Each round releases noisy counts, sums and second moments of the
    cells in one vector, whose sensitivity is Theorem 5 of docs/privacy.md; a record's cell is computed
    exactly, from that record and released values only. The noise is Theorems 1 and 2, the total
    Theorems 3 and 4. Labels of training records are not private.

    **Points outside the domain.** ``predict``, ``predict_proba`` and ``score_samples`` clip points to
    ``bounds`` and ``radius`` like ``fit`` does; ``mixture_`` takes them as they are.

    Examples
    --------
    >>> from dpmorse import DPMoGHard, datasets
    >>> DPMoGHard(3, epsilon=1.0, bounds=(-10, 10)).fit(datasets.make_moons()[0]).mixture_.means.shape
    (3, 2)
    """

    weight_bits: ClassVar[int] = 0
    prior: ClassVar[Prior | None] = None

    def paper_squared_sensitivity(self, statistic: CellMoments, neighboring: Neighboring) -> float:
        """Return that of Algorithm 2: 1 + 3D + 2D^2.

        The exact squared sensitivity under replace-one is (D + 1)(D + 2) <= 1 + 3D + 2D^2, and half of
        that under add/remove-one, so the paper's number is safe for both.
        """
        d = statistic.domain.n_features
        return 1 + 3 * d + 2 * d * d
