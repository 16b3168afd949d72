"""DPTree: a coreset from a tree of hashed records, and k-means on it."""

import math

import numpy as np

from dpmorse.bases.centres.base import CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.leaves import MOST_LEAVES, grow, leaf_sums, release_leaves
from dpmorse.bases.centres.lloyd import lloyd_rounds, shares_of_a_round
from dpmorse.bases.estimates import project
from dpmorse.bases.queries import Queries
from dpmorse.bases.starts import k_means, packed_centres
from dpmorse.statistics import BinaryCodes
from dpmorse.typing import FloatArray

_N_ITER = 2
_DEPTHS = (4, 20)
_SHARE_OF_TREE = 0.7  # of the cost of centres; the rest is for rounds of Lloyd's algorithm
_SHARE_OF_COUNTS = 0.3  # of the tree's; the rest is for the leaves
_NOISE_OF_A_LEAF = 10.0  # standard deviations of a coordinate's sum that a leaf should hold in records
_NEXT_TO_NOTHING = 1e-3  # weight of points that only fill up a coreset with too few


class DPTree(CentreBase):
    r"""Differentially private k-means on a coreset from a hash tree, with a Gaussian around each centre.

    The method of Chang, Ghazi, Kumar and Manurangsi (2021) in the central model: random hyperplanes hash
    the records, a tree of hash prefixes is grown where noisy counts allow, each leaf becomes a weighted
    point by its noisy sum, and k-means clusters these points. Counts get 30 % of the tree's budget instead
    of 5 %, and two rounds of Lloyd's algorithm follow. A last release measures covariances.

    Parameters
    ----------
    n_components : int, default=10
        Number of centres and of Gaussian components around them, at least 1.
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in [0, 1). With 0 the promise is pure and the noise is
        Laplace instead of Gaussian. Public; it never depends on the data.
    bounds : pair (lower, upper) or "private"
        Public bounds of the columns, scalars or one value per column, in the units of X. Values outside
        are clipped. Never read from the data, but for
        "private", which spends 5 % of the budget on finding them.
    neighboring : {"add-remove", "replace-one"}, default="add-remove"
        Whose presence or value is protected; under "replace-one" the number of records is public.
    max_rows_per_group : int or None, default=None
        None protects one record. A number protects all records of one group, such as a person, who are told
        apart by ``fit(X, groups=...)``; of each group at most so many records are used. Which ones depends
        on that group's records alone, not on their order.
    n_iter : int or None, default=None
        Rounds of Lloyd's algorithm after the tree; None is 2.
    radius : float or None, default=None
        Shrinks records to a ball of this radius around the centre of the box, in units of the box's
        half-width. In many columns this lowers the noise a great deal at the price of clipping.
    capped : bool, default=False
        Add up offsets from the last centres, shrunk to the distance to the next centre, instead of records:
        less noise, but far records pull less.
    covariance_share : float, default=0.6
        Part of the budget for the last step, which measures how many records are around each centre, their
        mean and their covariance.
    calibration : {"gaussian", "zcdp"}, default="gaussian"
        Which proof sets the noise, see ``Calibration``.
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
    cluster_centers_ : ndarray of shape (n_components, n_features)
        The means of the components.
    privacy_ : PrivacyReport
        epsilon, delta, relation, rho, events (the ledger), statement, secure.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.

    Notes
    -----
    **Privacy.** The unit is one row of X. Released are the number of records (under "add-remove"), counts
    of disjoint nodes, level by level, and counts and sums of leaves and cells (Theorems 5 and 6 of
    docs/privacy.md). A record's node is a function of that record and of data-free random directions,
    evaluated exactly; which nodes are counted depends on released counts only. The total is Theorems 3 and
    4, or the sum of pure epsilons. Labels of training records are not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPTree
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = DPTree(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(1)
    array([-0.5,  0.5])
    >>> print(f"{model.privacy_.epsilon:.3f}, secure: {model.privacy_.secure}")
    1.000, secure: False
    """

    def _largest_n_draws(self, settings: CentreSettings) -> int:
        k, d = settings.n_components, settings.domain.n_features
        n_rounds = settings.n_iter or _N_ITER
        return _DEPTHS[1] * MOST_LEAVES + (_DEPTHS[1] * MOST_LEAVES + n_rounds * k) * (1 + d)

    def _find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        settings, cost = plan.settings, plan.cost_of("centres")
        points, weights = self._coreset(queries, plan, n_records, rng)
        fill = project(packed_centres(settings.n_components, points.shape[1], rng), settings.domain)
        points = np.vstack([points, fill])
        weights = np.concatenate([weights, np.full(len(fill), _NEXT_TO_NOTHING)])
        found = k_means(points, settings.n_components, 10, rng, weights)
        rounds = (1 - _SHARE_OF_TREE) * cost
        return lloyd_rounds(queries, plan, found.cluster_centers_, rounds, settings.n_iter or _N_ITER)

    def _coreset(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted points that stand for the records."""
        domain, cost = plan.settings.domain, _SHARE_OF_TREE * plan.cost_of("centres")
        depth = int(np.clip(math.ceil(math.log2(n_records)) - 2, *_DEPTHS))
        directions = rng.standard_normal((depth, domain.n_features))
        codes = BinaryCodes.rounded(domain, directions, reach=1.0, bits=1)
        tally = queries.tally("centres, levels", codes)
        of_leaves = (1 - _SHARE_OF_COUNTS) * cost
        of_level = (cost - of_leaves) / depth
        least = _least_count(queries, plan, n_records, of_leaves)
        leaves, n_levels = grow(queries, tally, n_records, least, of_level)
        # what levels that were not needed would have cost goes to the leaves
        return release_leaves(queries, domain, codes, leaves, cost - n_levels * of_level)


def _least_count(queries: Queries, plan: CentrePlan, n_records: float, cost: float) -> float:
    """Return how many records a leaf should have: enough to see their mean, few enough for K clusters."""
    settings = plan.settings
    d, statistic = settings.domain.n_features, leaf_sums(settings.domain, 2)
    scales = statistic.calibrate(
        queries.cost_of_a_row(cost),
        queries.neighboring,
        shares_of_a_round(d, queries.noise),
        queries.noise,
    )
    noise = scales.sum * 2.0**-statistic.unit_bits
    relative = noise * math.sqrt(d / float(statistic.largest_squared_norm))
    return max(1.0, min(_NOISE_OF_A_LEAF * relative, n_records / (2 * settings.n_components)))
