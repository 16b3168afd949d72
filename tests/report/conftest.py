"""Models that the tests of the page share, and the data that a page carries."""

import json
import re

import numpy as np
import pytest

from dpmorse import DPMoGHard, DPMorse, MorseClustering, PrivateGaussianMixture
from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from mixture_profiles import OwnBase, invented_profile


def four_groups(n, seed):
    """Four well separated groups in the plane, inside [-1, 1]^2."""
    rng = np.random.default_rng(seed)
    centres = np.array([[-0.6, -0.6], [-0.6, 0.6], [0.6, -0.6], [0.6, 0.6]])
    return np.clip(centres[rng.integers(0, 4, size=n)] + 0.08 * rng.normal(size=(n, 2)), -1, 1)


@pytest.fixture(scope="session")
def default_model():
    return DPMorse(4, epsilon=5.0, bounds=(-2, 2), rehearsals=2, random_state=0).fit(four_groups(8000, 1))


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
    """Three components: one that is well known, one whose medians noise hides, one that may be noise itself.

    Many values of the second column lie above its upper bound.
    """

    class Fitted(OwnBase):
        mixture_ = GaussianMixture(
            [0.985, 0.01, 0.005], [[0, 0], [20, 5], [-20, 9]], np.tile(np.eye(2), (3, 1, 1))
        )
        privacy_, merge_tree_, n_clusters_ = hard_model.privacy_, merge_tree(mixture_), 3
        profile_ = invented_profile(mixture_, [5000, 50, 15], outside=np.array([[0, 0], [0, 500]]))

    return Fitted()


@pytest.fixture(scope="session")
def embedded():
    """Return a function from a page to the data in it."""

    def read(page):
        (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        return json.loads(text)

    return read
