"""The valid files from which the tests of hostile files make theirs."""

import pytest


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Valid files of every kind."""
    from audits.fuzzing.campaign import prepare

    return prepare(tmp_path_factory.mktemp("corpus"))
