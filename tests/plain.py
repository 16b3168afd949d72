"""Plain NumPy forms of the statistics, written for clarity: what every engine must reproduce."""

import numpy as np

from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    MATRIX_BITS,
    CellMoments,
    Domain,
    ExactMoments,
    GaussianCells,
    ProfileCells,
    Projection,
    RadiusHistograms,
)


def exact_moments(X, statistic: CellMoments, cells: GaussianCells | ProfileCells) -> ExactMoments:
    """Integer sums with Python-visible integer arithmetic only."""
    if isinstance(cells, ProfileCells):
        return profile_moments(X, cells)
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


def profile_moments(X, cells: ProfileCells) -> ExactMoments:
    """Sums over the residuals of the records of each cell, one cell after the other."""
    labels, z = cells.labels(np.asarray(X)), cells.residuals(np.asarray(X))
    of_cells = [z[labels == k] for k in range(cells.n_cells)]
    return ExactMoments(
        np.array([len(own) for own in of_cells]),
        np.array([own.sum(axis=0) for own in of_cells]),
        np.array([own.T @ own for own in of_cells]),
    )


def radius_counts(X, statistic: RadiusHistograms):
    """Counts of records by cell and bin, one record after the other."""
    counts = np.zeros((statistic.cells.n_cells, statistic.n_bins), dtype=np.int64)
    X = np.asarray(X)
    for label, place in zip(statistic.cells.labels(X), statistic.bins(X), strict=True):
        if place >= 0:
            counts[label, place] += 1
    return counts


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


def random_profile(
    rng, n_cells, n_features, radii=3.0, *, wide=8.0, constant=None, **options
) -> ProfileCells:
    """Cells in a ball of the unit box, measured in a wider box around another centre.

    ``constant`` is a column in which all records are equal.
    """
    weights, means, covariances = random_mixture(rng, n_cells, n_features, **options)
    lower, upper = np.full(n_features, -wide), np.full(n_features, wide + 1.0)
    sides = -np.ones(n_features), np.ones(n_features)
    if constant is not None:
        lower[constant] = upper[constant] = sides[0][constant] = sides[1][constant] = 0.25
    box = Domain(lower, upper, None, FINE_GRID_BITS)
    scaled = (means - box.centre) / box.unit, covariances / np.outer(box.unit, box.unit)
    return ProfileCells(
        GaussianCells.from_mixture(weights, means, covariances, grid_bits=FINE_GRID_BITS),
        Domain(*sides, 1.1, FINE_GRID_BITS),
        GaussianCells.from_mixture(weights, *scaled, radii, FINE_GRID_BITS),
        box,
    )


def projected_profile(rng, n_cells, n_columns, n_directions, radii=3.0) -> ProfileCells:
    """Cells of projected records, measured in all columns."""
    whole = random_profile(rng, n_cells, n_columns, radii)
    ball = projected_box(rng, n_columns, n_directions, None, FINE_GRID_BITS)
    mixture = random_mixture(rng, n_cells, n_directions)
    cells = GaussianCells.from_mixture(*mixture, grid_bits=FINE_GRID_BITS)
    return ProfileCells(cells, ball, whole.units, whole.box)


def profile_statistics(cells: ProfileCells) -> tuple[CellMoments, RadiusHistograms]:
    """What is released of profile cells."""
    return CellMoments(cells.box, cells.n_cells, of_residuals=True), RadiusHistograms(cells)


def unit_box(n_features, radius=None) -> Domain:
    return Domain.from_bounds((-1.0, 1.0), n_features, radius)


def projected_box(rng, n_columns, n_directions, radius=1.1, grid_bits=GRID_BITS) -> Domain:
    """A box, and perhaps a ball, around records that are projected on random directions."""
    directions = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0][:n_directions]
    before = Domain(-np.ones(n_columns), np.linspace(1.0, 3.0, n_columns), 2.0, FINE_GRID_BITS)
    sides = np.full(n_directions, 2.0 ** (MATRIX_BITS + FINE_GRID_BITS))
    projection = Projection(before, np.rint(directions * 2.0**MATRIX_BITS))
    return Domain(-sides, sides, radius, grid_bits, projection)


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
