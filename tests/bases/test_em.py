"""With noise off the estimators are plain EM; with noise on they follow the stated rules."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as SklearnMixture

from dpmorse import DPMoG, DPMoGHard
from dpmorse.bases.em import rounds
from dpmorse.bases.em.maximisation import Prior, maximise, relocate
from dpmorse.bases.estimates import Estimates, packed_centres
from dpmorse.privacy import Mechanism
from dpmorse.privacy.exact import opened, sealed
from dpmorse.statistics import CellMoments, Domain, GaussianCells
from dpmorse.statistics.sums import NoisyMoments
from plain import exact_moments

KINDS = pytest.mark.parametrize("kind", [DPMoGHard, DPMoG])


@pytest.fixture
def starts(monkeypatch):
    """Remember the start of each fit."""
    seen = []
    original = rounds._start

    def spy(*args):
        seen.append(original(*args))
        return seen[-1]

    monkeypatch.setattr(rounds, "_start", spy)
    return seen


@KINDS
def test_noise_off_the_released_sums_are_the_plain_integer_sums(kind, no_noise, blobs, monkeypatch):
    """Every round, the vector that would be released equals a NumPy integer reference exactly."""
    checked = []
    original = Mechanism.release

    def spy(self, exact, planned):
        checked.append(opened(exact))
        return original(self, exact, planned)

    monkeypatch.setattr(Mechanism, "release", spy)
    model = kind(5, epsilon=1.0, bounds=(-1, 1), n_iter=4, random_state=0)
    statistic = CellMoments(Domain.from_bounds((-1, 1), 2), 5, kind.weight_bits)
    rules = []
    build = GaussianCells.from_mixture

    def remember(*args):
        rules.append(build(*args))
        return rules[-1]

    monkeypatch.setattr(rounds.GaussianCells, "from_mixture", remember)
    model.fit(blobs[0])
    assert len(checked) == len(rules) == 4
    for exact, cells in zip(checked, rules, strict=True):
        assert np.array_equal(
            exact, opened(statistic.to_units(sealed(exact_moments(blobs[0], statistic, cells))))
        )


def hard_em(X, start, n_iter, reg_covar):
    """Plain hard EM in floats, from the same start."""
    weights, means, covariances = start.weights, start.means, start.covariances
    for _ in range(n_iter):
        scores = np.column_stack(
            [
                np.log(w)
                - 0.5 * np.linalg.slogdet(S)[1]
                - 0.5 * np.einsum("ni,ij,nj->n", X - m, np.linalg.inv(S), X - m)
                for w, m, S in zip(weights, means, covariances, strict=True)
            ]
        )
        labels = scores.argmax(axis=1)
        groups = [X[labels == k] for k in range(len(weights))]
        assert all(len(group) > 100 for group in groups)
        weights = np.array([len(group) for group in groups]) / len(X)
        means = np.array([group.mean(axis=0) for group in groups])
        covariances = np.array([np.cov(group.T, bias=True) for group in groups])
    return weights, means, covariances


def test_noise_off_dpmog_hard_is_hard_em(no_noise, starts, rng):
    X = rng.uniform(-1, 1, size=(6000, 2))
    model = DPMoGHard(4, epsilon=10.0, bounds=(-1, 1), n_iter=5, random_state=1).fit(X)
    weights, means, covariances = hard_em(X, starts[0], 5, 1e-6)
    assert model.mixture_.weights == pytest.approx(weights, abs=3e-3)
    assert model.mixture_.means == pytest.approx(means, abs=3e-3)
    assert model.mixture_.covariances == pytest.approx(covariances, abs=3e-3)


def test_noise_off_dpmog_is_scikit_learns_em(no_noise, starts, blobs, monkeypatch):
    """Prior off, the same start, the same number of steps: the same mixture up to the grid."""
    monkeypatch.setattr(DPMoG, "prior", None)
    X = blobs[0]
    model = DPMoG(4, epsilon=10.0, bounds=(-1, 1), n_iter=6, random_state=2).fit(X)
    start = starts[0]
    theirs = SklearnMixture(
        4,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=np.linalg.inv(start.covariances),
        max_iter=6,
        tol=0,
        reg_covar=0,
    )
    with pytest.warns(UserWarning, match="did not converge"):
        theirs.fit(X)
    assert model.mixture_.weights == pytest.approx(theirs.weights_, abs=2e-3)
    assert model.mixture_.means == pytest.approx(theirs.means_, abs=2e-3)
    assert model.mixture_.covariances == pytest.approx(theirs.covariances_, abs=2e-3)


@KINDS
def test_a_generous_budget_finds_separated_groups(kind, blobs):
    X, labels = blobs
    scores = [
        adjusted_rand_score(labels, kind(4, epsilon=10.0, bounds=(-1, 1), random_state=seed).fit_predict(X))
        for seed in range(5)
    ]
    assert np.median(scores) > 0.9


@KINDS
def test_likelihood_improves_with_the_budget(kind, blobs):
    X = blobs[0]
    scores = [
        np.mean([kind(4, epsilon=e, bounds=(-1, 1), random_state=s).fit(X).score(X) for s in range(5)])
        for e in (0.05, 0.5, 5.0)
    ]
    assert scores[0] < scores[1] < scores[2]


@KINDS
def test_sampling_is_free_and_repeatable(kind, blobs):
    model = kind(4, epsilon=2.0, bounds=(-1, 1), random_state=0).fit(blobs[0])
    X, labels = model.sample(500, random_state=3)
    again, _ = model.sample(500, random_state=3)
    assert X.shape == (500, 2)
    assert labels.max() < 4
    assert np.array_equal(X, again)
    assert not np.array_equal(X, model.sample(500)[0])
    for state in (np.random.RandomState(3), np.random.default_rng(3)):
        assert model.sample(7, random_state=state)[0].shape == (7, 2)


@KINDS
def test_points_are_seen_as_fit_sees_records(kind, rng):
    """Groups told apart by direction only: after shrinking to a small ball labels must still be right."""
    directions = rng.normal(size=(4, 12))
    directions *= 0.9 / np.linalg.norm(directions, axis=1, keepdims=True)
    labels = rng.integers(0, 4, size=8000)
    X = np.clip(
        directions[labels] * rng.uniform(0.9, 1.1, size=(8000, 1)) + 0.02 * rng.normal(size=(8000, 12)), -1, 1
    )
    model = kind(4, epsilon=5.0, bounds=(-1, 1), radius=0.3, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.9
    outside = X * 10
    assert np.array_equal(model.predict(outside), model.predict(np.clip(outside, -1, 1)))
    assert model.predict_proba(outside) == pytest.approx(model.predict_proba(np.clip(outside, -1, 1)))


@KINDS
def test_methods_agree_with_the_mixture(kind, blobs):
    X = blobs[0][:300]
    model = kind(4, epsilon=2.0, bounds=(-1, 1), random_state=0).fit(blobs[0])
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(300))
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())


def moments(counts, sums, second, noise=(1.0, 1.0)):
    stddev = noise[0], 1.0, noise[1]
    return NoisyMoments(np.array(counts, float), np.array(sums, float), np.array(second, float), *stddev)


def round_start(k, d):
    return Estimates(
        np.full(k, 1 / k),
        np.arange(k * d, dtype=float).reshape(k, d) / 10,
        np.tile(np.eye(d), (k, 1, 1)),
        np.zeros(k, bool),
    )


BOX = Domain.from_bounds((-1.0, 1.0), 2)


@pytest.mark.parametrize("count", [-50.0, 0.0, 2.9])
@pytest.mark.parametrize("prior", [None, Prior()])
def test_unsupported_cells_keep_their_parameters_and_lose_their_weight(count, prior):
    start = round_start(2, 2)
    noisy = moments([count, 1000.0], [[5.0, 5.0], [100.0, 0.0]], [np.eye(2), 300 * np.eye(2)])
    after = maximise(start, noisy, BOX, 1e-6, prior)
    assert after.supported.tolist() == [False, True]
    assert np.array_equal(after.means[0], start.means[0])
    assert np.array_equal(after.covariances[0], start.covariances[0])
    assert after.weights[0] > 0, "so that it can win records back"
    assert after.released_weights.tolist() == [0.0, 1.0]


def test_relocation_cuts_the_heaviest_component_in_half(rng):
    """The two halves have the moments of a Gaussian cut at its mean across its widest direction."""
    covariance = np.array([[0.04, 0.01], [0.01, 0.01]])
    start = Estimates(
        np.array([0.1, 0.2, 0.7]),
        np.zeros((3, 2)),
        np.stack([np.eye(2), np.eye(2), covariance]),
        np.array([False, True, True]),
    )
    after = relocate(start, moments([0.0, 200.0, 700.0], np.zeros((3, 2)), np.zeros((3, 2, 2))), BOX)
    X = rng.multivariate_normal([0, 0], covariance, size=400_000)
    widest = np.linalg.eigh(covariance)[1][:, -1]
    halves = [X[X @ widest > 0], X[X @ widest <= 0]]
    for k, half in zip((0, 2), halves, strict=True):
        assert after.means[k] == pytest.approx(half.mean(axis=0), abs=1e-3)
        assert after.covariances[k] == pytest.approx(np.cov(half.T), abs=1e-3)
    assert np.array_equal(after.means[1], start.means[1])
    assert after.weights[0] == after.weights[2]
    assert after.supported.tolist() == [False, True, True]


def test_nothing_is_relocated_onto_a_component_the_noise_might_own():
    start = round_start(2, 2)
    noisy = moments([0.0, 7.9], np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1)))
    after = maximise(start, noisy, BOX, 1e-6, None)
    assert np.array_equal(relocate(after, noisy, BOX).means, after.means)


def test_relocation_finds_groups_the_start_missed(blobs):
    """All groups in one corner of the box: without relocation most components never see a record."""
    X = blobs[0] * 0.2 - 0.7
    scores = {}
    for choice in (True, False):
        model = DPMoGHard(6, epsilon=5.0, bounds=(-1, 1), relocate=choice, random_state=0)
        scores[choice] = adjusted_rand_score(blobs[1], model.fit_predict(X))
    assert scores[True] > 0.8
    assert scores[False] < 0.5


def test_no_supported_cell_at_all():
    after = maximise(
        round_start(3, 2), moments([0.1] * 3, np.zeros((3, 2)), np.zeros((3, 2, 2))), BOX, 1e-6, None
    )
    assert after.released_weights == pytest.approx(np.full(3, 1 / 3))


def test_indefinite_covariances_are_lifted_to_the_noise_floor():
    noisy = moments([1000.0], [[0.0, 0.0]], [[[-40.0, 0.0], [0.0, 300.0]]], noise=(1.0, 20.0))
    after = maximise(round_start(1, 2), noisy, BOX, 1e-6, None)
    edge = 2 * 20.0 * np.sqrt(2)
    assert np.linalg.eigvalsh(after.covariances[0]) == pytest.approx([0.25 * edge / 1000, 0.3])


def test_reg_covar_is_the_least_floor():
    noisy = moments([1e6], [[0.0, 0.0]], [np.zeros((2, 2))])
    after = maximise(round_start(1, 2), noisy, BOX, 0.01, None)
    assert np.linalg.eigvalsh(after.covariances[0]) == pytest.approx([0.01, 0.01])


def test_eigenvalues_have_a_ceiling():
    noisy = moments([100.0], [[0.0, 0.0]], [[[900.0, 0.0], [0.0, 30.0]]])
    after = maximise(round_start(1, 2), noisy, BOX, 1e-6, None)
    assert np.linalg.eigvalsh(after.covariances[0]) == pytest.approx([0.3, 2.0])


def test_relocation_leaves_two_rounds_to_settle(blobs, monkeypatch):
    calls = []
    original = rounds.relocate

    def spy(*args):
        calls.append(1)
        return original(*args)

    monkeypatch.setattr(rounds, "relocate", spy)
    DPMoGHard(4, epsilon=5.0, bounds=(-1, 1), n_iter=6, random_state=0).fit(blobs[0])
    assert len(calls) == 4


def test_means_stay_in_the_domain():
    noisy = moments([10.0, 10.0], [[50.0, -50.0], [3.0, 4.0]], np.tile(np.eye(2), (2, 1, 1)))
    assert maximise(round_start(2, 2), noisy, BOX, 1e-6, None).means.tolist() == [[1.0, -1.0], [0.3, 0.4]]
    ball = Domain.from_bounds((-1.0, 1.0), 2, 0.25)
    means = maximise(round_start(2, 2), noisy, ball, 1e-6, None).means
    assert np.linalg.norm(means, axis=1).max() <= 0.25 * (1 + 1e-12)
    assert means[1] == pytest.approx([0.15, 0.2], rel=1e-3)


def test_prior_is_the_papers_formula():
    """mu = S1 / (n + k0); Sigma = (S0 + S2 - S1 S1'/n + k0 n / (k0 + n) xbar xbar') / (n + nu0 + D + 2)."""
    n, total, second = 50.0, np.array([10.0, -5.0]), np.array([[20.0, 1.0], [1.0, 15.0]])
    after = maximise(round_start(1, 2), moments([n], [total], [second], (0.1, 1e-6)), BOX, 1e-9, Prior())
    average = total / n
    expected = 0.1 * np.eye(2) + second - np.outer(total, total) / n
    expected += 1.01 * n / (1.01 + n) * np.outer(average, average)
    assert after.means[0] == pytest.approx(total / (n + 1.01))
    assert after.covariances[0] == pytest.approx(expected / (n + 3 + 2 + 2))


@pytest.mark.parametrize(
    ("n_centres", "n_features", "at_least"), [(10, 2, 0.2), (10, 8, 0.45), (10, 16, 0.55), (50, 3, 0.15)]
)
def test_packed_centres(n_centres, n_features, at_least):
    centres = packed_centres(n_centres, n_features, np.random.default_rng(0))
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(n_centres, 1)]
    radius = min(gaps.min() / 2, 1 - np.abs(centres).max())
    assert centres.shape == (n_centres, n_features)
    assert radius >= at_least


def test_one_packed_centre_is_in_the_middle():
    assert np.abs(packed_centres(1, 3, np.random.default_rng(0))).max() < 0.01


def test_the_start_owes_nothing_to_the_data(starts, rng):
    for X in (rng.normal(size=(100, 2)), rng.normal(size=(999, 2)) * 9):
        DPMoGHard(4, epsilon=1.0, bounds=(-1, 1), n_iter=1, random_state=5).fit(X)
    assert np.array_equal(starts[0].means, starts[1].means)


@pytest.mark.parametrize("n_averaged", [1, 2, 4])
def test_as_many_releases_are_averaged_as_were_asked_for(n_averaged, monkeypatch, blobs):
    """One release more would be less noise than the paper's where its literal form is asked for."""
    used = []
    original = NoisyMoments.average.__func__

    def spy(cls, releases):
        used.append(len(releases))
        return original(cls, releases)

    monkeypatch.setattr(NoisyMoments, "average", classmethod(spy))
    DPMoGHard(2, epsilon=4.0, bounds=(-1, 1), n_iter=6, n_averaged=n_averaged, random_state=0).fit(blobs[0])
    assert used == [1] * (6 - n_averaged) + list(range(1, n_averaged + 1))
