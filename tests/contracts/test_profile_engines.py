"""Every engine measures profile cells as the plain NumPy form does, bit for bit, however it is run."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from dpmorse.engine import StreamedEngine, _rules
from dpmorse.engine._kernels import BLOCK
from dpmorse.engine.rehearsal import _Crowd, _CrowdEngine
from dpmorse.privacy.exact import opened, sealed
from dpmorse.records import open_records
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.owners import Batch
from dpmorse.records.persons.row_choice import used_rows
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    CellMoments,
    Domain,
    GaussianCells,
    ProfileCells,
    RadiusHistograms,
    SecondMoments,
)
from parts_read import in_parts
from plain import (
    profile_moments,
    profile_statistics,
    projected_profile,
    random_cells,
    random_mixture,
    random_profile,
    unit_box,
)
from profile_checks import check, check_refusals, records_of


@pytest.mark.parametrize("n_features", range(1, 10))
@pytest.mark.parametrize("radii", [0.3, 3.0, 100.0])
def test_sums_and_counts_equal_the_plain_form(rng, n_features, radii):
    cells = random_profile(rng, 5, n_features, radii * np.linspace(0.5, 2, 5))
    X = records_of(rng, 3000, n_features)
    check(InMemoryEngine(), X, X, cells)


@pytest.mark.parametrize("constant", [0, 2, [0, 1, 2]])
def test_constant_columns(rng, constant):
    cells = random_profile(rng, 4, 4, constant=constant)
    X = records_of(rng, 3000, 4)
    check(InMemoryEngine(), X, X, cells)
    X[:, constant] = 0.25
    check(InMemoryEngine(), X, X, cells)


@pytest.mark.parametrize(("n_columns", "n_directions"), [(3, 2), (40, 5)])
def test_cells_of_projected_records(rng, n_columns, n_directions):
    cells = projected_profile(rng, 4, n_columns, n_directions)
    X = records_of(rng, 3000, n_columns)
    check(InMemoryEngine(chunk_rows=500), X, X, cells)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 30.0])
@pytest.mark.parametrize("wide", [1.0, 1e3, 1e9])
def test_needles_and_wide_boxes(rng, scale, wide):
    """Cells a tiny part of the box: squares of residuals are far beyond 2^53, and are added in one order."""
    for n_features in (2, 9):
        cells = random_profile(rng, 3, n_features, wide=wide, scale=scale)
        X = np.vstack([records_of(rng, 700, n_features), rng.uniform(-wide, wide, size=(700, n_features))])
        check(InMemoryEngine(), X, X, cells)


def test_cells_far_outside_of_ball_and_box(rng):
    weights, means, covariances = random_mixture(rng, 4, 3)
    cells = random_profile(rng, 4, 3)
    far = means + np.array([0.0, 5.0, -40.0, 300.0])[:, None]
    partition, units = (
        GaussianCells.from_mixture(weights, far, covariances, 3.0, FINE_GRID_BITS) for _ in range(2)
    )
    X = records_of(rng, 3000, 3)
    check(InMemoryEngine(), X, X, replace(cells, partition=partition, units=units))
    check(InMemoryEngine(), X, X, replace(cells, units=units))


def test_grids_may_differ_and_be_coarse(rng):
    """What a rule is for is said by its domain; nothing is assumed about which grid it is."""
    weights, means, covariances = random_mixture(rng, 4, 3)
    rules = {
        bits: GaussianCells.from_mixture(weights, means, covariances, 3.0, bits)
        for bits in (GRID_BITS, FINE_GRID_BITS)
    }
    X, one = records_of(rng, 3000, 3), np.ones(3)
    for a, b in itertools.product(rules, repeat=2):
        cells = ProfileCells(rules[a], Domain(-one, one, 1.1, a), rules[b], Domain(-one, one, None, b))
        check(InMemoryEngine(), X, X, cells)


@pytest.mark.parametrize("n_rows", [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_block_edges(rng, n_rows):
    X = records_of(rng, n_rows, 3)
    check(InMemoryEngine(), X, X, random_profile(rng, 4, 3))


def test_no_rows(rng):
    moments, radii = profile_statistics(cells := random_profile(rng, 4, 3))
    assert not opened(InMemoryEngine().reduce(np.empty((0, 3)), moments, cells)).counts.any()
    assert not opened(InMemoryEngine().count(np.empty((0, 3)), radii)).any()


def test_orders_chunkings_and_thread_counts(rng):
    cells, X = random_profile(rng, 6, 4), records_of(rng, 9000, 4)
    for i, (chunk_rows, n_threads) in enumerate(itertools.product([1000, 2048, 7777, 65_536], [1, 2, 3])):
        order = np.random.default_rng(i).permutation(len(X))
        check(InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads), X[order], X, cells)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "read-only"])
def test_memory_layouts_and_types(rng, dtype, layout):
    base = records_of(rng, 2500, 3).astype(dtype)
    X = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
        "read-only": np.copy,
    }[layout](base)
    X.flags.writeable = layout != "read-only"
    check(InMemoryEngine(), X, base, random_profile(rng, 4, 3))


def test_close_calls_are_settled_exactly(rng, monkeypatch):
    """Twins, between which margins that no float32 can see decide; then every float32 score is distrusted."""
    weights, means, covariances = random_mixture(rng, 4, 3)
    means[1], covariances[1], weights[1] = means[0] + 1e-7, covariances[0], weights[0]
    partition = GaussianCells.from_mixture(
        weights / weights.sum(), means, covariances, grid_bits=FINE_GRID_BITS
    )
    cells, X = replace(random_profile(rng, 4, 3), partition=partition), records_of(rng, 6000, 3)
    assert np.all(profile_moments(X, cells).counts[:2] > 0)
    check(InMemoryEngine(), X, X, cells)
    original = _rules._single_precision
    monkeypatch.setattr(
        _rules, "_single_precision", lambda *a: (original(*a)[0], np.full(2, 1e30, dtype=np.float32))
    )
    check(InMemoryEngine(), X, X, cells)


def test_an_inserted_record_moves_no_other(rng):
    cells, X, new = random_profile(rng, 3, 2), records_of(rng, 5000, 2), np.array([[0.3, 7.0]])
    moments, radii = profile_statistics(cells)
    engine = InMemoryEngine(chunk_rows=1001)
    sums = [
        opened(moments.to_units(engine.reduce(rows, moments, cells)))
        for rows in (X, np.vstack([new, X]), new)
    ]
    counts = [opened(engine.count(rows, radii)) for rows in (X, np.vstack([new, X]), new)]
    for before, after, alone in (sums, counts):
        assert np.array_equal(after - before, alone)


def test_nan_cannot_pass_the_clipping(rng):
    """Estimators refuse NaN; should one reach a kernel all the same, it counts as a record at the bounds."""
    cells, engine = random_profile(rng, 3, 2), InMemoryEngine()
    moments, radii = profile_statistics(cells)
    missing, at_the_bound = np.full((3, 2), np.nan), np.tile(cells.box.upper, (3, 1))
    for exact in (
        lambda X: opened(moments.to_units(engine.reduce(X, moments, cells))),
        lambda X: opened(engine.count(X, radii)),
    ):
        assert np.array_equal(exact(missing), exact(at_the_bound))


@pytest.mark.parametrize("kind", SecondMoments)
def test_every_kind_of_second_moments(rng, kind):
    cells, X = random_profile(rng, 4, 6), records_of(rng, 3000, 6)
    statistic = CellMoments(cells.box, 4, second_moments=kind, of_residuals=True)
    found = opened(statistic.to_units(InMemoryEngine().reduce(X, statistic, cells)))
    assert np.array_equal(found, opened(statistic.to_units(sealed(profile_moments(X, cells)))))


def test_batches(rng):
    cells, X = random_profile(rng, 4, 3), records_of(rng, 3000, 3)
    for size in (1, 333, 5000):
        rows = X[:40] if size == 1 else X
        parts = [rows[i : i + size] for i in range(0, len(rows), size)]
        check(StreamedEngine(), in_parts(parts), rows, cells)


def test_partitions(rng):
    cells, X = random_profile(rng, 4, 3), records_of(rng, 3000, 3)
    records = open_records(in_partitions(X, 701))
    check(records.engine(None), records.read(None), X, cells)


def test_invented_records_count_as_often_as_they_are_copied(rng):
    cells, crowd = random_profile(rng, 4, 3), _Crowd.of(5000, Layout((-1.0,) * 3, (1.0,) * 3))
    assert crowd.copies > 1
    check(_CrowdEngine(), crowd, np.repeat(crowd.points, crowd.copies, axis=0), cells)


class InBatches:
    """A re-iterable of batches."""

    def __init__(self, X, size):
        self.parts = [X[start : start + size] for start in range(0, len(X), size)]

    def __iter__(self):
        return iter(self.parts)


def in_partitions(X, size):
    return pytest.importorskip("dask.array").from_array(X, chunks=(size, 2))


@pytest.mark.parametrize("stored", [lambda X, size: X, InBatches, in_partitions])
def test_rows_of_persons_are_those_that_are_chosen(rng, stored):
    """An engine is handed the rows that are used; which those are is decided without any cells."""
    cells, X, groups = random_profile(rng, 4, 3), records_of(rng, 2000, 3), rng.integers(0, 90, size=2000)
    used = used_rows(Batch(X, owners_of(groups)), 5, "groups")
    assert len(used) == 450
    records = open_records(stored(X, 301)).owned_by(groups)
    check(records.engine(None), records.read(None, 5), used, cells)


def test_more_records_than_64_bits_hold_are_added_in_spans(rng, monkeypatch):
    cells, X = random_profile(rng, 3, 2), records_of(rng, 600, 2)
    moments, _ = profile_statistics(cells)
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", moments.unit_bits + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", moments.unit_bits + 8)
    check(InMemoryEngine(), X, X, cells)


def test_input_is_not_touched(rng):
    X = records_of(rng, 3000, 3)
    copy = X.copy()
    check(InMemoryEngine(), X, copy, random_profile(rng, 2, 3))
    assert np.array_equal(X, copy)


def test_what_profile_cells_do_not_have_is_refused(rng):
    check_refusals(InMemoryEngine(), records_of(rng, 10, 3), random_profile(rng, 4, 3))


def test_cells_of_another_grid_or_width_are_refused(rng):
    X, fine = np.zeros((3, 2)), random_profile(rng, 3, 2)
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(unit_box(2), 3), fine.units)
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(unit_box(2), 3), random_cells(rng, 3, 3))
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(fine.box, 3, of_residuals=True), random_cells(rng, 3, 2))


def test_a_table_without_bins_is_refused(rng):
    with pytest.raises(ValueError, match="n_bins must be >= 1"):
        RadiusHistograms(random_profile(rng, 3, 2), 0)
