"""Model files: released values only, whole or not at all, and nothing hostile gets through."""

import copy
import json
import os
import stat
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpmorse import (
    DPMoG,
    DPMoGHard,
    DPMorse,
    InvalidParameterError,
    ModelFormatError,
    MomentShares,
    PrivateGaussianMixture,
    _atomic,
    load,
)
from dpmorse.persistence import model_file as _model_file
from dpmorse.persistence.model_file import _checksum, write_document


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    return DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=123456789).fit(X)


@pytest.fixture(scope="module")
def profiled():
    X = np.random.default_rng(0).normal(size=(4000, 3)) * 0.1
    X[:400] += [0.9, 0.0, 0.0]
    return PrivateGaussianMixture(4, epsilon=2.0, bounds=(-1, 1), random_state=0).fit(X)


@pytest.fixture
def document(fitted, tmp_path):
    fitted.save(tmp_path / "original.json")
    return json.loads((tmp_path / "original.json").read_text())


def write(path, document, *, sign=True):
    """Write a document with a valid checksum: what an attacker, not an accident, would produce."""
    document = {key: value for key, value in document.items() if key != "checksum"} if sign else document
    if sign:
        document["checksum"] = _checksum(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("kind", [DPMoGHard, DPMoG])
def test_round_trip(kind, tmp_path, blobs):
    shares = MomentShares(count=0.2, sum=0.3, second_moment=0.5)
    model = kind(
        4,
        epsilon=np.float64(1.0),
        bounds=(np.array([-1, -1]), 1),
        n_iter=3,
        radius=1.5,
        shares=shares,
        random_state=0,
    ).fit(blobs[0])
    path = tmp_path / "model.json"
    model.save(path)
    loaded = load(path)
    assert type(loaded) is kind
    assert loaded.mixture_ == model.mixture_
    assert loaded.privacy_ == model.privacy_
    assert loaded.shares == shares
    assert loaded.get_params()["n_components"] == 4
    assert np.array_equal(loaded.predict(blobs[0]), model.predict(blobs[0]))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_the_parameters_of_the_fit_are_saved_whatever_happens_afterwards(tmp_path, blobs):
    model = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0).fit(blobs[0])
    model.set_params(epsilon=0.001, n_components=77, neighboring="replace-one", bounds=None)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert (loaded.epsilon, loaded.n_components, loaded.neighboring) == (1.0, 2, "add-remove")


@pytest.mark.parametrize("epsilon", [Fraction(1), np.float32(1.0), 1])
def test_numbers_of_any_kind_can_be_saved(epsilon, tmp_path, blobs):
    DPMoGHard(2, epsilon=epsilon, bounds=(np.float32(-1), 1), n_iter=np.int64(2), random_state=0).fit(
        blobs[0]
    ).save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").epsilon == 1.0


def test_the_largest_model_that_can_be_fitted_can_be_saved():
    """Every entry in its longest form still fits in a file."""
    from dpmorse.bases.settings import LARGEST_MODEL

    longest = len(json.dumps(-1.2345678901234567e-123)) + len(", ")
    assert LARGEST_MODEL * longest * 1.1 < _model_file.LARGEST_FILE
    assert LARGEST_MODEL * 1.1 < _model_file._MOST_VALUES


def test_a_profile_counts_in_the_size_of_a_model(profiled):
    """A file has no more numbers than were counted before the fit, and some for each component and column."""
    with_profile = PrivateGaussianMixture(300, epsilon=1.0, bounds=(-1, 1))
    with pytest.raises(InvalidParameterError, match=r"needs \d+ values.* or profile=False\."):
        with_profile.plan(50)
    assert with_profile.set_params(profile=False).plan(50)
    document, k, d = profiled._to_document(), profiled.mixture_.n_components, profiled.n_features_in_
    parts = [document[name] for name in ("mixture", "partition", "profile")]
    found = sum(np.size(value) for part in parts for value in part.values())
    largest = k * profiled._settings.values_of_a_component
    assert found <= largest + 2 * (k + k * d) + 2 * k + 6 * d + 10


def test_saddles_that_are_equally_high_but_for_rounding_may_stand_in_any_order(tmp_path):
    """Of as many components as records, most lie on one another."""
    X = np.random.default_rng(3).normal(size=(60, 2))
    model = DPMorse(200, epsilon=1.0, bounds=(-4, 4), rehearsals=0, random_state=4).fit(X)
    heights = model.merge_tree_.critical_points.saddle_heights
    assert np.any(np.diff(heights) < 0)
    assert np.all(np.diff(heights) > -1e-8)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert np.array_equal(read.merge_tree_.critical_points.saddle_heights, heights)


