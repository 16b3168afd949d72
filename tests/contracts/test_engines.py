"""Every engine gives the plain NumPy sums bit for bit, however it is run."""

import itertools

import numpy as np
import pytest

from audits.kernels.plain import counts
from dpmorse import InMemoryEngine, InvalidParameterError, InvalidTypeError
from dpmorse.engine import _rules
from dpmorse.engine._kernels import BLOCK
from dpmorse.engine.base import spans
from dpmorse.privacy.exact import opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import (
    FINE_GRID_BITS,
    GRID_BITS,
    BinaryCodes,
    CellMoments,
    ColumnHistograms,
    Domain,
    GaussianCells,
    MagnitudeHistograms,
    PrefixCells,
    SecondMoments,
)
from dpmorse.statistics.cells import WEIGHT_BITS
from dpmorse.statistics.counts import N_BINS
from plain import assert_same, exact_moments, projected_box, random_cells, random_mixture, unit_box
from plain_tables import OF_HISTOGRAMS, at_ends, records_of_histograms

BOTH = pytest.mark.parametrize("weight_bits", [0, WEIGHT_BITS], ids=["hard", "soft"])


@BOTH
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 8, 11, 16])
@pytest.mark.parametrize("radius", [None, 1.1])
def test_sums_equal_the_plain_form(rng, weight_bits, n_features, radius):
    statistic = CellMoments(unit_box(n_features, radius), 5, weight_bits)
    cells = random_cells(rng, 5, n_features)
    X = rng.normal(size=(3000, n_features)) * 0.6
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@BOTH
@pytest.mark.parametrize("n_features", [1, 3, 4, 9])
@pytest.mark.parametrize("residual_radius", [0.3, 2.0, 7.5])
def test_sums_of_residuals_equal_the_plain_form(rng, weight_bits, n_features, residual_radius):
    """Near and far records, so that some residuals are shrunk to the ball and some are not."""
    statistic = CellMoments(unit_box(n_features, 1.1), 5, weight_bits, of_residuals=True)
    cells = random_cells(rng, 5, n_features, radii=residual_radius * np.linspace(0.5, 2, 5))
    X = rng.normal(size=(5000, n_features)) * 0.6
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))
    assert_same(
        opened(InMemoryEngine(chunk_rows=700, n_threads=3).reduce(X, statistic, cells)),
        exact_moments(X, statistic, cells),
    )


@BOTH
@pytest.mark.parametrize("of_residuals", [False, True])
@pytest.mark.parametrize(("n_columns", "n_directions"), [(5, 1), (40, 6), (70, 12)])
def test_sums_of_projected_records_equal_the_plain_form(
    rng, weight_bits, of_residuals, n_columns, n_directions
):
    domain = projected_box(rng, n_columns, n_directions)
    statistic = CellMoments(domain, 4, weight_bits, of_residuals=of_residuals)
    cells = random_cells(rng, 4, n_directions, radii=2.0)
    X = rng.normal(size=(5000, n_columns))
    expected = exact_moments(X, statistic, cells)
    for records in (X, np.asfortranarray(X), X[::-1]):
        assert_same(opened(InMemoryEngine(chunk_rows=700).reduce(records, statistic, cells)), expected)
    with pytest.raises(ValueError, match="columns"):
        InMemoryEngine().reduce(X[:, :n_directions], statistic, cells)


