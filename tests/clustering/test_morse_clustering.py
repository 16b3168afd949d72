"""The Morse step on a base: clusters of any shape and number, at no further cost."""

import copy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from dpmorse import (
    Budget,
    BudgetExceededError,
    DPMoG,
    DPMoGHard,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    ModelFormatError,
    MorseClustering,
    NoisyModelWarning,
    TreeNotBuiltError,
    load,
)
from dpmorse.clustering import trees
from dpmorse.densities import GaussianMixture


@pytest.fixture
def model(blobs):
    return MorseClustering(DPMoGHard(8, epsilon=8.0, bounds=(-1, 1), random_state=0), 4).fit(blobs[0])


def rings(seed):
    X, y = make_circles(20_000, noise=0.05, factor=0.4, random_state=seed)
    return X, y, (-1.3, 1.3)


def moons(seed):
    X, y = make_moons(20_000, noise=0.08, random_state=seed)
    return X, y, ([-1.5, -1.0], [2.5, 1.5])


@pytest.mark.parametrize("shape", [rings, moons])
@pytest.mark.parametrize("merge", ["overlap", "persistence", "single"])
def test_shapes_that_are_not_round_are_found(shape, merge):
    """At epsilon 10; ``benchmarks.morse`` runs all 20 seeds."""
    scores = []
    for seed in range(4):
        X, y, bounds = shape(seed)
        base = DPMoGHard(20, epsilon=10.0, bounds=bounds, random_state=seed)
        scores.append(adjusted_rand_score(y, MorseClustering(base, 2, merge=merge).fit_predict(X)))
    assert np.median(scores) > 0.9


@pytest.mark.parametrize("base", [DPMoGHard, DPMoG])
@pytest.mark.parametrize("assign", ["component", "basin"])
def test_blobs_are_found(base, assign, blobs):
    X, labels = blobs
    estimator = base(8, epsilon=8.0, bounds=(-1, 1), random_state=0)
    found = MorseClustering(estimator, n_clusters=4, assign=assign).fit_predict(X)
    assert adjusted_rand_score(labels, found) > 0.95


def test_the_number_of_clusters_can_be_suggested(blobs):
    base = DPMoGHard(8, epsilon=8.0, bounds=(-1, 1), random_state=0)
    assert MorseClustering(base).fit(blobs[0]).n_clusters_ == 4


def test_cutting_touches_neither_data_nor_budget_nor_the_model(model, blobs):
    before = copy.deepcopy(model.merge_tree_.to_dict()), model.privacy_
    cuts = [model.cut(k) for k in range(1, model.merge_tree_.n_leaves + 1)]
    assert [cut.n_clusters_ for cut in cuts] == list(range(1, len(cuts) + 1))
    assert model.n_clusters_ == model.n_clusters == 4
    assert (model.merge_tree_.to_dict(), model.privacy_) == before
    assert all(cut.privacy_ is model.privacy_ for cut in cuts)
    fine, coarse = cuts[3].predict(blobs[0]), cuts[1].predict(blobs[0])
    assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == 4
    assert cuts[1].get_params()["n_clusters"] == 2


def test_the_cost_is_that_of_the_base(blobs):
    base = DPMoGHard(8, epsilon=1.5, bounds=(-1, 1), random_state=3)
    alone, model = clone(base).fit(blobs[0]), MorseClustering(base, 4).fit(blobs[0])
    assert model.privacy_ == alone.privacy_
    assert model.mixture_ == alone.mixture_
    assert not hasattr(base, "mixture_")


def test_a_shared_ledger_sees_through_the_meta_estimator(blobs):
    ledger = Ledger(Budget(1.0, 1e-6))
    base = DPMoGHard(4, epsilon=0.8, bounds=(-1, 1), ledger=ledger)
    MorseClustering(base, 2).fit(blobs[0])
    with pytest.raises(BudgetExceededError):
        MorseClustering(base, 2).fit(blobs[0])


