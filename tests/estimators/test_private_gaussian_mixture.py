"""The default base: every stage is a release, nothing else sees data, and the mixture is right."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dpmorse import (
    Budget,
    BudgetExceededError,
    InvalidParameterError,
    Ledger,
    ModelFormatError,
    PrivateGaussianMixture,
    load,
)
from dpmorse.datasets import make_blobs
from dpmorse.estimators import _components, _metric, _ranges
from dpmorse.estimators._releases import Releases
from dpmorse.estimators.private_gaussian_mixture import default_n_components, stages_of
from dpmorse.privacy import Mechanism
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
def test_every_stage_costs_what_its_event_says(neighboring, monkeypatch, blobs):
    """Costs worked out anew from the scales that were drawn: the worst record of every stage."""
    calls = []
    original = NativeSampler.gaussian

    def spy(self, scales):
        calls.append(scales.copy())
        return original(self, scales)

    monkeypatch.setattr(NativeSampler, "gaussian", spy)
    model = PrivateGaussianMixture(3, epsilon=1.0, bounds=(-1, 1), neighboring=neighboring)
    model.fit(blobs[0])
    events = model.privacy_.events
    assert len(calls) == len(events)
    assert [len(scales) for scales in calls] == [event.n_draws for event in events]
    assert model.privacy_.epsilon <= 1.0
    d, one = 2, 2.0**UNIT_BITS
    assert events[0].rho == pytest.approx(d * (one / calls[0][0]) ** 2 / 2 * _pairs(neighboring), rel=1e-9)
    if neighboring == "add-remove":
        columns = calls[1]  # count, sums, squares of the columns: a corner of the box
        assert events[1].rho == pytest.approx(sum((one / s) ** 2 for s in columns.astype(float)) / 2)
        for scales, event in zip(calls[2:5], events[2:5], strict=True):  # a residual on the sphere
            count, total, trace = scales[0], scales[-1 - len(scales) // 4], scales[-1]
            assert event.rho == pytest.approx(sum((one / float(s)) ** 2 for s in (count, total, trace)) / 2)
    shares = [sum(e.rho for e in events if e.name.startswith(s)) for s in ("range", "mom", "core", "comp")]
    assert np.array(shares) / sum(shares) == pytest.approx([0.04, 0.10, 0.34, 0.52], rel=1e-4)


def _pairs(neighboring):
    return 2 if neighboring == "replace-one" else 1


def test_nothing_but_releases_reaches_the_model(monkeypatch, rng):
    """Give two quite different tables the same released values: the models are the same, bit for bit."""

    def instead(self, exact, planned):
        replay = np.random.default_rng(planned.scales.size)
        return replay.integers(0, 5000, exact.size) << UNIT_BITS

    monkeypatch.setattr(Mechanism, "release", instead)
    models = [
        PrivateGaussianMixture(5, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
        for X in (rng.normal(size=(500, 3)), rng.uniform(-1, 1, size=(7000, 3)))
    ]
    assert models[0].mixture_ == models[1].mixture_


def test_the_order_of_rows_does_not_matter(blobs, rng):
    X = blobs[0]
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
    from dpmorse.statistics import Domain

    class Silent:
        def release(self, exact, planned):
            return exact

    X = rng.uniform([0.25, -1.0], [0.5, 1.0], size=(100_000, 2))
    releases = Releases(X, InMemoryEngine(), Silent(), Budget(1.0))
    box = _ranges.occupied_box(releases, Domain.from_bounds((-1.0, 1.0), 2), 1.0)
    assert box.lower == pytest.approx([0.0, -1.0], abs=0.04)
    assert box.upper == pytest.approx([0.75, 1.0], abs=0.07), "records may reach into one bin more"
    metric = _metric.measure(releases, Domain.from_bounds((-1.0, 1.0), 2), box, rho=1.0)
    assert metric.n_records == pytest.approx(100_000, abs=1)
    assert metric.domain.centre == pytest.approx([0.375, 0.0], abs=0.01)
    assert metric.variances.mean() == pytest.approx(1.0)
    ratio = metric.domain.half_width[1] / metric.domain.half_width[0]
    assert ratio == pytest.approx(np.sqrt(8.0), rel=0.01), (
        "half-standardised: the root of the ratio of spreads"
    )


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
def test_a_few_records_drown_in_noise_but_do_not_fail(n):
    model = PrivateGaussianMixture(6, epsilon=0.1, bounds=(-1, 1), min_components=4, random_state=0)
    assert model.fit(np.zeros((n, 3))).mixture_.n_components >= 4


def test_rounds_grow_with_the_number_of_records(no_noise):
    counts = []
    for n in (500, 200_000):
        X, _ = two_gaussians(n)
        events = PrivateGaussianMixture(4, epsilon=1.0, bounds=(-1, 1)).fit(X).privacy_.events
        counts.append(sum(event.name.startswith("components") for event in events))
    assert counts == list(_components.N_ROUNDS)


def test_a_fit_reserves_its_whole_cost_before_it_looks(blobs):
    ledger = Ledger(Budget(1.0, 1e-6))
    model = PrivateGaussianMixture(3, epsilon=0.6, bounds=(-1, 1), ledger=ledger)
    model.fit(blobs[0])
    events = len(ledger.events)
    with pytest.raises(BudgetExceededError, match="Nothing was released"):
        model.set_params(epsilon=0.9).fit(blobs[0])
    assert len(ledger.events) == events


def test_no_more_is_drawn_than_was_reserved(blobs):
    model = PrivateGaussianMixture(7, epsilon=8.0, bounds=(-1, 1)).fit(blobs[0])
    drawn = sum(event.n_draws for event in model.privacy_.events)
    assert drawn <= sum(stage.n_draws for stage in stages_of(model._plan(2).settings).values())


def test_defaults_depend_on_public_values_only():
    assert [default_n_components(d) for d in (1, 2, 3, 4, 8, 64)] == [16, 16, 16, 13, 13, 13]
    assert default_n_components(2, n_clusters=35) == 71


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

    from dpmorse.estimators._model_file import _checksum

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
    model = PrivateGaussianMixture(3, epsilon=1.0, bounds=bounds, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.7
