"""Promises of the tree: every number of clusters, nested, for every rule; exports that say the same."""

import networkx as nx
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, label_by_basin, merge_tree
from dpmorse.morse.critical.modes import basins
from morse_mixtures import FAMILIES, random_mixture


@pytest.fixture(params=RULES)
def rule(request):
    return request.param


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_number_of_clusters_is_reached_and_cuts_nest(family, rule):
    tree = merge_tree(random_mixture(family, 2, seed=930), rule=rule)
    assert tree.n_leaves >= tree.n_modes
    finer = None
    for k in range(tree.n_leaves, 0, -1):
        labels = tree.cut(k)
        assert sorted(set(labels.tolist())) == list(range(k))
        if finer is not None:
            assert len({(a, b) for a, b in zip(finer, labels, strict=True)}) == k + 1
        finer = labels


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_linkage_matrices_are_scipys(family, rule):
    tree = merge_tree(random_mixture(family, 2, seed=931), rule=rule)
    matrix = tree.linkage_matrix()
    assert len(matrix) == (tree.n_modes if tree.keeps_modes else tree.n_leaves) - 1
    whole = tree.linkage_matrix(below_modes=True)
    assert len(whole) == tree.n_leaves - 1
    for each in (matrix, whole):
        assert is_valid_linkage(each, throw=True)
        assert np.all(np.diff(each[:, 2]) >= 0)
    height = np.median(whole[:, 2])
    kept = tree.weights > 0
    ours, scipys = tree.cut(height=height), fcluster(whole, height, criterion="distance")
    leaves = np.r_[ours[: len(kept)][kept], ours[len(kept) :]]
    assert (
        len({(a, b) for a, b in zip(leaves, scipys, strict=True)})
        == len(set(leaves.tolist()))
        == scipys.max()
    )


def test_clusters_are_numbered_by_weight(rule):
    tree = merge_tree(random_mixture("separated", 2, seed=932), rule=rule)
    masses = np.bincount(tree.cut(4)[: len(tree.weights)], weights=tree.weights)
    assert np.all(np.diff(masses) <= 0)


def test_heights_of_single_linkage_are_those_of_the_saddles():
    tree = merge_tree(random_mixture("overlapping", 3, seed=933))
    saddles = tree.critical_points.saddle_heights[tree.spanning_saddles]
    assert tree.linkage_matrix()[:, 2] == pytest.approx(saddles - tree.critical_points.mode_heights[0])


def test_persistence_is_what_the_elder_rule_says():
    """Every mode but the deepest dies once, and the heights of their deaths are those of the merges."""
    tree = merge_tree(random_mixture("overlapping", 2, seed=934))
    heights, persistence = tree.critical_points.mode_heights, tree.persistence
    single = tree.linkage_matrix()
    assert np.sum(np.isinf(persistence)) == 1
    assert np.isinf(persistence[0])
    deaths = np.sort((persistence + heights - heights[0])[1:])
    assert deaths == pytest.approx(single[:, 2])
    assert np.all(persistence > 0)


def test_the_persistence_rule_keeps_the_most_persistent_modes():
    mixture = random_mixture("noisy", 2, seed=935)
    tree = merge_tree(mixture, rule="persistence")
    leading = np.argsort(-tree.persistence)[:3]
    labels = tree.cut(3)
    modes_of_leaves = tree.leaves.modes
    of_leaves = np.r_[
        labels[tree.leaves.components[tree.leaves.components >= 0]], labels[len(tree.weights) :]
    ]
    assert len({of_leaves[modes_of_leaves == m][0] for m in leading}) == 3


def test_the_overlap_rule_splits_concentric_components():
    """One mode, two scales: no saddle tells them apart, the records they share do."""
    mixture = GaussianMixture(
        [0.3, 0.3, 0.4],
        [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]],
        [0.01 * np.eye(2), 0.011 * np.eye(2), 4 * np.eye(2)],
    )
    tree = merge_tree(mixture, rule="overlap")
    labels = tree.cut(2)
    assert labels[0] == labels[1] != labels[2]


