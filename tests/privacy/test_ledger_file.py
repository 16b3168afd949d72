"""A budget in a file: never over the total, whoever is killed, whenever, and however many fit at once."""

import json
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from dpmorse import Budget, BudgetExceededError, DPMoGHard, InvalidParameterError, InvalidTypeError, Ledger
from dpmorse.privacy import LAPLACE, FileLedger, ReleaseEvent, Step, ledger_file

BUDGET = Budget(epsilon=1.0, delta=1e-6)


def event(rho=0.004, name="a release", **changes):
    fields = {
        "neighboring": BUDGET.neighboring,
        "n_draws": 10,
        "smallest_scale": 2**24,
        "noise_stddev": {"count": 3.0},
    }
    return ReleaseEvent(step=Step.parse(name), rho=rho, **{**fields, **changes})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "team.budget"


@pytest.fixture
def ledger(path):
    return FileLedger(path, BUDGET)


def spend(ledger, *events):
    with ledger.reserve(events) as reservation:
        for one in events:
            reservation.record(one)


def rewrite(path, change):
    """Change the list of lines of a file."""
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))


def append(path, line):
    with path.open("ab") as file:
        file.write(line)


# -- an account like any other ------------------------------------------------------------------------


def test_it_agrees_with_a_ledger_in_memory(ledger):
    memory = Ledger(BUDGET)
    for one in (event(), event(0.01, "another"), event(0.002)):
        spend(ledger, one)
        spend(memory, one)
    assert ledger.events == memory.events
    assert ledger.spent == memory.spent


def test_both_refuse_at_the_same_point(ledger):
    for each in (ledger, Ledger(BUDGET)):
        for _ in range(5):
            spend(each, event(0.005))
        with pytest.raises(BudgetExceededError):
            spend(each, event(0.005))


def test_it_is_the_same_for_all_who_open_it(ledger, path):
    spend(ledger, event())
    other = FileLedger(path)
    spend(other, event(name="by another"))
    assert [one.name for one in ledger.events] == ["a release", "by another"]
    assert pickle.loads(pickle.dumps(ledger)).events == ledger.events


def test_what_was_not_used_is_given_back(ledger):
    with ledger.reserve([event(0.02)]) as reservation:
        reservation.record(event(0.001))
    assert ledger.spent.rho == 0.001
    assert not ledger.account().unfinished


def test_what_was_not_reserved_is_refused(ledger):
    with (
        ledger.reserve([event(0.001)]) as reservation,
        pytest.raises(BudgetExceededError, match="not reserved"),
    ):
        reservation.record(event(0.002))
    assert ledger.spent.rho == 0


def test_a_fit_writes_its_whole_plan_before_it_reads(ledger, path, rng, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "dpmorse.bases.base.read_numbers",
        lambda estimator, records, most: seen.append(FileLedger(path).account()) or records.read(estimator),
    )
    X = rng.uniform(-1, 1, size=(200, 2))
    model = DPMoGHard(2, epsilon=0.5, bounds=(-1, 1), n_iter=3, ledger=ledger).fit(X)
    assert len(seen[0].unfinished) == 1
    assert seen[0].spent.rho == pytest.approx(model.privacy_.rho)
    assert ledger.events == model.privacy_.events
    assert not ledger.account().unfinished


def test_a_fit_over_the_total_is_refused_before_it_reads(ledger, monkeypatch):
    monkeypatch.setattr("dpmorse.bases.base.read_numbers", lambda *_: pytest.fail("data was read"))
    with pytest.raises(BudgetExceededError, match=r"'team\.budget'.*over the budget of 1"):
        DPMoGHard(2, epsilon=1.1, bounds=(-1, 1), ledger=ledger).fit(np.zeros((9, 2)))


def test_pure_and_grouped_budgets_are_read_back(tmp_path):
    for i, budget in enumerate([Budget(2.0, 0), Budget(1.0, 1e-9, "replace-one")]):
        assert FileLedger(tmp_path / str(i), budget).budget == budget
        assert FileLedger(tmp_path / str(i)).budget == budget


def test_costs_of_large_promises_are_read_back(path):
    """A line that was written must be one that can be read, or the file would be lost."""
    ledger = FileLedger(path, Budget(1e9, 0))
    planned = event(5e17, noise=LAPLACE, pure_epsilon=1e9)
    spend(ledger, planned)
    assert FileLedger(path).events == (planned,)


def test_another_relation_is_refused(ledger):
    with pytest.raises(InvalidParameterError, match="neighboring"):
        ledger.reserve([event(neighboring=Budget(1.0, 1e-6, "replace-one").neighboring)])


