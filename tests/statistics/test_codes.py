"""Codes, tallies and the cells made of them, against plain Python integers; engines, bit for bit."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmorse import InMemoryEngine
from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import (
    GRID_BITS,
    LARGEST_N_BITS,
    BinaryCodes,
    CellMoments,
    Domain,
    NearestCubes,
    PrefixCells,
    SecondMoments,
    Tally,
)
from dpmorse.statistics.codes import PROJECTION_BITS, squared_distances
from plain import unit_box

STEP = 1 << GRID_BITS

# Plain forms


def plain_projection(codes, row):
    """A q in Python integers."""
    return [sum(int(a) * int(x) for a, x in zip(axis, row, strict=True)) for axis in codes.projection]


def plain_cells(codes, row):
    """The smallest cell of each axis: 2^bits of them, the outermost without end."""
    edges = [codes.width * (i - (1 << codes.bits >> 1)) for i in range(1, 1 << codes.bits)]
    return [sum(y >= edge for edge in edges) for y in plain_projection(codes, row)]


def plain_code(codes, row):
    """First bits of all axes, then second bits, as a text of zeros and ones."""
    texts = [format(cell, f"0{codes.bits}b") for cell in plain_cells(codes, row)]
    return "".join(text[bit] for bit in range(codes.bits) for text in texts)


def random_codes(rng, n_features=3, n_axes=2, bits=3, reach=1.0):
    return BinaryCodes.rounded(unit_box(n_features), rng.normal(size=(n_axes, n_features)), reach, bits)


def random_records(rng, n, n_features):
    """Records all over the grid, some of them on its edges and at its centre."""
    q = rng.integers(-STEP, STEP + 1, size=(n, n_features))
    q[: n // 4] = rng.choice([-STEP, 0, STEP], size=(n // 4, n_features))
    return q


# Codes


@pytest.mark.parametrize(
    ("n_features", "n_axes", "bits"), [(1, 1, 1), (1, 1, 5), (3, 2, 3), (5, 8, 2), (4, 3, 4)]
)
@pytest.mark.parametrize("reach", [0.05, 1.0, 4.0])
def test_codes_equal_those_of_plain_integers(rng, n_features, n_axes, bits, reach):
    codes = random_codes(rng, n_features, n_axes, bits, reach)
    q = random_records(rng, 200, n_features)
    assert codes.n_axes == n_axes
    assert codes.n_bits == n_axes * bits
    found = codes.codes(q)
    assert found.dtype == np.int64
    assert found.tolist() == [int(plain_code(codes, row), 2) for row in q]


def test_cells_are_half_open_and_the_outermost_have_no_end():
    """An axis cut into eight cells of width 10 has edges at -30, -20, .., 30."""
    codes = BinaryCodes(unit_box(1), np.ones((1, 1)), width=10, bits=3)
    y = [-4096, -41, -40, -31, -30, -21, -20, -11, -10, -1, 0, 9, 10, 19, 20, 29, 30, 39, 40, 4096]
    expected = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7, 7]
    assert codes.codes(np.array(y)[:, None]).tolist() == expected


def test_first_bits_of_all_axes_come_before_second_bits():
    codes = BinaryCodes(unit_box(2), np.eye(2), width=10, bits=2)
    q = np.array([[-15, -15], [-15, 15], [15, -15], [-5, -15], [-15, -5], [5, 15]])
    assert [format(c, "04b") for c in codes.codes(q)] == ["0000", "0101", "1010", "0010", "0001", "1101"]


@pytest.mark.parametrize("width", [1, 7, 2**30])
def test_one_bit_is_the_sign_of_the_projection(rng, width):
    """A hash by hyperplanes; the hyperplane itself is on the side of 1."""
    codes = BinaryCodes(unit_box(3), rng.integers(-5, 6, size=(4, 3)).astype(float), width, bits=1)
    q = np.vstack([np.zeros((1, 3), dtype=np.int64), rng.integers(-2, 3, size=(300, 3))])
    signs = [[int(y >= 0) for y in plain_projection(codes, row)] for row in q]
    assert codes.codes(q).tolist() == [int("".join(map(str, row)), 2) for row in signs]
    assert any(0 in plain_projection(codes, row) for row in q[1:])


def test_codes_may_have_as_many_bits_as_a_positive_integer_holds(rng):
    codes = random_codes(rng, n_features=4, n_axes=LARGEST_N_BITS // 2, bits=2)
    q = random_records(rng, 50, 4)
    assert codes.n_bits == 62
    assert codes.codes(q).tolist() == [int(plain_code(codes, row), 2) for row in q]
    assert codes.codes(q).min() >= 0


def test_cells_tile_the_reach_of_a_rounded_projection(rng):
    """In scaled units 2^bits cells cover [-reach, reach], and A has the proportions of what was given."""
    projection = rng.normal(size=(3, 4))
    for reach, bits in itertools.product([0.3, 1.0, 5.0], [1, 4, 8]):
        codes = BinaryCodes.rounded(unit_box(4), projection, reach, bits)
        scale = 2.0**PROJECTION_BITS / np.abs(projection).max()
        assert np.array_equal(codes.projection, np.rint(codes.projection)), "integers"
        assert np.abs(codes.projection).max() == 2**PROJECTION_BITS
        assert np.abs(codes.projection / scale - projection).max() <= 0.5 / scale
        assert codes.width * 2**bits / (scale * STEP) == pytest.approx(2 * reach, rel=1e-4)
        assert codes.width * 2.0**-GRID_BITS * 2**bits == pytest.approx(2 * reach * scale, rel=1e-4)


def test_unprojected_codes_are_cubes_of_the_box(rng):
    """As DPCube uses few columns: bit by bit a binary search in [-1, 1] on every axis."""
    codes = BinaryCodes.rounded(unit_box(2), np.eye(2), 1.0, 4)
    q = rng.integers(-STEP, STEP, size=(500, 2))
    cells = (q + STEP) * 16 // (2 * STEP)
    assert [plain_cells(codes, row) for row in q] == cells.tolist()
    assert codes.codes(q).tolist() == [int(plain_code(codes, row), 2) for row in q]


def test_large_terms_that_cancel_leave_nothing_behind(rng):
    """Terms of up to 2^32 in pairs that cancel, and one of -1, 0 or 1 that decides the sign."""
    factors = rng.integers(-(2**PROJECTION_BITS), 2**PROJECTION_BITS + 1, size=(6, 2_000)).astype(float)
    values, decides = rng.integers(-STEP, STEP + 1, size=(30, 2_000)), rng.integers(-1, 2, size=(30, 1))
    projection, q = np.hstack([np.ones((6, 1)), factors, factors]), np.hstack([decides, values, -values])
    expected = np.where(decides.ravel() >= 0, 0b111111, 0)
    for order in (np.arange(4_001), rng.permutation(4_001)):
        codes = BinaryCodes(unit_box(4_001), projection[:, order], width=1, bits=1)
        assert np.array_equal(codes.codes(q[:, order]), expected)


@pytest.mark.parametrize("n_features", [1, 3, 17, 200])
def test_a_code_does_not_depend_on_other_records_or_on_chunks(rng, n_features):
    """Matrix products take other paths for other shapes; on integers all of them end at the same sum."""
    codes = random_codes(rng, n_features, n_axes=5, bits=4)
    q = random_records(rng, 700, n_features)
    whole, order = codes.codes(q), rng.permutation(len(q))
    assert np.array_equal(codes.codes(q[order]), whole[order])
    for size in (1, 2, 13, 256):
        parts = [codes.codes(q[start : start + size]) for start in range(0, len(q), size)]
        assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(codes.codes(np.asfortranarray(q)), whole)
    assert np.array_equal(codes.codes(np.repeat(q, 2, axis=0)[::2]), whole)


def test_codes_of_no_records_are_none(rng):
    assert random_codes(rng).codes(np.empty((0, 3), dtype=np.int64)).size == 0


def test_codes_of_real_records_at_the_edges_of_the_domain():
    """Far out, at the bounds, half-way between grid points, tiny, and both zeros, in float64 and float32."""
    values = [-1e308, -1e300, -1.0, -0.5, -2.5 / STEP, -1.5 / STEP, -0.5 / STEP, -5e-324, -0.0]
    values += [0.0, 5e-324, 0.5 / STEP, 1.5 / STEP, np.nextafter(0.5, 0), 0.5, np.nextafter(1, 0), 1.0, 1e300]
    codes = BinaryCodes.rounded(unit_box(1), np.ones((1, 1)), 1.0, 12)

    def expected(x):
        q = round(Fraction(min(max(x, -1.0), 1.0)) * STEP)  # ties go to even
        return int(plain_code(codes, [q]), 2)

    X = np.array(values)[:, None]
    found = codes.codes(codes.domain.quantise(X))
    assert found.tolist() == [expected(x) for x in values]
    assert np.all(np.diff(found) >= 0)
    single = X[np.abs(X[:, 0]) < 1e30].astype(np.float32)
    assert codes.codes(codes.domain.quantise(single)).tolist() == [expected(float(x)) for x in single[:, 0]]


# Centres


@pytest.mark.parametrize(("n_axes", "bits"), [(1, 1), (1, 4), (2, 3), (3, 2)])
def test_centres_are_the_midpoints_of_their_cells(n_axes, bits):
    """Every cell of every depth, from its edges; in halves of the smallest width."""
    codes = BinaryCodes(unit_box(n_axes), np.eye(n_axes), width=6, bits=bits)
    for depth in range(bits + 1):
        prefixes = np.arange(1 << (depth * n_axes))
        found = codes.centres(prefixes, depth)
        side = 1 << (bits - depth)  # in smallest widths
        for prefix, centre in zip(prefixes, found, strict=True):
            text = format(prefix, f"0{depth * n_axes}b") if depth else ""
            for axis in range(n_axes):
                cell = int("0" + text[axis::n_axes], 2)
                lower = cell * side - (1 << bits >> 1)
                assert centre[axis] == lower + (lower + side)


@pytest.mark.parametrize(("n_features", "n_axes", "bits"), [(1, 1, 6), (3, 2, 4), (4, 5, 2)])
def test_centres_are_the_inverse_of_codes(rng, n_features, n_axes, bits):
    """A record lies within half a side of the centre of its own cell, at every depth, unless it was clipped."""
    codes = random_codes(rng, n_features, n_axes, bits, reach=2.5)
    q = random_records(rng, 300, n_features)
    y = np.array([plain_projection(codes, row) for row in q])
    inside = np.all(np.abs(2 * y) < codes.width << bits, axis=1)
    assert inside.sum() > 100
    for depth in range(bits + 1):
        centres = codes.centres(codes.codes(q) >> ((bits - depth) * n_axes), depth)
        offset = 2 * y - centres * codes.width  # in halves of a unit of y
        half_side = codes.width << (bits - depth)
        assert np.all((offset >= -half_side) & (offset < half_side), axis=1)[inside].all()


def test_records_anywhere_in_a_cell_have_codes_that_start_with_its_prefix(rng):
    codes = BinaryCodes(unit_box(2), np.eye(2), width=64, bits=5)
    for depth in range(6):
        prefixes = rng.integers(0, 1 << (2 * depth), size=50)
        centres, reach = codes.centres(prefixes, depth) * 32, 32 << (5 - depth)
        for offset in ([-reach, -reach], [reach - 1, -reach], [0, 0], [reach - 1, reach - 1]):
            found = codes.codes(centres + np.array(offset))
            assert np.array_equal(found >> (2 * (5 - depth)), prefixes)
        outside = centres + np.array([reach, 0])
        in_range = outside[:, 0] < 32 << 5
        assert not np.any((codes.codes(outside) >> (2 * (5 - depth)) == prefixes)[in_range])


def test_records_beyond_the_reach_are_in_the_outermost_cells():
    codes = BinaryCodes(unit_box(1), np.ones((1, 1)), width=10, bits=3)
    ends = codes.codes(np.array([[-STEP], [STEP]]))
    assert codes.centres(ends, 3).ravel().tolist() == [-7, 7]


# Tallies


@pytest.mark.parametrize("n_bits", [1, 5, 12, 62])
def test_tallies_equal_a_plain_count(rng, n_bits):
    codes = rng.integers(0, min(1 << n_bits, 40), size=500) << max(0, n_bits - 6)
    codes = np.minimum(codes, (1 << n_bits) - 1)
    counts = rng.integers(1, 5, size=500)
    expected = Counter()
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        expected[code] += count
    tally = Tally.of(codes, counts, n_bits)
    assert dict(zip(tally.codes.tolist(), tally.counts.tolist(), strict=True)) == expected
    assert np.all(np.diff(tally.codes) > 0)
    assert tally.counts.dtype == np.int64
    assert tally.n_bits == n_bits


@st.composite
def tallies(draw):
    """Codes of a few bits, so that prefixes collide, or of 62 bits, so that nothing may overflow."""
    n_bits = draw(st.sampled_from([1, 2, 3, 6, 62]))
    codes = draw(st.lists(st.integers(0, (1 << n_bits) - 1), min_size=1, max_size=30))
    return codes, n_bits


def tally_of(codes, n_bits):
    return Tally.of(np.array(codes, dtype=np.int64), np.ones(len(codes), dtype=np.int64), n_bits)


def prefixes_worth_asking(codes, n_bits, depth):
    """All prefixes if they are few, else those of the codes and their neighbours."""
    if depth <= 6:
        return np.arange(1 << depth)
    own = {
        min(max((code >> (n_bits - depth)) + step, 0), (1 << depth) - 1)
        for code in codes
        for step in (-1, 0, 1)
    }
    return np.array([0, *sorted(own), (1 << depth) - 1])


@settings(max_examples=150)
@given(tallies())
def test_counts_of_prefixes_equal_a_search_through_all_codes(case):
    codes, n_bits = case
    tally = tally_of(codes, n_bits)
    for depth in range(n_bits + 1):
        prefixes = prefixes_worth_asking(codes, n_bits, depth)
        expected = [sum(code >> (n_bits - depth) == prefix for code in codes) for prefix in prefixes.tolist()]
        assert tally.starting_with(prefixes, depth).tolist() == expected
        backwards = tally.starting_with(prefixes[::-1], depth)
        assert backwards.tolist() == expected[::-1], "prefixes may come in any order"


@settings(max_examples=100)
@given(tallies())
def test_children_of_a_cell_share_its_records_among_them(case):
    codes, n_bits = case
    tally = tally_of(codes, n_bits)
    assert tally.starting_with(np.zeros(1, dtype=np.int64), 0).tolist() == [len(codes)]
    for depth in range(min(n_bits, 12)):
        prefixes = prefixes_worth_asking(codes, n_bits, depth)
        parents = tally.starting_with(prefixes, depth)
        first, second = (tally.starting_with(2 * prefixes + bit, depth + 1) for bit in (0, 1))
        assert np.array_equal(first + second, parents)


@settings(max_examples=100)
@given(tallies(), st.integers(0, 2**62 - 1))
def test_one_record_more_changes_one_count_of_each_level_by_one(case, new):
    """The sensitivity of a level, and that the count changed is the one of the record's own cell."""
    codes, n_bits = case
    new >>= 62 - n_bits
    before, after = tally_of(codes, n_bits), tally_of([*codes, new], n_bits)
    for depth in range(n_bits + 1):
        prefixes = np.unique(prefixes_worth_asking([*codes, new], n_bits, depth))
        change = after.starting_with(prefixes, depth) - before.starting_with(prefixes, depth)
        assert change.tolist() == [int(prefix == new >> (n_bits - depth)) for prefix in prefixes.tolist()]
        assert change.sum() == 1


