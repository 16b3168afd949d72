"""Every wrong input gets an error that names it, before any budget is spent."""

import math
import traceback
import warnings

import numpy as np
import pytest
import scipy.sparse

from dpmorse import (
    Budget,
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorseError,
    DPTree,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    NoisyModelWarning,
    PrivacyLeakWarning,
    load,
)
from dpmorse.privacy.sampler import NativeSampler
from toy_base import GridKMeans

KINDS = pytest.mark.parametrize("kind", [DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, GridKMeans])
GOOD = {"epsilon": 1.0, "bounds": (-1, 1)}


@pytest.fixture
def X(rng):
    return rng.uniform(-1, 1, size=(200, 3))


@pytest.fixture(autouse=True)
def no_draw_on_error(request, monkeypatch):
    """Fail any test of a refused fit in which noise was drawn all the same."""
    drawn = []
    original = NativeSampler.gaussian

    def spy(self, scales):
        drawn.append(scales.size)
        return original(self, scales)

    monkeypatch.setattr(NativeSampler, "gaussian", spy)
    yield
    if "refused" in request.node.name:
        assert drawn == []


def fit_refused(model, X, error, message):
    with pytest.raises(error, match=message):
        model.fit(X)
    assert not hasattr(model, "mixture_")
    assert not hasattr(model, "privacy_")


@KINDS
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"epsilon": None}, InvalidTypeError, "epsilon must be a number > 0, got None. A privacy budget has no default"),
        ({"epsilon": 0}, InvalidParameterError, "epsilon must be a finite number > 0, got 0"),
        ({"epsilon": -1.0}, InvalidParameterError, "epsilon must be a finite number > 0, got -1.0"),
        ({"epsilon": math.nan}, InvalidParameterError, "epsilon must be a finite number > 0, got nan"),
        ({"epsilon": math.inf}, InvalidParameterError, "epsilon must be a finite number > 0, got inf"),
        ({"epsilon": True}, InvalidTypeError, "epsilon must be a number > 0, got True"),
        ({"epsilon": "1"}, InvalidTypeError, "epsilon must be a number > 0, got '1'"),
        ({"delta": 1.0}, InvalidParameterError, "delta must lie strictly between 0 and 1, got 1.0"),
        ({"delta": None}, InvalidTypeError, "delta must be a number between 0 and 1, got None"),
        ({"n_components": 0}, InvalidParameterError, "n_components must be between 1 and 2000, got 0"),
        ({"n_components": -3}, InvalidParameterError, "n_components must be between 1 and 2000, got -3"),
        ({"n_components": 2.0}, InvalidTypeError, "n_components must be an integer >= 1, got 2.0"),
        ({"n_components": True}, InvalidTypeError, "n_components must be an integer >= 1, got True"),
        ({"n_components": 5000}, InvalidParameterError, "n_components must be between 1 and 2000, got 5000"),
        ({"n_iter": 0}, InvalidParameterError, "n_iter must be between 1 and"),
        ({"n_iter": "ten"}, InvalidTypeError, "n_iter must be an integer >= 1, got 'ten'"),
        ({"radius": -1}, InvalidParameterError, "radius must be a finite number > 0, got -1"),
        ({"bounds": None}, InvalidParameterError, "bounds must be given, got None. Give bounds="),
        ({"bounds": (0, 0)}, InvalidParameterError, "lower equals upper in every column"),
        ({"bounds": (1, -1)}, InvalidParameterError, "lower must not exceed upper, got 1 > -1 in column 0"),
        ({"bounds": ([0, 0], 1)}, InvalidParameterError, r"each of the 3 columns, got shape \(2,\)"),
        ({"bounds": (math.nan, 1)}, InvalidParameterError, "lower must be finite"),
        ({"neighboring": "swap"}, InvalidParameterError, "neighboring must be one of 'add-remove', 'replace-one'"),
        ({"noise": "numpy"}, InvalidParameterError, "noise must be one of 'native', 'opendp', got 'numpy'"),
        ({"ledger": 3.0}, InvalidTypeError, "ledger must be a Ledger or None, got 3.0"),
        ({"random_state": "seed"}, InvalidTypeError, "random_state must be None, a non-negative integer"),
        ({"engine": "fast"}, InvalidTypeError, "engine must be an Engine or None, got 'fast'"),
        ({"engine": InMemoryEngine}, InvalidTypeError, "engine must be an Engine or None"),
        ({"epsilon": 10**400}, InvalidParameterError, "epsilon must be a finite number > 0"),
        ({"epsilon": 1e-9}, InvalidParameterError, "epsilon must be at least 0.0001"),
        ({"delta": 1e-300}, InvalidParameterError, "delta must be at least 1e-100"),
        ({"bounds": ("0", "1")}, InvalidTypeError, "bounds: lower must be numbers"),
        ({"bounds": (0, 10**400)}, InvalidTypeError, "bounds: upper must be numbers"),
        ({"random_state": -1}, InvalidTypeError, "random_state must be None, a non-negative integer"),
    ],
)  # fmt: skip
def test_parameters_refused(kind, parameters, error, message, X):
    fit_refused(kind(**{"n_components": 3, **GOOD, **parameters}), X, error, message)
    assert issubclass(error, DPMorseError)
    assert issubclass(error, ValueError | TypeError)


