"""The parts of the search: derivatives, descents, bounds, paths, certificates."""

import numpy as np
import pytest
from scipy.signal import find_peaks

from dpmorse.morse import find_critical_points, merge_tree, tree
from dpmorse.morse.critical import Landscape, RidgelineSearch, spanning_edges
from dpmorse.morse.critical.modes import descend, shift_down
from dpmorse.morse.critical.points import bottlenecks
from dpmorse.morse.critical.ridgelines import crossing_bounds, ridgelines, touchings, wells_with
from dpmorse.morse.critical.search import find_what_matters
from morse_mixtures import FAMILIES, random_mixture


@pytest.fixture(params=["overlapping", "crossed", "nested"])
def mixture(request):
    return random_mixture(request.param, 3, seed=910)


def component_wells(landscape):
    return wells_with(landscape.centres, landscape.whiteners, -landscape.offsets)


def test_derivatives_are_those_of_the_mixture(mixture, rng):
    land = Landscape(mixture)
    points = mixture.sample(200, rng=1)[0]
    shapes = land.shapes(land.to_whitened(points))
    axes = (land.from_whitened(np.eye(3)) - land.from_whitened(np.zeros((3, 3)))).T
    assert shapes.heights == pytest.approx(-mixture.log_density(points))
    assert shapes.gradients == pytest.approx(mixture.gradient(points) @ axes, rel=1e-9, abs=1e-9)
    assert shapes.hessians == pytest.approx(axes.T @ mixture.hessian(points) @ axes, rel=1e-8, abs=1e-8)
    assert land.from_whitened(land.to_whitened(points)) == pytest.approx(points)
    assert np.array_equal(land.heights(land.to_whitened(points)), shapes.heights)


def test_curvatures_are_at_most_one_in_the_metric(mixture):
    """Hess = A - Cov_w(g), and a covariance is never negative."""
    land = Landscape(mixture)
    shapes = land.shapes(land.to_whitened(mixture.sample(500, rng=2)[0]))
    values = np.linalg.eigvals(np.linalg.solve(shapes.metrics, shapes.hessians)).real
    assert values.max() <= 1 + 1e-9


def test_mean_shift_stays_below_its_start(mixture):
    """The EM majorant proves it for the whole segment; look at 50 points of each."""
    land = Landscape(mixture)
    points = land.to_whitened(mixture.sample(200, rng=3)[0])
    shift = land.shapes(points).mean_shift()
    along = points[:, None] + np.linspace(0, 1.9, 50)[None, :, None] * shift[:, None]
    heights = land.heights(along.reshape(-1, 3)).reshape(200, 50)
    assert np.all(heights <= heights[:, :1] + 1e-9)


def test_descents_end_in_modes(mixture):
    land = Landscape(mixture)
    starts = land.to_whitened(mixture.sample(300, rng=4)[0])
    before = land.heights(starts)
    ends = descend(land, shift_down(land, starts))
    assert ends.certified.all()
    assert np.all(ends.heights <= before + 1e-9)
    assert np.abs(mixture.gradient(land.from_whitened(ends.points))).max() < 1e-6


@pytest.mark.parametrize("family", FAMILIES)
def test_no_crossing_lies_below_its_bound(family):
    """Points where two components are equal and largest: f is never below b_kl there."""
    mixture = random_mixture(family, 2, seed=911)
    land = Landscape(mixture)
    wells, pairs = component_wells(land), np.triu_indices(land.n_components, 1)
    bounds = np.zeros((land.n_components, land.n_components))
    bounds[pairs] = crossing_bounds(wells, *pairs, touchings(wells, *pairs)[0])
    bounds += bounds.T
    points = np.vstack([mixture.sample(4000, rng=5)[0], mixture.means])
    pairs = np.random.default_rng(0).integers(0, len(points), (20000, 2))
    a, b = points[pairs[:, 0]], points[pairs[:, 1]]
    for _ in range(60):  # bisect every segment to where its dominating component changes
        middle = (a + b) / 2
        same = mixture.labels(middle) == mixture.labels(a)
        a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
    first, second = mixture.labels(a), mixture.labels(b)
    change = first != second
    assert change.sum() > 100
    heights = -mixture.log_density(a[change])
    assert np.all(heights >= bounds[first[change], second[change]] - 1e-9)


