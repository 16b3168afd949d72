"""Rehearsals on the command line: after the model is written, told on a bar, and never at its cost."""

import json

import pytest

from dpmorse import _atomic, load
from dpmorse.bases import Refits
from dpmorse.cli import progress

pytestmark = pytest.mark.rehearses

FIT = ["--epsilon", "9", "--bounds", "0,300", "--components", "4", "--seed", "1", "--clusters", "2"]


@pytest.fixture
def fit(run, csv_file):
    """Fit the patients, two rehearsals unless it is said otherwise."""

    def fit(*more, rehearsals=2, **options):
        return run("fit", csv_file, *FIT, "--rehearsals", rehearsals, "-o", "m.json", *more, **options)

    return fit


def test_a_fit_rehearses_and_writes_down_what_was_found(fit, run, run_json, monkeypatch, here):
    result = fit()
    assert result.stdout.count("2 of 2") >= 1
    assert "about repetition, not about truth" in " ".join(result.stdout.split())
    monkeypatch.setattr(Refits, "fit", lambda *_: pytest.fail("what the file knows is not found anew"))
    shown = run_json("show", "m.json")
    for cluster in shown["clusters"]:
        assert 0 <= cluster["again"] <= 1
        assert cluster["found_again"]["of"] == 2
    assert len(shown["suggestion"]["rehearsals"]) == 2
    assert f"found again in {shown['clusters'][0]['found_again']['in']} of 2 rehearsals" in str(
        load("m.json")._again().in_words(0)
    )
    run("report", "m.json", "-o", "r.html")
    assert "found again in 2 of 2 rehearsals" in (here / "r.html").read_text()
    run("cut", "m.json", "--clusters", "3", "-o", "three.json")
    assert load("three.json")._again().matches.shape == (2, 3)


def test_json_of_a_fit_has_the_same(fit):
    told = json.loads(fit("--json").stdout)
    assert [cluster["found_again"]["of"] for cluster in told["clusters"]] == [2, 2]


def test_they_can_be_turned_off(fit, run_json, monkeypatch):
    monkeypatch.setattr(Refits, "fit", lambda *_: pytest.fail("none are asked for"))
    assert "found again" not in fit(rehearsals=0).stdout
    shown = run_json("show", "m.json")
    assert [cluster["again"] for cluster in shown["clusters"]] == [None, None]
    assert shown["suggestion"]["rehearsals"] is None


def test_a_base_without_a_profile_has_none(run, run_json, csv_file):
    run("fit", csv_file, *FIT, "--base", "DPMoGHard", "-o", "m.json")
    assert [cluster["again"] for cluster in run_json("show", "m.json")["clusters"]] == [None, None]


@pytest.mark.parametrize("value", ["-1", "101", "x"])
def test_numbers_that_make_no_sense(value, fit, here):
    fit(rehearsals=value, code=2)
    assert not (here / "m.json").exists(), "nothing was spent"


def test_the_model_is_complete_before_the_first_rehearsal_and_stays_if_they_are_interrupted(
    fit, run_json, here, monkeypatch
):
    seen = []

    def stopped(self, number):
        seen.append((here / "m.json").read_bytes())
        raise KeyboardInterrupt

    monkeypatch.setattr(Refits, "fit", stopped)
    result = fit(code=130)
    assert "the model is complete in 'm.json'" in result.stderr
    assert (here / "m.json").read_bytes() == seen[0]
    assert load("m.json")._rehearsals.done is None
    assert [path.name for path in here.glob("m.json*")] == ["m.json"]
    monkeypatch.undo()
    assert run_json("show", here / "m.json")["clusters"][0]["found_again"]["of"] == 2


def test_a_disk_that_is_full_by_then_takes_nothing_away(fit, here, monkeypatch):
    replace, written = _atomic.os.replace, []

    def full(source, target):
        if written:
            raise OSError(28, "No space left on device")
        written.append(target)
        replace(source, target)

    monkeypatch.setattr(_atomic.os, "replace", full)
    result = fit()
    monkeypatch.undo()
    assert "its rehearsals could not be added: No space left on device" in result.stderr
    assert load(here / "m.json")._rehearsals.done is None
    assert [path.name for path in here.glob("m.json*")] == ["m.json"]


def test_the_bar_tells_how_far_they_are(fit, monkeypatch):
    told, fraction = [], progress.Bar.fraction

    def noting(self, what):
        told.append(what)
        return fraction(self, what)

    monkeypatch.setattr(progress.Bar, "fraction", noting)
    fit()
    assert told == ["rehearsing on synthetic records"]


def test_rehearsing_tells_each_part(fit):
    fit(rehearsals=0)
    model, told = load("m.json"), []
    model._rehearsals.n_rehearsals = 4
    model._rehearsals.made(told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]
