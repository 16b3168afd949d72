"""Every engine counts profiles as the plain NumPy form does, bit for bit, however it is run."""

import itertools
from dataclasses import replace

import numba
import numpy as np
import pytest

from audits.attacks.tables import TABLES
from audits.kernels import hostile
from audits.kernels.comparing import doubted
from audits.kernels.plain import counts
from dpmorse import InMemoryEngine
from dpmorse.engine import StreamedEngine, _kernels, _rules
from dpmorse.engine._kernels import BLOCK
from dpmorse.engine.rehearsal import _Crowd, _CrowdEngine
from dpmorse.privacy.exact import opened
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
    ProfileCounts,
)
from dpmorse.statistics.profiles import natural_log
from parts_read import in_parts
from plain import (
    profile_of,
    projected_profile,
    random_cells,
    random_mixture,
    random_profile,
    unit_box,
)
from profile_checks import (
    check,
    check_refusals,
    records_at_edges,
    records_of,
    records_of_table,
    table_profile,
)

EVERY_TABLE = pytest.mark.parametrize("columns", TABLES.values(), ids=TABLES)


@pytest.mark.parametrize("n_features", [*range(1, 10), 40])
@pytest.mark.parametrize("n_edges", [0, 1, 49])
def test_counts_equal_the_plain_form(rng, n_features, n_edges):
    statistic = random_profile(rng, 5, n_features, n_edges=n_edges)
    X = records_at_edges(rng, 1000, statistic)
    check(InMemoryEngine(), X, X, statistic)


@pytest.mark.parametrize("n_cells", [1, 64, 130])
def test_any_number_of_cells(rng, n_cells):
    statistic = random_profile(rng, n_cells, 3)
    X = records_at_edges(rng, 1000, statistic)
    check(InMemoryEngine(), X, X, statistic)


@EVERY_TABLE
@pytest.mark.parametrize("n_cells", [1, 7])
def test_tables(rng, columns, n_cells):
    statistic, E = table_profile(rng, columns, n_cells), records_of_table(rng, columns, 1500)
    for engine in (InMemoryEngine(), InMemoryEngine(chunk_rows=333, n_threads=3)):
        check(engine, E, E, statistic)
    parts = [E[start : start + 211] for start in range(0, len(E), 211)]
    check(StreamedEngine(), in_parts(parts), E, statistic)
    records = open_records(in_partitions(E, 400))
    check(records.engine(None), records.read(None), E, statistic)


def test_a_value_is_counted_once_wherever_it_lies():
    """Counted by hand: two columns, one of which may be missing, and a category, in two cells."""
    layout = Layout((-1.0, 0.0), (1.0, 8.0), (1,), (2,))
    statistic = by_hand(layout, edges=[[[-(1 << 19), 0], [0, 0]], [[0, 1 << 20], [1 << 20, 1 << 20]]])
    nan = 4.0  # what stands for a missing number: the middle of its bounds
    E = np.array(
        [  # whether the second number is missing, the numbers, the levels
            [0, -1.0, 8.0, 1, 0],  # at both bounds
            [0, -0.5, 4.0, 0, 1],  # at the end of a bin: below
            [0, np.nextafter(-0.5, 0), 4.1, 0, 0],  # nearest to the end of a bin: rounded to it
            [1, -1e300, nan, 1, 0],  # far outside, and missing
            [0, 1e300, -1e300, 0, 1],  # the other cell
            [1, 0.25, nan, 0, 0],  # all that may be missing is
        ]
    )
    assert opened(InMemoryEngine().count(E, statistic)).tolist() == [
        [4, 4, 0, 0, 1, 0, 2, 1, 2, 1, 1],
        [2, 0, 2, 0, 1, 0, 0, 1, 0, 1, 1],
    ]
    check(InMemoryEngine(), E, E, statistic)
    without = replace(statistic, may_miss=())
    assert opened(InMemoryEngine().count(E, without)).tolist() == [
        [4, 4, 0, 0, 1, 0, 2, 2, 1],
        [2, 0, 2, 0, 1, 0, 0, 0, 1],
    ]


