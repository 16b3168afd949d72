"""Plain NumPy forms of the statistics, written for clarity: what every engine must reproduce."""

import numpy as np

from dpmorse.privacy.exact import opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    MATRIX_BITS,
    CellMoments,
    Domain,
    ExactMoments,
    GaussianCells,
    ProfileCounts,
    Projection,
)


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


def random_profile(
    rng, n_cells, n_features, *, n_edges=7, wide=8.0, constant=None, **options
) -> ProfileCounts:
    """Cells in a ball of the unit box, whose records are counted in a wider box around another centre.

    ``constant`` is a column in which all records are equal.
    """
    lower, upper = np.full(n_features, -wide), np.full(n_features, wide + 1.0)
    sides = -np.ones(n_features), np.ones(n_features)
    if constant is not None:
        lower[constant] = upper[constant] = sides[0][constant] = sides[1][constant] = 0.25
    ball = Domain(*sides, 1.1, FINE_GRID_BITS)
    mixture = random_mixture(rng, n_cells, n_features, **options)
    return profile_of(rng, mixture, ball, Domain(lower, upper, None, FINE_GRID_BITS), n_edges)


def profile_of(rng, mixture, ball, box, n_edges=7) -> ProfileCounts:
    """Counts of numbers in the box, in the cells that a mixture has in the ball."""
    rule = GaussianCells.from_mixture(*mixture, grid_bits=ball.grid_bits)
    one = 1 << box.grid_bits
    edges = np.sort(rng.integers(-one, one + 1, size=(rule.n_cells, box.n_features, n_edges)), axis=2)
    layout = Layout(tuple(box.lower.tolist()), tuple(box.upper.tolist()))
    return ProfileCounts(rule, ball, box, layout, edges)


def projected_profile(rng, n_cells, n_columns, n_directions) -> ProfileCounts:
    """Cells of projected records, which are counted in all columns."""
    ball = projected_box(rng, n_columns, n_directions, None, FINE_GRID_BITS)
    box = random_profile(rng, n_cells, n_columns).box
    return profile_of(rng, random_mixture(rng, n_cells, n_directions), ball, box)


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
