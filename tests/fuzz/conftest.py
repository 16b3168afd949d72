"""The machinery of hostile files is shared with the long audits, which tests find in the repository."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Valid files of every kind."""
    from audits._fuzz_campaign import prepare

    return prepare(tmp_path_factory.mktemp("corpus"))
