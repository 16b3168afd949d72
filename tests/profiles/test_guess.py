"""The best guess is the measured one where noise is small, and the expected one where noise is large."""

import numpy as np
import pytest

from dpmorse.profiles import Guess, Profile, cluster_table


def profile(noise, counts=(1000.0, 500.0), rng=None, mean=0.3, variance=2.0):
    """Records with mean 0.3 and variance 2 in the coordinates of their component, in three columns."""
    counts = np.array(counts)
    k, d = len(counts), 3
    steps = np.full((k, d), mean)
    second = variance * np.eye(d) + steps[:, :, None] * steps[:, None]
    draw = (lambda *size: rng.normal(size=size)) if rng is not None else (lambda *size: np.zeros(size))
    radius = 4.0
    noisy = second * counts[:, None, None] + radius**2 * noise * draw(k, d, d)
    return Profile(
        counts=counts + noise * draw(k),
        sums=steps * counts[:, None] + radius * noise * draw(k, d),
        second_moments=(noisy + noisy.transpose(0, 2, 1)) / 2,
        tails=np.zeros((k, 5)),
        edges=3 * 2.0 ** (np.arange(5) / 2),
        origins=np.array([[0.0] * d, [5.0] * d])[:k],
        factors=np.tile(0.5 * np.eye(d), (k, 1, 1)),
        radii=np.full(k, radius),
        lower=np.full(d, -20.0),
        upper=np.full(d, 20.0),
        piled=np.zeros((d, 2)),
        count_stddev=max(noise, 1e-9),
        sum_stddev=max(noise, 1e-9),
        second_moment_stddev=max(noise, 1e-9),
        tail_stddev=max(noise, 1e-9),
    )


def test_without_noise_it_is_what_was_measured():
    guess = Guess.of(profile(0.0))
    assert guess.steps == pytest.approx(np.full((2, 3), 0.3))
    assert guess.spreads == pytest.approx(np.tile(2 * np.eye(3), (2, 1, 1)))


def test_where_noise_hides_the_records_it_is_what_was_expected(rng):
    guess = Guess.of(profile(1e6, rng=rng))
    assert guess.steps.tolist() == np.zeros((2, 3)).tolist()
    assert guess.spreads == pytest.approx(np.tile(np.eye(3), (2, 1, 1)))


def test_where_records_are_as_expected_it_is_nearer_to_the_truth_than_the_sums(rng):
    errors = []
    for _ in range(200):
        drawn = profile(20.0, rng=rng, mean=0.0, variance=1.0)
        guess = Guess.of(drawn)
        raw = drawn.second_moments / drawn.counts[:, None, None]
        errors.append([np.square(matrix - np.eye(3)).sum() for matrix in (guess.spreads, raw)])
    guessed, raw = np.mean(errors, axis=0)
    assert guessed < raw / 3


def test_a_table_shows_the_guess_inside_intervals_of_the_sums(rng):
    for noise in (0.0, 5.0, 50.0, 500.0):
        drawn = profile(noise, rng=rng)
        for labels in (np.array([0, 1]), np.array([0, 0])):
            table = cluster_table(drawn, labels)
            for estimate in (table.share, table.centre, table.spread):
                assert np.all((estimate.low <= estimate.value) & (estimate.value <= estimate.high))


def test_a_cluster_of_two_components_is_as_wide_as_their_distance():
    table = cluster_table(profile(0.0, counts=(1000.0, 1000.0)), np.array([0, 0]))
    assert table.centre.value[0] == pytest.approx(np.full(3, 2.5 + 0.15), abs=1e-4)
    assert table.spread.value[0] == pytest.approx(np.full(3, np.sqrt(2.5**2 + 0.5)), rel=1e-4)


def test_a_cluster_without_components_has_a_row_and_no_warning():
    table = cluster_table(profile(1.0), np.array([0, 0]), n_clusters=2)
    assert table.share.value[1] == 0
    assert np.isfinite(table.spread.high).all()
