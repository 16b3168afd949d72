"""What a plan promises is derived from the comparisons that a fit makes; each formula is checked by itself."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.promise import Setting, fit
from dpmorse import DPMorse
from dpmorse.bases import rehearse
from dpmorse.bases.hurdles import MISSED, Hurdle, smallest_seen
from dpmorse.bases.staged import coreset
from dpmorse.bases.staged.hurdles import of_coreset, of_histogram
from dpmorse.bases.staged.joint_histogram import _smoothed
from dpmorse.bases.staged.units import radius_of_ball
from dpmorse.privacy import GAUSSIAN, ReleaseEvent, Step

HURDLES = [Hurdle.times(10.0), Hurdle.times(7.0, 5.0), Hurdle(60.0, 2.0), Hurdle.times(10.0)]
ALIKE = [Hurdle.times(1000.0)] * 6


@pytest.mark.parametrize("hurdles", [HURDLES, ALIKE])
def test_a_group_of_that_size_passes_every_hurdle_in_nineteen_of_twenty_fits(hurdles, rng):
    size = smallest_seen(hurdles)
    passed = np.ones(200_000, dtype=bool)
    for hurdle in hurdles:
        passed &= size + hurdle.stddev * rng.standard_normal(len(passed)) > hurdle.level
    assert passed.mean() > 1 - MISSED - 0.002
    if hurdles is ALIKE:
        assert passed.mean() < 1 - MISSED + 0.005, "the promise is no more careful than it need be"


def test_one_hurdle_is_missed_as_often_as_is_said():
    size = Hurdle(50.0, 10.0).size_for(0.05)
    assert norm.cdf((50.0 - size) / 10.0) == pytest.approx(0.05)


def test_more_hurdles_and_more_noise_ask_for_larger_groups():
    assert smallest_seen(HURDLES * 3) > smallest_seen(HURDLES)
    assert smallest_seen([Hurdle.times(20.0)]) >= 2 * smallest_seen([Hurdle.times(10.0)]) - 1


@pytest.mark.parametrize("bits", [4, 5, 6, 7])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_cells_of_a_group_hold_the_parts_that_the_formula_says(bits, n_columns):
    """Against a round group spread over cells: its largest smoothed count, and the noise of its own cells."""
    side, stddev = 1 << bits, 3.0
    event = ReleaseEvent(
        step=Step("joint histogram"),
        neighboring="add-remove",
        rho=0.1,
        n_draws=side**n_columns,
        smallest_scale=8,
        noise_stddev={"count": stddev},
        noise=GAUSSIAN,
    )
    standing_out, supporting = of_histogram(event, n_columns)
    spread = 0.2 * side / (2 * radius_of_ball(n_columns))
    edges = norm.cdf((np.arange(side + 1) - side / 2 - 0.5) / spread)  # its middle is that of a cell
    line = np.diff(edges)
    parts = line if n_columns == 1 else np.outer(line, line)
    # Of single cells, and of blocks that have the middle of the group in the middle of one of them.
    found = []
    for size, high in ((1, 4.5), (2, 5.0), (4, 5.0)):
        blocks = norm.cdf((np.arange(side // size + 1) - side / size / 2 - 0.5) * size / spread)
        own = np.diff(blocks) if n_columns == 1 else np.outer(np.diff(blocks), np.diff(blocks))
        smooth, noise = _smoothed(own, stddev * size ** (n_columns / 2))
        found.append((high * noise / smooth.max(), noise / smooth.max()))
    level, of_noise = min(found)
    assert standing_out.stddev == pytest.approx(of_noise, rel=0.15)
    assert standing_out.level == pytest.approx(level, rel=0.15)
    together = stddev / math.sqrt(np.square(parts).sum())
    assert supporting.stddev == pytest.approx(together, rel=0.25 if bits == 4 else 0.1)


def test_a_ball_is_dropped_below_the_level_of_its_hurdle(rng):
    noise, n_records, k = 30.0, 50_000, 9
    kept = of_coreset([noise] * 3, n_records, k)[-1].level / 2  # two balls may share a group
    n_cells = coreset.n_cells(n_records, noise, k)
    weights = np.full(n_cells, 1000.0)
    weights[:2] = kept - 1, kept + 1
    balls = coreset.Balls(weights, rng.standard_normal((n_cells, 5)), np.ones(n_cells))
    left = coreset._heavy(balls, noise, n_records, k)
    assert kept - 1 not in left.weights
    assert kept + 1 in left.weights


@pytest.mark.parametrize("n_columns", [2, 5])
def test_a_plan_promises_less_for_less_noise(n_columns):
    sizes = [
        rehearse(
            DPMorse(4, epsilon=epsilon, bounds=(-1, 1))._base_for(n_columns), n_columns, 3000
        ).smallest_cluster
        for epsilon in (0.5, 1.0, 3.0)
    ]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.long
@pytest.mark.parametrize("n_columns", [2, 5])
def test_a_cluster_of_the_promised_size_is_seen(n_columns):
    setting = Setting(n_columns, 5_000, 1.0)
    size = setting.promised()
    assert all(fit(setting, 4, 1.0, size, seed)["seen"] for seed in range(3))
