"""Displays compute plain arrays first, then draw them; pictures show what the tree says."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

from dpmorse import DPMoGHard, MorseClustering
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.morse import RULES, merge_tree
from dpmorse.plots import DendrogramDisplay, GraphDisplay, LandscapeDisplay
from morse_mixtures import random_mixture

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("rule", RULES)
def test_a_dendrogram_has_a_bracket_for_every_merge_and_crosses_the_cut_k_times(rule):
    tree = merge_tree(random_mixture("separated", 2, seed=940), rule=rule)
    display = DendrogramDisplay.from_tree(tree, n_clusters=3)
    matrix = tree.linkage_matrix()
    assert display.y[:, 1] == pytest.approx(matrix[:, 2])
    assert sorted(display.leaf_labels, key=int) == [str(i) for i in range(len(matrix) + 1)]
    legs = [(a, b) for y in display.y for a, b in ((y[0], y[1]), (y[3], y[2]))]
    assert sum(a <= display.cut_height < b for a, b in legs) == 3
    display.plot()
    assert len(display.ax_.lines) == len(matrix) + 1
    assert display.figure_ is display.ax_.figure


def test_uncertified_merges_are_dashed():
    tree = merge_tree(random_mixture("separated", 2, seed=940))
    flags = tree.critical_points.saddle_certified
    flags[tree.spanning_saddles[0]] = False
    display = DendrogramDisplay.from_tree(tree).plot()
    assert [line.get_linestyle() for line in display.ax_.lines].count("--") == 1
    assert not tree.certified


def test_a_landscape_shows_modes_saddles_and_edges():
    mixture = random_mixture("overlapping", 2, seed=941)
    tree = merge_tree(mixture)
    display = LandscapeDisplay.from_tree(tree, mixture, n_clusters=2, resolution=40)
    assert display.heights.shape == (40, 40)
    corner = np.array([[display.x[3], display.y[5]]])
    assert display.heights[5, 3] == pytest.approx(-mixture.log_density(corner)[0])
    assert len(display.saddles) == tree.n_modes - 1
    assert set(display.mode_labels.tolist()) == {0, 1}
    display.plot()
    assert len(display.ax_.collections) >= 2


def test_a_landscape_needs_two_columns():
    mixture = random_mixture("overlapping", 3, seed=941)
    with pytest.raises(InvalidParameterError, match="2 columns to be drawn as a landscape, got 3"):
        LandscapeDisplay.from_tree(merge_tree(mixture), mixture)


@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_a_graph_is_laid_out_in_the_plane(n_features):
    family = "overlapping" if n_features > 1 else None
    mixture = (
        random_mixture(family, n_features, seed=942)
        if family
        else GaussianMixture([0.5, 0.5], [[0.0], [5.0]], np.ones((2, 1, 1)))
    )
    tree = merge_tree(mixture)
    display = GraphDisplay.from_tree(tree)
    assert display.positions.shape == (tree.n_modes, 2)
    assert len(display.edges) == tree.n_modes - 1
    assert display.masses.sum() == pytest.approx(1)
    display.plot()
    assert len(display.ax_.texts) == tree.n_modes


def test_displays_of_a_fitted_model_and_on_given_axes(blobs):
    from matplotlib import pyplot as plt

    model = MorseClustering(DPMoGHard(6, epsilon=8.0, bounds=(-1, 1), random_state=0), 4).fit(blobs[0])
    _, axes = plt.subplots(1, 3)
    for kind, ax in zip((DendrogramDisplay, LandscapeDisplay, GraphDisplay), axes, strict=True):
        assert kind.from_estimator(model).plot(ax=ax).ax_ is ax


def test_nothing_to_draw_is_said():
    tree = merge_tree(GaussianMixture([1.0], [[0.0]], [[[1.0]]]))
    with pytest.raises(InvalidParameterError, match="nothing to draw"):
        DendrogramDisplay.from_tree(tree)


def test_matplotlib_missing_is_explained(monkeypatch):
    display = GraphDisplay.from_tree(merge_tree(random_mixture("rings", 2, seed=943)))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DPMorseError, match=r"pip install 'dpmorse\[plot\]'"):
        display.plot()
