"""Laplace noise and random choices: their laws, their costs in all curves, and pure promises."""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, logsumexp, ndtri

from dpmorse import Budget, BudgetExceededError, DPMorseError, InvalidParameterError, InvalidTypeError, Ledger
from dpmorse.privacy import (
    CHOICE,
    GAUSSIAN,
    LAPLACE,
    LARGEST_SCALE,
    Composition,
    Mechanism,
    Neighboring,
    PlannedChoice,
    PlannedRelease,
    Step,
    accounting,
    release_event,
    sampler,
)
from dpmorse.privacy.exact import sealed
from dpmorse.privacy.noise import LAWS, law_named
from dpmorse.privacy.random_bytes import SeededBytes, SystemBytes
from dpmorse.privacy.sampler import NativeSampler

# The law of Laplace noise


def native(seed, **options):
    return NativeSampler(SeededBytes(np.random.SeedSequence(seed)), **options)


def draw(scale, n, seed=0, **options):
    return native(seed, **options).laplace(np.full(n, scale, dtype=np.int64))


def laplace_p_value(values, scale, per_bin=20):
    """p-value of the hypothesis that P(x) is proportional to exp(-|x| / scale), in bins of neighbours."""
    reach = math.ceil(30 * scale)
    support = np.arange(-reach, reach + 1)
    expected = np.exp(-np.abs(support) / scale)
    expected *= values.size / expected.sum()
    observed = np.bincount(np.clip(values, -reach, reach) + reach, minlength=support.size)
    _, group = np.unique(np.cumsum(expected) // per_bin, return_inverse=True)
    return stats.chisquare(np.bincount(group, observed), np.bincount(group, expected)).pvalue


@pytest.mark.parametrize("scale", [1, 3, 10, 64])
def test_noise_follows_the_discrete_laplace_law(scale):
    assert laplace_p_value(draw(scale, 300_000, seed=scale), scale) > 1e-6


@pytest.mark.parametrize("wrong", [0.98, 1.02])
def test_an_error_of_two_percent_in_the_scale_is_rejected(wrong):
    values = draw(64, 1_000_000, seed=1)
    assert laplace_p_value(values, 64, per_bin=20_000) > 1e-6
    assert laplace_p_value(values, 64 * wrong, per_bin=20_000) < 1e-9


def test_gaussian_noise_is_not_taken_for_laplace_noise():
    values = native(2).gaussian(np.full(20_000, 14, dtype=np.int64))
    assert laplace_p_value(values, 10) < 1e-9


def test_exact_arithmetic_draws_laplace_noise_of_the_same_law():
    """With a band of 2^-3 a quarter of the draws is settled in rational arithmetic."""
    assert laplace_p_value(draw(3, 20_000, seed=3, tolerance=2.0**-3), 3) > 1e-6


def test_no_float_decides_about_laplace_noise():
    """The band only chooses between a fast and a slow way to the same answer, draw by draw."""
    assert np.array_equal(draw(5, 2_000, seed=4), draw(5, 2_000, seed=4, tolerance=2.0**-6))


@pytest.mark.parametrize("scale", [2**20, 2**28 + 12345, LARGEST_SCALE])
def test_noise_of_large_scales_looks_like_continuous_laplace_noise(scale):
    assert stats.kstest(draw(scale, 200_000, seed=5) / scale, "laplace").pvalue > 1e-6


def test_laplace_scales_may_differ_within_one_batch():
    scales = np.tile(np.array([1, 50, 2**30], dtype=np.int64), 50_000)
    values = native(6).laplace(scales).reshape(-1, 3)
    assert laplace_p_value(values[:, 0], 1) > 1e-6
    assert laplace_p_value(values[:, 1], 50) > 1e-6
    assert stats.kstest(values[:, 2] / 2**30, "laplace").pvalue > 1e-6


def test_signs_of_laplace_noise_are_fair_and_zero_is_not_doubled():
    values = draw(1, 400_000, seed=7)
    positive, negative = int((values > 0).sum()), int((values < 0).sum())
    assert stats.binomtest(positive, positive + negative).pvalue > 1e-6
    at_zero = (1 - math.exp(-1)) / (1 + math.exp(-1))
    assert stats.binomtest(int((values == 0).sum()), values.size, at_zero).pvalue > 1e-6


def test_draws_of_laplace_noise_are_independent_of_each_other():
    values = draw(1000, 200_000, seed=8)
    ranks = stats.rankdata(values)
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(ranks[:-lag], ranks[lag:])[0, 1]) < 5 / math.sqrt(values.size)


