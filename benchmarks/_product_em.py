"""A reference without privacy: EM of mixtures of products on the exact records of a table.

A missing number is put at the component's own mean, and its variance left out: exact where numbers do not
depend on each other within a component. Log densities and moments are then linear in the same products of
values, so that a round is two products of matrices.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from benchmarks.generated.mixed_table import MixedTable
from dpmorse.densities import ProductMixture, floor_spectrum
from dpmorse.schema import Layout
from dpmorse.typing import FloatArray

_SMALLEST_VARIANCE = 1e-3
"""Of a component, in units of the variance of the whole column."""

_PRIOR = 1.0
"""Records of the whole table that are added to every component, so that no level is impossible."""

_ENOUGH = 1e-5
"""A gain of log likelihood per record below which the rounds end."""


def product_em(
    table: MixedTable, n_components: int, *, n_starts: int = 4, n_rounds: int = 60, random_state: int = 0
) -> ProductMixture:
    """Fit a mixture of products to exact records: the likeliest of several, each from a k-means of its own.

    Nothing about it is private.
    """
    centre, scale = np.nanmean(table.numbers, axis=0), np.nanstd(table.numbers, axis=0)
    known = ~np.isnan(table.numbers)
    numbers = np.where(known, (table.numbers - centre) / scale, 0.0)
    levels = table.encoded()[:, table.layout.level_part]
    space, features = as_numbers(numbers, levels, table.layout), _features(numbers, 1.0 * known, levels)
    fits = []
    for start in range(n_starts):
        kmeans = KMeans(n_components, n_init=1, random_state=random_state * n_starts + start)
        fits.append(_fit(features, np.eye(n_components)[kmeans.fit_predict(space)], table.layout, n_rounds))
    best = max(fits, key=lambda fit: fit[0])[1]
    covariances = best.covariances * (scale[:, None] * scale)
    return ProductMixture(
        best.weights, best.means * scale + centre, covariances, best.probabilities, table.layout
    )


def as_numbers(numbers: FloatArray, levels: FloatArray, layout: Layout) -> FloatArray:
    """Return one space for k-means: numbers, and levels of which each column has a variance of 1."""
    p, column = _within_columns(levels.sum(axis=0) + _PRIOR, layout), layout.category_of_level
    known = np.array([levels[:, own].sum(axis=1) for own in layout.levels]).reshape(-1, len(levels))
    gini = np.array([1 - np.square(p[own]).sum() for own in layout.levels])
    return np.hstack([numbers, (levels - p * known.T[:, column]) / np.sqrt(gini[column])])


@dataclass(frozen=True)
class _Products:
    """A mixture of products of standardised numbers and levels."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    probabilities: FloatArray


def _features(numbers: FloatArray, known: FloatArray, levels: FloatArray) -> FloatArray:
    """Return x_i x_j, x_i o_j and o_i o_j, flat, and the levels: o is 1 where x is known, and both else 0."""
    pairs = [(numbers, numbers), (numbers, known), (known, known)]
    flat = [np.einsum("ni,nj->nij", a, b).reshape(len(levels), -1) for a, b in pairs]
    return np.hstack([*flat, levels])


def _fit(features: FloatArray, shares: FloatArray, layout: Layout, n_rounds: int) -> tuple[float, _Products]:
    """Return the log likelihood per record that rounds of EM reach, and the mixture."""
    marginals = _within_columns(features[:, 3 * layout.n_numbers**2 :].sum(axis=0) + _PRIOR, layout)
    mixture, before = _maximised(shares.T @ features, shares.sum(axis=0), marginals, layout), -np.inf
    for _ in range(n_rounds):
        logs = np.log(mixture.weights) + features @ _coefficients(mixture).T
        totals = logsumexp(logs, axis=1, keepdims=True)
        after = float(totals.mean())
        if after - before < _ENOUGH:
            break
        shares, before = np.exp(logs - totals), after
        mixture = _maximised(shares.T @ features, shares.sum(axis=0), marginals, layout)
    return before, mixture


def _coefficients(mixture: _Products) -> FloatArray:
    """Return log densities as sums of features: -(x - o m)^T P (x - o m) / 2 - o^T ln diag L + ln p."""
    k, d = mixture.means.shape
    precisions, m = np.linalg.inv(mixture.covariances), mixture.means
    factors = np.linalg.cholesky(mixture.covariances)
    log_diagonals = np.log(np.diagonal(factors, axis1=1, axis2=2))
    squares = -0.5 * precisions * m[:, :, None] * m[:, None, :] - log_diagonals[:, :, None] * np.eye(d)
    parts = (-0.5 * precisions, precisions * m[:, None, :], squares)
    return np.hstack([*(part.reshape(k, d * d) for part in parts), np.log(mixture.probabilities)])


def _maximised(sums: FloatArray, counts: FloatArray, marginals: FloatArray, layout: Layout) -> _Products:
    """Return the mixture with the moments of the features' sums, over the values that are known."""
    k, d = len(sums), layout.n_numbers
    xx, xo, oo = sums[:, : 3 * d * d].reshape(k, 3, d, d).transpose(1, 0, 2, 3)
    m = np.diagonal(xo, axis1=1, axis2=2) / (np.diagonal(oo, axis1=1, axis2=2) + _PRIOR)
    crossed = xo * m[:, None, :]
    centred = xx - crossed - crossed.transpose(0, 2, 1) + oo * m[:, :, None] * m[:, None, :]
    covariances = (centred + _PRIOR * np.eye(d)) / (oo + _PRIOR)
    return _Products(
        (counts + _PRIOR) / (counts + _PRIOR).sum(),
        m,
        floor_spectrum(covariances, _SMALLEST_VARIANCE) if d else covariances,
        _within_columns(sums[:, 3 * d * d :] + _PRIOR * marginals, layout),
    )


def _within_columns(counts: FloatArray, layout: Layout) -> FloatArray:
    """Divide positive counts of levels by their sums in each column."""
    shares = np.empty_like(counts)
    for own in layout.levels:
        shares[..., own] = counts[..., own] / counts[..., own].sum(axis=-1, keepdims=True)
    return shares
