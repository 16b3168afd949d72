"""What ``dpmorse inspect`` proposes: whose rows they are, what is no category, and which columns bounds would cut."""

import re

import numpy as np
import pandas as pd
import pytest

N = 300
SURNAMES = [
    f"{first}{rest}"
    for first in ("Bar", "Cor", "Dal", "Fen", "Mar", "Tor")
    for rest in ("ker", "nell", "ton")
]


@pytest.fixture
def judged(here, run):
    """Write a table, inspect it; return what is said of each column, all that is said, and the schema file."""

    def judged(columns, *options):
        pd.DataFrame(columns).to_csv(here / "x.csv", index=False)
        said = run("inspect", "x.csv", "-o", "s.toml", "--force", *options).stdout
        verdicts = dict(re.findall(r"^  (\S+) +((?:used|left out): .*)$", said, flags=re.MULTILINE))
        return verdicts, said, (here / "s.toml").read_text()

    return judged


# -- whose rows they are ----------------------------------------------------------------------------------


def test_ids_that_recur_are_said_with_the_option_that_protects_persons(judged, rng, run):
    ids = 40000 + 7 * rng.integers(0, 120, N)
    verdicts, said, schema = judged({"patient_id": ids, "height": rng.normal(170, 9, N).round(1)})
    assert verdicts["patient_id"] == "left out: ids, by its name; several rows have the same"
    assert "Several rows have the same 'patient_id': they may be of one person." in said
    assert "--unit patient_id --max-rows M" in next(
        line for line in said.splitlines() if "dpmorse fit" in line
    )
    assert not re.search(rf"\b({N}|{len(set(ids))})\b", said), "a flag, and no count"
    assert '# "patient_id" = ' in schema
    filled = schema.replace('lower = "?", upper = "?"', "lower = 100, upper = 220")
    with open("s.toml", "w", encoding="utf-8") as file:
        file.write(filled)
    args = ["--epsilon", 5, "--unit", "patient_id", "--max-rows", 2, "-o", "m.json", "--quiet"]
    run("fit", "x.csv", "--bounds", "s.toml", *args)


def test_ids_of_one_row_each_are_said_without_it(judged, rng):
    verdicts, said, _ = judged({"patient_id": range(7000, 7000 + 2 * N, 2), "height": rng.normal(170, 9, N)})
    assert verdicts["patient_id"] == "left out: ids, by its name"
    assert "--unit" not in said


@pytest.mark.parametrize(
    ("name", "values", "used"),
    [
        ("PID", lambda rng: rng.integers(0, 7, N), True),  # which party, of a survey
        ("PID", lambda rng: rng.integers(0, 100, N), False),
        ("id", lambda rng: np.round(rng.normal(size=N), 3), True),
        ("index", lambda rng: np.round(rng.normal(100, 9, N), 2), True),  # of prices
        ("index", lambda rng: np.arange(N) * 2, False),
        ("case_id", lambda rng: [f"2024-0{1 + i % 9}-11" for i in range(N)], True),
        ("zip", lambda rng: rng.integers(0, 90000, N), False),
        ("id", lambda rng: [f"p{i % 100}" for i in range(N)], False),
    ],
)
def test_a_name_alone_makes_no_ids(name, values, used, judged, rng):
    verdicts, _, _ = judged({name: values(rng), "height": rng.normal(170, 9, N)})
    assert verdicts[name].startswith("used: " if used else "left out: ")
    assert ("which the values do not look like" in verdicts[name]) == used


# -- kinds ------------------------------------------------------------------------------------------------


def test_whole_numbers_are_proposed_as_whole(judged, rng):
    _, _, schema = judged({"visits": rng.integers(0, 40, N), "height": rng.normal(170, 9, N).round(1)})
    assert '"visits" = { lower = "?", upper = "?", integer = true }' in schema
    assert '"height" = { lower = "?", upper = "?" }' in schema
    _, _, schema = judged({"visits": [None, *rng.integers(0, 40, N - 1)], "b": rng.normal(size=N)})
    assert 'integer = true, missing = "ignore" }' in schema


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        (
            "Nachname",
            lambda rng: rng.choice(SURNAMES[:6], N),
            "who people are or where they live, by its name",
        ),
        ("last_name", lambda rng: rng.choice(SURNAMES, N), "who people are or where they live, by its name"),
        ("Bemerkung", lambda rng: rng.choice(["ok", "late", "ill"], N), "free text, by its name"),
        (
            "written",
            lambda rng: ["none"] * (N - 9) + [f"called on day {i}" for i in range(9)],
            "do not recur",
        ),
        ("relative", lambda rng: [f"{SURNAMES[i % 10]}{i % 70}" for i in range(N)], "many different values"),
    ],
)
def test_names_and_free_text_are_no_categories(name, values, reason, judged, rng):
    verdicts, _, schema = judged({name: values(rng), "height": rng.normal(170, 9, N)})
    assert verdicts[name].startswith("left out: ")
    assert reason in verdicts[name]
    assert f'# "{name}"' in schema