@settings(max_examples=100)
@given(tallies())
def test_shortened_tallies_are_those_of_shortened_codes(case):
    codes, n_bits = case
    tally = tally_of(codes, n_bits)
    for depth in {0, 1, n_bits // 2, n_bits}:
        found, expected = (
            tally.shortened(depth),
            tally_of([code >> (n_bits - depth) for code in codes], depth),
        )
        assert found.n_bits == depth
        assert np.array_equal(found.codes, expected.codes)
        assert np.array_equal(found.counts, expected.counts)
        assert np.array_equal(tally.starting_with(found.codes, depth), found.counts)


# Cells


def test_prefix_cells_equal_a_search_through_all_intervals(rng):
    """Intervals with gaps before, between and after them, and some that touch."""
    codes = random_codes(rng, n_features=3, n_axes=3, bits=2)
    q = random_records(rng, 600, 3)
    found_codes, seen = codes.codes(q), set()
    for _ in range(20):
        bounds = np.sort(rng.choice(65, size=8, replace=False))
        starts, ends = bounds[::2].copy(), bounds[1::2].copy()
        ends[1] = starts[2]
        cells = PrefixCells(codes, starts, ends)
        expected = [
            next((i for i in range(4) if starts[i] <= code < ends[i]), -1) for code in found_codes.tolist()
        ]
        assert cells.n_cells == 4
        assert cells.labels(q).tolist() == expected
        seen.update(expected)
    assert seen == {-1, 0, 1, 2, 3}


def test_prefix_cells_hold_the_records_that_were_counted_for_their_prefix(rng):
    """Leaves of different depths: labels and ``starting_with`` must mean the same records."""
    codes = random_codes(rng, n_features=2, n_axes=6, bits=1)
    q = random_records(rng, 500, 2)
    tally = tally_of(codes.codes(q).tolist(), 6)
    leaves = [(0b00, 2), (0b0101, 4), (0b011, 3), (0b100000, 6), (0b111, 3)]
    starts, ends = ([(prefix + step) << (6 - depth) for prefix, depth in leaves] for step in (0, 1))
    labels = PrefixCells(codes, np.array(starts), np.array(ends)).labels(q)
    for i, (prefix, depth) in enumerate(leaves):
        assert (labels == i).sum() == tally.starting_with(np.array([prefix]), depth)[0]
    assert (labels == -1).any()


def test_one_cell_of_all_codes_has_all_records(rng):
    codes = random_codes(rng)
    q = random_records(rng, 50, 3)
    everything = PrefixCells(codes, np.array([0]), np.array([1 << codes.n_bits]))
    assert not everything.labels(q).any()
    nothing = PrefixCells(codes, np.array([1 << codes.n_bits]), np.array([2 << codes.n_bits]))
    assert np.all(nothing.labels(q) == -1)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_nearest_cubes_equal_a_search_through_all_centres(rng, depth):
    """Centres on the grid of cubes, so that ties are common: they go to the lowest index."""
    codes = random_codes(rng, n_features=4, n_axes=2, bits=3)
    q = random_records(rng, 400, 4)
    centres = rng.integers(-4, 5, size=(7, 2)) * 2
    centres[[2, 5]] = 2
    found, ties = NearestCubes(codes, depth, centres).labels(q).tolist(), 0
    for row, label in zip(q, found, strict=True):
        cube = [cell >> (3 - depth) for cell in plain_cells(codes, row)]
        middle = [(2 * cell + 1) * 2 ** (3 - depth) - 8 for cell in cube]
        distances = [sum((a - b) ** 2 for a, b in zip(middle, c, strict=True)) for c in centres.tolist()]
        assert label == distances.index(min(distances))
        ties += distances.count(min(distances)) > 1
    assert ties
    assert 5 not in found, "a twin never wins over its elder"
    assert NearestCubes(codes, depth, centres).n_cells == 7


def test_squared_distances_are_exact(rng):
    """Beyond 2^53, where a float, or |x|^2 - 2 x c + |c|^2 in floats, would not do."""
    points, centres = rng.integers(-(2**29), 2**29, size=(20, 3)), rng.integers(-(2**29), 2**29, size=(6, 3))
    centres[0] = points[0]
    expected = [
        [sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in centres.tolist()]
        for x in points.tolist()
    ]
    assert max(map(max, expected)) > 2**53
    found = squared_distances(points, centres)
    assert found.dtype == np.int64
    assert found.tolist() == expected
    assert squared_distances(points[:0], centres).shape == (0, 6)


# The engine

OPTIONS = [
    {"chunk_rows": chunk_rows, "n_threads": n_threads}
    for chunk_rows, n_threads in itertools.product([1, 97, 1000, 1 << 16], [1, 2, 3, None])
    if chunk_rows > 1 or n_threads == 2
]


@pytest.fixture
def records(rng):
    """Records in the units of the caller, some of them out of bounds or on a bound."""
    X = rng.normal(size=(1_500, 4)) * [1.0, 20.0, 0.5, 1.0] + [0.0, 100.0, 0.0, 0.0]
    X[:3] = [[3.0, 60.0, -1.0, 0.0], [-3.0, 140.0, 1.0, 0.0], [0.0, 100.0, 0.0, 0.0]]
    return X


@pytest.fixture(params=[None, 1.1], ids=["box", "ball"])
def domain(request):
    return Domain.from_bounds(([-3.0, 60.0, -1.0, 0.0], [3.0, 140.0, 1.0, 0.0]), 4, request.param)


def orders(X):
    """The same rows forwards, backwards, shuffled, and in the other memory order."""
    yield X
    yield X[::-1]
    yield X[np.random.default_rng(1).permutation(len(X))]
    yield np.asfortranarray(X)


def test_tallies_of_an_engine_equal_plain_numpy(rng, records, domain):
    codes = BinaryCodes.rounded(domain, rng.normal(size=(5, 4)), 1.0, 3)
    expected = Counter(codes.codes(domain.quantise(records)).tolist())
    assert 50 < len(expected) < len(records), "some codes are shared, within and across chunks"
    for options, X in itertools.product(OPTIONS, orders(records)):
        tally = opened(InMemoryEngine(**options).tally(X, codes))
        assert tally.codes.tolist() == sorted(expected)
        assert tally.counts.tolist() == [expected[code] for code in sorted(expected)]
        assert (tally.codes.dtype, tally.counts.dtype, tally.n_bits) == (np.int64, np.int64, 15)


def cells_of(kind, rng, domain):
    codes = BinaryCodes.rounded(domain, rng.normal(size=(3, 4)), 1.0, 3)
    if kind == "cubes":
        return NearestCubes(codes, 2, rng.integers(-8, 9, size=(6, 3)))
    starts = np.array([0, 8, 64, 100, 300, 511])
    return PrefixCells(codes, starts, np.array([8, 60, 70, 300, 301, 512]))


@pytest.mark.parametrize("kind", ["prefixes", "cubes"])
def test_sums_of_an_engine_equal_plain_numpy(rng, records, domain, kind):
    cells = cells_of(kind, rng, domain)
    statistic = CellMoments(domain, 6, second_moments=SecondMoments.NONE, exhaustive=False)
    q = domain.quantise(records)
    labels = cells.labels(q)
    assert (-1 in labels) == (kind == "prefixes")
    counts = [int((labels == i).sum()) for i in range(6)]
    sums = [
        [sum(column) for column in zip(*q[labels == i].tolist(), strict=True)] or [0] * 4 for i in range(6)
    ]
    for options, X in itertools.product(OPTIONS, orders(records)):
        found = opened(InMemoryEngine(**options).reduce(X, statistic, cells))
        assert found.counts.tolist() == counts
        assert found.sums.tolist() == sums
        assert (found.counts.dtype, found.sums.dtype) == (np.int64, np.int64)
        assert opened(statistic.to_units(sealed(found))).shape == (statistic.n_values,)


@pytest.mark.parametrize("kind", ["prefixes", "cubes"])
def test_one_record_moves_the_sums_of_its_own_cell_only(rng, records, domain, kind):
    cells = cells_of(kind, rng, domain)
    statistic = CellMoments(domain, 6, second_moments=SecondMoments.NONE, exhaustive=False)
    q = domain.quantise(records)
    labels, whole = cells.labels(q), opened(InMemoryEngine().reduce(records, statistic, cells))
    for i in [*np.flatnonzero(labels == -1)[:2], *np.unique(labels, return_index=True)[1]]:
        without = opened(InMemoryEngine().reduce(np.delete(records, i, axis=0), statistic, cells))
        own = np.arange(6) == labels[i]
        assert np.array_equal(whole.counts - without.counts, own)
        assert np.array_equal(whole.sums - without.sums, own[:, None] * q[i])
