"""Numbers of clusters on the command line: those of ``summary``, with intervals and warnings, or why without."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dpmorse import DPMorse, Numeric, PrivateGaussianMixture, load
from dpmorse.cli import clusters
from dpmorse.cli.printed_clusters import with_ends
from dpmorse.profiles import NO_INTERVALS, NOT_KNOWN, about_intervals

CUT = "of the values of column 'pressure' lie above its upper bound and were moved to it"
SMALL = "Warning: cluster 2 is smaller than three standard deviations"
HIDDEN = "Warning: in cluster 1 the medians of 'age', 'pressure' are not known: noise hides them."


def rows_of(text):
    """Return the cells of the printed table, line by line: share, name, median, half between."""
    (head,) = [line for line in text.splitlines() if line.startswith("  column ")]
    starts = [head.index(title) for title in ("column", "median", "half between")]
    ends, rows = [*starts[1:], None], []
    for block in text.split(f"{head}\n\n")[1].split("\n\n"):
        if not re.match(r"cluster \d", block):
            break
        first, *lines = block.splitlines()
        (share,) = re.findall(r": (.*?\]) %", first)
        for line in lines:
            rows.append([share, *(line[a:b].strip() for a, b in zip(starts, ends, strict=True))])
            share = ""
    return rows


def in_one_line(text):
    return re.sub(r"\s+", " ", text)


def numbers_of(cell):
    """Return a number and the ends of its interval, as they are printed."""
    return re.fullmatch(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]\*?", cell).groups()


def decimals(text):
    return len(text.partition(".")[2])


def assert_shown(shown, exact):
    """Printed numbers are the exact ones, to the digits that are printed, which are enough."""
    width = exact[2] - exact[1]
    for text, value in zip(shown, exact, strict=True):
        assert abs(float(text) - value) <= 0.51 * 10.0 ** -decimals(text)
    assert 10.0 ** -decimals(shown[0]) <= max(0.05 * width, 1)


def with_interval(row, name):
    return [getattr(row, name), getattr(row, f"{name}_low"), getattr(row, f"{name}_high")]


@pytest.mark.parametrize("options", [{}, {"population": True}])
def test_show_json_and_the_summary_agree(options, run, run_json, measured_file):
    flags = ["--population"] if options else []
    frame = load(measured_file).summary(library="pandas", **options)
    content = run_json("show", "--model", measured_file, *flags)
    printed = iter(rows_of(run("show", "--model", measured_file, *flags).stdout))
    assert len(content["clusters"]) == 3
    for row in frame.itertuples():
        cluster = content["clusters"][row.cluster]
        assert [cluster["share"], *cluster["share_interval"]] == with_interval(row, "share")
        for name in ("median", "q1", "q3"):
            value, *ends = with_interval(row, name)
            hidden = np.isnan(value)
            assert cluster[name][row.column] == (None if hidden else value)
            assert cluster[f"{name}_interval"][row.column] == (None if hidden else ends)
        share, column, median, half = next(printed)
        assert column.strip("*") == row.column
        assert bool(share) is (row.column == "age")
        if share:
            assert_shown(numbers_of(share), [100 * part for part in with_interval(row, "share")])
        if np.isnan(row.median):
            assert median == NOT_KNOWN
        else:
            assert_shown(numbers_of(median), with_interval(row, "median"))
            for text, exact in zip(half.split(" and "), (row.q1, row.q3), strict=True):
                assert abs(float(text) - exact) <= 0.51 * 10.0 ** -decimals(text)
    assert content["intervals_about"] == about_intervals(**options)


def test_what_noise_hides_is_not_known_and_nothing_is_said_of_noise_but_its_share(
    run, run_json, measured_file
):
    content = run_json("show", "--model", measured_file)
    known, hidden, noise = content["clusters"]
    nothing = dict.fromkeys(("age", "pressure"))
    assert None not in known["median"].values()
    assert hidden["median"] == hidden["median_interval"] == nothing
    for name in ("median", "q1", "q3"):
        assert noise[name] == noise[f"{name}_interval"] == nothing
    assert 0 < noise["share"] < 0.05
    printed = rows_of(run("show", "--model", measured_file).stdout)
    assert [row[2] for row in printed[2:]] == [NOT_KNOWN] * 4
    assert [row[3] for row in printed[4:]] == [NOT_KNOWN] * 2
    assert not re.search(r"\bnan\b", run("show", "--model", measured_file).stdout, re.IGNORECASE)


def test_clusters_add_up_to_all_records(run_json, measured_file):
    every = run_json("show", "--model", measured_file)["clusters"]
    assert sum(cluster["share"] for cluster in every) == pytest.approx(1, abs=1e-9)
    total = sum(cluster["records"] for cluster in every)
    assert [cluster["records"] / total for cluster in every] == pytest.approx(
        [cluster["share"] for cluster in every], abs=1e-9
    )


def test_the_report_has_the_digits_of_show(here, run, measured_file):
    run("report", "--model", measured_file, "-o", "report.html")
    (text,) = re.findall(r'id="data">(.*?)</script>', (here / "report.html").read_text(), re.DOTALL)
    data = json.loads(text)
    printed = iter(rows_of(run("show", "--model", measured_file).stdout))
    for row in (data["numbers"]["rows"][i] for i in data["nodes"][2]):
        for q1, median, q3 in row["numbers"]:
            share, _, shown, half = next(printed)
            if share:
                assert [*map(float, numbers_of(share))] == pytest.approx(
                    100 * np.array(row["share"][:3]), abs=1e-9
                )
            if median is None:
                assert shown == NOT_KNOWN
                continue
            assert [*map(float, numbers_of(shown))] == median[:3]
            assert [*map(float, half.split(" and "))] == pytest.approx([q1[0], q3[0]], abs=0.06)


def test_the_table_is_readable_and_says_what_its_intervals_are_about(run, measured_file):
    text = run("show", "--model", measured_file).stdout
    table = text.split("\n\nIntervals")[0]
    assert all(len(line) <= 100 for line in table.split("  column ")[1].splitlines())
    assert about_intervals() in in_one_line(text)
    assert re.search(r"about [\d,]+ records", text)
    of_population = in_one_line(run("show", "--model", measured_file, "--population").stdout)
    assert "about the population" in of_population


def test_warnings_are_told_once_and_what_they_are_about_is_marked(run, run_json, measured_file):
    result = run("show", "--model", measured_file)
    for warning in (CUT, SMALL, HIDDEN):
        assert result.stderr.count(warning) == 1
    table = result.stdout.split("* see the warnings")[0]
    assert re.findall(r"^cluster 2: [\d.]+ \[[\d., ]+\] %\*", table, flags=re.MULTILINE)
    assert re.findall(r"^cluster 1\*: [\d.]+ \[[\d., ]+\] %$", table, flags=re.MULTILINE)
    assert re.findall(r"^cluster 0: [\d.]+ \[[\d., ]+\] %$", table, flags=re.MULTILINE)
    assert table.count("pressure*") == 3
    assert "age*" not in table
    every = run_json("show", "--model", measured_file)["warnings"]
    assert all(f"Warning: {text}" in result.stderr for text in every)
    for words in (["--json"], ["--quiet"], []):
        cut = run("cut", "--model", measured_file, "--clusters", 3, "-o", "cut.json", "--force", *words)
        assert cut.stderr.count(SMALL) == 1


def test_a_fit_tells_its_warnings_once_below_the_table(here, run, run_json, rng):
    values = rng.normal(size=(3000, 2))
    pa.csv.write_csv(pa.table(list(values.T), names=["a", "b"]), here / "x.csv")
    args = ["fit", "x.csv", "--epsilon", 5, "--bounds", "-1,9", "--clusters", 2, "--force", "-o", "m.json"]
    for words in ([], ["--quiet"]):
        assert run(*args, *words).stderr.count("of column 'a' lie below its lower bound") == 1
    told = run_json(*args)["warnings"]
    assert sum("of column 'b' lie below its lower bound" in text for text in told) == 1


def test_many_warnings_are_counted(run, measured_file, monkeypatch):
    monkeypatch.setattr(clusters, "_MOST_WARNINGS", 1)
    result = run("show", "--model", measured_file)
    assert CUT in result.stderr
    assert SMALL not in result.stderr
    assert "more warnings about numbers" in result.stderr


def test_without_a_profile_it_is_said_that_there_are_no_intervals(run, run_json, model_file):
    text = run("show", "--model", model_file).stdout
    assert NO_INTERVALS in in_one_line(text)
    assert "as released, without intervals:" in text
    assert "missing" not in text, "nothing may be missing"
    content = run_json("show", "--model", model_file)
    assert content["intervals_about"] == NO_INTERVALS
    assert content["warnings"] == []
    assert content["clusters"][0]["share_interval"] is None
    assert content["clusters"][0]["median_interval"] is None
    assert content["clusters"][0]["records"] is None
    model = load(model_file)
    assert sum(part["share"] for part in content["clusters"]) == pytest.approx(model.mixture_.weights.sum())
    for c, part in enumerate(content["clusters"]):
        weights = np.where(model.component_labels_ == c, model.mixture_.weights, 0)
        drawn, _ = replace(model.mixture_, weights=weights / weights.sum()).sample(40_000, 0)
        for j, name in enumerate(("age", "pressure")):
            quartiles = [part[of][name] for of in ("q1", "median", "q3")]
            assert quartiles == pytest.approx(np.quantile(drawn[:, j], [0.25, 0.5, 0.75]), abs=0.5)


def test_population_needs_intervals(run, model_file):
    assert "has no profile" in run("show", "--model", model_file, "--population", code=1).stderr
    assert (
        "--population and --ledger go with a model"
        in run("show", "--budget", "x", "--population", code=2).stderr
    )


def test_components_of_a_base_are_called_components(here, run, patients):
    model = PrivateGaussianMixture(9, epsilon=0.3, bounds=(0, 300), min_components=9, random_state=0)
    model.fit(patients).save(here / "m.json")
    result = run("show", "--model", "m.json")
    assert "component 0: " in result.stdout
    assert re.search(r"Warning: component \d is smaller than three", result.stderr)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((10.0, 9.0, 11.0), "10.0 [9.0, 11.0]"),
        ((0.512, 0.42, 0.64), "0.51 [0.42, 0.64]"),
        ((45.0, 10.0, 80.0), "45 [10, 80]"),
        ((100.0, 100.0, 100.0), "100.00 [100.00, 100.00]"),
    ],
)
def test_percentages_have_two_digits_of_what_is_not_known(numbers, text):
    assert with_ends(*numbers) == text


@pytest.mark.parametrize(
    ("scale", "text"),
    [(1e-9, r"\de-10 \["), (1.0, r"0\.\d+ \["), (1e4, r"\d{4} \["), (1e13, r"\d\.\d+e\+12 \[")],
)
def test_numbers_of_any_size_are_short(here, run, rng, scale, text):
    X = scale * np.clip(rng.normal(0.5, 0.1, size=(4000, 1)), 0, 1)
    columns = {"x": Numeric(0, scale)}
    DPMorse(1, epsilon=9.0, columns=columns, random_state=0).fit(pa.table([X[:, 0]], names=["x"])).save(
        "m.json"
    )
    ((_, _, median, _),) = rows_of(run("show", "--model", "m.json").stdout)
    assert re.search(text, median)
    assert len(median) < 50


@pytest.mark.parametrize("wide", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(
    wide, run, run_json, measured_file, monkeypatch
):
    monkeypatch.setenv("COLUMNS", str(wide))
    text = run("show", "--model", measured_file).stdout
    assert all(len(line) <= wide for line in text.splitlines() if str(measured_file) not in line)
    flat = re.sub(r"\s+", " ", text)
    shown = set(re.findall(r"-?\d+\.\d+", flat))
    monkeypatch.setenv("COLUMNS", "400")
    assert shown <= set(re.findall(r"-?\d+\.\d+", run("show", "--model", measured_file).stdout))


def test_sentences_come_first_and_the_last_line_says_what_to_open(run, measured_file):
    text = run("show", "--model", measured_file).stdout
    said = load(measured_file).describe()
    start = re.sub(r"\s+", " ", text).replace("% ", "%").strip()
    assert start.startswith(said.headline)
    for group in said.groups:
        assert re.sub(r"\s+", " ", group).replace("% ", "%") in start
    assert text.splitlines()[-1] == f"  dpmorse report {measured_file} -o report.html"
    assert "rho" not in text
    assert "rho" in run("show", "--model", measured_file, "--ledger").stdout