def test_a_spurious_far_speck_does_not_take_a_cluster_from_the_overlap_rule():
    """Single linkage gives the speck a cluster of its own; the others merge it."""
    means = np.array([[-4.0, 0.0], [-2.2, 0.0], [2.2, 0.0], [4.0, 0.0], [4.0, 2.2]])
    covariances = np.array([np.eye(2)] * 4 + [0.3 * np.eye(2)])
    mixture = GaussianMixture([0.25, 0.25, 0.25, 0.2499, 0.0001], means, covariances)
    assert merge_tree(mixture, rule="overlap").cut(2).tolist()[:4] in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_the_suggestion_counts_modes_twice_as_dense_as_their_pass():
    far = GaussianMixture(np.full(4, 0.25), [[0.0], [8.0], [16.0], [24.0]], np.ones((4, 1, 1)))
    near = GaussianMixture(np.full(4, 0.25), [[0.0], [2.1], [16.0], [18.1]], np.ones((4, 1, 1)))
    assert merge_tree(far).suggested_n_clusters == 4
    assert merge_tree(near).n_modes == 4
    assert merge_tree(near).suggested_n_clusters == 2


def test_exports_tell_the_same_tree(rule):
    tree = merge_tree(random_mixture("crossed", 2, seed=936), rule=rule)
    data, frame, graph = tree.to_dict(), tree.to_pandas(), tree.to_networkx()
    assert frame["height"].to_numpy() == pytest.approx(tree.linkage_matrix(below_modes=True)[:, 2])
    assert [merge["left"] for merge in data["merges"]] == frame["left"].tolist()
    assert nx.is_arborescence(graph)
    assert sum(1 for node in graph if graph.out_degree(node) == 0) == tree.n_leaves
    morse = tree.graph.to_networkx()
    assert nx.is_connected(morse)
    assert morse.number_of_nodes() == tree.n_modes
    assert len(tree.graph.to_pandas()) == len(tree.saddles) == morse.number_of_edges()
    assert {"certified", "lower_bound", "height", "weight", "point"} <= set(
        next(iter(morse.edges(data=True)))[2]
    )


def test_a_missing_library_is_named(monkeypatch):
    import sys

    from dpmorse.exceptions import DPMorseError

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(DPMorseError, match="pip install networkx"):
        merge_tree(random_mixture("rings", 2, seed=937)).to_networkx()


def test_basins_are_those_of_the_flow():
    """A careful integration of dx/dt = -A^-1 grad f, from points well inside basins."""
    mixture = random_mixture("separated", 2, seed=938)
    tree = merge_tree(mixture)
    points = mixture.sample(300, rng=0)[0]
    found = basins(mixture, tree.modes, points)
    x, precisions = points.copy(), np.linalg.inv(mixture.covariances)
    for _ in range(400):
        metric = np.einsum("nk,kij->nij", mixture.responsibilities(x), precisions)
        x = x - 0.05 * np.linalg.solve(metric, mixture.gradient(x)[..., None])[..., 0]
    expected = np.linalg.norm(x[:, None] - tree.modes, axis=2).argmin(axis=1)
    assert np.mean(found == expected) > 0.99


def test_labels_by_basin_reach_modes_that_have_no_component():
    mixture = GaussianMixture(
        [0.5, 0.5], [[0.0, 0.0], [1.5, 1.5]], [np.diag([1.0, 0.05]), np.diag([0.05, 1.0])]
    )
    tree = merge_tree(mixture)
    labels = tree.cut(3)
    bare = tree.leaves.modes[tree.leaves.bare]
    assert label_by_basin(mixture, tree.critical_points, bare, labels, tree.modes).tolist() == [
        labels[k] for k in _leaf_of_modes(tree)
    ]
    assert set(mixture.labels(tree.modes)) <= {0, 1}


def _leaf_of_modes(tree):
    order = np.argsort(tree.leaves.modes)
    n_components = len(tree.weights)
    position = np.cumsum(tree.leaves.components < 0) - 1 + n_components
    return np.where(tree.leaves.components >= 0, tree.leaves.components, position)[order]
