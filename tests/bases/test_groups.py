"""Promises to persons with several rows: which rows are used, what that costs, and what is refused."""

import numpy as np
import pytest

from audits.attacks.replayed_fits import Replay
from dpmorse import (
    Budget,
    DPCube,
    DPLloyd,
    DPMoGHard,
    DPMorse,
    DPTree,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    MorseClustering,
    load,
)
from dpmorse.privacy import Neighboring
from every_base import WAYS, every_way


@every_way
@pytest.mark.parametrize("rows", [1, 3])
def test_spent_is_what_was_declared(way, rows, blobs):
    groups = np.arange(len(blobs[0])) // 4
    model = way.short(4, max_rows_per_group=rows).fit(way.table(blobs[0]), groups=groups)
    assert 1 - 1e-5 <= model.privacy_.epsilon <= 1.0
    assert {event.neighboring for event in model.privacy_.events} == {Neighboring.ADD_REMOVE_GROUP}
    assert f"one group (such as a person), of which at most {rows} are used" in model.privacy_.statement


def test_noise_grows_in_proportion_to_the_rows_of_a_person():
    def noise(rows):
        plan = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=rows).plan(2)
        return plan.events[0].noise_stddev["sum"]

    assert noise(1) == pytest.approx(
        DPMoGHard(3, epsilon=1.0, bounds=(-1, 1)).plan(2).events[0].noise_stddev["sum"]
    )
    assert noise(5) == pytest.approx(5 * noise(1), rel=1e-6)


@pytest.mark.parametrize("delta", [1e-6, 0])
@pytest.mark.parametrize("kind", [DPLloyd, DPCube, DPTree])
def test_a_person_moves_each_exact_vector_by_no_more_than_its_event_says(kind, delta, monkeypatch, rng):
    """The same answers to both fits; three rows of one person, all at one corner, are there or not."""
    replay = Replay(monkeypatch)
    X, groups = np.clip(rng.normal(size=(600, 6)) * 0.5, -1, 1), np.arange(600)
    more, of_more = np.vstack([X, np.ones((5, 6))]), np.append(groups, [1000] * 5)
    base = kind(4, epsilon=1.0, delta=delta, bounds=(-1, 1), max_rows_per_group=3, random_state=0)
    questions = replay.distances(lambda: base.fit(X, groups=groups), lambda: base.fit(more, groups=of_more))
    for name, moved in questions:
        assert moved <= 1 + 1e-9, name


def test_with_the_morse_step_and_in_a_file(blobs, tmp_path):
    groups = np.arange(len(blobs[0])) // 2
    model = DPMorse(4, epsilon=4.0, bounds=(-1, 1), max_rows_per_group=2, random_state=0)
    labels = model.fit_predict(blobs[0], groups=groups)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.privacy_ == model.privacy_
    assert np.array_equal(again.predict(blobs[0]), labels)
    assert again.get_params()["max_rows_per_group"] == 2
    base = DPMoGHard(6, epsilon=4.0, bounds=(-1, 1), max_rows_per_group=2, random_state=0)
    assert MorseClustering(base, n_clusters=4).fit(blobs[0], groups=groups).n_clusters_ == 4


def test_rows_and_persons_do_not_share_a_ledger(blobs):
    ledger = Ledger(Budget(5.0))
    model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=2, ledger=ledger)
    with pytest.raises(InvalidParameterError, match="costs under different neighbouring relations"):
        model.fit(blobs[0], groups=np.arange(len(blobs[0])))
    persons = Ledger(Budget(5.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 2))
    model.set_params(ledger=persons).fit(blobs[0], groups=np.arange(len(blobs[0])))
    assert len(persons.events) == 10


@pytest.mark.parametrize("way", [WAYS["DPMoGHard"], WAYS["described numbers"]], ids=["bounds", "columns"])
@pytest.mark.parametrize(
    ("parameters", "groups", "error", "message"),
    [
        ({"max_rows_per_group": 2}, None, InvalidParameterError, "groups must be given with max_rows_per_group=2"),
        ({}, np.zeros(4000), InvalidParameterError, "max_rows_per_group must be set where groups are given"),
        ({"max_rows_per_group": 0}, np.zeros(4000), InvalidParameterError, "max_rows_per_group must be between 1 and"),
        ({"max_rows_per_group": 1.5}, np.zeros(4000), InvalidTypeError, "max_rows_per_group must be an integer"),
        ({"max_rows_per_group": 2, "neighboring": "replace-one"}, np.zeros(4000), InvalidParameterError, "neighboring must be 'add-remove' with"),
        ({"neighboring": "add-remove-group"}, None, InvalidParameterError, "neighboring must be one of 'add-remove', 'replace-one'"),
        ({"max_rows_per_group": 2}, np.zeros(7), InvalidParameterError, "the lengths differ"),
        ({"max_rows_per_group": 2}, np.zeros((4000, 1)), InvalidParameterError, "groups must have one dimension, got 2"),
        ({"max_rows_per_group": 2}, np.full(4000, np.nan), InvalidParameterError, "groups contains NaN"),
        ({"max_rows_per_group": 2}, np.full(4000, None), InvalidParameterError, "groups contains NaN or other missing values"),
        ({"max_rows_per_group": 2}, np.full(4000, 2.5), InvalidParameterError, "cannot be distinguished exactly from int64"),
        ({"max_rows_per_group": 2}, np.zeros(4000, "M8[D]"), InvalidTypeError, "groups must hold text or whole numbers, one for each row, got dates"),
        ({"max_rows_per_group": 2}, [[1, 2], [3]] * 2000, InvalidTypeError, "got list"),
        ({"max_rows_per_group": 2}, 7, InvalidTypeError, "groups must be a sequence"),
    ],
)  # fmt: skip
def test_bad_groups_are_refused_before_anything_is_released(way, parameters, groups, error, message, blobs):
    ledger = Ledger(Budget(5.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 2))
    model = way.make(3, ledger=ledger, **parameters)
    with pytest.raises(error, match=message):
        model.fit(blobs[0], groups=groups)
    assert ledger.events == ()
    assert not hasattr(model, "mixture_")
