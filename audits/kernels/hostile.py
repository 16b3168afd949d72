"""Random domains and rules of cells, and records that are hard to add up."""

from collections.abc import Sequence

import numpy as np

from dpmorse.bases.staged.encoded import encoded_domain, whiten_numbers
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    MATRIX_BITS,
    Domain,
    GaussianCells,
    ProfileCounts,
    Projection,
)
from dpmorse.typing import FloatArray, IntArray

Rng = np.random.Generator

KINDS = ("plain", "twins", "equal", "needles", "round", "far", "blocks")
"""Cells that look alike in float32 or are the same, are thinner than the grid, of one size, out of the box,
or have factors with zeros, which passes skip."""

_BEYOND = (1e300, -1e300, np.inf, -np.inf, np.nan, 3.5e38, -3.5e38, 5e-324, 0.0, -0.0)
"""Values that are no numbers, or beyond those of single precision, or as good as 0."""


def box(rng: Rng, n_features: int, *, ball: bool = False, grid_bits: int = GRID_BITS) -> Domain:
    """Return bounds of any size and place; some columns are constant."""
    width = 10.0 ** rng.uniform(-3, 6, size=n_features)
    lower = rng.choice([0.0, -0.5, 3.0], size=n_features) * width
    constant = (rng.random(n_features) < 0.1) & (n_features > 1) & (np.arange(n_features) > 0)
    upper = np.where(constant, lower, lower + width)
    return Domain(lower, upper, float(rng.uniform(0.4, 1.5)) if ball else None, grid_bits)


def projected(rng: Rng, n_columns: int, n_directions: int, grid_bits: int = GRID_BITS) -> Domain:
    """Return a ball around records that are projected on random directions."""
    vectors = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0][:n_directions]
    before = box(rng, n_columns, ball=True, grid_bits=FINE_GRID_BITS)
    reach = np.full(n_directions, rng.uniform(0.3, 1.2) * 2.0 ** (MATRIX_BITS + FINE_GRID_BITS))
    return Domain(-reach, reach, 1.0, grid_bits, Projection(before, np.rint(vectors * 2.0**MATRIX_BITS)))


def rule(rng: Rng, n_cells: int, n_features: int, kind: str, grid_bits: int = GRID_BITS) -> GaussianCells:
    """Return the cells of a random mixture in scaled units."""
    scale = 1e-4 if kind == "needles" else 0.3
    factors = rng.normal(size=(n_cells, n_features, n_features)) * scale / np.sqrt(n_features)
    covariances = np.einsum("kij,klj->kil", factors, factors) + (0.3 * scale) ** 2 * np.eye(n_features)
    weights, means = rng.dirichlet(np.full(n_cells, 3.0)), rng.uniform(-0.7, 0.7, size=(n_cells, n_features))
    if kind in {"twins", "equal"} and n_cells > 1:
        means[1] = means[0] + (1e-7 if kind == "twins" else 0.0)
        covariances[1], weights[1] = covariances[0], weights[0]
    if kind in {"round", "blocks"}:
        covariances = np.tile(0.04 * np.eye(n_features), (n_cells, 1, 1))
        weights = np.full(n_cells, 1 / n_cells)
    if kind == "blocks":
        covariances[0, -1, 0] = covariances[0, 0, -1] = 0.01 if n_features > 1 else 0.05
    if kind == "far":
        means *= rng.choice([1.0, 50.0], size=(n_cells, 1))
    radii = rng.choice([0.3, 2.0, 7.5], size=n_cells)
    return GaussianCells.from_mixture(weights / weights.sum(), means, covariances, radii, grid_bits)


def profile(
    rng: Rng, n_cells: int, n_features: int, kind: str, n_directions: int | None = None
) -> ProfileCounts:
    """Return counts of numbers in cells of clipped records, perhaps of projected ones."""
    whole = box(rng, n_features, grid_bits=FINE_GRID_BITS)
    quarter = whole.half_width / 4
    ball = Domain(whole.centre - quarter, whole.centre + quarter, 1.0, FINE_GRID_BITS)
    if n_directions is not None:
        ball = projected(rng, n_features, n_directions, FINE_GRID_BITS)
        whole = Domain(*_outside(ball), None, FINE_GRID_BITS)
    table = Layout(tuple(whole.lower.tolist()), tuple(whole.upper.tolist()))
    cells = rule(rng, n_cells, ball.n_features, kind, FINE_GRID_BITS)
    return ProfileCounts(cells, ball, whole, table, bin_edges(rng, n_cells, n_features))