def test_moving_by_one_step_changes_no_probability_by_more_than_epsilon():
    """Pure privacy itself, in frequencies: P(x) / P(x + 1) stays within e^(1/s), and reaches it."""
    scale = 4
    values = draw(scale, 1_000_000, seed=9)
    counts = np.bincount(values + 1000, minlength=2001)[1000 - 16 : 1000 + 17]
    ratios = np.abs(np.log(counts[:-1] / counts[1:]))
    error = np.sqrt(1 / counts[:-1] + 1 / counts[1:])
    assert np.all(np.abs(ratios - 1 / scale) < 5 * error)


@pytest.mark.parametrize("bad", [0, -1, LARGEST_SCALE + 1])
def test_laplace_scales_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match="scales must lie"):
        draw(bad, 3)
    with pytest.raises(ValueError, match="scales must lie"):
        native(0).laplace(np.array([5, bad, 5]))


def test_no_scales_no_draws():
    found = draw(5, 0)
    assert found.size == 0
    assert found.dtype == np.int64


def test_opendp_draws_laplace_noise_of_the_same_law():
    pytest.importorskip("opendp")
    from dpmorse.privacy.opendp_noise import OpenDPSampler

    scales = np.tile(np.array([7, 2], dtype=np.int64), 50_000)
    theirs, ours = (s.laplace(scales).reshape(-1, 2) for s in (OpenDPSampler(), NativeSampler(SystemBytes())))
    for column, scale in enumerate((7, 2)):
        assert laplace_p_value(theirs[:, column], scale) > 1e-6
        assert laplace_p_value(ours[:, column], scale) > 1e-6


def test_opendp_refuses_to_choose():
    pytest.importorskip("opendp")
    from dpmorse.privacy.opendp_noise import OpenDPSampler

    with pytest.raises(DPMorseError, match="cannot draw random choices"):
        OpenDPSampler().choose(np.array([0, 1]), Fraction(1, 2))


# The law of choices

PENALTIES = [
    ([0, 1, 2, 3, 4, 5], Fraction(1, 2)),
    ([7, 0, 0, 7, 0], Fraction(1, 9)),  # ties
    ([5, 5, 5, 0], Fraction(2, 5)),  # the best option comes last
    ([0, 0, 0], Fraction(3)),  # nothing to choose by
    ([0, 10**15, 2 * 10**15], Fraction(1, 10**15)),  # penalties as large as costs are
    ([0, 10**9, 1], Fraction(1)),  # one that is never taken
]


@pytest.fixture
def small_batches(monkeypatch):
    """Fewer proposals at a time, which are quicker to draw and sometimes all refused."""
    monkeypatch.setattr(sampler, "_SMALL", 16)


def choose(penalties, rate, n, seed=0, **options):
    source, penalties = native(seed, **options), np.array(penalties, dtype=np.int64)
    return np.array([source.choose(penalties, rate) for _ in range(n)])


def choice_p_value(found, penalties, rate):
    """p-value of the hypothesis that option i has probability proportional to exp(-rate * penalty_i)."""
    exponents = -float(rate) * np.array(penalties, dtype=float)
    probabilities = np.exp(exponents - logsumexp(exponents))
    possible = probabilities > 1e-12
    observed = np.bincount(found, minlength=len(penalties))
    assert observed.size == len(penalties)
    assert not observed[~possible].any()
    return stats.chisquare(observed[possible], found.size * probabilities[possible]).pvalue


@pytest.mark.parametrize(("penalties", "rate"), PENALTIES)
def test_choices_follow_the_exponential_law(penalties, rate):
    assert choice_p_value(choose(penalties, rate, 3_000, seed=1), penalties, rate) > 1e-6


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(("penalties", "rate"), PENALTIES)
def test_choices_follow_the_same_law_however_many_proposals_are_drawn_at_a_time(penalties, rate):
    assert choice_p_value(choose(penalties, rate, 20_000, seed=2), penalties, rate) > 1e-6


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("wrong", [Fraction(9, 10), Fraction(11, 10)])
def test_an_error_of_a_tenth_in_the_rate_is_rejected(wrong):
    penalties, rate = PENALTIES[0]
    assert choice_p_value(choose(penalties, rate * wrong, 30_000, seed=3), penalties, rate) < 1e-9


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(("penalties", "rate"), PENALTIES[:3])
def test_exact_arithmetic_makes_choices_of_the_same_law(penalties, rate):
    """With a band of 2^-3 a quarter of the proposals is settled in rational arithmetic."""
    found = choose(penalties, rate, 3_000, seed=4, tolerance=2.0**-3)
    assert choice_p_value(found, penalties, rate) > 1e-6


