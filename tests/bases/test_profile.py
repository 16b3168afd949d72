"""The last stage of the default base: what is published about clusters is right, paid for, and the same everywhere."""

from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

from audits.attacks.replayed_fits import Replay
from dpmorse import (
    Budget,
    DataFiles,
    DPLloyd,
    DPMorse,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    MorseClustering,
    NoisyModelWarning,
    Numeric,
    PrivateGaussianMixture,
    load,
)
from dpmorse.bases import rehearse
from dpmorse.privacy import Composition

BOUNDS = (-20.0, 20.0)


def far_cluster(seed, n_features, part=0.1, n=20_000):
    """Three clusters near 0, and one around 10 on the first axis; all with a spread of .5."""
    rng = np.random.default_rng(seed)
    means, of = rng.uniform(-2, 2, (3, n_features)), rng.integers(3, size=n)
    X = means[of] + 0.5 * rng.normal(size=(n, n_features))
    is_far = rng.random(n) < part
    X[is_far] = 0.5 * rng.normal(size=(is_far.sum(), n_features))
    X[is_far, 0] += 10.0
    return X, is_far


def heavy_tails(n_features, n=10_000):
    """One cluster whose records reach further than any normal ones."""
    rng = np.random.default_rng(0)
    return np.clip(rng.standard_t(1.5, size=(n, n_features)), *BOUNDS)


def near_clusters(n_features, n=5000):
    rng = np.random.default_rng(0)
    return rng.choice([-0.5, 0.5], size=(n, 1)) + 0.1 * rng.normal(size=(n, n_features))


def assert_same_profile(some, other, where=""):
    assert some.mixture_ == other.mixture_, where
    assert some.partition_ == other.partition_, where
    for name, value in vars(some.profile_).items():
        if not name.startswith("_") and name in some.profile_.__dataclass_fields__:
            assert np.array_equal(value, getattr(other.profile_, name)), (where, name)


