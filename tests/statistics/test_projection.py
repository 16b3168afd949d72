"""Projected records: exact, one at a time, and never beyond the domain that bounds them."""

from fractions import Fraction

import numpy as np
import pytest

from dpmorse.privacy import Neighboring, Step
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    MATRIX_BITS,
    WEIGHT_BITS,
    CellMoments,
    Domain,
    Projection,
)
from plain import projected_box, random_cells, units

ONE = 2.0**MATRIX_BITS


def test_integers_are_those_of_exact_arithmetic(rng):
    domain = projected_box(rng, 40, 6)
    X = rng.normal(size=(50, 40)) * 2
    before, matrix = domain.projection.domain.quantise(X), domain.projection.matrix.astype(int)
    expected = [
        [sum(int(a) * int(t) for a, t in zip(row, record, strict=True)) for row in matrix]
        for record in before
    ]
    assert np.array_equal(domain.projection.apply(X), np.array(expected, dtype=float))


def test_a_record_is_projected_where_it_is(rng):
    """In units of z the projection is V z, up to the steps of the grid."""
    domain = projected_box(rng, 40, 6, radius=None)
    X = rng.uniform(-0.2, 0.2, size=(100, 40))
    before = domain.projection.domain
    z = (X - before.centre) / before.unit
    z *= np.minimum(1.0, 2.0 / np.linalg.norm(z, axis=1, keepdims=True))
    found = domain.quantise(X) * 2.0**-GRID_BITS
    assert found == pytest.approx(np.clip(z @ domain.projection.matrix.T / ONE, -1, 1), abs=2.0**-11)


@pytest.mark.parametrize("radius", [None, 0.5, 1.1])
def test_no_record_leaves_the_box_or_the_ball(rng, radius):
    domain = projected_box(rng, 40, 6, radius)
    X = np.vstack([rng.normal(size=(200, 40)) * 10, np.full((1, 40), np.nan), np.full((1, 40), np.inf)])
    q = domain.quantise(X)
    assert np.abs(q).max() <= 2**GRID_BITS
    assert np.square(q).sum(axis=1).max() <= domain.largest_squared_norm


def test_a_record_does_not_depend_on_the_others(rng):
    domain = projected_box(rng, 70, 9)
    X = rng.normal(size=(300, 70))
    assert np.array_equal(domain.quantise(X)[17:18], domain.quantise(X[17:18]))


@pytest.mark.parametrize("relation", Neighboring)
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("of_residuals", [False, True])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_neighbours_differ_by_no_more_than_declared(rng, relation, soft, of_residuals, n_rows):
    """Records and persons with several rows, far out in the directions that records are projected on."""
    domain = projected_box(rng, 40, 5)
    statistic = CellMoments(domain, 3, WEIGHT_BITS if soft else 0, of_residuals=of_residuals)
    cells = random_cells(rng, 3, 5, radii=np.array([0.3, 1.0, 3.0]))
    scales = statistic.calibrate(0.05, relation)
    (planned,) = statistic.plan([Step("test")], scales, relation)
    declared = 2 * Fraction(statistic.cost(scales, relation))
    for _ in range(20):
        X = rng.normal(size=(20, 40))
        far = (
            100 * rng.choice([-1.0, 1.0], size=(n_rows, 1)) * domain.projection.matrix[rng.integers(5)] / ONE
        )
        Y = np.vstack([X, far]) if relation is Neighboring.ADD_REMOVE else np.vstack([X[n_rows:], far])
        moved = np.square((units(X, statistic, cells) - units(Y, statistic, cells)) / planned.scales).sum()
        assert moved <= n_rows**2 * float(declared) * (1 + 1e-12)


def test_what_would_not_be_exact_is_refused(rng):
    before = Domain(-np.ones(4), np.ones(4), None, FINE_GRID_BITS)
    for matrix in (np.full((2, 4), 0.5), np.full((2, 4), 2 * ONE), np.zeros((2, 3)), np.zeros(4)):
        with pytest.raises(ValueError, match="matrix"):
            Projection(before, matrix)
    with pytest.raises(ValueError, match="project nothing"):
        Projection(projected_box(rng, 8, 4), np.zeros((2, 4)))


def test_domains_with_other_projections_are_not_the_same(rng):
    one, other = projected_box(rng, 8, 3), projected_box(rng, 8, 3)
    assert one.is_same_as(one)
    assert not one.is_same_as(other)
    assert (one.n_features, one.n_columns) == (3, 8)
