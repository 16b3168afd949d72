"""Degenerate mixtures and wrong arguments."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.morse import find_critical_points, merge_tree
from morse_mixtures import random_mixture


def test_identical_components_are_one_mode_and_many_leaves():
    tree = merge_tree(GaussianMixture([0.2, 0.3, 0.5], np.ones((3, 2)), [np.eye(2)] * 3))
    assert tree.n_modes == 1
    assert [len(set(tree.cut(k).tolist())) for k in (1, 2, 3)] == [1, 2, 3]


def test_components_of_weight_zero_take_no_part():
    with_ghost = GaussianMixture([0.5, 0.0, 0.5], [[-3.0], [0.5], [3.0]], np.ones((3, 1, 1)))
    without = GaussianMixture([0.5, 0.5], [[-3.0], [3.0]], np.ones((2, 1, 1)))
    tree, expected = merge_tree(with_ghost), merge_tree(without)
    assert tree.critical_points.saddle_heights == pytest.approx(expected.critical_points.saddle_heights)
    assert tree.n_leaves == 2
    assert len(tree.cut(2)) == 3
    assert tree.cut(2)[1] == tree.cut(2)[2]  # 0.5 lies on the right
    with pytest.raises(InvalidParameterError, match=r"at most 2, got 3"):
        tree.cut(3)


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9])
def test_components_far_apart(distance):
    means = distance * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    tree = merge_tree(GaussianMixture([0.4, 0.3, 0.3], means, [np.eye(2)] * 3))
    assert tree.n_modes == 3
    assert tree.cut(2).tolist() == [0, 0, 1]
    heights = tree.critical_points.saddle_heights[tree.spanning_saddles]
    assert heights[0] == pytest.approx(distance**2 / 8, rel=1e-3)


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_needles(condition):
    """Two crossed needles: their crossing is a mode of its own, however thin they are."""
    thin = 1 / condition
    mixture = GaussianMixture(
        [0.5, 0.5], [[-3.0, 0.0], [0.0, 3.0]], [np.diag([1.0, thin]), np.diag([thin, 1.0])]
    )
    points = find_critical_points(mixture)
    assert points.n_modes in (2, 3)
    assert np.all(np.isfinite(points.saddle_heights))
    assert len(points.saddles) >= points.n_modes - 1


def test_a_speck_inside_a_cloud():
    tree = merge_tree(GaussianMixture([0.5, 0.5], [[0.0, 0.0], [3.0, 0.0]], [np.eye(2), 1e-12 * np.eye(2)]))
    assert tree.n_modes == 2
    assert [len(set(tree.cut(k).tolist())) for k in (1, 2)] == [1, 2]


def test_vanishing_weights():
    tree = merge_tree(GaussianMixture([1 - 1e-300, 1e-300], [[0.0], [60.0]], np.ones((2, 1, 1))))
    assert tree.n_modes == 2
    assert tree.cut(2).tolist() == [0, 1]


def test_singular_covariances_are_refused_where_the_mixture_is_made():
    with pytest.raises(InvalidParameterError, match=r"covariances\[1\] is not positive definite"):
        GaussianMixture([0.5, 0.5], np.zeros((2, 2)), [np.eye(2), np.ones((2, 2))])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (0, InvalidParameterError, "n_clusters must be >= 1, got 0"),
        (-3, InvalidParameterError, "n_clusters must be >= 1, got -3"),
        (2.0, InvalidTypeError, "n_clusters must be an integer >= 1, got 2.0"),
        (True, InvalidTypeError, "n_clusters must be an integer"),
        ("two", InvalidTypeError, "n_clusters must be an integer"),
        (1000, InvalidParameterError, r"at most \d+, got 1000"),
    ],
)
def test_numbers_of_clusters_that_cannot_be(wrong, error, message):
    tree = merge_tree(random_mixture("separated", 2, seed=920))
    with pytest.raises(error, match=message):
        tree.cut(wrong)


def test_cut_takes_one_of_two_arguments():
    tree = merge_tree(random_mixture("separated", 2, seed=920))
    for arguments in ({}, {"n_clusters": 2, "height": 1.0}):
        with pytest.raises(InvalidParameterError, match="either n_clusters or height"):
            tree.cut(**arguments)
    for height in ("high", float("nan"), True):
        with pytest.raises(InvalidParameterError, match="height must be a number"):
            tree.cut(height=height)


def test_unknown_rules_searches_and_mixtures_are_named():
    mixture = random_mixture("separated", 2, seed=920)
    with pytest.raises(InvalidParameterError, match="rule must be one of 'single'"):
        merge_tree(mixture, rule="ward")
    with pytest.raises(InvalidParameterError, match="search must be one of 'ridgelines'"):
        merge_tree(mixture, search="luck")
    with pytest.raises(
        InvalidParameterError, match=r"mixture must be a dpmorse\.densities\.GaussianMixture, got a dict"
    ):
        merge_tree({})


def test_a_valley_that_is_flat_to_rounding_is_one_cluster_and_ends_in_time():
    """Equal components on a line: their sum is flat between the ends to 1e-8."""
    tree = merge_tree(GaussianMixture(np.full(20, 0.05), np.arange(20.0)[:, None], np.ones((20, 1, 1))))
    assert tree.suggested_n_clusters == 1
    assert tree.persistence[np.isfinite(tree.persistence)].max(initial=0) < 1e-6
    assert set(tree.cut(1).tolist()) == {0}
    assert np.all(tree.linkage_matrix(below_modes=True)[:, 2] >= 0)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_needle_beside_a_broad_mode_is_found_in_any_order(order):
    means, covariances = np.array([[0.0, 0.0], [5e-5, 0.0]]), np.array([np.eye(2), 1e-12 * np.eye(2)])
    points = find_critical_points(GaussianMixture([0.5, 0.5], means[order], covariances[order]))
    assert points.mode_heights[0] == pytest.approx(np.log(2) + np.log(2 * np.pi) - np.log(1e12), abs=1e-6)


@pytest.mark.parametrize("distance", [1e5, 1e6, 1e7, 1e12])
def test_no_phantom_modes_between_far_components(distance):
    tree = merge_tree(GaussianMixture([0.5, 0.5], [[0.0, 0.0], [distance, distance]], [np.eye(2)] * 2))
    assert tree.n_modes == tree.suggested_n_clusters == 2


@pytest.mark.parametrize("distance", [1e100, 1e155])
def test_components_beyond_floating_point_are_refused(distance):
    mixture = GaussianMixture([0.5, 0.5], [[0.0, 0.0], [distance, 0.0]], [np.eye(2)] * 2)
    with pytest.raises(InvalidParameterError, match="too far apart"):
        merge_tree(mixture)


@pytest.mark.parametrize("seed", range(6))
def test_a_weightless_centre_above_an_unseen_mode_keeps_the_tree_connected(seed):
    crossed = random_mixture("crossed", 2, seed=950 + seed, n_components=5)
    weights = np.r_[np.full(4, 0.25), 0.0]
    mixture = GaussianMixture(weights, crossed.means, crossed.covariances)
    for search in ("ridgelines", "quadratic-string"):
        tree = merge_tree(mixture, search=search)
        assert set(tree.cut(1).tolist()) == {0}
        assert len(tree.merges.heights) == tree.n_leaves - 1


def test_the_overlap_rule_flags_merges_over_saddles_that_are_not_certified():
    tree = merge_tree(
        GaussianMixture([0.5, 0.5], [[0.0, 0.0], [3.0, 0.0]], [np.eye(2), 1e-12 * np.eye(2)]), rule="overlap"
    )
    assert not tree.certified
    assert tree.merge_certified.tolist() == [False]
