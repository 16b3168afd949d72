"""bounds="private": what is found, what it costs, and that it is a release like any other."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoGHard,
    DPMorse,
    DPTree,
    InMemoryEngine,
    ModelFormatError,
    NoisyModelWarning,
    load,
)
from dpmorse.bases import BASES, Queries, Stage
from dpmorse.bases.plan import BOUNDS, SHARE_OF_BOUNDS
from dpmorse.bases.private_bounds import guarded_part, release_bounds
from dpmorse.bases.randomness import Randomness
from dpmorse.engine import Source
from dpmorse.privacy import Budget, Ledger, Mechanism, Neighboring
from dpmorse.privacy.exact import opened
from dpmorse.statistics import GroupCounts, MagnitudeHistograms
from every_base import OF_NUMBERS

KINDS = pytest.mark.parametrize("name", sorted(set(OF_NUMBERS) & set(BASES)))


def patients(n=20_000, seed=0):
    """Ages, a blood value far from zero, and a small one around zero."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    age = np.clip(rng.normal(40 + 30 * group, 6), 18, 100)
    return np.column_stack([age, rng.normal(1500 - 100 * group, 12), rng.normal(2e-3 * group, 4e-4)]), group


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.0, -(2.0**-32), 2.0**-32),
        (1e-30, -(2.0**-32), 2.0**-32),
        (1.0, 1.0, 2.0),
        (1.999, 1.0, 2.0),
        (2.0, 2.0, 4.0),
        (-3.0, -4.0, -2.0),
        (0.3, 0.25, 0.5),
        (1e300, 2.0**63, 2.0**64),
        (-(2.0**40), -(2.0**41), -(2.0**40)),
    ],
)
def test_magnitudes_are_powers_of_two(value, low, high):
    statistic = MagnitudeHistograms(1)
    position = int(statistic.bins(np.array([[value]]))[0, 0])
    assert statistic.edges[position : position + 2].tolist() == [low, high]


def test_every_value_has_a_bin_and_engines_agree(rng):
    statistic = MagnitudeHistograms(3)
    X = rng.normal(size=(5000, 3)) * 10.0 ** rng.integers(-40, 40, size=(5000, 3))
    bins = statistic.bins(X)
    expected = np.array([np.bincount(column, minlength=statistic.n_bins) for column in bins.T])
    for engine in (InMemoryEngine(), InMemoryEngine(chunk_rows=700, n_threads=3)):
        assert np.array_equal(opened(engine.count(X, statistic)), expected)
    assert statistic.counts == GroupCounts(3 * statistic.n_bins, 3)
    assert len(statistic.edges) == statistic.n_bins + 1
    assert np.all(np.diff(statistic.edges) > 0)


class Silent:
    """A mechanism without noise."""

    def release(self, exact, planned):
        return opened(exact)


def test_the_bounds_hold_the_records_and_little_more():
    X, _ = patients()
    base = DPMoGHard(epsilon=1.0, bounds="private", radius=2.0)
    plan = replace(base.plan(3), stages=(Stage(BOUNDS, 0.05, 1),))
    found = release_bounds(Queries(Source(X, InMemoryEngine()), Silent(), Budget(1.0)), plan)
    assert found.radius == 2.0
    inside = np.mean((found.lower <= X) & (found.upper >= X), axis=0)
    assert np.all(inside > 0.98)
    width = X.max(axis=0) - X.min(axis=0)
    assert np.all(found.upper - found.lower < 2 * width)


def released_bounds(X, epsilon, seed):
    """The first stage of a fit, with its noise."""
    plan = DPMoGHard(epsilon=epsilon, bounds="private").plan(X.shape[1])
    budget, randomness = plan.settings.budget, Randomness.from_parameters(seed, plan.settings.noise)
    with Mechanism.reserve([Ledger(budget)], plan.events, randomness.sampler, budget) as mechanism:
        return release_bounds(Queries(Source(X, InMemoryEngine()), mechanism, budget), plan)