@pytest.fixture(scope="module")
def far_model():
    """A fit to named columns."""
    pd = pytest.importorskip("pandas")
    X, _ = far_cluster(0, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return DPMorse(4, epsilon=1.0, bounds=BOUNDS, rehearsals=0, random_state=0).fit(frame), X


# What is released is right


@cache
def described(n_features, seed):
    """A fit to a far cluster; the cluster that holds it, and what its records are like."""
    X, is_far = far_cluster(seed, n_features)
    model = DPMorse(4, epsilon=1.0, delta=1e-5, bounds=BOUNDS, random_state=seed).fit(X)
    labels = model.predict(X)
    return model, int(np.bincount(labels[is_far]).argmax()), X, labels, is_far


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_features", [2, 5])
def test_a_far_cluster_is_where_it_is(n_features, seed):
    """The ball of the units would move it to its surface: components are found in a larger one."""
    model, c, X, labels, is_far = described(n_features, seed)
    assert (labels[is_far] == c).mean() > 0.98
    assert is_far[labels == c].mean() > 0.98
    table, of_cluster = model.table(), model.component_labels_ == c
    assert table.median.value[c, 0] == pytest.approx(np.median(X[labels == c, 0]), abs=0.4)
    assert table.share.value[c] == pytest.approx((labels == c).mean(), abs=0.01)
    weights = model.mixture_.weights[of_cluster]
    before, after = (m.means[of_cluster, 0] for m in (model.base_.partition_, model.mixture_))
    assert np.average(before, weights=weights) == pytest.approx(10.0, abs=0.4)
    assert np.average(after, weights=weights) == pytest.approx(10.0, abs=0.4)
    points, of = model.sample(20_000, random_state=0)
    assert points[of == c, 0].mean() == pytest.approx(10.0, abs=0.5)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_features", [2, 5])
def test_a_far_cluster_is_as_wide_as_it_is(n_features, seed):
    """A ball that cuts it leaves a spread of about .1."""
    model, c, X, labels, _ = described(n_features, seed)
    table, own = model.table(), X[labels == c, 0]
    found, wide = table.q3.value[c, 0] - table.q1.value[c, 0], np.subtract(*np.quantile(own, [0.75, 0.25]))
    assert 1 / 1.6 < found / wide < 1.6


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_features", [2, 5])
def test_the_intervals_of_a_far_cluster_hold_what_it_is_like(n_features, seed):
    model, c, X, labels, _ = described(n_features, seed)
    table, members = model.table(level=0.999), X[labels == c]
    for p, stated in table.quantiles.items():
        truth = np.quantile(members, p, axis=0)
        assert np.all((stated.low[c] <= truth) & (truth <= stated.high[c]))


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_without_noise_tables_are_those_of_labelled_records(n_features, no_noise):
    X = near_clusters(n_features)
    model = DPMorse(2, epsilon=5.0, bounds=(-2, 2), random_state=0).fit(X)
    labels, table = model.predict(X), model.table()
    assert table.counts == pytest.approx(np.bincount(labels))
    for c in range(2):
        for p, found in table.quantiles.items():
            truth = np.quantile(X[labels == c], p, axis=0)
            assert found.value[c] == pytest.approx(truth, abs=0.02)
            assert np.all((found.low[c] < truth) & (truth < found.high[c]))


def test_counts_are_those_of_predict(no_noise, far_model):
    """The cell of a record is its label: nearly all of them, for grids differ."""
    _, X = far_model
    model = PrivateGaussianMixture(epsilon=1.0, bounds=BOUNDS, random_state=1).fit(X)
    found = np.bincount(model.predict(X), minlength=model.mixture_.n_components)
    assert np.abs(found - model.profile_.sizes).sum() <= 4


@pytest.mark.parametrize("part", [0.1, 0.5])
@pytest.mark.parametrize("n_features", [2, 4, 9])
def test_counts_are_those_of_predict_whatever_is_missing(n_features, part, no_noise):
    """Columns go together, so that where a missing number is taken to be matters."""
    rng = np.random.default_rng(n_features)
    y, n = rng.integers(3, size=6000), n_features
    root = np.linalg.cholesky(0.3 * np.eye(n) + 0.7)
    X = 2.5 * rng.normal(size=(3, n))[y] + rng.normal(size=(6000, n)) @ root.T
    X[rng.random(X.shape) < part] = np.nan
    columns = {f"x{j}": Numeric(-15, 15, missing="ignore") for j in range(n)}
    model = PrivateGaussianMixture(6, epsilon=1.0, columns=columns, random_state=1).fit(X)
    labels = model.predict(X)
    found = np.bincount(labels, minlength=model.mixture_.n_components)
    assert np.abs(found - model.profile_.sizes).sum() <= 4
    profile = model.profile_
    for j, column in enumerate(profile.columns):
        missing = np.bincount(labels, np.isnan(X[:, j]), minlength=len(found))
        assert np.abs(profile.entries[:, column.part.stop - 1] - missing).sum() <= 4


def test_the_table_of_every_cut_adds_up(far_model):
    model, _ = far_model
    whole = model.table(1)
    for k in range(2, model.merge_tree_.n_leaves + 1):
        table = model.table(k)
        assert len(table.counts) == k
        assert table.counts.sum() == pytest.approx(whole.counts[0])
        assert table.share.value.sum() == pytest.approx(1, abs=1e-12)
    assert np.array_equal(model.cut(3).table().counts, model.table(3).counts)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_synthetic_records_are_inside_the_bounds(n_features):
    X = np.clip(far_cluster(0, n_features, n=4000)[0], -2.5, 10.0)
    for model in (
        PrivateGaussianMixture(epsilon=1.0, bounds=(-2.5, 10.0), random_state=0).fit(X),
        DPMorse(3, epsilon=1.0, bounds=(-2.5, 10.0), random_state=0).fit(X),
    ):
        points, _ = model.sample(5000, random_state=1)
        assert points.min() >= -2.5
        assert points.max() <= 10.0


@pytest.mark.filterwarnings("ignore")
def test_codes_far_out_do_not_mislead_the_numbers_of_persons():
    """A twentieth of the values are the code 99, which noise of persons hides: means were wrong by them."""
    hits, known = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y, owners = rng.integers(2, size=6000), rng.integers(4500, size=6000)
        X = np.column_stack([rng.normal(12 + 4 * y, 2), rng.normal(30 + 20 * y, 5)])
        X[rng.random(6000) < 0.05, 0] = 99.0
        model = DPMorse(2, epsilon=1.0, bounds=(0, 120), max_rows_per_group=2, random_state=seed)
        labels = model.fit(X, groups=owners).predict(X)
        for p, found in model.table().quantiles.items():
            for c in range(2):
                truth = np.quantile(X[labels == c], p, axis=0)
                there = ~np.isnan(found.low[c])
                known += there.sum()
                hits += ((found.low[c] <= truth) & (truth <= found.high[c]))[there].sum()
    assert known > 60
    assert hits / known > 0.9


# Bounds that cut


def bounds_said(X, lower, upper, seed=0, **options):
    model = PrivateGaussianMixture(3, epsilon=1.0, bounds=(lower, upper), random_state=seed, **options).fit(X)
    return [(note.column, note.text) for note in model.cautions() if note.kind == "bounds"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_values_outside_of_bounds_are_said_whatever_side_they_are_on(seed):
    rng, n = np.random.default_rng(seed), 20_000
    columns = {
        "on both sides": (rng.normal(size=n), -1.0, 1.0, ["16%", "16%"]),
        "all above": (rng.normal(50, 1, size=n), 0.0, 1.0, ["100%"]),
        "all below": (rng.normal(-50, 1, size=n), 0.0, 1.0, ["100%"]),
        "some above": (rng.exponential(size=n), 0.0, 1.5, ["22%"]),
        "at the bounds, not beyond": (rng.integers(0, 2, size=n), 0.0, 1.0, []),
        "piled up inside": (np.clip(rng.normal(size=n), -1, 1), -1.0, 1.0, []),
        "exponential, from 0 on": (rng.exponential(size=n), 0.0, 60.0, []),
        "far from its bounds": (rng.normal(size=n), -50.0, 50.0, []),
        "constant": (np.full(n, 3.0), 3.0, 3.0, []),
    }
    values, lower, upper, expected = zip(*columns.values(), strict=True)
    said = bounds_said(np.column_stack(values), np.array(lower), np.array(upper), seed)
    for j, (name, wanted) in enumerate(zip(columns, expected, strict=True)):
        texts = [text for column, text in said if column == j]
        assert len(texts) == len(wanted), (name, texts)
        for text, part in zip(texts, wanted, strict=True):
            stated = float(text.split("about ")[1].split("%")[0])
            assert stated == pytest.approx(float(part.rstrip("%")), abs=3), (name, text)


@pytest.mark.filterwarnings("ignore")
def test_noise_alone_puts_nothing_outside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20))
    assert not [said for seed in range(25) if (said := bounds_said(X, -50.0, 50.0, seed))]


