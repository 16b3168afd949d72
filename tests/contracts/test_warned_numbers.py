"""A fit warns of its numbers: once, at the caller's line, of what can be known early; and not of the rest."""

import warnings

import numpy as np
import pytest

from dpmorse import DPLloyd, DPMorse, MorseClustering, NoisyModelWarning, PrivateGaussianMixture, load

BOUNDS = ([-1, -9, -9], [9, 9, 9])


@pytest.fixture(scope="module")
def records():
    """Normal records; many values of the first column lie below its bound of -1."""
    return np.random.default_rng(0).normal(size=(20_000, 3))


def warned(estimator, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    return caught


def estimators(epsilon=1.0, k=5):
    base = PrivateGaussianMixture(k, min_components=k, epsilon=epsilon, bounds=BOUNDS, random_state=3)
    return [DPMorse(k, k, epsilon=epsilon, bounds=BOUNDS, random_state=3), MorseClustering(base, k), base]


@pytest.mark.parametrize("i", range(3))
def test_bounds_that_cut_are_told_once_at_the_callers_line(i, records):
    (warning,) = warned(estimators()[i], records)
    assert warning.category is NoisyModelWarning
    assert warning.filename == __file__
    assert str(warning.message).count("'column 0' lie below its lower bound") == 1


@pytest.mark.parametrize("i", range(3))
def test_small_clusters_are_told_in_one_warning(i, records):
    model = estimators(epsilon=0.1, k=9)[i]
    found = warned(model, records[:4000])
    about = [str(warning.message) for warning in found if "is smaller than three" in str(warning.message)]
    small = [caution for caution in model.cautions() if caution.kind == "size"]
    assert len(about) == 1
    assert len(small) > 3
    kind, asked = ("Component" if i == 2 else "Cluster"), len(model.table().counts)
    assert about[0].startswith(f"{asked - len(small)} of {asked} {kind.lower()}s stand out from the noise")
    assert f"{kind} {small[0].cluster} is smaller than three standard deviations" in about[0]
    assert about[0].endswith(f"And {len(small) - 2} more: see cautions().")
    assert "spread of column" not in about[0]


def test_nothing_is_said_where_all_is_well_or_nothing_is_known(records):
    inside = np.clip(records[:, 1:], -5, 5)
    assert warned(DPMorse(1, 1, epsilon=9.0, bounds=(-9, 9), random_state=0), inside) == []
    bare = PrivateGaussianMixture(3, epsilon=1.0, bounds=BOUNDS, profile=False, random_state=3)
    for estimator in (bare, DPLloyd(3, epsilon=9.0, bounds=BOUNDS, random_state=0)):
        assert warned(estimator, records) == []


def test_who_tells_later_is_not_told(records, tmp_path):
    model = estimators()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model._fit(records)
    assert any(caution.kind == "bounds" for caution in model.cautions())
    model.save(tmp_path / "model.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "model.json").cut(2)
    assert warned(model, records), "told again outside"
