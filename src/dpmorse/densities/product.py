"""The released model of a table with categories and missing values: a mixture of products.

Each component is a Gaussian over the numbers times one independent distribution for each category. Records
are encoded ones (``dpmorse.schema.Layout``); the density of a record is that of the values it has.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import logsumexp

from dpmorse.densities._checks import checked_probabilities, checked_weights, freeze
from dpmorse.densities.mixture import GaussianMixture, normalised
from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema import Layout
from dpmorse.typing import FloatArray, IntArray, LabelArray, label_dtype

SMALLEST_GINI = 0.02
"""Bound of the weight of a category that hardly varies: its rare levels would outweigh all other columns."""

_WITHIN_FLOOR = 1e-3
"""Added to the variance within components, which is 0 for a level that a component never has."""

_MOST_DIRECTIONS = 8
"""Most directions of the shadow."""

_SHADOW_FLOOR = 1e-4
"""Added to variances of the shadow: the shadow of a component that has one level only would be a point."""

_PARAMETERS = ("weights", "means", "covariances", "probabilities")


@dataclass(frozen=True, eq=False)
class ProductMixture:
    r"""The density ``p = sum_k w_k N(mu_k, Sigma_k) prod_j P_kj`` of records with numbers and categories.

    Parameters
    ----------
    weights : array-like of shape (n_components,)
        Non-negative, summing to 1. A component of weight 0 is kept and takes part in nothing.
    means : array-like of shape (n_components, n_numbers)
        Centres; there may be no numbers.
    covariances : array-like of shape (n_components, n_numbers, n_numbers)
        Symmetric and positive definite.
    probabilities : array-like of shape (n_components, n_all_levels)
        Of the levels of all categories, one category after the other: positive, summing to 1 in each. There
        may be no categories.
    layout : Layout
        Positions of the columns in an encoded record.

    Guarantees
    ----------
    * The density of a record with missing values is the exact marginal one: the integral over missing
      numbers, and the sum over missing categories.
    * Without categories and missing values, every value is that of ``GaussianMixture``, bit by bit.

    Edge cases
    ----------
    ======================================  ====================================================
    neither numbers nor categories          ``InvalidParameterError``
    a probability of 0                      ``InvalidParameterError``: a record could have density 0
    sums that are not 1 (1e-6)              ``InvalidParameterError``; smaller errors are rescaled
    a record without any value              density 1; responsibilities are the weights
    ======================================  ====================================================

    Examples
    --------
    >>> from dpmorse.densities import ProductMixture
    >>> from dpmorse.schema import Layout
    >>> layout = Layout(lower=(0.0,), upper=(8.0,), holes=(0,), n_levels=(2,))
    >>> levels = [[0.9, 0.1], [0.2, 0.8]]
    >>> mixture = ProductMixture([0.5, 0.5], [[2.0], [6.0]], [[[1.0]], [[1.0]]], levels, layout)
    >>> number_and_first_level, second_level_alone = [0, 4.0, 1, 0], [1, 4.0, 0, 1]
    >>> mixture.responsibilities([number_and_first_level, second_level_alone]).round(3).tolist()
    [[0.818, 0.182], [0.111, 0.889]]
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    probabilities: FloatArray
    layout: Layout
    _numbers: GaussianMixture | None = field(init=False, repr=False)
    _log_weights: FloatArray = field(init=False, repr=False)
    _log_probabilities: FloatArray = field(init=False, repr=False)

    def __repr__(self) -> str:
        parts = f"{self.layout.n_numbers} numbers, {self.layout.n_categories} categories"
        return f"ProductMixture({self.n_components} components, {parts})"

    def __post_init__(self) -> None:
        """Check, copy and freeze the parameters."""
        if not self.layout.n_numbers + self.layout.n_categories:
            raise InvalidParameterError("layout must have a column.")
        weights = checked_weights(self.weights)
        # Shapes are those of the layout; values are checked as those of Gaussians.
        k, d = weights.size, self.layout.n_numbers
        means, covariances = (np.array(a, dtype=np.float64) for a in (self.means, self.covariances))
        for name, array, expected in (("means", means, (k, d)), ("covariances", covariances, (k, d, d))):
            if array.shape != expected:
                raise InvalidParameterError(f"{name} must have shape {expected}, got {array.shape}.")
        numbers = GaussianMixture(weights, means, covariances) if d else None
        probabilities = checked_probabilities(self.probabilities, k, self.layout)
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        object.__setattr__(self, "_numbers", numbers)
        freeze(
            self,
            weights=weights,
            means=means if numbers is None else numbers.means,
            covariances=covariances if numbers is None else numbers.covariances,
            probabilities=probabilities,
            _log_weights=log_weights,
            _log_probabilities=np.log(probabilities),
        )

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.weights.size)

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return self.layout.n_numbers + self.layout.n_categories

    @cached_property
    def landscape(self) -> GaussianMixture:
        """Return the density whose valleys tell clusters apart: the *shadow*.

        Valleys and saddles exist in a space of numbers only. Each level of a category becomes a vector of
        that space, and a component then has a mean and a covariance in all columns. The shadow has Gaussians
        with these moments, in the directions that best tell components apart.
        """
        (matrix, origin), (means, covariances) = self.shadow_map, self.record_moments
        covariances = matrix @ covariances @ matrix.T + _SHADOW_FLOOR * np.eye(len(matrix))
        return GaussianMixture(self.weights, (means - origin) @ matrix.T, covariances)

    def numbers_of(self, E: FloatArray) -> FloatArray:
        """Return the entries of encoded records that are numbers."""
        return E[:, self.layout.number_part]

    def __eq__(self, other: object) -> bool:
        """Compare parameters bit by bit."""
        return (
            isinstance(other, ProductMixture)
            and self.layout == other.layout
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _PARAMETERS)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle by calling the constructor, which checks the arrays and makes them read-only."""
        return type(self), (*(getattr(self, name) for name in _PARAMETERS), self.layout)

    def log_joint(self, E: FloatArray) -> FloatArray:
        """Return ln(w_k p_k) of the known values of each record, shape (n_samples, n_components)."""
        E = np.asarray(E, dtype=np.float64)
        if E.ndim != 2 or E.shape[1] != self.layout.width:
            raise InvalidParameterError(f"E must have shape (n_samples, {self.layout.width}), got {E.shape}.")
        logs = np.tile(self._log_weights, (len(E), 1))
        if self._numbers is not None:
            known = np.ones((len(E), self.layout.n_numbers), dtype=np.bool_)
            known[:, list(self.layout.holes)] = E[:, self.layout.hole_part] == 0
            numbers, complete = E[:, self.layout.number_part], known.all(axis=1)
            # The Gaussians have the weights in their densities already.
            logs[complete] = self._numbers.component_log_densities(numbers[complete])
            logs[~complete] = self._numbers.marginal_log_densities(numbers[~complete], known[~complete])
        if self.layout.n_categories:
            # A missing category has only zeros, and adds nothing.
            logs += E[:, self.layout.level_part] @ self._log_probabilities.T
        return logs

    def log_density(self, E: FloatArray) -> FloatArray:
        """Return ln p of the known values of each record, shape (n_samples,)."""
        density: FloatArray = logsumexp(self.log_joint(E), axis=1)
        return density

    def responsibilities(self, E: FloatArray) -> FloatArray:
        """Return the probability of each component given the record, shape (n_samples, n_components)."""
        return normalised(self.log_joint(E))

    def labels(self, E: FloatArray) -> LabelArray:
        """Return the most probable component of each record, in the smallest signed type that holds it.

        Ties go to the lowest index.
        """
        labels: LabelArray = np.argmax(self.log_joint(E), axis=1).astype(label_dtype(self.n_components))
        return labels

    def sample(
        self, n_samples: int, rng: np.random.Generator | int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Draw encoded records without missing values, and the component each came from.

        Numbers may lie outside of the layout's bounds.
        """
        rng = np.random.default_rng(rng)
        records = np.zeros((n_samples, self.layout.width))
        if self._numbers is None:
            labels = rng.choice(self.n_components, size=n_samples, p=self.weights)
        else:
            records[:, self.layout.number_part], labels = self._numbers.sample(n_samples, rng)
        for own in self.layout.levels:
            # The number of steps of the distribution function that lie below a uniform number.
            steps = np.cumsum(self.probabilities[:, own], axis=1)[:, :-1]
            level = np.sum(rng.random(n_samples)[:, None] >= steps[labels], axis=1)
            records[np.arange(n_samples), self.layout.level_part.start + own.start + level] = 1.0
        return records, labels

    @property
    def units(self) -> tuple[FloatArray, FloatArray]:
        """Standard deviations of the numbers, and probabilities of the levels, over all components."""
        centre = self.weights @ self.means
        squares = np.diagonal(self.covariances, axis1=1, axis2=2) + np.square(self.means - centre)
        return np.sqrt(self.weights @ squares), self.weights @ self.probabilities

    @cached_property
    def record_moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the record ``[numbers | levels]`` of each component."""
        (k, d), n = self.means.shape, self.layout.n_numbers + self.layout.n_all_levels
        covariances = np.zeros((k, n, n))
        covariances[:, :d, :d] = self.covariances
        for own in self.layout.levels:
            p, place = self.probabilities[:, own], slice(d + own.start, d + own.stop)
            # One level of a category excludes all others of it.
            covariances[:, place, place] = p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]
        return np.hstack([self.means, self.probabilities]), covariances

    @cached_property
    def shadow_map(self) -> tuple[FloatArray, FloatArray]:
        """The map to the shadow, ``A (x - o)`` of ``x = [numbers | levels]``, as A and o.

        In the directions, the rows of A, the variance between components is largest where that within them is
        1. K components lie in K - 1 directions; the first is returned in any case, since a density needs a
        space. Columns weigh alike: the levels of a category get its Gini index ``1 - sum p^2`` to the power
        -1/2, so that its total variance is 1.
        """
        (scale, marginals), (means, covariances) = self.units, self.record_moments
        origin = np.concatenate([np.zeros(self.layout.n_numbers), marginals])
        ginis = [max(1 - np.square(marginals[own]).sum(), SMALLEST_GINI) for own in self.layout.levels]
        units = np.concatenate([1 / scale, np.repeat(np.power(ginis, -0.5), self.layout.n_levels)])
        means, covariances = (means - origin) * units, covariances * (units[:, None] * units)
        centred = means - self.weights @ means
        between = (centred.T * self.weights) @ centred
        within = np.einsum("k,kij->ij", self.weights, covariances) + _WITHIN_FLOOR * np.eye(len(units))
        n = max(1, min(_MOST_DIRECTIONS, self.n_components - 1, len(units)))
        _, vectors = eigh(between, within, subset_by_index=(len(units) - n, len(units) - 1))
        return vectors[:, ::-1].T * units, origin  # eigenvalues come in ascending order
