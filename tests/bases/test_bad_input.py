"""Every wrong input gets an error that names it, before any budget is spent."""

import math
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dpmorse import (
    Budget,
    DPCube,
    DPLloyd,
    DPMoGHard,
    DPMorseError,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    NoisyModelWarning,
    PrivacyLeakWarning,
    load,
)
from dpmorse.privacy.sampler import NativeSampler
from every_base import OF_NUMBERS, WAYS, every_way, every_way_of_numbers

EITHER_READING = pytest.mark.parametrize(
    "way", [WAYS["DPMoGHard"], WAYS["described numbers"]], ids=["bounds", "columns"]
)
"""How records are read depends on whether columns are described, and on nothing else of a base."""

IN_THE_BOX = {name: way for name, way in OF_NUMBERS.items() if name != "PrivateGaussianMixture"}
"""Bases that clip records to the bounds; the default one shrinks them to a ball that it releases."""

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


@every_way
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"ledger": 3.0}, InvalidTypeError, "ledger must be a Ledger or None, got 3.0"),
        ({"random_state": "seed"}, InvalidTypeError, "random_state must be None, a non-negative integer"),
        ({"random_state": -1}, InvalidTypeError, "random_state must be None, a non-negative integer"),
        ({"engine": "fast"}, InvalidTypeError, "engine must be an Engine or None, got 'fast'"),
        ({"engine": InMemoryEngine}, InvalidTypeError, "engine must be an Engine or None"),
    ],
)  # fmt: skip
def test_parameters_in_no_table_refused(way, parameters, error, message, X):
    fit_refused(way.make(3, n_features=3, **parameters), way.table(X), error, message)


# Every base refuses every value that its table lists (test_parameters); here is what is said of them.


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
        ({"bounds": (1, -1)}, InvalidParameterError, r"lower must not exceed upper, got 1 > -1\. Give"),
        ({"bounds": ([0, 0], 1)}, InvalidParameterError, r"each of the 3 columns, got shape \(2,\)"),
        ({"bounds": (math.nan, 1)}, InvalidParameterError, "lower must be finite"),
        ({"neighboring": "swap"}, InvalidParameterError, "neighboring must be one of 'add-remove', 'replace-one'"),
        ({"noise": "numpy"}, InvalidParameterError, "noise must be one of 'native', 'opendp', got 'numpy'"),
        ({"epsilon": 10**400}, InvalidParameterError, "epsilon must be a finite number > 0"),
        ({"epsilon": 1e-9}, InvalidParameterError, "epsilon must be at least 0.0001"),
        ({"delta": 1e-300}, InvalidParameterError, "delta must be at least 1e-100"),
        ({"bounds": ("0", "1")}, InvalidTypeError, "bounds: lower must be numbers"),
        ({"bounds": (0, 10**400)}, InvalidTypeError, "bounds: upper must be numbers"),
        ({"reg_covar": 0.0}, InvalidParameterError, "reg_covar must be a finite number > 0"),
        ({"relocate": "yes"}, InvalidTypeError, "relocate must be True or False, got 'yes'"),
        ({"calibration": "best"}, InvalidParameterError, "calibration must be one of 'gaussian', 'zcdp', 'paper'"),
        ({"shares": (0.1, 0.2, 0.7)}, InvalidTypeError, "shares must be a MomentShares or None"),
        ({"random_state": 1, "noise": "opendp"}, InvalidParameterError, "random_state must be None with noise='opendp'"),
    ],
)  # fmt: skip
def test_parameters_refused(parameters, error, message, X):
    fit_refused(DPMoGHard(**{"n_components": 3, **GOOD, **parameters}), X, error, message)
    assert issubclass(error, DPMorseError)
    assert issubclass(error, ValueError | TypeError)


