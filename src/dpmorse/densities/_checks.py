"""Checks of the parameters of mixtures: each returns them, or raises an error that says what is wrong."""

import numpy as np

from dpmorse.exceptions import InvalidParameterError
from dpmorse.schema import Layout
from dpmorse.typing import FloatArray

_SUM_ERROR = 1e-6
"""Largest error of a sum that should be 1; weights or probabilities are divided by their sum."""

_ROUNDING = 1e-12
"""Largest error of a sum by which nothing is divided: dividing would change the bits of a saved model when it
is loaded."""


def checked_parameters(
    weights: FloatArray, means: FloatArray, covariances: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return float64 copies of valid parameters of a mixture of Gaussians."""
    weights = checked_weights(weights)
    means, covariances = (np.array(a, dtype=np.float64) for a in (means, covariances))
    if means.ndim != 2 or len(means) != weights.size or means.shape[1] == 0:
        raise InvalidParameterError(
            f"means must have shape ({weights.size}, n_features) to match weights, got {means.shape}."
        )
    expected = (*means.shape, means.shape[1])
    if covariances.shape != expected:
        raise InvalidParameterError(f"covariances must have shape {expected}, got {covariances.shape}.")
    _check_finite(means=means, covariances=covariances)
    diagonal = np.diagonal(covariances, axis1=1, axis2=2)
    flat = np.flatnonzero(np.any(diagonal <= 0, axis=1))
    if flat.size:
        raise InvalidParameterError(f"covariances[{flat[0]}] is not positive definite: a variance is <= 0.")
    # The asymmetry is measured in units of correlations: the tolerance does not depend on the columns' units.
    scale, mirrored = np.sqrt(diagonal), covariances.transpose(0, 2, 1)
    with np.errstate(over="ignore"):
        gap = np.abs(covariances - mirrored) / scale[:, :, None] / scale[:, None, :]
    skewed = np.flatnonzero(gap.max(axis=(1, 2)) > 1e-8)
    if skewed.size:
        raise InvalidParameterError(f"covariances[{skewed[0]}] is not symmetric.")
    # Halves are added, because the sum of two large entries could overflow.
    return weights, means, np.where(covariances == mirrored, covariances, covariances / 2 + mirrored / 2)


def checked_weights(weights: FloatArray) -> FloatArray:
    """Return a float64 copy of weights that are not negative and sum to 1."""
    weights = np.array(weights, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        raise InvalidParameterError(f"weights must have shape (n_components,), got {weights.shape}.")
    _check_finite(weights=weights)
    with np.errstate(over="ignore"):  # a sum that overflows is refused below, like any sum other than 1
        total = float(weights.sum())
    if np.any(weights < 0) or abs(total - 1) > _SUM_ERROR:
        raise InvalidParameterError(
            f"weights must be non-negative and sum to 1, got a smallest weight of {weights.min():g} "
            f"and a sum of {total:.9g}."
        )
    if abs(total - 1) > _ROUNDING:
        weights /= total
    return weights


def checked_probabilities(probabilities: FloatArray, n_components: int, layout: Layout) -> FloatArray:
    """Return a float64 copy of probabilities that are positive and sum to 1 in each column of categories."""
    probabilities = np.array(probabilities, dtype=np.float64)
    expected = (n_components, layout.n_all_levels)
    if probabilities.shape != expected:
        raise InvalidParameterError(f"probabilities must have shape {expected}, got {probabilities.shape}.")
    _check_finite(probabilities=probabilities)
    # A probability of 0 is refused: a record with such a level would belong to no component.
    if np.any(probabilities <= 0):
        raise InvalidParameterError(f"probabilities must be > 0, got {probabilities.min():g}.")
    for column, own in enumerate(layout.levels):
        totals = probabilities[:, own].sum(axis=1)
        if np.any(np.abs(totals - 1) > _SUM_ERROR):
            raise InvalidParameterError(
                f"probabilities must sum to 1 in each component, got sums from {totals.min():.9g} "
                f"to {totals.max():.9g} in category {column}."
            )
        probabilities[:, own] /= np.where(np.abs(totals - 1) > _ROUNDING, totals, 1.0)[:, None]
    return probabilities


def _check_finite(**arrays: FloatArray) -> None:
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise InvalidParameterError(f"{name} must be finite.")


def factored(correlations: FloatArray) -> FloatArray:
    """Return Cholesky factors, or raise an error that names the first matrix without one."""
    factors = np.empty_like(correlations)
    for k, matrix in enumerate(correlations):
        try:
            # Correlations are at most 1 but for rounding. LAPACK's result for infinite entries is undefined.
            if not np.all(np.abs(matrix) < 2):
                raise np.linalg.LinAlgError  # noqa: TRY301 - answered like LAPACK's own
            factors[k] = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError as error:
            raise InvalidParameterError(
                f"covariances[{k}] is not positive definite. Add a small multiple of the identity."
            ) from error
    return factors


def freeze(owner: object, **arrays: FloatArray) -> None:
    """Set attributes of a frozen object to arrays that cannot be written to."""
    for name, array in arrays.items():
        array.flags.writeable = False
        object.__setattr__(owner, name, array)