def small(kind, seed, n=2000, d=5):
    """Few records of a kind."""
    rng = np.random.default_rng(seed)
    normal, group = rng.normal(size=(n, d)), rng.integers(0, 3, n)
    clusters = rng.uniform(-6, 6, (3, d))[group] + normal
    return {
        "around zero": lambda: normal,
        "clusters": lambda: clusters,
        "clusters far from zero": lambda: clusters + 10.0 ** np.arange(2, 2 + d),
        "lognormal": lambda: np.exp(normal) * 10.0 ** np.arange(-2, d - 2),
        "scales and offsets": lambda: normal * [1, 10, 1e-3, 3, 1e4] + [-100, 1500, 4e-3, 10, 0],
        "t3": lambda: 5 * rng.standard_t(3, (n, d)),
        "two far groups": lambda: normal + np.where(group[:, None] > 0, 1000.0, -1000.0),
        "constants": lambda: np.tile([0, 7, -7, 1e-9, 1e9], (n, 1)),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    [
        "around zero",
        "clusters",
        "clusters far from zero",
        "lognormal",
        "scales and offsets",
        "t3",
        "two far groups",
        "constants",
    ],
)
def test_bounds_of_few_records_do_not_cut(kind):
    """2,000 records in 5 columns at epsilon 1: the noise of a bin is 3 % of them."""
    inside = []
    for seed in range(20):
        X = small(kind, seed)
        found = released_bounds(X, 1.0, seed)
        inside.append(np.mean((found.lower <= X) & (found.upper >= X), axis=0).min())
    assert min(inside) > 0.975


def test_bounds_of_few_records_are_not_absurd():
    """Twenty times as wide as the records, in few columns of few fits: noise is taken for a tail."""
    widths = []
    for seed in range(20):
        X = small("clusters", seed)
        found = released_bounds(X, 1.0, seed)
        widths.extend((found.upper - found.lower) / np.ptp(X, axis=0))
    assert np.median(widths) < 8
    assert np.quantile(widths, 0.9) < 40
    assert max(widths) < 200


def test_bounds_are_tighter_where_records_are_many():
    X, _ = patients(100_000)
    found = released_bounds(X, 1.0, 0)
    assert np.all(found.upper - found.lower < 2 * np.ptp(X, axis=0))


def test_columns_without_bounds_are_named():
    X = np.column_stack([np.full(700, 9.0), np.random.default_rng(0).normal(size=700) * 10])
    with pytest.warns(NoisyModelWarning, match=r"nothing stands out .* in columns 1 \(counted from 0\)"):
        found = released_bounds(X, 0.5, 1)
    assert (found.lower[1], found.upper[1]) == (-1.0, 1.0)
    assert found.lower[0] <= 9.0 <= found.upper[0]


def test_columns_with_few_records_are_named():
    with pytest.warns(NoisyModelWarning, match=r"few records stand out .* in columns 0, 1 \("):
        released_bounds(np.full((800, 2), 9.0), 0.4, 1)


def test_warnings_point_at_the_caller_of_fit():
    with pytest.warns(NoisyModelWarning, match="Private bounds") as caught:
        DPMoGHard(2, epsilon=0.1, bounds="private", random_state=0).fit(np.full((3, 2), 7.0))
    assert caught[0].filename == __file__


def in_bins(values, first):
    """Counts of 64 bins, in units of their noise."""
    counts = np.zeros(64)
    counts[first : first + len(values)] = values
    return counts


def test_a_range_is_accepted_if_little_can_be_outside():
    counts = in_bins([100.0, 100, 100, 100], 30)
    lower, upper = guarded_part(counts, 5, counts.sum())
    assert (64 * lower, 64 * upper) == pytest.approx((29, 35))


def test_a_margin_doubles_until_little_is_outside():
    """28 of 428 are 6 bins away, too thin to stand out: four bins and their margin leave them out."""
    counts = in_bins([100.0, 100, 100, 100, *[0] * 6, *[4] * 7], 30)
    lower, upper = guarded_part(counts, 5, counts.sum())
    assert 64 * upper >= 47
    assert 0 < lower < 30 / 64