@pytest.mark.parametrize("kind", [DPMoGHard, DPMoG])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"reg_covar": 0.0}, InvalidParameterError, "reg_covar must be a finite number > 0"),
        ({"relocate": "yes"}, InvalidTypeError, "relocate must be True or False, got 'yes'"),
        ({"calibration": "best"}, InvalidParameterError, "calibration must be one of 'gaussian', 'zcdp', 'paper'"),
        ({"shares": (0.1, 0.2, 0.7)}, InvalidTypeError, "shares must be a MomentShares or None"),
        ({"random_state": 1, "noise": "opendp"}, InvalidParameterError, "random_state must be None with noise='opendp'"),
    ],
)  # fmt: skip
def test_parameters_of_expectation_maximisation_refused(kind, parameters, error, message, X):
    fit_refused(kind(**{"n_components": 3, **GOOD, **parameters}), X, error, message)


@pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree, GridKMeans])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"capped": 1}, InvalidTypeError, "capped must be True or False, got 1"),
        ({"covariance_share": 0}, InvalidParameterError, "covariance_share must lie strictly between 0 and 1, got 0"),
        ({"covariance_share": 0.99}, InvalidParameterError, "covariance_share must be at most 0.96, got 0.99"),
        ({"covariance_share": None}, InvalidTypeError, "covariance_share must be a number between 0 and 1"),
        ({"calibration": "paper"}, InvalidParameterError, "calibration must be one of 'gaussian', 'zcdp'"),
        ({"n_iter": 0}, InvalidParameterError, "n_iter must be between 1 and 10000, got 0"),
        ({"radius": -1.0}, InvalidParameterError, "radius must be a finite number > 0"),
        ({"delta": -1e-6}, InvalidParameterError, "delta must lie strictly between 0 and 1, got -1e-06"),
        ({"delta": False}, InvalidTypeError, "delta must be a number between 0 and 1, got False"),
    ],
)  # fmt: skip
def test_parameters_of_centre_bases_refused(kind, parameters, error, message, X):
    fit_refused(kind(**{"n_components": 3, **GOOD, **parameters}), X, error, message)


def test_choices_cannot_be_drawn_by_opendp_refused(X):
    fit_refused(
        DPCube(3, **GOOD, noise="opendp"), X, InvalidParameterError, "noise must be 'native' for DPCube"
    )