def test_a_loaded_model_can_be_fitted_again(fitted, tmp_path, blobs):
    fitted.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json").fit(blobs[0])
    assert again.privacy_.secure, "the seed is not part of the file"


def test_the_file_holds_no_seed_no_count_and_no_record(tmp_path, rng):
    X = rng.uniform(-1, 1, size=(4321, 2))
    model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=987654321).fit(X)
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text() + repr(model.privacy_) + model.privacy_.statement
    assert "987654321" not in text
    assert "4321" not in text
    assert not any(repr(float(value)) in text for value in X.ravel())
    assert '"secure": false' in text


def test_permissions_follow_the_umask(fitted, tmp_path):
    previous = os.umask(0o027)
    try:
        fitted.save(tmp_path / "model.json")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "model.json").stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_whole(fitted, tmp_path, monkeypatch, step):
    path = tmp_path / "model.json"
    fitted.save(path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_atomic.os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        fitted.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"\x80\x04\x95pickle", "not valid JSON"),
        (b"PK\x03\x04", "not valid JSON"),
        (b"[1, 2]", "does not hold a JSON object"),
        (b"{}", "not a dpmorse model file"),
        (b'{"format": "dpmorse-model"}', "does not state a valid version"),
        (b'{"format": "dpmorse-model", "version": true}', "does not state a valid version"),
        (
            b'{"format": "dpmorse-model", "version": 99}',
            "has version 99; this dpmorse reads up to version 4. Upgrade",
        ),
        (b'{"format": "dpmorse-model", "version": 1}', "checksum does not match"),
        (b'{"format": "a", "format": "dpmorse-model"}', "a key appears twice"),
        (b'{"format": NaN}', "NaN is not a finite number"),
        (b'{"format": 1e999}', "not a dpmorse model file"),
        (b'{"format": "dpmorse-model", "version": 1, "x": 1e999}', "not finite"),
        (b"[" * 30_000, "not valid JSON"),
        (b'{"a":' * 30_000, "not valid JSON"),
        (b"[" * 100_000, "more lists than any model"),
        (b'{"x": ' + b"1" * 400 + b"}", "not a dpmorse model file"),
        (b"1" * 10_000, "not valid JSON"),
    ],
)
def test_damaged_files(content, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        load(path)


def test_a_flipped_byte_is_noticed(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    text = path.read_text()
    path.write_text(text.replace('"epsilon": 1.0', '"epsilon": 0.1', 1))
    with pytest.raises(ModelFormatError, match="checksum does not match"):
        load(path)


def test_memory_is_taken_for_what_is_there_not_for_what_may_be(fitted, tmp_path):
    import tracemalloc

    fitted.save(tmp_path / "model.json")
    load(tmp_path / "model.json")
    tracemalloc.start()
    try:
        load(tmp_path / "model.json")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("repeated", [b"0,", b"1.5,", b'"",'])
def test_files_with_more_numbers_than_any_model_are_not_parsed(repeated, tmp_path, monkeypatch):
    path = tmp_path / "bomb.json"
    path.write_bytes(b'{"x": [' + repeated * ((1 << 22) + 1) + b"0]}")
    monkeypatch.setattr(_model_file, "_parse", lambda data: pytest.fail("it was parsed"))
    with pytest.raises(ModelFormatError, match="more numbers than any model"):
        load(path)


def test_huge_files_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_model_file, "LARGEST_FILE", 1000)
    path = tmp_path / "bomb.json"
    path.write_bytes(b" " * 2000)
    with pytest.raises(ModelFormatError, match="larger than 1000 bytes"):
        load(path)


def test_huge_models_are_not_written(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(_model_file, "LARGEST_FILE", 1000)
    with pytest.raises(ModelFormatError, match="holds at most 1000"):
        fitted.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def edit(document, path, value):
    changed = copy.deepcopy(document)
    target = changed
    for key in path[:-1]:
        target = target[key]
    if value is ...:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["estimator"], "os.system", "does not know: 'os.system'"),
        (["estimator"], ["DPMoG"], "does not know"),
        (["estimator"], ..., "does not know"),
        (["parameters"], [], "parameters must be of type dict"),
        (["parameters", "epsilon"], ..., "parameters must have exactly"),
        (["parameters", "evil"], 1, "parameters must have exactly"),
        (["parameters", "random_state"], 1, "parameters must have exactly"),
        (["parameters", "shares"], {"count": 2}, "parameters is not valid"),
        (["extra"], 3, "the file must have exactly the fields"),
        (["feature_names"], ["a"], "feature_names must hold 2 names"),
        (["feature_names"], [1, 2], "feature_names must hold 2 names"),
        (["feature_names"], ["a", "a"], "feature_names must hold different names"),
        (["mixture"], None, "mixture must be of type dict"),
        (["mixture", "weights"], ..., "mixture must have exactly the fields"),
        (["mixture", "weights"], [1, 1, 1], "sum to 1"),
        (["mixture", "weights"], ["a", "b", "c"], "must hold numbers only"),
        (["mixture", "weights"], [True, False, False], "must hold numbers only"),
        (["mixture", "weights"], [0.5, [0.5], 0], "mixture is not valid"),
        (["mixture", "weights"], [True, 0.0, 0.0], "must hold numbers only"),
        (["mixture", "means", 0, 0], True, "must hold numbers only"),
        (["mixture", "weights"], [1.7e308] * 3, "sum to 1"),
        (["mixture", "covariances_lower", 0], [1e-300, 1e300, 1e-300], r"covariances\[0\] is not positive"),
        (["mixture", "means"], [[0, 0], [0, 0]], "covariances_lower does not have the shape"),
        (["mixture", "covariances_lower", 0], [1, 2, 1], r"covariances\[0\] is not positive definite"),
        (["privacy"], ..., "the file must have exactly the fields"),
        (["privacy"], None, "privacy must be of type dict"),
        (["privacy", "epsilon"], 0.01, "privacy.epsilon is stated as 0.01, but privacy.reserved add up to"),
        (
            ["privacy", "used", "epsilon"],
            0.01,
            "used.epsilon is stated as 0.01, but privacy.events add up to",
        ),
        (["privacy", "used", "rho"], 0.5, "used.rho is stated as 0.5, but"),
        (["privacy", "used"], 0.5, "privacy.used must be of type dict"),
        (["privacy", "reserved"], ..., "privacy must have exactly the fields"),
        (["privacy", "reserved"], None, "privacy.reserved must be of type list"),
        (["privacy", "reserved"], [], "privacy.reserved must not be empty"),
        (["privacy", "reserved", 0, "name"], "round 1 of 9", "privacy.reserved is not what a fit with these"),
        (["privacy", "reserved", 0, "noise_stddev", "count"], 1.0, "privacy.reserved is not what a fit"),
        (["privacy", "reserved", 0, "rho"], 0.001, "privacy.epsilon is stated as"),
        (["privacy", "budget", "unit"], "patient", "privacy.budget is not valid: unit='patient' does not go"),
        (["privacy", "budget", "unit"], 3, "privacy.budget is not valid: unit must be a text"),
        (["privacy", "budget", "unit"], ..., "privacy.budget must have exactly the fields"),
        (["version"], 1, "the file must have exactly the fields"),
        (["version"], 2, "the file must have exactly the fields"),
        (["partition"], ..., "the file must have exactly the fields"),
        (["profile"], ..., "the file must have exactly the fields"),
        (["privacy", "rho"], 0.0, "privacy.rho is stated as 0, but"),
        (["privacy", "events"], [], "privacy.events must not be empty"),
        (["privacy", "secure"], "yes", "privacy.secure must be of type bool"),
        (["privacy", "calibration"], "magic", "privacy.calibration is not valid"),
        (["privacy", "budget", "epsilon"], -1, "privacy.budget is not valid: epsilon must be"),
        (["privacy", "budget", "neighboring"], "none", "privacy.budget is not valid: neighboring must be"),
        (["privacy", "events", 0, "rho"], -1.0, "event.rho is out of range"),
        (["privacy", "events", 0, "rho"], "0", "event.rho must be a finite number"),
        (["privacy", "events", 0, "rho"], 10**400, "event.rho must be a finite number"),
        (["privacy", "rho"], 10**400, "privacy.rho must be a finite number"),
        (["privacy", "events", 0, "rho"], 1e300, "event.rho is out of range"),
        (["parameters", "epsilon"], -3, "parameters is not valid: epsilon must be"),
        (["parameters", "epsilon"], 0.5, "privacy.budget does not agree with the parameters"),
        (["parameters", "epsilon"], 10**400, "parameters is not valid: epsilon must be"),
        (["parameters", "neighboring"], "replace-one", "privacy.budget does not agree"),
        (["parameters", "neighboring"], [1], "parameters is not valid: neighboring"),
        (["parameters", "bounds"], None, "parameters is not valid: bounds must be given"),
        (["parameters", "n_components"], "x", "parameters is not valid: n_components"),
        (["parameters", "n_components"], 99, "does not have n_components components"),
        (["parameters", "n_iter"], 3, "events are not those of a fit with these parameters"),
        (["parameters", "radius"], 0.1, "domain is not that of the bounds and the radius"),
        (["domain", "upper"], [0.9, 1.0], "domain is not that of the bounds and the radius"),
        (["domain", "lower"], [0.9], "domain.lower must hold 2 numbers"),
        (["domain", "lower"], [[], 1], "domain.lower must be a finite number"),
        (["domain", "lower"], True, "domain.lower must be of type list"),
        (["domain", "lower"], -1, "domain.lower must be of type list"),
        (["domain", "radius"], "wide", "domain is not valid"),
        (["domain"], ..., "the file must have exactly the fields"),
        (["parameters", "calibration"], "zcdp", "privacy.budget does not agree"),
        (["privacy", "budget", "epsilon"], 0.001, "privacy.budget does not agree"),
        (["privacy", "events", 1, "neighboring"], "replace-one", "events are not those of a fit"),
        (["privacy", "events", 0, "smallest_scale"], 1, "privacy.used.epsilon is stated as"),
        (["mixture", "weights"], [1e-7] * 3000, "do not have the shapes of a mixture"),
        (["privacy", "events", 0, "n_draws"], 0, "event.n_draws is out of range"),
        (["privacy", "events", 0, "n_draws"], 10**30, "event.n_draws is out of range"),
        (["privacy", "events", 0, "smallest_scale"], 1.5, "event.smallest_scale must be of type int"),
        (["privacy", "events", 0, "name"], 5, "event.name must be of type str"),
        (["privacy", "events", 0, "noise_stddev"], [1], "event.noise_stddev must be of type dict"),
        (["privacy", "events", 0, "noise_stddev"], {"count": -1}, "event.noise_stddev is out of range"),
        (["privacy", "events", 0, "noise_stddev"], {"count": 1}, "events are not those of a fit"),
        (["privacy", "events", 0, "noise_stddev", "more"], 1, "events are not those of a fit"),
        (["privacy", "events", 0, "name"], "something else", "events are not those of a fit"),
        (["privacy", "events", 0, "neighboring"], "x", "event.neighboring is not valid"),
    ],
)
def test_edited_files_with_a_valid_checksum(path, value, message, document, tmp_path):
    target = write(tmp_path / "edited.json", edit(document, path, value))
    with pytest.raises(ModelFormatError, match=message):
        load(target)


