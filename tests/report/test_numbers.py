"""The numbers of a page are those of the model; the noise that is stated is the noise that is drawn."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpmorse import DPMoGHard, DPTree, PrivateGaussianMixture
from dpmorse.densities import GaussianMixture, carried
from dpmorse.morse import merge_tree
from dpmorse.report import contents as contents_module
from dpmorse.report import render
from dpmorse.report.axes import choose_axes
from dpmorse.report.noise import REACH, noise_of_last_release


@pytest.fixture(scope="module")
def data(default_model, embedded):
    return embedded(render(default_model, n_samples=300))


def test_components_and_cuts_are_those_of_the_model(data, default_model):
    mixture, tree = default_model.mixture_, default_model.merge_tree_
    assert data["components"]["weights"] == pytest.approx(mixture.weights, rel=1e-4)
    assert np.array(data["components"]["means"]) == pytest.approx(mixture.means, abs=1e-4)
    spreads = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    assert np.array(data["components"]["stddevs"]) == pytest.approx(spreads, rel=1e-4)
    for k in range(1, tree.n_leaves + 1):
        assert data["cuts"][k - 1] == tree.cut(k).tolist()


def test_correlations_are_those_of_the_components(data, default_model):
    covariances = default_model.mixture_.covariances
    expected = covariances[:, 0, 1] / np.sqrt(covariances[:, 0, 0] * covariances[:, 1, 1])
    assert np.array(data["view"]["correlations"][0]) / 1000 == pytest.approx(
        np.clip(expected, -0.999, 0.999), abs=6e-4
    )


def test_modes_saddles_and_certificates_are_those_of_the_tree(data, default_model):
    points = default_model.merge_tree_.critical_points
    shown = carried(points.modes, default_model.base_.partition_, default_model.mixture_)
    assert [mode["certified"] for mode in data["modes"]] == points.mode_certified.tolist()
    assert np.array([mode["point"] for mode in data["modes"]]) == pytest.approx(shown, abs=1e-3)
    assert data["modes"][0]["height"] == 0
    assert data["modes"][0]["persistence"] is None
    assert sum(saddle["merges"] for saddle in data["saddles"]) == points.n_modes - 1
    assert len(data["saddles"]) == len(points.saddles)


def test_an_uncertified_saddle_is_flagged(promise_of, embedded):
    mixture = GaussianMixture([0.5, 0.3, 0.2], [[0.0], [4.0], [20.0]], np.ones((3, 1, 1)))
    tree = merge_tree(mixture)
    tree.critical_points.saddle_certified[0] = False
    model = promise_of(mixture)
    model.merge_tree_ = tree
    page = render(model)
    data = embedded(page)
    assert sorted(saddle["certified"] for saddle in data["saddles"]) == [False, True]
    assert sorted(merge[3] for merge in data["tree"]["merges"]) == [0, 1]
    assert "some points flagged" in page


@pytest.fixture
def promise_of(hard_model):
    class Fitted:
        def __init__(self, mixture):
            self.mixture_, self.privacy_ = mixture, hard_model.privacy_

    return Fitted


def test_samples_are_those_of_the_model(data, default_model):
    samples = data["view"]["samples"]
    points, components = default_model.base_.sample(300, random_state=0)
    assert samples["components"] == components.tolist()
    for axis, positions, column in zip(data["axes"], samples["positions"], points.T, strict=True):
        shown = axis["low"] + np.array(positions) / 10_000 * (axis["high"] - axis["low"])
        assert shown == pytest.approx(column, abs=2e-4 * (axis["high"] - axis["low"]))


def test_principal_directions_are_those_of_the_whole_mixture(rng):
    means = rng.normal(size=(4, 5)) * [1, 10, 100, 0.1, 1]
    covariances = np.tile(np.diag([0.1, 1.0, 10.0, 0.01, 0.1]), (4, 1, 1))
    mixture = GaussianMixture(np.full(4, 0.25), means, covariances)
    axes = choose_axes(mixture, list("abcde"))
    sample = axes.project(mixture.sample(200_000, rng=0)[0])[:, -2:]
    correlation = np.corrcoef((mixture.sample(200_000, rng=0)[0]).T)
    largest = np.sort(np.linalg.eigvalsh(correlation))[::-1][:2]
    assert sample.mean(axis=0) == pytest.approx([0, 0], abs=0.02)
    assert sample.var(axis=0) == pytest.approx(largest, rel=0.02)
    assert abs(np.corrcoef(sample.T)[0, 1]) < 0.02


def test_columns_in_which_components_differ_are_preferred(rng):
    means = np.zeros((3, 80))
    means[:, 70] = [0, 5, 10]
    mixture = GaussianMixture(np.full(3, 1 / 3), means, np.tile(np.eye(80), (3, 1, 1)))
    axes = choose_axes(mixture, [str(i) for i in range(80)])
    assert len(axes.columns) == 60
    assert 70 in axes.columns
    assert np.all(np.diff(axes.columns) > 0)


def test_limits_hold_for_huge_models(monkeypatch, promise_of, embedded):
    for name, value in {"_MOST_CUTS": 5, "_MOST_POINTS": 3, "_MOST_SAMPLE_VALUES": 20}.items():
        monkeypatch.setattr(contents_module, name, value)
    means = 10.0 * np.arange(9)[:, None] * [1, 1]
    data = embedded(
        render(promise_of(GaussianMixture(np.full(9, 1 / 9), means, np.tile(np.eye(2), (9, 1, 1)))))
    )
    assert len(data["cuts"]) == 5
    assert data["n_clusters"] == 5
    assert len(data["modes"]) == 3
    assert all(max(saddle["modes"]) < 3 for saddle in data["saddles"])
    assert (data["n_modes"], data["n_saddles"]) == (9, 8)
    assert len(data["view"]["samples"]["components"]) == 10


# -- noise -------------------------------------------------------------------------------------------


def test_what_a_ledger_tells(blobs):
    X = blobs[0][:500]
    hard = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(X)
    default = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-1, 1), profile=False)
    default.fit(np.column_stack([X, X]))
    centres = DPTree(2, epsilon=1.0, bounds=(-1, 1)).fit(X)
    mixture = GaussianMixture([0.5, 0.5], [[-1.0] * 4, [1.0] * 4], np.tile(np.eye(4), (2, 1, 1)))
    for base in (hard, default, centres):
        stated = base.privacy_.events[-1].noise_stddev["count"]
        assert noise_of_last_release(base, mixture).tolist() == [stated] * 2


def with_last_release(n_values, stddev, *, of_cells=False):
    """Return a base without a profile."""
    event = SimpleNamespace(n_draws=n_values, noise_stddev=stddev, step=SimpleNamespace(stage="last"))
    plan = {"last": SimpleNamespace(of_cells=of_cells)}
    return SimpleNamespace(profile_=None, plan_=plan, privacy_=SimpleNamespace(events=(event,)))


@pytest.mark.parametrize("constant", [False, True])
def test_a_component_has_the_noise_of_the_cells_it_covers(constant):
    """100 x 100 cells of width 1, an ellipse; in one column, a line. Smoothing adds 1/2 to a variance."""
    half = np.array([50.0, 0.0 if constant else 50.0])
    box = SimpleNamespace(centre=np.zeros(2), half_width=half, unit=np.where(half > 0, half, 1.0))
    base = with_last_release(100 if constant else 10_000, {"count": 4.0}, of_cells=True)
    mixture = GaussianMixture([1.0], [[0.0, 0.0]], [np.diag([35.5, 3.5])])
    n_cells = 2 * REACH * 6 if constant else math.pi * REACH**2 * 6 * 2
    assert noise_of_last_release(base, mixture, box) == pytest.approx([4 * math.sqrt(n_cells)])
    assert noise_of_last_release(base, mixture) is None


@pytest.mark.parametrize(
    "base",
    [
        SimpleNamespace(profile_=None, plan_=None),
        with_last_release(1, {}),
        with_last_release(5, {"sum": 1.0}),
    ],
)
def test_nothing_is_derived_where_the_noise_of_counts_is_not_known(base):
    assert noise_of_last_release(base, GaussianMixture([1.0], [[0.0]], [[[1.0]]])) is None


def test_numbers_of_a_profile_have_intervals_and_need_no_noise(default_model):
    base = default_model.base_
    assert noise_of_last_release(base, base.mixture_, base.domain_) is None


@pytest.mark.long
def test_the_noise_of_shares_is_the_noise_that_is_drawn(blobs, monkeypatch):
    """Compare fits with and without noise: the formula of the page, for one round of expectation-maximisation."""
    from dpmorse.privacy.sampler import NativeSampler

    X = blobs[0] * 0.5 + 0.25
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "n_iter": 1}
    fits = [DPMoGHard(2, random_state=seed, **settings).fit(X) for seed in range(150)]
    of_count = noise_of_last_release(fits[0], fits[0].mixture_)[0]
    monkeypatch.setattr(
        NativeSampler, "gaussian", lambda self, scales: np.zeros(scales.shape, dtype=np.int64)
    )
    exact = [DPMoGHard(2, random_state=seed, **settings).fit(X).mixture_ for seed in range(150)]
    errors = []
    for fit, clean in zip(fits, exact, strict=True):
        share = clean.weights[0]
        stddev = of_count * math.sqrt((1 - share) ** 2 + share**2) / len(X)
        errors.append((fit.mixture_.weights[0] - share) / stddev)
    assert np.std(errors) == pytest.approx(1, abs=0.2)
