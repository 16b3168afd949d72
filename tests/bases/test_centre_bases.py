"""DPLloyd, DPCube and DPTree: plain references, what they spend, what reaches the model, and their rules."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from audits.attacks.replayed_fits import Replay
from dpmorse import DPCube, DPLloyd, DPTree, InMemoryEngine, ModelFormatError, MorseClustering, load
from dpmorse.bases import Queries, Stage
from dpmorse.bases.centres import base
from dpmorse.bases.centres.covariances import reaches, release_covariances
from dpmorse.bases.centres.dp_tree import grow
from dpmorse.bases.centres.lloyd import affordable_n_iter, shares_of_a_round
from dpmorse.bases.centres.nodes import Nodes
from dpmorse.bases.estimates import packed_centres, project
from dpmorse.engine import Source
from dpmorse.privacy import CHOICE, GAUSSIAN, LAPLACE, Budget, Ledger, Mechanism
from dpmorse.privacy.events import Composition
from dpmorse.privacy.exact import opened
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.statistics import BinaryCodes, Domain
from plain import unit_box

KINDS = pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree])
RELATIONS = pytest.mark.parametrize("neighboring", ["add-remove", "replace-one"])


@pytest.fixture
def centres_found(monkeypatch):
    """The centres that the covariance step was given."""
    found = []

    def spy(releases, domain, centres, cost):
        found.append(centres)
        return release_covariances(releases, domain, centres, cost)

    monkeypatch.setattr(base, "release_covariances", spy)
    return found


def far_blobs(n=6000, k=5, d=3, seed=1):
    """Tight groups around packed centres."""
    rng = np.random.default_rng(seed)
    centres = packed_centres(k, d, rng)
    labels = rng.integers(0, k, n)
    return np.clip(centres[labels] + 0.03 * rng.normal(size=(n, d)), -1, 1), centres, labels


def plain_lloyd(z, centres, n_rounds):
    for _ in range(n_rounds):
        labels = cdist(z, centres).argmin(axis=1)
        means = [z[labels == k].mean(axis=0) if np.any(labels == k) else c for k, c in enumerate(centres)]
        centres = np.array(means)
    return centres


# -- noise off -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_iter", [1, 2, 5])
def test_without_noise_dplloyd_is_lloyds_iteration(n_iter, no_noise, centres_found):
    X, _, _ = far_blobs()
    model = DPLloyd(5, epsilon=8.0, bounds=(-1, 1), n_iter=n_iter, random_state=3).fit(X)
    start = packed_centres(5, 3, np.random.default_rng(np.random.SeedSequence(3).spawn(2)[0]))
    z = unit_box(3).quantise(X) / 4096
    expected = plain_lloyd(z, start, n_iter)
    assert centres_found[0] == pytest.approx(expected, abs=1e-12)
    assert model.privacy_.events[1].name == f"centres, round 1 of {n_iter}"


@KINDS
def test_without_noise_far_groups_and_their_covariances_are_found(kind, no_noise):
    X, centres, labels = far_blobs()
    model = kind(5, epsilon=8.0, bounds=(-1, 1), random_state=0, n_iter=5).fit(X)
    order = cdist(centres, model.cluster_centers_).argmin(axis=1)
    assert sorted(order) == list(range(5))
    assert adjusted_rand_score(labels, model.predict(X)) == 1.0
    for k, component in enumerate(order):
        own = X[labels == k]
        assert model.mixture_.means[component] == pytest.approx(own.mean(axis=0), abs=2e-3)
        assert model.mixture_.covariances[component] == pytest.approx(np.cov(own.T), abs=3e-4)
        assert model.mixture_.weights[component] == pytest.approx(np.mean(labels == k), abs=1e-6)


def test_residual_and_raw_sums_agree_without_noise(no_noise, centres_found):
    """Capping changes nothing where no record is farther from its centre than the next centre is."""
    X, _, _ = far_blobs()
    for capped in (False, True):
        DPTree(5, epsilon=8.0, bounds=(-1, 1), capped=capped, random_state=0).fit(X)
    assert centres_found[0] == pytest.approx(centres_found[1], abs=2e-3)


# -- what is spent -------------------------------------------------------------------------------------


@KINDS
@RELATIONS
@pytest.mark.parametrize("calibration", ["gaussian", "zcdp"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_spent_is_what_was_declared(kind, neighboring, calibration, epsilon, blobs):
    model = kind(4, epsilon=epsilon, bounds=(-1, 1), neighboring=neighboring, calibration=calibration)
    report = model.fit(blobs[0]).privacy_
    spent = report.used.epsilon(1e-6) if calibration == "gaussian" else report.used.epsilon_zcdp(1e-6)
    # what a choice costs differs between the curves, and it is charged so that it fits in both
    assert epsilon * (0.95 if kind is DPCube and calibration == "zcdp" else 1 - 1e-5) <= spent <= epsilon
    assert spent <= (report.epsilon if calibration == "gaussian" else report.epsilon_zcdp) <= epsilon
    assert report.epsilon == Composition.of(report.reserved).epsilon(1e-6)


@KINDS
@RELATIONS
def test_pure_promises_spend_pure_epsilon(kind, neighboring, blobs):
    model = kind(4, epsilon=1.0, delta=0, bounds=(-1, 1), neighboring=neighboring).fit(blobs[0])
    events = model.privacy_.events
    assert all(event.noise != GAUSSIAN for event in events)
    assert model.privacy_.used.epsilon(0) == math.fsum(event.pure_epsilon for event in events)
    assert 1 - 1e-6 <= model.privacy_.used.epsilon(0) <= 1.0
    assert 1 - 1e-6 <= model.privacy_.epsilon <= 1.0
    assert "(1, 0)-differentially private" in model.privacy_.statement
    assert any(event.noise == CHOICE for event in events) == (kind is DPCube)


@KINDS
@pytest.mark.parametrize("delta", [1e-6, 0])
def test_every_draw_costs_what_its_event_says(kind, delta, monkeypatch, blobs):
    """The noise that was drawn, set against sensitivities worked out anew; add or remove one record."""
    drawn = []
    for noise in ("gaussian", "laplace"):
        original = getattr(NativeSampler, noise)

        def spy(self, scales, noise=noise, original=original):
            drawn.append((noise, scales.copy()))
            return original(self, scales)

        monkeypatch.setattr(NativeSampler, noise, spy)
    model = kind(4, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=0).fit(blobs[0])
    events = [event for event in model.privacy_.events if event.noise != CHOICE]
    assert len(drawn) == len(events)
    for (noise, scales), event in zip(drawn, events, strict=True):
        assert noise == event.noise.name
        assert scales.size == event.n_draws
        assert scales.min() == event.smallest_scale
        cost = _cost_of(event, scales / 2.0**28, 2)
        assert cost == pytest.approx(event.rho if noise == "gaussian" else event.pure_epsilon, rel=1e-6)


def _cost_of(event, scales, d):
    """Cost of one record in a box of D columns: L1 or half squared L2 norms of what it can add."""
    laplace = event.noise == LAPLACE
    if set(event.noise_stddev) == {"count"}:
        blocks = [(1.0, scales[0])]
    elif event.name == "covariances":  # offsets in the unit ball
        k = event.n_draws // (1 + d + d * (d + 1) // 2)
        norms = (1.0, math.sqrt(d), (d + 1) / 2) if laplace else (1.0, 1.0, 1.0)
        blocks = list(zip(norms, scales[[0, k, k + k * d]], strict=True))
    else:
        k = event.n_draws // (1 + d)
        blocks = [(1.0, scales[0]), (float(d) if laplace else math.sqrt(d), scales[k])]
    if laplace:
        return sum(norm / scale for norm, scale in blocks)
    return sum((norm / scale) ** 2 for norm, scale in blocks) / 2


@KINDS
def test_a_fit_that_a_shared_ledger_cannot_pay_draws_nothing(kind, blobs):
    from dpmorse import BudgetExceededError

    ledger = Ledger(Budget(0.5))
    with pytest.raises(BudgetExceededError, match="Nothing was released"):
        kind(3, epsilon=1.0, bounds=(-1, 1), ledger=ledger).fit(blobs[0])
    assert ledger.events == ()


@KINDS
@pytest.mark.parametrize("epsilon", [1e-3, 40.0])
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.filterwarnings("ignore::dpmorse.PrivacyLeakWarning", "ignore::dpmorse.NoisyModelWarning")
def test_budgets_of_any_size_are_kept(kind, epsilon, delta, blobs):
    model = kind(3, epsilon=epsilon, delta=delta, bounds=(-1, 1), random_state=0).fit(blobs[0])
    assert 0.98 * epsilon <= model.privacy_.epsilon <= epsilon


# -- what reaches the model ----------------------------------------------------------------------------


@KINDS
def test_nothing_but_releases_reaches_the_model(kind, monkeypatch, rng):
    """With every release replaced by one that knows nothing of the records, all records give one model."""

    def made_up(self, exact, planned):
        self._record(planned.event)
        size = planned.scales.size
        values = np.random.default_rng(size).integers(1, 400, size=size)
        return values.astype(np.int64) << 28

    def first(self, exact, planned):
        self._record(planned.event)
        return opened(exact).size // 2

    monkeypatch.setattr(Mechanism, "release", made_up)
    monkeypatch.setattr(Mechanism, "choose", first)
    models = [
        kind(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X).mixture_
        for X in (rng.uniform(-1, 1, size=(50, 7)), np.full((3, 7), 0.3), -np.ones((4000, 7)))
    ]
    assert models[0] == models[1] == models[2]


@KINDS
def test_a_neighbour_moves_each_exact_vector_by_no_more_than_its_event_says(kind, monkeypatch, rng):
    """Both fits see the same releases, so that they ask the same questions of neighbouring datasets."""
    replay = Replay(monkeypatch)
    X = np.clip(rng.normal(size=(900, 6)) * 0.5, -1, 1)
    for i in range(4):
        base = kind(4, epsilon=1.0, bounds=(-1, 1), random_state=i)
        for record in (np.ones(6), -np.ones(6), rng.choice([-1.0, 1.0], size=6)):
            more = np.vstack([X, record])
            questions = dict(replay.distances(lambda: base.fit(X), lambda: base.fit(more)))  # noqa: B023
            assert all(moved <= 1 + 1e-9 for moved in questions.values()), questions
            assert questions["number of records"] > 1 - 1e-6, "counts are moved by all that is paid for"


@KINDS
def test_the_released_model_is_bit_identical_for_every_order_chunking_and_thread_count(kind, rng):
    X = np.clip(rng.normal(size=(5000, 7)) * 0.4, -1, 1)
    expected = kind(5, epsilon=1.0, bounds=(-1, 1), random_state=11).fit(X).mixture_
    for chunk_rows, n_threads in itertools.product([700, 4096], [1, 3]):
        engine = InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads)
        model = kind(5, epsilon=1.0, bounds=(-1, 1), random_state=11, engine=engine)
        assert model.fit(X[rng.permutation(len(X))]).mixture_ == expected


# -- rules ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_the_split_between_counts_and_sums_has_the_least_error(d):
    def error(share):
        return d * (d / (1 - share)) + d * 0.45**2 / share  # s1^2 = D / (2 f1), s0^2 = 1 / (2 f0), times 2

    best = minimize_scalar(error, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-10}).x
    assert shares_of_a_round(d, GAUSSIAN).count == pytest.approx(best, rel=1e-4)

    def laplace_error(share):  # one share for counts, the rest equally for each coordinate
        return d * (d / (1 - share)) ** 2 + d * 0.45**2 / share**2

    best = minimize_scalar(
        laplace_error, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-10}
    ).x
    assert shares_of_a_round(d, LAPLACE).count == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
def test_the_number_of_rounds_grows_with_budget_and_records_only(noise):
    def rounds(k=10, d=8, n=20_000.0, cost=0.02):
        return affordable_n_iter(k, d, n, cost, noise)

    costs = [rounds(cost=c) for c in np.geomspace(1e-4, 10, 30)]
    sizes = [rounds(n=n) for n in np.geomspace(10, 1e8, 30)]
    assert costs == sorted(costs)
    assert sizes == sorted(sizes)
    assert {min(costs + sizes), max(costs + sizes)} == {2, 7}
    assert [rounds(k=k, n=1e6, cost=0.1) for k in (2, 8, 32, 128)] == sorted(
        (rounds(k=k, n=1e6, cost=0.1) for k in (2, 8, 32, 128)), reverse=True
    )
    assert [rounds(d=d, n=1e6, cost=0.1) for d in (1, 4, 16, 64)] == sorted(
        (rounds(d=d, n=1e6, cost=0.1) for d in (1, 4, 16, 64)), reverse=True
    )


def test_reaches_are_distances_to_the_next_centre():
    centres = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.01], [-1.0, -1.0]])
    assert reaches(centres) == pytest.approx([0.5, 0.05, 0.05, math.sqrt(2)])
    assert reaches(centres[:1]) == pytest.approx([math.sqrt(2)])


def test_the_tree_of_dptree_is_a_tree(no_noise, rng):
    """Leaves are disjoint, hold at least the least count, and lose only records of dropped nodes."""
    domain: Domain = unit_box(4)
    X = np.clip(rng.normal(size=(3000, 4)) * 0.4, -1, 1)
    codes = BinaryCodes.rounded(domain, rng.standard_normal((9, 4)), 1.0, 1)
    queries, stage = Queries(Source(X, InMemoryEngine()), _Unpaid(), Budget(8.0)), Stage("centres", 1.0, 1)
    tallied = queries.tally(stage.step("levels"), codes)
    leaves, n_levels = grow(queries, stage, tallied, 3000.0, least=40.0, cost_of_level=1.0)
    assert np.all(leaves.ends[:-1] <= leaves.starts[1:])
    assert np.all(leaves.counts >= 40)
    assert leaves.counts.sum() <= 3000
    assert n_levels <= 9
    values = codes.codes(domain.quantise(X))
    inside = [np.sum((values >= a) & (values < b)) for a, b in zip(leaves.starts, leaves.ends, strict=True)]
    assert leaves.counts == pytest.approx(inside)
    whole, _ = grow(queries, stage, tallied, 3000.0, least=1e-9, cost_of_level=1e9)
    assert whole.counts.sum() == 3000


class _Unpaid:
    """A mechanism without noise and without a ledger."""

    def release(self, exact, planned):
        return opened(exact)


def test_nodes_keep_their_order_when_the_heaviest_are_taken():
    nodes = Nodes(np.array([3, 5, 8, 9]), np.array([1.0, 7.0, 2.0, 7.0]), 4)
    assert nodes.heaviest(2).prefixes.tolist() == [5, 9]
    assert nodes.heaviest(9).prefixes.tolist() == [3, 5, 8, 9]


# -- use -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DPCube, DPTree])
def test_blobs_are_found_at_epsilon_one(kind):
    X, _, labels = far_blobs(n=20_000, k=6, d=4, seed=2)
    model = kind(6, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95


@KINDS
def test_with_the_morse_step_and_in_a_file(kind, blobs, tmp_path):
    base = kind(8, epsilon=4.0, bounds=(-1, 1), radius=1.4, random_state=0)
    model = MorseClustering(base, n_clusters=4).fit(blobs[0])
    assert model.n_clusters_ == 4
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert type(again.base_) is kind
    assert again.privacy_ == model.privacy_
    assert np.array_equal(again.predict(blobs[0]), model.predict(blobs[0]))
    assert again.base_.get_params()["covariance_share"] == 0.6


@KINDS
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_file_whose_releases_are_not_those_of_the_method_is_refused(kind, delta, blobs, tmp_path):
    from dpmorse.persistence.model_file import _checksum

    path = tmp_path / "model.json"
    kind(3, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=0).fit(blobs[0]).save(path)
    document = json.loads(path.read_text())
    events = document["privacy"]["events"]
    events[0]["name"] = "something else"
    document["checksum"] = _checksum({key: v for key, v in document.items() if key != "checksum"})
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=r"privacy\.events are not those of a fit"):
        load(path)


def test_hundreds_of_columns(rng):
    """Two groups in 200 columns, few records: what cannot be seen of a covariance is shrunk to a sphere."""
    labels = rng.integers(0, 2, 2000)
    X = np.clip(np.where(labels, 0.4, -0.4)[:, None] + 0.3 * rng.normal(size=(2000, 200)), -1, 1)
    model = DPCube(2, epsilon=4.0, bounds=(-1, 1), random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.9


@KINDS
def test_centres_stay_in_the_domain(kind, blobs):
    model = kind(6, epsilon=0.2, bounds=(-1, 1), radius=0.9, random_state=0).fit(blobs[0])
    assert np.all(np.linalg.norm(model.cluster_centers_, axis=1) <= 0.9 * (1 + 1e-9))
    assert np.array_equal(project(model.cluster_centers_, unit_box(2, 0.9)), model.cluster_centers_)
