"""Models that the tests of the page share, and the data that a page carries."""

import json
import re

import numpy as np
import pytest

from dpmorse import DPMoGHard, DPMorse, MorseClustering


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
def embedded():
    """Return a function from a page to the data in it."""

    def read(page):
        (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        return json.loads(text)

    return read