def test_a_file_keeps_profile_and_partition(profiled, tmp_path):
    profiled.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    for field in fields(profiled.profile_):
        some, other = (getattr(model.profile_, field.name) for model in (loaded, profiled))
        assert np.array_equal(some, other) if some is not None else other is None, field.name
    assert loaded.partition_ == profiled.partition_
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["profile"], None, "partition and profile must be given together"),
        (["partition"], None, "partition and profile must be given together"),
        (["partition", "means"], [[0, 0]], "partition.covariances_lower does not have the shape"),
        (["partition", "covariances_lower", 0, 0], -1.0, r"partition is not valid: .*covariances\[0\]"),
        (["partition", "weights", 0], "a", "partition.weights must hold numbers only"),
        (["profile"], [], "profile must be of type dict"),
        (["profile", "edges"], ..., "profile must have exactly the fields"),
        (["profile", "evil"], 1, "profile must have exactly the fields"),
        (["profile", "sizes"], [0.0], "profile does not have the components and numbers of the mixture"),
        (["profile", "sizes"], 3, "profile.sizes must be a list of numbers"),
        (["profile", "sizes"], [[0.0], 1.0], "profile is not valid"),
        (["profile", "sizes", 0], True, "profile.sizes must hold numbers only"),
        (["profile", "sizes", 0], 10**400, "profile.sizes must hold numbers only"),
        (["profile", "entries"], [[0.0]], "entries must be finite and have the shape"),
        (["profile", "edges", 0, 0], [0.5], "profile is not valid"),
        (["profile", "edges"], [], "edges, curves and entries must be arrays"),
        (["profile", "curves", 0, 0, 0], 0.99, "edges and curves must ascend"),
        (["profile", "curves", 0, 0, 0], -99.0, "edges and curves must lie inside the bounds"),
        (["profile", "whole", 0], 0.5, "whole must be 0 or 1"),
        (["profile", "expected", 0, 0], 1.5, "expected must be parts"),
        (["profile", "n_levels"], [2], "n_levels are not those of the mixture"),
        (["profile", "n_levels"], [2.5], "profile.n_levels must be of type int"),
        (["profile", "may_miss"], [0], "must be finite and have the shape"),
        (["profile", "may_miss"], 0, "profile.may_miss must be of type list"),
        (["profile", "n_records"], -3.0, "n_records must be positive"),
        (["profile", "n_records"], "many", "profile.n_records must be a finite number"),
        (["profile", "outside"], [[0.0, 0.0]], "outside must be finite and have the shape"),
        (["profile", "lower", 0], -5.0, "the profile is not one inside the bounds"),
        (["profile", "upper", 0], -5.0, "lower must be at most upper"),
        (["profile", "size_stddev"], 0.0, "profile.size_stddev"),
        (["profile", "entry_stddev"], "1", "profile.entry_stddev must be a finite number"),
        (["profile", "size_stddev"], 1.0, "the profile does not state the noise of its releases"),
        (["profile", "entry_stddev"], 1.0, "the profile does not state the noise of its releases"),
        (["parameters", "profile"], False, "there must be no profile where"),
        (["parameters", "profile"], 1, "parameters is not valid: profile must be"),
        (["parameters", "profile"], ..., "parameters must have exactly the fields"),
        (["version"], 2, "the file must have exactly the fields"),
    ],
)
def test_edited_profiles_with_a_valid_checksum(path, value, message, profiled, tmp_path):
    profiled.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    target = write(tmp_path / "edited.json", edit(document, path, value))
    with pytest.raises(ModelFormatError, match=message):
        load(target)