@pytest.mark.usefixtures("small_batches")
def test_no_float_decides_about_a_choice():
    penalties, rate = PENALTIES[0]
    fast, slow = (choose(penalties, rate, 500, seed=5, tolerance=t) for t in (2.0**-40, 2.0**-6))
    assert np.array_equal(fast, slow)


def test_among_one_option_there_is_no_choice():
    assert choose([0], Fraction(5), 20).tolist() == [0] * 20


def test_a_choice_among_many_options_finds_the_only_good_one():
    """All but one of 5000 options are refused almost surely: proposals go on until the good one is met."""
    penalties = np.full(5_000, 10**6)
    penalties[3_210] = 0
    assert choose(penalties, Fraction(1), 5).tolist() == [3_210] * 5


@pytest.mark.parametrize("penalties", [[1, 2], [-1, 0], []])
def test_the_smallest_penalty_must_be_zero(penalties):
    with pytest.raises(ValueError, match="the smallest of them 0"):
        native(0).choose(np.array(penalties, dtype=np.int64), Fraction(1))


def test_seeded_choices_repeat_and_system_choices_do_not():
    system, penalties = NativeSampler(SystemBytes()), np.zeros(1_000_000, dtype=np.int64)
    assert np.array_equal(choose([0, 1, 1], Fraction(1), 50, 6), choose([0, 1, 1], Fraction(1), 50, 6))
    assert len({system.choose(penalties, Fraction(1)) for _ in range(3)}) > 1


# The mechanism


class RecordingSampler:
    """Notes what was drawn, and how many events the ledger held at that moment."""

    secure = True

    def __init__(self, ledger):
        self.ledger, self.calls = ledger, []

    def gaussian(self, scales):
        return self._drawn("gaussian", scales)

    def laplace(self, scales):
        return self._drawn("laplace", scales)

    def choose(self, penalties, rate):
        self.calls.append(("choose", penalties.tolist(), rate, len(self.ledger.events)))
        return int(penalties.argmin())

    def _drawn(self, kind, scales):
        self.calls.append((kind, scales.tolist(), len(self.ledger.events)))
        return np.arange(scales.size, dtype=np.int64)


def event(cost, noise=LAPLACE, **options):
    values = {
        "neighboring": Neighboring.ADD_REMOVE,
        "n_draws": 3,
        "smallest_scale": 2**28,
        "step": Step("test"),
    }
    return release_event(cost=Fraction(cost), noise=noise, **{**values, **options})


def choice(cost):
    return PlannedChoice(Fraction(cost) / 7, event(cost, CHOICE, n_draws=1))


def test_events_with_laplace_noise_draw_laplace_noise_and_are_written_first():
    ledger = Ledger(Budget(1.0, 0))
    recorder = RecordingSampler(ledger)
    planned = PlannedRelease(np.array([4, 5, 6]), event(0.5))
    with Mechanism.reserve([ledger], [planned.event], recorder, ledger.budget) as mechanism:
        assert mechanism.release(sealed(np.array([10, 20, 30])), planned).tolist() == [10, 21, 32]
    assert recorder.calls == [("laplace", [4, 5, 6], 1)]


def test_events_with_gaussian_noise_draw_gaussian_noise():
    ledger = Ledger(Budget(1.0))
    recorder = RecordingSampler(ledger)
    planned = PlannedRelease(np.array([4, 5, 6]), event(0.001, GAUSSIAN))
    with Mechanism.reserve([ledger], [planned.event], recorder, ledger.budget) as mechanism:
        mechanism.release(sealed(np.zeros(3, dtype=np.int64)), planned)
    assert recorder.calls == [("gaussian", [4, 5, 6], 1)]


def test_a_choice_is_written_first_and_sees_penalties_above_the_smallest():
    ledger = Ledger(Budget(1.0, 0))
    recorder, planned, penalties = RecordingSampler(ledger), choice(0.5), np.array([30, 10, 20])
    with Mechanism.reserve([ledger], [planned.event], recorder, ledger.budget) as mechanism:
        assert mechanism.choose(sealed(penalties), planned) == 1
    assert recorder.calls == [("choose", [20, 0, 10], Fraction(1, 14), 1)]
    assert ledger.events == (planned.event,)
    assert penalties.tolist() == [30, 10, 20]


