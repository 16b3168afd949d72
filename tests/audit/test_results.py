"""What an audit says, in words, as data and as a picture."""

import json
import math
import sys

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import norm

from audits.attacks.mechanisms import ADD_REMOVE, counts
from dpmorse.audit import AuditResult, Claim, Scores, Unit
from dpmorse.exceptions import DPMorseError
from dpmorse.plots import AuditDisplay

mpl.use("Agg")


@pytest.fixture
def result():
    return counts(ADD_REMOVE, 0.5).audited(runs=20_000, seed=1, confidence=0.99)


def test_a_result_reads_well(result):
    lines = str(result).splitlines()
    assert lines[0] == "counts: passed"
    assert lines[1] == "  claimed    mu <= 1"
    assert lines[2].startswith("  certified  mu >= 0.9")
    assert lines[2].endswith("with confidence 0.99")
    assert lines[3] == "  by         likelihood ratio, 20000 runs"


def test_epsilons_are_stated_beside_mu():
    claim = Claim(Unit.MU, 2.00045, 1e-5)
    assert claim.in_words(claim.value, "<=") == "mu <= 2 (epsilon <= 10 at delta = 1e-05)"
    assert claim.as_epsilon(0.0) == 0
    assert Claim(Unit.MU, 1.0).as_epsilon(0.5) == math.inf
    assert Claim(Unit.EPSILON, 3.0, 1e-6).as_epsilon(2.5) == 2.5


def test_problems_fail_an_audit_whatever_was_certified(result):
    spoilt = AuditResult("x", "y", result.claim, 0.1, 0.95, 100, problems=("something is wrong.",))
    assert not spoilt.passed
    assert str(spoilt).splitlines()[0] == "x: FAILED"
    assert str(spoilt).splitlines()[-1] == "  problem    something is wrong."


def test_a_result_is_plain_data(result):
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["passed"] is True
    assert content["unit"] == "mu"
    assert content["claimed"] == result.claimed
    assert content["certified"] == result.certified
    assert content["claimed_epsilon"] is None  # at no delta
    assert content["details"]["moved"] == pytest.approx(1, abs=1e-6)


def test_the_line_of_a_claim_is_its_trade_off_function():
    levels = np.array([0.0, 0.1, 0.5, 1.0])
    assert Claim(Unit.MU, 1.5).fewest_misses(levels) == pytest.approx(norm.cdf(norm.ppf(1 - levels) - 1.5))
    expected = np.maximum(0, np.maximum(0.99 - math.e * levels, (0.99 - levels) / math.e))
    assert Claim(Unit.EPSILON, 1.0, 0.01).fewest_misses(levels) == pytest.approx(expected)


def test_a_picture_shows_the_claim_and_the_attacker(result):
    from matplotlib import pyplot as plt

    display = AuditDisplay.from_result(result).plot()
    assert display.figure_ is display.ax_.figure
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["claim: mu <= 1", "attacker", "guessing"]
    assert np.all(np.abs(np.interp(0.5, *display.claimed_curve) - norm.cdf(-1.0)) < 1e-3)
    _, ax = plt.subplots()
    assert AuditDisplay.from_result(result).plot(ax=ax).ax_ is ax
    plt.close("all")


def test_matplotlib_missing_is_explained(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(DPMorseError, match=r"pip install 'dpmorse\[plot\]'"):
        AuditDisplay.from_result(result).plot()


def test_scores_of_a_claim_that_is_false_refute_it(rng):
    scores = Scores(rng.standard_normal(20_000) + 2, rng.standard_normal(20_000))
    refuted = AuditResult.of_scores("x", "y", Claim(Unit.MU, 1.5), scores, 0.99)
    assert not refuted.passed
    assert 1.8 < refuted.certified < 2.05