# What it costs


@pytest.mark.parametrize("neighboring", ["add-remove", "replace-one", "person"])
@pytest.mark.parametrize(
    "X",
    [far_cluster(0, 2)[0], heavy_tails(3), near_clusters(3)],
    ids=["far cluster", "heavy tails", "near clusters"],
)
def test_the_stage_costs_its_share(X, neighboring):
    rows = {"max_rows_per_group": 2} if neighboring == "person" else {"neighboring": neighboring}
    groups = np.arange(len(X)) if neighboring == "person" else None
    unit = "add-remove-group" if neighboring == "person" else neighboring
    ledger = Ledger(Budget(4.0, 1e-5, **{**rows, "neighboring": unit}))
    model = PrivateGaussianMixture(
        4, epsilon=4.0, delta=1e-5, bounds=BOUNDS, random_state=0, ledger=ledger, **rows
    )
    model.fit(X, groups=groups)
    stage = model.plan_["profile"]
    events = [event for event in model.privacy_.events if event.step.stage == "profile"]
    assert sum(event.rho for event in events) == pytest.approx(stage.cost, rel=1e-6)
    assert sum(event.rho for event in events) <= stage.cost
    assert sum(event.n_draws for event in events) <= stage.n_draws
    assert stage.cost == pytest.approx(0.10 * sum(each.cost for each in model.plan_.stages))
    assert Composition.of(model.privacy_.reserved).covers(Composition.of(ledger.events))
    assert [event.step for event in ledger.events] == [event.step for event in model.privacy_.events]
    assert set(events[0].noise_stddev) == {"count", "bin"}
    assert len(events) == 1