def test_needles_have_exact_residuals_too(rng):
    """A cell a thousand times thinner than the box: most residuals are far beyond single precision."""
    covariances = np.tile(np.diag([1e-6, 1e-2]), (2, 1, 1))
    cells = GaussianCells.from_mixture(np.full(2, 0.5), np.array([[-0.5, 0.0], [0.5, 0.0]]), covariances, 3.0)
    statistic = CellMoments(unit_box(2), 2, of_residuals=True)
    X = rng.uniform(-1, 1, size=(5000, 2))
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@pytest.mark.parametrize("layout", OF_HISTOGRAMS.values(), ids=OF_HISTOGRAMS)
@pytest.mark.parametrize("options", [{}, {"chunk_rows": 700, "n_threads": 3}])
def test_histograms_equal_the_plain_form(rng, layout, options):
    """Values inside, outside by a bit and by far, at the bounds and at the ends of bins; or missing."""
    statistic = ColumnHistograms(layout)
    E = records_of_histograms(layout, rng)
    bins = statistic.bins(E)
    expected = [np.bincount(column[column >= 0], minlength=N_BINS + 2) for column in bins.T]
    for X in (E, np.asfortranarray(E[::-1])):
        found = opened(InMemoryEngine(**options).count(X, statistic))
        assert np.array_equal(found, expected)
        assert np.array_equal(found, counts(E, statistic))
    gone = E[:, layout.hole_part].sum(axis=0)
    assert np.array_equal(len(E) - found.sum(axis=1)[list(layout.holes)], gone), (
        "a missing number is in no bin"
    )
    assert found.sum() == len(E) * layout.n_numbers - gone.sum()


def test_values_outside_of_the_bounds_have_bins_of_their_own():
    statistic = ColumnHistograms(Layout((0.1, 5.0), (0.7, 5.0)))
    found = opened(InMemoryEngine().count(at_ends(np.array([0.1, 5.0]), np.array([0.7, 5.0])), statistic))
    assert found[0, N_BINS:].tolist() == [2, 2], "below and above: nothing that lies at a bound or inside"
    assert found[1, N_BINS:].tolist() == [3, 3], "one value is inside of equal bounds"
    assert found[0, [0, 16, N_BINS - 1]].tolist() == [2, 1, 2]
    assert found[1, N_BINS // 2] == 3


@BOTH
@pytest.mark.parametrize("n_rows", [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_block_edges(rng, weight_bits, n_rows):
    statistic = CellMoments(unit_box(3), 4, weight_bits)
    cells = random_cells(rng, 4, 3)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@BOTH
def test_twenty_orders_chunkings_and_thread_counts(rng, weight_bits):
    statistic = CellMoments(unit_box(4), 6, weight_bits)
    cells = random_cells(rng, 6, 4)
    X = rng.normal(size=(20_000, 4)) * 0.5
    expected = exact_moments(X, statistic, cells)
    for i, (chunk_rows, n_threads) in enumerate(
        itertools.product([1000, 2048, 7777, 10_000, 65_536], [1, 2, 3, 4])
    ):
        order = np.random.default_rng(i).permutation(len(X))
        engine = InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads)
        assert_same(opened(engine.reduce(X[order], statistic, cells)), expected)


@pytest.mark.long  # every layout is a compilation of its own
@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "read-only"])
def test_memory_layouts_and_types(rng, weight_bits, dtype, layout):
    base = rng.normal(size=(2500, 3)).astype(dtype) * 0.5
    X = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
        "read-only": np.copy,
    }[layout](base)
    X.flags.writeable = layout != "read-only"
    statistic = CellMoments(unit_box(3), 4, weight_bits)
    cells = random_cells(rng, 4, 3)
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(base, statistic, cells))


def test_users_units(rng):
    lower, upper = np.array([0.0, -1e6, 1e18]), np.array([1e-3, 1e6, 1e18 + 5e12])
    domain = Domain.from_bounds((lower, upper), 3)
    X = lower + rng.uniform(-0.1, 1.1, size=(4000, 3)) * (upper - lower)
    statistic, cells = CellMoments(domain, 3), random_cells(rng, 3, 3)
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


def test_close_calls_are_settled_exactly(rng, monkeypatch):
    """Two nearly identical cells: almost every record is in doubt, and exact scores decide each."""
    weights, means, covariances = random_mixture(rng, 4, 3)
    means[1] = means[0] + 1e-7
    covariances[1] = covariances[0]
    weights[1] = weights[0]
    cells = GaussianCells.from_mixture(weights / weights.sum(), means, covariances)
    statistic = CellMoments(unit_box(3), 4)
    X = rng.uniform(-1, 1, size=(6000, 3))
    expected = exact_moments(X, statistic, cells)
    assert np.all(expected.counts[:2] > 0), "both twins own records, by margins no float32 can see"
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), expected)


