"""The one-line default: a private mixture and its Morse step in one estimator."""

import math
from typing import Any, Self

from dpmorse import _validate
from dpmorse.bases.mixture_estimator import PrivateMixtureEstimator
from dpmorse.bases.staged.private_gaussian_mixture import PrivateGaussianMixture, default_n_components
from dpmorse.clustering.base import MorseEstimator
from dpmorse.engine import Engine
from dpmorse.exceptions import InvalidParameterError, ModelFormatError
from dpmorse.privacy import DEFAULT_DELTA, Ledger
from dpmorse.records import open_records


def fitted_n_components(n_components: int | None, n_clusters: int | None, n_features: int) -> int:
    """Return how many components to fit: a function of public values only.

    More than two for each cluster and one, and more than 48 / D, would split what is one cluster: in many
    columns a full covariance describes a cluster by itself.
    """
    if n_clusters is None:
        return n_components or default_n_components(n_features)
    if n_components is None:
        return default_n_components(n_features, n_clusters)
    return min(n_components, max(2 * n_clusters + 1, math.ceil(48 / n_features)))


class DPMorse(MorseEstimator):
    """Differentially private clustering: clusters of any shape, any number of them, in one line.

    ``PrivateGaussianMixture`` spends the budget and releases a mixture of Gaussians; its modes, saddles and
    merge tree make clusters of its components, without the data and at no cost.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. It may be changed after the fit by ``cut``. "auto" counts the modes that are
        twice as dense as the pass to a deeper one; give a number where you have one.
    n_components : int or None, default=None
        Largest number of components of the mixture. None takes two for each cluster and one, or up to 24
        in few columns. No more than that, or 48 / D, are fitted: they would split clusters.
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in (0, 1). Public; it never depends on the data.
    bounds : pair (lower, upper) or "private"
        Public bounds of the columns, scalars or one value per column, in the units of X. Values outside
        are clipped. They may be generous: ten times too wide costs little. Never read from the data, but for
        "private", which spends 5 % of the budget on finding them.
    neighboring : {"add-remove", "replace-one"}, default="add-remove"
        Whose presence or value is protected; under "replace-one" the number of records is public.
    max_rows_per_group : int or None, default=None
        None protects one record. A number protects all records of one group, such as a person, who are told
        apart by ``fit(X, groups=...)``; of each group at most so many records are used. Which ones depends
        on that group's records alone, not on their order.
    merge : str, default="auto"
        What is merged first: a name in ``dpmorse.morse.RULES``. "auto" chooses among the others.
    assign : {"component", "basin"}, default="component"
        How records find their cluster: through their most probable component, or by a descent to the mode in
        whose basin they lie.
    search : {"ridgelines", "quadratic-string"}, default="ridgelines"
        How saddles are looked for.
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
    base_ : PrivateGaussianMixture
        The fitted base.
    mixture_ : GaussianMixture
        The released mixture.
    privacy_ : PrivacyReport
        epsilon, delta, relation, rho, events (the ledger), statement, secure.
    merge_tree_ : MergeTree
        Modes, saddles, merges; cuts at any number of clusters.
    modes_, saddles_ : ndarray of shape (n, n_features)
        Modes of the released density, and saddles between them, lowest f first.
    graph_ : MorseGraph
        Modes as nodes, saddles as weighted edges.
    n_clusters_ : int
        Number of clusters of ``predict``.
    component_labels_ : ndarray of shape (n_components,)
        Cluster of each component.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had names.

    Notes
    -----
    **Privacy.** That of ``PrivateGaussianMixture``; everything after it is post-processing. Labels of
    training records are not private.

    Examples
    --------
    >>> from dpmorse import DPMorse
    >>> from dpmorse.datasets import make_moons
    >>> X, y = make_moons(20_000, random_state=0)
    >>> model = DPMorse(n_clusters=2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> bool(max((model.predict(X) == y).mean(), (model.predict(X) != y).mean()) > 0.95)
    True
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        n_components: int | None = None,
        *,
        epsilon: float | None = None,
        delta: float = DEFAULT_DELTA,
        bounds: Any = None,
        neighboring: str = "add-remove",
        max_rows_per_group: int | None = None,
        merge: str = "auto",
        assign: str = "component",
        search: str = "ridgelines",
        calibration: str = "gaussian",
        noise: str = "native",
        engine: Engine | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.neighboring = neighboring
        self.max_rows_per_group = max_rows_per_group
        self.merge = merge
        self.assign = assign
        self.search = search
        self.calibration = calibration
        self.noise = noise
        self.engine = engine
        self.ledger = ledger
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is None:
            return
        most = _validate.positive_int(n_components=self.n_components)
        if not isinstance(self.n_clusters, str) and self.n_clusters > most:
            raise InvalidParameterError(
                f"n_components must be at least n_clusters, {self.n_clusters}, got {most}. "
                "Give more components, or None."
            )

    def _unfitted_base(self, X: Any, groups: Any = None) -> PrivateGaussianMixture:
        n_clusters = None if isinstance(self.n_clusters, str) else self.n_clusters
        n_features = open_records(X, groups).columns.n_features_in_
        return PrivateGaussianMixture(
            fitted_n_components(self.n_components, n_clusters, max(n_features, 1)),
            min_components=n_clusters or 1,
            **{name: getattr(self, name) for name in _OF_BASE},
        )

    @classmethod
    def _around(cls, base: PrivateMixtureEstimator, parameters: dict[str, Any]) -> Self:
        if not isinstance(base, PrivateGaussianMixture):
            raise ModelFormatError("the base of a DPMorse must be a PrivateGaussianMixture.")
        of_base = {name: getattr(base, name) for name in _OF_BASE}
        return cls(n_components=base.n_components, **parameters, **of_base)


_OF_BASE = (
    "epsilon",
    "delta",
    "bounds",
    "neighboring",
    "max_rows_per_group",
    "calibration",
    "noise",
    "engine",
    "ledger",
    "random_state",
)
