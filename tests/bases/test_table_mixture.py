"""The base for tables: the same model from everywhere, sensible clusters, what is missing, what is refused."""

import itertools
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import dpmorse
from benchmarks.generated.mixed import make_mixed
from dpmorse import (
    Boolean,
    Date,
    DPMoGHard,
    DPMorse,
    InvalidParameterError,
    InvalidTypeError,
    MorseClustering,
    Nominal,
    Numeric,
    Ordinal,
    PrivateGaussianMixture,
)

pd = pytest.importorskip("pandas")

COLUMNS = {
    "age": Numeric(0, 120, missing="ignore"),
    "ward": Nominal(["north", "east", "south", "west"], missing="ignore"),
    "smoker": Boolean(),
    "admitted": Date("2015-01-01", "2030-01-01"),
    "pain": Ordinal(["none", "some", "strong"]),
    "visits": Numeric(0, 100, integer=True),
}


def patients(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    wards = np.array([["north", "east"], ["south", "east"], ["west", "attic"]])
    frame = pd.DataFrame(
        {
            "age": np.array([30, 55, 75])[y] + rng.normal(0, 6, n),
            "ward": wards[y, (rng.random(n) < 0.2).astype(int)],
            "smoker": rng.random(n) < np.array([0.2, 0.6, 0.4])[y],
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n) + 400 * y, "D"),
            "pain": rng.choice(["none", "some", "strong"], n),
            "visits": rng.poisson(3 + 4 * y),
        }
    )
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "ward"] = None
    return frame, y


@pytest.fixture(scope="module")
def fitted():
    frame, y = patients()
    return DPMorse(3, epsilon=3.0, columns=COLUMNS, random_state=0).fit(frame), frame, y


def test_clusters_are_found(fitted):
    model, frame, y = fitted
    assert adjusted_rand_score(y, model.predict(frame)) > 0.8
    proba = model.predict_proba(frame)
    assert proba.shape == (len(frame), 3)
    assert np.allclose(proba.sum(axis=1), 1)


def test_records_of_which_little_is_known_are_labelled_by_that(fitted):
    model, frame, y = fitted
    rng, some = np.random.default_rng(1), frame.copy().astype(object)
    for name in ("age", "ward"):
        some.loc[rng.random(len(frame)) < 0.5, name] = None
    assert adjusted_rand_score(y, model.predict(some)) > 0.6
    nothing = some.assign(age=None, ward=None)
    assert np.isfinite(model.score_samples(nothing)).all()


def test_synthetic_records_are_records_of_the_table(fitted):
    model = fitted[0]
    drawn, labels = model.sample(3000, random_state=0)
    assert list(drawn.columns) == list(COLUMNS)
    assert set(drawn["ward"]) <= {"north", "east", "south", "west", "other"}
    assert set(drawn["pain"]) <= {"none", "some", "strong"}
    assert drawn["visits"].dtype.kind == "i"
    assert drawn["visits"].between(0, 100).all()
    assert drawn["admitted"].between("2015-01-01", "2030-01-01").all()
    assert len(labels) == 3000
    again = DPMorse(3, epsilon=1.0, columns=COLUMNS, random_state=0).fit(drawn)
    assert again.n_clusters_ == 3


def test_synthetic_records_with_holes(fitted):
    model, frame, _ = fitted
    drawn, _ = model.sample(3000, random_state=0, missing=True)
    assert drawn.isna().mean().to_numpy() == pytest.approx(frame.isna().mean().to_numpy(), abs=0.04)


def test_a_model_file_says_it_all(fitted, tmp_path):
    model, frame, _ = fitted
    model.save(tmp_path / "model.json")
    loaded = dpmorse.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.mixture_ == model.mixture_
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    assert np.array_equal(loaded.cut(2).predict(frame), model.cut(2).predict(frame))


def test_the_order_of_columns_does_not_matter_where_they_have_names(fitted):
    model, frame, _ = fitted
    turned = frame[frame.columns[::-1]]
    assert np.array_equal(model.predict(turned), model.predict(frame))
    same = clone(model).fit(turned)
    assert same.mixture_ == model.mixture_


@pytest.mark.parametrize(
    "columns",
    [
        {"ward": COLUMNS["ward"], "smoker": COLUMNS["smoker"]},
        {"age": COLUMNS["age"], "visits": COLUMNS["visits"]},
        {"age": Numeric(0, 120, missing="level"), "ward": Nominal(["north", "east"], missing="level")},
    ],
    ids=["categories", "numbers", "levels of missingness"],
)
def test_columns_of_one_kind(columns):
    frame, y = patients()
    model = DPMorse(3, epsilon=3.0, columns=columns, random_state=0).fit(frame[list(columns)])
    assert adjusted_rand_score(y, model.predict(frame[list(columns)])) > 0.2
    assert model.n_features_in_ == 2


