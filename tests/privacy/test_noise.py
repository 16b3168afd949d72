"""The classes of noise; and that a third one is a class and an entry in the table of laws, nothing more."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from dpmorse.audit import audit_mechanism
from dpmorse.privacy import (
    GAUSSIAN,
    LAPLACE,
    Budget,
    LaplaceNoise,
    Neighboring,
    Step,
    event_from_dict,
    event_to_dict,
    noise,
)
from dpmorse.statistics import CellMoments, Domain, GroupCounts

NOISES = pytest.mark.parametrize("law", [GAUSSIAN, LAPLACE], ids=lambda law: law.name)


@dataclass(frozen=True)
class WideLaplaceNoise(LaplaceNoise):
    """Laplace noise whose scales are written down at half of what is drawn: as private, at half the cost."""

    name: ClassVar[str] = "wide laplace"
    unit_stddev: ClassVar[float] = 2 * math.sqrt(2)

    def cost(self, sensitivity):
        return sensitivity / 2

    def log_density(self, steps):
        return super().log_density(steps / 2)

    def draw(self, sampler, scales):
        return sampler.laplace(2 * scales)


def plans(law):
    counts, moments = GroupCounts(3), CellMoments(Domain(-np.ones(2), np.ones(2)), 2)
    scales = moments.calibrate(0.5, Neighboring.ADD_REMOVE, None, law)
    yield counts.plan(Step("counts"), 0.5, Neighboring.ADD_REMOVE, law)
    yield from moments.plan([Step("moments")], scales, Neighboring.ADD_REMOVE, law)


def test_a_third_noise_needs_one_class_and_one_entry(monkeypatch):
    wide = WideLaplaceNoise()
    monkeypatch.setitem(noise.LAWS, wide.name, wide)
    for planned, plain in zip(plans(wide), plans(LAPLACE), strict=True):
        assert event_from_dict(event_to_dict(planned.event)) == planned.event
        assert planned.event.noise == wide != plain.event.noise
        assert planned.event.pure_epsilon == pytest.approx(0.5, rel=1e-6)
        np.testing.assert_allclose(2 * planned.scales, plain.scales, rtol=1e-6)
        stddev = planned.event.noise_stddev
        assert stddev == {
            block: pytest.approx(value, rel=1e-6) for block, value in plain.event.noise_stddev.items()
        }
        exact = np.zeros(planned.scales.size, dtype=np.int64)
        neighbour = exact.copy()
        neighbour[0] = 1 << 28
        assert audit_mechanism(planned, exact, neighbour, runs=2000).passed


@NOISES
@pytest.mark.parametrize("rows", [2, 7])
def test_the_cost_of_many_rows_and_of_one_are_inverse(law, rows):
    cost = Fraction(3, 8)
    assert law.cost_of_rows(cost, rows) == rows**law.degree * cost
    assert law.cost_of_a_row(float(law.cost_of_rows(cost, rows)), rows) == pytest.approx(float(cost))


@NOISES
@pytest.mark.parametrize("ratio", [0.25, 1.0, 9.0])
def test_wider_noise_costs_less_by_the_ratio(law, ratio):
    unit = Fraction(1, 2**20)
    sensitivity = unit / Fraction(law.widening(ratio)) ** law.degree
    assert float(law.cost(sensitivity)) == pytest.approx(float(law.cost(unit)) / ratio)


@NOISES
def test_the_best_parts_have_the_least_variance(law):
    norms, entries = np.array([1.0, 1.7, 3.0]), np.array([1, 4, 10])

    def variance(parts):
        return (entries * law.scales_of_parts(norms, parts / parts.sum()) ** 2).sum()

    best = law.best_parts(norms**2 * entries)
    for seed in range(50):
        other = best * np.exp(0.1 * np.random.default_rng(seed).normal(size=3))
        assert variance(best) <= variance(other)


def test_a_budget_asks_for_the_noise_that_can_keep_its_promise():
    assert noise.noise_of_sums(Budget(1.0)) == GAUSSIAN
    assert noise.noise_of_sums(Budget(1.0, 0)) == LAPLACE
