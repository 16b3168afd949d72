"""Fixtures shared by all tests."""

import numpy as np
import pytest
from hypothesis import settings

from audits.readers.postgres import postgres_server, why_no_postgres
from dpmorse.privacy.random_bytes import SeededBytes
from dpmorse.privacy.sampler import NativeSampler
from needed import skip_or_fail

pytest.register_assert_rewrite("replay_checks")  # a test looks at what its assertions say

settings.register_profile("dpmorse", deadline=None, print_blob=True)
settings.load_profile("dpmorse")


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture
def seeded_sampler():
    return NativeSampler(SeededBytes(np.random.SeedSequence(7)))


@pytest.fixture
def blobs(rng):
    """Four well separated groups in the plane, inside [-1, 1]^2."""
    centres = np.array([[-0.6, -0.6], [-0.6, 0.6], [0.6, -0.6], [0.6, 0.6]])
    labels = rng.integers(0, 4, size=4000)
    return np.clip(centres[labels] + 0.08 * rng.normal(size=(4000, 2)), -1, 1), labels


@pytest.fixture
def no_noise(monkeypatch):
    """Switch noise off. A patch of private methods: no parameter of the public API can do this."""
    for noise in ("gaussian", "laplace"):
        monkeypatch.setattr(NativeSampler, noise, lambda self, scales: np.zeros(scales.shape, dtype=np.int64))
    monkeypatch.setattr(NativeSampler, "choose", lambda self, penalties, rate: int(penalties.argmin()))


@pytest.fixture(scope="session")
def postgres_uri():
    """An empty database of PostgreSQL; tests share it, and drop what they create."""
    missing = why_no_postgres()
    if missing:
        skip_or_fail(missing)
    with postgres_server() as uri:
        yield uri
