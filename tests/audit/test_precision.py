"""Low bits of releases betray nothing; those of floating-point noise do."""

import numpy as np
from scipy import stats

from audits.attacks.bases import base
from audits.attacks.low_bits import attack, attack_on_floats, low_bits
from audits.attacks.sampler import seeded
from dpmorse import DPMoGHard
from dpmorse.audit import invented_records, watched_fit


def test_the_attack_works_on_floats():
    """As published: 1.8 % of the releases of an empty group give it away at a standard deviation of 12."""
    empty, occupied = attack_on_floats(200_000, 12.0)
    assert 0.015 < empty / 200_000 < 0.021
    assert occupied == 0


def test_no_release_is_betrayed_by_its_low_bits():
    assert attack(200_000) == (0, 0)


def test_low_bits_are_uniform_whatever_is_counted():
    table = np.array([low_bits(count, 200_000, seed=10 + count) for count in (0, 1)])
    assert stats.chi2_contingency(table).pvalue > 1e-6
    assert stats.chisquare(table.sum(axis=0)).pvalue > 1e-6


def test_everything_that_a_fit_releases_is_a_whole_number():
    estimator = base(DPMoGHard, "add-remove", 1.0)
    transcript = watched_fit(estimator, invented_records(estimator, 2), seeded(1))
    for asked in transcript.asked:
        assert asked.exact.dtype == asked.answer.dtype == np.int64