def test_the_same_amount_on_all_penalties_changes_no_choice():
    """So that a choice depends on differences of costs only, which is what one record is bounded in."""
    planned, found = PlannedChoice(Fraction(1, 3), event(0.5, CHOICE)), []
    for offset in (0, 123_456_789, -5):
        source, penalties = native(7), np.array([3, 1, 4, 1, 5]) + offset
        found.append([Mechanism([], source).choose(sealed(penalties), planned) for _ in range(40)])
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) > 1


@pytest.mark.parametrize("penalties", [np.array([0.0, 1.0]), np.array([0, 1], dtype=np.int32)])
def test_penalties_that_are_not_64_bit_integers_are_refused_before_anything_is_spent(penalties):
    ledger = Ledger(Budget(1.0, 0))
    recorder, planned = RecordingSampler(ledger), choice(0.5)
    with (
        Mechanism.reserve([ledger], [planned.event], recorder, ledger.budget) as mechanism,
        pytest.raises(ValueError, match="integer penalties"),
    ):
        mechanism.choose(sealed(penalties), planned)
    assert recorder.calls == []
    assert ledger.events == ()


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_a_choice_needs_the_event_of_a_choice(noise):
    ledger = Ledger(Budget(1.0))
    recorder, planned = RecordingSampler(ledger), PlannedChoice(Fraction(1), event(0.001, noise))
    with (
        Mechanism.reserve([ledger], [planned.event], recorder, ledger.budget) as mechanism,
        pytest.raises(ValueError, match="event of a choice"),
    ):
        mechanism.choose(sealed(np.array([0, 1])), planned)
    assert recorder.calls == []
    assert ledger.events == ()


@pytest.mark.parametrize("budget", [Budget(1.0, 0), Budget(1.0, 1e-6)])
def test_a_choice_that_was_not_reserved_draws_nothing(budget):
    ledger = Ledger(budget)
    recorder = RecordingSampler(ledger)
    with (
        Mechanism.reserve([ledger], [choice(0.1).event], recorder, ledger.budget) as mechanism,
        pytest.raises(BudgetExceededError, match="was not reserved"),
    ):
        mechanism.choose(sealed(np.array([0, 1])), choice(0.101))
    assert recorder.calls == []
    assert ledger.events == ()


@pytest.mark.parametrize("budget", [Budget(1.0, 0), Budget(1.0, 1e-6)])
def test_what_was_reserved_for_laplace_noise_does_not_pay_for_gaussian_noise(budget):
    """Gaussian noise has no pure epsilon and costs a discreteness term, of which nothing was reserved."""
    ledger = Ledger(budget)
    recorder = RecordingSampler(ledger)
    planned = PlannedRelease(np.full(3, 2**28), event(1e-6, GAUSSIAN))
    with (
        Mechanism.reserve([ledger], [event(0.5)], recorder, ledger.budget) as mechanism,
        pytest.raises(BudgetExceededError, match="was not reserved"),
    ):
        mechanism.release(sealed(np.zeros(3, dtype=np.int64)), planned)
    assert recorder.calls == []


# Events and what they add up to


def test_costs_of_gaussian_noise():
    found = event(Fraction(1, 8), GAUSSIAN, noise_stddev={"count": 3.0}, smallest_scale=2**10, n_draws=5)
    assert (found.rho, found.gaussian_rho, found.pure_epsilon) == (0.125, 0.125, math.inf)
    assert found.weighted_draws == 5 * 2.0**-40
    assert found.noise_stddev == {"count": 3.0}


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0])
def test_costs_of_laplace_noise(epsilon):
    """Pure epsilon is epsilon^2 / 2 in zCDP (Bun and Steinke) and 2 Phi^-1(1 / (1 + e^-epsilon)) in GDP."""
    found = event(epsilon, smallest_scale=1)
    assert found.pure_epsilon == epsilon
    assert found.rho == pytest.approx(epsilon**2 / 2, rel=1e-12)
    assert math.sqrt(2 * found.gaussian_rho) == pytest.approx(
        -2 * ndtri(1 / (1 + math.exp(epsilon))), rel=1e-8
    )
    assert found.weighted_draws == 0, "exact as it is: nothing to charge for discreteness"
    assert found.noise_stddev == {}
    assert LAPLACE.unit_stddev == math.sqrt(2)


@pytest.mark.parametrize("log_range", [0.001, 0.1, 1.0, 3.0])
def test_costs_of_a_choice(log_range):
    """A choice whose log-likelihood ratios span b is half as bad as what is only b-private."""
    found = event(log_range, CHOICE)
    assert found.pure_epsilon == log_range
    assert found.rho == pytest.approx(log_range**2 / 8, rel=1e-12)
    assert found.rho >= accounting.bounded_range_rho(log_range), "a cost is never rounded down"
    assert found.gaussian_rho == event(log_range / 2).gaussian_rho
    assert found.weighted_draws == 0


