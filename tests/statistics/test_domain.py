"""Each record is clipped and quantised by itself, and never leaves the domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpmorse import InvalidParameterError, InvalidTypeError
from dpmorse.schema import too_narrow
from dpmorse.statistics import GRID_BITS, Domain

ONE = 1 << GRID_BITS

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


def test_scalars_and_columns():
    domain = Domain.from_bounds((0, [1.0, 2.0, 4.0]), 3)
    assert domain.lower.tolist() == [0, 0, 0]
    assert domain.quantise(np.array([[0.5, 2.0, 0.0]])).tolist() == [[0, ONE, -ONE]]


def test_out_of_bounds_values_are_clipped_bit_for_bit():
    domain = Domain.from_bounds((-2.0, 3.0), 1)
    q = domain.quantise(np.array([[-1e300], [-2.0], [3.0], [1e300], [-np.inf], [np.inf]]))
    assert q.ravel().tolist() == [-ONE, -ONE, ONE, ONE, -ONE, ONE]


def test_constant_column_maps_to_zero():
    domain = Domain.from_bounds(([0.0, 5.0], [1.0, 5.0]), 2)
    assert domain.quantise(np.array([[1.0, 5.0], [0.0, -1e300], [0.5, 1e308]]))[:, 1].tolist() == [0, 0, 0]
    assert domain.unit.tolist() == [0.5, 1.0]


@given(
    arrays(np.float64, (5, 3), elements=finite),
    arrays(np.float64, 3, elements=st.floats(-1e100, 1e100)),
    arrays(np.float64, 3, elements=st.floats(0, 1e100).filter(lambda w: w == 0 or w > 1e-100)),
    st.one_of(st.none(), st.floats(0.001, 3)),
)
def test_quantised_records_lie_in_the_domain(X, lower, width, radius):
    upper = lower + width
    width = upper - lower
    if np.any(too_narrow(lower, upper)) or not np.any(width > 0):
        return
    domain = Domain.from_bounds((lower, upper), 3, radius)
    q = domain.quantise(X)
    assert np.abs(q).max() <= ONE
    assert (q * q).sum(axis=1).max() <= domain.largest_squared_norm
    if radius is not None:
        assert domain.largest_squared_norm <= radius**2 * ONE**2 * (1 + 1e-12)


@given(arrays(np.int64, (4, 6), elements=st.integers(-ONE, ONE)), st.floats(0.05, 2.5))
def test_ball_shrinks_towards_zero_and_keeps_what_is_inside(q, radius):
    domain = Domain.from_bounds((-1, 1), 6, radius)
    shrunk = domain.quantise(q / ONE)
    inside = (q * q).sum(axis=1) <= domain.largest_squared_norm
    assert np.array_equal(shrunk[inside], q[inside])
    assert np.all(np.abs(shrunk) <= np.abs(q))
    assert np.all(shrunk * q >= 0)
    # nothing is shrunk further than rounding explains: one grid step per coordinate
    norms = np.sqrt((shrunk[~inside] ** 2).sum(axis=1))
    assert np.all(norms >= np.sqrt(domain.largest_squared_norm) - np.sqrt(6))


@pytest.mark.parametrize("radius", [None, 0.4, 1.0])
def test_clipping_without_rounding_agrees_with_the_grid(rng, radius):
    lower, upper = np.array([-5.0, 0.0, 100.0]), np.array([5.0, 1e-3, 900.0])
    domain = Domain.from_bounds((lower, upper), 3, radius)
    X = lower + rng.uniform(-0.5, 1.5, size=(500, 3)) * (upper - lower)
    clipped = (domain.clip(X) - domain.centre) / domain.unit
    assert np.abs(clipped - domain.quantise(X) / ONE).max() <= 2 / ONE
    assert domain.clip(domain.clip(X)) == pytest.approx(domain.clip(X), rel=1e-12)


def test_rows_do_not_influence_each_other(rng):
    X = rng.normal(size=(1000, 5))
    domain = Domain.from_bounds((-1, 1), 5, radius=1.2)
    order = rng.permutation(1000)
    assert np.array_equal(domain.quantise(X)[order], domain.quantise(X[order]))
    assert np.array_equal(domain.quantise(X)[17:18], domain.quantise(X[17:18]))


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        (None, InvalidParameterError, "bounds must be given, got None"),
        (5.0, InvalidTypeError, "must be a pair"),
        ((0, 1, 2), InvalidTypeError, "must be a pair"),
        ("ab", InvalidTypeError, "must be a pair"),
        (({}, 1), InvalidTypeError, "lower must be numbers"),
        ((["a", "b"], 1), InvalidTypeError, "lower must be numbers"),
        ((1, 0), InvalidParameterError, "lower must not exceed upper, got 1 > 0. Give"),
        (([0, 0, 0], 1), InvalidParameterError, "one value for each of the 2 columns, got shape"),
        (([[0, 0]], 1), InvalidParameterError, "one value for each of the 2 columns"),
        ((np.nan, 1), InvalidParameterError, "lower must be finite"),
        ((0, np.inf), InvalidParameterError, "upper must be finite"),
        ((0, 1e200), InvalidParameterError, "at most 1e"),
        ((0, 1e-200), InvalidParameterError, "wide, less than"),
    ],
)
def test_bad_bounds(bounds, error, message):
    with pytest.raises(error, match=message):
        Domain.from_bounds(bounds, 2)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, 1e-6])
def test_bad_radius(radius):
    with pytest.raises(InvalidParameterError, match="radius must be"):
        Domain.from_bounds((-1, 1), 2, radius)


def test_huge_offsets_keep_their_resolution():
    """Identifiers near 1e18 in a window 5e12 wide: float64 still resolves the window."""
    lower, upper = 1.2376467981378501e18, 1.2376515403342799e18
    domain = Domain.from_bounds((lower, upper), 1)
    middle = (lower + upper) / 2
    assert domain.quantise(np.array([[lower], [middle], [upper]])).ravel().tolist() == [-ONE, 0, ONE]
