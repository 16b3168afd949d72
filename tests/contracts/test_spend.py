"""What the mechanisms consumed equals what is declared, for every estimator, by watching the sampler."""

import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpmorse import Budget, BudgetExceededError, DPMoG, DPMoGHard, Ledger, MomentShares, PrivacyLeakWarning
from dpmorse.bases.em import rounds as rounds_module
from dpmorse.bases.randomness import Randomness
from dpmorse.privacy import SMALLEST_SCALE, Composition
from dpmorse.privacy.random_bytes import SeededBytes
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.statistics import GRID_BITS, CellMoments, Domain
from every_base import every_way

KINDS = pytest.mark.parametrize("kind", [DPMoGHard, DPMoG])
RELATIONS = pytest.mark.parametrize("neighboring", ["add-remove", "replace-one"])


@pytest.fixture
def draws(monkeypatch):
    """Every call of the sampler, with the scales it was asked for; a choice is one draw in units of its own."""
    calls = []
    original, choose = NativeSampler.gaussian, NativeSampler.choose

    def spy(self, scales):
        calls.append(scales.copy())
        return original(self, scales)

    def spy_on_choice(self, penalties, rate):
        calls.append(np.ones(1, dtype=np.int64))
        return choose(self, penalties, rate)

    monkeypatch.setattr(NativeSampler, "gaussian", spy)
    monkeypatch.setattr(NativeSampler, "choose", spy_on_choice)
    return calls


