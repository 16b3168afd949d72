"""Numbers of clusters on the command line: those of ``summary``, with intervals and warnings, or why without."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from dpmorse import PrivateGaussianMixture, load
from dpmorse.cli import clusters
from dpmorse.cli.clusters import with_ends
from dpmorse.profiles import NO_INTERVALS, about_intervals

CUT = "Warning: column 'pressure' piles up at its upper bound"
SMALL = "Warning: cluster 2 is smaller than three standard deviations"
FLAT = "Warning: the spread of column 'age' in cluster 0 cannot be told from 0"


def rows_of(text):
    """Return the lines of the printed table as lists of numbers: three each of share, centre, spread."""
    table = text.split("spread\n")[1].split("\n\n")[0]
    lines = [line for line in table.splitlines() if "[" in line]
    return [re.findall(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", line) for line in lines]


def decimals(text):
    return len(text.partition(".")[2])


def assert_shown(shown, exact):
    """Printed numbers are the exact ones, to the digits that are printed, which are enough."""
    width = exact[2] - exact[1]
    for text, value in zip(shown, exact, strict=True):
        assert abs(float(text) - value) <= 0.51 * 10.0 ** -decimals(text)
    assert 10.0 ** -decimals(shown[0]) <= max(0.05 * width, 1)


@pytest.mark.parametrize("options", [{}, {"population": True}])
def test_show_json_and_the_summary_agree(options, run, run_json, measured_file):
    flags = ["--population"] if options else []
    frame = load(measured_file).summary(library="pandas", **options)
    content = run_json("show", "--model", measured_file, *flags)
    printed = iter(rows_of(run("show", "--model", measured_file, *flags).stdout))
    assert len(content["clusters"]) == 3
    for row in frame.itertuples():
        cluster = content["clusters"][row.cluster]
        assert cluster["share"] == row.share
        assert cluster["share_interval"] == [row.share_low, row.share_high]
        assert cluster["mean"][row.column] == row.centre
        assert cluster["mean_interval"][row.column] == [row.centre_low, row.centre_high]
        assert cluster["standard_deviation"][row.column] == row.spread
        assert cluster["standard_deviation_interval"][row.column] == [row.spread_low, row.spread_high]
        *share, centre, spread = next(printed)
        assert bool(share) is (row.column == "age")
        for shown in share:
            assert_shown(shown, [100 * row.share, 100 * row.share_low, 100 * row.share_high])
        assert_shown(centre, [row.centre, row.centre_low, row.centre_high])
        assert_shown(spread, [row.spread, row.spread_low, row.spread_high])
    assert content["intervals_about"] == about_intervals(**options)


def test_the_report_has_the_digits_of_show(here, run, measured_file):
    run("report", "--model", measured_file, "-o", "report.html")
    (text,) = re.findall(r'id="data">(.*?)</script>', (here / "report.html").read_text(), re.DOTALL)
    data = json.loads(text)
    printed = iter(rows_of(run("show", "--model", measured_file).stdout))
    for row in (data["numbers"]["rows"][i] for i in data["nodes"][2]):
        for j in range(2):
            *share, centre, spread = next(printed)
            assert [*map(float, centre)] == row["centre"][j][:3]
            assert [*map(float, spread)] == row["spread"][j][:3]
            for shown in share:
                assert [*map(float, shown)] == pytest.approx(100 * np.array(row["share"][:3]), abs=1e-9)


def test_the_table_is_readable_and_says_what_its_intervals_are_about(run, measured_file):
    text = run("show", "--model", measured_file).stdout
    table = text.split("\n\nIntervals")[0]
    assert all(len(line) <= 100 for line in table.splitlines())
    assert about_intervals() in text
    assert re.search(r"about [\d,]+ records", text)
    assert "about the population" in run("show", "--model", measured_file, "--population").stdout


def test_warnings_are_told_once_and_what_they_are_about_is_marked(run, run_json, measured_file):
    result = run("show", "--model", measured_file)
    for warning in (CUT, SMALL, FLAT):
        assert result.stderr.count(warning) == 1
    table = result.stdout.split("* see the warnings")[0]
    assert len(re.findall(r"^  2 +[\d.]+ \[[\d., ]+\]\*", table, flags=re.MULTILINE)) == 1
    assert table.count("pressure*") == 3
    assert "age*" not in table
    assert re.search(r"^  0 .* age .*\]\*$", table, flags=re.MULTILINE)
    every = run_json("show", "--model", measured_file)["warnings"]
    told = [text for text in every if f"Warning: {text}" in result.stderr]
    others = sum(map(int, re.findall(r"The same is true of (\d+) more of its columns", result.stderr)))
    assert others > 0, "two spreads of one cluster are flat"
    assert len(told) + others == len(every)
    for words in (["--json"], ["--quiet"], []):
        cut = run("cut", "--model", measured_file, "--clusters", 3, "-o", "cut.json", "--force", *words)
        assert cut.stderr.count(SMALL) == 1


def test_a_fit_tells_its_warnings_once_below_the_table(here, run, run_json, rng):
    values = np.clip(rng.normal(size=(3000, 2)), -1, 9)
    pa.csv.write_csv(pa.table(list(values.T), names=["a", "b"]), here / "x.csv")
    args = ["fit", "x.csv", "--epsilon", 5, "--bounds", "-1,9", "--clusters", 2, "--force", "-o", "m.json"]
    for words in ([], ["--quiet"]):
        assert run(*args, *words).stderr.count("column 'a' piles up at its lower bound") == 1
    told = run_json(*args)["warnings"]
    assert sum("column 'b' piles up at its lower bound" in text for text in told) == 1


def test_many_warnings_are_counted(run, measured_file, monkeypatch):
    monkeypatch.setattr(clusters, "_MOST_WARNINGS", 1)
    result = run("show", "--model", measured_file)
    assert CUT in result.stderr
    assert SMALL not in result.stderr
    assert "more warnings about numbers" in result.stderr


def test_without_a_profile_it_is_said_that_there_are_no_intervals(run, run_json, model_file):
    text = run("show", "--model", model_file).stdout
    assert NO_INTERVALS in text
    assert "±" in text
    content = run_json("show", "--model", model_file)
    assert content["intervals_about"] == NO_INTERVALS
    assert content["warnings"] == []
    assert content["clusters"][0]["share_interval"] is None
    assert content["clusters"][0]["mean_interval"] is None
    mixture = load(model_file).mixture_
    assert sum(part["share"] for part in content["clusters"]) == pytest.approx(mixture.weights.sum())


def test_population_needs_intervals(run, model_file):
    assert "has no profile" in run("show", "--model", model_file, "--population", code=1).stderr
    assert "--population goes with a model" in run("show", "--budget", "x", "--population", code=2).stderr


def test_components_of_a_base_are_called_components(here, run, patients):
    model = PrivateGaussianMixture(9, epsilon=0.3, bounds=(0, 300), min_components=9, random_state=0)
    model.fit(patients).save(here / "m.json")
    result = run("show", "--model", "m.json")
    assert "component  share, %" in result.stdout
    assert re.search(r"Warning: component \d is smaller than three", result.stderr)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((10.0, 9.0, 11.0), "10.0 [9.0, 11.0]"),
        ((0.512, 0.42, 0.64), "0.51 [0.42, 0.64]"),
        ((-0.0001, -0.2, 0.2), "0.00 [-0.20, 0.20]"),
        ((1234.5, 1000.0, 1500.0), "1230 [1000, 1500]"),
        ((7.0, 7.0, 7.0), "7.00 [7.00, 7.00]"),
        ((1.5e9, 1.4e9, 1.6e9), "1.5e+09 [1.4e+09, 1.6e+09]"),
        ((3e-9, 1e-9, 5e-9), "3e-09 [1e-09, 5e-09]"),
    ],
)
def test_numbers_have_two_digits_of_what_is_not_known(numbers, text):
    assert with_ends(*numbers) == text