def by_hand(layout, edges):
    """Two cells that are split by the sign of the first number."""
    d = layout.n_numbers
    ball = hostile.encoded_domain(layout, np.array(layout.lower), np.array(layout.upper), FINE_GRID_BITS)
    means = np.zeros((2, d))
    means[:, 0] = [-0.5, 0.5]
    whiten, shift = hostile.whiten_numbers(layout, ball, means, np.tile(0.2 * np.eye(d), (2, 1, 1)))
    rule = hostile.GaussianCells.from_scores(whiten, shift, np.zeros(2), 1.0, FINE_GRID_BITS)
    categories = range(layout.n_categories)
    may_miss = (*layout.holes, *(d + j for j in categories))
    return ProfileCounts(rule, ball, ball, layout, np.array(edges), tuple(categories), may_miss)


@pytest.mark.parametrize("constant", [0, 2, [0, 1, 2]])
def test_constant_columns(rng, constant):
    statistic = random_profile(rng, 4, 4, constant=constant)
    X = records_of(rng, 1500, 4)
    check(InMemoryEngine(), X, X, statistic)
    X[:, constant] = 0.25
    check(InMemoryEngine(), X, X, statistic)


@pytest.mark.parametrize(("n_columns", "n_directions"), [(3, 2), (40, 5)])
def test_cells_of_projected_records(rng, n_columns, n_directions):
    statistic = projected_profile(rng, 4, n_columns, n_directions)
    X = records_at_edges(rng, 1500, statistic)
    check(InMemoryEngine(chunk_rows=500), X, X, statistic)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 30.0])
@pytest.mark.parametrize("wide", [1.0, 1e3, 1e9])
def test_needles_and_wide_boxes(rng, scale, wide):
    for n_features in (2, 9):
        statistic = random_profile(rng, 3, n_features, wide=wide, scale=scale)
        X = np.vstack([records_of(rng, 400, n_features), rng.uniform(-wide, wide, size=(400, n_features))])
        check(InMemoryEngine(), X, X, statistic)


def test_cells_far_outside_of_the_ball(rng):
    weights, means, covariances = random_mixture(rng, 4, 3)
    far = means + np.array([0.0, 5.0, -40.0, 300.0])[:, None]
    one = np.ones(3)
    ball, box = Domain(-one, one, 1.1, FINE_GRID_BITS), Domain(-9 * one, 9 * one, None, FINE_GRID_BITS)
    statistic = profile_of(rng, (weights, far, covariances), ball, box)
    X = records_at_edges(rng, 1500, statistic)
    check(InMemoryEngine(), X, X, statistic)


@pytest.mark.parametrize("of_ball", [GRID_BITS, FINE_GRID_BITS])
@pytest.mark.parametrize("of_box", [GRID_BITS, FINE_GRID_BITS])
def test_grids_may_differ_and_be_coarse(rng, of_ball, of_box):
    """What a rule is for is said by its domain; nothing is assumed about which grid it is."""
    one, mixture = np.ones(3), random_mixture(rng, 4, 3)
    ball, box = Domain(-one, one, 1.1, of_ball), Domain(-5 * one, 6 * one, None, of_box)
    statistic = profile_of(rng, mixture, ball, box)
    X = records_of(rng, 1500, 3)
    check(InMemoryEngine(), X, X, statistic)