def consumed(scales, statistic, neighboring):
    """zCDP cost of noise with these scales, worked out anew from the definition of the statistic.

    Worst record of add/remove-one: a corner of the box, all of it in one cell. Replace-one with
    uniform noise: opposite corners in two cells, twice as much.
    """
    k, d = statistic.n_cells, statistic.domain.n_features
    one = 2**statistic.unit_bits
    count, total, diagonal, off = np.split(scales, np.cumsum([k, k * d, k * d]))
    assert all(len(set(block.tolist())) == 1 for block in (count, total, diagonal))
    squared = sum(
        n * Fraction(one, int(block[0])) ** 2
        for n, block in ((1, count), (d, total), (d, diagonal), (d * (d - 1) // 2, off))
        if n
    )
    return float(squared) / 2 * (2 if neighboring == "replace-one" else 1)


@every_way
@RELATIONS
def test_every_draw_is_of_a_release_that_was_reserved(way, neighboring, draws, blobs):
    """As many draws as are declared, with no less noise; and all releases cost no more than was asked for."""
    model = way.make(4, neighboring=neighboring, random_state=0)
    report = model.fit(way.table(blobs[0])).privacy_
    assert report.neighboring == neighboring
    declared = [(event.n_draws, event.smallest_scale) for event in report.events]
    assert [(scales.size, scales.min()) for scales in draws] == declared
    assert Composition.of(report.events).epsilon(1e-6) <= report.epsilon <= 1.0
    assert Composition.of(report.reserved).epsilon(1e-6) == pytest.approx(report.epsilon)


@KINDS
@RELATIONS
@pytest.mark.parametrize("calibration", ["gaussian", "zcdp"])
def test_consumed_equals_declared(kind, neighboring, calibration, draws, blobs):
    model = kind(5, epsilon=1.5, bounds=(-1, 1), neighboring=neighboring, calibration=calibration, n_iter=7)
    statistic = CellMoments(Domain.from_bounds((-1, 1), 2), 5, kind.weight_bits)
    model.fit(blobs[0])
    report = model.privacy_
    assert len(draws) == len(report.events) == 7, "one draw per release"
    for scales, event in zip(draws, report.events, strict=True):
        assert scales.size == event.n_draws == 5 * (1 + 2 + 3)
        assert event.rho == pytest.approx(consumed(scales, statistic, neighboring), rel=1e-9)
        assert event.smallest_scale == scales.min()
    total = Composition.of(report.events)
    derived = total.epsilon(1e-6) if calibration == "gaussian" else total.epsilon_zcdp(1e-6)
    assert 1.5 * (1 - 1e-6) <= derived <= 1.5
    assert report.epsilon <= 1.5


@KINDS
def test_paper_calibration_never_spends_more_than_asked(kind, draws, blobs):
    for neighboring in ("add-remove", "replace-one"):
        model = kind(5, epsilon=1.0, bounds=(-1, 1), neighboring=neighboring, calibration="paper").fit(
            blobs[0]
        )
        assert model.privacy_.epsilon < 1.0
        assert model.privacy_.epsilon_zcdp < 1.0


def test_paper_calibration_of_dpmog_hard_is_algorithm_2(blobs):
    """sigma = sqrt(r tau / 2) (sqrt(L + eps) + sqrt(L)) / eps with r = 1 + 3D + 2D^2, L = ln(1/delta)."""
    model = DPMoGHard(
        4, epsilon=1.0, delta=1e-5, bounds=(-1, 1), neighboring="replace-one", calibration="paper"
    )
    for d, published in ((2, 60.0), (8, 191.7), (16, 367.1)):
        noise = model.plan(d).events[0].noise_stddev
        assert noise == {"count": pytest.approx(published, abs=0.06)} | dict.fromkeys(
            ("sum", "second moment"), noise["count"]
        )


def test_paper_calibration_of_dpmog_grows_with_the_components():
    """Accounting for each component apart costs sqrt K in noise; joint accounting does not."""

    def noise(n_components, calibration):
        model = DPMoG(n_components, epsilon=1.0, bounds=(-1, 1), calibration=calibration)
        return model.plan(3).events[0].noise_stddev["sum"]

    assert noise(40, "paper") / noise(10, "paper") == pytest.approx(2, rel=0.02)
    assert noise(40, "gaussian") == pytest.approx(noise(10, "gaussian"), rel=1e-6)


def test_soft_and_hard_have_the_same_noise():
    plans = [kind(6, epsilon=1.0, bounds=(-1, 1)).plan(4) for kind in (DPMoG, DPMoGHard)]
    soft, hard = (plan.events[0].noise_stddev["second moment"] for plan in plans)
    assert soft == pytest.approx(hard, rel=1e-6)


@pytest.mark.filterwarnings("ignore::dpmorse.PrivacyLeakWarning")
@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 1.0, 20.0, 60.0])
@pytest.mark.parametrize("delta", [1e-50, 1e-6, 0.3, 0.9, 0.99])
def test_a_plan_always_fits_its_own_budget(epsilon, delta):
    for calibration in ("gaussian", "zcdp", "paper"):
        model = DPMoGHard(5, epsilon=epsilon, delta=delta, bounds=(-1, 1), calibration=calibration)
        plan = model.plan(3)
        with Ledger(plan.settings.budget).reserve(plan.events):
            pass


@KINDS
def test_shares_are_followed(kind, blobs):
    shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5)
    model = kind(3, epsilon=1.0, bounds=(-1, 1), shares=shares, n_iter=2).fit(blobs[0])
    event = model.privacy_.events[0]
    norms = {"count": 1, "sum": 2, "second moment": 3}  # squared norms in the box, D = 2
    for block, share in (("count", 0.2), ("sum", 0.3), ("second moment", 0.5)):
        cost = norms[block] / event.noise_stddev[block] ** 2 / 2
        assert cost / event.rho == pytest.approx(share, rel=1e-6)


def test_low_bits_of_a_release_betray_nothing():
    """The precision attack: whether a count is 0 or 1 must not show in bits the noise should fill.

    With floating-point noise, multiples of 2^-53 give a present record away. Here a release of either
    count is an integer number of units whose low bits are uniform.
    """
    statistic = CellMoments(Domain.from_bounds((-1, 1), 1), 1)
    for count in (0, 1):
        exact = np.full(40_000, count << statistic.unit_bits, dtype=np.int64)
        sampler = NativeSampler(SeededBytes(np.random.SeedSequence(count)))
        released = exact + sampler.gaussian(np.full(exact.size, 3 << 24, dtype=np.int64))
        assert stats.chisquare(np.bincount(released & 63, minlength=64)).pvalue > 1e-6


