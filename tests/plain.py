"""Plain NumPy forms of the statistics, written for clarity: what every engine must reproduce."""

import numpy as np

from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import CellMoments, Domain, ExactMoments, GaussianCells


def exact_moments(X, statistic: CellMoments, cells: GaussianCells) -> ExactMoments:
    """Integer sums with Python-visible integer arithmetic only."""
    q = statistic.domain.quantise(np.asarray(X))
    if statistic.weight_bits:
        weights = cells.responsibilities(q)
    else:
        weights = np.eye(statistic.n_cells, dtype=np.int64)[cells.labels(q)]
    z = np.repeat(q[:, None], statistic.n_cells, axis=1)
    if statistic.of_residuals:
        z = cells.residuals(q)
    return ExactMoments(
        weights.sum(axis=0),
        np.einsum("nk,nki->ki", weights, z),
        np.einsum("nk,nki,nkj->kij", weights, z, z),
    )


def units(X, statistic, cells):
    """The exact statistic as the vector that would be released."""
    if len(X) == 0:
        return np.zeros(statistic.n_values, dtype=np.int64)
    return opened(statistic.to_units(sealed(exact_moments(X, statistic, cells))))


def random_mixture(rng, n_components, n_features, spread=0.7, scale=0.3):
    """Weights, means and covariances of a random mixture in scaled units."""
    factors = rng.normal(size=(n_components, n_features, n_features)) * scale / np.sqrt(n_features)
    covariances = np.einsum("kij,klj->kil", factors, factors) + (0.3 * scale) ** 2 * np.eye(n_features)
    weights = rng.dirichlet(np.full(n_components, 3.0))
    return weights, rng.uniform(-spread, spread, size=(n_components, n_features)), covariances


def random_cells(rng, n_components, n_features, radii=1.0, **options) -> GaussianCells:
    return GaussianCells.from_mixture(*random_mixture(rng, n_components, n_features, **options), radii)


def unit_box(n_features, radius=None) -> Domain:
    return Domain.from_bounds((-1.0, 1.0), n_features, radius)


def twins(rng, n_features):
    """Two nearly identical cells, between which margins that no float32 can see decide."""
    weights, means, covariances = random_mixture(rng, 4, n_features)
    means[1], covariances[1], weights[1] = means[0] + 1e-7, covariances[0], weights[0]
    return GaussianCells.from_mixture(weights / weights.sum(), means, covariances)


def assert_same(found, expected):
    """Compare moments bit for bit; of second moments the lower triangle counts."""
    assert np.array_equal(found.counts, expected.counts)
    assert np.array_equal(found.sums, expected.sums)
    assert np.array_equal(np.tril(found.second_moments), np.tril(expected.second_moments))
