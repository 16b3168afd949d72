"""Merge rules are objects: all that other code knows of a rule is what its object says."""

import numpy as np
import pytest

from dpmorse import DPMoGHard, MorseClustering, load
from dpmorse.exceptions import InvalidParameterError
from dpmorse.morse import RULES, find_critical_points, merge_tree
from dpmorse.morse.rules import MergeRule, Merges, attach_bare_modes
from dpmorse.plots import DendrogramDisplay
from dpmorse.report import render
from morse_mixtures import random_mixture


class HeaviestFirst(MergeRule):
    """Joins all components to the first, heaviest first: of no use, but a rule."""

    name = "heaviest"
    description = "The heaviest component joins first."
    height_label = "records left over"

    def merge(self, given):
        full = given.leaves.full
        others = full[1:]
        weights = given.mixture.weights[given.leaves.components[others]]
        others = others[np.argsort(-weights, kind="stable")]
        merges = Merges.without_saddles(others, np.full(len(others), full[0]), 1 - np.sort(weights)[::-1])
        return attach_bare_modes(given) + merges


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(RULES, HeaviestFirst.name, HeaviestFirst())
    return HeaviestFirst.name


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_it_is_called_and_what_it_does(name):
    rule = RULES[name]
    assert rule.name == name
    assert rule.description.endswith(".")
    assert rule.description.count(".") == 1
    assert rule.height_label


def test_a_tree_of_a_rule_that_was_added_has_every_number_of_clusters(toy):
    tree = merge_tree(random_mixture("overlapping", 2, seed=960), rule=toy)
    assert (tree.rule, tree.basis, tree.height_label) == (toy, toy, "records left over")
    assert not tree.keeps_modes
    assert [len(set(tree.cut(k).tolist())) for k in (1, 2, tree.n_leaves)] == [1, 2, tree.n_leaves]
    assert len(tree.linkage_matrix()) == tree.n_leaves - 1


def test_a_rule_that_was_added_is_offered_and_labels_pictures_and_pages(toy, blobs, tmp_path):
    """One file and its line in ``RULES``: estimators, files, reports and plots take the rest from there."""
    model = MorseClustering(DPMoGHard(6, epsilon=8.0, bounds=(-1, 1), random_state=0), 4, merge=toy)
    model.fit(blobs[0])
    assert model.merge_tree_.rule == toy
    assert DendrogramDisplay.from_estimator(model).height_label == "records left over"
    page = render(model)
    assert "records left over" in page
    assert f"<dd>{toy}</dd>" in page
    model.save(tmp_path / "model.json")
    assert np.array_equal(load(tmp_path / "model.json").component_labels_, model.component_labels_)
    with pytest.raises(InvalidParameterError, match="'heaviest'"):
        merge_tree(model.mixture_, rule="lightest")


def test_auto_labels_heights_as_the_rule_it_chose():
    tree = merge_tree(random_mixture("separated", 2, seed=961), rule="auto")
    assert tree.height_label == RULES[tree.basis.split(",")[0]].height_label


@pytest.mark.parametrize("rule", RULES)
def test_known_critical_points_give_the_same_tree(rule):
    mixture = random_mixture("triangle", 2, seed=962)
    tree = merge_tree(mixture, rule=rule)
    again = merge_tree(mixture, rule=rule, critical_points=tree.critical_points)
    assert again.critical_points is tree.critical_points
    assert again.to_dict() == tree.to_dict()


def test_critical_points_of_something_else_are_refused():
    mixture, other = random_mixture("triangle", 2, seed=962), random_mixture("triangle", 3, seed=962)
    with pytest.raises(InvalidParameterError, match="must be what find_critical_points returns, got a dict"):
        merge_tree(mixture, critical_points={})
    with pytest.raises(
        InvalidParameterError, match=r"must be those of the mixture, with \d+ components in 2 columns"
    ):
        merge_tree(mixture, critical_points=find_critical_points(other))