def _outside(ball: Domain) -> tuple[FloatArray, FloatArray]:
    """Return a box three times as wide as that of the records before they are projected."""
    before = ball if ball.projection is None else ball.projection.domain
    return before.centre - 3 * before.half_width, before.centre + 3 * before.half_width


def layout(rng: Rng) -> Layout:
    """Return a table with numbers, missing values and categories, or without some of them."""
    d, n_categories = [(3, 2), (2, 0), (0, 3), (4, 1)][int(rng.integers(4))]
    lower = tuple(float(x) for x in rng.choice([0.0, -5.0, 100.0], size=d))
    holes = tuple(int(j) for j in np.flatnonzero(rng.random(d) < 0.5))
    return Layout(
        lower, tuple(x + 10.0 for x in lower), holes, tuple(map(int, rng.integers(2, 6, n_categories)))
    )


def table_rule(rng: Rng, table: Layout, n_cells: int, grid_bits: int = GRID_BITS) -> GaussianCells:
    """Return cells whose scores are any squares of linear functions of encoded records."""
    whiten = np.tril(rng.normal(size=(n_cells, table.width, table.width)))
    shift = rng.normal(size=(n_cells, table.width))
    return GaussianCells.from_scores(
        whiten, shift, rng.random(n_cells), float(rng.choice([0.5, 3.0])), grid_bits
    )


def table_profile(rng: Rng, table: Layout, n_cells: int) -> ProfileCounts:
    """Return counts of a table; where numbers may be missing, they go together in every cell."""
    lower, upper = np.array(table.lower), np.array(table.upper)
    part = float(rng.choice([1 / 4, 0.0, -1.0])) * (upper - lower)
    ball = encoded_domain(table, lower + part, upper - part, FINE_GRID_BITS)
    public = encoded_domain(table, lower, upper, FINE_GRID_BITS)
    cells = table_rule(rng, table, n_cells, FINE_GRID_BITS)
    if table.holes:
        cells = whitening_rule(rng, table, n_cells, ball)
    counted = tuple(int(j) for j in rng.permutation(table.n_categories)[: rng.integers(4)])
    may_miss = [*table.holes, *range(table.n_numbers, table.n_numbers + len(counted))]
    some = tuple(j for j in may_miss if rng.random() < 0.7)
    return ProfileCounts(cells, ball, public, table, bin_edges(rng, n_cells, table.n_numbers), counted, some)


def whitening_rule(rng: Rng, table: Layout, n_cells: int, ball: Domain) -> GaussianCells:
    """Return cells that whiten numbers which nearly say one another, or do not; some are the same cell."""
    d = table.n_numbers
    together = rng.normal(size=(n_cells, d, int(rng.integers(1, d + 1))))
    alone = 10.0 ** rng.uniform(-3, 0, size=(n_cells, 1, 1)) * np.eye(d)
    covariances = together @ together.transpose(0, 2, 1) + alone**2
    means = 0.4 * rng.normal(size=(n_cells, d))
    covariances[-1], means[-1] = covariances[0], means[0] + rng.choice([0.0, 1e-7])
    whiten, shift = whiten_numbers(table, ball, means, 0.3 * np.linalg.cholesky(covariances))
    others = np.ones(table.width, dtype=np.bool_)
    others[table.number_part] = False
    places = np.flatnonzero(others)
    whiten[:, places, places] = rng.choice([0.0, 1.0, 3.0], size=(n_cells, len(places)))
    shift[:, places] = rng.normal(size=(n_cells, len(places)))
    return GaussianCells.from_scores(whiten, shift, rng.random(n_cells), 1.0, FINE_GRID_BITS)


