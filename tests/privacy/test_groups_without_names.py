"""Groups without a name meet no others on a ledger: nothing tells if they are of one unit."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dpmorse import Budget, DPMoGHard, InvalidParameterError, Ledger
from dpmorse.cli.application import app
from dpmorse.privacy import FileLedger, Neighboring
from release_events import event

OLDER = Path(__file__).parents[1] / "older_files"
WITHOUT = Budget(50.0, 1e-6, Neighboring.ADD_REMOVE_GROUP, 3)
BY_PATIENT = replace(WITHOUT, unit="patient")
PATIENTS = np.arange(60) // 3
HOUSEHOLDS = np.arange(60) // 12
X = np.linspace(-1, 1, 120).reshape(60, 2)
REFUSAL = "groups must have a name on a ledger that several fits share, got groups without one"


@pytest.fixture(params=["memory", "file", "reopened file"])
def ledger_of(request, tmp_path):
    """Return what gives the ledger of a budget to each fit that shares it."""
    if request.param == "memory":
        made = {}
        return lambda budget: made.setdefault(budget, Ledger(budget))
    path = tmp_path / "team.budget"
    if request.param == "file":
        made = {}
        return lambda budget: made.setdefault(budget, FileLedger(path, budget))
    return lambda budget: FileLedger(path, budget)


def state_of(ledger):
    """All that a ledger knows: for a file, its bytes."""
    if isinstance(ledger, FileLedger):
        return Path(ledger.path).read_bytes()
    return ledger.events, tuple(ledger._reservations)


def fit(ledger, groups, **options):
    model = DPMoGHard(
        1, epsilon=1.0, bounds=(-1, 1), n_iter=2, max_rows_per_group=2, ledger=ledger, random_state=0
    )
    return model.set_params(**options).fit(X, groups=groups)


@pytest.mark.filterwarnings("error::dpmorse.PrivacyLeakWarning")
def test_patients_and_then_households_as_plain_arrays_are_refused(ledger_of):
    """This was paid for once, with a warning at most: the sum of both is a promise to neither."""
    assert fit(ledger_of(WITHOUT), PATIENTS).privacy_.budget.unit is None, "the first meets nobody"
    before = state_of(ledger_of(WITHOUT))
    for groups in (
        HOUSEHOLDS,
        PATIENTS,
        list(PATIENTS),
        pd.Series(PATIENTS),
        pd.Series(PATIENTS, name="34.5"),
    ):
        with pytest.raises(InvalidParameterError, match=REFUSAL):
            fit(ledger_of(WITHOUT), groups)
    assert state_of(ledger_of(WITHOUT)) == before


def test_the_message_says_what_to_do(ledger_of):
    fit(ledger_of(WITHOUT), PATIENTS)
    with pytest.raises(InvalidParameterError, match=REFUSAL) as caught:
        fit(ledger_of(WITHOUT), PATIENTS)
    for words in (
        "Nothing was released",
        "as the name of a column or as a named Series",
        "Budget(..., unit='patient')",
        "a ledger of its own",
    ):
        assert words in str(caught.value)


def test_a_name_does_not_meet_groups_without_one(ledger_of):
    """Nor before the first fit: whose budget it is, the ledger says."""
    for _ in range(2):
        before = state_of(ledger_of(WITHOUT))
        with pytest.raises(InvalidParameterError, match=r"names the unit, Budget\(..., unit='patient'\)"):
            fit(ledger_of(WITHOUT), pd.Series(PATIENTS, name="patient"))
        assert state_of(ledger_of(WITHOUT)) == before
        if not ledger_of(WITHOUT).events:
            fit(ledger_of(WITHOUT), PATIENTS)


def test_groups_without_a_name_do_not_meet_a_name(ledger_of):
    for _ in range(2):
        before = state_of(ledger_of(BY_PATIENT))
        with pytest.raises(InvalidParameterError, match="groups must be of the unit 'patient'"):
            fit(ledger_of(BY_PATIENT), PATIENTS)
        assert state_of(ledger_of(BY_PATIENT)) == before
        fit(ledger_of(BY_PATIENT), pd.Series(PATIENTS, name="patient"))


def test_groups_of_one_name_share_a_ledger(ledger_of):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "patient": PATIENTS})
    fit(ledger_of(BY_PATIENT), pd.Series(PATIENTS, name="patient"))
    model = DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), n_iter=2, max_rows_per_group=3)
    model.set_params(ledger=ledger_of(BY_PATIENT)).fit(frame, groups="patient")
    assert len(ledger_of(BY_PATIENT).events) == 4


def test_a_refusal_comes_before_a_value_is_looked_at(ledger_of):
    fit(ledger_of(WITHOUT), PATIENTS)
    model = DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=2, ledger=ledger_of(WITHOUT))
    with pytest.raises(InvalidParameterError, match=REFUSAL):
        model.fit(np.full((60, 2), np.nan), groups=PATIENTS)  # a look would find what is missing


def test_a_fit_that_released_nothing_was_not_met(ledger_of):
    with pytest.raises(InvalidParameterError, match="NaN"):
        DPMoGHard(1, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=2, ledger=ledger_of(WITHOUT)).fit(
            np.full((60, 2), np.nan), groups=PATIENTS
        )
    assert ledger_of(WITHOUT).events == ()
    fit(ledger_of(WITHOUT), PATIENTS)


def test_a_fit_that_is_running_is_met(ledger_of):
    with ledger_of(WITHOUT).reserve([event()], WITHOUT):
        before = state_of(ledger_of(WITHOUT))
        with pytest.raises(InvalidParameterError, match=REFUSAL):
            ledger_of(WITHOUT).reserve([event()], WITHOUT)
        assert state_of(ledger_of(WITHOUT)) == before
    with ledger_of(WITHOUT).reserve([event()], WITHOUT):
        pass  # the first has released nothing and given all back


def test_of_many_fits_at_once_one_is_paid_for(ledger_of):
    ledger, begin, done = ledger_of(WITHOUT), threading.Barrier(8), []

    def spend():
        begin.wait()
        try:
            with ledger.reserve([event()], WITHOUT) as reservation:
                reservation.record(event())
        except InvalidParameterError:
            return
        done.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(ledger.events) == 1


def test_releases_that_do_not_say_whose_they_are_have_no_name(ledger_of):
    """Without a budget, nothing says what a reservation is for: on a ledger of groups that is no name."""
    with ledger_of(WITHOUT).reserve([event()]) as reservation:
        reservation.record(event())
    with pytest.raises(InvalidParameterError, match=REFUSAL):
        ledger_of(WITHOUT).reserve([event()])


def test_a_named_ledger_takes_no_releases_that_do_not_say_whose_they_are(ledger_of):
    with pytest.raises(InvalidParameterError, match="groups must be of the unit 'patient'"):
        ledger_of(BY_PATIENT).reserve([event()])
    assert ledger_of(BY_PATIENT).events == ()


def test_rows_need_no_name(ledger_of):
    for _ in range(3):
        with ledger_of(Budget(9.0)).reserve([event(neighboring=Neighboring.ADD_REMOVE)]) as reservation:
            reservation.record(event(neighboring=Neighboring.ADD_REMOVE))
    assert len(ledger_of(Budget(9.0)).events) == 3


@pytest.mark.parametrize("how", ["an older file", "a file begun in Python"])
def test_the_command_line_shows_such_a_file_and_does_not_add_to_it(how, tmp_path):
    table, path = tmp_path / "visits.csv", tmp_path / "team.budget"
    pd.DataFrame({"a": X[:, 0], "patient": PATIENTS}).to_csv(table, index=False)
    if how == "an older file":
        path.write_bytes((OLDER / "groups.version1.budget").read_bytes())
    else:
        fit(FileLedger(path, WITHOUT), PATIENTS)
    before = path.read_bytes()
    shown = CliRunner().invoke(app, ["show", "--budget", str(path)])
    assert (shown.exit_code, "one group" in shown.stdout) == (0, True)
    options = ["--epsilon", "0.1", "--bounds", "-1,1", "--unit", "patient", "--max-rows", "2"]
    output = ["--budget", str(path), "-o", str(tmp_path / "model.json")]
    refused = CliRunner().invoke(app, ["fit", str(table), *options, *output])
    assert refused.exit_code == 1
    assert "(with --budget, another file)" in " ".join(refused.stderr.split())
    assert path.read_bytes() == before
    assert not (tmp_path / "model.json").exists()


def test_each_may_have_a_ledger_of_its_own():
    for groups in (PATIENTS, HOUSEHOLDS):
        ledger = Ledger(WITHOUT)
        fit(ledger, groups)
        assert len(ledger.events) == 2
        fit(None, groups)
