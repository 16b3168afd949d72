"""Each generator draws from the law its docstring states: closed forms where noise is taken away."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from dpmorse import InvalidParameterError, InvalidTypeError, datasets
from dpmorse.datasets.draws import draw_centres

GENERATORS = [
    function
    for name, function in inspect.getmembers(datasets, inspect.isfunction)
    if name.startswith("make_") and name != "make_patient_table"  # no array
]
EVERY_GENERATOR = pytest.mark.parametrize("make", GENERATORS, ids=lambda f: f.__name__)


def sizes(make):
    return {name for name in inspect.signature(make).parameters if name in {"n_features", "n_clusters"}}


@EVERY_GENERATOR
@pytest.mark.parametrize("seed", [7, np.random.RandomState(7), np.random.default_rng(7), None])
def test_every_source_of_randomness_will_do(make, seed):
    X, y = make(50, random_state=seed)
    assert X.shape[0] == y.shape[0] == 50


@EVERY_GENERATOR
def test_a_seed_decides_and_a_generator_moves_on(make):
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(make(50, random_state=7)[0], make(50, random_state=rng)[0])
    assert not np.array_equal(make(50, random_state=7)[0], make(50, random_state=rng)[0])


@EVERY_GENERATOR
def test_every_class_has_a_record_even_in_tiny_datasets(make):
    arguments = {"n_clusters": 4} if "n_clusters" in sizes(make) else {}
    y = make(20, random_state=0, **arguments)[1]
    fixed = 4 if make is datasets.make_patients else 2
    np.testing.assert_array_equal(np.unique(y[y >= 0]), np.arange(arguments.get("n_clusters", fixed)))


@EVERY_GENERATOR
def test_bad_sizes_are_refused_by_name(make):
    for name in [*sizes(make), "n_samples"]:
        with pytest.raises(InvalidParameterError, match=f"{name} must be"):
            make(random_state=0, **{name: 0})
        with pytest.raises(InvalidTypeError, match=f"{name} must be an integer"):
            make(random_state=0, **{name: 2.5})
    with pytest.raises(InvalidParameterError, match=r"n_samples must be at least n_clusters = \d+, got 1"):
        make(1, random_state=0)


@EVERY_GENERATOR
def test_bad_numbers_are_refused_by_name(make):
    for name, parameter in inspect.signature(make).parameters.items():
        if isinstance(parameter.default, float):
            with pytest.raises(InvalidParameterError, match=f"{name} must"):
                make(50, random_state=0, **{name: -1.0})


@pytest.mark.parametrize(("seed", "error"), [(-1, InvalidParameterError), ("a", InvalidTypeError)])
def test_a_bad_seed_is_refused(seed, error):
    with pytest.raises(error, match="random_state must be None, an integer >= 0"):
        datasets.make_blobs(50, random_state=seed)


@pytest.mark.parametrize("make", [datasets.make_moons, datasets.make_rings])
def test_flat_shapes_need_a_plane(make):
    with pytest.raises(InvalidParameterError, match=r"n_features must be >= 2, got 1"):
        make(50, n_features=1)


@pytest.mark.parametrize(("k", "d"), [(2, 1), (5, 3), (40, 2), (7, 50)])
def test_separation_is_the_median_distance_of_nearest_centres(k, d):
    centres = draw_centres(k, d, 3.5, np.random.default_rng(k))
    distances = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag(np.full(k, np.inf))
    assert np.median(distances.min(axis=1)) == pytest.approx(3.5)


def test_blobs_are_round_with_spreads_in_their_ratio():
    X, y = datasets.make_blobs(40_000, n_features=5, n_clusters=6, spread_ratio=4.0, random_state=0)
    spreads = np.array([X[y == k].std(axis=0) for k in range(6)])
    assert (spreads.max(axis=1) / spreads.min(axis=1)).max() < 1.1
    assert 1.5 < spreads.max() / spreads.min() < 4.0 * 1.1


def test_moons_lie_on_half_circles():
    X, y = datasets.make_moons(2000, noise=1e-9, random_state=0)
    upper, lower = X[y == 0], X[y == 1] - [1.0, 0.5]
    for moon, side in ((upper, 1), (lower, -1)):
        np.testing.assert_allclose(np.linalg.norm(moon, axis=1), 1.0, atol=1e-7)
        assert (side * moon[:, 1] > -1e-7).all()


@pytest.mark.parametrize("d", [2, 5])
def test_rings_have_radii_one_two_three(d):
    X, y = datasets.make_rings(2000, n_features=d, n_clusters=3, noise=1e-9, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), y + 1.0, atol=1e-7)


def test_a_table_of_patients_has_categories_dates_and_holes():
    columns, y = datasets.make_patient_table(4000, random_state=1)
    again, _ = datasets.make_patient_table(4000, random_state=1)
    assert list(columns) == ["age", "pressure", "sex", "smoker", "ward", "admitted"]
    for name, values in columns.items():
        assert values.shape == y.shape
        assert str(values.tolist()) == str(again[name].tolist())
    assert 0.05 < np.isnan(columns["pressure"]).mean() < 0.11
    assert set(columns["smoker"]) == {True, False, None}
    assert set(columns["ward"]) == {"surgery", "medicine", "cardiology"}
    assert columns["admitted"].dtype == "datetime64[D]"
    with pytest.raises(InvalidParameterError, match="n_samples must be"):
        datasets.make_patient_table(0)


def test_generators_work_without_pyarrow():
    code = """
import sys
sys.modules["pyarrow"] = None
from dpmorse.datasets import make_blobs
make_blobs(100)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