def bin_edges(rng: Rng, n_cells: int, n_numbers: int) -> IntArray:
    """Return ends of bins: anywhere, at and next to the bounds, several at one place, or none."""
    shape = (n_cells, n_numbers, int(rng.choice([0, 1, 2, 7, 49])))
    one = 1 << FINE_GRID_BITS
    drawn = rng.integers(-one, one + 1, size=shape)
    special = rng.choice([-one, 1 - one, -1, 0, 1, one - 1, one], size=shape)
    return np.asarray(np.sort(np.where(rng.random(shape) < 0.3, special, drawn), axis=2))


def at_edges(rng: Rng, X: FloatArray, statistic: ProfileCounts) -> FloatArray:
    """Put a third of the numbers at the ends of bins: on them, next to them, and half a step away."""
    part, box, edges = statistic.layout.number_part, statistic.box, statistic.edges
    if not edges.size:
        return X
    numbers = X[:, part]
    k, i = (rng.integers(size, size=numbers.shape) for size in (len(edges), edges.shape[2]))
    steps = edges[k, np.arange(numbers.shape[1]), i] + rng.choice([-0.5, 0.0, 0.5, 1.0], size=numbers.shape)
    values = box.centre[part] + box.half_width[part] * steps * 2.0**-FINE_GRID_BITS
    values = rng.choice([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    X[:, part] = np.where(rng.random(numbers.shape) < 1 / 3, values, numbers)
    return X


def records(rng: Rng, n: int, domain: Domain, means: FloatArray | None = None) -> FloatArray:
    """Return records in and around a box, in which every third value is one that is hard to add up."""
    start = domain if domain.projection is None else domain.projection.domain
    centre, half = start.centre, start.half_width
    X = centre + half * rng.normal(size=(n, centre.size)) * rng.choice([0.3, 1.0, 30.0], size=(n, 1))
    if means is not None:
        X[::5] = centre + half * _between(rng, means, len(X[::5]))
    hard = _hard_values(rng, centre, half, start.grid_bits)
    chosen = rng.random(X.shape) < 1 / 3
    picks = rng.integers(len(hard), size=X.shape)
    found: FloatArray = np.where(chosen, hard[picks, np.arange(X.shape[1])], X)
    found[rng.random(n) < 0.1] = found[:1]  # many copies of one record
    return found


def _between(rng: Rng, means: FloatArray, n: int) -> FloatArray:
    """Return places half-way between two means: on the border of round cells, up to the rounding."""
    first, second = (means[rng.integers(len(means), size=n)] for _ in range(2))
    return (first + second) / 2


def _hard_values(rng: Rng, centre: FloatArray, half: FloatArray, grid_bits: int) -> FloatArray:
    """Return values, a row each: bounds, their neighbours, borders of grid steps, and what is no number."""
    lower, upper = centre - half, centre + half
    ties = [
        centre + half * (rng.integers(-(1 << grid_bits), 1 << grid_bits) + 0.5) * 2.0**-grid_bits
        for _ in range(6)
    ]
    edges: Sequence[FloatArray] = [
        bound
        for one in (lower, upper, centre)
        for bound in (one, np.nextafter(one, np.inf), np.nextafter(one, -np.inf))
    ]
    return np.vstack([*edges, *ties, *(np.full_like(centre, value) for value in _BEYOND)])


def encoded(rng: Rng, table: Layout, n: int) -> FloatArray:
    """Return encoded records with missing values, without levels, with numbers that are hard to add up."""
    E = np.zeros((n, table.width))
    lower, upper = np.array(table.lower), np.array(table.upper)
    if table.n_numbers:
        E[:, table.number_part] = records(rng, n, Domain(lower, upper))
    missing = rng.random((n, table.n_holes)) < 0.3
    E[:, table.hole_part] = missing
    numbers = E[:, table.number_part]
    for i, j in enumerate(table.holes):
        numbers[missing[:, i], j] = table.middle[j]
    for own in table.levels:
        codes = rng.integers(-1, own.stop - own.start, n)
        there = np.flatnonzero(codes >= 0)
        E[there, table.level_part.start + own.start + codes[there]] = 1.0
    return E
