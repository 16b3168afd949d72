"""DPMorse: the default in one line."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from benchmarks.generated import make_family
from dpmorse import (
    Budget,
    DPMorse,
    InvalidParameterError,
    Ledger,
    ModelFormatError,
    MorseClustering,
    PrivateGaussianMixture,
    load,
)
from dpmorse.clustering.dp_morse import fitted_n_components
from dpmorse.datasets import make_moons


@pytest.fixture(scope="module")
def moons():
    return make_moons(20_000, random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    return DPMorse(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(moons[0])


def test_moons_at_epsilon_one_with_bounds_far_too_wide(fitted, moons):
    assert adjusted_rand_score(moons[1], fitted.predict(moons[0])) > 0.9
    assert fitted.privacy_.epsilon <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("family", ["blobs", "unbalanced", "elongated", "multiscale", "background", "boxes"])
def test_easy_families_at_epsilon_one(family):
    data = make_family(family, 7)
    model = DPMorse(data.n_clusters, epsilon=1.0, bounds=data.bounds, random_state=0).fit(data.X)
    known = data.y >= 0
    assert model.n_clusters_ == data.n_clusters
    assert adjusted_rand_score(data.y[known], model.predict(data.X)[known]) > 0.4


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 12])
@pytest.mark.parametrize("n", [15, 3000])
def test_the_clusters_asked_for_are_reached(n_clusters, n, rng):
    X = rng.normal(size=(n, 3)) * 0.2
    model = DPMorse(n_clusters, epsilon=0.2, bounds=(-1, 1), random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters
    assert set(model.component_labels_) == set(range(n_clusters))


def test_automatic_number_of_clusters(rng):
    centres = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]])
    X = centres[rng.integers(0, 3, 20_000)] + 0.05 * rng.normal(size=(20_000, 2))
    model = DPMorse(epsilon=2.0, bounds=(-1, 1), random_state=0).fit(X)
    assert model.n_clusters_ == 3


def test_a_loaded_model_suggests_the_same(rng, tmp_path):
    X = rng.choice([-0.5, 0.5], size=(3000, 3)) + 0.15 * rng.normal(size=(3000, 3))
    model = DPMorse(epsilon=2.0, bounds=(-1, 1), random_state=0).fit(X)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.n_clusters == "auto"
    assert again.n_clusters_ == model.n_clusters_ == model.merge_tree_.suggestion.n_clusters
    assert again.merge_tree_.suggestion == model.merge_tree_.suggestion


def test_without_a_number_of_clusters_there_are_components_for_six(rng):
    """In many columns noise would allow fewer, and what was not fitted cannot be found."""
    X = 0.2 * rng.normal(size=(3000, 16))
    options = {"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0}
    assert PrivateGaussianMixture(**options).fit(X).mixture_.n_components < 6
    assert DPMorse(**options).fit(X).mixture_.n_components == 6
    assert DPMorse(n_components=3, **options).fit(X).mixture_.n_components == 3


def test_it_is_its_parts(moons):
    """The same release as the base alone, the same clusters as MorseClustering."""
    X = moons[0]
    options = {"epsilon": 1.0, "bounds": (-10, 10), "random_state": 0}
    model = DPMorse(2, 10, **options).fit(X)
    base = PrivateGaussianMixture(10, min_components=2, **options)
    assert model.mixture_ == clone(base).fit(X).mixture_
    assert np.array_equal(model.predict(X), MorseClustering(base, 2).fit(X).predict(X))


def test_other_cuts_are_free_and_nest(fitted, moons):
    fine = fitted.cut(4)
    assert fine.n_clusters_ == 4
    assert fine.privacy_ is fitted.privacy_
    pairs = set(zip(fine.component_labels_, fitted.component_labels_, strict=True))
    assert len(pairs) == 4


@pytest.mark.parametrize("cut", [None, 5])
def test_files_keep_the_tree_that_was_chosen(fitted, moons, tmp_path, cut):
    """Also after a cut: the rule was chosen for the number of clusters of the fit."""
    model = fitted if cut is None else fitted.cut(cut)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert isinstance(loaded, DPMorse)
    assert loaded.merge_tree_.basis == model.merge_tree_.basis
    assert np.array_equal(loaded.predict(moons[0]), model.predict(moons[0]))
    assert loaded.bounds[0] == [-10.0, -10.0]
    assert loaded.epsilon == 1.0
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_file_with_another_base_is_refused(fitted, tmp_path):
    import json

    from dpmorse import DPMoGHard
    from dpmorse.persistence.model_file import _checksum

    base = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(np.zeros((50, 2)))
    MorseClustering(base, 2).fit(np.zeros((50, 2))).save(tmp_path / "other.json")
    document = json.loads((tmp_path / "other.json").read_text())
    document["estimator"] = "DPMorse"
    del document["checksum"]
    document["checksum"] = _checksum(document)
    (tmp_path / "edited.json").write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match="must be a PrivateGaussianMixture"):
        load(tmp_path / "edited.json")


def test_how_many_components_are_fitted():
    assert fitted_n_components(None, 3, 8) == 7
    assert fitted_n_components(None, 2, 2) == 24
    assert fitted_n_components(None, 30, 2) == 45
    assert fitted_n_components(None, 2, 3) == 16
    assert fitted_n_components(None, None, 8) == 13
    assert fitted_n_components(20, 2, 8) == 6, "more would split clusters"
    assert fitted_n_components(20, 2, 2) == 20
    assert fitted_n_components(5, 2, 2) == 5
    assert fitted_n_components(7, None, 30) == 7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be >= 1"),
        ({"n_clusters": "many"}, "n_clusters must be an integer"),
        ({"n_clusters": 5, "n_components": 4}, "n_components must be at least n_clusters, 5, got 4"),
        ({"n_components": 2.5}, "n_components must be an integer"),
        ({"merge": "best"}, "merge must be one of"),
        ({"bounds": None}, "bounds must be given"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_spent(parameters, message, moons):
    ledger = Ledger(Budget(5.0, 1e-6))
    model = DPMorse(2, epsilon=1.0, bounds=(-1, 1), ledger=ledger).set_params(**parameters)
    with pytest.raises((InvalidParameterError, TypeError), match=message):
        model.fit(moons[0])
    assert not ledger.events