def test_a_few_rows_with_a_name_each_are_no_categories(judged, rng):
    verdicts, _, _ = judged(
        {"who": SURNAMES[:10], "ward": list("aabbababab"), "height": rng.normal(170, 9, 10)}
    )
    assert verdicts["who"].startswith("left out: text with many different values")
    assert verdicts["ward"].startswith("used: text: categories")


def test_lists_of_some_length_stay_categories_with_a_doubt(judged, rng):
    verdicts, _, _ = judged({"ward": rng.choice(SURNAMES, N), "sex": rng.choice(["f", "m"], N)})
    assert verdicts["ward"].startswith("used: text: categories; leave it out if these are names of people")
    assert verdicts["sex"] == "used: text: categories"


def test_a_cross_or_nothing_is_explained(judged, rng):
    verdicts, _, _ = judged({"pain": np.where(rng.random(N) < 0.5, "x", ""), "height": rng.normal(170, 9, N)})
    assert "if the cross means yes, put yes in its place and no where there is nothing" in verdicts["pain"]


# -- stated bounds ----------------------------------------------------------------------------------------

STATED = """
[bounds]
age = { lower = 0, upper = 90 }
pressure = { lower = 60, upper = 220, missing = "ignore" }
pulse = { lower = 0, upper = 200 }
sex = { values = ["f", "m"] }
ward = { values = ["a", "b"] }
grade = { values = ["low", "high"], ordered = true, missing = "ignore" }
day = { earliest = 2020-01-01, latest = 2021-01-01 }
born = { earliest = 1900-01-01, latest = 2021-01-01 }
smoker = { boolean = true }
"""

FOUND = {
    "age": "cut: yes, values lie outside the bounds",
    "pressure": "cut: no",
    "pulse": 'cut: no; values are missing, and `fit` refuses them: say missing = "ignore" or "level"',
    "sex": "cut: no",
    "ward": 'cut: yes, values that are not listed become "other"',
    "grade": "cut: no; values that cannot be read as stated count as missing",
    "day": "cut: yes, values lie outside the bounds",
    "born": "cut: no",
    "smoker": "cut: no",
}


@pytest.fixture
def measured(rng):
    days = pd.to_datetime("2020-03-01") + pd.to_timedelta(rng.integers(0, 90, N), "D")
    return pd.DataFrame(
        {
            "age": np.r_[93.71, rng.uniform(20, 80, N - 1)],
            "pressure": np.r_[np.nan, rng.uniform(60, 220, N - 1)],
            "pulse": np.r_[np.nan, rng.uniform(60, 100, N - 1)],
            "sex": rng.choice(["f", "m"], N),
            "ward": ["Zaphod", *rng.choice(["a", "b"], N - 1)],
            "grade": ["middle", *rng.choice(["low", "high"], N - 1)],
            "day": [pd.Timestamp("2023-05-07"), *days[1:]],
            "born": days,
            "smoker": rng.choice(["yes", "no"], N),
        }
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_bounds_are_checked_for_the_holder_yes_or_no(ending, measured, here, run):
    write = getattr(measured, f"to_{ending}")
    write(here / f"x.{ending}", **({"index": False} if ending == "csv" else {}))
    (here / "b.toml").write_text(STATED)
    said = run("inspect", f"x.{ending}", "--bounds", "b.toml").stdout
    assert said.startswith("For the holder of the data")
    assert "is NOT private" in said
    lines = dict(re.findall(r"^  (\w+) +(cut: .*)$", said, flags=re.MULTILINE))
    assert lines == FOUND
    assert not [secret for secret in ("93", "Zaphod", "middle", "2023", str(N)) if secret in said]


def test_the_check_says_the_same_where_one_value_or_all_are_cut(measured, here, run):
    """Yes or no: not how many, nor by how much."""
    (here / "b.toml").write_text("[bounds]\nage = { lower = 0, upper = 90 }\n")
    said = []
    for ages in (measured["age"], measured["age"] + 1000):
        pd.DataFrame({"age": ages}).to_csv(here / "x.csv", index=False)
        said.append(run("inspect", "x.csv", "--bounds", "b.toml").stdout)
    assert said[0] == said[1]


def test_plain_bounds_and_one_pair_are_checked_too(csv_file, here, run):
    (here / "b.toml").write_text("[bounds]\nage = { lower = 0, upper = 200 }\n")
    assert "  age  cut: no" in run("inspect", csv_file, "--bounds", "b.toml").stdout
    said = run("inspect", csv_file, "--bounds", "0,100").stdout
    assert "  pressure  cut: yes" in said
    said = run("inspect", csv_file, "--bounds", "0,100", "-o", "s.toml", code=2).stderr
    assert "either -o" in said
    (here / "b.toml").write_text("[bounds]\naeg = { lower = 0, upper = 200 }\n")
    assert "Did you mean 'age'?" in run("inspect", csv_file, "--bounds", "b.toml", code=1).stderr