@pytest.mark.parametrize("n_features", [1, 2, 3, 12])
def test_without_a_profile_the_budget_goes_to_the_others(n_features):
    with_profile, without = (
        PrivateGaussianMixture(epsilon=1.0, bounds=(-1, 1), profile=profile).plan(n_features)
        for profile in (True, False)
    )
    names = [stage.name for stage in with_profile.stages if stage.name not in {"profile", "outskirts"}]
    assert [stage.name for stage in without.stages] == names
    totals = [sum(stage.cost for stage in plan.stages) for plan in (with_profile, without)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-3)


@pytest.mark.parametrize("n_features", [1, 2, 3, 8])
@pytest.mark.parametrize("profile", [True, False])
def test_a_rehearsal_notes_the_stage(n_features, profile):
    base = PrivateGaussianMixture(epsilon=1.0, bounds=(-1, 1), profile=profile)
    rehearsed, plan = rehearse(base, n_features, 50_000), base.plan(n_features)
    assert rehearsed.rho == pytest.approx(Composition.of(plan.events).rho, rel=1e-6)
    assert 0 < rehearsed.smallest_cluster < 2000


@pytest.mark.parametrize("unit", ["add-remove", "replace-one", "person"])
@pytest.mark.parametrize("n_features", [2, 6])
@pytest.mark.parametrize("reaches_far", [True, False])
def test_neighbours_answer_within_what_was_paid(reaches_far, n_features, unit, monkeypatch):
    """One record at a far corner, or nine of one person of which two count; the same answers to both fits."""
    far = far_cluster(0, 2, n=8000)[0] if n_features == 2 else heavy_tails(n_features)
    X = far if reaches_far else near_clusters(n_features)
    corner = np.where(np.arange(n_features) % 2, -20.0, 20.0)
    groups, n_more = np.arange(len(X)), {"person": 9}.get(unit, 1)
    if unit == "replace-one":
        other, of_other = np.vstack([corner, X[1:]]), groups
    else:
        other, of_other = np.vstack([X, np.tile(corner, (n_more, 1))]), np.append(groups, [10**6] * n_more)
    rows = {"max_rows_per_group": 2} if unit == "person" else {"neighboring": unit}
    fitted = []

    def fit(records, owners):
        model = PrivateGaussianMixture(4, epsilon=4.0, bounds=BOUNDS, random_state=0, **rows)
        fitted.append(model.fit(records, groups=owners if unit == "person" else None))

    found = Replay(monkeypatch).distances(lambda: fit(X, groups), lambda: fit(other, of_other))
    assert all(distance <= 1 + 1e-9 for _, distance in found), found
    moved = {name: distance for name, distance in found if name.startswith("profile")}
    assert list(moved) == ["profile"]
    assert_same_profile(*fitted)
    # A record that is replaced may stay in some of its bins.
    least = 0.5 if unit == "replace-one" else 0.98
    assert all(part > least for part in moved.values()), "one record is in a bin of every column"


def test_nothing_but_releases_reaches_the_profile(monkeypatch, rng):
    from dpmorse.privacy import Mechanism
    from dpmorse.statistics.moments import UNIT_BITS

    def instead(self, exact, planned):
        self._record(planned.event)
        replay = np.random.default_rng(planned.scales.size)
        return replay.integers(0, 5000, planned.scales.size) << UNIT_BITS

    monkeypatch.setattr(Mechanism, "release", instead)
    models = [
        PrivateGaussianMixture(5, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)
        for X in (rng.normal(size=(500, 3)), rng.uniform(-1, 1, size=(7000, 3)))
    ]
    assert_same_profile(*models)
    assert np.array_equal(models[0].sample(9, 0)[0], models[1].sample(9, 0)[0])


