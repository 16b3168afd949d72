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
    n_components : int, default=10
        Number of Gaussian components, at least 1. It may exceed the number of records.
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in (0, 1). Public; it never depends on the data.
    bounds : pair (lower, upper) or "private"
        Public bounds of the columns, scalars or one value per column, in the units of X:
        ``([0, 60], [110, 220])`` for a column in 0..110 and one in 60..220. Values outside are clipped.
        Never read from the data, but for
        "private", which spends 5 % of the budget on finding them.
    neighboring : {"add-remove", "replace-one"}, default="add-remove"
        Whose presence or value is protected; under "replace-one" the number of records is public.
    max_rows_per_group : int or None, default=None
        None protects one record. A number protects all records of one group, such as a person, who are told
        apart by ``fit(X, groups=...)``; of each group at most so many records are used. Which ones depends
        on that group's records alone, not on their order.
    n_iter : int, default=10
        Rounds. Each makes one release and gets an equal share of the budget.
    n_averaged : int or None, default=None
        How many of the last rounds are averaged to make the released model, at no cost; None is a third
        of them, 1 is the paper's.
    radius : float or None, default=None
        Shrinks records to a ball of this radius around the centre of the box, in units of the box's
        half-width. In many columns this lowers the noise a great deal at the price of clipping.
    shares : MomentShares or None, default=None
        Split of a round's budget among counts, sums and second moments; None minimises the total noise.
    calibration : {"gaussian", "zcdp", "paper"}, default="gaussian"
        Which proof sets the noise, see ``Calibration``.
    reg_covar : float, default=1e-6
        Smallest eigenvalue of a covariance in scaled units (the box is [-1, 1]^D).
    relocate : bool, default=True
        Move components that the noise does not support onto halves of the heaviest ones, in all but the
        last rounds. Costs nothing; False keeps them where they started, as the paper does.
    noise : {"native", "opendp"}, default="native"
        Sampler of the noise; "opendp" needs the extra ``dpmorse[opendp]``.
    engine : Engine or None, default=None
        How sums are computed; changes speed and memory only.
    ledger : Ledger or None, default=None
        A ledger shared by several fits, with a total budget none of them may exceed.
    random_state : int, RandomState, Generator or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible and the model
        **not secure**, which its privacy report says.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The released mixture, in the units of X. Components the noise does not support have weight 0.
    privacy_ : PrivacyReport
        epsilon, delta, relation, rho, events (the ledger), statement, secure.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.

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

    _weight_bits: ClassVar[int] = WEIGHT_BITS
    _prior: ClassVar[Prior | None] = Prior()

    def _paper_scales(self, statistic: CellMoments, rho: float, neighboring: Neighboring) -> NoiseScales:
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
