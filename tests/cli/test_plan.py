"""The plan says what a fit will do: it is rehearsed by the estimators' own code."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpmorse.bases import BASES, rehearse
from dpmorse.bases.hurdles import smallest_seen
from dpmorse.bases.staged.staged_settings import default_n_components
from dpmorse.cli.fit_request import FitRequest
from dpmorse.engine.rehearsal import _Crowd
from dpmorse.schema import Layout
from every_base import OF_NUMBERS

NUMERIC = sorted(set(OF_NUMBERS) & set(BASES))

REQUEST = FitRequest(
    epsilon=1.0,
    delta=1e-6,
    bounds=(-1.0, 1.0),
    clusters="auto",
    components=5,
    base=None,
    neighboring="add-remove",
    seed=0,
)


@pytest.mark.parametrize(
    ("base", "neighboring"),
    [(None, "replace-one"), *((base, "add-remove") for base in NUMERIC)],
)
def test_the_noise_is_that_of_a_fit(base, neighboring, rng):
    request = replace(REQUEST, base=base, neighboring=neighboring)
    planned = request.plan(2)
    rehearsed = rehearse(planned[0], 2, 3000)
    fitted = request.estimator(2).fit(rng.uniform(-0.5, 0.5, size=(3000, 2)))
    profile = fitted.base_.profile_
    if profile is None:
        last = fitted.privacy_.events[-1].noise_stddev["count"]
        averaged = getattr(planned[1].settings, "n_averaged", 1)
        assert rehearsed.count_stddev == pytest.approx(last / math.sqrt(averaged))
    else:  # bins of all columns measure the sizes, too; how many there are depends on the records
        assert rehearsed.count_stddev == pytest.approx(np.median(profile.count_stddev), rel=0.15)
    assert rehearsed.rho <= fitted.privacy_.rho * (1 + 1e-6)
    hurdles = planned[0].hurdles(planned[1], fitted.privacy_.events, 3000)
    assert rehearsed.smallest_cluster == pytest.approx(smallest_seen(hurdles), rel=0.2)
    assert rehearsed.smallest_cluster > 3 * rehearsed.count_stddev


def test_the_table_has_the_usual_epsilons_and_the_one_asked_for(run, run_json):
    content = run_json("plan", "--columns", 3, "--rows", 5000, "--epsilon", 0.7, "--base", "DPLloyd")
    assert [row["epsilon"] for row in content["table"]] == [0.1, 0.5, 0.7, 1, 2, 5, 10]
    assert content["asked"] in content["table"]
    noise = [row["count_noise"] for row in content["table"]]
    assert noise == sorted(noise, reverse=True)
    assert content["suggested_components"] == default_n_components(3)
    text = run("plan", "--columns", 3, "--rows", 5000, "--base", "DPLloyd").stdout
    assert "Suggested --components: 16" in text
    assert f"{content['table'][-1]['smallest_cluster']}" in text


def test_only_what_looks_for_small_clusters_promises_them(run):
    table = ("plan", "--columns", 3, "--rows", 500)
    assert "DPLloyd may have found no place for it" in run(*table, "--base", "DPLloyd").stdout
    assert "no place" not in run(*table).stdout


def test_components_follow_the_number_of_clusters(run_json):
    content = run_json("plan", "--columns", 40, "--rows", 500, "--clusters", 2, "--base", "DPLloyd")
    assert content["components"] == content["suggested_components"] == default_n_components(40, 2)


def test_a_budget_that_cannot_carry_so_many_clusters_is_said_before(run, run_json):
    content = run_json("plan", "--columns", 8, "--rows", 500, "--clusters", 4)
    for row in content["table"]:
        assert row["most_clusters"] == min(500 // row["smallest_cluster"], content["components"])
    too_small = max(row["epsilon"] for row in content["table"] if row["most_clusters"] < 4)
    text = run("plan", "--columns", 8, "--rows", 500, "--clusters", 4).stdout
    assert f"With epsilon = {too_small:g} or less the budget cannot carry 4 clusters of 500 records" in text
    assert "cannot carry" not in run("plan", "--columns", 8, "--rows", 500).stdout
    assert "cannot carry" not in run("plan", "--columns", 8, "--rows", 10**6, "--clusters", 2).stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "nan"], "epsilon must be"),
        (["--delta", "1.5"], "delta must"),
        (["--delta", "0"], "Gaussian noise has no pure form"),
        (["--base", "KMeans"], "--base must be one of DPMorse, "),
        (["--clusters", "many"], "--clusters must be"),
        (["--clusters", "5", "--components", "4"], "n_components must be at least"),
        (["--neighboring", "next-door"], "neighboring must be one of"),
    ],
)
def test_mistakes(run, args, message):
    assert message in run("plan", "--columns", 2, *args, code=1).stderr


def test_a_crowd_stands_for_any_number():
    for n in (1, 7, 512, 513, 20_000, 10**12):
        crowd = _Crowd.of(n, Layout((-1.0,) * 3, (1.0,) * 3))
        assert len(crowd) == pytest.approx(min(n, 2**25), rel=0.5)
        assert np.abs(crowd.points).max() <= 1


@pytest.mark.parametrize("columns", [1, 2, 3, 10, 40])
def test_more_budget_and_more_records_are_never_promised_less(run_json, columns):
    """Sizes fall with the budget; shares fall with the number of records."""
    shares = []
    for rows in (2_000, 5_000, 20_000, 50_000, 200_000):
        table = run_json("plan", "--columns", columns, "--rows", rows)["table"]
        sizes = [row["smallest_cluster"] for row in table]
        assert sizes == sorted(sizes, reverse=True)
        assert [row["most_clusters"] for row in table] == sorted(row["most_clusters"] for row in table)
        shares.append([row["smallest_share"] for row in table])
    assert np.all(np.diff(shares, axis=0) <= 0)


def test_no_more_clusters_are_promised_than_components(run_json):
    content = run_json("plan", "--columns", 5, "--rows", 1_000_000)
    assert max(row["most_clusters"] for row in content["table"]) <= content["components"]
