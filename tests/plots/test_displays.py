"""Displays compute plain arrays first, then draw them; pictures show what the tree says."""

import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from dpmorse import Date, DPMoGHard, DPMorse, MorseClustering, Nominal, Numeric, Schema
from dpmorse.bases import draw_records
from dpmorse.datasets import make_patient_table, make_patients
from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.morse import RULES, merge_tree
from dpmorse.plots import DendrogramDisplay, GraphDisplay, LandscapeDisplay, PairsDisplay, ProfileDisplay
from dpmorse.plots._drawing import colour
from dpmorse.plots.profiles import LevelPanel, NumberPanel
from dpmorse.profiles import Estimate
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


@pytest.fixture(scope="module")
def patients():
    X = pd.DataFrame(make_patients(20_000, random_state=1)[0], columns=["age", "pressure"])
    return DPMorse(4, epsilon=2.0, bounds=([0, 60], [110, 220]), rehearsals=0, random_state=0).fit(X)


@pytest.fixture(scope="module")
def table():
    columns = {
        "ward": Nominal(["surgery", "medicine", "cardiology"]),
        "age": Numeric(0, 110),
        "admitted": Date("2010-01-01", "2030-01-01"),
    }
    X = pd.DataFrame(make_patient_table(4000, random_state=1)[0])[list(columns)]
    return DPMorse(3, epsilon=2.0, columns=columns, rehearsals=0, random_state=0).fit(X)


def test_figures_name_columns_clusters_and_what_they_show(patients):
    landscape = LandscapeDisplay.from_estimator(patients, resolution=40).plot().ax_
    assert (landscape.get_xlabel(), landscape.get_ylabel()) == ("age", "pressure")
    tree = DendrogramDisplay.from_estimator(patients).plot().ax_
    assert "2.7" in tree.get_ylabel() or "nats" not in patients.merge_tree_.height_label
    graph = GraphDisplay.from_estimator(patients).plot().ax_
    for ax in (landscape, tree, graph):
        assert ax.get_title()
        assert ax.get_xlabel()
        named = [text.get_text() for text in ax.get_legend().get_texts()]
        assert named[:4] == [f"cluster {i}" for i in range(4)]


def test_a_dendrogram_has_the_colours_of_the_clusters_below_the_cut(patients):
    display = DendrogramDisplay.from_estimator(patients)
    assert set(display.leaf_clusters.tolist()) == set(range(4))
    assert (np.diff(display.leaf_clusters) != 0).sum() == 3  # the leaves of a cluster stand together
    assert ((display.bracket_clusters < 0) == (display.y[:, 1] > display.cut_height)).all()
    assert (DendrogramDisplay.from_tree(patients.merge_tree_).leaf_clusters == -1).all()


def test_a_landscape_tints_points_as_records_are_labelled(patients):
    display = LandscapeDisplay.from_estimator(patients, resolution=30)
    grid = pd.DataFrame({"age": [display.x[4]], "pressure": [display.y[9]]})
    assert display.regions[9, 4] == patients.predict(grid)[0]


def test_colours_of_ten_clusters_differ():
    assert len(set(map(colour, range(10)))) == 10
    assert colour(10) == colour(0)


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_a_profile_shows_the_numbers_of_the_table(patients, n_clusters):
    display = ProfileDisplay.from_estimator(patients, n_clusters)
    table = patients.table(n_clusters)
    assert [panel.name for panel in display.panels] == ["age", "pressure"]
    display.plot()
    for j, (panel, ax) in enumerate(zip(display.panels, display.axes_, strict=True)):
        assert np.array_equal(panel.median.low, table.median.low[:, j])
        thin, thick, marks = ax.lines[::3], ax.lines[1::3], ax.lines[2::3]
        for c, (half, ends, mark) in enumerate(zip(thin, thick, marks, strict=True)):
            assert half.get_xdata() == pytest.approx([table.q1.value[c, j], table.q3.value[c, j]])
            assert ends.get_xdata() == pytest.approx([table.median.low[c, j], table.median.high[c, j]])
            assert ends.get_linewidth() > half.get_linewidth()
            assert mark.get_xdata() == pytest.approx([table.median.value[c, j]])
            assert mark.get_ydata() == [c]
    assert [ax.get_title() for ax in display.axes_] == ["age", "pressure"]
    assert not any(ax.texts for ax in display.axes_), "all is known"


