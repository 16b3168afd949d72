"""DPCube: candidates from cubes in a random projection, and a private local search among them."""

import numpy as np

from dpmorse.bases.centres.base import CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.cubes import (
    DEPTHS,
    MOST_AXES,
    MOST_CUBES,
    cube_codes,
    find_candidates,
    release_cubes,
    search,
)
from dpmorse.bases.centres.lloyd import lloyd_rounds, means_of_cells, shares_of_a_round
from dpmorse.bases.estimates import project
from dpmorse.bases.queries import Queries
from dpmorse.bases.starts import packed_centres
from dpmorse.exceptions import InvalidParameterError
from dpmorse.statistics import CellMoments, NearestCubes, SecondMoments
from dpmorse.typing import FloatArray

_N_ITER = 2
_SHARE_OF_CUBES, _SHARE_OF_SEARCH = 0.41, 0.20  # of the cost of centres; the rest recovers them


class DPCube(CentreBase):
    r"""Differentially private k-means in a random projection, with a Gaussian around each centre.

    The method of Balcan, Dick, Liang, Mou and Zhang (2017): records are projected to few axes, cubes are
    halved where noisy counts allow, their centres are candidates, and a local search exchanges centres by
    the exponential mechanism; the centres are recovered in all columns by noisy means. Unlike in the
    published program, every child of a cube is counted, empty or not, distances are cut off so that one
    record matters little to the search, and all that is released is paid for. A last release measures
    covariances. Columns may be in the hundreds.

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
        Rounds in all columns: the recovery and rounds of Lloyd's algorithm; None is 2.
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
        Sampler of the noise. "opendp" cannot draw random choices, so DPCube refuses it.
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
    of disjoint cubes, level by level, random choices (Theorem 7 of docs/privacy.md), and counts and sums of
    cells (Theorems 5 and 6). A record's cube is a function of that record and of a data-free projection,
    evaluated exactly. The total is Theorems 3 and 4, or the sum of pure epsilons. Labels of training
    records are not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPCube
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = DPCube(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(1)
    array([-0.5,  0.5])
    >>> print(f"{model.privacy_.epsilon:.3f}, secure: {model.privacy_.secure}")
    1.000, secure: False
    """

    def _plan(self, n_features: int) -> CentrePlan:
        plan = super()._plan(n_features)
        if plan.settings.noise != "native":
            raise InvalidParameterError(
                f"noise must be 'native' for DPCube, got '{plan.settings.noise}', which cannot draw choices."
            )
        return plan

    def _largest_n_draws(self, settings: CentreSettings) -> int:
        k, d = settings.n_components, settings.domain.n_features
        n_rounds = settings.n_iter or _N_ITER
        n_cubes = DEPTHS[1] * MOST_CUBES << MOST_AXES
        return n_cubes + n_rounds * k * (1 + d)

    def _find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        k, cost = plan.settings.n_components, plan.cost_of("centres")
        codes = cube_codes(plan.settings.domain, n_records, rng)
        tally = queries.tally("centres, cubes", codes)
        of_level = _SHARE_OF_CUBES * cost / codes.bits
        kept = release_cubes(queries, codes, tally, n_records, of_level)
        candidates = find_candidates(codes, kept, k, rng)
        chosen = search(queries, codes, tally, candidates, k, _SHARE_OF_SEARCH * cost)
        # what levels that were not needed would have cost goes to the recovery
        left = cost - len(kept) * of_level - _SHARE_OF_SEARCH * cost
        n_rounds = plan.settings.n_iter or _N_ITER
        centres = self._recover(queries, plan, NearestCubes(codes, codes.bits, chosen), left / n_rounds, rng)
        return lloyd_rounds(queries, plan, centres, left - left / n_rounds, n_rounds - 1)

    def _recover(
        self,
        queries: Queries,
        plan: CentrePlan,
        cells: NearestCubes,
        cost: float,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return the noisy mean of each projected cell in all columns; a data-free point for none."""
        domain = plan.settings.domain
        statistic = CellMoments(domain, cells.n_cells, second_moments=SecondMoments.NONE)
        shares = shares_of_a_round(domain.n_features, queries.noise)
        noisy = queries.moments("centres, recovery", statistic, cells, cost, shares)
        means, supported = means_of_cells(noisy)
        spread = packed_centres(cells.n_cells, domain.n_features, rng)
        return project(np.where(supported[:, None], means, spread), domain)
