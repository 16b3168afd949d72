"""A name and a seed stand for one dataset, whose classes and bounds are what is said about them."""

import numpy as np
import pytest

from benchmarks.generated import FAMILIES, make_family

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
        X, y = family.generate(
            600, random_state=np.random.default_rng(0), **{k: ends[end] for k, ends in family.ranges.items()}
        )
        assert X.shape == (600, family.ranges["n_features"][end])
        assert y.shape == (600,)


def test_families_differ_under_the_same_seed():
    sizes = {name: make_family(name, 0).X.shape for name in ("blobs", "elongated", "rings", "slab")}
    assert len(set(sizes.values())) == len(sizes)
