"""How far a fit is: every pass is told, and whoever stops the fit loses nothing that was spent."""

import math
import threading

import numpy as np
import pytest

from dpmorse import Budget, DPMoG, DPMoGHard, DPMorse, InMemoryEngine, Ledger, Progress, _progress, progress


@pytest.fixture
def X(rng):
    return rng.normal(size=(3000, 2)) * 0.3


@pytest.fixture
def eager(monkeypatch):
    """Tell about every chunk."""
    monkeypatch.setattr(_progress, "_SECONDS_BETWEEN", -1.0)


def watched(fit):
    reports = []
    with progress(reports.append):
        fit()
    return reports


@pytest.mark.parametrize("base", [DPMoGHard, DPMoG])
def test_every_round_is_told_and_ends_at_one(base, X, eager):
    """Also the first of several soft rounds, before which records are quantised for all of them."""
    engine = InMemoryEngine(chunk_rows=500, n_threads=2)
    model = base(3, epsilon=1.0, bounds=(-1, 1), n_iter=4, engine=engine)
    reports = watched(lambda: model.fit(X))
    steps = list(dict.fromkeys(report.step for report in reports))
    assert steps == [f"round {i} of 4" for i in range(1, 5)]
    for step in steps:
        fractions = [report.fraction for report in reports if report.step == step]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert len(fractions) >= 6
    assert all(report.rows_per_second > 0 for report in reports)
    assert reports[-1].seconds_left == 0
    assert all(report.seconds_left > 0 for report in reports if report.step != steps[-1])


def test_the_default_tells_every_stage(X):
    def steps(X):
        return {report.step for report in watched(lambda: DPMorse(2, epsilon=1.0, bounds=(-1, 1)).fit(X))}

    first = {"ranges of the columns", "moments of the columns"}
    assert steps(X) == {*first, "outskirts", "joint histogram", "profile"}
    others = steps(np.column_stack([X, X])) - first
    assert {step.split(",")[0] for step in others} == {"coreset", "components", "profile"}


def test_batches_are_checked_before_anybody_knows_their_number(X, eager):
    class Batches:
        def __iter__(self):
            return iter([X[:1000], X[1000:]])

    reports = watched(lambda: DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1).fit(Batches()))
    assert reports[0].step == "checking the records"
    assert math.isnan(reports[0].fraction)
    assert str(reports[0]).endswith("rows/s")
    assert "100%" in str(reports[-1])


def test_nothing_changes_for_those_who_do_not_look(X):
    def fit():
        return DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(X)

    with progress(lambda report: None):
        seen = fit()
    assert seen.mixture_ == fit().mixture_


def test_a_line_is_kept_up_to_date(X, capsys):
    with progress():
        DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=2).fit(X)
    shown = capsys.readouterr().err
    assert "round 2 of 2: 100%" in shown
    assert shown.endswith("\n")


def test_whoever_stops_a_fit_loses_nothing_that_was_spent(X):
    ledger = Ledger(Budget(5.0))
    model = DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=5, ledger=ledger)

    def stop(report: Progress) -> None:
        if report.step == "round 3 of 5":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(stop):
        model.fit(X)
    assert [event.name for event in ledger.events] == ["round 1 of 5", "round 2 of 5"]
    assert not hasattr(model, "mixture_")
    assert DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=5, ledger=ledger).fit(X).mixture_ is not None


def test_fits_of_other_threads_are_not_watched(X):
    reports = []
    with progress(reports.append):
        other = threading.Thread(
            target=lambda: DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1).fit(np.zeros((9, 2)))
        )
        other.start()
        other.join()
    assert reports == []
