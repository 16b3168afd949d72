"""Many columns: directions from one release, components in these alone, a density in all columns."""

import math

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dpmorse import DPMorse, GaussianMixture, PrivateGaussianMixture, load
from dpmorse.bases.estimates import Estimates
from dpmorse.bases.staged.directions import Directions, denoise
from dpmorse.bases.staged.shares import DIRECTIONS
from dpmorse.bases.staged.staged_settings import FEW_COLUMNS
from dpmorse.bases.staged.units import Units, radius_of_ball
from dpmorse.statistics import Domain

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*:dpmorse.NoisyModelWarning", "ignore:.*:dpmorse.PrivacyLeakWarning"
)


def blobs(rng, n, d, k=4, apart=2.0):
    """Clusters that differ in a few of many columns, along directions that are no columns."""
    y = rng.integers(k, size=n)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    centres = np.zeros((k, d))
    centres[:, :k] = apart * np.eye(k)
    return (centres[y] + 0.5 * rng.normal(size=(n, d))) @ turn, y


@pytest.mark.parametrize("spikes", [[], [40.0], [60.0, 25.0, 12.0]])
def test_a_spectrum_is_found_under_noise(rng, spikes):
    """A matrix with few values above a common one, and symmetric noise of a known size."""
    d, size, raw, errors = 120, 0.4, [], []
    truth = np.full(d, 3.0)
    truth[: len(spikes)] = spikes
    for _ in range(20):
        noise = np.triu(rng.normal(size=(d, d)) * size, 1)
        noise += noise.T + np.diag(size * math.sqrt(2) * rng.normal(size=d))
        values = np.linalg.eigvalsh(np.diag(truth) + noise)[::-1]
        found, n_seen = denoise(values, 2 * math.sqrt(d) * size)
        assert n_seen == len(spikes)
        assert found.sum() == pytest.approx(values.sum(), rel=0.02)
        raw.append(values - truth)
        errors.append(found - truth)
    raw, errors = (np.square(np.mean(several, axis=0)).sum() for several in (raw, errors))
    assert errors < 0.02 * raw, "nearly all that noise does to a spectrum is undone"


def test_without_noise_a_spectrum_stays(rng):
    values = np.sort(rng.uniform(1, 9, size=50))[::-1]
    found, _ = denoise(values, 0.0)
    assert found[:10] == pytest.approx(values[:10])
    assert found.sum() == pytest.approx(values.sum())


def directions(rng, d=40, q=6):
    radius = radius_of_ball(d)
    sides = radius * np.geomspace(0.1, 10, d)
    units = Units(Domain(3 - sides, 3 + sides, radius=1.0), radius, np.ones(d), 1e4)
    vectors = np.rint(np.linalg.qr(rng.normal(size=(d, d)))[0][:q] * 2**16) * 2.0**-16
    return Directions(units, vectors, np.linspace(5.0, 1.0, q), 0.5, 4)


def estimates(rng, k=3, q=6):
    factors = rng.normal(size=(k, q, q)) / 3
    covariances = factors @ factors.transpose(0, 2, 1) + 0.1 * np.eye(q)
    return Estimates(rng.dirichlet(np.full(k, 5.0)), rng.normal(size=(k, q)), covariances, np.ones(k, bool))


def test_a_lifted_mixture_labels_as_the_one_in_few_directions(rng):
    found, components = directions(rng), estimates(rng)
    lifted, labelling = found.lift(components), found.labelling(components, found.whole)
    X = found.whole.domain.clip(lifted.sample(3000, rng)[0])
    by_rule = labelling.cells.labels(labelling.domain.quantise(X))
    assert np.mean(by_rule == lifted.labels(X)) > 0.999


def test_a_lifted_mixture_has_the_density_of_a_product(rng):
    """Along the directions that of the components, in all others a normal one of the residual variance."""
    found, components = directions(rng), estimates(rng)
    lifted, units = found.lift(components), found.whole
    z, scale = rng.normal(size=(50, 40)), math.sqrt(3.0)
    y, d, q = z @ found.vectors.T / scale, 40, 6
    few = GaussianMixture(components.weights, components.means, components.covariances)
    rest = (np.square(z).sum(axis=1) - np.square(y * scale).sum(axis=1)) / found.residual
    expected = (
        few.log_density(y)
        - q * math.log(scale)
        - (rest + (d - q) * math.log(2 * math.pi * found.residual)) / 2
    )
    size = units.domain.half_width / units.radius
    found_density = lifted.log_density(units.domain.centre + z * size) + np.log(size).sum()
    assert found_density == pytest.approx(expected, abs=1e-2)


