"""Rules that merge by likelihood and by variance, and the choice among rules."""

from collections import Counter

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.metrics import adjusted_rand_score

from dpmorse.densities import GaussianMixture
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import RULES, find_critical_points, merge_tree
from dpmorse.morse.rules import scores as scoring
from dpmorse.morse.rules.groups import total_variances
from dpmorse.morse.rules.scores import most_agreed
from morse_mixtures import FAMILIES, random_mixture


def spheres(means, deviations, weights=None):
    means = np.asarray(means, float)
    k, d = means.shape
    covariances = np.square(np.broadcast_to(deviations, k))[:, None, None] * np.eye(d)
    return GaussianMixture(np.full(k, 1 / k) if weights is None else weights, means, covariances)


def groups(tree, n_clusters):
    labels = tree.cut(n_clusters)
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist())}


def test_likelihood_loss_of_two_gaussians_in_one_dimension():
    """Weights 1/2, variances s, means at distance d: loss = ln(1 + d^2 / 4 s) / 2."""
    tree = merge_tree(spheres([[0.0], [3.0]], 0.7), rule="likelihood")
    assert tree.merges.heights == pytest.approx([np.log(1 + 9 / (4 * 0.49)) / 2])


def test_equal_components_merge_first_and_cost_nothing():
    tree = merge_tree(spheres([[0.0, 0.0], [5.0, 0.0], [0.0, 0.0]], 1.0), rule="likelihood")
    assert groups(tree, 2) == {frozenset({0, 2}), frozenset({1})}
    assert tree.merges.heights[0] == pytest.approx(0.0, abs=1e-12)


def test_likelihood_tells_concentric_components_apart_by_scale():
    """Two narrow and two wide components around one centre: no valley, no distance, only scale."""
    mixture = spheres([[0.0] * 4, [0.02] * 4, [0.0] * 4, [0.3] * 4], [0.1, 0.11, 3.0, 3.2])
    assert groups(merge_tree(mixture, rule="likelihood"), 2) == {frozenset({0, 1}), frozenset({2, 3})}


def test_variance_is_wards_linkage(rng):
    """For equal weights and standardised columns, the heights are SciPy's up to their definition."""
    means = rng.normal(size=(9, 3))
    mixture = spheres(means, 1e-3)
    scale = np.sqrt(total_variances(mixture))
    expected = linkage(means / scale, "ward")
    tree = merge_tree(mixture, rule="variance")
    assert np.sqrt(2 * 9 * tree.merges.heights) == pytest.approx(expected[:, 2], rel=1e-6)


def test_a_cluster_that_may_be_noise_has_no_valley():
    """Two halves that overlap, and a speck far from both: it is cut off, unless it is as light as noise."""
    means = [[-1.2, 0.0], [-1.4, 0.6], [1.2, 0.0], [1.4, 0.6], [0.0, 9.0]]
    mixture = spheres(means, [1.0, 1.0, 1.0, 1.0, 0.3], [0.245, 0.245, 0.245, 0.245, 0.02])
    speck = merge_tree(mixture, rule="auto", n_clusters=2)
    halves = merge_tree(mixture, rule="auto", n_clusters=2, least_weight=0.03)
    assert frozenset({4}) in groups(speck, 2)
    assert {frozenset({0, 1}), frozenset({2, 3})} <= {group - {4} for group in groups(halves, 2)}
    assert groups(merge_tree(mixture, rule="auto", n_clusters=2, least_weight=0.01), 2) == groups(speck, 2)


def test_total_variance_is_that_of_a_sample():
    mixture = random_mixture("overlapping", 3, 5)
    X, _ = mixture.sample(200_000, np.random.default_rng(0))
    assert total_variances(mixture) == pytest.approx(X.var(axis=0), rel=0.02)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_number_of_clusters_is_reached_and_cuts_nest(family):
    mixture = random_mixture(family, 2, seed=951)
    points = find_critical_points(mixture)
    for rule in ("likelihood", "variance", "auto"):
        tree = merge_tree(mixture, rule=rule, n_clusters=3, critical_points=points)
        previous = None
        for k in range(1, tree.n_leaves + 1):
            labels = tree.cut(k)
            assert len(set(labels.tolist())) == k
            if previous is not None:
                assert len(set(zip(labels, previous, strict=True))) == k
            previous = labels
        assert np.all(np.diff(tree.merges.heights) >= 0)


@pytest.mark.parametrize("rule", ["likelihood", "variance", "auto"])
@pytest.mark.parametrize("family", ["separated", "overlapping", "elongated"])
def test_units_of_columns_do_not_matter(rule, family):
    mixture = random_mixture(family, 3, seed=952)
    other = mixture.affine(np.array([1e4, 1e-3, 7.0]), np.array([5.0, -1.0, 0.0]))
    first, second = (merge_tree(m, rule=rule, n_clusters=3) for m in (mixture, other))
    assert first.basis == second.basis
    assert np.array_equal(first.cut(3), second.cut(3))