def test_names_of_the_kinds_of_noise_are_those_written_to_files():
    assert list(LAWS) == [law.name for law in LAWS.values()] == ["gaussian", "laplace", "choice"]
    assert [law_named(name) for name in LAWS] == [GAUSSIAN, LAPLACE, CHOICE]


@pytest.mark.parametrize("law", [GAUSSIAN, LAPLACE, CHOICE])
def test_laws_are_compared_by_value(law):
    assert copy.deepcopy(law) == pickle.loads(pickle.dumps(law)) == law
    assert [other for other in LAWS.values() if other == law] == [law]


@pytest.mark.parametrize("name", ["poisson", "", None, ["laplace"], "LAPLACE"])
def test_names_of_other_laws_are_refused(name):
    with pytest.raises(InvalidParameterError, match="noise must be one of 'gaussian', 'laplace', 'choice'"):
        law_named(name)


def test_costs_that_no_float_holds_are_stated_as_more():
    third = Fraction(1, 3)
    assert third <= Fraction(event(third).pure_epsilon) <= third * (1 + Fraction(1, 2**50))
    assert third <= Fraction(event(third, GAUSSIAN).rho) <= third * (1 + Fraction(1, 2**50))


def test_costs_add_up_in_every_curve():
    events = [event(0.1), event(0.2), event(0.05, CHOICE)]
    total = Composition.of(events)
    assert total.pure_epsilon == pytest.approx(0.35)
    assert total.rho == pytest.approx(0.01 / 2 + 0.04 / 2 + 0.0025 / 8)
    assert total.gaussian_rho == pytest.approx(sum(each.gaussian_rho for each in events))
    parts = Composition.of(events[:1]) + Composition.of(events[1:])
    for curve in ("pure_epsilon", "rho", "gaussian_rho", "weighted_draws"):
        assert getattr(parts, curve) == pytest.approx(getattr(total, curve), rel=1e-15)
    left = total - Composition.of(events[:2])
    for curve in ("pure_epsilon", "rho", "gaussian_rho"):
        assert getattr(left, curve) == pytest.approx(getattr(events[2], curve), rel=1e-9)


def test_the_sum_of_many_pure_costs_is_the_nearest_float():
    assert Composition.of([event(0.1)] * 10).epsilon(0) == 1.0
    assert Composition.of([event(Fraction(1, 1000))] * 1000).epsilon(0) == 1.0


def test_what_is_left_is_never_negative_and_infinite_where_the_whole_was():
    small, large, gaussian = (Composition.of([e]) for e in (event(0.1), event(0.2), event(0.01, GAUSSIAN)))
    left = small - large
    assert (left.rho, left.gaussian_rho, left.pure_epsilon) == (0, 0, 0)
    assert (gaussian - small).pure_epsilon == math.inf
    assert (gaussian - gaussian).pure_epsilon == math.inf
    assert (gaussian - gaussian).rho == 0
    assert (small - gaussian).pure_epsilon == 0, "what was reserved as pure and spent otherwise is gone"


@pytest.mark.parametrize("curve", ["rho", "weighted_draws", "gaussian_rho", "pure_epsilon"])
def test_every_curve_must_cover_a_cost(curve):
    values = {"rho": 1.0, "weighted_draws": 1e-6, "gaussian_rho": 2.0, "pure_epsilon": 3.0}
    whole = Composition(**values)
    assert whole.covers(whole)
    assert not whole.covers(Composition(**{**values, curve: values[curve] * (1 + 1e-6)}))
    assert not Composition(**{**values, curve: 0.0}).covers(whole)
    assert whole.covers(Composition(**{**values, curve: 0.0}))


def test_an_infinite_pure_epsilon_covers_any_and_is_covered_by_none_but_itself():
    gaussian, laplace = Composition(1, 1, 1, math.inf), Composition(1, 0, 1, 3.0)
    assert gaussian.covers(laplace)
    assert gaussian.covers(gaussian)
    assert not laplace.covers(Composition(0, 0, 0, math.inf))


MIXTURES = [
    ([event(0.1)], "pure"),
    ([event(0.5, CHOICE)], "pure"),
    ([event(0.02)] * 500, "zcdp"),
    ([event(0.02, CHOICE)] * 2000, "zcdp"),
    ([event(0.005, GAUSSIAN)] * 4, "gaussian"),
    ([event(0.005, GAUSSIAN)] * 4 + [event(0.02)] * 5, "gaussian"),
    ([event(0.0001, GAUSSIAN)] + [event(0.02)] * 500, "zcdp"),
]


