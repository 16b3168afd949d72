"""One plan for the fit, the command, the report and the check of a loaded file."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpmorse import Budget, DPLloyd, DPMorse, Ledger, ModelFormatError, MorseClustering
from dpmorse.bases import (
    CENTRES,
    BinaryCodes,
    CellMoments,
    CentreBase,
    GaussianCells,
    Plan,
    SecondMoments,
    Stage,
    rehearse,
)
from dpmorse.bases.plan import BOUNDS, SHARE_OF_BOUNDS
from dpmorse.privacy import Composition, Step
from every_base import OF_NUMBERS, every_way, every_way_of_numbers

GOOD = {"epsilon": 1.0, "bounds": (-1.0, 1.0)}


FITTED = {}


@pytest.fixture
def fitted(way, blobs):
    """A model that tests share, for they leave it alone."""
    if way not in FITTED:
        FITTED[way] = way.make().fit(way.table(blobs[0]))
    return FITTED[way]


@pytest.fixture(scope="module")
def with_private_bounds():
    """Models that find their bounds, by name."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(2000, 2))
    return {name: way.make(bounds="private").fit(X) for name, way in OF_NUMBERS.items()}


@every_way
def test_a_fit_reserves_its_plan(way, fitted):
    plan = way.make().plan(way.n_columns(2))
    assert fitted.privacy_.reserved == plan.events == fitted.plan_.events
    assert fitted.plan_.stages == plan.stages


@every_way
def test_stages_share_the_whole_budget(way):
    plan = way.make(n_features=3).plan(way.n_columns(3))
    total = sum(stage.cost for stage in plan.stages)
    assert Composition.of(plan.events).rho == pytest.approx(total, rel=1e-6)
    assert Composition.of(plan.events).epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)
    assert BOUNDS not in plan


@every_way_of_numbers
def test_private_bounds_have_their_share_of_the_budget(way):
    plan = way.make(bounds="private").plan(3)
    total = sum(stage.cost for stage in plan.stages)
    assert Composition.of(plan.events).rho == pytest.approx(total, rel=1e-6)
    assert plan[BOUNDS].cost == pytest.approx(SHARE_OF_BOUNDS * total)


@every_way
def test_releases_are_named_after_stages_of_the_plan(way, fitted):
    stages = [stage.name for stage in fitted.plan_.stages]
    assert list(dict.fromkeys(event.step.stage for event in fitted.privacy_.events)) == stages


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_releases_of_bounds_come_first(name, with_private_bounds):
    model = with_private_bounds[name]
    stages = [stage.name for stage in model.plan_.stages]
    assert stages[0] == BOUNDS
    assert list(dict.fromkeys(event.step.stage for event in model.privacy_.events)) == stages


@every_way
def test_a_report_of_another_plan_is_refused(fitted):
    plan, report = fitted.plan_, fitted.privacy_
    assert plan.checked(report) == report
    assert plan.checked(replace(report, reserved=())) == report, "files of version 1 do not say"
    last = report.events[-1]
    for events in (
        (),
        (*report.events, *report.events),
        report.events[::-1] if len(report.events) > 1 else (),
        (*report.events[:-1], replace(last, step=Step("another stage"))),
        (*report.events[:-1], replace(last, rho=2 * last.rho)) if math.isinf(last.pure_epsilon) else (),
        tuple(replace(event, neighboring="replace-one") for event in report.events),
    ):
        if events != report.events:
            with pytest.raises(ModelFormatError, match=r"privacy\.events"):
                plan.checked(replace(report, events=events))
    with pytest.raises(ModelFormatError, match=r"privacy\.reserved"):
        plan.checked(replace(report, reserved=report.reserved[:-1] or (replace(last, rho=0.0),)))


@every_way
def test_the_plan_of_an_estimator_with_a_morse_step_is_that_of_its_base(way):
    base, n_columns = way.make(n_features=3), way.n_columns(3)
    assert MorseClustering(base).plan(n_columns).events == base.plan(n_columns).events


def test_the_plan_of_dpmorse_is_that_of_its_fit(blobs):
    model = DPMorse(3, **GOOD)
    assert model.plan(2).events == model.fit(blobs[0]).privacy_.reserved


@every_way
def test_a_rehearsal_makes_the_releases_of_a_fit(way, rng):
    base, n_columns = way.make(n_features=3, random_state=0), way.n_columns(3)
    rehearsed = rehearse(base, n_columns, 4000)
    fitted = base.fit(way.table(rng.uniform(-0.5, 0.5, size=(4000, 3))))
    assert rehearsed.rho <= Composition.of(base.plan(n_columns).events).rho * (1 + 1e-9)
    assert abs(rehearsed.n_releases - len(fitted.privacy_.events)) <= 12


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step("coreset", "round", 2, 3), "coreset, round 2 of 3"),
        (Step("round", turn=1, turns=10), "round 1 of 10"),
        (Step("joint histogram"), "joint histogram"),
        (Step("centres", "best set"), "centres, best set"),
    ],
)
def test_steps_have_one_text(step, text):
    assert str(step) == text
    assert Step.parse(text) == step