@pytest.mark.parametrize("named", [True, False])
def test_bounds_the_wrong_way_round_refused(named, X):
    """By the name of the column, or its place where columns have none."""
    bounds, called = ([0, 3, 0], [1, 2, 1]), "the column 'b'" if named else "column 1"
    table = pd.DataFrame(X, columns=list("abc")) if named else X
    fit_refused(
        DPMoGHard(2, **{**GOOD, "bounds": bounds}), table, InvalidParameterError, f"3 > 2 in {called}"
    )
    narrow = ([0, 1, 0], [1, 1 + 1e-14, 1])
    fit_refused(
        DPMoGHard(2, **{**GOOD, "bounds": narrow}), table, InvalidParameterError, f"{called} is .* wide"
    )


def test_bounds_of_a_name_that_is_misspelt_refused(X):
    bounds = {"a": (0, 1), "bb": (0, 1), "c": (0, 1)}
    table = pd.DataFrame(X, columns=["a", "bbb", "c"])
    fit_refused(DPMoGHard(2, **{**GOOD, "bounds": bounds}), table, InvalidParameterError, "mean 'bbb'")


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
def test_parameters_of_centre_bases_refused(parameters, error, message, X):
    fit_refused(DPLloyd(**{"n_components": 3, **GOOD, **parameters}), X, error, message)


def test_choices_cannot_be_drawn_by_opendp_refused(X):
    fit_refused(
        DPCube(3, **GOOD, noise="opendp"), X, InvalidParameterError, "noise must be 'native' for DPCube"
    )


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
def test_data_refused(spoil, error, message, X):
    ledger = Ledger(Budget(5.0))
    fit_refused(DPMoGHard(3, **GOOD, ledger=ledger), spoil(X), error, message)
    assert ledger.events == ()


@every_way
@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X[:0],
        lambda X: X[:, :0],
        lambda X: X[:, :2],
        lambda X: X[:, 0],
        lambda X: X.reshape(10, 20, -1),
        lambda X: [[1, 2], [3]],
        lambda X: None,
        lambda X: {"x0": [1]},
        lambda X: 5.0,
        lambda X: scipy.sparse.csr_matrix(np.eye(3)),
    ],
    ids=[
        "no rows",
        "no columns",
        "others",
        "one dimension",
        "three dimensions",
        "ragged",
        "None",
        "a dict",
        "a number",
        "sparse",
    ],
)
def test_data_refused_by_every_base(way, spoil, X):
    """Bounds for each of the columns tell a base without described columns that some are not there."""
    ledger = Ledger(Budget(5.0))
    listed = {"bounds": (-np.ones(3), np.ones(3))} if "bounds" in way.described(3, 1.0) else {}
    model = way.make(3, n_features=3, ledger=ledger, **listed)
    fit_refused(model, spoil(way.table(X)), (ValueError, TypeError), ".")
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


@every_way
def test_what_a_fitted_model_refuses(way, X):
    table = way.table(X)
    model = way.short(3, n_features=3).fit(table)
    for call in (model.predict, model.predict_proba, model.score_samples, model.score):
        with pytest.raises(
            ValueError, match=r"X has 2 features, but .* 3|X has 2 features, but columns describes"
        ):
            call(table[:, :2])
    for n_samples in (0, -1, 2.5, True):
        with pytest.raises((InvalidParameterError, InvalidTypeError), match="n_samples must be"):
            model.sample(n_samples)


@every_way_of_numbers
@pytest.mark.parametrize("name", ["predict", "predict_proba", "score_samples", "score"])
def test_missing_values_in_predict(way, name, X):
    model = way.short(3).fit(X)
    with pytest.raises(ValueError, match="contains NaN"):
        getattr(model, name)(np.full((2, 3), np.nan))


@every_way
def test_unfitted(way, X, tmp_path):
    model = way.make(3)
    for call in (lambda: model.predict(X), lambda: model.sample(3), lambda: model.save(tmp_path / "m.json")):
        with pytest.raises(ValueError, match="not fitted yet"):
            call()
    assert list(tmp_path.iterdir()) == []


@every_way
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
def test_degenerate_data_fits_without_a_branch_on_it(way, values):
    for epsilon in (0.01, 1.0, 10.0):
        mixture = way.short(5, n_features=values.shape[1], epsilon=epsilon).fit(way.table(values)).mixture_
        assert np.all(np.isfinite(mixture.means))
        assert np.linalg.eigvalsh(mixture.covariances).min() > 0
        assert mixture.weights.sum() == pytest.approx(1)


