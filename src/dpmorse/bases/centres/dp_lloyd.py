"""DPLloyd: Lloyd's algorithm on noisy counts and sums, from a start that owes nothing to the data."""

import numpy as np

from dpmorse.bases.centres.base import CentreBase, CentrePlan, CentreSettings
from dpmorse.bases.centres.lloyd import N_ITER, affordable_n_iter, lloyd_rounds
from dpmorse.bases.estimates import project
from dpmorse.bases.queries import Queries
from dpmorse.bases.starts import packed_centres
from dpmorse.typing import FloatArray


class DPLloyd(CentreBase):
    r"""Differentially private k-means by Lloyd's algorithm, with a Gaussian around each centre.

    The method of Su, Cao, Li, Bertino and Jin (2016): centres start far from one another and from the
    faces of the box; each round releases noisy counts and sums of the cells of the nearest centre. The number
    of rounds and the split between counts and sums are theirs, restated for Gaussian noise. A last release
    measures covariances.

    The start decides: where two clusters share a starting centre, no number of rounds parts them. ``DPTree``
    and ``DPCube`` look at the data first.

    Parameters
    ----------
    n_components : int, default=10
        Number of centres and of Gaussian components around them, at least 1.
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in [0, 1). With 0 the promise is pure and the noise is
        Laplace instead of Gaussian, as in the paper. Public; it never depends on the data.
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
        Rounds. None takes 2 to 7: as many as keep the error of one round small, given the released number
        of records.
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
    and sums of cells, and counts and moments of residuals (Theorem 5 of docs/privacy.md); a record's cell is
    computed exactly, from that record and released values only. The total is Theorems 3 and 4, or the sum of
    pure epsilons. Labels of training records are not private.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPLloyd
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * 0.1 + rng.choice([-0.5, 0.5], size=(5000, 1))
    >>> model = DPLloyd(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(1)
    array([-0.5,  0.5])
    >>> print(f"{model.privacy_.epsilon:.3f}, secure: {model.privacy_.secure}")
    1.000, secure: False
    """

    def _largest_n_draws(self, settings: CentreSettings) -> int:
        n_iter = settings.n_iter or N_ITER[1]
        return n_iter * settings.n_components * (1 + settings.domain.n_features)

    def _find_centres(
        self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
    ) -> FloatArray:
        settings, cost = plan.settings, plan.cost_of("centres")
        k, d = settings.n_components, settings.domain.n_features
        n_iter = settings.n_iter or affordable_n_iter(
            k, d, n_records, queries.cost_of_a_row(cost), queries.noise
        )
        start = project(packed_centres(k, d, rng), settings.domain)
        return lloyd_rounds(queries, plan, start, cost, n_iter)
