"""Models that the tests of the page share, and the data that a page carries."""

import json
import re

import numpy as np
import pytest

from dpmorse import DPMoGHard, DPMorse, MorseClustering, PrivateGaussianMixture
from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from mixture_profiles import invented_profile


def four_groups(n, seed):
    """Four well separated groups in the plane, inside [-1, 1]^2."""
    rng = np.random.default_rng(seed)
    centres = np.array([[-0.6, -0.6], [-0.6, 0.6], [0.6, -0.6], [0.6, 0.6]])
    return np.clip(centres[rng.integers(0, 4, size=n)] + 0.08 * rng.normal(size=(n, 2)), -1, 1)


@pytest.fixture(scope="session")
def default_model():
    return DPMorse(4, epsilon=5.0, bounds=(-2, 2), random_state=0).fit(four_groups(8000, 1))


@pytest.fixture(scope="session")
def hard_model():
    base = DPMoGHard(8, epsilon=8.0, bounds=(-1, 1), n_iter=4, random_state=0)
    return MorseClustering(base, n_clusters=4).fit(four_groups(8000, 2))


@pytest.fixture(scope="session")
def bare_model():
    """The default base without a profile, as in files of earlier versions."""
    base = PrivateGaussianMixture(8, epsilon=5.0, bounds=(-2, 2), profile=False, random_state=0)
    return MorseClustering(base, n_clusters=4).fit(four_groups(8000, 1))


@pytest.fixture(scope="session")
def doubtful_model(hard_model):
    """Three components: a heavy tail, a spread that cannot be told from 0, a size that may be noise.

    The second column piles up at its upper bound.
    """

    class Fitted:
        mixture_ = GaussianMixture(
            [0.5, 0.48, 0.02], [[0, 0], [20, 5], [-20, 9]], np.tile(np.eye(2), (3, 1, 1))
        )
        privacy_, merge_tree_, n_clusters_ = hard_model.privacy_, merge_tree(mixture_), 3
        tails, squares = np.zeros((3, 20)), np.tile(np.eye(2), (3, 1, 1))
        tails[0, 4], squares[1, 0, 0] = 300, 0
        counts = np.array([5000.0, 4000.0, 20.0])
        profile_ = invented_profile(
            mixture_,
            counts,
            tails=tails,
            second_moments=squares * counts[:, None, None],
            piled=np.array([[0, 0], [0, 1.0]]),
        )

    return Fitted()


@pytest.fixture(scope="session")
def embedded():
    """Return a function from a page to the data in it."""

    def read(page):
        (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        return json.loads(text)

    return read