@KINDS
@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (lambda X: np.where(np.arange(600).reshape(200, 3) == 7, np.nan, X), ValueError, "contains NaN"),
        (lambda X: np.where(np.arange(600).reshape(200, 3) == 7, np.inf, X), ValueError, "contains infinity"),
        (lambda X: np.where(np.arange(600).reshape(200, 3) == 7, -np.inf, X), ValueError, "contains infinity"),
        (lambda X: X[:0], ValueError, "0 sample"),
        (lambda X: X[:, :0], ValueError, "0 feature"),
        (lambda X: X[0], ValueError, "X must have two dimensions, .* got 1. Reshape your data"),
        (lambda X: X.reshape(10, 20, 3), ValueError, "X must have two dimensions, .* got 3"),
        (scipy.sparse.csr_matrix, TypeError, "[Ss]parse"),
        (lambda X: X + 1j, ValueError, "Complex data not supported"),
        (lambda X: X.astype(str), InvalidTypeError, r"X must hold numbers, got text\."),
        (lambda X: X.astype("S8"), InvalidTypeError, r"X must hold numbers, got bytes\."),
        (lambda X: np.full((5, 3), np.datetime64("2020-01-01")), InvalidTypeError, "X must hold numbers"),
        (lambda X: [["a", "b", "c"]], InvalidTypeError, "X must hold numbers"),
        (lambda X: np.full((5, 3), None), ValueError, "contains NaN"),
        (lambda X: np.array([[{}, 1, 2]], dtype=object), TypeError, "must be a string or a"),
        (lambda X: np.ma.masked_greater(X, 0.5), InvalidTypeError, "X must not be a masked array"),
        (lambda X: None, InvalidTypeError, "X must be an array or a data frame, got NoneType"),
        (lambda X: {"a": [1]}, InvalidTypeError, "X must be an array or a data frame, got dict"),
        (lambda X: Matrix(), InvalidTypeError, "X must be an array or a data frame, got Matrix"),
        (lambda X: TextMatrix(), InvalidTypeError, r"X must hold numbers, got text\."),
        (lambda X: 5.0, InvalidParameterError, "X must have two dimensions, .* got 0"),
        (lambda X: [[1, 2], [3]], InvalidParameterError, "rows have different lengths"),
        (lambda X: np.array([["x", 1, 2]], dtype=object), InvalidParameterError, "X must hold numbers; some"),
        (lambda X: np.array([[10**400, 1, 2]], dtype=object), InvalidParameterError, "X holds a number too large"),
    ],
)  # fmt: skip
def test_data_refused(kind, spoil, error, message, X):
    ledger = Ledger(Budget(5.0))
    fit_refused(kind(3, **GOOD, ledger=ledger), spoil(X), error, message)
    assert ledger.events == ()


SECRET = 0.123456789


class Matrix:
    """A matrix of a library that NumPy does not know."""

    shape, dtype = (2, 2), np.dtype(np.float64)

    def __repr__(self):
        return f"Matrix({SECRET})"


class TextMatrix:
    """A matrix whose type of values is not known before it is read."""

    shape = (2, 2)

    def __repr__(self):
        return "TextMatrix"

    def __array__(self, dtype=None, copy=None):
        return np.array([["alice-secret", "1"], ["2", "3"]])


@pytest.mark.parametrize(
    "bad",
    [
        np.full(7, SECRET),
        np.array(SECRET),
        np.full((3, 2), SECRET + 1j),
        np.array([[SECRET, "alice-secret"]], dtype=object),
        np.array([[SECRET, np.nan]]),
        np.array([[SECRET, np.inf]]),
        [[SECRET, SECRET], [SECRET]],
        [["alice-secret", "0.123456789"]],
        np.full((2, 2, 2), SECRET),
        Matrix(),
        TextMatrix(),
    ],
    ids=str,
)
def test_no_error_quotes_a_record(bad):
    with pytest.raises((ValueError, TypeError)) as raised:
        DPMoGHard(2, **GOOD).fit(bad)
    text = "".join(traceback.format_exception(raised.value))
    assert "123456" not in text
    assert "alice" not in text


