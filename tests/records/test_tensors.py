"""Tensors give the model of the array they hold, stay on their device, and are answered with tensors."""

import numpy as np
import pytest

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

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
devices = pytest.mark.parametrize("device", DEVICES)
KINDS = [DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, PrivateGaussianMixture, DPMorse]


@pytest.fixture
def X(rng):
    return rng.normal(size=(4000, 3)) * 0.3


def model(kind=DPMoGHard, **options):
    return kind(4, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)


@devices
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", [None, TensorEngine(), TensorEngine(chunk_rows=700)], ids=str)
def test_a_tensor_gives_the_model_of_the_array(device, kind, engine, X):
    expected = model(kind).fit(X)
    tensor = torch.from_numpy(X).to(device)
    fitted = model(kind, engine=engine).fit(tensor)
    assert fitted.mixture_ == expected.mixture_
    labels = fitted.predict(tensor)
    assert isinstance(labels, torch.Tensor)
    assert labels.device == tensor.device
    assert np.array_equal(labels.cpu().numpy(), expected.predict(X))
    assert fitted.predict_proba(tensor).cpu().numpy() == pytest.approx(expected.predict_proba(X))


@devices
@pytest.mark.parametrize("n_features", [1, 2])
def test_the_joint_histogram_of_few_columns(device, n_features, X):
    few = X[:, :n_features]
    expected = model(DPMorse).fit(few)
    assert model(DPMorse).fit(torch.from_numpy(few.copy()).to(device)).mixture_ == expected.mixture_


@devices
@pytest.mark.parametrize("radius", [None, 0.9])
def test_labels_of_a_domain_with_and_without_a_ball(device, radius, X):
    fitted = model(radius=radius).fit(X)
    clusters = MorseClustering(model(radius=radius), 2).fit(X)
    tensor = torch.from_numpy(5 * X).to(device)
    assert np.array_equal(fitted.predict(tensor).cpu().numpy(), fitted.predict(5 * X))
    assert np.array_equal(clusters.predict(tensor).cpu().numpy(), clusters.predict(5 * X))
    assert clusters.predict(tensor).dtype == torch.int8


@devices
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.int16, torch.bool])
def test_numbers_of_every_type_are_taken_exactly(device, kind, rng):
    tensor = torch.from_numpy(rng.integers(-1, 2, size=(900, 2))).to(kind).to(device)
    array = tensor.to(torch.float64).cpu().numpy()
    assert model().fit(tensor).mixture_ == model().fit(array).mixture_


@devices
def test_strides_gradients_and_groups(device, X):
    tensor = torch.from_numpy(np.asfortranarray(X)).to(device).requires_grad_()
    assert model().fit(tensor).mixture_ == model().fit(X).mixture_
    groups = np.arange(len(X)) // 3
    expected = model(max_rows_per_group=2).fit(X, groups=groups).mixture_
    assert model(max_rows_per_group=2).fit(tensor, groups=groups).mixture_ == expected


@devices
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda t: t.reshape(-1), InvalidParameterError, "two dimensions"),
        (lambda t: t[:0], InvalidParameterError, "0 sample"),
        (lambda t: torch.where(t > 1, torch.nan, t), InvalidParameterError, "NaN in the columns 0"),
        (lambda t: torch.where(t > 1, torch.inf, t), InvalidParameterError, "infinity in the columns 0"),
        (lambda t: t.to(torch.complex64), InvalidTypeError, "real numbers"),
        (lambda t: t.to_sparse(), InvalidTypeError, "dense tensor"),
    ],
)
def test_bad_tensors_are_refused(device, change, error, message, X):
    X[17, 0] = 3.0
    estimator = model()
    with pytest.raises(error, match=message):
        estimator.fit(change(torch.from_numpy(X).to(device)))
    assert not hasattr(estimator, "mixture_")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_an_engine_for_arrays_does_not_take_tensors_of_a_gpu(X):
    with pytest.raises(InvalidTypeError, match="takes arrays"):
        model(engine=InMemoryEngine()).fit(torch.from_numpy(X).cuda())


def test_other_columns_than_those_of_the_fit_are_refused(X):
    fitted = model().fit(torch.from_numpy(X))
    with pytest.raises(InvalidParameterError, match="X has 2 features"):
        fitted.predict(torch.from_numpy(X[:, :2]))
