"""A small cluster far from all others is found; the tails of heavy-tailed records are taken for none."""

import numpy as np
import pytest

from dpmorse import DPMorse
from dpmorse.bases.staged import coreset
from dpmorse.bases.staged.coreset import groups_apart, light_islands, on_mainland

AXIS, DIAGONAL = (10.0, 0.0, 0.0, 0.0, 0.0), (-(20.0**0.5),) * 5


def with_far_cluster(far, n_clusters, seed, n=20_000):
    """Return clusters of spread 0.5 near the origin, and 2 % of the records around ``far``."""
    rng = np.random.default_rng(seed)
    far = np.asarray(far)
    directions = rng.normal(size=(n_clusters, far.size))
    lengths = rng.uniform(0, 1.5, size=(n_clusters, 1))
    centres = lengths * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    y = np.where(rng.random(n) < 0.02, n_clusters, rng.integers(n_clusters, size=n))
    return np.vstack([centres, far])[y] + 0.5 * rng.normal(size=(n, far.size)), y == n_clusters


def is_isolated(labels, far):
    """Return whether 90 % of the far records have labels that hold less than 10 % other records."""
    alone = [label for label in np.unique(labels) if (~far)[labels == label].mean() < 0.1]
    return np.isin(labels[far], alone).mean() >= 0.9


@pytest.mark.parametrize(
    ("far", "n_clusters", "asked", "factor"),
    [(AXIS, 1, 2, 1), (AXIS, 3, "auto", 10), (DIAGONAL, 3, 4, 1), (AXIS[:2], 3, 4, 1), (AXIS[:1], 2, 3, 1)],
)
def test_a_far_cluster_of_two_percent_is_isolated(far, n_clusters, asked, factor):
    isolated = []
    for seed in range(5):
        X, small = with_far_cluster(far, n_clusters, seed)
        bounds = (-15 * factor, 15 * factor)
        model = DPMorse(asked, epsilon=1.0, delta=1e-5, bounds=bounds, random_state=seed).fit(X)
        isolated.append(is_isolated(model.predict(X), small))
    assert sum(isolated) >= 4


@pytest.mark.parametrize("n_features", [3, 5, 8])
def test_heavy_tails_are_no_islands(n_features, monkeypatch):
    """Then k-means places all components, and records are clipped to the ball of the units."""
    found = []
    monkeypatch.setattr(
        coreset, "light_islands", lambda *given: found.append(light_islands(*given)) or found[-1]
    )
    for seed in range(3):
        X = np.random.default_rng(seed).standard_t(3, size=(20_000, n_features))
        DPMorse(3, epsilon=1.0, delta=1e-5, bounds=(-40, 40), random_state=seed).fit(X)
    assert len(found) == 3
    assert max(islands.max() for islands in found) == -1


def test_components_reach_beyond_the_ball_only_where_an_island_does(no_noise):
    X, small = with_far_cluster(AXIS, 2, seed=0)
    near, far = (
        DPMorse(3, epsilon=1.0, delta=1e-5, bounds=(-15, 15), random_state=0).fit(records)
        for records in (X[~small], X)
    )
    assert near.base_.domain_.upper[0] < 6, "the ball of the units"
    assert far.base_.mixture_.means[:, 0].max() > 8, "four radii of that ball, or where the cluster is"


def islands_of(weights, positions, variances=0.01, n_components=4):
    weights = np.array(weights, dtype=float)
    centres = np.outer(positions, [1.0, 0.0])
    groups = groups_apart(centres, np.full(len(weights), variances))
    return light_islands(weights, groups, n_components).tolist()


def test_balls_that_are_far_for_their_radii_are_islands():
    """The radius of a ball is 0.14: twice the sum of two is 0.57."""
    assert islands_of([90, 10], [0.0, 0.5]) == [-1, -1]
    assert islands_of([90, 10], [0.0, 0.6]) == [-1, 0]
    assert islands_of([90, 10], [0.0, 0.6], variances=0.02) == [-1, -1], "a wider ball needs a wider gap"


def test_a_chain_of_balls_joins_them():
    assert islands_of([80, 10, 10], [0.0, 0.5, 1.0]) == [-1, -1, -1]
    assert islands_of([80, 12, 8], [0.0, 1.0, 1.5]) == [-1, 0, 0], "an island of two balls"


def test_islands_are_light_and_no_more_than_half_of_the_components():
    assert islands_of([50, 50], [0.0, 9.0]) == [-1, -1], "k-means gives both a centre"
    assert islands_of([90, 2, 5, 3], [0.0, 1.0, 2.0, 3.0]) == [-1, -1, 0, 1], "the heaviest two"
    assert islands_of([90, 10], [0.0, 9.0], n_components=1) == [-1, -1]
    assert islands_of([1], [0.0]) == [-1]


def test_the_mainland_is_the_heaviest_group():
    groups = groups_apart(np.outer([0.0, 0.1, 9.0, 9.1, 9.2], [1.0, 0.0]), np.full(5, 0.01))
    assert on_mainland(np.array([30.0, 30.0, 10.0, 15.0, 15.0]), groups).tolist() == [True] * 2 + [False] * 3


@pytest.mark.parametrize("part", [0.05, 0.15, 0.3])
def test_a_heavy_far_cluster_is_held_by_the_ball_too(part, no_noise):
    """K-means gives it centres by itself; in the units' ball these would be a disc on its surface."""
    rng = np.random.default_rng(0)
    far = rng.random(20_000) < part
    X = 0.5 * rng.normal(size=(20_000, 4)) + np.where(far, 0, rng.integers(3, size=20_000))[:, None]
    X[far, 0] += 20.0
    model = DPMorse(2, epsilon=1.0, delta=1e-5, bounds=(-30, 30), random_state=0).fit(X)
    found = model.base_.partition_.means[:, 0].max()
    assert found == pytest.approx(X[far, 0].mean(), abs=0.6)


@pytest.mark.parametrize("n_features", [1, 2])
def test_in_few_columns_the_ball_holds_far_clusters_and_no_tails(n_features):
    rng = np.random.default_rng(1)
    near = 0.5 * rng.normal(size=(20_000, n_features))
    far = np.where(rng.random((20_000, 1)) < 0.03, near + 12.0 / np.sqrt(n_features), near)
    tails = 0.5 * rng.standard_t(3, size=(20_000, n_features))
    widths = [
        DPMorse(2, epsilon=1.0, delta=1e-5, bounds=(-40, 40), random_state=0).fit(X).base_.domain_.half_width
        / X.std(axis=0)
        for X in (near, far, tails)
    ]
    assert np.all(widths[1] > 1.5 * widths[0])
    assert np.all(widths[2] < 1.3 * widths[0])
    blind = DPMorse(2, epsilon=1.0, bounds=(-40, 40), random_state=0, profile=False).fit(far)
    assert np.all(blind.base_.domain_.half_width / far.std(axis=0) < 0.8 * widths[1]), "nothing is looked for"