def test_records_on_an_exact_tie_go_to_the_lower_cell():
    means = np.array([[-0.5], [0.5]])
    cells = GaussianCells.from_mixture(np.full(2, 0.5), means, np.full((2, 1, 1), 0.04))
    counts = opened(InMemoryEngine().reduce(np.zeros((5000, 1)), CellMoments(unit_box(1), 2), cells)).counts
    assert counts.tolist() == [5000, 0]


@BOTH
@pytest.mark.parametrize("are_round", [False, True])
def test_float32_search_is_only_a_shortcut(rng, monkeypatch, weight_bits, are_round):
    """Distrusting every float32 score changes nothing but speed."""
    statistic = CellMoments(unit_box(5), 7, weight_bits)
    cells = GaussianCells.nearest(rng.uniform(-1, 1, size=(7, 5))) if are_round else random_cells(rng, 7, 5)
    X = rng.normal(size=(3000, 5)) * 0.5
    trusted = opened(InMemoryEngine().reduce(X, statistic, cells))
    original = _rules._single_precision
    monkeypatch.setattr(
        _rules, "_single_precision", lambda *a: (original(*a)[0], np.array([1e30, 0.0], np.float32))
    )
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), trusted)


@pytest.mark.parametrize("scale", [0.002, 0.05, 0.5])
@pytest.mark.parametrize("grid_bits", [GRID_BITS, FINE_GRID_BITS])
def test_float32_error_bound_holds(rng, scale, grid_bits):
    """The bound covers the difference between float32 and exact scores for records all over the box."""
    cells = GaussianCells.from_mixture(*random_mixture(rng, 6, 8, scale=scale), grid_bits=grid_bits)
    exact = _rules.padded_rule(cells)
    fast, bound = _rules._single_precision(exact, cells)
    q = rng.integers(-(1 << grid_bits), (1 << grid_bits) + 1, size=(2000, 8))
    u = fast.offsets + np.einsum("kij,nj->nki", fast.factors, q.astype(np.float32), dtype=np.float32)
    approximate = fast.constants + np.square(u).sum(axis=2, dtype=np.float32)
    true = cells.scores(q) * 4.0**-cells.score_bits
    # half of the bound is for one score, the other half for the one it is compared with
    assert np.all(np.abs(approximate - true) <= (bound[0] + bound[1] * true) / 2)


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("grid_bits", [GRID_BITS, FINE_GRID_BITS])
def test_float32_error_bound_of_equally_round_cells_holds(rng, scale, grid_bits):
    """Linear scores leave out what all cells have in common: it is their differences that are bounded."""
    centres, covariances = rng.uniform(-1, 1, (6, 8)), np.tile(scale**2 * np.eye(8), (6, 1, 1))
    cells = GaussianCells.from_mixture(rng.dirichlet(np.ones(6)), centres, covariances, grid_bits=grid_bits)
    fast, bound = _rules._single_precision(_rules.padded_rule(cells), cells)
    assert not fast.constants.size
    q = rng.integers(-(1 << grid_bits), (1 << grid_bits) + 1, size=(2000, 8))
    slopes, constants = fast.factors[0], fast.offsets[0]
    every = constants + (q.astype(np.float32)[:, None] * slopes).sum(axis=2, dtype=np.float32)
    found, more = every[:, :6], every[:, 6:]
    assert more.shape[1] == 2, "cells are padded to whole groups of four"
    assert np.all(more > 1e38), "and the others are far from everything"
    true = cells.scores(q) * 4.0**-cells.score_bits
    for behind, expected in (
        (found - found[:, :1], true - true[:, :1]),
        (found - found[:, 3:4], true - true[:, 3:4]),
    ):
        assert np.all(np.abs(behind - expected) <= bound[0])
    assert bound[1] == 0
    assert bound[0] < 0.01 * (1 + true.max()), "and is of use"


