"""What must not change when units, axes or the order of components change."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import RULES, find_critical_points, merge_tree
from morse_mixtures import FAMILIES, random_mixture, rotation


def agree(original, changed, shift=0.0):
    assert changed.n_modes == original.n_modes
    assert changed.certified == original.certified
    assert changed.mode_heights == pytest.approx(original.mode_heights + shift, abs=1e-8)
    assert changed.saddle_heights == pytest.approx(original.saddle_heights + shift, abs=1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_rotation_and_translation(family):
    mixture = random_mixture(family, 3, seed=900)
    axes, away = rotation(np.random.default_rng(0), 3), np.array([1e3, -5.0, 0.3])
    original = find_critical_points(mixture)
    changed = find_critical_points(mixture.affine(axes, away))
    agree(original, changed)
    assert changed.modes == pytest.approx(original.modes @ axes.T + away, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("family", ["overlapping", "crossed", "noisy"])
def test_scaling_shifts_f_by_the_log_determinant(family, scale):
    mixture = random_mixture(family, 2, seed=901)
    original = find_critical_points(mixture)
    agree(original, find_critical_points(mixture.affine(np.full(2, scale), np.zeros(2))), 2 * np.log(scale))
    uneven = np.array([scale, 1.0])
    agree(original, find_critical_points(mixture.affine(uneven, np.zeros(2))), np.log(scale))


@pytest.mark.parametrize("family", FAMILIES)
def test_permutation(family):
    mixture = random_mixture(family, 2, seed=902)
    order = np.random.default_rng(1).permutation(mixture.n_components)
    original = find_critical_points(mixture)
    changed = find_critical_points(
        GaussianMixture(mixture.weights[order], mixture.means[order], mixture.covariances[order])
    )
    agree(original, changed)
    assert original.component_modes[order].tolist() == changed.component_modes.tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", ["overlapping", "noisy", "nested"])
def test_trees_do_not_depend_on_the_order_of_components(family, rule):
    mixture = random_mixture(family, 3, seed=903)
    order = np.random.default_rng(2).permutation(mixture.n_components)
    shuffled = GaussianMixture(mixture.weights[order], mixture.means[order], mixture.covariances[order])
    original, changed = merge_tree(mixture, rule=rule), merge_tree(shuffled, rule=rule)
    for k in range(1, min(original.n_leaves, mixture.n_components) + 1):
        pairs = set(zip(original.cut(k)[order].tolist(), changed.cut(k)[: len(order)].tolist(), strict=True))
        assert len(pairs) <= k
