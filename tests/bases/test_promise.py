"""The promise is what was reserved before the records were read; what was used is an account beside it."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpmorse import DPCube, DPLloyd, DPMoGHard, DPTree, InvalidTypeError, PrivateGaussianMixture, load
from dpmorse.privacy.events import Composition

OLDER = Path(__file__).parents[1] / "older_files"

KINDS = {
    "hard": lambda **given: DPMoGHard(2, epsilon=1.0, n_iter=2, **given),
    "lloyd": lambda **given: DPLloyd(2, epsilon=1.0, **given),
    "pure lloyd": lambda **given: DPLloyd(2, epsilon=1.0, delta=0, **given),
    "cube": lambda **given: DPCube(2, epsilon=1.0, **given),
    "tree": lambda **given: DPTree(2, epsilon=1.0, **given),
    "pure tree": lambda **given: DPTree(2, epsilon=3000.0, delta=0, **given),
    "mixture": lambda **given: PrivateGaussianMixture(2, epsilon=1.0, **given),
}


def tables():
    """Return tables on which fits that divide their budget on the way do so differently."""
    rng = np.random.default_rng(0)
    two = np.r_[rng.normal(-0.5, 0.01, (300, 2)), rng.normal(0.5, 0.01, (300, 2))]
    return [np.zeros((2, 2)), two, rng.uniform(-1, 1, size=(4000, 2))]


@pytest.mark.filterwarnings("ignore")
def test_what_a_tree_states_does_not_depend_on_the_data():
    """What it used does: it was stated as the promise, and told of the data without being accounted for."""
    reports = [
        DPTree(2, epsilon=3000.0, delta=0, bounds=(-1, 1), random_state=0).fit(X).privacy_ for X in tables()
    ]
    assert len({report.used.pure_epsilon for report in reports}) > 1, "or this test shows nothing"
    (stated,) = {report.epsilon for report in reports}
    assert 3000 * (1 - 1e-6) <= stated <= 3000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bounds", [(-1, 1), "private"])
@pytest.mark.parametrize("kind", KINDS)
def test_stated_is_reserved(kind, bounds):
    reports = []
    for X in tables()[:2]:
        model = KINDS[kind](bounds=bounds, random_state=0)
        report = model.fit(X).privacy_
        assert report.reserved == model.plan(2).events
        promised = Composition.of(report.reserved)
        assert (report.rho, report.epsilon) == (promised.rho, promised.epsilon(report.delta))
        assert promised.covers(report.used)
        reports.append(report)
    first, second = reports
    assert (first.epsilon, first.rho, first.epsilon_zcdp) == (second.epsilon, second.rho, second.epsilon_zcdp)
    assert first.statement.splitlines()[1] == second.statement.splitlines()[1]  # behind NOT SECURE
    assert model.epsilon * (1 - 1e-4) <= first.epsilon <= model.epsilon


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_files_keep_promise_and_account(kind, tmp_path):
    model = KINDS[kind](bounds=(-1, 1), random_state=0).fit(tables()[1])
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").privacy_ == model.privacy_


@pytest.mark.parametrize(("name", "epsilon"), [("tree", 3000.0), ("hard", 1.0), ("morse", 1.0)])
def test_files_of_version_1_load_and_state_what_was_reserved(name, epsilon, tmp_path):
    model = load(OLDER / f"{name}.version1.json")
    report = model.privacy_
    assert report.epsilon == pytest.approx(epsilon, rel=1e-4)
    assert report.used.epsilon(report.delta) <= report.epsilon
    assert (report.used.pure_epsilon < 500) == (name == "tree")
    assert report.budget.unit is None
    model.save(tmp_path / "again.json")
    assert load(tmp_path / "again.json").privacy_ == report


@pytest.mark.parametrize("name", ["staged", "morse", "lloyd"])
def test_files_of_version_2_load_without_a_profile(name, tmp_path):
    older = OLDER / f"{name}.version2.json"
    written = json.loads(older.read_text())
    model = load(older)
    base = getattr(model, "base_", model)
    base_written = written.get("base", written)
    assert base.profile_ is None
    assert base.partition_ is base.mixture_
    assert base.get_params().get("profile", False) is False
    assert base.mixture_.means.tolist() == base_written["mixture"]["means"]
    assert base.privacy_.epsilon == pytest.approx(base_written["privacy"]["epsilon"], rel=1e-6)
    with pytest.raises(InvalidTypeError, match="has no profile"):
        model.table()
    model.save(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["version"] == 4
    base_again = again.get("base", again)
    for part in ("mixture", "domain", "feature_names"):
        assert base_again[part] == base_written[part]
    # What was reserved is added from the plan, whose stages have more noise values than those of then.
    costs = [[event["rho"] for event in of["privacy"]["reserved"]] for of in (base_again, base_written)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)
    for part in ("budget", "events", "secure"):
        assert base_again["privacy"][part] == base_written["privacy"][part]
    assert load(tmp_path / "again.json").privacy_ == model.privacy_