class Untouchable:
    """A table that shows its shape and fails the test as soon as its values are looked at."""

    dtype = np.dtype(np.float64)

    def __init__(self, n_columns):
        self.shape = (1000, n_columns)

    def touched(self, *args):
        raise AssertionError("data was touched")

    __array__ = __len__ = __iter__ = __getitem__ = touched


@every_way
def test_an_overspending_fit_is_refused_before_data_is_touched(way, draws):
    ledger = Ledger(Budget(0.5, 1e-6))
    model = way.make(3, ledger=ledger)
    with pytest.raises(BudgetExceededError, match=r"over the budget of 0\.5"):
        model.fit(Untouchable(way.n_columns(2)))
    assert draws == []
    assert ledger.events == ()
    assert not hasattr(model, "mixture_")


@every_way
def test_concurrent_fits_on_one_ledger_fail_whole_or_not_at_all(way, blobs):
    """The second fit is refused before it touches data; the first one finishes."""
    X, ledger = way.table(blobs[0]), Ledger(Budget(1.05, 1e-6))
    outcomes = []
    ready = threading.Barrier(2)

    def work():
        model = way.make(3, ledger=ledger, random_state=0)
        ready.wait()
        try:
            outcomes.append(model.fit(X))
        except BudgetExceededError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refusal, fitted = sorted(outcomes, key=lambda outcome: hasattr(outcome, "privacy_"))
    assert "Nothing was released" in str(refusal)
    assert ledger.events == fitted.privacy_.events


@KINDS
def test_interrupted_fits_keep_what_was_spent_and_stay_unfitted(kind, blobs, monkeypatch):
    ledger = Ledger(Budget(1.0, 1e-6))
    model = kind(3, epsilon=1.0, bounds=(-1, 1), ledger=ledger, n_iter=5)
    original = rounds_module.maximise
    rounds = []

    def interrupted(*args):
        rounds.append(1)
        if len(rounds) == 3:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(rounds_module, "maximise", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs[0])
    assert len(ledger.events) == 3
    assert not hasattr(model, "mixture_")


@every_way
def test_random_state_marks_the_model_as_not_secure(way, blobs):
    X = way.table(blobs[0][:300])
    assert not way.make(2, random_state=3).fit(X).privacy_.secure
    assert way.make(2).fit(X).privacy_.secure


def test_opendp_draws_the_noise_on_request(blobs):
    pytest.importorskip("opendp")
    model = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=2, noise="opendp").fit(blobs[0])
    assert model.privacy_.secure
    assert 0.999 < model.privacy_.epsilon <= 1.0


def test_start_and_noise_have_streams_of_their_own():
    randomness = Randomness.from_parameters(7, "native")
    start = randomness.init.bytes(64)
    noise = randomness.sampler._source(64)
    assert start != noise
    assert Randomness.from_parameters(8, "native").sampler._source(64) != noise
    first, second = (
        Randomness.from_parameters(7, "native").init.bit_generator.seed_seq,
        np.random.SeedSequence(7),
    )
    assert first.spawn_key != second.spawn_key


def test_no_noise_is_finer_than_theorem_4_allows():
    with pytest.warns(PrivacyLeakWarning):
        DPMoGHard(2, epsilon=1e4, bounds=(-1, 1), n_iter=1, random_state=0).fit(np.zeros((50, 1)))
    plan = DPMoGHard(2, epsilon=1e4, bounds=(-1, 1), n_iter=1).plan(1)
    assert plan.events[0].smallest_scale == SMALLEST_SCALE


def test_grid_of_the_statistic_is_the_one_documented():
    assert GRID_BITS == 12