@pytest.mark.parametrize(("events", "best"), MIXTURES)
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-4])
def test_epsilon_is_the_smallest_of_the_three(events, best, delta):
    total = Composition.of(events)
    three = {
        "pure": math.fsum(e.pure_epsilon for e in events),
        "zcdp": accounting.zcdp_epsilon(math.fsum(e.rho for e in events), delta),
        "gaussian": accounting.gaussian_epsilon(
            math.sqrt(2 * math.fsum(e.gaussian_rho for e in events)), delta
        ),
    }
    assert min(three, key=three.get) == best, "this case is here for one curve"
    assert total.epsilon(delta) == pytest.approx(three[best], rel=1e-6)
    assert total.epsilon(delta) <= min(total.pure_epsilon, total.epsilon_zcdp(delta))
    assert total.epsilon_zcdp(delta) == pytest.approx(three["zcdp"])
    assert total.epsilon_gaussian(delta) == pytest.approx(three["gaussian"], rel=1e-6)


def test_one_gaussian_event_makes_the_pure_epsilon_infinite():
    assert Composition.of([event(0.1), event(0.1, CHOICE)]).epsilon(0) == pytest.approx(0.2)
    mixed = Composition.of([event(0.1), event(1e-9, GAUSSIAN)])
    assert mixed.epsilon(0) == math.inf
    assert mixed.epsilon(1e-6) < 1
    assert (Composition.of([event(0.1)]) + mixed).epsilon(0) == math.inf


def test_nothing_released_costs_nothing_at_any_delta():
    nothing = Composition.of([])
    assert [nothing.epsilon(delta) for delta in (0, 1e-9, 0.1)] == [0, 0, 0]


def log_delta_of_two_points(t, log_range, k, epsilon):
    """Log of delta(epsilon) of k independent pairs whose log-likelihood ratios are t and t - log_range."""
    log_p, log_not_p = (math.log(x) for x in two_points(t, log_range)[:2])
    n = np.arange(k + 1)
    log_mass = gammaln(k + 1) - gammaln(n + 1) - gammaln(k - n + 1) + n * log_p + (k - n) * log_not_p
    excess = n * t + (k - n) * (t - log_range) - epsilon
    over = excess > 0
    if not over.any():
        return -math.inf
    return logsumexp(log_mass[over] + np.log(-np.expm1(-excess[over])))


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("cost", "k"), [(1.0, 1), (0.5, 5), (0.1, 50), (0.02, 1000), (3.0, 4)])
def test_the_reported_epsilon_holds_for_the_worst_mechanisms_of_that_cost(cost, k, delta):
    """Binary randomised response is the worst of pure privacy; two points at any place, of bounded range."""
    pure = Composition.of([event(cost)] * k).epsilon(delta)
    assert log_delta_of_two_points(cost, 2 * cost, k, pure) <= math.log(delta)
    ranged = Composition.of([event(cost, CHOICE)] * k).epsilon(delta)
    for t in np.linspace(0.02, 0.98, 49) * cost:
        assert log_delta_of_two_points(t, cost, k, ranged) <= math.log(delta)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 1), (0.05, 20), (0.02, 200), (0.01, 1000)])
def test_the_reported_epsilon_is_above_that_of_privacy_loss_distributions(epsilon, k):
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution

    one = privacy_loss_distribution.from_laplace_mechanism(1 / epsilon, value_discretization_interval=1e-4)
    theirs = one.self_compose(k).get_epsilon_for_delta(1e-6)
    ours = Composition.of([event(epsilon)] * k).epsilon(1e-6)
    assert theirs <= ours <= 1.5 * theirs


# Bounded range (Lemma 3)


def two_points(t, log_range):
    """The two-point pair with log-likelihood ratios t and t - log_range: p, 1 - p, q, 1 - q."""
    whole = -math.expm1(-log_range)
    p = -math.expm1(t - log_range) / whole
    not_p = math.exp(-log_range) * math.expm1(t) / whole
    return p, not_p, math.exp(-t) * p, math.exp(log_range - t) * not_p


def quantile(p, not_p):
    """Phi^-1(p), from whichever of p and 1 - p is known better."""
    return ndtri(p) if p < not_p else -ndtri(not_p)