@KINDS
@pytest.mark.parametrize("name", ["predict", "predict_proba", "score_samples", "score"])
def test_wrong_columns_in_predict(kind, name, X):
    model = kind(3, **GOOD, n_iter=2).fit(X)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        getattr(model, name)(X[:, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        getattr(model, name)(np.full((2, 3), np.nan))


@KINDS
@pytest.mark.parametrize("n_samples", [0, -1, 2.5, True])
def test_bad_sample_size(kind, n_samples, X):
    model = kind(3, **GOOD, n_iter=2).fit(X)
    with pytest.raises((InvalidParameterError, InvalidTypeError), match="n_samples must be"):
        model.sample(n_samples)


@KINDS
def test_unfitted(kind, X, tmp_path):
    model = kind(3, **GOOD)
    for call in (lambda: model.predict(X), lambda: model.sample(3), lambda: model.save(tmp_path / "m.json")):
        with pytest.raises(ValueError, match="not fitted yet"):
            call()
    assert list(tmp_path.iterdir()) == []


@KINDS
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((1, 3)),
        np.zeros((2, 3)),
        np.full((500, 3), 0.25),
        np.linspace(-1, 1, 300)[:, None],
        np.column_stack([np.linspace(-1, 1, 300), np.full(300, 0.5)]),
        np.full((100, 2), 1e300),
        np.array([[-1.0, 1.0], [1.0, -1.0]] * 50),
    ],
    ids=[
        "one row",
        "fewer rows than components",
        "duplicates",
        "one column",
        "constant column",
        "outside",
        "corners",
    ],
)
def test_degenerate_data_fits_without_a_branch_on_it(kind, values):
    for epsilon in (0.01, 1.0, 10.0):
        mixture = kind(5, epsilon=epsilon, bounds=(-1, 1), n_iter=3).fit(values).mixture_
        assert np.all(np.isfinite(mixture.means))
        assert np.linalg.eigvalsh(mixture.covariances).min() > 0
        assert mixture.weights.sum() == pytest.approx(1)


@KINDS
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, bool, ">f8", object]
)
def test_numbers_of_every_type_are_converted_exactly(kind, dtype, rng):
    base = rng.integers(0, 2, size=(300, 2))
    models = [
        kind(3, epsilon=1.0, bounds=(0, 1), n_iter=2, random_state=0).fit(base.astype(t)).mixture_
        for t in (dtype, float)
    ]
    assert models[0] == models[1]


@KINDS
def test_one_component(kind, X):
    mixture = kind(1, **GOOD, n_iter=2).fit(X).mixture_
    assert mixture.weights.tolist() == [1.0]