@pytest.mark.parametrize("n_rows", [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_block_edges(rng, n_rows):
    X = records_of(rng, n_rows, 3)
    check(InMemoryEngine(), X, X, random_profile(rng, 4, 3))


@EVERY_TABLE
def test_no_rows(rng, columns):
    statistic = table_profile(rng, columns, 3)
    found = opened(InMemoryEngine().count(np.empty((0, statistic.n_columns)), statistic))
    assert found.shape == (3, statistic.n_bins)
    assert not found.any()


@pytest.mark.parametrize("of_table", [False, True], ids=["numbers", "table"])
def test_orders_chunkings_and_thread_counts(rng, of_table):
    """Records with missing values among all others: nothing of one is left for the next."""
    if of_table:
        columns = TABLES["numbers, categories, missing values"]
        statistic, X = table_profile(rng, columns, 6), records_of_table(rng, columns, 9000)
    else:
        statistic = random_profile(rng, 6, 4)
        X = records_at_edges(rng, 9000, statistic)
    expected = counts(X, statistic)
    for i, (chunk_rows, n_threads) in enumerate(itertools.product([997, 2048, 65_536], [1, 2, 3])):
        order = np.random.default_rng(i).permutation(len(X))
        found = opened(InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads).count(X[order], statistic))
        assert np.array_equal(found, expected)


@pytest.mark.long  # every layout is a compilation of its own
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "read-only"])
def test_memory_layouts_and_types(rng, dtype, layout):
    with np.errstate(over="ignore"):
        base = records_of(rng, 1500, 3).astype(dtype)
    X = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
        "read-only": np.copy,
    }[layout](base)
    X.flags.writeable = layout != "read-only"
    check(InMemoryEngine(), X, base, random_profile(rng, 4, 3))


def test_close_calls_are_settled_exactly(rng):
    """Twins, between which margins that no float32 can see decide; then every float32 score is distrusted."""
    weights, means, covariances = random_mixture(rng, 4, 3)
    means[1], covariances[1], weights[1] = means[0] + 1e-7, covariances[0], weights[0]
    usual = random_profile(rng, 4, 3)
    statistic = profile_of(rng, (weights / weights.sum(), means, covariances), usual.ball, usual.box)
    X = records_of(rng, 6000, 3)
    assert np.all(counts(X, statistic)[:2, 0] > 0)
    check(InMemoryEngine(), X, X, statistic)
    with doubted():
        check(InMemoryEngine(), X, X, statistic)


@EVERY_TABLE
def test_a_record_counts_by_itself_wherever_it_stands(rng, columns):
    """Alone, first, in the middle and last, among records with all that may be missing: the same entries."""
    statistic, E = table_profile(rng, columns, 5), records_of_table(rng, columns, 700)
    engine = InMemoryEngine(chunk_rows=101, n_threads=2)
    without = opened(engine.count(E, statistic))
    for new in records_of_table(rng, columns, 6):
        alone = opened(engine.count(new[None], statistic))
        assert alone[:, 0].sum() == 1
        for place in (0, 350, len(E)):
            found = opened(engine.count(np.insert(E, place, new, axis=0), statistic))
            assert np.array_equal(found - without, alone)


def test_nan_cannot_pass_the_clipping(rng):
    """Estimators refuse NaN; should one reach a kernel all the same, it counts as a record at the bounds."""
    statistic, engine = random_profile(rng, 3, 2), InMemoryEngine()
    missing, at_the_bound = np.full((3, 2), np.nan), np.tile(statistic.box.upper, (3, 1))
    assert np.array_equal(*(opened(engine.count(X, statistic)) for X in (missing, at_the_bound)))


# -- missing numbers ----------------------------------------------------------------------------------


@numba.njit
def compiled_changes(gaps, y, missing):
    """What the compiled passes add to the score in each cell."""
    d = gaps.last - gaps.first
    found, root, solved = np.empty(len(y)), np.empty((d, d)), np.empty(d)
    for k in range(len(y)):
        parts = gaps.whitening[k], gaps.products[k], gaps.logs[k]
        found[k] = _kernels._change(*parts, y[k], missing, solved, root)
    return found


@numba.njit
def compiled_logs(values):
    return np.array([_kernels._natural_log(value) for value in values])