def test_answers_that_are_pure_noise_give_a_profile_that_says_so(rng):
    for n_features in (1, 2, 4):
        with pytest.warns(NoisyModelWarning):
            model = PrivateGaussianMixture(
                epsilon=0.05, bounds=(-1, 1), min_components=3, random_state=0
            ).fit(rng.uniform(-1, 1, size=(40, n_features)))
        table = model.table()
        assert np.isfinite([table.share.value, table.share.low, table.share.high]).all()
        assert np.isnan([table.median.value, table.median.low, table.median.high]).all()
        assert {note.kind for note in model.cautions()} <= {"budget", "size"}
        assert not table.supported.any()


# The same everywhere


class Batches:
    """Records that come in several arrays, in every pass."""

    def __init__(self, X):
        self.X = X

    def __iter__(self):
        return (self.X[start : start + 3000] for start in range(0, len(self.X), 3000))


def storages(X, folder):
    """The same records in other places, orders and containers."""
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    shuffled = frame.iloc[np.random.default_rng(1).permutation(len(frame))]
    frame.to_parquet(folder / "x.parquet", index=False)
    shuffled.to_csv(folder / "x.csv", index=False)
    yield "fortran", np.asfortranarray(X)
    yield "frame", shuffled
    yield "parquet", DataFiles(str(folder / "x.parquet"))
    yield "csv", DataFiles(str(folder / "x.csv"))
    yield "batches", Batches(X)
    yield "Dask", dd.from_pandas(shuffled, npartitions=3, sort=False)
    if find_spec("torch"):
        import torch

        yield "tensor", torch.from_numpy(X)


@pytest.mark.filterwarnings("ignore")
def test_the_same_profile_wherever_records_are(tmp_path):
    """Bit for bit."""
    X = heavy_tails(3)
    base = PrivateGaussianMixture(4, epsilon=4.0, bounds=BOUNDS, random_state=0)
    expected = base.fit(X)
    for name, records in storages(X, tmp_path):
        found = PrivateGaussianMixture(4, epsilon=4.0, bounds=BOUNDS, random_state=0).fit(records)
        assert_same_profile(found, expected, name)
    for engine in (InMemoryEngine(chunk_rows=700, n_threads=2), InMemoryEngine(n_threads=1)):
        found = PrivateGaussianMixture(4, epsilon=4.0, bounds=BOUNDS, random_state=0, engine=engine).fit(X)
        assert_same_profile(found, expected)


def test_units_do_not_matter():
    X, _ = far_cluster(0, 2, n=8000)
    scale, shift = np.array([2.0**10, 2.0**-7]), np.array([2.0**14, 0.0])
    plain = DPMorse(3, epsilon=1.0, bounds=BOUNDS, random_state=3).fit(X)
    other = DPMorse(3, epsilon=1.0, bounds=(-20 * scale + shift, 20 * scale + shift), random_state=3).fit(
        X * scale + shift
    )
    some, of_other = plain.table(), other.table()
    assert of_other.share.value == pytest.approx(some.share.value, abs=1e-3)
    for end in ("value", "low", "high"):
        for p, found in some.quantiles.items():
            expected = vars(found)[end] * scale + shift
            assert np.all(np.abs(vars(of_other.quantiles[p])[end] - expected) < 0.02 * scale), end


# Files, and what users call