@pytest.mark.parametrize("log_range", np.geomspace(1e-6, 200, 60))
def test_the_mu_of_bounded_range_agrees_with_high_precision(log_range):
    with mpmath.workdps(100):
        # 2 / (1 + e^-x) - 1 = tanh(x / 2), and Phi^-1(u) = sqrt(2) erfinv(2 u - 1)
        exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(mpmath.mpf(log_range) / 4))
        found = mpmath.mpf(accounting.bounded_range_mu(log_range))
        assert exact <= found <= exact * (1 + mpmath.mpf("1e-8"))


def test_no_range_costs_nothing():
    assert accounting.bounded_range_mu(0.0) == 0
    assert accounting.bounded_range_rho(0.0) == 0


RANGES = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
PLACES = [0.001, 0.01, *np.linspace(0.05, 0.45, 9), 0.49, 0.5, 0.51, *np.linspace(0.55, 0.95, 9), 0.99, 0.999]


@pytest.mark.parametrize("log_range", RANGES)
def test_two_points_of_bounded_range_are_no_easier_to_tell_apart_than_gaussians(log_range):
    """Phi^-1(p) - Phi^-1(q) <= mu says that the corner of the trade-off function is above that of mu.

    The trade-off function of two points is linear between its corner and its ends, that of two Gaussians
    convex: one is above the other everywhere if it is at the corner.
    """
    mu = accounting.bounded_range_mu(log_range)
    for place in PLACES:
        p, not_p, q, not_q = two_points(place * log_range, log_range)
        assert p + not_p == pytest.approx(1)
        assert q + not_q == pytest.approx(1)
        assert math.log(p / q) - math.log(not_p / not_q) == pytest.approx(log_range)
        assert quantile(p, not_p) - quantile(q, not_q) <= mu
    p, not_p, q, not_q = two_points(log_range / 2, log_range)
    assert quantile(p, not_p) - quantile(q, not_q) == pytest.approx(mu, rel=1e-8), "and no smaller mu will do"


def test_trade_off_functions_of_two_points_are_above_the_gaussian_one():
    """The same without the shortcut by corners: every level of a test, both ways."""
    levels = np.linspace(1e-4, 1 - 1e-4, 500)
    for log_range, place in itertools.product([0.1, 1.0, 5.0], [0.05, 0.3, 0.5, 0.8]):
        _, not_p, q, _ = two_points(place * log_range, log_range)
        gaussian = stats.norm.cdf(stats.norm.isf(levels) - accounting.bounded_range_mu(log_range))
        forth = np.interp(levels, [0, q, 1], [1, not_p, 0])
        back = np.interp(levels, [0, not_p, 1], [1, q, 0])
        assert np.all(forth >= gaussian)
        assert np.all(back >= gaussian)


@pytest.mark.parametrize("alpha", [1.1, 2, 5, 20, 100])
def test_two_points_of_bounded_range_have_the_zcdp_cost_stated(alpha):
    """D_alpha <= alpha b^2 / 8 in both directions, in 50-digit arithmetic; nearly reached by small ranges."""
    with mpmath.workdps(50):
        a, closest = mpmath.mpf(alpha), 0
        for log_range, place in itertools.product(RANGES, PLACES):
            b = mpmath.mpf(log_range)
            t = b * mpmath.mpf(place)
            p = (1 - mpmath.e ** (t - b)) / (1 - mpmath.e**-b)
            q = p * mpmath.e**-t
            for first, second in ((p, q), (q, p)):
                moment = first**a * second ** (1 - a) + (1 - first) ** a * (1 - second) ** (1 - a)
                divergence = mpmath.log(moment) / (a - 1)
                assert divergence <= a * accounting.bounded_range_rho(log_range)
                closest = max(closest, divergence / (a * b * b / 8))
    assert closest > 0.99


@pytest.mark.parametrize("rho", np.geomspace(1e-8, 5, 40))
def test_the_largest_range_spends_what_it_may_and_no_more(rho):
    found = accounting.largest_range(rho)
    costs = accounting.bounded_range_rho(found), accounting.bounded_range_mu(found) ** 2 / 2
    assert rho * (1 - 1e-6) <= max(costs) <= rho


# Pure promises


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_a_delta_of_zero_is_a_pure_promise(zero):
    budget = Budget(1.0, zero)
    assert budget.is_pure
    assert type(budget.delta) is float
    assert math.copysign(1, budget.delta) == 1
    assert budget == Budget(1.0, 0.0)
    assert not Budget(1.0).is_pure
    assert not Budget(1.0, 1e-100).is_pure