def test_a_profile_says_what_is_not_known():
    """A median that noise hides, and a cluster of which nothing but its share is known."""
    known = np.array([1.0, 2.0, 3.0])
    hidden = np.array([False, True, True])
    number = Estimate(known, known - 1, known + 1)
    column = NumberPanel("age", number.unknown_where(hidden), number, number.unknown_where(hidden))
    shares = Estimate.alone(np.array([[0.5, 0.5], [0.2, 0.8], [np.nan, np.nan]]))
    category = LevelPanel("ward", ("a", "b"), shares)
    display = ProfileDisplay(Estimate.alone(np.array([0.5, 0.3, 0.2])), [column, category]).plot()
    of_number, of_levels = display.axes_
    assert [(text.get_text(), text.get_position()[1]) for text in of_number.texts] == [
        ("not known", 1),
        ("not known", 2),
    ]
    assert of_levels.get_xlabel() == "% of the cluster (2: not known)"
    display.figure_.canvas.draw()


def test_missing_values_are_a_bar_beside_levels():
    columns = {"ward": Nominal(["surgery", "medicine", "cardiology"], missing="ignore")}
    X = pd.DataFrame(make_patient_table(2000, random_state=1)[0])[list(columns)]
    X.loc[X.index % 5 == 0, "ward"] = None
    model = DPMorse(1, epsilon=5.0, columns=columns, random_state=0).fit(X)
    (panel,) = ProfileDisplay.from_estimator(model).panels
    assert panel.levels == ("surgery", "medicine", "cardiology", "other", "missing")
    assert panel.share.value.sum() == pytest.approx(1)
    assert panel.share.value[0, -1] == pytest.approx(0.2, abs=0.05)


def test_levels_are_bars_with_intervals_in_the_order_of_the_columns(table):
    display = ProfileDisplay.from_estimator(table).plot()
    ward, age, admitted = display.panels
    assert ward.levels == ("surgery", "medicine", "cardiology", "other")
    assert (age.name, admitted.first_day) == ("age", table.base_.schema_.columns[2][1].first)
    bars = display.axes_[0].patches
    assert [bar.get_width() for bar in bars] == pytest.approx((100 * ward.share.value).ravel())
    summary = table.summary()
    surgery = summary[summary["level"] == "surgery"]["level_share_high"].to_numpy()
    assert ward.share.high[:, 0] == pytest.approx(surgery)


def test_pairs_show_synthetic_records_and_densities_that_add_up_to_shares(table):
    display = PairsDisplay.from_estimator(table, n_samples=300)
    assert display.names == ["age", "admitted (days since 2010-01-01)"]
    assert display.points.shape == (300, 2)
    columns, _ = draw_records(table.base_, 300, 0)
    assert np.array_equal(display.points[:, 0], columns["age"]), "the records of sample"
    step = np.diff(display.grids[0])[0]
    shares = np.bincount(table.component_labels_, weights=table.mixture_.weights)
    assert display.densities[0].sum(axis=1) * step == pytest.approx(shares, abs=0.03)
    display.plot()
    assert display.axes_[1, 0].get_xlabel() == "age"


def test_pairs_choose_the_columns_in_which_clusters_differ_and_refuse_others():
    rng = np.random.default_rng(0)
    means = np.zeros((2, 9))
    means[:, [2, 7]] = [[-4, 4], [4, -4]]
    model = SimpleNamespace(
        mixture_=GaussianMixture([0.5, 0.5], means, np.stack([np.eye(9)] * 2)),
        _labels_of_components=lambda _: np.arange(2),
        _released=SimpleNamespace(
            profile_=None, schema_=Schema.of_numbers(None, np.full(9, -9.0), np.full(9, 9.0))
        ),
    )
    display = PairsDisplay.from_estimator(model, n_samples=50, random_state=rng.integers(9))
    assert len(display.names) == 5
    assert {"column 2", "column 7"} <= set(display.names)
    assert PairsDisplay.from_estimator(model, ["column 3"]).plot().names == ["column 3"]
    with pytest.raises(InvalidParameterError, match="columns must name columns of numbers: column 0"):
        PairsDisplay.from_estimator(model, ["weight"])