def test_another_total_is_refused(ledger, path):
    with pytest.raises(InvalidParameterError, match="cannot be changed"):
        FileLedger(path, Budget(5.0))
    with pytest.raises(InvalidTypeError, match="budget must be a Budget"):
        FileLedger(path, 5.0)


def test_a_file_that_is_not_there_is_not_invented(path):
    with pytest.raises(FileNotFoundError):
        FileLedger(path)


def test_check_reserves_nothing(ledger, path):
    before = path.read_bytes()
    ledger.check([event()])
    with pytest.raises(BudgetExceededError):
        ledger.check([event(1.0)])
    assert path.read_bytes() == before


# -- interruptions ------------------------------------------------------------------------------------


def test_a_killed_fit_stays_spent(path):
    code = f"""
import os, signal
from dpmorse import Budget
from dpmorse.privacy import FileLedger, ReleaseEvent, Step
ledger = FileLedger({str(path)!r}, Budget(1.0))
planned = ReleaseEvent(step=Step("killed"), neighboring=ledger.budget.neighboring, rho=0.02, n_draws=1,
                       smallest_scale=2**24, noise_stddev={{}})
with ledger.reserve([planned]):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    ledger = FileLedger(path, BUDGET)
    assert ledger.spent.rho == 0.02
    assert len(ledger.account().unfinished) == 1
    with pytest.raises(BudgetExceededError, match="interrupted"):
        ledger.reserve([event(0.02)])
    spend(ledger, event(0.001))  # what is left can still be used


@pytest.mark.parametrize("kept", range(1, 40, 7))
def test_a_line_that_was_cut_off_is_left_out(ledger, path, kept):
    spend(ledger, event())
    whole = path.read_bytes()
    ledger.reserve([event(name="cut off")])
    path.write_bytes(path.read_bytes()[: len(whole) + kept])
    assert [one.name for one in FileLedger(path).events] == ["a release"]
    spend(FileLedger(path), event(name="next"))
    assert path.read_bytes().startswith(whole)
    assert [one.name for one in FileLedger(path).events] == ["a release", "next"]


def test_a_full_disk_leaves_the_file_as_it_was(ledger, path, monkeypatch):
    spend(ledger, event())
    before = path.read_bytes()

    def half_a_line(file, data):
        file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_file, "_write_all", half_a_line)
    with pytest.raises(OSError, match="No space"):
        ledger.reserve([event()])
    assert path.read_bytes() == before


def test_reads_that_give_a_part_at_a_time_lose_no_spend(ledger, path, monkeypatch):
    """A signal or a network can cut a read short: a part of the file would be a smaller spend."""
    for i in range(3):
        spend(ledger, event(name=f"release {i}"))

    class Slow(ledger_file.FileIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    monkeypatch.setattr(ledger_file, "FileIO", Slow)
    before = path.read_bytes()
    assert [one.name for one in ledger.events] == ["release 0", "release 1", "release 2"]
    spend(ledger, event(name="next"))
    assert path.read_bytes().startswith(before)
    assert len(ledger.events) == 4


def test_memory_is_taken_for_what_is_there_not_for_what_may_be(ledger):
    import tracemalloc

    tracemalloc.start()
    try:
        ledger.account()
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_the_end_of_a_fit_that_cannot_be_written_costs_the_plan_not_the_model(ledger, path):
    reservation = ledger.reserve([event(0.02)])
    reservation.record(event(0.001))
    moved = path.rename(path.with_suffix(".away"))
    with pytest.warns(RuntimeWarning, match="stays spent"):
        reservation.__exit__(None, None, None)
    assert FileLedger(moved).spent.rho == 0.02


def test_a_forked_process_must_open_the_file_itself(ledger, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(BudgetExceededError, match="fork"):
        ledger.reserve([event()])


@pytest.mark.long
def test_processes_at_once_never_exceed_the_total(path):
    """Eight processes try five times each; five reservations fit."""
    code = f"""
import os
from dpmorse import Budget, BudgetExceededError
from dpmorse.privacy import FileLedger, ReleaseEvent, Step
def child():
    ledger = FileLedger({str(path)!r}, Budget(1.0))
    planned = ReleaseEvent(step=Step(str(os.getpid())), neighboring=ledger.budget.neighboring, rho=0.005, n_draws=1,
                           smallest_scale=2**24, noise_stddev={{}})
    for _ in range(5):
        try:
            with ledger.reserve([planned]) as reservation:
                reservation.record(planned)
        except BudgetExceededError:
            pass
for _ in range(8):
    if os.fork() == 0:
        try:
            child()
        finally:
            os._exit(0)
for _ in range(8):
    os.wait()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    ledger = FileLedger(path)
    assert len(ledger.events) == 5
    assert ledger.spent.epsilon(1e-6) <= 1.0
    assert sorted(os.listdir(path.parent)) == ["team.budget"]


