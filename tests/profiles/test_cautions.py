"""What a reader is told: where it must be said, nowhere else, and in the same words in every frame."""

from dataclasses import replace

import numpy as np
import pytest

from counted_profiles import counted, with_noise
from dpmorse import DPMorseError, Nominal, Numeric, Schema
from dpmorse.profiles import Caution, ClusterView, beyond_noise, cautions_of, cluster_table, to_frame
from dpmorse.profiles import frames as _frames

SCHEMA = Schema.of_numbers(["age", "income"], [-1e3, -1e3], [1e3, 1e3])


@pytest.fixture
def profile(rng):
    """Two clusters of a thousand normal records each, with some noise."""
    components = np.repeat([0, 1], 1000)
    X = rng.normal(size=(2000, 2)) + 5.0 * components[:, None]
    return replace(with_noise(counted(X, components), rng, 2.0, 4.0), outside_stddev=10.0)


def said(profile, cut=(0, 1), schema=SCHEMA):
    table = cluster_table(profile, np.array(cut))
    return [(note.kind, note.cluster, note.column) for note in cautions_of(table, profile, schema)]


def test_nothing_is_said_of_clusters_that_are_well_measured(profile):
    assert said(profile) == []


def of_size(profile, records):
    """The same profile with fewer records in its second component, alike in all columns."""
    sizes, entries = profile.sizes.copy(), profile.entries.copy()
    entries[1] *= records / profile.counts[1]
    sizes[1] = records
    changed = replace(profile, sizes=sizes, entries=entries)
    return replace(changed, sizes=sizes + (records - changed.counts) * [0, 1])


@pytest.mark.parametrize(("deviations", "is_said"), [(2.9, True), (3.2, False), (-1.0, True)])
def test_a_small_cluster_may_be_noise(deviations, is_said, profile):
    """And no more is said of it."""
    small = of_size(profile, deviations * profile.count_stddev[1])
    assert (("size", 1, None) in said(small)) is is_said
    assert all(kind == "size" for kind, cluster, _ in said(small) if cluster == 1 and is_said)
    assert ("size", 0, None) not in said(small)


def test_medians_that_are_not_known_are_named(profile):
    """Of a cluster that is there, in one sentence."""
    unsure = of_size(profile, 4 * profile.count_stddev[1])
    notes = cautions_of(cluster_table(unsure, np.arange(2)), unsure, SCHEMA)
    assert [(note.kind, note.cluster, note.column) for note in notes] == [("unknown", 1, None)]
    assert "the medians of 'age', 'income' are not known" in notes[0].text


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("deviations", "is_said"), [(3.0, False), (3.5, True), (-9.0, False), (60.0, True)])
def test_values_outside_of_the_bounds(deviations, is_said, side, profile):
    """Four counts are compared with noise: three standard deviations and a little more."""
    outside = np.zeros((2, 2))
    outside[1, side] = deviations * 10.0
    cut = replace(profile, outside=outside)
    notes = cautions_of(cluster_table(cut, np.arange(2)), cut, SCHEMA)
    assert [(note.kind, note.cluster, note.column) for note in notes] == [("bounds", None, 1)] * is_said
    for note in notes:
        assert f"'income' lie {('below its lower', 'above its upper')[side]} bound" in note.text
        assert f"about {'30%' if deviations == 60 else '1.8%'} of the values" in note.text


TABLE = Schema.of(
    {
        "age": Numeric(-50, 50, missing="ignore"),
        "ward": Nominal(["north", "south"], missing="ignore"),
    }
)


def of_table(rng, part_missing, part_other, noise):
    """Two components of two thousand records, of which these parts are missing and other."""
    n, components = 4000, np.arange(4000) % 2
    codes = np.where(rng.random(n) < part_other, 2, rng.integers(2, size=n))[:, None]
    codes[:3, 0] = [0, 1, 2]
    holes = np.column_stack([rng.random(n) < part_missing, rng.random(n) < 0.1])
    made = counted(rng.normal(size=(n, 1)), components, codes=codes, holes=holes)
    return with_noise(made, rng, noise, noise)


@pytest.mark.parametrize(("part", "is_said"), [(0.95, True), (0.7, False)])
def test_nearly_all_values_are_missing(part, is_said, rng):
    found = said(of_table(rng, part, 0.0, 5.0), schema=TABLE)
    assert (("missing", None, 0) in found) is is_said


@pytest.mark.parametrize(("part", "is_said"), [(0.4, True), (0.15, False)])
def test_many_values_are_not_listed(part, is_said, rng):
    found = said(of_table(rng, 0.1, part, 5.0), schema=TABLE)
    assert (("other", None, 1) in found) is is_said


def test_noise_alone_says_nothing():
    """At a noise far above all counts, in hundreds of draws: not one statement about columns."""
    rng = np.random.default_rng(0)
    exact = of_table(rng, 0.1, 0.0, 1e-6)
    for _ in range(300):
        noisy = with_noise(exact, rng, 5000.0, 5000.0)
        noisy = replace(noisy, outside=1000 * rng.normal(size=(1, 2)), outside_stddev=1000.0)
        assert {kind for kind, _, column in said(noisy, schema=TABLE) if column is not None} == set()


def test_the_more_is_said_the_further_it_stands_beyond_noise():
    assert beyond_noise(1) == 3.0
    assert 3.0 < beyond_noise(10) < beyond_noise(1000) < 6.0


def as_columns(frame):
    """The columns of a frame of any library."""
    found = (
        frame.to_pydict()
        if hasattr(frame, "to_pydict")
        else frame.to_dict("list")
        if hasattr(frame, "loc")
        else {name: frame[name].to_list() for name in frame.columns}
    )
    return {str(name): list(values) for name, values in found.items()}


def test_frames_of_all_libraries_say_the_same(profile):
    table = cluster_table(profile, np.arange(2))
    notes = [
        Caution("bounds", None, 1, "one."),
        Caution("size", 1, None, "two."),
        Caution("unknown", 0, 0, "three."),
    ]
    expected = _frames.columns_of(ClusterView.of(table, SCHEMA, notes))
    assert expected["cluster"] == [0, 0, 1, 1]
    assert expected["column"] == ["age", "income", "age", "income"]
    assert expected["share"] == np.repeat(table.share.value, 2).tolist()
    assert expected["median"] == table.median.value.ravel().tolist()
    assert expected["q3_high"] == table.q3.high.ravel().tolist()
    assert expected["warning"] == ["Three.", "One.", "Two.", "One. Two."]
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
        frame = to_frame(expected, library)
        assert type(frame).__module__.startswith(library)
        found = as_columns(frame)
        assert np.isnan(found.pop("again")).all(), "nothing was rehearsed"
        assert found == {name: column for name, column in expected.items() if name != "again"}


def test_without_any_library_it_is_said_what_to_do(profile, monkeypatch):
    monkeypatch.setattr(_frames, "find_spec", lambda name: None)
    with pytest.raises(DPMorseError, match=r"table\(\) returns numbers about clusters as arrays"):
        to_frame(_frames.columns_of(ClusterView.of(cluster_table(profile, np.arange(2)), SCHEMA)))