def test_units_of_directions_have_records_of_variance_one(rng):
    found = directions(rng)
    units, size = found.units(), found.whole.domain.half_width / found.whole.radius
    y = rng.normal(size=(4000, 6)) * np.sqrt(found.variances)
    X = found.whole.domain.centre + (y @ found.vectors) * size
    records = units.domain.quantise(X) * 2.0**-12 * units.radius
    assert records.var(axis=0) == pytest.approx(units.variances, rel=0.15)
    assert units.variances.mean() == pytest.approx(1.0)


def fit(X, seed=0, **options):
    parameters = {"epsilon": 1.0, "delta": 1e-5, "bounds": (-6, 6), "random_state": seed, **options}
    return DPMorse(4, **parameters).fit(X)


def test_clusters_are_found_that_noise_in_all_columns_hides(rng):
    """60 columns, 4,000 records: the components alone would need ten times as many."""
    X, y = blobs(rng, 4000, 60)
    scores = [adjusted_rand_score(y, fit(X, seed).predict(X)) for seed in range(5)]
    assert np.mean(scores) > 0.8, scores


def test_the_stage_is_made_where_it_is_needed(rng):
    few, _ = blobs(rng, 3000, FEW_COLUMNS)
    many, _ = blobs(rng, 3000, FEW_COLUMNS + 1)
    assert DIRECTIONS not in {event.step.stage for event in fit(few).privacy_.events}
    assert DIRECTIONS in {event.step.stage for event in fit(many).privacy_.events}


def test_with_enough_records_the_stage_is_left_out_and_its_share_is_not(rng):
    X, y = blobs(rng, 3000, 40)
    poor, rich = fit(X), fit(X, epsilon=500.0)
    stages = [{event.step.stage for event in model.privacy_.events} for model in (poor, rich)]
    assert (DIRECTIONS in stages[0], DIRECTIONS in stages[1]) == (True, False)
    for model in (poor, rich):
        report = model.privacy_
        assert 0.99 * report.rho <= sum(event.rho for event in report.events) <= report.rho * (1 + 1e-9)
    assert adjusted_rand_score(y, rich.predict(X)) > 0.95


@pytest.mark.parametrize("profile", [False, True])
def test_constant_columns_and_all_columns_alike(rng, profile):
    X = rng.normal(size=(2000, 40))
    X[:, 5:9] = 2.0
    lower, upper = np.full(40, -6.0), np.full(40, 6.0)
    lower[5:7] = upper[5:7] = 2.0
    model = PrivateGaussianMixture(
        3, epsilon=1.0, bounds=(lower, upper), random_state=0, profile=profile
    ).fit(X)
    assert np.isfinite(model.score(X))


def test_models_of_many_columns_are_saved_and_loaded(rng, tmp_path):
    X, _ = blobs(rng, 2000, 40)
    model = fit(X)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.mixture_ == model.mixture_


def test_a_person_with_many_rows(rng):
    X, _ = blobs(rng, 6000, 40)
    model = DPMorse(4, epsilon=4.0, bounds=(-6, 6), random_state=0, max_rows_per_group=2)
    model.fit(X, groups=np.repeat(np.arange(2000), 3))
    assert DIRECTIONS in {event.step.stage for event in model.privacy_.events}
    assert model.privacy_.epsilon <= 4.0


def test_every_storage_gives_the_same_model(rng, tmp_path):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, _ = blobs(rng, 2000, 36)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(36)])
    frame.to_parquet(tmp_path / "x.parquet", index=False)
    expected = fit(frame).mixture_
    assert fit(str(tmp_path / "x.parquet")).mixture_ == expected
    assert fit(dd.from_pandas(frame, npartitions=3)).mixture_ == expected
    assert fit(X[::-1]).mixture_ == expected