@pytest.mark.parametrize("zero", [np.float64(0), np.float32(0), np.int64(0), Fraction(0), -1e-300, -1])
def test_zeros_that_are_not_plain_numbers_and_negative_deltas_are_out_of_range(zero):
    """A zero that was computed is more likely an accident than a wish for a pure promise."""
    with pytest.raises(InvalidParameterError, match="delta must lie strictly between 0 and 1"):
        Budget(1.0, zero)


@pytest.mark.parametrize("delta", [False, np.False_, "0", "", None, [0], np.zeros(1), 0j])
def test_deltas_that_are_no_numbers_have_the_wrong_type(delta):
    with pytest.raises(InvalidTypeError, match="delta must be a number"):
        Budget(1.0, delta)


def test_a_tiny_delta_is_not_taken_for_zero():
    with pytest.raises(InvalidParameterError, match="delta must be at least 1e-100"):
        Budget(1.0, 5e-324)


def spend(ledger, *events):
    with ledger.reserve(events) as reservation:
        for each in events:
            reservation.record(each)


def test_a_pure_ledger_refuses_gaussian_noise():
    ledger = Ledger(Budget(1.0, 0))
    with pytest.raises(BudgetExceededError, match="epsilon = inf at delta = 0, over the budget of 1 "):
        spend(ledger, event(1e-9, GAUSSIAN))
    with pytest.raises(BudgetExceededError, match="epsilon = inf"):
        spend(ledger, event(0.1), event(1e-9, GAUSSIAN))
    assert ledger.events == ()
    spend(ledger, event(1.0))


def test_a_pure_ledger_pays_for_laplace_noise_and_choices_up_to_epsilon():
    ledger = Ledger(Budget(1.0, 0))
    for _ in range(5):
        spend(ledger, event(0.125), event(0.0625, CHOICE))
    assert ledger.spent.epsilon(0) == 5 * 0.1875
    with pytest.raises(BudgetExceededError, match="over the budget of 1 "):
        spend(ledger, event(0.0625 + 2.0**-52))
    spend(ledger, event(0.0625))
    assert ledger.spent.epsilon(0) == 1.0
    with pytest.raises(BudgetExceededError):
        spend(ledger, event(1e-12))
    assert "epsilon spent 1)" in repr(ledger)


def test_ten_tenths_are_paid_and_no_more():
    """Sums do not depend on the order or the grouping of releases, so that no cent is lost or found."""
    for groups in ([1] * 10, [10], [3, 3, 4], [7, 1, 2]):
        ledger = Ledger(Budget(1.0, 0))
        for n in groups:
            spend(ledger, *[event(0.1)] * n)
        assert ledger.spent.epsilon(0) == 1.0
        with pytest.raises(BudgetExceededError):
            spend(ledger, event(1e-12))


def test_a_pure_reservation_holds_the_budget_and_gives_back_what_is_left():
    ledger = Ledger(Budget(1.0, 0))
    with ledger.reserve([event(0.75)]) as reservation:
        with pytest.raises(BudgetExceededError, match="more is reserved by fits that are running"):
            ledger.reserve([event(0.5)])
        reservation.record(event(0.25))  # divided otherwise than reserved, no more in all
        with pytest.raises(BudgetExceededError, match="was not reserved"):
            reservation.record(event(0.75))
        reservation.record(event(0.25, CHOICE))
    assert ledger.spent.epsilon(0) == 0.5
    spend(ledger, event(0.5))
    assert ledger.spent.epsilon(0) == 1.0


def test_a_reservation_that_is_used_up_pays_for_nothing_more():
    with Ledger(Budget(1.0, 0)).reserve([event(0.25), event(0.5)]) as reservation:
        reservation.record(event(0.5))
        reservation.record(event(0.25))
        with pytest.raises(BudgetExceededError, match="was not reserved"):
            reservation.record(event(1e-9))


def test_small_releases_do_not_pay_for_a_large_one_of_the_same_pure_cost():
    """Four times 0.1 is as much as 0.4 in pure epsilon, but a quarter of it in the curves that have a delta."""
    with (
        Ledger(Budget(1.0, 1e-6)).reserve([event(0.1)] * 4) as reservation,
        pytest.raises(BudgetExceededError, match="was not reserved"),
    ):
        reservation.record(event(0.4))


def test_a_ledger_with_delta_takes_gaussian_noise_laplace_noise_and_choices():
    ledger = Ledger(Budget(1.0, 1e-6))
    spend(ledger, event(0.01, GAUSSIAN), event(0.05), event(0.05, CHOICE))
    assert ledger.spent.pure_epsilon == math.inf
    assert 0 < ledger.spent.epsilon(1e-6) < 1
    with pytest.raises(BudgetExceededError):
        spend(ledger, event(1.0))
