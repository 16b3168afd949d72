"""The privacy curves against the literature, high precision, dp-accounting and OpenDP."""

import itertools
import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting import pld, rdp
from scipy.optimize import minimize_scalar

from dpmorse.privacy import GAUSSIAN, Budget, Calibration, Composition, Neighboring, accounting
from dpmorse.statistics import GroupCounts

EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-5, 1e-3)
GRID = list(itertools.product(EPSILONS, DELTAS))

# epsilon, rho by zCDP, mu by the exact Gaussian curve, all at delta = 1e-5 (published figures)
PUBLISHED = [
    (0.5, 0.008506, 0.14221),
    (1.0, 0.030557, 0.26805),
    (2.0, 0.108256, 0.50155),
    (5.0, 0.550973, 1.12124),
    (10.0, 1.782696, 2.00045),
]


@pytest.mark.parametrize(("epsilon", "rho", "mu"), PUBLISHED)
def test_published_figures(epsilon, rho, mu):
    assert accounting.zcdp_rho(epsilon, 1e-5) == pytest.approx(rho, rel=1e-4)
    assert accounting.gaussian_mu(epsilon, 1e-5) == pytest.approx(mu, rel=1e-4)


def exact_gaussian_delta(mu, epsilon):
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.e**epsilon * mpmath.ncdf(-mu / 2 - epsilon / mu)


def exact_zcdp_delta(rho, epsilon, alpha):
    with mpmath.workdps(60):
        rho, epsilon, alpha = (mpmath.mpf(v) for v in (rho, epsilon, alpha))
        exponent = (alpha - 1) * (alpha * rho - epsilon)
        return mpmath.e**exponent / (alpha - 1) * (1 - 1 / alpha) ** alpha


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gaussian_calibration_is_on_the_private_side_in_60_digit_arithmetic(epsilon, delta):
    mu = accounting.gaussian_mu(epsilon, delta)
    assert exact_gaussian_delta(mu, epsilon) <= delta
    assert exact_gaussian_delta(mu * (1 + 1e-6), epsilon) > delta, "needlessly noisy"


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_zcdp_calibration_is_on_the_private_side_in_60_digit_arithmetic(epsilon, delta):
    rho = accounting.zcdp_rho(epsilon, delta)
    # every order gives a valid bound: any one that does is a proof
    search = minimize_scalar(
        lambda t: float(mpmath.log(exact_zcdp_delta(rho, epsilon, 1 + math.exp(t)))),
        bounds=(-5, 15),
        method="bounded",
        options={"xatol": 1e-8},
    )
    assert exact_zcdp_delta(rho, epsilon, 1 + math.exp(search.x)) <= delta
    assert accounting.zcdp_epsilon(rho * (1 + 1e-6), delta) > epsilon, "needlessly noisy"


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_epsilon_and_calibration_are_inverse(epsilon, delta):
    rho, mu = accounting.zcdp_rho(epsilon, delta), accounting.gaussian_mu(epsilon, delta)
    for found in (accounting.zcdp_epsilon(rho, delta), accounting.gaussian_epsilon(mu, delta)):
        assert epsilon * (1 - 1e-6) <= found <= epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d in GRID if d <= 1e-3])
def test_gaussian_curve_agrees_with_dp_accounting(epsilon, delta):
    theirs = 1 / dp_accounting.get_sigma_gaussian(epsilon, delta)
    ours = accounting.gaussian_mu(epsilon, delta)
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ours <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("n_rounds", [1, 10, 50])
def test_composition_agrees_with_privacy_loss_distributions(epsilon, n_rounds):
    """Adding rho over rounds and converting once is what a PLD accountant finds numerically."""
    mu = accounting.gaussian_mu(epsilon, 1e-6)
    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(n_rounds) / mu), n_rounds)
    assert accountant.get_epsilon(1e-6) == pytest.approx(epsilon, rel=2e-3)


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d in GRID if e >= 0.1])
def test_zcdp_curve_agrees_with_dp_accounting_at_fine_orders(epsilon, delta):
    rho = accounting.zcdp_rho(epsilon, delta)
    # the best order is near 1 + sqrt(ln(1/delta) / rho)
    centre = 1 + math.sqrt(math.log(1 / delta) / rho)
    orders = 1 + (centre - 1) * np.geomspace(0.2, 2, 200)
    accountant = rdp.RdpAccountant(orders=list(orders))
    accountant.compose(dp_accounting.ZCDpEvent(rho=rho, xi=0.0))
    assert accountant.get_epsilon(delta) == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-5), (5.0, 1e-6), (10.0, 1e-9)])
def test_zcdp_curve_agrees_with_opendp(epsilon, delta):
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    rho = accounting.zcdp_rho(epsilon, delta)
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    measurement = opendp.m.make_gaussian(*space, scale=1e6)
    curve = opendp.c.make_zCDP_to_approxDP(measurement).map(1e6 * math.sqrt(2 * rho))
    assert curve.epsilon(delta) == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gaussian_calibration_never_adds_more_noise_than_zcdp(epsilon, delta):
    budget = Budget(epsilon, delta)
    zcdp = GAUSSIAN.affordable(budget, Calibration.ZCDP, n_draws=1000)
    gaussian = GAUSSIAN.affordable(budget, Calibration.GAUSSIAN, n_draws=1000)
    paper = GAUSSIAN.affordable(budget, Calibration.PAPER, n_draws=1000)
    assert paper < zcdp <= gaussian


