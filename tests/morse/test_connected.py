"""Clusters of rules that merge modes over saddles are never in pieces."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, find_critical_points, merge_tree
from morse_mixtures import FAMILIES, random_mixture

PROMISED = [name for name, rule in RULES.items() if rule.keeps_modes]


def n_pieces(tree, n_clusters):
    """How many pieces the clusters of a cut are in, in the graph of all saddles between modes."""
    points, labels = tree.critical_points, np.empty(tree.n_modes, dtype=int)
    cut = tree.cut(n_clusters)
    labels[tree.leaves.modes[tree.leaves.bare]] = cut[len(tree.weights) :]
    labels[tree.leaves.modes[tree.leaves.full]] = cut[tree.leaves.components[tree.leaves.full]]
    a, b = points.saddle_ends.T
    inside = labels[a] == labels[b]
    edges = coo_array((np.ones(inside.sum()), (a[inside], b[inside])), shape=(tree.n_modes, tree.n_modes))
    return connected_components(edges, directed=False)[0]


def assert_connected(mixture, rule):
    points = find_critical_points(mixture)
    tree = merge_tree(mixture, rule=rule, critical_points=points)
    for n_clusters in range(1, tree.n_modes + 1):
        assert n_pieces(tree, n_clusters) == n_clusters, (rule, n_clusters)


def test_which_rules_promise_it():
    assert PROMISED == ["single", "persistence"]


@pytest.mark.parametrize("rule", PROMISED)
@pytest.mark.parametrize("n_features", [2, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_cluster_of_every_cut_is_connected(family, n_features, rule):
    for seed in range(2):
        assert_connected(random_mixture(family, n_features, seed=7000 + seed), rule)


@pytest.mark.long
@pytest.mark.parametrize("rule", PROMISED)
def test_every_cluster_of_500_mixtures_is_connected(rule):
    for i in range(500):
        family, n_features = FAMILIES[i % len(FAMILIES)], 2 + i % 4
        assert_connected(random_mixture(family, n_features, seed=8000 + i), rule)


def test_a_mode_joins_what_lies_across_its_saddle():
    """Three modes in a row: the last ends first, in the lake of the first, and joins the one between."""
    weights, deviations = np.array([0.5, 0.3, 0.2]), np.array([5.5, 5.5, 8.0])
    means, covariances = np.array([[24.0], [46.0], [72.0]]), deviations[:, None, None] ** 2
    mixture = GaussianMixture(weights, means, covariances)
    points = find_critical_points(mixture)
    beyond, persistence, _ = points.falls()
    modes = points.modes[:, 0]
    order = np.argsort(modes)
    assert persistence[order[2]] < persistence[order[1]], "the last one is the shallowest"
    assert beyond[order[2]] == order[1]
    tree = merge_tree(mixture, rule="persistence", critical_points=points)
    assert tree.cut(2)[:3].tolist() == [0, 1, 1]
