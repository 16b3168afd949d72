"""The default base: every stage is a release, nothing else sees data, and the mixture is right."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from dpmorse import (
    Budget,
    BudgetExceededError,
    InvalidParameterError,
    Ledger,
    ModelFormatError,
    NoisyModelWarning,
    PrivateGaussianMixture,
    load,
)
from dpmorse.bases import Queries, Stage, ranges
from dpmorse.bases.staged import components, units
from dpmorse.bases.staged.staged_settings import default_n_components
from dpmorse.datasets import make_blobs
from dpmorse.engine import Source
from dpmorse.privacy import Mechanism, Step
from dpmorse.privacy.exact import opened
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.statistics.moments import UNIT_BITS

RELATIONS = pytest.mark.parametrize("neighboring", ["add-remove", "replace-one"])


def two_gaussians(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 2)) * np.where(y[:, None], [0.05, 0.1], [0.1, 0.02])
    return X + np.where(y[:, None], [0.5, 0.3], [-0.4, 0.1]), y


def test_without_noise_two_gaussians_are_found(no_noise):
    X, y = two_gaussians()
    mixture = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X).mixture_
    light = int(mixture.weights.argmin())
    assert mixture.weights[light] == pytest.approx(y.mean(), abs=0.01)
    for k, members in ((light, X[y]), (1 - light, X[~y])):
        assert mixture.means[k] == pytest.approx(members.mean(axis=0), abs=0.005)
        deviations = np.sqrt(np.diag(mixture.covariances[k]))
        assert deviations == pytest.approx(members.std(axis=0), rel=0.12), "the ball clips the tails a little"


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_noise_does_not_change_what_is_found(epsilon):
    X, y = two_gaussians()
    model = PrivateGaussianMixture(2, epsilon=epsilon, bounds=(-1, 1), random_state=1).fit(X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.99


@pytest.mark.parametrize("factor", [3.0, 10.0, 100.0])
def test_wide_bounds_cost_little(factor):
    X, y = two_gaussians()
    model = PrivateGaussianMixture(2, epsilon=1.0, bounds=(-factor, factor), random_state=1).fit(X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.98


@RELATIONS
@pytest.mark.parametrize("profile", [True, False])
@pytest.mark.parametrize("n_features", [2, 4])
def test_every_stage_costs_what_its_event_says(n_features, profile, neighboring, monkeypatch, blobs):
    """Costs worked out anew from the scales that were drawn: the worst record of every stage."""
    calls = []
    original = NativeSampler.gaussian

    def spy(self, scales):
        calls.append(scales.copy())
        return original(self, scales)

    monkeypatch.setattr(NativeSampler, "gaussian", spy)
    model = PrivateGaussianMixture(3, epsilon=1.0, bounds=(-1, 1), neighboring=neighboring, profile=profile)
    model.fit(np.column_stack([blobs[0], blobs[0]])[:, :n_features])
    events = model.privacy_.events
    assert len(calls) == len(events)
    assert [len(scales) for scales in calls] == [event.n_draws for event in events]
    assert model.privacy_.epsilon <= 1.0
    one = 2.0**UNIT_BITS
    assert events[0].rho == pytest.approx(
        n_features * (one / calls[0][0]) ** 2 / 2 * _pairs(neighboring), rel=1e-9
    )
    if neighboring == "add-remove":
        columns = calls[1]  # count, sums, squares of the columns: a corner of the box
        assert events[1].rho == pytest.approx(sum((one / s) ** 2 for s in columns.astype(float)) / 2)
    if neighboring == "add-remove" and n_features > 2:
        for scales, event in zip(calls[2:5], events[2:5], strict=True):  # a residual on the sphere
            count, total, trace = scales[0], scales[-1 - len(scales) // 6], scales[-1]
            assert event.rho == pytest.approx(sum((one / float(s)) ** 2 for s in (count, total, trace)) / 2)
    if n_features == 2:  # a record moves one count of either histogram, or two if it is replaced
        histograms = slice(2, 4 if profile else 3)
        for scales, event in zip(calls[histograms], events[histograms], strict=True):
            assert event.rho == pytest.approx(_pairs(neighboring) * (one / scales[0]) ** 2 / 2, rel=1e-9)
        assert [event.step.stage for event in events[4:]] == (["profile"] if profile else [])
    _check_costs_of_profile(calls, events, model.mixture_.means.shape, neighboring)
    shares = [
        sum(event.rho for event in events if event.step.stage == stage.name) for stage in model.plan_.stages
    ]
    wanted = {
        (2, False): [0.04, 0.10, 0.86],
        (2, True): [0.04, 0.08, 0.06, 0.72, 0.10],
        (4, False): [0.04, 0.10, 0.34, 0.52],
        (4, True): [0.04, 0.08, 0.32, 0.46, 0.10],
    }[n_features, profile]
    assert np.array(shares) / sum(shares) == pytest.approx(wanted, rel=1e-4)


def _check_costs_of_profile(calls, events, shape, neighboring):
    """A record is in one component, and in one bin of each column."""
    n_components, n_features = shape
    one = 2.0**UNIT_BITS
    for scales, event in zip(calls, events, strict=True):
        if event.step.stage == "profile":
            rows = scales.reshape(n_components, -1).astype(float)
            assert len(np.unique(rows[:, 0])) == len(np.unique(rows[:, 1:])) == 1
            moved = (one / rows[0, 0]) ** 2 + n_features * (one / rows[0, 1]) ** 2
            assert event.rho == pytest.approx(_pairs(neighboring) * moved / 2, rel=1e-9)


def _pairs(neighboring):
    return 2 if neighboring == "replace-one" else 1


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_nothing_but_releases_reaches_the_model(n_features, monkeypatch, rng):
    """Give two quite different tables the same released values: the models are the same, bit for bit."""

    def instead(self, exact, planned):
        self._record(planned.event)
        replay = np.random.default_rng(planned.scales.size)
        return replay.integers(0, 5000, planned.scales.size) << UNIT_BITS

    monkeypatch.setattr(Mechanism, "release", instead)
    models = [
        PrivateGaussianMixture(5, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
        for X in (rng.normal(size=(500, n_features)), rng.uniform(-1, 1, size=(7000, n_features)))
    ]
    assert models[0].mixture_ == models[1].mixture_


@pytest.mark.parametrize("n_features", [2, 4])
def test_the_order_of_rows_does_not_matter(n_features, blobs, rng):
    X = np.column_stack([blobs[0], blobs[0]])[:, :n_features]
    first, second = (
        PrivateGaussianMixture(4, epsilon=1.0, bounds=(-1, 1), random_state=3).fit(rows)
        for rows in (X, X[rng.permutation(len(X))])
    )
    assert first.mixture_ == second.mixture_


def test_units_do_not_matter(blobs):
    X, scale, shift = blobs[0], np.array([2.0**20, 2.0**-10]), np.array([2.0**22, 0.0])
    plain = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-1, 1), random_state=3).fit(X)
    other = PrivateGaussianMixture(4, epsilon=1.0, bounds=(shift - scale, shift + scale), random_state=3).fit(
        X * scale + shift
    )
    assert other.mixture_.means == pytest.approx(plain.mixture_.means * scale + shift, rel=1e-6)
    assert np.array_equal(other.predict(X * scale + shift), plain.predict(X))


def test_occupied_ranges_hold_the_records(monkeypatch, rng):
    """Without noise on the counts, the box is the occupied bins and as much again on either side."""
    from dpmorse import InMemoryEngine
    from dpmorse.schema import Layout
    from dpmorse.statistics import Domain

    class Silent:
        def release(self, exact, planned):
            return opened(exact)

    X = rng.uniform([0.25, -1.0], [0.5, 1.0], size=(100_000, 2))
    queries = Queries(Source(X, InMemoryEngine()), Silent(), Budget(1.0))
    layout = Layout((-1.0, -1.0), (1.0, 1.0))
    box, outside = ranges.occupied_box(queries, layout, Step("ranges"), 1.0)
    assert box.lower == pytest.approx([0.0, -1.0], abs=0.04)
    assert box.upper == pytest.approx([0.75, 1.0], abs=0.07), "records may reach into one bin more"
    assert not outside.counts.any(), "records that are spread evenly up to a bound are not beyond it"
    metric = units.release_units(queries, Domain.from_bounds((-1.0, 1.0), 2), box, Stage("moments", 1.0, 5))
    assert metric.n_records == pytest.approx(100_000, abs=1)
    assert metric.domain.centre == pytest.approx([0.375, 0.0], abs=0.01)
    assert metric.variances.mean() == pytest.approx(1.0)
    ratio = metric.domain.half_width[1] / metric.domain.half_width[0]
    assert ratio == pytest.approx(np.sqrt(8.0), rel=0.01), (
        "half-standardised: the root of the ratio of spreads"
    )


def range_of(counts, stddev, n_columns=1, margin=0.0):
    return np.array(ranges.occupied_part(counts / stddev, n_columns, margin)) * 64


def test_few_records_are_seen_in_runs_of_bins_where_no_bin_stands_out(rng):
    """3,000 records over 50 of 64 bins, 60 in each, under noise of 25: a bin must hold 97 to be seen."""
    counts = np.zeros(64)
    counts[8:58] = 60.0
    found = np.array([range_of(counts + 25 * rng.normal(size=64), 25) for _ in range(200)])
    outside = np.maximum(found[:, 0] - 8, 0) + np.maximum(58 - found[:, 1], 0)
    assert np.quantile(outside, 0.9) < 0.15 * 50, "no more than the margin of an own width brings back"
    assert np.median(found[:, 1] - found[:, 0]) > 40


def test_noise_alone_keeps_the_bounds(rng):
    found = [range_of(25 * rng.normal(size=64), 25) for _ in range(300)]
    assert np.mean([tuple(ends) == (0, 64) for ends in found]) > 0.98


def test_a_spike_does_not_hide_the_rest_of_its_column(rng):
    """Half of 4,000 records are zeros, the others are 32 in each bin, under a noise of 100."""
    counts = np.full((40, 64), 2000 / 63)
    counts[:, 0] = 2000.0
    alone, found = [], []
    for _ in range(20):
        noisy = (counts + 100 * rng.normal(size=counts.shape)) / 100
        total = noisy.sum() / len(noisy)
        alone += [np.ptp(ranges.occupied_part(row, 40, 1.0)) for row in noisy]
        found += [np.ptp(ranges._part_with_most(row, 40, total)) for row in noisy]
    assert np.mean(np.array(alone) < 0.1) > 0.5, "or this test shows nothing"
    assert np.mean(np.array(found) > 0.5) > 0.95


def test_a_thin_tail_is_cut_but_a_small_group_is_not():
    """5 % of the records in a long tail are no range of their own; the same in one bin are."""
    counts = np.zeros(64)
    counts[2:8] = 1500.0
    tail = counts.copy()
    tail[8:58] += 10.0
    assert range_of(tail, 20).tolist() == [2, 8]
    group = counts.copy()
    group[40] = 500.0
    assert range_of(group, 20).tolist() == [2, 41]


@pytest.mark.filterwarnings("ignore::dpmorse.PrivacyLeakWarning")
def test_wider_bounds_make_the_same_units(rng):
    """The metric follows the ratios of the bounds, not their size."""
    X = rng.normal(size=(50_000, 3)) * [0.1, 0.02, 0.3]
    fits = [
        PrivateGaussianMixture(3, epsilon=50.0, delta=0.01, bounds=(-f, f), random_state=0).fit(X)
        for f in (1.0, 8.0)
    ]
    widths = [fit.domain_.half_width for fit in fits]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


@pytest.mark.parametrize("n", [5000, 30])
def test_a_constant_column_stays_constant(rng, n):
    """Also in components that the noise hides, which keep their start."""
    X = np.column_stack([rng.normal(size=n) * 0.1, np.full(n, 7.0)])
    model = PrivateGaussianMixture(
        4, epsilon=1.0, bounds=([-1, 7], [1, 7]), min_components=4, random_state=0
    ).fit(X)
    assert model.mixture_.n_components == 4
    assert np.all(model.mixture_.means[:, 1] == 7.0)


@pytest.mark.parametrize("n", [1, 20])
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_few_records_drown_in_noise_but_do_not_fail(n, n_features):
    model = PrivateGaussianMixture(6, epsilon=0.1, bounds=(-1, 1), min_components=4, random_state=0)
    with pytest.warns(NoisyModelWarning):
        model.fit(np.zeros((n, n_features)))
    assert model.mixture_.n_components >= 4


@pytest.mark.parametrize(("n_features", "n_components"), [(1, 300), (2, 700)])
def test_as_many_components_as_wanted_even_where_cells_are_few(n_features, n_components, rng):
    model = PrivateGaussianMixture(
        n_components, epsilon=1.0, bounds=(-1, 1), min_components=n_components, random_state=0
    )
    assert model.fit(rng.normal(size=(900, n_features)) * 0.2).mixture_.n_components == n_components


def test_rounds_grow_with_the_number_of_records(no_noise):
    counts = []
    for n in (500, 200_000):
        X = np.column_stack([two_gaussians(n)[0], np.linspace(-1, 1, n)])
        model = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-1, 1), min_components=4)
        events = model.fit(X).privacy_.events
        counts.append(sum(event.name.startswith("components") for event in events))
    assert counts == list(components.N_ROUNDS)


@pytest.mark.parametrize("n_features", [3, 9, 10, 64, 1000])
def test_residuals_of_gaussian_components_are_hardly_ever_shrunk(n_features):
    """Nor is the ball much larger than they need, for noise grows with its radius."""
    radius = components.radius_of_residuals(n_features)
    assert chi2.sf(radius**2, n_features) < (0.02 if n_features > 3 else 0.1)
    assert chi2.sf((radius - 2) ** 2, n_features) > 0.5


@pytest.mark.long
def test_no_more_components_than_noise_lets_one_measure(no_noise, rng):
    """Many columns, few records: as many components as were asked for at least, not as many as allowed."""
    X = rng.normal(size=(2000, 16)) * 0.2
    model = PrivateGaussianMixture(21, epsilon=1.0, bounds=(-1, 1), min_components=4, random_state=0)
    assert model.fit(X).mixture_.n_components == 4
    assert model.fit(np.tile(X, (400, 1))).mixture_.n_components == 21


def test_a_fit_reserves_its_whole_cost_before_it_looks(blobs):
    ledger = Ledger(Budget(1.0, 1e-6))
    model = PrivateGaussianMixture(3, epsilon=0.6, bounds=(-1, 1), ledger=ledger)
    model.fit(blobs[0])
    events = len(ledger.events)
    with pytest.raises(BudgetExceededError, match="Nothing was released"):
        model.set_params(epsilon=0.9).fit(blobs[0])
    assert len(ledger.events) == events


@pytest.mark.parametrize(("n_features", "n_components"), [(1, 900), (1, 3), (2, 7), (3, 7)])
def test_no_more_is_drawn_than_was_reserved(n_features, n_components, rng):
    model = PrivateGaussianMixture(n_components, epsilon=8.0, bounds=(-1, 1))
    model.fit(rng.normal(size=(60_000, n_features)) * 0.2)
    for stage in model.plan_.stages:
        events = [event for event in model.privacy_.events if event.step.stage == stage.name]
        assert 0 < sum(event.n_draws for event in events) <= stage.n_draws


def test_defaults_depend_on_public_values_only():
    assert [default_n_components(d) for d in (1, 2, 3, 4, 8, 64)] == [24, 24, 16, 13, 13, 13]
    assert default_n_components(2, n_clusters=35) == 53
    assert default_n_components(3, n_clusters=35) == 71


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be between 1 and 1000, got 0"),
        ({"min_components": 0}, "min_components must be >= 1"),
        ({"calibration": "paper"}, "calibration must be one of"),
        ({"bounds": None}, "bounds must be given"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_spent(parameters, message, blobs):
    ledger = Ledger(Budget(5.0, 1e-6))
    model = PrivateGaussianMixture(epsilon=1.0, bounds=(-1, 1), ledger=ledger).set_params(**parameters)
    with pytest.raises((InvalidParameterError, TypeError), match=message):
        model.fit(blobs[0])
    assert not ledger.events


def test_files_keep_the_released_domain(tmp_path, blobs):
    model = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-9, 9), random_state=0).fit(blobs[0])
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.mixture_ == model.mixture_
    assert loaded.domain_.radius == 1.0
    assert np.array_equal(loaded.predict(blobs[0] * 3), model.predict(blobs[0] * 3))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_file_that_claims_less_than_was_spent_is_refused(tmp_path, blobs):
    import json

    from dpmorse.persistence.model_file import _checksum

    model = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-9, 9), random_state=0).fit(blobs[0])
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    for change in (
        {"parameters": {**document["parameters"], "n_components": 2}},
        {"domain": {**document["domain"], "radius": None}},
        {"privacy": {**document["privacy"], "events": document["privacy"]["events"][:-1]}},
    ):
        changed = {k: v for k, v in {**document, **change}.items() if k != "checksum"}
        changed["checksum"] = _checksum(changed)
        (tmp_path / "edited.json").write_text(json.dumps(changed))
        with pytest.raises(ModelFormatError):
            load(tmp_path / "edited.json")


def test_many_columns_are_no_obstacle():
    X, y = make_blobs(20_000, n_features=32, n_clusters=3, random_state=2)
    bounds = (X.min(axis=0), X.max(axis=0))
    base = PrivateGaussianMixture(3, epsilon=1.0, bounds=bounds)
    fits = [clone(base).set_params(random_state=seed).fit(X) for seed in range(8)]
    assert np.mean([adjusted_rand_score(y, fit.predict(X)) for fit in fits]) > 0.65