@pytest.mark.filterwarnings("ignore::dpmorse.PrivacyLeakWarning")
@pytest.mark.parametrize("epsilon", [30.0, 100.0, 1000.0])
def test_very_large_epsilon_falls_back_to_zcdp(epsilon):
    """There e^epsilon makes the discreteness term useless, and zCDP alone must hold."""
    budget = Budget(epsilon, 1e-6)
    rho = GAUSSIAN.affordable(budget, Calibration.GAUSSIAN, n_draws=10**6)
    assert rho == GAUSSIAN.affordable(budget, Calibration.ZCDP, n_draws=10**6)


def test_published_noise_ratios():
    """Noise of the exact curve relative to the paper's conversion, at delta = 1e-5."""
    for epsilon, ratio in [(0.5, 0.725), (1, 0.761), (2, 0.798), (5, 0.846), (10, 0.880)]:
        budget = Budget(epsilon, 1e-5)
        paper = GAUSSIAN.affordable(budget, Calibration.PAPER, n_draws=1)
        exact = GAUSSIAN.affordable(budget, Calibration.GAUSSIAN, n_draws=1)
        assert math.sqrt(paper / exact) == pytest.approx(ratio, abs=1e-3)


def chi_square_to_rounded_gaussian(scale):
    """chi^2(rounded N(0, s^2) || N_Z(0, s^2)), summed in 40-digit arithmetic."""
    with mpmath.workdps(40):
        s = mpmath.mpf(scale)
        k = range(-12 * scale, 12 * scale + 1)
        weights = [mpmath.e ** (-(mpmath.mpf(i) ** 2) / (2 * s * s)) for i in k]
        total = mpmath.fsum(weights)
        discrete = [w / total for w in weights]
        half = mpmath.mpf(1) / 2
        rounded = [mpmath.ncdf((i + half) / s) - mpmath.ncdf((i - half) / s) for i in k]
        return mpmath.fsum((r - d) ** 2 / d for r, d in zip(rounded, discrete, strict=True))


@pytest.mark.parametrize("scale", [8, 12, 20, 32])
def test_lemma_2_bounds_the_distance_to_rounded_gaussian_noise(scale):
    """The proved constant 1/100 holds, and the true one is about 1/288: the proof is not far off."""
    chi_square = chi_square_to_rounded_gaussian(scale)
    assert chi_square <= 1 / (100 * mpmath.mpf(scale) ** 4)
    assert chi_square * 288 * scale**4 == pytest.approx(1, rel=1e-2)


def test_discreteness_is_the_bound_of_theorem_4():
    """eta = sqrt(exp(sum 1/(100 s^4)) - 1) / 2, against 60-digit arithmetic."""
    for n_draws, scale in ((1, 8), (500, 2**20), (2_145_000, 2**24)):
        with mpmath.workdps(60):
            exact = mpmath.sqrt(mpmath.exp(mpmath.mpf(n_draws) / (100 * mpmath.mpf(scale) ** 4)) - 1) / 2
        found = accounting.discreteness(n_draws / scale**4)
        assert abs(found / float(exact) - 1) < 1e-12
        term = accounting.discreteness_delta(1.0, n_draws / scale**4)
        assert abs(term / (float(exact) * (1 + math.e)) - 1) < 1e-12


def test_no_release_costs_nothing():
    assert accounting.zcdp_epsilon(0.0, 1e-6) == 0
    assert accounting.gaussian_epsilon(0.0, 1e-6) == 0


MANY = list(itertools.product(np.geomspace(0.1, 10, 10), np.geomspace(1e-7, 1e-3, 5), (1, 2, 5, 10)))


def test_two_hundred_budgets_and_numbers_of_rounds():
    """The whole path, from a budget to rounds of releases and back to epsilon; dp-accounting's noise is never less."""
    assert len(MANY) == 200
    for epsilon, delta, n_rounds in MANY:
        budget = Budget(float(epsilon), float(delta))
        rho = GAUSSIAN.affordable(budget, Calibration.GAUSSIAN, n_draws=n_rounds)
        statistic = GroupCounts(1)
        events = [
            statistic.plan(str(i), rho / n_rounds, Neighboring.ADD_REMOVE).event for i in range(n_rounds)
        ]
        spent = Composition.of(events)
        assert spent.epsilon(budget.delta) <= budget.epsilon
        theirs = 1 / dp_accounting.get_sigma_gaussian(budget.epsilon, budget.delta)
        ours = math.sqrt(2 * spent.gaussian_rho)
        assert ours == pytest.approx(theirs, rel=1e-4)
        assert ours <= theirs * (1 + 1e-9), "never less noise"
