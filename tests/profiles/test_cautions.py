"""What a reader is told: where it must be said, nowhere else, and in the same words in every frame."""

from dataclasses import replace

import numpy as np
import pytest

from dpmorse import DPMorseError, Schema
from dpmorse.profiles import Caution, ClusterView, cautions_of, cluster_table, to_frame
from dpmorse.profiles import frames as _frames
from invented_profiles import exact_profile

SCHEMA = Schema.of_numbers(["age", "income"], [-1e3, -1e3], [1e3, 1e3])


@pytest.fixture
def profile(rng):
    """Two clusters of a thousand normal records each, with some noise."""
    components = np.repeat([0, 1], 1000)
    X = rng.normal(size=(2000, 2)) + 5.0 * components[:, None]
    made = exact_profile(X, components, rng)
    return replace(
        made,
        origins=np.array([[0.0, 0.0], [5.0, 5.0]]),
        factors=np.tile(np.eye(2), (2, 1, 1)),
        sums=np.zeros((2, 2)),
        second_moments=np.tile(1000 * np.eye(2), (2, 1, 1)),
        tails=np.zeros((2, 20)),
        radii=np.full(2, made.edges[0]),
        count_stddev=20.0,
        sum_stddev=10.0,
        second_moment_stddev=10.0,
        tail_stddev=10.0,
    )


def said(profile, cut=(0, 1)):
    table = cluster_table(profile, np.array(cut))
    return [(note.kind, note.cluster, note.column) for note in cautions_of(table, profile, SCHEMA)]


def test_nothing_is_said_of_clusters_that_are_well_measured(profile):
    assert said(profile) == []


@pytest.mark.parametrize(("count", "is_said"), [(59.0, True), (61.0, False), (-10.0, True)])
def test_a_small_cluster_may_be_noise(count, is_said, profile):
    """And no more is said of it: three standard deviations are 60 records."""
    small = replace(
        profile,
        counts=np.array([1000.0, count]),
        second_moments=profile.second_moments * np.array([1.0, 10.0])[:, None, None],
    )
    assert (("size", 1, None) in said(small)) is is_said
    assert all(kind == "size" for kind, cluster, _ in said(small) if cluster == 1 and is_said)
    assert ("size", 0, None) not in said(small)


def test_sizes_of_several_components_are_compared_with_their_common_noise(profile):
    parts = replace(profile, counts=np.array([50.0, 50.0]))
    assert said(parts, (0, 1))[:1] == [("size", 0, None)]
    assert ("size", 0, None) not in said(parts, (0, 0)), "100 records are more than three times 28"


def test_a_spread_that_may_be_zero(profile):
    flat = profile.second_moments.copy()
    flat[1, 0, 0] = 5.0
    assert said(replace(profile, second_moments=flat)) == [("spread", 1, 0)]


def test_a_heavy_tail_is_more_than_noise_and_more_than_a_hundredth(profile):
    for records, is_said in ((400.0, True), (100.0, False)):  # three standard deviations of 18 bins are 127
        tails = np.zeros((2, 20))
        tails[0, 4] = records
        assert (("tail", 0, None) in said(replace(profile, tails=tails))) is is_said
    many = replace(
        profile, counts=profile.counts * 100, second_moments=profile.second_moments * 100, tails=tails * 4
    )
    assert ("tail", 0, None) not in said(many), "400 of 100,000 are no heavy tail"


def test_what_is_near_is_no_tail(profile):
    tails = np.zeros((2, 20))
    tails[0, :2] = 400.0
    assert ("tail", 0, None) not in said(replace(profile, tails=tails))


def test_bounds_that_cut(profile):
    piled = np.array([[0.0, 1.0], [1.0, 0.0]])
    cut = replace(profile, piled=piled)
    notes = cautions_of(cluster_table(cut, np.arange(2)), cut, SCHEMA)
    assert [(note.kind, note.cluster, note.column) for note in notes] == [
        ("bounds", None, 0),
        ("bounds", None, 1),
    ]
    assert "'age' piles up at its upper bound" in notes[0].text
    assert "'income' piles up at its lower bound" in notes[1].text


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
        Caution("spread", 0, 0, "three."),
    ]
    expected = _frames.columns_of(ClusterView.of(table, SCHEMA, notes))
    assert expected["cluster"] == [0, 0, 1, 1]
    assert expected["column"] == ["age", "income", "age", "income"]
    assert expected["share"] == [0.5] * 4
    assert expected["centre"] == table.centre.value.ravel().tolist()
    assert expected["spread_high"] == table.spread.high.ravel().tolist()
    assert expected["warning"] == ["Three.", "One.", "Two.", "One. Two."]
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
        frame = to_frame(expected, library)
        assert type(frame).__module__.startswith(library)
        assert as_columns(frame) == expected


def test_without_any_library_it_is_said_what_to_do(profile, monkeypatch):
    monkeypatch.setattr(_frames, "find_spec", lambda name: None)
    with pytest.raises(DPMorseError, match=r"table\(\) returns numbers about clusters as arrays"):
        to_frame(_frames.columns_of(ClusterView.of(cluster_table(profile, np.arange(2)), SCHEMA)))