@pytest.mark.parametrize(
    "text",
    ["", ", ", "a, ", ", b", "x 0 of 3", "x 01 of 3", "x 1 of ", "1 of 2", "a\n1 of 2", "9" * 40 + " of 3"],
)
def test_any_text_of_a_file_is_read_and_written_back(text):
    assert str(Step.parse(text)) == text


def test_the_number_of_records_is_public_under_replace_one_only(rng):
    X = rng.uniform(-1, 1, size=(777, 2))
    for neighboring, is_public in (("replace-one", True), ("add-remove", False)):
        base = DPLloyd(**GOOD, neighboring=neighboring, random_state=1)
        stages = [stage.name for stage in base.plan(2).stages]
        assert ("number of records" in stages) is not is_public
        assert np.isfinite(base.fit(X).mixture_.means).all()


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_private_bounds_are_checked_apart(name, with_private_bounds):
    """Two releases, at no more than their stage; nothing else of that stage, and something besides."""
    fitted = with_private_bounds[name]
    plan, report = fitted.plan_, fitted.privacy_
    first, second, *others = report.events
    for events in (
        (first, second),
        (first, first, *others),
        (second, first, *others),
        (first, second, first, *others),
        (replace(first, rho=5 * first.rho), second, *others),
        tuple(others),
    ):
        with pytest.raises(ModelFormatError, match=r"privacy\.events"):
            plan.checked(replace(report, events=events))


def test_a_stage_that_the_plan_does_not_have_is_named():
    plan = DPMorse(3, **GOOD).plan(2)
    assert "joint histogram" in plan
    with pytest.raises(KeyError, match="no stage 'centers': it has 'ranges of the columns'"):
        plan["centers"]


@pytest.mark.parametrize(
    "stages",
    [
        [Stage("a", 0.5, 1), Stage("a", 0.5, 1)],
        [Stage("a", 0.5, 1)],
        [Stage("a", 2.0, 1)],
        [Stage("a, b", 1.0, 1)],
        [Stage("round 1 of 3", 1.0, 1)],
        [Stage(BOUNDS, 1.0, 1)],
    ],
)
def test_stages_that_an_author_has_divided_wrongly_are_refused(stages):
    settings = DPMorse(3, **GOOD).plan(2).settings
    with pytest.raises(ValueError, match="stages"):
        Plan.of(settings, stages)


def test_a_parameter_that_is_in_no_table_is_refused_before_anything_is_spent(blobs):
    @dataclass(eq=False, repr=False)
    class More(DPLloyd):
        extra: int = 1

    with pytest.raises(TypeError, match="not in the table of its settings_type, CentreSettings: extra"):
        More(**GOOD).fit(blobs[0])


# -- what may be asked ---------------------------------------------------------------------------------


class Asking(CentreBase):
    """A base whose question is given to it."""

    def most_draws(self, settings):
        return 10_000

    def find_centres(self, queries, plan, n_records, rng):
        self.question(queries, plan[CENTRES], plan.domain)
        return np.zeros((self.n_components, plan.domain.n_features))


def grid(domain):
    return BinaryCodes.rounded(domain, np.eye(domain.n_features), 1.0, 2)


def counted(prefixes, n_bits):
    def question(queries, stage, domain):
        tallied = queries.tally(stage.step("grid"), grid(domain))
        queries.group_counts(stage.step("grid"), tallied, prefixes, n_bits, cost=stage.cost)

    return question


def summed(cells, n_cells):
    def question(queries, stage, domain):
        statistic = CellMoments(domain, n_cells, second_moments=SecondMoments.NONE)
        scales = queries.calibrate(statistic, stage.cost, None)
        queries.moments(stage.step("cells"), statistic, cells, scales)

    return question


class Peeking:
    """Cells that look at the records which they are shown."""

    n_cells = 1

    def labels(self, q):
        raise AssertionError("records were shown")


@pytest.mark.parametrize(
    "question",
    [
        counted(np.zeros(5, dtype=np.int64), 2),
        counted(np.array([0, 4]), 2),
        counted(np.array([-1]), 2),
        counted(np.arange(4), -1),
        counted(np.arange(4), 99),
        counted(np.arange(4.0), 2),
        counted(np.zeros((2, 2), dtype=np.int64), 2),
        summed(GaussianCells.nearest(np.zeros((3, 2))), 2),
        summed(GaussianCells.nearest(np.zeros((2, 2))), 300),
        summed(Peeking(), 1),
        lambda queries, stage, domain: queries.tally(stage.step("grid"), Peeking()),
    ],
)
def test_questions_that_are_not_paid_for_are_refused(question, blobs):
    ledger = Ledger(Budget(1.0))
    base = Asking(2, **GOOD, ledger=ledger)
    base.question = question
    with pytest.raises((TypeError, ValueError)):
        base.fit(blobs[0])
    assert [event.name for event in ledger.events] == ["number of records"]


def test_records_are_in_no_text_of_what_a_base_is_given(blobs):
    seen = []

    def question(queries, stage, domain):
        seen.extend([repr(vars(queries)), repr(vars(queries._source)), repr(queries)])
        counted(np.arange(4), 2)(queries, stage, domain)

    base = Asking(2, **GOOD)
    base.question = question
    base.fit(blobs[0])
    assert not any("array" in text or "DataFrame" in text for text in seen)