def test_equally_round_cells_have_the_labels_of_all_others(rng, monkeypatch):
    X, cells = rng.uniform(-1, 1, size=(3000, 3)), GaussianCells.nearest(rng.uniform(-1, 1, size=(40, 3)))
    statistic = CellMoments(unit_box(3), 40)
    linear = opened(InMemoryEngine().reduce(X, statistic, cells))
    monkeypatch.setattr(_rules, "_equally_round", lambda cells: False)
    assert_same(linear, opened(InMemoryEngine().reduce(X, statistic, cells)))


@BOTH
def test_an_inserted_record_moves_no_other(rng, weight_bits):
    """Rows on a tie at every chunk edge, one record inserted in front: only its own cell changes."""
    means = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])
    cells = GaussianCells.from_mixture(np.full(3, 1 / 3), means, np.tile(0.05 * np.eye(2), (3, 1, 1)))
    statistic = CellMoments(unit_box(2), 3, weight_bits)
    X = np.column_stack([np.zeros(10_010), rng.uniform(-1, 1, size=10_010)])
    new = np.array([[0.0, 0.9]])
    engine = InMemoryEngine(chunk_rows=1001)
    before = opened(engine.reduce(X, statistic, cells))
    after = opened(engine.reduce(np.vstack([new, X]), statistic, cells))
    alone = opened(engine.reduce(new, statistic, cells))
    assert np.array_equal(after.counts - before.counts, alone.counts)
    assert np.array_equal(after.sums - before.sums, alone.sums)


def test_nan_cannot_pass_the_clipping():
    """Estimators refuse NaN; should one reach a kernel all the same, it counts as a record at the bounds.

    (A comparison of np.abs(sums) would not notice: NaN becomes the integer -2^63, which has no absolute value.)
    """
    cells, engine = random_cells(np.random.default_rng(0), 2, 2), InMemoryEngine()
    missing, at_the_bound = np.full((3, 2), np.nan), np.ones((3, 2))
    for weight_bits in (0, WEIGHT_BITS):
        for of_residuals in (False, True):
            statistic = CellMoments(unit_box(2), 2, weight_bits, of_residuals=of_residuals)
            exact, expected = (opened(engine.reduce(X, statistic, cells)) for X in (missing, at_the_bound))
            assert np.array_equal(
                opened(statistic.to_units(sealed(exact))), opened(statistic.to_units(sealed(expected)))
            )
    found = opened(engine.count(missing, ColumnHistograms(Layout((-1.0,) * 2, (1.0,) * 2))))
    assert found.sum(axis=1).tolist() == found[:, N_BINS].tolist() == [3, 3], "in one bin, that of the lowest"


def test_nan_cannot_pass_the_clipping_of_codes_either():
    domain, engine = unit_box(2), InMemoryEngine()
    missing, at_the_bound = np.full((3, 2), np.nan), np.ones((3, 2))
    codes = BinaryCodes.rounded(domain, np.eye(2), reach=1.0, bits=3)
    first, second = (opened(engine.tally(X, codes)) for X in (missing, at_the_bound))
    assert first.codes.tolist() == second.codes.tolist()
    cells = PrefixCells(codes, np.array([0]), np.array([64]))
    statistic = CellMoments(domain, 1, second_moments=SecondMoments.NONE)
    assert opened(engine.reduce(missing, statistic, cells)).sums.tolist() == [[3 * 4096, 3 * 4096]]
    assert opened(engine.count(missing, MagnitudeHistograms(2))).sum(axis=1).tolist() == [3, 3]


