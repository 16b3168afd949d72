"""DPMoG-hard: every record counts in exactly one component."""

from typing import ClassVar

from dpmorse.bases.em.maximisation import Prior
from dpmorse.bases.em.rounds import PrivateEM, uniform_stddev
from dpmorse.privacy import Neighboring
from dpmorse.statistics import CellMoments, NoiseScales


class DPMoGHard(PrivateEM):
    r"""Differentially private Gaussian mixture by hard expectation-maximisation.

    Algorithm 2 of Byun, Choi and Lee (Pattern Recognition 157, 2025), corrected where its proof fails:
    the second moment is released raw and centred afterwards, cells are rebuilt in every round, every
    count has its own noise, and nothing is read from the data but noisy sums. Components without records
    are put to use (``relocate``), which the paper leaves open.

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
    **Privacy.** The unit is one row of X. Each round releases noisy counts, sums and second moments of the
    cells in one vector, whose sensitivity is Theorem 5 of docs/privacy.md; a record's cell is computed
    exactly, from that record and released values only. The noise is Theorems 1 and 2, the total
    Theorems 3 and 4. Labels of training records are not private.

    **Points outside the domain.** ``predict``, ``predict_proba`` and ``score_samples`` clip points to
    ``bounds`` and ``radius`` like ``fit`` does; ``mixture_`` takes them as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPMoGHard
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = DPMoGHard(4, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    >>> model.mixture_.means.shape
    (4, 2)
    >>> print(f"{model.privacy_.epsilon:.4f}, secure: {model.privacy_.secure}")
    1.0000, secure: False
    """

    weight_bits: ClassVar[int] = 0
    prior: ClassVar[Prior | None] = None

    def paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
        """Return the noise of Algorithm 2: one size, for the squared sensitivity 1 + 3D + 2D^2.

        The exact squared sensitivity under replace-one is (D + 1)(D + 2) <= 1 + 3D + 2D^2, and half of
        that under add/remove-one, so the paper's number is safe for both.
        """
        d = statistic.domain.n_features
        return statistic.uniform(uniform_stddev(1 + 3 * d + 2 * d * d, rho))