@pytest.mark.parametrize("d", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("together", [1e-6, 1e-2, 1.0])
def test_what_is_integrated_out_is_that_of_the_plain_form_bit_for_bit(rng, d, together):
    """Also of numbers that nearly say one another, and whatever is left in the memory from another record."""
    layout = Layout((0.0,) * d, (1.0,) * d, tuple(range(d)))
    ball = hostile.encoded_domain(layout, np.zeros(d), np.ones(d), FINE_GRID_BITS)
    common = rng.normal(size=(4, d, 1))
    covariances = 0.05 * (common @ common.transpose(0, 2, 1) + together**2 * np.eye(d))
    whiten, shift = hostile.whiten_numbers(
        layout, ball, rng.normal(size=(4, d)), np.linalg.cholesky(covariances)
    )
    rule = hostile.GaussianCells.from_scores(whiten, shift, rng.random(4), 1.0, FINE_GRID_BITS)
    statistic = ProfileCounts(rule, ball, ball, layout, np.zeros((4, d, 1), np.int64))
    prepared = _rules.counted_of(statistic).gaps
    for _ in range(60):
        y = rng.normal(size=(4, d)) * 10.0 ** rng.uniform(-3, 5)
        missing = np.flatnonzero(rng.random(d) < 0.6)
        plain = [statistic.gaps.change(k, y[k], missing) for k in range(4)]
        assert compiled_changes(prepared, y, missing).tolist() == plain


def test_logarithms_are_those_of_the_plain_form_bit_for_bit(rng):
    values = np.exp(np.concatenate([rng.uniform(-700, 700, 3000), rng.uniform(-1e-6, 1e-6, 3000)]))
    values = np.concatenate([values, [1e-150, 0.5, 1.0, 2.0, 0.7071067811865476]])
    assert compiled_logs(values).tolist() == [natural_log(value) for value in values.tolist()]


# -- where records are --------------------------------------------------------------------------------


def test_batches(rng):
    statistic, X = random_profile(rng, 4, 3), records_of(rng, 1500, 3)
    for size in (1, 333, 5000):
        rows = X[:40] if size == 1 else X
        parts = [rows[i : i + size] for i in range(0, len(rows), size)]
        check(StreamedEngine(), in_parts(parts), rows, statistic)


def test_partitions(rng):
    statistic, X = random_profile(rng, 4, 3), records_of(rng, 1500, 3)
    records = open_records(in_partitions(X, 701))
    check(records.engine(None), records.read(None), X, statistic)


def test_invented_records_count_as_often_as_they_are_copied(rng):
    statistic, crowd = random_profile(rng, 4, 3), _Crowd.of(5000, Layout((-1.0,) * 3, (1.0,) * 3))
    assert crowd.copies > 1
    check(_CrowdEngine(), crowd, np.repeat(crowd.points, crowd.copies, axis=0), statistic)


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
    statistic, X, groups = random_profile(rng, 4, 3), records_of(rng, 2000, 3), rng.integers(0, 90, size=2000)
    used = used_rows(Batch(X, owners_of(groups)), 5, "groups")
    assert len(used) == 450
    records = open_records(stored(X, 301)).owned_by(groups)
    check(records.engine(None), records.read(None, 5), used, statistic)


def test_input_is_not_touched(rng):
    X = records_of(rng, 1500, 3)
    copy = X.copy()
    check(InMemoryEngine(), X, copy, random_profile(rng, 2, 3))
    assert np.array_equal(X, copy)


# -- what is refused ----------------------------------------------------------------------------------


def test_records_of_another_width_are_refused(rng):
    check_refusals(InMemoryEngine(), records_of(rng, 10, 3), random_profile(rng, 4, 3))


def test_cells_of_another_grid_or_width_are_refused(rng):
    X, fine = np.zeros((3, 2)), random_profile(rng, 3, 2)
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(unit_box(2), 3), fine.rule)
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(unit_box(2), 3), random_cells(rng, 3, 3))
    with pytest.raises(ValueError, match="the columns and the grid"):
        InMemoryEngine().reduce(X, CellMoments(fine.box, 3, of_residuals=True), random_cells(rng, 3, 2))
