"""Against an independent oracle; the full comparison is ``python -m benchmarks.morse``."""

import numpy as np
import pytest

from dpmorse.morse import merge_tree
from morse_mixtures import FAMILIES, random_mixture
from morse_oracle import flood

CASES = [(family, 2, 800) for family in FAMILIES[1::2]] + [(family, 3, 800) for family in FAMILIES[::2]]
"""Every family once, in the plane or in space."""


@pytest.mark.long
@pytest.mark.parametrize(("family", "n_features", "seed"), CASES)
def test_modes_and_merge_heights_are_those_of_a_flooded_grid(family, n_features, seed):
    mixture = random_mixture(family, n_features, seed)
    tree = merge_tree(mixture)
    oracle = flood(mixture, 1 << 16)
    heights = tree.critical_points.saddle_heights[tree.spanning_saddles]
    assert oracle.sure
    assert tree.certified
    assert tree.n_modes == len(oracle.modes)
    assert np.all(np.abs(heights - oracle.heights) <= 1e-3 * np.maximum(1, np.abs(oracle.heights)))


def test_the_oracle_itself_finds_a_saddle_on_paper():
    from dpmorse.densities import GaussianMixture

    mixture = GaussianMixture([0.5, 0.5], [[-2.0, 0.0], [2.0, 0.0]], [np.eye(2)] * 2)
    oracle = flood(mixture, 1 << 14)
    assert len(oracle.modes) == 2
    assert oracle.heights == pytest.approx([2 + np.log(2 * np.pi)], abs=1e-9)