def test_touching_levels_bound_the_ridgeline(mixture):
    land = Landscape(mixture)
    wells = component_wells(land)
    first, second = np.triu_indices(land.n_components, 1)
    levels, places = touchings(wells, first, second)
    paths = ridgelines(wells, first, second, 65)
    heights = land.heights(paths.reshape(-1, 3)).reshape(len(first), -1)
    ends = np.maximum(-land.offsets[first], -land.offsets[second])
    assert np.all(heights.max(axis=1) <= np.maximum(levels, ends) + 1e-6)
    both = mixture.component_log_densities(land.from_whitened(places))
    rows = np.arange(len(first))
    inner = levels > ends + 1e-6
    assert both[rows, first][inner] == pytest.approx(both[rows, second][inner], abs=1e-6)
    assert -both[rows, first][inner] == pytest.approx(levels[inner], abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_extrema_along_paths_are_found_if_they_stand_out(family):
    """Against 20,001 points of each path: no maximum that rises by 0.01 nats is missed."""
    mixture = random_mixture(family, 2, seed=912)
    land = Landscape(mixture)
    first, second = np.triu_indices(land.n_components, 1)
    paths = ridgelines(component_wells(land), first[:40], second[:40], 17)
    _, heights, counts = land.extrema(paths)
    t = np.linspace(0, 16, 20001)
    piece = np.minimum(t.astype(int), 15)
    dense = paths[:, piece] + (t - piece)[:, None] * (paths[:, piece + 1] - paths[:, piece])
    f = land.heights(dense.reshape(-1, 2)).reshape(len(paths), -1)
    for row, count in enumerate(counts):
        tops = heights[row, 1:count:2]
        for peak in f[row, find_peaks(f[row], prominence=0.01)[0]]:
            assert np.abs(tops - peak).min() < 2e-3


def test_bottlenecks_are_those_of_all_paths(rng):
    """Floyd and Warshall, with the largest weight of a path in place of its length."""
    n, edges = 12, 40
    first, second, weights = rng.integers(0, n, edges), rng.integers(0, n, edges), rng.normal(size=edges)
    expected = np.full((n, n), np.inf)
    for a, b, w in zip(first, second, weights, strict=True):
        expected[a, b] = expected[b, a] = min(expected[a, b], w)
    np.fill_diagonal(expected, -np.inf)
    for k in range(n):
        expected = np.minimum(expected, np.maximum(expected[:, k : k + 1], expected[k]))
    np.fill_diagonal(expected, -np.inf)
    assert np.array_equal(bottlenecks(n, first, second, weights), expected)
    assert len(spanning_edges(n, first, second, weights)) <= n - 1


@pytest.mark.parametrize("family", FAMILIES)
def test_certificates_hold_when_checked_by_the_mixture_itself(family):
    mixture = random_mixture(family, 3, seed=913)
    points = find_critical_points(mixture)
    sure = points.saddle_certified
    for places, negative in ((points.modes, 0), (points.saddles[sure], 1)):
        if not len(places):
            continue
        hessians = mixture.hessian(places)
        scale = np.sqrt(np.abs(np.linalg.eigvalsh(hessians)).max(axis=1))
        assert np.all(np.linalg.norm(mixture.gradient(places), axis=1) <= 1e-6 * scale)
        assert np.all((np.linalg.eigvalsh(hessians) < 0).sum(axis=1) == negative)
    assert np.all(points.saddle_bounds <= points.saddle_heights)
    assert np.all(points.saddle_heights >= points.mode_heights[points.saddle_ends].max(axis=1))


@pytest.mark.long
@pytest.mark.parametrize("family", ["separated", "overlapping", "elongated", "noisy", "rings"])
def test_many_components_are_searched_as_well_as_few(family):
    """Above 40 components pairs and passes are selected; the tree must be that of the full search."""
    mixture = random_mixture(family, 3, seed=914, n_components=45)
    heights = []
    for thorough in (None, True):
        search = RidgelineSearch(Landscape(mixture), thorough=thorough)
        search.run()
        assert search.thorough == bool(thorough)
        edges = spanning_edges(len(search.modes), *search.saddles.ends.T, search.saddles.heights)
        assert len(edges) == len(search.modes) - 1
        heights.append(search.saddles.heights[edges])
    assert heights[0] == pytest.approx(heights[1], abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_matters_is_enough_for_the_tree(family):
    """Smoothed mixtures are searched along low paths only, also where components are few."""
    mixture = random_mixture(family, 3, seed=915)
    every, some = find_critical_points(mixture), find_what_matters(mixture)
    assert some.modes == pytest.approx(every.modes, abs=1e-6)
    assert some.barriers == pytest.approx(every.barriers, abs=1e-6)
    assert len(some.saddles) <= len(every.saddles)
    if family == "degenerate":
        assert len(some.saddles) < len(every.saddles), "or nothing was left out"


def test_auto_searches_smoothed_mixtures_along_low_paths(mixture, monkeypatch):
    searched = []
    monkeypatch.setattr(
        tree, "find_what_matters", lambda smooth, search: searched.append(smooth) or find_what_matters(smooth)
    )
    merge_tree(mixture, rule="auto")
    assert len(searched) == 2
    assert all(np.all(smooth.covariances[:, 0, 0] > mixture.covariances[:, 0, 0]) for smooth in searched)


def test_what_cannot_be_certified_is_flagged_with_bounds(monkeypatch):
    """If no climb ever succeeds, straight paths connect the modes, and every edge says what it is."""
    from dpmorse.morse.critical.saddles import SaddleSet

    monkeypatch.setattr(SaddleSet, "search", lambda self, points, tangents: None)
    mixture = random_mixture("separated", 2, seed=915)
    points = find_critical_points(mixture)
    assert not points.certified
    assert not points.saddle_certified.any()
    assert len(points.saddles) == points.n_modes - 1
    assert np.all(points.saddle_bounds < points.saddle_heights)
    monkeypatch.undo()
    exact = find_critical_points(mixture)
    edges = spanning_edges(exact.n_modes, *exact.saddle_ends.T, exact.saddle_heights)
    assert np.all(np.sort(points.saddle_heights) >= exact.saddle_heights[edges] - 1e-6)


def test_the_papers_search_finds_what_is_between_two_centres():
    mixture = random_mixture("separated", 2, seed=916)
    ours, papers = find_critical_points(mixture), find_critical_points(mixture, search="quadratic-string")
    assert papers.n_modes == ours.n_modes
    certified = papers.saddle_heights[papers.saddle_certified]
    assert certified.size
    assert all(np.abs(ours.saddle_heights - height).min() < 1e-9 for height in certified)
