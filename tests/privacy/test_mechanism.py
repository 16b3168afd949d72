"""The mechanism writes first, draws once, and adds integers."""

import numpy as np
import pytest

from dpmorse import Budget, BudgetExceededError, Ledger
from dpmorse.privacy import Mechanism, Neighboring, PlannedRelease, ReleaseEvent, Step
from dpmorse.privacy.exact import sealed
from dpmorse.privacy.random_bytes import SeededBytes, SystemBytes


class RecordingSampler:
    secure = True

    def __init__(self, ledger=None):
        self.calls = []
        self.events_seen = []
        self.ledger = ledger

    def gaussian(self, scales):
        self.calls.append(scales.copy())
        if self.ledger is not None:
            self.events_seen.append(len(self.ledger.events))
        return np.arange(scales.size, dtype=np.int64)


def planned(rho=0.001, size=3):
    scales = np.full(size, 2**28, dtype=np.int64)
    event = ReleaseEvent(
        step=Step.parse("test"),
        neighboring=Neighboring.ADD_REMOVE,
        rho=rho,
        n_draws=size,
        smallest_scale=2**28,
        noise_stddev={},
    )
    return PlannedRelease(scales, event)


def test_one_draw_per_release_and_the_event_is_written_first():
    ledger = Ledger(Budget(1.0))
    sampler = RecordingSampler(ledger)
    exact = np.array([10, 20, 30], dtype=np.int64)
    with Mechanism.reserve([ledger], [planned().event], sampler, ledger.budget) as mechanism:
        assert mechanism.release(sealed(exact), planned()).tolist() == [10, 21, 32]
    assert len(sampler.calls) == 1
    assert sampler.events_seen == [1]
    assert exact.tolist() == [10, 20, 30]


def test_a_refused_release_draws_nothing():
    ledger, sampler = Ledger(Budget(1.0)), RecordingSampler()
    with (
        Mechanism.reserve([ledger], [planned().event], sampler, ledger.budget) as mechanism,
        pytest.raises(BudgetExceededError, match="was not reserved"),
    ):
        mechanism.release(sealed(np.zeros(3, dtype=np.int64)), planned(rho=1.0))
    assert sampler.calls == []
    assert ledger.events == ()


def test_a_shared_ledger_refuses_what_the_own_ledger_would_pay():
    own, shared = Ledger(Budget(1.0)), Ledger(Budget(0.01))
    with (
        pytest.raises(BudgetExceededError, match=r"over the budget of 0\.01"),
        Mechanism.reserve([own, shared], [planned().event], RecordingSampler(), own.budget),
    ):
        pass
    with own.reserve([planned(rho=0.02).event]):
        pass  # what the own ledger had reserved was given back


def test_integers_of_any_size_are_released_exactly():
    exact = np.array([2**70, -(2**70), 5], dtype=object)
    with Mechanism.reserve(
        [Ledger(Budget(1.0))], [planned().event], RecordingSampler(), Budget(1.0)
    ) as mechanism:
        assert mechanism.release(sealed(exact), planned()).tolist() == [2**70, 1 - 2**70, 7]


@pytest.mark.parametrize(
    "exact",
    [
        np.zeros(2, dtype=np.int64),
        np.zeros(3),
        np.array([2**70, 1.5, 0], dtype=object),
        np.array([2**70, 0, None], dtype=object),
    ],
    ids=["shape", "float", "a float among integers", "nothing among integers"],
)
def test_only_integers_of_the_planned_shape_are_released(exact):
    with pytest.raises(ValueError, match="shape and type"):
        Mechanism([], RecordingSampler()).release(sealed(exact), planned())


def test_byte_sources():
    system, first, again = SystemBytes(), *(SeededBytes(np.random.SeedSequence(3)) for _ in range(2))
    assert system.secure
    assert not first.secure
    assert len(system(13)) == 13
    assert first(13) == again(13)
    assert first(16) == again(16)


def test_seeded_bytes_never_change():
    """Benchmarks are reproducible across releases: this stream is part of the contract."""
    assert SeededBytes(np.random.SeedSequence(0))(8).hex() == "a92fb822b2e59903"
