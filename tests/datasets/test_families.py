"""A name and a seed stand for one dataset, whose classes and bounds are what is said about them."""

import numpy as np
import pytest

from dpmorse import InvalidParameterError, InvalidTypeError
from dpmorse.datasets import FAMILIES, LabelledData, make_family
from dpmorse.datasets.labelled import widened_bounds

EVERY_FAMILY = pytest.mark.parametrize("name", FAMILIES)


@EVERY_FAMILY
def test_a_name_and_a_seed_decide_on_every_record(name):
    first, second, other = make_family(name, 3), make_family(name, 3), make_family(name, 4)
    assert first.name == f"{name}-3"
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert first.X.shape != other.X.shape or not np.array_equal(first.X, other.X)


@EVERY_FAMILY
@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_sizes_classes_and_bounds_are_as_promised(name, seed):
    data = make_family(name, seed)
    assert 3_000 <= len(data.X) <= 40_000
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert np.isfinite(data.X).all()
    classes = np.unique(data.y[data.y >= 0])
    np.testing.assert_array_equal(classes, np.arange(data.n_clusters))
    assert data.n_clusters >= 2
    assert (data.bounds[0] < data.X.min(axis=0)).all()
    assert (data.bounds[1] > data.X.max(axis=0)).all()


@EVERY_FAMILY
def test_only_the_background_is_labelled_as_noise(name):
    assert (make_family(name, 0).y.min() == -1) == (name == "background")


@EVERY_FAMILY
def test_parameters_stay_in_their_ranges(name):
    """Every parameter of the generator is drawn, and the ends of its range are accepted."""
    family = FAMILIES[name]
    for end in (0, 1):
        X, y = family.generate(600, random_state=0, **{k: ends[end] for k, ends in family.ranges.items()})
        assert X.shape == (600, family.ranges["n_features"][end])
        assert y.shape == (600,)


def test_families_differ_under_the_same_seed():
    sizes = {name: make_family(name, 0).X.shape for name in ("blobs", "elongated", "rings", "slab")}
    assert len(set(sizes.values())) == len(sizes)


@pytest.mark.parametrize("name", ["blob", 3, None])
def test_an_unknown_family_is_refused_with_the_known_ones(name):
    with pytest.raises(InvalidParameterError, match=r"name must be one of 'blobs', .*got"):
        make_family(name, 0)


@pytest.mark.parametrize(("seed", "error"), [(-1, InvalidParameterError), (1.5, InvalidTypeError)])
def test_a_seed_that_is_none_is_refused(seed, error):
    with pytest.raises(error, match=r"seed must be an integer >= 0, got"):
        make_family("blobs", seed)


def test_bounds_that_leave_a_record_out_are_refused():
    X, y = np.array([[0.0], [2.0]]), np.array([0, 1])
    with pytest.raises(InvalidParameterError, match="bounds must contain every record of 'mine'"):
        LabelledData("mine", X, y, (np.array([0.0]), np.array([1.0])))


def test_bounds_are_wider_than_the_records_even_where_a_column_is_constant():
    lower, upper = widened_bounds(np.array([[3.0, 0.0], [3.0, 10.0]]))
    np.testing.assert_allclose(lower, [2.95, -0.5])
    np.testing.assert_allclose(upper, [3.05, 10.5])


def test_labels_that_do_not_fit_the_records_are_refused():
    X, y = np.zeros((2, 1)), np.array([0])
    with pytest.raises(InvalidParameterError, match="one label per row"):
        LabelledData("mine", X, y, (np.zeros(1), np.ones(1)))
