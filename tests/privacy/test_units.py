"""A budget belongs to a unit: rows, or groups of one name. Promises to different units do not add up."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpmorse import Budget, DPMoGHard, InvalidParameterError, InvalidTypeError, Ledger
from dpmorse.privacy import FileLedger, Mechanism, Neighboring, Unit
from release_events import event

OLDER = Path(__file__).parents[1] / "older_files"
BY_PATIENT = Budget(2.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 3, "patient")
FIT = replace(BY_PATIENT, epsilon=1.0)


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    """Return what makes a ledger of a budget."""
    if request.param == "memory":
        return Ledger
    return lambda budget: FileLedger(tmp_path / f"{budget.protects.word}.budget", budget)


def test_whose_budget_it_is():
    assert BY_PATIENT.protects.word == "patient"
    assert replace(BY_PATIENT, unit=None).protects.word == "group"
    assert Budget(1.0).protects.word == "row"
    assert BY_PATIENT.protects == Unit(Neighboring.ADD_REMOVE_GROUP, 3, "patient")
    assert Budget(1.0, neighboring="replace-one").protects == Unit(Neighboring.REPLACE_ONE)
    assert list(vars(BY_PATIENT))[-1] == "unit", "the last field: budgets are written by position as well"


@pytest.mark.parametrize("unit", ["", "  ", "x" * 201, "two\nlines", "\x1b[31m"])
def test_names_that_are_none(unit):
    with pytest.raises(InvalidParameterError, match="unit must be a text of 1 to 200 printable characters"):
        replace(BY_PATIENT, unit=unit)


@pytest.mark.parametrize("unit", [1, b"patient", ("a",), True])
def test_names_of_the_wrong_type(unit):
    with pytest.raises(InvalidTypeError, match="unit must be a text or None"):
        replace(BY_PATIENT, unit=unit)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_rows_have_no_name(relation):
    with pytest.raises(InvalidParameterError, match="unit='patient' does not go with neighboring="):
        Budget(1.0, 1e-6, relation, unit="patient")


def test_the_same_unit_is_paid_for(make):
    ledger = make(BY_PATIENT)
    with ledger.reserve([event()], FIT) as reservation:
        reservation.record(event())
    assert ledger.spent.rho == 0.004


@pytest.mark.parametrize(
    ("of_ledger", "of_fit", "message"),
    [
        ("patient", "visit", "of the unit 'patient' as in the ledger, got 'visit'.*Series named 'patient'"),
        (
            "patient",
            None,
            r"got 'group' \(without a name\).*another ledger.*--budget.*Series named 'patient'",
        ),
        (
            None,
            "visit",
            r"'group' \(without a name\) as in the ledger, got 'visit'.*names the unit, Budget\(..., unit='visit'\)",
        ),
    ],
)
def test_another_unit_is_refused(of_ledger, of_fit, message, make):
    ledger = make(replace(BY_PATIENT, unit=of_ledger))
    with pytest.raises(InvalidParameterError, match=message):
        ledger.reserve([event()], replace(FIT, unit=of_fit))
    assert ledger.spent.rho == 0
    ledger.reserve([event()], replace(FIT, unit=of_ledger))


@pytest.mark.parametrize(("rows", "accepted"), [(1, True), (3, True), (4, False)])
def test_a_fit_may_use_fewer_rows_of_each_but_not_more(rows, accepted, make):
    ledger, fit = make(BY_PATIENT), replace(FIT, max_rows_per_group=rows)
    if accepted:
        ledger.reserve([event()], fit)
    else:
        with pytest.raises(InvalidParameterError, match=r"max_rows_per_group must be at most 3 .* got 4"):
            ledger.reserve([event()], fit)


def test_rows_and_groups_do_not_add_up(make):
    for budget, other in ((BY_PATIENT, Budget(1.0)), (Budget(1.0), FIT)):
        with pytest.raises(InvalidParameterError, match="neighboring must be"):
            make(budget).reserve([event(neighboring=other.neighboring)], other)


def test_every_ledger_of_a_fit_is_asked():
    own, shared = Ledger(FIT), Ledger(replace(BY_PATIENT, unit="visit"))
    with (
        pytest.raises(InvalidParameterError, match="unit 'visit'"),
        Mechanism.reserve([own, shared], [event()], None, FIT),
    ):
        pytest.fail("it was reserved")
    own.reserve([event(0.01)], FIT)


def test_a_fit_by_groups_without_a_name_is_refused_before_data_is_read():
    model = DPMoGHard(2, epsilon=0.5, bounds=(-1, 1), max_rows_per_group=2, ledger=Ledger(BY_PATIENT))
    with pytest.raises(InvalidParameterError, match="groups must be of the unit 'patient'"):
        model.fit(np.full((20, 2), np.nan), groups=np.arange(20) // 2)  # a look would find what is missing


def test_the_file_states_the_unit(tmp_path):
    ledger = FileLedger(tmp_path / "team.budget", BY_PATIENT)
    first = json.loads((tmp_path / "team.budget").read_text().splitlines()[0])
    assert first["version"] == 2
    assert first["budget"]["unit"] == "patient"
    assert FileLedger(ledger.path).budget == BY_PATIENT
    with pytest.raises(InvalidParameterError, match="cannot be changed"):
        FileLedger(ledger.path, replace(BY_PATIENT, unit="visit"))


def older(kind, tmp_path):
    """Open a copy of a file that an earlier version wrote."""
    path = tmp_path / "team.budget"
    path.write_bytes((OLDER / f"{kind}.version1.budget").read_bytes())
    return FileLedger(path)


def test_files_of_rows_of_version_1_are_read_and_continued(tmp_path):
    ledger = older("rows", tmp_path)
    assert (ledger.budget.unit, ledger.budget.protects.word) == (None, "row")
    assert len(ledger.account().unfinished) == 1
    before = ledger.spent.rho
    with ledger.reserve([event(neighboring=ledger.budget.neighboring)], ledger.budget) as reservation:
        reservation.record(event(neighboring=ledger.budget.neighboring))
    assert FileLedger(ledger.path).spent.rho == pytest.approx(before + 0.004)


@pytest.mark.parametrize(
    ("unit", "message"), [(None, "groups must have a name"), ("patient", "Budget.*unit='patient'")]
)
def test_files_of_groups_of_version_1_are_read_and_not_continued(unit, message, tmp_path):
    ledger = older("groups", tmp_path)
    assert (ledger.budget.unit, ledger.budget.protects.word) == (None, "group")
    assert len(ledger.events) == 2
    assert ledger.odometer() > 0
    before = Path(ledger.path).read_bytes()
    fit = replace(FIT, unit=unit)
    for attempt in (ledger.check, ledger.reserve):
        with pytest.raises(InvalidParameterError, match=f"{message}.*another file"):
            attempt([event()], fit)
    assert Path(ledger.path).read_bytes() == before
