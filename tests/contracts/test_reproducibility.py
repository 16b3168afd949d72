"""One released model: the same bits for every order, chunking, thread count, layout and container."""

import itertools

import numpy as np
import pytest

from dpmorse import InMemoryEngine
from every_base import WAYS, every_way
from own_process import printed_by

WITH_RADIUS = {name: way for name, way in WAYS.items() if "radius" in way.kind.settings_type.table()}
every_way_with_a_radius = pytest.mark.parametrize("way", WITH_RADIUS.values(), ids=WITH_RADIUS)

NUMERIC = {name: way for name, way in WAYS.items() if name != "categories"}
"""Those whose tables hold nothing but numbers."""


def fit(way, X, **options):
    """Return the mixture of numbers, as the base has them in its table."""
    return way.short(5, n_features=X.shape[1], random_state=11, **options).fit(way.table(X)).mixture_


@pytest.mark.parametrize(
    ("way", "radius"),
    [*((way, {}) for way in WAYS.values()), *((way, {"radius": 1.2}) for way in WITH_RADIUS.values())],
    ids=[*WAYS, *(f"{name}, radius" for name in WITH_RADIUS)],
)
def test_released_model_is_bit_identical(way, radius, rng):
    X = rng.normal(size=(9000, 3)) * 0.4
    expected = fit(way, X, **radius)
    for i, (chunk_rows, n_threads) in enumerate(itertools.product([1000, 4096, 10**6], [1, 2, 4])):
        order = np.random.default_rng(i).permutation(len(X))
        engine = InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads)
        assert fit(way, X[order], engine=engine, **radius) == expected
    assert fit(way, np.asfortranarray(X), **radius) == expected


@every_way
def test_sums_beyond_64_bits_give_the_same_model(way, rng, monkeypatch):
    X = rng.normal(size=(3000, 3)) * 0.4
    expected = fit(way, X)
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", 36 + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", 36)
    assert fit(way, X) == expected


@pytest.mark.parametrize("way", NUMERIC.values(), ids=NUMERIC)
def test_float32_data_gives_the_model_of_its_exact_float64_values(way, rng):
    X = (rng.normal(size=(3000, 2)) * 0.4).astype(np.float32)
    table = way.table(X)
    fits = [
        way.short(5, random_state=11).fit(table.astype(kind)).mixture_ for kind in (np.float32, np.float64)
    ]
    assert fits[0] == fits[1]


@every_way
def test_noise_differs_between_fits_unless_seeded(way, blobs):
    models = [way.short(3).fit(way.table(blobs[0])).mixture_ for _ in range(2)]
    assert models[0] != models[1]


@every_way
@pytest.mark.parametrize(
    "make",
    [lambda: 5, lambda: np.int64(5), lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)],
)
def test_every_kind_of_random_state(way, make, blobs):
    X = way.table(blobs[0])
    first, again = (way.short(3, random_state=make()).fit(X).mixture_ for _ in range(2))
    assert first == again


@every_way_with_a_radius
@pytest.mark.parametrize(
    ("scale", "shift"), [(1.0, 0.0), (1e-6, 0.0), (1e6, 5e6), (2.0**-10, 2.0**20)], ids=str
)
def test_units_do_not_matter(way, scale, shift, blobs):
    """Rescaling data and bounds together rescales the model: the same records, in other units."""
    X = blobs[0]
    expected = fit(way, X).affine(np.full(2, scale), np.full(2, shift))
    found = (
        way.short(5, bounds=(shift - scale, shift + scale), random_state=11).fit(X * scale + shift)
    ).mixture_
    assert found.weights == pytest.approx(expected.weights, abs=2e-3)
    assert found.means == pytest.approx(expected.means, rel=1e-3, abs=2e-3 * scale)


DIGESTS = """
    import hashlib, os, sys
    if sys.argv[1] == "1" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import numpy as np
    from dpmorse import (
        DPCube, DPLloyd, DPMoG, DPMoGHard, DPMorse, DPTree, MorseClustering, PrivateGaussianMixture
    )

    rng = np.random.default_rng(0)
    X = rng.uniform(-0.7, 0.7, (8, 6))[rng.integers(0, 8, 8000)] + 0.1 * rng.normal(size=(8000, 6))
    kinds = (DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, PrivateGaussianMixture, DPMorse, "clusters")
    for kind, records in [*((kind, X) for kind in kinds), (DPMorse, X[:, :2])]:
        options = {"epsilon": 2.0, "bounds": (-1, 1), "random_state": 5}
        model = MorseClustering(DPMoGHard(8, **options)) if kind == "clusters" else kind(8, **options)
        mixture = model.fit(records).mixture_
        values = [mixture.weights, mixture.means, mixture.covariances, model.predict(records)]
        if hasattr(model, "merge_tree_"):
            values += [model.merge_tree_.saddles, model.merge_tree_.linkage_matrix()]
        print(kind, hashlib.sha256(b"".join(map(np.ndarray.tobytes, values))).hexdigest())
"""


def digests(n_threads):
    """Fit every kind in a process of its own, on one core or on all, with this many threads of libraries."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(n_threads))
    return printed_by(DIGESTS, str(n_threads), **threads).splitlines()


@pytest.mark.long
def test_one_model_for_any_number_of_cores():
    """Libraries below share sums among threads, each number of which adds up in another order."""
    one = digests(1)
    assert len(one) == 9
    assert digests(7) == one