def test_missingness_that_means_something_is_found():
    """Two groups that differ in nothing but in who has not been asked."""
    rng = np.random.default_rng(0)
    y = rng.random(8000) < 0.4
    frame = pd.DataFrame({f"q{j}": rng.normal(50, 10, len(y)) for j in range(4)})
    frame[rng.random(frame.shape) < np.where(y, 0.9, 0.05)[:, None]] = np.nan
    scores = {"level": [], "ignore": []}
    for missing, seed in itertools.product(scores, range(6)):
        columns = {name: Numeric(0, 100, missing=missing) for name in frame}
        model = DPMorse(2, epsilon=3.0, columns=columns, random_state=seed).fit(frame)
        scores[missing].append(adjusted_rand_score(y, model.predict(frame)))
    assert np.mean(scores["level"]) > 0.6  # .75, and .15 from seed to seed
    assert np.mean(scores["ignore"]) < 0.2


@pytest.mark.long
def test_more_budget_is_better_on_average():
    scores = []
    for epsilon in (0.3, 10.0):
        each = []
        for instance in range(4):
            table = make_mixed("both", 4000, instance)
            columns = {f"n{j}": Numeric(*b, missing="ignore") for j, b in enumerate(bounds_of(table))}
            columns |= {
                f"c{j}": Nominal(list(range(n)), missing="ignore") for j, n in enumerate(table.n_levels)
            }
            X = np.column_stack([table.numbers, np.where(table.codes < 0, np.nan, table.codes)]).astype(
                object
            )
            model = DPMorse(table.n_clusters, epsilon=epsilon, columns=columns, random_state=0).fit(X)
            each.append(adjusted_rand_score(table.y, model.predict(X)))
        scores.append(np.mean(each))
    assert scores[1] > scores[0] + 0.1


def bounds_of(table):
    return list(zip(table.lower, table.upper, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (0, 1)}, "bounds must be None"),
        ({"bounds": "private"}, "bounds must be None"),
        ({"delta": 0}, "delta"),
        ({"assign": "basin"}, "assign must be"),
        ({"columns": {}}, "columns must"),
        ({"columns": {"age": (0, 120)}}, "columns"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_spent(options, message):
    frame, _ = patients(100)
    ledger = dpmorse.Ledger(dpmorse.Budget(epsilon=5.0))
    model = DPMorse(3, **{"epsilon": 1.0, "columns": COLUMNS, "ledger": ledger, **options})
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message):
        model.fit(frame)
    assert not ledger.events


def test_missing_values_are_refused_by_default():
    frame, _ = patients(500)
    with pytest.raises(InvalidParameterError, match="age"):
        DPMorse(3, epsilon=1.0, columns={**COLUMNS, "age": Numeric(0, 120)}).fit(frame)


def test_other_bases_take_numbers_only():
    frame, _ = patients(500)
    with pytest.raises((InvalidParameterError, InvalidTypeError)):
        MorseClustering(DPMoGHard(3, epsilon=1.0, bounds=(0, 1)), 2).fit(frame)


def test_the_base_alone():
    frame, y = patients()
    base = PrivateGaussianMixture(4, epsilon=1.0, columns=COLUMNS, random_state=0).fit(frame)
    assert base.predict(frame).max() < base.mixture_.n_components <= 4
    model = MorseClustering(PrivateGaussianMixture(6, epsilon=3.0, columns=COLUMNS, random_state=0), 3).fit(
        frame
    )
    assert adjusted_rand_score(y, model.predict(frame)) > 0.6


def arrays_in(thing, seen):
    """Yield every array that can be reached from an object."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays_in(value, seen)
    elif isinstance(thing, list | tuple | set):
        for value in thing:
            yield from arrays_in(value, seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays_in(vars(thing), seen)


def test_nothing_of_a_record_is_kept(tmp_path):
    """A value that nobody else has, in text and in numbers, is in no file, pickle, text or attribute."""
    frame, _ = patients(1237)
    frame.loc[0, "ward"], frame.loc[0, "age"] = "Zaphod-9f3", 41.736251
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = DPMorse(3, epsilon=1.0, columns=COLUMNS).fit(frame)
    model.save(tmp_path / "model.json")
    texts = [
        (tmp_path / "model.json").read_text(),
        repr(model),
        str(model.privacy_),
        model.summary().to_string(),
        *(str(warning.message) for warning in warned),
        repr([str(caution) for caution in model.cautions()]),
    ]
    with pytest.raises(InvalidParameterError) as refused:
        DPMorse(3, epsilon=1.0, columns={**COLUMNS, "ward": Numeric(0, 1)}).fit(frame)
    for text in [*texts, str(refused.value)]:
        assert "Zaphod" not in text
        assert "41.736251" not in text
        assert not re.search(r"(?<![\d.])1237(?![\d.])", text)  # as a number: digits of noise may hold it
    assert b"Zaphod" not in pickle.dumps(model)
    assert all(1237 not in array.shape for array in arrays_in(model, set()))