# -- damage -------------------------------------------------------------------------------------------


def swap(lines):
    lines[1], lines[3] = lines[3], lines[1]


DAMAGE = {
    "a cost was changed": lambda lines: lines.__setitem__(1, lines[1].replace(b"0.004", b"0.001")),
    "the total was changed": lambda lines: lines.__setitem__(
        0, lines[0].replace(b'"epsilon": 1.0', b'"epsilon": 9.0')
    ),
    "a line was removed": lambda lines: lines.pop(2),
    "a line was repeated": lambda lines: lines.insert(3, lines[2]),
    "lines were swapped": swap,
    "a line is empty": lambda lines: lines.insert(2, b"\n"),
    "a line is not JSON": lambda lines: lines.insert(2, b"\x00\xff\n"),
    "a key appears twice": lambda lines: lines.__setitem__(1, lines[1].replace(b"{", b'{"kind": "x", ', 1)),
    "a line is a list": lambda lines: lines.insert(2, b"[]\n"),
    "deeply nested": lambda lines: lines.insert(2, b"[" * 100_000 + b"\n"),
    "the first line is missing": lambda lines: lines.pop(0),
    "empty": lambda lines: lines.clear(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_refused(ledger, path, damage):
    spend(ledger, event())
    spend(ledger, event(name="second"))
    rewrite(path, damage)
    with pytest.raises(InvalidParameterError, match=r"'team\.budget' is not a budget file"):
        FileLedger(path)
    with pytest.raises(InvalidParameterError, match="Nothing was released"):
        ledger.reserve([event()])


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "reserved", "events": [{"rho": -1.0}]},
        {"kind": "reserved", "events": [{"rho": "none"}]},
        {"kind": "reserved", "events": [{"pure_epsilon": 0.0}]},
        {"kind": "reserved", "events": [{"n_draws": 0}]},
        {"kind": "reserved", "events": [{"noise": "loud"}]},
        {"kind": "reserved", "events": [{"more": 1}]},
        {"kind": "reserved", "events": 3},
        {"kind": "finished"},
        {"kind": "forgotten"},
    ],
)
def test_lines_that_make_no_sense_are_refused_even_with_a_right_checksum(ledger, path, changed):
    from dpmorse.privacy import ledger_lines as lines

    good = json.loads(lines.next_line(ledger.account(), "reserved", "x", [event()], "now"))
    del good["checksum"]
    events = changed.get("events", [{}])
    listed = [{**good["events"][0], **part} for part in events] if isinstance(events, list) else events
    append(path, lines._line({**good, **changed, "events": listed}, ledger.account().checksum))
    with pytest.raises(InvalidParameterError, match="in line 2"):
        FileLedger(path)


def test_a_finished_line_cannot_spend_more_than_was_reserved(ledger, path):
    from dpmorse.privacy import ledger_lines as lines

    ledger.reserve([event(0.001)])
    account = ledger.account()
    (identity,) = account.unfinished
    append(path, lines.next_line(account, "finished", identity, [event(0.01)], "now"))
    with pytest.raises(InvalidParameterError, match="more than was reserved"):
        FileLedger(path)


def test_a_file_of_a_newer_version_is_refused(path):
    from dpmorse.privacy import ledger_lines as lines

    for version in (3, 0, True, "2", None):
        path.write_bytes(lines._line({"format": lines.FORMAT, "version": version, "budget": {}}, ""))
        with pytest.raises(InvalidParameterError, match="reads versions 1 to 2"):
            FileLedger(path)


@pytest.mark.parametrize(("version", "unit"), [(1, {"unit": None}), (2, {})])
def test_a_first_line_has_the_fields_of_its_version(version, unit, path):
    from dpmorse.privacy import ledger_lines as lines

    budget = {"epsilon": 1.0, "delta": 1e-6, "neighboring": "add-remove", "max_rows_per_group": None}
    content = {"format": lines.FORMAT, "version": version, "budget": {**budget, **unit}}
    path.write_bytes(lines._line(content, ""))
    with pytest.raises(InvalidParameterError, match="does not state a budget"):
        FileLedger(path)


def test_the_file_holds_costs_and_times_only(ledger, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DPMoGHard(2, epsilon=0.5, bounds=(-1, 1), n_iter=2, ledger=ledger, random_state=987654).fit(
            np.full((777, 2), 0.123)
        )
    text = path.read_text()
    assert all(secret not in text for secret in ("987654", "777", "0.123"))
    for line in text.splitlines()[1:]:
        assert set(json.loads(line)) == {"kind", "fit", "at", "events", "checksum"}
