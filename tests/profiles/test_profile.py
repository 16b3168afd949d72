"""A profile refuses parts that do not fit to one another."""

from dataclasses import replace

import numpy as np
import pytest

from dpmorse import InvalidParameterError, InvalidTypeError
from dpmorse.profiles import Profile
from invented_profiles import exact_profile

ARRAYS = [name for name in Profile.__annotations__ if name != "levels" and not name.endswith("stddev")]


@pytest.fixture
def profile(rng):
    return exact_profile(rng.normal(size=(50, 2)), rng.integers(0, 3, size=50), rng)


def test_what_it_says_of_itself(profile):
    assert (profile.n_components, profile.n_features) == (3, 2)
    noisy = replace(profile, counts=np.array([31.0, 30.0, -5.0]), count_stddev=10.0)
    assert noisy.supported().tolist() == [True, False, False]


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_has_the_shape_of_the_others_and_is_finite(name, profile):
    value = getattr(profile, name)
    for wrong in (
        value[..., None],
        np.concatenate([value, value]),
        np.full(value.shape, np.nan),
        np.full(value.shape, np.inf),
    ):
        with pytest.raises(InvalidParameterError, match="profile: "):
            replace(profile, **{name: wrong})


@pytest.mark.parametrize("name", ["count_stddev", "sum_stddev", "second_moment_stddev", "tail_stddev"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), None, "one"])
def test_noise_is_a_positive_number(name, value, profile):
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=f"profile.{name}"):
        replace(profile, **{name: value})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"piled": np.full((2, 2), 0.5)}, "piled must be 0 or 1"),
        ({"radii": np.array([1.0, 0.0, 1.0])}, "radii must be positive"),
        ({"lower": np.array([0.0, 2.0]), "upper": np.array([1.0, 1.0])}, "lower must be at most upper"),
        ({"edges": np.linspace(2, 1, 20)}, "edges must be positive and grow"),
        ({"edges": np.linspace(0, 1, 20)}, "edges must be positive and grow"),
        ({"edges": np.zeros(0), "tails": np.zeros((3, 0))}, "edges a list of numbers"),
        ({"factors": np.ones((3, 2, 2))}, "factors must be lower triangular"),
        ({"factors": -np.tile(np.eye(2), (3, 1, 1))}, "factors must be lower triangular, with a positive"),
        ({"sums": np.zeros(3)}, "sums must be a matrix"),
    ],
)
def test_values_that_no_release_has_are_refused(changes, message, profile):
    with pytest.raises(InvalidParameterError, match=message):
        replace(profile, **changes)


def test_a_column_of_one_value_is_possible(profile):
    assert replace(profile, lower=np.array([1.0, 0.0]), upper=np.array([1.0, 3.0])).n_features == 2


def test_lists_become_arrays_of_float64(profile):
    made = replace(profile, counts=[1, 2, 3], radii=np.array([1, 2, 3], dtype=np.float32))
    assert made.counts.dtype == made.radii.dtype == np.float64