def test_probabilities_of_clusters_add_those_of_components(model, blobs):
    X = blobs[0][:50]
    of_components = model.base_.predict_proba(X)
    expected = np.stack(
        [of_components[:, model.component_labels_ == c].sum(axis=1) for c in range(4)], axis=1
    )
    assert model.predict_proba(X) == pytest.approx(expected)
    assert np.array_equal(model.score_samples(X), model.base_.score_samples(X))
    points, labels = model.sample(200, random_state=0)
    assert points.shape == (200, 2)
    assert adjusted_rand_score(labels, model.predict(points)) > 0.9


def test_labels_are_withheld_with_a_reason(model):
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match="not differentially private"):
        _ = model.labels_


@pytest.mark.parametrize("assign", ["component", "basin"])
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_saved_model_is_the_same_model(assign, n_clusters, blobs, tmp_path):
    base = DPMoGHard(8, epsilon=8.0, bounds=(-1, 1), random_state=0)
    model = MorseClustering(base, n_clusters, assign=assign, merge="persistence").fit(blobs[0])
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert isinstance(again, MorseClustering)
    assert np.array_equal(again.predict(blobs[0]), model.predict(blobs[0]))
    assert again.merge_tree_.to_dict() == model.merge_tree_.to_dict()
    assert again.privacy_ == model.privacy_
    assert again.cut(2).predict(blobs[0]).tolist() == model.cut(2).predict(blobs[0]).tolist()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_cut_is_saved_as_cut(model, blobs, tmp_path):
    model.cut(2).save(tmp_path / "two.json")
    assert load(tmp_path / "two.json").n_clusters_ == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["critical_points"]["mode_heights"].__setitem__(0, 1.0), "not those of the mixture"),
        (lambda d: d["critical_points"]["saddle_ends"].__setitem__(0, [0, 99]), "not there"),
        (lambda d: d["critical_points"]["saddle_ends"].__setitem__(0, [0]), "shape or type|not valid"),
        (lambda d: d["critical_points"]["modes"][0].__setitem__(0, "x"), "shape or type"),
        (lambda d: d["critical_points"]["modes"][0].__setitem__(0, True), "shape or type"),
        (lambda d: d["critical_points"].pop("saddles"), "exactly the fields"),
        (lambda d: d["parameters"].__setitem__("merge", "ward"), "merge must be one of"),
        (lambda d: d["parameters"].__setitem__("n_clusters", 99), "n_clusters"),
        (lambda d: d["base"].__setitem__("estimator", "KMeans"), "does not know"),
        (lambda d: d.__setitem__("base", 3), "base must be of type dict"),
        (
            lambda d: d["critical_points"].update(
                saddle_ends=[[0, 1]] * len(d["critical_points"]["saddle_ends"])
            ),
            "connect",
        ),
    ],
)
def test_contradictory_files_are_refused(change, message, model, tmp_path):
    from dpmorse.persistence.model_file import write_document

    document = copy.deepcopy(model._to_document())
    change(document)
    write_document(tmp_path / "bad.json", document)
    with pytest.raises(ModelFormatError, match=message):
        load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": 0}, InvalidParameterError, "n_clusters must be >= 1, got 0"),
        ({"n_clusters": 2.5}, InvalidTypeError, "n_clusters must be an integer"),
        ({"n_clusters": "many"}, InvalidTypeError, 'Or give "auto"'),
        ({"n_clusters": 9}, InvalidParameterError, "at most the number of components of the base, 8, got 9"),
        ({"merge": "ward"}, InvalidParameterError, "merge must be one of"),
        ({"assign": "coin"}, InvalidParameterError, "assign must be one of"),
        ({"search": "luck"}, InvalidParameterError, "search must be one of"),
        ({"base": 3}, InvalidTypeError, "base must be an estimator that releases a mixture, got 3"),
        ({"base": None}, InvalidTypeError, "base must be an estimator"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_spent(parameters, error, message, blobs):
    ledger = Ledger(Budget(1.0, 1e-6))
    model = MorseClustering(DPMoGHard(8, epsilon=1.0, bounds=(-1, 1), ledger=ledger)).set_params(**parameters)
    with pytest.raises(error, match=message):
        model.fit(blobs[0])
    assert ledger.events == ()
    assert not hasattr(model, "merge_tree_")


def test_more_clusters_than_the_noise_supports_is_said_and_not_lost(rng):
    """The budget is spent by then: the model keeps what it has."""
    base = DPMoGHard(12, epsilon=0.5, bounds=(-1, 1), random_state=0)
    X = rng.uniform(-0.1, 0.1, (500, 2))
    with pytest.warns(NoisyModelWarning, match=r"n_clusters=12, but only \d+ components"):
        model = MorseClustering(base, 12).fit(X)
    assert model.n_clusters_ == model.merge_tree_.n_leaves < 12
    with pytest.raises(InvalidParameterError, match=rf"at most {model.n_clusters_}, got 12"):
        model.cut(12)


class OwnBase(BaseEstimator):
    """What a user might write: anything that releases a mixture."""

    def fit(self, X, y=None):
        self.mixture_ = GaussianMixture([0.5, 0.5], [[-0.5, 0.0], [0.5, 0.0]], [0.01 * np.eye(2)] * 2)
        self.privacy_ = "mine"
        return self

    def predict(self, X):
        return self.mixture_.labels(X)


@pytest.mark.parametrize("assign", ["component", "basin"])
def test_any_base_that_releases_a_mixture_will_do(assign, blobs, tmp_path):
    model = MorseClustering(OwnBase(), 2, assign=assign).fit(blobs[0])
    assert model.privacy_ == "mine"
    assert len(set(model.predict(np.array([[-0.4, 0.0], [0.4, 0.1]])).tolist())) == 2
    with pytest.raises(InvalidTypeError, match="save needs a base that dpmorse can load again, got OwnBase"):
        model.save(tmp_path / "model.json")


def test_released_values_only(model, blobs):
    """Nothing of the size of the data is kept."""
    arrays = [v for v in vars(model).values() if isinstance(v, np.ndarray)]
    assert all(len(array) < len(blobs[0]) for array in arrays)


def test_what_is_saved_is_what_was_fitted(model, blobs, tmp_path):
    """Parameters set after the fit are for the next one; NumPy's integers are integers."""
    model.set_params(n_clusters=2, search="quadratic-string", assign="basin").save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.get_params(deep=False)["search"] == "ridgelines"
    assert again.n_clusters_ == model.n_clusters_ == 4
    assert np.array_equal(again.predict(blobs[0]), model.predict(blobs[0]))
    model.cut(np.int64(3)).save(tmp_path / "three.json")
    assert load(tmp_path / "three.json").n_clusters_ == 3


def test_a_failed_fit_leaves_no_trace(rng):
    base = DPMoGHard(12, epsilon=0.5, bounds=(-1, 1), random_state=0)
    model = MorseClustering(base, 12)
    with pytest.warns(NoisyModelWarning):
        model.fit(rng.uniform(-0.1, 0.1, (500, 2)))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 2), np.nan))
    assert model.n_clusters_ < 12


def test_a_release_is_not_lost_if_its_tree_cannot_be_built(monkeypatch, blobs, tmp_path):
    """The budget is spent: what was released comes with the error, and can be saved."""

    def broken(*args, **options):
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr(trees, "merge_tree", broken)
    model = MorseClustering(DPMoGHard(4, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0), n_clusters=2)
    with pytest.raises(TreeNotBuiltError, match="The release is not lost") as caught:
        model.fit(blobs[0])
    assert not hasattr(model, "merge_tree_")
    caught.value.base.save(tmp_path / "base.json")
    assert load(tmp_path / "base.json").mixture_ == caught.value.base.mixture_
