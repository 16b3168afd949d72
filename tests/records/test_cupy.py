"""CuPy arrays give the model of the NumPy array they hold, and are answered with CuPy arrays."""

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")

from dpmorse import (  # noqa: E402
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    MorseClustering,
    PrivateGaussianMixture,
)
from dpmorse.engine.tensors import TensorEngine  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (torch.cuda.is_available() and cupy.cuda.is_available()), reason="no GPU here"
)
KINDS = [DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, PrivateGaussianMixture, DPMorse]


@pytest.fixture
def X(rng):
    return rng.normal(size=(4000, 3)) * 0.3


def model(kind=DPMoGHard, **options):
    return kind(4, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", [None, TensorEngine(chunk_rows=700)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_gives_the_model_of_numpy(kind, engine, dtype, X):
    X = X.astype(dtype)
    expected = model(kind).fit(X)
    array = cupy.asarray(X)
    fitted = model(kind, engine=engine).fit(array)
    assert fitted.mixture_ == expected.mixture_
    assert np.array_equal(array.get(), X), "records are only read"
    labels = fitted.predict(array)
    assert isinstance(labels, cupy.ndarray)
    assert labels.dtype == np.int8
    assert labels.device == array.device
    assert np.array_equal(labels.get(), expected.predict(X))
    shares = fitted.predict_proba(array)
    assert isinstance(shares, cupy.ndarray)
    assert shares.get() == pytest.approx(expected.predict_proba(X))


def test_labels_of_clusters(X):
    clusters = MorseClustering(model(), 2).fit(cupy.asarray(X))
    labels = clusters.predict(cupy.asarray(5 * X))
    assert isinstance(labels, cupy.ndarray)
    assert np.array_equal(labels.get(), clusters.predict(5 * X))
    assert set(labels.get().tolist()) == {0, 1}


@pytest.mark.parametrize(
    "layout",
    [
        cupy.asfortranarray,
        lambda a: cupy.repeat(cupy.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
        lambda a: cupy.hstack([a, a])[:, :3],
        lambda a: a[::-1][::-1],
    ],
    ids=["columns", "strided", "wider", "twice reversed"],
)
def test_memory_layouts(layout, X):
    assert model().fit(layout(cupy.asarray(X))).mixture_ == model().fit(X).mixture_


def test_reversed_rows(X):
    assert model().fit(cupy.asarray(X)[::-1]).mixture_ == model().fit(X).mixture_


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int16", "uint16", "uint32", "int64", "bool"])
def test_numbers_of_every_type_are_taken_exactly(dtype, rng):
    X = rng.integers(0, 2, size=(900, 2)).astype(dtype)
    assert model().fit(cupy.asarray(X)).mixture_ == model().fit(X.astype(np.float64)).mixture_


def test_groups(X):
    groups = np.arange(len(X)) // 3
    expected = model(max_rows_per_group=2).fit(X, groups=groups).mixture_
    assert model(max_rows_per_group=2).fit(cupy.asarray(X), groups=groups).mixture_ == expected


def test_work_that_is_still_under_way_is_waited_for(X):
    """Libraries have streams of their own, and one must not read what the other has not yet written."""
    expected = model().fit(np.tile(X, (500, 1))).mixture_
    with cupy.cuda.Stream(non_blocking=True):
        late = cupy.zeros((500 * len(X), 3))
        for _ in range(200):
            late += 1.0
        late[...] = cupy.tile(cupy.asarray(X), (500, 1))
        assert model().fit(late).mixture_ == expected


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda a: a.reshape(-1), InvalidParameterError, "two dimensions"),
        (lambda a: a[:0], InvalidParameterError, "0 sample"),
        (lambda a: a[:, :0], InvalidParameterError, "0 feature"),
        (lambda a: cupy.where(a > 1, cupy.nan, a), InvalidParameterError, "NaN in the columns 0"),
        (lambda a: cupy.where(a > 1, cupy.inf, a), InvalidParameterError, "infinity in the columns 0"),
        (lambda a: a.astype("complex64"), InvalidTypeError, "real numbers"),
    ],
)
def test_bad_arrays_are_refused(change, error, message, X):
    X[17, 0] = 3.0
    estimator = model()
    with pytest.raises(error, match=message):
        estimator.fit(change(cupy.asarray(X)))
    assert not hasattr(estimator, "mixture_")


def test_bad_arrays_are_refused_by_predict(X):
    fitted = model().fit(X)
    with pytest.raises(InvalidParameterError, match="X has 2 features"):
        fitted.predict(cupy.asarray(X[:, :2]))
    X[5, 1] = np.nan
    with pytest.raises(InvalidParameterError, match="NaN in the columns 1"):
        fitted.predict(cupy.asarray(X))


def test_an_engine_for_arrays_of_numpy_does_not_take_them(X):
    with pytest.raises(InvalidTypeError, match=r"takes arrays.*pass X\.get\(\)"):
        model(engine=InMemoryEngine()).fit(cupy.asarray(X))


def test_sparse_matrices_are_refused(X):
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    with pytest.raises(InvalidTypeError, match="X must be an array or a data frame, got csr_matrix"):
        model().fit(sparse.csr_matrix(cupy.asarray(X)))
