"""Tables with categories, dates and missing values: described in the bounds file, then every command."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from dpmorse import Boolean, Date, DPMorse, Nominal, Numeric, Ordinal, load
from dpmorse.cli.bounds_file import read_bounds

BOUNDS = """[bounds]
age = { lower = 0, upper = 120, missing = "ignore" }
visits = { lower = 0, upper = 100, integer = true }
ward = { values = ["north", "south"], missing = "level" }
grade = { values = ["low", "mid", "high"], ordered = true }
smoker = { boolean = true }
joined = { earliest = 2000-01-01, latest = 2030-01-01 }
"""

COLUMNS = {
    "age": Numeric(0, 120, missing="ignore"),
    "visits": Numeric(0, 100, integer=True),
    "ward": Nominal(["north", "south"], missing="level"),
    "grade": Ordinal(["low", "mid", "high"]),
    "smoker": Boolean(),
    "joined": Date("2000-01-01", "2030-01-01"),
}

SECRETS = ("Zaphod", "41.736251", "1951-07-13", "Trillian")
"""Values of records that are in no list and beyond the bounds of what may be printed."""

N_ROWS = 600


@pytest.fixture(scope="session")
def people():
    rng = np.random.default_rng(3)
    young = rng.random(N_ROWS) < 0.5
    age = [None if rng.random() < 0.1 else 41.736251 if a else 70.25 for a in young]
    days = np.datetime64("2010-01-01") + np.where(young, 100, 4000).astype("timedelta64[D]")
    days[7] = np.datetime64("1951-07-13")
    ward = ["north" if a else "south" for a in young]
    ward[:3] = ["Zaphod", None, "Zaphod"]
    return pa.table(
        {
            "age": age,
            "visits": np.where(young, 2, 30),
            "ward": ward,
            "grade": ["low" if a else "high" for a in young],
            "smoker": young,
            "joined": days,
            "who": [f"Trillian{i}" for i in range(N_ROWS)],
        }
    )


@pytest.fixture(params=["people.csv", "people.parquet"])
def data(request, here, people):
    (here / "b.toml").write_text(BOUNDS)
    write = {"people.csv": pa.csv.write_csv, "people.parquet": pa.parquet.write_table}[request.param]
    write(people, here / request.param)
    return request.param


@pytest.fixture
def table_file(here, table_text):
    (here / "b.toml").write_text(BOUNDS)
    (here / "m.json").write_text(table_text)
    return "m.json"


@pytest.fixture(scope="session")
def table_text(tmp_path_factory, people):
    path = tmp_path_factory.mktemp("table") / "m.json"
    described = people.select(list(COLUMNS))
    DPMorse(2, epsilon=9.0, columns=COLUMNS, random_state=4).fit(described).save(path)
    return path.read_text()


def without_secrets(text):
    assert not [secret for secret in SECRETS if secret in text]
    return text


# -- all is well --------------------------------------------------------------------------------------


def test_every_form_becomes_a_column(here):
    (here / "b.toml").write_text(BOUNDS)
    given = read_bounds("b.toml")
    assert given.described == COLUMNS
    assert given.by_column is None
    assert list(given.schema_of(["ward", "age"])) == ["ward", "age"]


def test_plain_bounds_make_no_schema(here):
    (here / "b.toml").write_text("[bounds]\nage = { lower = 0, upper = 120 }\n")
    given = read_bounds("b.toml")
    assert given.by_column == {"age": (0.0, 120.0)}
    assert given.schema_of(["age"]) is None


def test_a_fit_is_that_of_the_estimator(data, run, table_text):
    args = ["--epsilon", 9, "--bounds", "b.toml", "--clusters", 2, "--seed", 4]
    said = run("fit", data, *args, "-o", "fitted.json")
    without_secrets(said.output)
    fitted = load("fitted.json")
    assert fitted.mixture_ == load_text(table_text).mixture_
    assert list(fitted.base_.schema_.names) == list(COLUMNS)
    assert "north" in said.stdout
    assert "Intervals (95 %)" in said.stdout
    assert "without interval" not in said.stdout


def load_text(text):
    import pathlib

    path = pathlib.Path("expected.json")
    path.write_text(text)
    return load(path)


def test_json_says_what_happened_to_missing_values(data, run_json):
    args = ["--epsilon", 9, "--bounds", "b.toml", "--columns", "ward,age", "-o", "two.json"]
    content = run_json("fit", data, *args)
    assert content["missing"] == {"ward": "level", "age": "ignore"}
    assert content["columns"] == ["ward", "age"]
    without_secrets(json.dumps(content))


def test_clusters_are_shown_with_levels_dates_and_missing_values(table_file, run, run_json):
    text = without_secrets(run("show", "--model", table_file).stdout)
    assert all(name in text for name in COLUMNS)
    assert "missing, %" in text
    (age, *_) = [line for line in text.splitlines() if line.startswith("  age ")]
    content = run_json("show", "--model", table_file)
    missing = content["clusters"][0]["missing"]["age"]
    last = re.findall(r"[\d.]+(?= \[|$)", age)[-1]
    assert abs(float(last) - 100 * missing) <= 0.5, "the last cell, with its interval or alone"
    assert sum(part["share"] for part in content["clusters"]) == pytest.approx(1, abs=1e-9)
    for part in content["clusters"]:
        for name in ("median", "q1", "q3", "median_interval", "q3_interval"):
            assert list(part[name]) == ["age", "visits", "grade", "joined"]
        assert list(part["levels"]["ward"]) == ["north", "south", "other", "missing"]
        assert part["records"] > 0
        assert part["share_interval"][0] <= part["share"] <= part["share_interval"][1]
        for name in ("ward", "smoker"):
            ends = part["levels_interval"][name]
            assert all(
                ends[level][0] <= share <= ends[level][1] for level, share in part["levels"][name].items()
            )
            assert sum(part["levels"][name].values()) == pytest.approx(1, abs=1e-9)


def test_json_has_values_in_the_terms_of_their_columns(table_file, run_json):
    """Dates are text, ranks have names, whole numbers are integers: the ends of intervals, too."""
    for part in run_json("show", "--model", table_file)["clusters"]:
        for name in ("q1", "median", "q3"):
            for column, fits in {
                "visits": lambda value: type(value) is int,
                "grade": lambda value: value in {"low", "mid", "high"},
                "joined": lambda value: "2000-01-01" <= value <= "2030-01-01",
                "age": lambda value: type(value) is float,
            }.items():
                value, (low, high) = part[name][column], part[f"{name}_interval"][column]
                assert fits(value), column
                assert fits(low), column
                assert fits(high), column
                if column != "grade":
                    assert low <= value <= high


def test_levels_and_missing_values_add_up_to_all_records(here, people, run_json):
    """Of every category, whether missing values are a level of it or none, and with numbers as in ``summary``."""
    columns = {"ward": Nominal(["north", "south"], missing="ignore"), "age": Numeric(0, 120, missing="level")}
    columns |= {"grade": Nominal(["low", "mid"], missing="level")}
    model = DPMorse(2, epsilon=9, columns=columns, random_state=0).fit(people.select(list(columns)))
    model.save("m.json")
    summary = model.summary(library="pandas")
    for c, part in enumerate(run_json("show", "--model", "m.json")["clusters"]):
        assert list(part["missing"]) == ["ward", "age"], "of the grade it is a level"
        parts = [*part["levels"]["ward"].values(), part["missing"]["ward"]]
        assert sum(parts) == pytest.approx(1, abs=1e-9)
        assert sum(part["levels"]["grade"].values()) == pytest.approx(1, abs=1e-9)
        (of_age,) = summary[(summary["cluster"] == c) & (summary["column"] == "age")].itertuples()
        assert part["missing"]["age"] == of_age.missing
        assert part["missing_interval"]["age"] == [of_age.missing_low, of_age.missing_high]


def test_without_a_profile_no_number_has_an_interval(here, people, run, run_json):
    described = people.select(list(COLUMNS))
    DPMorse(2, epsilon=9, columns=COLUMNS, profile=False, random_state=0).fit(described).save("bare.json")
    said = run("show", "--model", "bare.json").stdout
    assert "without interval" in said
    assert "No profile was released, so there are no intervals" in said
    for part in run_json("show", "--model", "bare.json")["clusters"]:
        assert part["share_interval"] is None
        assert part["levels_interval"] is None
        assert part["records"] is None
        assert part["missing"] == {}
        assert None not in part["median"].values()
        assert sum(part["levels"]["ward"].values()) == pytest.approx(1, abs=1e-9)
    assert "needs intervals" in run("show", "--model", "bare.json", "--population", code=1).stderr


def test_labels_are_those_of_the_estimator(data, run, table_file, people):
    expected = load(table_file).predict(people.select(list(COLUMNS)))
    run("predict", data, "--model", table_file, "-o", "labels.parquet", "--keep", "who", "--keep", "ward")
    labels = pa.parquet.read_table("labels.parquet")
    assert labels["cluster"].to_pylist() == np.asarray(expected).tolist()
    assert labels["ward"].to_pylist() == people["ward"].to_pylist()
    run("predict", data, "--model", table_file, "-o", "labels.csv", "--keep", "age", "--keep", "joined")


def test_synthetic_records_can_be_read_with_the_same_bounds(table_file, here, run):
    run("sample", "--model", table_file, "--rows", 200, "-o", "s.csv")
    run("sample", "--model", table_file, "--rows", 200, "-o", "s.parquet", "--seed", 1)
    drawn = pa.parquet.read_table("s.parquet")
    assert drawn.column_names == [*COLUMNS, "cluster"]
    assert set(drawn["ward"].to_pylist()) <= {"north", "south", "other", None}
    assert pa.types.is_date(drawn["joined"].type)
    without_secrets((here / "s.csv").read_text())
    run("sample", "--model", table_file, "--rows", 200, "-o", "holes.parquet", "--missing")
    assert pa.parquet.read_table("holes.parquet")["age"].null_count > drawn["age"].null_count == 0
    for name in ("s.csv", "s.parquet", "holes.parquet"):
        run("predict", name, "--model", table_file, "-o", f"of-{name}")


def test_another_number_of_clusters(table_file, run):
    assert "1 cluster" in run("cut", "--model", table_file, "--clusters", 1, "-o", "one.json").stdout


def test_a_plan_knows_the_columns(table_file, run, run_json):
    content = run_json("plan", "--bounds", "b.toml", "--rows", 20_000, "--clusters", 2)
    assert content["columns"] == 6
    assert content["components"] == content["suggested_components"] == 5
    assert content["stages"][0]["stage"] == "levels and holes"
    assert sum(stage["share"] for stage in content["stages"]) == pytest.approx(1)
    text = run("plan", "--bounds", "b.toml", "--rows", 20_000).stdout
    assert "6 columns (4 of numbers, 2 of categories with 7 levels)" in text
    assert "What the budget is spent on" in text


def test_a_plan_of_plain_bounds_is_that_of_as_many_columns(here, run_json):
    (here / "p.toml").write_text("[bounds]\na = { lower = 0, upper = 1 }\nb = { lower = 0, upper = 9 }\n")
    args = ["--rows", 500, "--base", "DPLloyd"]
    assert run_json("plan", "--bounds", "p.toml", *args) == run_json("plan", "--columns", 2, *args)


def test_a_table_base_by_name(data, run):
    args = ["--epsilon", 9, "--bounds", "b.toml", "--base", "PrivateGaussianMixture", "--components", 3]
    run("fit", data, *args, "-o", "m.json", "--quiet")
    assert type(load("m.json").base_).__name__ == "PrivateGaussianMixture"


# -- mistakes -----------------------------------------------------------------------------------------

MISTAKES = {
    "no kind": ('age = { missing = "ignore" }', "column 'age' must say what the column is"),
    "no table": ("age = 3", "column 'age' must be a table such as"),
    "two kinds": ('age = { lower = 0, upper = 1, values = ["a", "b"] }', "column 'age' has the key 'values'"),
    "half of the dates": ("joined = { earliest = 2000-01-01 }", "column 'joined' lacks the key 'latest'"),
    "an unknown key": ("smoker = { boolean = true, x = 1 }", "column 'smoker' has the key 'x'"),
    "false": ("smoker = { boolean = false }", "column 'smoker': boolean must be true"),
    "a rule": ('age = { lower = 0, upper = 1, missing = "drop" }', "column 'age': missing must be"),
    "bounds": ("age = { lower = 5, upper = 1, integer = true }", "column 'age': Numeric: lower must be less"),
    "text": (
        'age = { lower = "a", upper = 1, integer = true }',
        "column 'age': Numeric: lower must be a num",
    ),
    "integer": ("age = { lower = 0, upper = 1, integer = 3 }", "column 'age': integer must be"),
    "ordered": ('ward = { values = ["a", "b"], ordered = "yes" }', "column 'ward': ordered must be"),
    "one value": ('ward = { values = ["a"] }', "column 'ward': Nominal: values must list two or more"),
    "twice": ('ward = { values = ["a", "a"] }', "column 'ward': Nominal: values must be different"),
    "no list": ('ward = { values = "a" }', "column 'ward': Nominal: values must list two or more"),
    "no date": ('joined = { earliest = "May", latest = 2030-01-01 }', "column 'joined': Date: earliest must"),
    "dates": ("joined = { earliest = 2030-01-01, latest = 2000-01-01 }", "Date: earliest must be before"),
    "levels": (f"ward = {{ values = {list(range(600))} }}", "'b.toml': columns must have at most 512 levels"),
    "unfilled": (
        'ward = { values = "?" }\nage = { lower = 0, upper = 1 }\njoined = { earliest = "?", latest = "?" }',
        "Columns to fill in: 'ward', 'joined'.",
    ),
    "no such column": ("height = { lower = 0, upper = 3, integer = true }", "of the bounds file: 'height'"),
}


@pytest.mark.parametrize(("content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_the_bounds_file(content, message, data, here, run):
    (here / "b.toml").write_text(f"[bounds]\n{content}\n")
    said = run("fit", data, "--epsilon", 1, "--bounds", "b.toml", "-o", "m.json", code=1)
    assert message in without_secrets(said.stderr)
    assert "b.toml" in said.stderr or "bounds file" in said.stderr
    assert not (here / "m.json").exists()


OPTIONS = {
    "drop": (["--missing", "drop"], "missing is stated per column"),
    "base": (["--base", "DPLloyd"], "columns must be numbers with missing='refuse' for this base"),
    "columns": (["--columns", "who,age"], "there are none for 'who'"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_do_not_go_with_a_schema(options, message, data, run):
    args = ["fit", data, "--epsilon", 1, "--bounds", "b.toml", *options, "-o", "m.json"]
    assert message in without_secrets(run(*args, code=1).stderr)


def test_what_does_not_go_with_a_table_model(data, here, run, table_file):
    args = ["predict", data, "--model", table_file, "--missing", "blank", "-o", "l.csv"]
    assert "missing is stated per column" in run(*args, code=1).stderr
    assert "population" in run("show", "--model", table_file, "--population").stdout


def test_a_page_of_a_table_model(here, run, table_file):
    run("report", "--model", table_file, "-o", "r.html", "--title", "A & B", "--dataset", "ward <7>")
    page = (here / "r.html").read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in page
    assert "ward &lt;7&gt;" in page


def test_a_plan_needs_columns_or_a_file(here, run):
    assert "either --columns" in " ".join(run("plan", code=2).stderr.split())
    assert "--bounds must be a file" in run("plan", "--bounds", "0,1", code=1).stderr


def test_a_base_of_numbers_takes_described_numbers(csv_file, here, run):
    """The released model is that of plain bounds."""
    names = pa.csv.read_csv(csv_file).column_names
    said = "".join(f'{name} = {{ lower = 0, upper = 300, missing = "refuse" }}\n' for name in names)
    (here / "b.toml").write_text(f"[bounds]\n{said}")
    for bounds, model in (("b.toml", "columns.json"), ("0,300", "bounds.json")):
        args = ["fit", csv_file, "--epsilon", 1, "--bounds", bounds, "--base", "DPLloyd", "--seed", 1]
        run(*args, "--components", 3, "-o", model, "--quiet")
    assert load("columns.json").mixture_ == load("bounds.json").mixture_


def test_values_that_are_missing_or_text_are_refused_without_a_word_of_them(data, here, run, run_json):
    budget = ["--budget", "team", "--budget-epsilon", 3]
    args = ["fit", data, "--epsilon", 1, "--bounds", "b.toml", *budget, "-o", "m.json"]
    (here / "b.toml").write_text(BOUNDS.replace(', missing = "level"', ""))
    assert "missing values" in without_secrets(run(*args, code=1).stderr)
    (here / "b.toml").write_text(BOUNDS + "who = { lower = 0, upper = 3 }\n")
    assert "'who'" in without_secrets(run(*args, code=1).stderr)
    assert run_json("show", "--budget", "team")["spent"] == 0