@pytest.mark.parametrize("elsewhere", [0.0, -5.0])
def test_a_range_is_not_accepted_where_noise_may_hide_much(elsewhere):
    """Twice the noise of 58 bins is 15, of 40 in all. Counts below 0 are no reason to trust it more."""
    counts = np.full(64, elsewhere)
    counts[30:34] = 10.0
    assert guarded_part(counts, 5, 40.0) == (0.0, 1.0)


@KINDS
@pytest.mark.parametrize("options", [{}, {"neighboring": "replace-one"}, {"max_rows_per_group": 2}])
def test_spent_is_what_was_declared(name, options):
    X, _ = patients(4000)
    groups = {"groups": np.arange(4000) // 2} if "max_rows_per_group" in options else {}
    model = BASES[name](4, epsilon=2.0, bounds="private", **options).fit(X, **groups)
    assert 2.0 * (1 - 1e-5) <= model.privacy_.epsilon <= 2.0
    names = [event.name for event in model.privacy_.events]
    assert names[:2] == ["bounds of the columns, magnitudes", "bounds of the columns, ranges"]
    costs = [event.gaussian_rho for event in model.privacy_.events]
    assert sum(costs[:2]) == pytest.approx(SHARE_OF_BOUNDS * sum(costs), rel=1e-3)


@pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree])
def test_pure_promises(kind):
    X, _ = patients(4000)
    model = kind(3, epsilon=2.0, delta=0, bounds="private").fit(X)
    assert 2.0 * (1 - 1e-6) <= model.privacy_.epsilon <= 2.0


def test_clusters_are_found_without_any_bounds():
    X, group = patients()
    model = DPMorse(2, epsilon=1.0, bounds="private", random_state=0).fit(X)
    assert adjusted_rand_score(group, model.predict(X)) > 0.9


@KINDS
def test_files_keep_the_released_bounds(name, tmp_path):
    X, _ = patients(4000)
    model = BASES[name](3, epsilon=2.0, bounds="private", random_state=0).fit(X)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.bounds == "private"
    assert np.array_equal(again.domain_.lower, model.domain_.lower)
    assert again.privacy_ == model.privacy_
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_file_without_the_releases_of_bounds_is_refused(tmp_path):
    X, _ = patients(2000)
    path = tmp_path / "model.json"
    DPMoGHard(2, epsilon=2.0, bounds=(0, 2000), n_iter=2, random_state=0).fit(X).save(path)
    from dpmorse.persistence.model_file import read_document, write_document

    document = read_document(path)
    document["parameters"]["bounds"] = "private"
    path.unlink()
    write_document(path, {key: value for key, value in document.items() if key != "checksum"})
    with pytest.raises(ModelFormatError):
        load(path)


@KINDS
def test_too_few_records_are_no_obstacle(name):
    """Nothing is seen: the bounds are -1 and 1, and the model says that it is noise."""
    with pytest.warns(NoisyModelWarning):
        model = BASES[name](2, epsilon=0.1, bounds="private", random_state=0).fit(np.full((3, 2), 7.0))
    if name != "PrivateGaussianMixture":
        assert model.domain_.lower.tolist() == [-1.0, -1.0]


def test_neighbours_move_the_histograms_by_what_is_declared(rng):
    statistic = MagnitudeHistograms(4)
    X = rng.normal(size=(30, 4)) * 10.0 ** rng.integers(-5, 5, size=(30, 4))
    others = (X[1:], np.vstack([-X[:1], X[1:]]))
    whole, *counted = (opened(InMemoryEngine().count(Y, statistic)) for Y in (X, *others))
    removed, replaced = (whole - other for other in counted)
    assert np.square(removed).sum() == statistic.counts.moved(Neighboring.ADD_REMOVE) == 4
    assert np.square(replaced).sum() == statistic.counts.moved(Neighboring.REPLACE_ONE) == 8