@KINDS
def test_memory_maps_and_read_only_arrays_are_read_where_they_are(kind, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    models = [
        kind(3, **GOOD, n_iter=2, random_state=0).fit(records).mixture_
        for records in (X, mapped, np.asfortranarray(mapped), mapped[::-1][::-1])
    ]
    assert all(model == models[0] for model in models)
    assert np.array_equal(np.load(tmp_path / "X.npy"), X)


@KINDS
def test_huge_integers(kind):
    X = np.array([[2**63 + 5, 1], [2**64 - 1, 0]] * 50, dtype=np.uint64)
    model = kind(2, epsilon=1.0, bounds=([0, 0], [2.0**64, 1]), n_iter=2).fit(X)
    assert np.all(np.isfinite(model.mixture_.means))


@pytest.mark.parametrize("kind", [DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree])
def test_a_failed_refit_leaves_the_fitted_model_alone(kind, X, tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    model = kind(2, **GOOD, n_iter=2).fit(frame)
    before = model.mixture_
    for bad in (
        pd.DataFrame(np.where(X > 0.9, np.nan, X), columns=["x", "y", "z"]),
        np.where(X > 0.9, np.nan, X),
        np.empty((0, 5)),
    ):
        with pytest.raises(ValueError):
            model.fit(bad)
        assert model.mixture_ is before
        assert model.n_features_in_ == 2
        assert model.feature_names_in_.tolist() == ["a", "b"]
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").predict(frame).shape == (200,)
    fresh = kind(2, **GOOD)
    with pytest.raises(ValueError):
        fresh.fit(np.full((3, 2), np.nan))
    assert not any(name.endswith("_") for name in vars(fresh))


@KINDS
@pytest.mark.parametrize("width", [1e-140, 1e-81, 1e78, 1e140])
def test_units_of_any_size(kind, width, rng):
    X = rng.uniform(-width, width, size=(300, 2))
    model = kind(2, epsilon=1.0, bounds=(-width, width), n_iter=2).fit(X)
    assert np.all(np.abs(model.mixture_.means) <= width)
    assert np.all(np.isfinite(model.score_samples(X)))


@KINDS
def test_constant_column_by_bounds(kind, rng):
    X = np.column_stack([rng.uniform(-1, 1, 300), np.full(300, 7.0)])
    model = kind(2, epsilon=5.0, bounds=([-1, 7.0], [1, 7.0]), n_iter=3, random_state=0).fit(X)
    live = model.mixture_.weights > 0
    assert model.mixture_.means[live, 1] == pytest.approx(np.full(live.sum(), 7.0), abs=0.2)


@KINDS
def test_out_of_bounds_values_are_clipped_without_a_word(kind, rng):
    """Whether a record was out of bounds is private: no warning, no error, the model of the clipped data."""
    X = rng.normal(size=(500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kind(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0).fit(X).mixture_
    assert (
        found
        == kind(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0).fit(np.clip(X, -1, 1)).mixture_
    )


def test_too_large_a_model_is_refused_up_front():
    model = DPMoGHard(2000, epsilon=1.0, bounds=(-1, 1))
    with pytest.raises(
        InvalidParameterError, match="n_components=2000 with 200 columns needs 40200000 covariance entries"
    ):
        model.fit(np.zeros((3, 200)))


def test_shares_contradict_the_papers_calibration(X):
    from dpmorse import MomentShares

    shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5)
    with pytest.raises(InvalidParameterError, match="shares cannot be set with calibration='paper'"):
        DPMoGHard(3, **GOOD, shares=shares, calibration="paper").fit(X)


def test_add_remove_never_compares_delta_with_the_number_of_records(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPMoGHard(2, epsilon=5.0, delta=0.0009, bounds=(-1, 1), n_iter=2, random_state=0).fit(
            np.vstack([X] * 10)
        )


def test_a_model_of_pure_noise_says_so(X):
    with pytest.warns(NoisyModelWarning, match="The noise supports no component"):
        DPMoGHard(10, epsilon=0.1, bounds=(-1, 1), random_state=0).fit(X[:5])


def test_warnings_point_at_the_callers_line(X):
    for settings in ({"epsilon": 20.0}, {"epsilon": 1.0, "delta": 0.0009, "neighboring": "replace-one"}):
        with pytest.warns(PrivacyLeakWarning) as caught:
            DPMoGHard(2, bounds=(-1, 1), n_iter=2, random_state=0, **settings).fit(np.vstack([X] * 10))
        assert caught[0].filename == __file__
    with pytest.warns(NoisyModelWarning) as caught:
        DPMoGHard(10, epsilon=0.1, bounds=(-1, 1), random_state=0).fit(X[:5])
    assert caught[0].filename == __file__


def test_weak_settings_warn(X):
    with pytest.warns(PrivacyLeakWarning, match="epsilon=20 is above 10"):
        DPMoGHard(2, epsilon=20.0, bounds=(-1, 1), n_iter=2).fit(X)
    with pytest.warns(PrivacyLeakWarning, match="delta=0.005 is above 0.001"):
        DPMoGHard(2, epsilon=1.0, delta=0.005, bounds=(-1, 1), n_iter=2).fit(X)
    with pytest.warns(PrivacyLeakWarning, match=r"delta=0.0009 is above 1/n = 0.0005"):
        DPMoGHard(2, epsilon=1.0, delta=0.0009, bounds=(-1, 1), n_iter=2, neighboring="replace-one").fit(
            np.vstack([X] * 10)
        )
