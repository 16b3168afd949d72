"""The algorithm as it is printed in the paper must be caught; as it is corrected here, it must pass."""

import pytest

from audits.attacks.printed_algorithm import PrintedAlgorithm, cross, empty_cell
from audits.attacks.sampler import seeded
from dpmorse import DPMoGHard
from dpmorse.audit import audit_releases


@pytest.mark.parametrize(("n_features", "published"), [(2, 60.0), (8, 191.7), (16, 367.1)])
def test_the_noise_is_the_printed_one(n_features, published):
    assert PrintedAlgorithm(1.0, 1e-5, 10, n_features).sigma == pytest.approx(published, abs=0.06)


@pytest.mark.parametrize("n_features", [2, 16])
def test_a_record_alone_in_its_cell_is_given_away(n_features):
    """One round of ten spends more than five times what all ten claim."""
    result = empty_cell(n_features, runs=100_000 if n_features == 2 else 20_000)
    assert result.claimed == 1
    assert result.certified >= 5
    assert not result.passed


def test_clipping_the_mean_does_not_help():
    """One round that claims mu = 0.2, with a record opposite to 2000 others."""
    result = cross(2, runs=200_000)
    assert result.claimed == pytest.approx(0.204, abs=1e-3)
    assert result.certified > 1.5 * result.claimed
    assert not result.passed


def test_the_corrected_algorithm_passes_with_the_printed_noise():
    model = DPMoGHard(
        2, epsilon=1.0, delta=1e-5, bounds=(-1, 1), neighboring="replace-one", calibration="paper"
    )
    assert model.plan(2).events[0].noise_stddev["sum"] == pytest.approx(60.0, abs=0.06)
    result = audit_releases(model, runs=20_000, confidence=0.99, sampler=seeded(1))
    assert result.passed
    assert 0 < result.certified < result.claimed
