"""Sums over tables with categories and missing values: exact in every engine, and moved by a record as declared."""

from importlib.util import find_spec

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from dpmorse.bases.staged.encoded import encoded_domain, whiten_numbers
from dpmorse.privacy import Neighboring, Step
from dpmorse.privacy.exact import opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    WEIGHT_BITS,
    CellMoments,
    GaussianCells,
    MomentShares,
)
from plain_tables import encoded_records, table_moments

LAYOUTS = {
    "mixed": Layout((0.0, -5.0, 1.0), (8.0, 5.0, 2.0), (0, 2), (3, 2)),
    "numbers": Layout((0.0, -5.0), (8.0, 5.0)),
    "categories": Layout((), (), (), (3, 4)),
}


def random_rule(layout, rng, k=4, grid_bits=GRID_BITS):
    whiten = np.tril(rng.normal(size=(k, layout.width, layout.width)))
    shift = rng.normal(size=(k, layout.width))
    return GaussianCells.from_scores(whiten, shift, rng.random(k), 1.5, grid_bits)


def case(layout, kind, rng):
    """A statistic and its cells: soft ones, hard ones, or hard ones on the fine grid."""
    fine = FINE_GRID_BITS if kind == "fine" else GRID_BITS
    domain = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), fine)
    return CellMoments(
        domain, 4, WEIGHT_BITS if kind == "soft" else 0, of_residuals=True, layout=layout
    ), random_rule(layout, rng, grid_bits=fine)


CASES = [(name, kind) for name in LAYOUTS for kind in ("soft", "hard", "fine")]


def engines():
    yield InMemoryEngine(chunk_rows=300), lambda E: E
    if find_spec("torch"):
        import torch

        from dpmorse.engine import TensorEngine

        yield TensorEngine(), torch.from_numpy


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_sums_are_exact_in_every_engine(name, kind, rng):
    layout = LAYOUTS[name]
    statistic, cells = case(layout, kind, rng)
    E = encoded_records(layout, 1000, rng, outside=True)
    wanted = opened(statistic.to_units(sealed(table_moments(E, statistic, cells))))
    for engine, stored in engines():
        found = opened(statistic.to_units(engine.reduce(stored(E), statistic, cells)))
        assert np.array_equal(found, wanted), type(engine).__name__


@pytest.mark.parametrize("relation", [Neighboring.ADD_REMOVE, Neighboring.REPLACE_ONE])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_neighbours_never_differ_by_more_than_declared(name, kind, relation, rng):
    layout = LAYOUTS[name]
    statistic, cells = case(layout, kind, rng)
    for _ in range(40):
        count, total, second = rng.dirichlet(np.ones(3))
        levels = rng.uniform(0.05, 0.95)
        shares = MomentShares(count=count, sum=total, second_moment=second, levels=levels)
        scales = statistic.calibrate(0.5, relation, shares)
        assert statistic.cost(scales, relation) <= 0.5
        vectors = [vector(encoded_records(layout, 1, rng, outside=True), statistic, cells) for _ in range(2)]
        moved = vectors[0] if relation is Neighboring.ADD_REMOVE else vectors[0] - vectors[1]
        (planned,) = statistic.plan([Step("")], scales, relation)
        cost = float(np.square(moved / planned.scales.astype(np.float64)).sum()) / 2
        assert cost <= float(statistic.cost(scales, relation)) * (1 + 1e-9)


def vector(E, statistic, cells):
    return opened(statistic.to_units(sealed(table_moments(E, statistic, cells)))).astype(np.float64)


def test_missing_numbers_add_nothing(rng):
    layout = Layout((0.0, -5.0), (8.0, 5.0), (0, 1))
    box = encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), FINE_GRID_BITS)
    factors = np.tril(0.1 * rng.normal(size=(4, 2, 2)), -1) + 0.3 * np.eye(2)
    whiten, shift = whiten_numbers(layout, box, 0.3 * rng.normal(size=(4, 2)), factors)
    units = GaussianCells.from_scores(whiten, shift, np.zeros(4), 1.5, FINE_GRID_BITS)
    E = encoded_records(layout, 500, rng)
    E[:, layout.hole_part], E[:, layout.number_part] = 1.0, layout.middle
    assert not units.residuals(box.quantise(E)).any()
