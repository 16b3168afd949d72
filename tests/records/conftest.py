"""Fixtures shared by tests of records."""

import pytest

from dpmorse.privacy import Mechanism
from dpmorse.privacy.exact import opened


@pytest.fixture
def counts(monkeypatch):
    """The exact count of the records behind each release, in one cell."""
    seen, original = [], Mechanism.release

    def watched(mechanism, exact, planned):
        seen.append(int(opened(exact)[0]) >> 28)  # sums are in units of 2^-28
        return original(mechanism, exact, planned)

    monkeypatch.setattr(Mechanism, "release", watched)
    return seen