def four_blobs_in_pairs():
    """Two pairs, each parted by a thin valley, far from each other: K = 2 is no matter of taste."""
    return spheres([[0.0, 0.0], [0.5, 0.0], [10.0, 0.0], [10.5, 0.0]], 0.1)


def test_all_rules_agree_where_there_is_no_doubt():
    for rule in RULES:
        tree = merge_tree(four_blobs_in_pairs(), rule=rule, n_clusters=2)
        assert groups(tree, 2) == {frozenset({0, 1}), frozenset({2, 3})}, rule


def test_auto_looks_behind_gaps_of_a_discrete_column():
    """Each class takes two values of a rounded column: gaps in that column are no clusters."""
    rows = [(x, y) for x in (0.0, 1.0) for y in (-4.0, 4.0)]
    means = np.array([[y, x, -y] for x, y in rows])
    covariances = np.tile(np.diag([0.6, 1e-4, 0.6]), (4, 1, 1))
    tree = merge_tree(GaussianMixture(np.full(4, 0.25), means, covariances), rule="auto", n_clusters=2)
    labels = tree.cut(2)
    assert [labels[i] == labels[0] for i in range(4)] == [True, False, True, False]


def test_auto_keeps_a_rare_far_cluster():
    """Variance would halve the heavy chain; the rare component behind a deep valley is the cluster."""
    means = [[0.0, 0.0], [0.9, 0.0], [1.8, 0.0], [2.7, 0.0], [1.3, 4.0]]
    mixture = spheres(means, 0.5, weights=np.array([0.24, 0.24, 0.24, 0.24, 0.04]))
    labels = merge_tree(mixture, rule="auto", n_clusters=2).cut(2)
    assert labels.tolist() == [0, 0, 0, 0, 1]


def test_the_basis_names_the_rule():
    tree = merge_tree(four_blobs_in_pairs(), rule="auto", n_clusters=2)
    assert tree.rule == "auto"
    assert tree.basis.split(",")[0] in RULES.keys() - {"auto"}
    assert merge_tree(four_blobs_in_pairs(), rule="single").basis == "single"
    assert tree.to_dict()["basis"] == tree.basis


def test_the_number_of_clusters_is_checked():
    with pytest.raises(InvalidParameterError, match="n_clusters must be >= 1"):
        merge_tree(four_blobs_in_pairs(), rule="auto", n_clusters=0)


def test_one_component_has_nothing_to_choose():
    tree = merge_tree(spheres([[0.0, 0.0]], 1.0), rule="auto", n_clusters=3)
    assert tree.cut(1).tolist() == [0]


# -- near ties ---------------------------------------------------------------------------------------

ONE_LARGE, EVEN, OTHER_LARGE = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])


@pytest.mark.parametrize(("family", "seed", "n_clusters"), [("noisy", 5, 2), ("triangle", 2, 3)])
def test_where_all_score_alike_the_majority_decides(family, seed, n_clusters, monkeypatch):
    """Not the rule that is asked first, which is in the minority here."""
    cuts = []
    monkeypatch.setattr(scoring.Score, "__call__", lambda _, groups: cuts.append(tuple(groups)) or (0.0,) * 3)
    tree = merge_tree(random_mixture(family, 2, seed, 8), rule="auto", n_clusters=n_clusters)
    majority, votes = Counter(cuts).most_common(1)[0]
    assert votes > len(cuts) / 2
    assert cuts[0] != majority
    assert adjusted_rand_score(majority, tree.cut(n_clusters)[: len(majority)]) == 1


@pytest.mark.parametrize(("ahead", "chosen"), [(0.01, 1), (2.0, 0)])
def test_a_proposal_alone_wins_only_if_it_is_clearly_ahead(ahead, chosen):
    cuts = [ONE_LARGE, EVEN, EVEN, OTHER_LARGE]
    scores = np.array([1 + ahead, 1.0, 1.0, 1.0])
    assert most_agreed(cuts, scores, np.full(4, 0.25)) == chosen


def test_agreement_is_counted_in_records():
    """Two of three put the second and the third group together: that decides if these hold all records."""
    cuts = [EVEN, ONE_LARGE, OTHER_LARGE]
    assert most_agreed(cuts, np.zeros(3), np.full(4, 0.25)) == 0
    assert most_agreed(cuts, np.zeros(3), np.array([0.0, 0.5, 0.5, 0.0])) == 1


def test_names_of_clusters_do_not_matter():
    cuts = [ONE_LARGE, 1 - EVEN, EVEN]
    assert most_agreed(cuts, np.zeros(3), np.full(4, 0.25)) == 1