def test_a_file_cannot_take_its_profile_away(profiled, tmp_path):
    """What was paid for the profile is in the ledger, and no fit without one pays for it."""
    profiled.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document |= {"partition": None, "profile": None}
    document["parameters"]["profile"] = False
    with pytest.raises(ModelFormatError, match=r"privacy\.events are not those of a fit"):
        load(write(tmp_path / "edited.json", document))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.long
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_edits_raise_nothing_but_format_errors(data, document, profiled, tmp_path):
    """Replace a random node of a valid file by random JSON: it loads, or it is a ModelFormatError."""
    profiled.save(tmp_path / "profiled.json")
    document = data.draw(st.sampled_from([document, json.loads((tmp_path / "profiled.json").read_text())]))
    nodes = []

    def visit(node, path):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            nodes.append([*path, key])
            if isinstance(child, dict | list):
                visit(child, [*path, key])

    visit(document, [])
    changed = edit(document, data.draw(st.sampled_from(nodes)), data.draw(json_values))
    try:
        target = write(tmp_path / "fuzzed.json", changed)
    except ModelFormatError:
        return  # infinity cannot be written
    with suppress(ModelFormatError):
        load(target)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=200), position=st.integers(0, 10_000))
def test_random_bytes_raise_nothing_but_format_errors(noise, position, fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    content = path.read_bytes()
    at = position % len(content)
    path.write_bytes(content[:at] + noise + content[at + len(noise) :])
    try:
        loaded = load(path)
    except ModelFormatError:
        return
    assert loaded.mixture_ == fitted.mixture_, "only white space may change unnoticed"
    assert loaded.privacy_ == fitted.privacy_


def test_true_is_no_bound(tmp_path):
    """True equals 1, and NumPy takes it for a number among numbers; the file would mean something else."""
    path = tmp_path / "model.json"
    DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1).fit(np.zeros((50, 2))).save(path)
    document = json.loads(path.read_text())
    del document["checksum"], document["format"], document["version"]
    document["parameters"]["bounds"][1][0] = True
    write_document(path, document)
    with pytest.raises(ModelFormatError, match="bounds must hold numbers only"):
        load(path)
