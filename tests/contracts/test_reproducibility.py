"""One released model: the same bits for every order, chunking, thread count, layout and container."""

import itertools

import numpy as np
import pytest

from dpmorse import DPCube, DPLloyd, DPMoG, DPMoGHard, DPTree, InMemoryEngine
from own_process import printed_by
from toy_base import GridKMeans

KINDS = pytest.mark.parametrize("kind", [DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, GridKMeans])


def fit(kind, X, **options):
    return kind(5, epsilon=1.0, bounds=(-1, 1), random_state=11, n_iter=4, **options).fit(X).mixture_


@KINDS
@pytest.mark.parametrize("radius", [None, 1.2])
def test_released_model_is_bit_identical(kind, radius, rng):
    X = rng.normal(size=(9000, 3)) * 0.4
    expected = fit(kind, X, radius=radius)
    for i, (chunk_rows, n_threads) in enumerate(itertools.product([1000, 4096, 10**6], [1, 2, 4])):
        order = np.random.default_rng(i).permutation(len(X))
        engine = InMemoryEngine(chunk_rows=chunk_rows, n_threads=n_threads)
        assert fit(kind, X[order], radius=radius, engine=engine) == expected
    assert fit(kind, np.asfortranarray(X), radius=radius) == expected


@KINDS
def test_sums_beyond_64_bits_give_the_same_model(kind, rng, monkeypatch):
    X = rng.normal(size=(3000, 3)) * 0.4
    expected = fit(kind, X)
    monkeypatch.setattr("dpmorse.statistics.moments.ROOM_BITS", 36 + 8)
    monkeypatch.setattr("dpmorse.statistics.sums.ROOM_BITS", 36)
    assert fit(kind, X) == expected


@KINDS
def test_float32_data_gives_the_model_of_its_exact_float64_values(kind, rng):
    X = (rng.normal(size=(3000, 2)) * 0.4).astype(np.float32)
    assert fit(kind, X) == fit(kind, X.astype(np.float64))


@KINDS
def test_noise_differs_between_fits_unless_seeded(kind, blobs):
    models = [kind(3, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(blobs[0]).mixture_ for _ in range(2)]
    assert models[0] != models[1]


@KINDS
@pytest.mark.parametrize(
    "make",
    [lambda: 5, lambda: np.int64(5), lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)],
)
def test_every_kind_of_random_state(kind, make, blobs):
    first, again = (
        kind(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=make()).fit(blobs[0]).mixture_
        for _ in range(2)
    )
    assert first == again


@KINDS
@pytest.mark.parametrize(
    ("scale", "shift"), [(1.0, 0.0), (1e-6, 0.0), (1e6, 5e6), (2.0**-10, 2.0**20)], ids=str
)
def test_units_do_not_matter(kind, scale, shift, blobs):
    """Rescaling data and bounds together rescales the model: the same records, in other units."""
    X = blobs[0]
    expected = fit(kind, X).affine(np.full(2, scale), np.full(2, shift))
    found = (
        kind(5, epsilon=1.0, bounds=(shift - scale, shift + scale), random_state=11, n_iter=4).fit(
            X * scale + shift
        )
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
