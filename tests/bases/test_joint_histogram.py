"""One or two columns: the cells that hold records are found, and counts with noise are used without bias."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from dpmorse import DPMorse, PrivateGaussianMixture
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.staged import binned_em, joint_histogram
from dpmorse.bases.staged.joint_histogram import Cells
from dpmorse.report.noise import noise_of_last_release
from dpmorse.schema import Layout


def square_of_cells(counts, stddev=1.0, width=0.5):
    """Return cells in the order of an array around the origin."""
    axes = [width * (np.arange(n) - (n - 1) / 2) for n in counts.shape]
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, counts.ndim)
    return Cells(centres, counts.ravel(), np.maximum(counts.ravel(), 1e-3), width, stddev)


def test_noise_alone_occupies_nothing(rng):
    occupied = []
    for _ in range(100):
        smooth, noise = joint_histogram._smoothed(rng.normal(size=(64, 64)), 1.0)
        occupied.append(joint_histogram._occupied(smooth / noise).any())
    assert np.mean(occupied) < 0.05


def test_smoothed_noise_is_as_large_as_stated(rng):
    for shape in ((4096,), (64, 64)):
        smooth, noise = joint_histogram._smoothed(3 * rng.normal(size=shape), 3.0)
        assert smooth.std() == pytest.approx(noise, rel=0.05)


def test_tails_are_kept_where_they_touch_a_peak_and_dropped_elsewhere():
    excess = np.zeros((9, 9))
    excess[1, 1:4] = 3.0, 6.0, 3.0
    excess[2, 4] = 3.0  # touches a corner
    excess[7, 5:8] = 3.0, 4.0, 3.0
    occupied = joint_histogram._occupied(excess)
    assert np.argwhere(occupied).tolist() == [[1, 1], [1, 2], [1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("n_wanted", "n_axes", "n_components", "halvings"),
    [(750, 2, 24, 5), (5000, 2, 24, 6), (1e9, 2, 24, 7), (0.1, 2, 24, 4), (0.1, 2, 300, 5), (60, 1, 500, 9)],
)
def test_cells_are_as_many_as_noise_allows(n_wanted, n_axes, n_components, halvings):
    limits = joint_histogram.HALVINGS
    assert joint_histogram.times_halved(n_wanted, n_axes, n_components, limits) == halvings
    layout = Layout((0.0,) * n_axes, (1.0,) * n_axes)
    most = joint_histogram.largest_n_cells(layout, limits[1], n_components)
    assert n_components <= 1 << halvings * n_axes <= most


def test_negative_counts_keep_a_step_unbiased(rng):
    """A step on many noisy copies of the counts is, on average, the step on the exact counts."""
    counts = np.full((8, 8), 40.0)
    exact = square_of_cells(counts)
    memberships = rng.dirichlet([1, 1], size=64)
    start = Estimates(np.ones(2) / 2, np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1)), np.ones(2, dtype=bool))
    wanted = binned_em._maximise(start, exact, memberships, 0.01)
    noisy = [
        binned_em._maximise(
            start, square_of_cells(counts + 15 * rng.normal(size=(8, 8)), 15.0), memberships, 0.01
        )
        for _ in range(3000)
    ]
    assert np.mean([step.means for step in noisy], axis=0) == pytest.approx(wanted.means, abs=0.02)
    found = np.mean([step.covariances for step in noisy], axis=0)
    assert found == pytest.approx(wanted.covariances, rel=0.03, abs=0.03)


def test_the_width_of_cells_adds_nothing_to_a_covariance(no_noise, rng):
    """A cluster no wider than a cell: its variance without Sheppard's correction would be half as large again."""
    X = np.vstack([rng.normal(size=(20_000, 2)) * 0.04, rng.uniform(-1, 1, size=(500, 2))])
    model = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    k = model.partition_.weights.argmax()
    assert np.sqrt(np.diag(model.partition_.covariances[k])) == pytest.approx([0.04, 0.04], rel=0.1)


def test_a_thin_far_background_is_in_the_tails(no_noise, rng):
    """The scattered records are of the cluster's component, too, and reach far beyond it."""
    X = np.vstack([rng.normal(size=(20_000, 2)) * 0.04, rng.uniform(-1, 1, size=(500, 2))])
    model = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    k = model.partition_.weights.argmax()
    own, stated = X[model.predict(X) == k], model.table(quantiles=[0.02]).quantiles[0.02]
    truth = np.quantile(own, 0.02, axis=0)
    assert np.all((stated.low[k] < truth) & (truth < stated.high[k]))


@pytest.mark.parametrize("neighboring", ["add-remove", "replace-one"])
def test_many_clusters_of_few_records_are_found(neighboring):
    """20 groups of 150 records at epsilon = 1: a group is no more than some 25 standard deviations of one count."""
    rng = np.random.default_rng(4)
    centres = np.stack(np.meshgrid(np.arange(5), np.arange(4)), axis=-1).reshape(-1, 2)
    labels = np.repeat(np.arange(20), 150)
    X = centres[labels] + rng.uniform(-0.15, 0.15, (20, 2))[labels] + 0.12 * rng.normal(size=(3000, 2))
    model = DPMorse(20, epsilon=1.0, bounds=(-1, 5), neighboring=neighboring, random_state=0).fit(X)
    least = 0.9 if neighboring == "add-remove" else 0.7
    assert adjusted_rand_score(labels, model.predict(X)) > least


def test_one_column_is_enough(rng):
    labels = rng.integers(0, 3, size=6000)
    X = (labels + 0.1 * rng.normal(size=6000))[:, None]
    model = DPMorse(3, epsilon=1.0, bounds=(-50, 50), random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.99


@pytest.mark.parametrize(("n", "spread"), [(20_000, (0.1, 0.05)), (5000, (0.1, 0.1))])
def test_the_noise_that_a_page_states_is_about_the_noise_that_is_drawn(n, spread, rng):
    """Two groups that stand alone, one component each: sizes in many fits."""
    labels = rng.random(n) < 0.3
    X = np.where(labels[:, None], 0.5, -0.5) + rng.normal(size=(n, 2)) * spread
    base = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-1, 1), profile=False)  # or the profile is the last
    fits = [clone(base).set_params(random_state=seed).fit(X) for seed in range(40)]
    mixtures = [fit.mixture_ for fit in fits]
    right = [int(mixture.means[:, 0].argmax()) for mixture in mixtures]
    noise = noise_of_last_release(fits[0], mixtures[0], fits[0].domain_)
    k, share = right[0], labels.mean()
    found = np.std([mixture.weights[i] for mixture, i in zip(mixtures, right, strict=True)])
    stated = np.hypot((1 - share) * noise[k], share * noise[1 - k]) / n
    assert 0.4 * stated < found < 1.6 * stated
