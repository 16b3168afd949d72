"""The released model of a table with categories and missing values: a mixture of products.

Each component is a Gaussian over the numbers times one independent distribution for each category. Records
are encoded ones (``dpmorse.schema.Layout``); the density of a record is that of the values it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpmorse.densities._checks import checked_probabilities, checked_weights, freeze
from dpmorse.densities.mixture import GaussianMixture, normalised
from dpmorse.densities.shadow import discriminants, record_covariances, record_means, record_units
from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema import Layout
from dpmorse.typing import BoolArray, FloatArray, IntArray, LabelArray, label_dtype

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
        means, covariances = self._shaped(weights.size)
        numbers = GaussianMixture(weights, means, covariances) if self.layout.n_numbers else None
        probabilities = checked_probabilities(self.probabilities, weights.size, self.layout)
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

    def _shaped(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return means and covariances in the shapes of the layout; their values are checked later."""
        d = self.layout.n_numbers
        means, covariances = (np.array(a, dtype=np.float64) for a in (self.means, self.covariances))
        for name, array, expected in (("means", means, (k, d)), ("covariances", covariances, (k, d, d))):
            if array.shape != expected:
                raise InvalidParameterError(f"{name} must have shape {expected}, got {array.shape}.")
        return means, covariances

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
        """Return the density whose valleys tell clusters apart: the shadow in the mixture's own units."""
        return self.shadow(*self.units)

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
        E = self._records(E)
        logs = np.tile(self._log_weights, (len(E), 1))
        for rows, known in self._patterns(E[:, self.layout.hole_part] != 0):
            numbers = self._marginal(known)
            if numbers is not None:
                # The Gaussians have the weights in their densities already.
                logs[rows] = numbers.component_log_densities(E[rows, self.layout.number_part][:, known])
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

    def subset(self, kept: IntArray | BoolArray) -> "ProductMixture":
        """Return the mixture of some components: an array of their indices, or of one boolean for each."""
        weights = self.weights[kept]
        if not weights.sum() > 0:
            raise InvalidParameterError("kept must name a component of positive weight.")
        rest = (self.means[kept], self.covariances[kept], self.probabilities[kept])
        return ProductMixture(weights / weights.sum(), *rest, self.layout)

    @property
    def units(self) -> tuple[FloatArray, FloatArray]:
        """Standard deviations of the numbers, and probabilities of the levels, over all components."""
        centre = self.weights @ self.means
        squares = np.diagonal(self.covariances, axis1=1, axis2=2) + np.square(self.means - centre)
        return np.sqrt(self.weights @ squares), self.weights @ self.probabilities

    def shadow(self, scale: FloatArray, marginals: FloatArray, most_directions: int = 8) -> GaussianMixture:
        """Return Gaussians with the components' moments in the directions that best tell components apart.

        Parameters
        ----------
        scale : array-like of shape (n_numbers,)
            Divisors of the numbers, so that columns weigh alike.
        marginals : array-like of shape (n_all_levels,)
            Probabilities of the levels in the whole table.
        most_directions : int, default 8
            Most directions; there are at least one and at most n_components - 1.
        """
        matrix, origin = self.shadow_map(scale, marginals, most_directions)
        means = (record_means(self.means, self.probabilities) - origin) @ matrix.T
        covariances = (
            matrix @ record_covariances(self.covariances, self.probabilities, self.layout) @ matrix.T
        )
        return GaussianMixture(self.weights, means, covariances + _SHADOW_FLOOR * np.eye(len(matrix)))

    def shadow_map(
        self, scale: FloatArray, marginals: FloatArray, most_directions: int = 8
    ) -> tuple[FloatArray, FloatArray]:
        """Return the map to the shadow, ``A (x - o)`` of ``x = [numbers | levels]``, as A and o."""
        scale, marginals = np.asarray(scale, dtype=np.float64), np.asarray(marginals, dtype=np.float64)
        if scale.shape != (self.layout.n_numbers,) or not np.all((scale > 0) & np.isfinite(scale)):
            raise InvalidParameterError(f"scale must hold {self.layout.n_numbers} finite numbers > 0.")
        if marginals.shape != (self.layout.n_all_levels,) or not np.all((marginals >= 0) & (marginals <= 1)):
            raise InvalidParameterError(f"marginals must hold {self.layout.n_all_levels} probabilities.")
        origin = np.concatenate([np.zeros(self.layout.n_numbers), marginals])
        units = record_units(scale, marginals, self.layout)
        means = (record_means(self.means, self.probabilities) - origin) * units
        covariances = record_covariances(self.covariances, self.probabilities, self.layout)
        directions = discriminants(
            self.weights, means, covariances * (units[:, None] * units), most_directions
        )
        return directions * units, origin

    def _patterns(self, missing: BoolArray) -> Iterator[tuple[IntArray | slice, BoolArray]]:
        """Yield the records that share a pattern of missing numbers, and a mask of the numbers they have."""
        known = np.ones(self.layout.n_numbers, dtype=np.bool_)
        if not missing.any():
            yield slice(None), known
            return
        # Packed to bytes, patterns of many columns are sorted quickly.
        _, first, pattern = np.unique(
            np.packbits(missing, axis=1), axis=0, return_index=True, return_inverse=True
        )
        for place, record in enumerate(first):
            known = np.ones(self.layout.n_numbers, dtype=np.bool_)
            known[list(self.layout.holes)] = ~missing[record]
            yield np.flatnonzero(pattern.reshape(-1) == place), known

    def _marginal(self, known: BoolArray) -> GaussianMixture | None:
        """Return the Gaussians of the known numbers; None if no number is known."""
        if known.all() or not known.any():
            return self._numbers if known.all() else None
        covariances = self.covariances[:, known][:, :, known]
        return GaussianMixture(self.weights, self.means[:, known], covariances)

    def _records(self, E: FloatArray) -> FloatArray:
        records = np.asarray(E, dtype=np.float64)
        if records.ndim != 2 or records.shape[1] != self.layout.width:
            raise InvalidParameterError(
                f"E must have shape (n_samples, {self.layout.width}), got {records.shape}."
            )
        return records
