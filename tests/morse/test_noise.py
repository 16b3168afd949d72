"""Clusters below three standard deviations of their size's noise are neither suggested nor nearly as good."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, Sizes, find_critical_points, merge_tree
from dpmorse.morse.rules.sizes import SEEN, noise_first
from morse_mixtures import FAMILIES, random_mixture

N_RECORDS = 10_000.0


def blobs(weights, apart=20.0):
    """Gaussians in a row."""
    means = np.column_stack([apart * np.arange(len(weights)), np.zeros((len(weights), 3))])
    return GaussianMixture(np.array(weights), means, np.tile(np.eye(4), (len(weights), 1, 1)))


def sizes(mixture, stddev, why_one=None):
    counts = N_RECORDS * mixture.weights
    return Sizes(counts, np.full(len(counts), stddev), why_one)


def suggestion(mixture, stddev, rule="auto"):
    return merge_tree(mixture, rule=rule, sizes=sizes(mixture, stddev)).suggestion


def over_noise(tree, n_clusters):
    labels = tree.cut(n_clusters)[: len(tree.weights)]
    return [tree.sizes.over_noise(labels == cluster) for cluster in np.unique(labels)]


def test_one_blob_is_one_cluster_and_two_clear_ones_are_two():
    assert suggestion(blobs([1.0]), 10.0).n_clusters == 1
    assert suggestion(blobs([0.5, 0.5]), 10.0).n_clusters == 2


@pytest.mark.parametrize("rule", RULES)
def test_a_speck_is_counted_from_three_standard_deviations_on(rule):
    """Three far blobs, the last with 100 records: above a noise of 100 / 3 it may be noise."""
    mixture = blobs([0.5, 0.49, 0.01])
    seen, unseen = suggestion(mixture, 100 / 3.01, rule), suggestion(mixture, 100 / 2.99, rule)
    assert seen.n_clusters == 3
    assert seen.n_noise == 0
    assert unseen.n_clusters == 2 if rule == "auto" else unseen.n_clusters < 3
    assert 3 not in unseen.nearly


def test_a_speck_is_named_and_lies_in_the_cluster_next_to_it():
    mixture = blobs([0.4, 0.59, 0.01])
    tree = merge_tree(mixture, rule="auto", sizes=sizes(mixture, 50.0))
    assert tree.suggestion.in_words == "2 clusters suggested, and one group that may be noise"
    assert tree.cut(2).tolist() == [1, 0, 0]
    assert tree.cut(3).tolist() == [1, 0, 2], "whoever asks for it has it"


def test_where_no_group_is_seen_there_is_one_cluster_and_a_reason():
    mixture = blobs([0.25] * 4)
    given = sizes(mixture, 2_000.0, why_one=lambda: "few records")
    tree = merge_tree(mixture, rule="auto", sizes=given)
    assert tree.suggestion.n_clusters == tree.suggested_n_clusters == 1
    assert tree.suggestion.in_words == "1 cluster suggested: few records"


def test_more_noise_never_suggests_more():
    mixture = blobs([0.4, 0.3, 0.2, 0.09, 0.01])
    numbers = [
        suggestion(mixture, stddev).n_clusters for stddev in (1.0, 20.0, 50.0, 200.0, 500.0, 900.0, 5_000.0)
    ]
    assert numbers[0] == 5
    assert numbers[-1] == 1
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("stddev", [30.0, 200.0, 700.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_number_that_is_named_has_a_cluster_that_may_be_noise(family, stddev):
    mixture = random_mixture(family, 3, seed=975)
    points = find_critical_points(mixture)
    for rule in RULES:
        for asked in (None, 3):
            tree = merge_tree(
                mixture, rule=rule, n_clusters=asked, critical_points=points, sizes=sizes(mixture, stddev)
            )
            found = tree.suggestion
            named = (
                {found.n_clusters, *found.nearly} if asked is None else set(found.nearly) - {found.n_clusters}
            )
            assert all(min(over_noise(tree, number)) >= SEEN for number in named if number > 1), rule


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tree_for_a_number_that_was_asked_for_does_not_depend_on_sizes(family):
    mixture = random_mixture(family, 2, seed=976)
    points = find_critical_points(mixture)
    for rule in RULES:
        plain, given = (
            merge_tree(mixture, rule=rule, n_clusters=3, critical_points=points, sizes=known)
            for known in (None, sizes(mixture, 500.0))
        )
        assert plain.basis == given.basis
        assert np.array_equal(plain.linkage_matrix(below_modes=True), given.linkage_matrix(below_modes=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_nearly_as_good_is_the_cut_that_is_shown(family):
    """Another number is worth what its cut of this tree is worth; of the suggested one both are the same."""
    tree = merge_tree(random_mixture(family, 3, seed=977), rule="auto")
    proposals, found = tree.proposals, tree.suggestion
    best = proposals.values[found.n_clusters - 1]
    for number in range(2, len(proposals.values) + 1):
        shown = tree.cut(number)[: len(tree.weights)]
        worth = proposals._worth(shown, proposals._shared_agreement(shown, number))
        assert (number in found.nearly) == (number == found.n_clusters or worth > best - 1.0)
        if number == found.n_clusters:
            assert worth == pytest.approx(best, abs=1e-12)


def test_merges_of_noise_come_first_and_still_join_everything():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(2, 12))
        pairs = np.array([(int(rng.integers(i)), i) for i in range(1, n)])[rng.permutation(n - 1)]
        shared = rng.random((n, n))
        given = Sizes(rng.normal(60.0, 60.0, n), np.full(n, 20.0))
        moved, heights, n_seen = noise_first(pairs, np.sort(rng.random(n - 1)), given, shared + shared.T)
        assert (np.diff(heights) >= 0).all()
        group = np.arange(n)
        for place, (a, b) in enumerate(moved):
            assert group[a] != group[b]
            if n - place == n_seen and n_seen > 1:
                assert given.all_seen(group)
            group[group == group[b]] = group[a]
        assert len(set(group)) == 1
        assert 1 <= n_seen <= n
