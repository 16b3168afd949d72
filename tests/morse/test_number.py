"""How many clusters a tree suggests where nobody says, and how sure it is."""

import pickle

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, Suggestion, find_critical_points, merge_tree
from dpmorse.morse.rules import proposals
from morse_mixtures import FAMILIES, random_mixture


def row(n_clusters, halves=1, apart=20.0):
    """Equal Gaussians in a row, each described by some components that nearly coincide."""
    places = np.repeat(apart * np.arange(n_clusters), halves) + np.tile(0.2 * np.arange(halves), n_clusters)
    means = np.column_stack([places, np.zeros_like(places)])
    k = len(means)
    return GaussianMixture(np.full(k, 1 / k), means, np.tile(np.eye(2), (k, 1, 1)))


def suggestion(mixture, rule="auto"):
    return merge_tree(mixture, rule=rule).suggestion


@pytest.mark.parametrize("n_components", [1, 2, 3, 6, 12])
def test_one_gaussian_is_one_cluster_however_many_components_describe_it(n_components):
    assert suggestion(row(1, n_components)).n_clusters == 1


@pytest.mark.parametrize("halves", [1, 2, 3])
@pytest.mark.parametrize("n_clusters", [2, 3, 5, 8])
def test_gaussians_far_apart_are_as_many_clusters(n_clusters, halves):
    assert suggestion(row(n_clusters, halves)).n_clusters == n_clusters


def test_two_clusters_in_no_doubt_have_no_second_best():
    """Two clusters are worth ln 2 + 5 + 2 and one is worth 5; halves of them share half of their records."""
    assert suggestion(row(2)) == suggestion(row(2, 2)) == Suggestion(2, (2,))


def test_what_overlaps_is_in_doubt():
    """Two of four Gaussians draw near to each other: four clusters, then three; both while it is unclear."""
    numbers, doubts = [], []
    for gap in (8.0, 3.4, 3.2, 3.0, 2.8, 2.6, 0.5):
        means = [[0.0, 0.0], [gap, 0.0], [0.0, 30.0], [30.0, 0.0]]
        found = suggestion(GaussianMixture(np.full(4, 0.25), means, np.tile(np.eye(2), (4, 1, 1))))
        numbers.append(found.n_clusters)
        doubts.append({3, 4} <= set(found.nearly))
    assert numbers[0] == 4
    assert numbers[-1] == 3
    assert numbers == sorted(numbers, reverse=True)
    assert any(doubts)


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_are_in_order_reachable_and_hold_the_suggestion(family):
    mixture = random_mixture(family, 2, seed=961)
    points = find_critical_points(mixture)
    for rule in RULES:
        tree = merge_tree(mixture, rule=rule, critical_points=points)
        found = tree.suggestion
        assert found.n_clusters in found.nearly
        assert list(found.nearly) == sorted(set(found.nearly))
        assert found.nearly[0] >= 1
        assert found.nearly[-1] <= tree.n_leaves
        assert tree.suggested_n_clusters == tree.to_dict()["suggested_n_clusters"] == found.n_clusters
        assert tree.to_dict()["nearly_as_good"] == list(found.nearly)


@pytest.mark.parametrize("family", ["separated", "overlapping", "elongated"])
def test_units_of_columns_and_the_order_of_components_do_not_matter(family):
    mixture = random_mixture(family, 3, seed=962)
    order = np.random.default_rng(0).permutation(mixture.n_components)
    other = mixture.affine(np.array([1e4, 1e-3, 7.0]), np.array([5.0, -1.0, 0.0]))
    shuffled = GaussianMixture(mixture.weights[order], mixture.means[order], mixture.covariances[order])
    assert suggestion(mixture) == suggestion(other) == suggestion(shuffled)


def test_the_number_does_not_depend_on_the_one_asked_for_nor_the_suggestion_on_the_copy():
    mixture = random_mixture("overlapping", 2, seed=963)
    told, untold = merge_tree(mixture, rule="auto", n_clusters=2), merge_tree(mixture, rule="auto")
    assert told.suggested_n_clusters == untold.suggested_n_clusters
    assert told.suggestion == pickle.loads(pickle.dumps(told)).suggestion


def test_with_a_number_given_nothing_is_compared(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(proposals.Proposals, "values", property(refuse))
    assert len(set(merge_tree(row(3), rule="auto", n_clusters=3).cut(3).tolist())) == 3
    with pytest.raises(AssertionError):
        merge_tree(row(3), rule="auto")


def test_other_rules_count_modes():
    """Two components around one centre: no valley, so one mode, of which "auto" may think otherwise."""
    mixture = GaussianMixture([0.5, 0.5], np.zeros((2, 4)), [np.eye(4), 100 * np.eye(4)])
    assert suggestion(mixture, "single") == Suggestion(1, (1,))
    assert suggestion(mixture).n_clusters == 2


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Suggestion(1, (1,)), "1 cluster suggested: no groups can be told apart"),
        (
            Suggestion(1, (1, 2), why_one=lambda: "so it is"),
            "1 cluster suggested: so it is; 2 is nearly as good",
        ),
        (Suggestion(4, (4,), 1), "4 clusters suggested, and one group that may be noise"),
        (
            Suggestion(4, (4, 5), 2),
            "4 clusters suggested, and 2 groups that may be noise; 5 is nearly as good",
        ),
        (Suggestion(4, (4, 5)), "4 clusters suggested; 5 is nearly as good"),
        (Suggestion(4, (3, 4, 5)), "4 clusters suggested; 3 and 5 are nearly as good"),
        (Suggestion(9, (2, 3, 5, 6, 7, 9)), "9 clusters suggested; 2, 3 and 5 to 7 are nearly as good"),
    ],
)
def test_in_words(found, words):
    assert found.in_words == words