@BOTH
def test_more_records_than_64_bits_hold_are_added_in_spans(rng, weight_bits, monkeypatch):
    X, statistic = rng.normal(size=(600, 2)), CellMoments(unit_box(2), 3, weight_bits)
    cells = random_cells(rng, 3, 2)
    plain = opened(statistic.to_units(sealed(opened(InMemoryEngine().reduce(X, statistic, cells)))))
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", statistic.unit_bits + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", statistic.unit_bits + 8)
    assert [span.stop for span in spans(len(X), statistic)] == [255, 510, 765]
    wide = opened(statistic.to_units(sealed(opened(InMemoryEngine().reduce(X, statistic, cells)))))
    assert wide.dtype == object
    assert wide.tolist() == plain.tolist()


def test_input_is_not_touched(rng):
    X = rng.normal(size=(3000, 3))
    copy = X.copy()
    opened(InMemoryEngine().reduce(X, CellMoments(unit_box(3), 2), random_cells(rng, 2, 3)))
    assert np.array_equal(X, copy)


def test_options_are_checked():
    with pytest.raises(InvalidParameterError, match="chunk_rows must be >= 1, got 0"):
        InMemoryEngine(chunk_rows=0)
    with pytest.raises(InvalidTypeError, match="n_threads must be an integer"):
        InMemoryEngine(n_threads=1.5)


@BOTH
@pytest.mark.parametrize("of_residuals", [False, True])
def test_round_and_blockwise_cells_in_many_columns(rng, weight_bits, of_residuals):
    """Zeros in the factors, which a pass may skip: none, all off the diagonal, and some blocks."""
    centres = rng.uniform(-0.5, 0.5, size=(3, 18))
    blocks = np.tile(0.3 * np.eye(18), (3, 1, 1))
    blocks[1, 9:13, 1:5] = blocks[1, 1:5, 9:13] = 0.05
    statistic = CellMoments(unit_box(18), 3, weight_bits, of_residuals=of_residuals)
    X = rng.uniform(-1, 1, size=(2500, 18))
    for cells in (
        GaussianCells.nearest(centres, 2.0),
        GaussianCells.from_mixture(np.full(3, 1 / 3), centres, blocks, 2.0),
    ):
        assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@pytest.mark.parametrize("of_residuals", [False, True])
@pytest.mark.parametrize("spread", [0.02, 0.1, 3.0])
def test_soft_sums_with_few_and_with_many_members(rng, of_residuals, spread):
    """Cells that share no record, some and all: members are moved together only where that pays."""
    means = np.column_stack([np.linspace(-0.9, 0.9, 9), np.zeros((9, 4))])
    covariances = np.tile(spread**2 * np.eye(5), (9, 1, 1))
    cells = GaussianCells.from_mixture(np.full(9, 1 / 9), means, covariances, 3.0)
    statistic = CellMoments(unit_box(5), 9, WEIGHT_BITS, of_residuals=of_residuals)
    X = np.clip(means[rng.integers(0, 9, 5000)] + spread * rng.normal(size=(5000, 5)), -1, 1)
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@pytest.mark.parametrize(("n_cells", "n_features"), [(70, 17), (300, 9), (11, 40)])
def test_soft_blocks_of_any_length(rng, n_cells, n_features):
    """Where cells and columns are many, blocks are shorter: by no round number."""
    statistic = CellMoments(unit_box(n_features), n_cells, WEIGHT_BITS, of_residuals=True)
    cells = random_cells(rng, n_cells, n_features, radii=4.0, scale=3.0)
    X = rng.normal(size=(1200, n_features)) * 0.4
    assert_same(opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells))


@BOTH
def test_second_moments_that_nobody_asks_for_are_not_added_up(rng, weight_bits):
    statistic = CellMoments(unit_box(6), 4, weight_bits, second_moments=SecondMoments.NONE)
    cells, X = random_cells(rng, 4, 6), rng.uniform(-1, 1, size=(3000, 6))
    found, expected = opened(InMemoryEngine().reduce(X, statistic, cells)), exact_moments(X, statistic, cells)
    assert np.array_equal(
        opened(statistic.to_units(sealed(found))), opened(statistic.to_units(sealed(expected)))
    )
    assert found.second_moments.size == 0
