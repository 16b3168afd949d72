"""Sums over encoded records equal the plain NumPy form bit for bit, and scores are those of the mixture."""

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.staged.encoded import place_of_missing
from dpmorse.bases.staged.levels import TableUnits
from dpmorse.bases.staged.products import Products, cells_of
from dpmorse.bases.staged.units import Units
from dpmorse.engine import StreamedEngine
from dpmorse.privacy.exact import opened
from dpmorse.schema import Layout
from dpmorse.statistics import GRID_BITS, WEIGHT_BITS, CellMoments, Domain
from dpmorse.statistics.cells import ROUNDING_BITS
from parts_read import in_parts
from plain import assert_same
from plain_tables import encoded_records, table_moments

LAYOUTS = {
    "all": Layout((0.0, -5.0, 10.0), (4.0, 5.0, 30.0), (0, 2), (2, 5, 3)),
    "no holes": Layout((0.0, -5.0), (4.0, 5.0), (), (4,)),
    "categories": Layout((), (), (), (3, 2, 7)),
    "numbers": Layout((0.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0, 1.0), (1, 2, 3), ()),
}
EVERY = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def table_of(layout):
    """Units as the first stages release them, the box of the numbers being that of the bounds."""
    domain = Domain(np.array(layout.lower), np.array(layout.upper), radius=1.0)
    numbers = Units(domain, 3.0, np.ones(layout.n_numbers), 1000.0)
    marginals = np.concatenate([np.full(n, 1 / n) for n in layout.n_levels] or [np.zeros(0)])
    present = np.ones(layout.n_categories)
    return TableUnits(layout, 1000.0, np.zeros(layout.n_numbers), present, marginals, numbers)


def random_products(layout, k, rng, *, diagonal=False):
    d = layout.n_numbers
    factors = rng.normal(size=(k, d, d)) * (0.0 if diagonal else 0.3) + np.eye(d) * rng.uniform(
        0.5, 1.5, (k, 1, d)
    )
    gaussians = Estimates(
        rng.dirichlet(np.full(k, 5.0)),
        rng.normal(size=(k, d)),
        factors @ factors.transpose(0, 2, 1) + 0.05 * np.eye(d),
        np.ones(k, dtype=bool),
    )
    parts = [rng.dirichlet(np.ones(n) * 2, size=k) * 0.98 + 0.02 / n for n in layout.n_levels]
    return Products(gaussians, np.hstack(parts) if parts else np.zeros((k, 0)))


@EVERY
@pytest.mark.parametrize("weight_bits", [0, WEIGHT_BITS], ids=["hard", "soft"])
def test_sums_equal_the_plain_form(layout, weight_bits, rng):
    table, E = table_of(layout), encoded_records(layout, 5000, rng)
    statistic = CellMoments(table.domain, 4, weight_bits, of_residuals=True, layout=layout)
    cells = cells_of(random_products(layout, 4, rng), table)
    expected = table_moments(E, statistic, cells)
    for engine in (InMemoryEngine(), InMemoryEngine(chunk_rows=700, n_threads=3)):
        for records in (E, np.asfortranarray(E), E[::-1]):
            assert_same(opened(engine.reduce(records, statistic, cells)), expected)
        if weight_bits:
            kept = engine.on_grid(E, statistic.domain)
            assert_same(opened(engine.reduce(kept, statistic, cells)), expected)
    batches = [E[start : start + 321] for start in range(0, len(E), 321)]
    assert_same(opened(StreamedEngine().reduce(in_parts(batches), statistic, cells)), expected)


@EVERY
def test_levels_and_holes_are_counted(layout, rng):
    """The sums of all cells together are those of the records: nothing is whitened, shrunk or rounded."""
    table, E = table_of(layout), encoded_records(layout, 3000, rng)
    statistic = CellMoments(table.domain, 3, of_residuals=True, layout=layout)
    found = opened(InMemoryEngine().reduce(E, statistic, cells_of(random_products(layout, 3, rng), table)))
    counted = np.r_[layout.hole_part, layout.level_part]
    assert np.array_equal(found.sums[:, counted].sum(axis=0), E[:, counted].sum(axis=0) * 2**GRID_BITS)
    assert found.counts.sum() == len(E)


@EVERY
def test_scores_are_those_of_the_mixture(layout, rng):
    """With diagonal covariances a missing number at the component's mean is the exact marginal."""
    table, E = table_of(layout), encoded_records(layout, 2000, rng)
    products = random_products(layout, 5, rng, diagonal=True)
    cells, mixture = cells_of(products, table), products.mixture(table)
    scores = cells.scores(table.domain.quantise(E)) * 4.0**-cells.score_bits
    expected = -mixture.log_joint(table.domain.clip(E))
    # numbers are rounded to 2^-12 of the box, which moves a score by a part of its slope there
    offset = (scores - expected).mean(axis=1, keepdims=True)
    assert np.abs(scores - expected - offset).max() < 0.1
    assert np.mean(scores.argmin(axis=1) == mixture.labels(table.domain.clip(E))) > 0.995


def test_a_missing_number_is_at_the_mean_of_each_component(rng):
    layout = LAYOUTS["all"]
    table, products = table_of(layout), random_products(layout, 3, rng)
    cells = cells_of(products, table)
    record = np.zeros((1, layout.width))
    record[:, layout.hole_part], record[:, layout.number_part] = 1.0, layout.middle
    q = table.domain.quantise(record)
    u = cells.offsets + np.einsum("kij,nj->nki", cells.factors, q.astype(np.float64))[0]
    means = products.gaussians.means / table.numbers.radius
    only = np.array([1])  # the one number of this record that is there
    offsets = place_of_missing(layout, table.domain)[only] - means[:, only]
    factors = np.linalg.cholesky(products.gaussians.covariances / table.numbers.radius**2)
    expected = np.linalg.inv(factors)[:, :, only] @ offsets[:, :, None] * np.sqrt(0.5)
    scale = 2.0 ** -(cells.score_bits + ROUNDING_BITS)
    assert np.allclose(u[:, layout.number_part] * scale, expected[:, :, 0], atol=1e-3)


def test_domains_in_which_a_level_is_not_one_are_refused():
    layout = LAYOUTS["categories"]
    with pytest.raises(ValueError, match="levels in"):
        CellMoments(Domain(np.zeros(12), np.ones(12)), 2, of_residuals=True, layout=layout)
    with pytest.raises(ValueError, match="ball"):
        CellMoments(Domain(-np.ones(12), np.ones(12), radius=1.0), 2, of_residuals=True, layout=layout)