@EITHER_READING
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, bool, ">f8", object]
)
def test_numbers_of_every_type_are_converted_exactly(way, dtype, rng):
    base = rng.integers(0, 2, size=(300, 2))
    models = [way.short(3, random_state=0).fit(base.astype(t)).mixture_ for t in (dtype, float)]
    assert models[0] == models[1]


@every_way
def test_one_component(way, X):
    mixture = way.short(1, n_features=3).fit(way.table(X)).mixture_
    assert mixture.weights.tolist() == [1.0]


@EITHER_READING
def test_memory_maps_and_read_only_arrays_are_read_where_they_are(way, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    models = [
        way.short(3, n_features=3, random_state=0).fit(records).mixture_
        for records in (X, mapped, np.asfortranarray(mapped), mapped[::-1][::-1])
    ]
    assert all(model == models[0] for model in models)
    assert np.array_equal(np.load(tmp_path / "X.npy"), X)


@every_way_of_numbers
def test_huge_integers(way):
    X = np.array([[2**63 + 5, 1], [2**64 - 1, 0]] * 50, dtype=np.uint64)
    model = way.short(2, bounds=([0, 0], [2.0**64, 1])).fit(X)
    assert np.all(np.isfinite(model.mixture_.means))


@pytest.mark.parametrize("name", sorted(set(WAYS) - {"another package's"}))  # whose files cannot be loaded
def test_a_failed_refit_leaves_the_fitted_model_alone(name, X, tmp_path):
    import pandas as pd

    way = WAYS[name]
    table = way.table(X[:, :2])
    names = ["x0", "x1", "side"][: table.shape[1]]
    frame = pd.DataFrame(table, columns=names)
    model = way.short(2).fit(frame)
    before = model.mixture_
    for bad in (
        pd.DataFrame(np.where(X > 0.9, np.nan, X), columns=["x", "y", "z"]),
        np.full((5, 5), np.nan),
        np.empty((0, 5)),
    ):
        with pytest.raises(ValueError):
            model.fit(bad)
        assert model.mixture_ is before
        assert model.n_features_in_ == len(names)
        assert model.feature_names_in_.tolist() == names
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").predict(frame).shape == (200,)
    fresh = way.make(2)
    with pytest.raises(ValueError):
        fresh.fit(table[:0])
    assert not any(name.endswith("_") for name in vars(fresh))


@pytest.mark.parametrize("way", IN_THE_BOX.values(), ids=IN_THE_BOX)
@pytest.mark.parametrize("width", [1e-140, 1e-81, 1e78, 1e140])
def test_units_of_any_size(way, width, rng):
    X = rng.uniform(-width, width, size=(300, 2))
    model = way.short(2, width=width).fit(X)
    assert np.all(np.abs(model.mixture_.means) <= width)
    assert np.all(np.isfinite(model.score_samples(X)))


@every_way_of_numbers
def test_constant_column_by_bounds(way, rng):
    X = np.column_stack([rng.uniform(-1, 1, 300), np.full(300, 7.0)])
    model = way.short(2, epsilon=5.0, bounds=([-1, 7.0], [1, 7.0]), random_state=0).fit(X)
    live = model.mixture_.weights > 0
    assert model.mixture_.means[live, 1] == pytest.approx(np.full(live.sum(), 7.0), abs=0.2)


@pytest.mark.parametrize("way", IN_THE_BOX.values(), ids=IN_THE_BOX)
def test_out_of_bounds_values_are_clipped_without_a_word(way, rng):
    """Whether a record was out of bounds is private: no warning, no error, the model of the clipped data."""
    X = rng.normal(size=(500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NoisyModelWarning)
        found = way.short(3, random_state=0).fit(X).mixture_
    assert found == way.short(3, random_state=0).fit(np.clip(X, -1, 1)).mixture_


def test_too_large_a_model_is_refused_up_front():
    model = DPMoGHard(2000, epsilon=1.0, bounds=(-1, 1))
    with pytest.raises(
        InvalidParameterError, match="n_components=2000 with 200 columns needs 40200000 values"
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