def test_files_keep_all_that_is_published(far_model, tmp_path):
    model, X = far_model
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert_same_profile(loaded.base_, model.base_)
    for k in (None, 2, 5):
        assert model.summary(k, population=True).equals(loaded.summary(k, population=True))
        assert model.cautions(k) == loaded.cautions(k)
    some, other = (each.sample(500, random_state=5) for each in (model, loaded))
    assert np.array_equal(some[0], other[0])
    assert np.array_equal(some[1], other[1])
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert np.array_equal(loaded.score_samples(frame), model.score_samples(frame))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_summary_names_columns_and_is_the_table(far_model):
    model, _ = far_model
    frame, table = model.summary(level=0.9), model.table(level=0.9)
    assert list(frame["column"]) == ["a", "b", "c"] * 4
    assert frame["median_low"].to_numpy().reshape(4, 3) == pytest.approx(table.median.low)
    assert frame["share_high"].to_numpy()[::3] == pytest.approx(table.share.high)
    unnamed = DPMorse(2, epsilon=1.0, bounds=(-2, 2), rehearsals=0).fit(near_clusters(2)).summary()
    assert list(unnamed["column"]) == ["column 0", "column 1"] * 2
    more = model.summary(quantiles=[0.05, 0.9])
    names = [name for name in more.columns if not name.endswith(("_low", "_high"))]
    assert names == ["cluster", "column", "share", "p5", "q1", "median", "q3", "p90", "again", "warning"]
    assert more["median"].equals(model.summary()["median"])
    assert np.all(more["p5"] <= more["p90"])


def test_components_have_a_table_of_their_own(far_model):
    model, _ = far_model
    table = model.base_.table()
    assert len(table.counts) == model.mixture_.n_components
    with pytest.raises(InvalidParameterError, match="n_clusters must be None"):
        model.base_.table(2)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"level": 0.0}, InvalidParameterError),
        ({"level": 1.0}, InvalidParameterError),
        ({"level": "high"}, InvalidTypeError),
        ({"population": 1}, InvalidTypeError),
        ({"quantiles": 0.5}, InvalidTypeError),
        ({"quantiles": [0.5, 1.0]}, InvalidParameterError),
        ({"quantiles": ["half"]}, InvalidTypeError),
        ({"n_clusters": 0}, InvalidParameterError),
        ({"n_clusters": 1000}, InvalidParameterError),
    ],
)
def test_bad_arguments_are_refused(arguments, error, far_model):
    for method in (far_model[0].table, far_model[0].summary):
        with pytest.raises(error):
            method(**arguments)
    with pytest.raises(InvalidParameterError, match="library"):
        far_model[0].summary(library="excel")


@pytest.mark.parametrize(
    "model",
    [
        PrivateGaussianMixture(3, epsilon=1.0, bounds=(-2, 2), profile=False),
        MorseClustering(PrivateGaussianMixture(3, epsilon=1.0, bounds=(-2, 2), profile=False), 2),
        DPLloyd(3, epsilon=1.0, bounds=(-2, 2)),
    ],
    ids=["base", "Morse", "another base"],
)
def test_without_a_profile_it_is_said_what_to_do(model):
    fitted = model.fit(near_clusters(2))
    base = getattr(fitted, "base_", fitted)
    assert base.profile_ is None
    assert base.partition_ is base.mixture_
    for method in (fitted.table, fitted.summary, fitted.cautions):
        with pytest.raises(InvalidTypeError, match="Fit DPMorse or PrivateGaussianMixture with profile=True"):
            method()
    assert len(fitted.sample(10, random_state=0)[0]) == 10


def test_private_bounds_are_those_of_the_profile():
    X = near_clusters(3, n=20_000)
    model = DPMorse(2, epsilon=2.0, bounds="private", random_state=0).fit(X)
    profile = model.base_.profile_
    assert np.all((profile.lower <= X.min(axis=0)) & (X.max(axis=0) <= profile.upper))
    points, _ = model.sample(1000, random_state=0)
    assert np.all((points >= profile.lower) & (points <= profile.upper))


def test_a_component_that_was_kept_without_weight_has_a_profile(rng):
    model = PrivateGaussianMixture(5, epsilon=1.0, bounds=(-1, 1), min_components=5, random_state=0)
    model.fit(0.05 * rng.normal(size=(3000, 3)))
    assert model.mixture_.n_components == 5
    assert model.table().share.value.sum() == pytest.approx(1)
