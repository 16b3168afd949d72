"""Files as hospitals export them: each is clustered, or refused with a message that names the step that helps.

The step is taken as the message says it, and must succeed.
"""

import datetime as dt
import re
import shlex
import zipfile

import numpy as np
import pandas as pd
import pytest

from dpmorse import DataFiles, DPMoGHard, load
from dpmorse.cli.bounds_file import read_bounds

FAST = [
    "--epsilon",
    "9",
    "--bounds",
    "0,300",
    "--base",
    "DPMoGHard",
    "--components",
    "3",
    "-o",
    "m.json",
    "--force",
]
N = 60
SECRETS = ("Zaphod", "41.73", "41,73", "1951", "<5", "-999.25")
"""Values of records that no message may show."""


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(8)
    return pd.DataFrame(
        {"age": rng.integers(20, 90, N), "pressure": np.r_[41.73, rng.normal(120, 15, N - 1).round(1)]}
    )


@pytest.fixture
def fit(run):
    """Fit a file; return the model and what was said."""

    def fit(*args, code=0):
        result = run("fit", *args, *FAST, code=code)
        assert not [secret for secret in SECRETS if secret in result.stderr]
        return (load("m.json") if code == 0 else None), result.stderr

    return fit


def option(said, name):
    """Return an option as a message writes it, to be pasted."""
    words = shlex.split(re.search(rf"--{name} (?:'[^']*'|\S+)", said)[0])
    return [words[0], words[1].rstrip(".")]


def used(model):
    return model.feature_names_in_.tolist()


# -- how files are written ------------------------------------------------------------------------------


def german(people):
    return people.rename(columns={"age": "Größe"}).to_csv(index=False, sep=";", decimal=",").encode("latin-1")


def test_semicolons_decimal_commas_and_latin_1(here, people, fit):
    (here / "x.csv").write_bytes(german(people))
    _, said = fit("x.csv", code=1)
    assert "'x.csv' is not written in UTF-8. Say how it is, such as --encoding cp1252" in said
    encoding = option(said, "encoding")
    _, said = fit("x.csv", *encoding, code=1)
    assert "with semicolons between" in said
    assert "'pressure' (numbers with a decimal comma). For decimal commas give --decimal ," in said
    model, _ = fit("x.csv", *encoding, *option(said, "decimal"))
    assert used(model) == ["Größe", "pressure"]


def test_options_read_the_same_numbers_in_python(here, people):
    (here / "x.csv").write_bytes(german(people))
    records = DataFiles("x.csv", decimal=",", encoding="latin-1")
    rows = np.concatenate([batch.array for batch in records.batches()])
    assert np.array_equal(rows, people.to_numpy())


def test_utf_16_with_tabs(here, people, fit):
    (here / "x.txt").write_bytes(people.to_csv(index=False, sep="\t").encode("utf-16"))
    model, said = fit("x.txt")
    assert "with tabs between" in said
    assert "read as UTF-16" in said
    assert used(model) == ["age", "pressure"]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b\n1;2\n", ";"),
        ("a|b\n1|2\n", "|"),
        ("a\n1\n", ","),
        ('"a, in m";b\n1;2\n', ";"),
        ("a, in m;b\n1;2\n3;4\n", ";"),
        ("a,b;c\n1,2\n3,4\n5,6\n", ","),
    ],
)
def test_the_separator_is_found_in_the_structure(here, text, separator):
    (here / "x.csv").write_text(text)
    assert DataFiles("x.csv").tables[0].text.separator == separator


def test_a_separator_in_doubt_is_asked_for(here, fit):
    (here / "x.csv").write_text("height, cm;weight, kg\n" + "180,5;70,2\n" * N)
    _, said = fit("x.csv", code=1)
    assert "more than one mark in its first line" in said
    assert used(fit("x.csv", *option(said, "separator"), "--decimal", ",")[0]) == ["height, cm", "weight, kg"]


def test_an_archive(here, people, fit):
    with zipfile.ZipFile(here / "x.zip", "w") as archive:
        archive.writestr("export/people.csv", people.to_csv(index=False))
        archive.writestr("__MACOSX/export/._people.csv", "x")
    assert used(fit("x.zip")[0]) == ["age", "pressure"]
    with zipfile.ZipFile(here / "x.zip", "a") as archive:
        archive.writestr("legend.csv", "a\n1\n")
    _, said = fit("x.zip", code=1)
    assert "must hold one file; it holds 'export/people.csv', 'legend.csv'. Unpack it" in said
    zipfile.ZipFile(here / "x.zip").extractall(here)
    fit("export/people.csv")


def test_a_workbook(here, people, fit):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["age", "pressure", "smoker", None])
    for age, pressure in people.to_numpy():
        sheet.append([age, pressure, bool(age > 50)])
    book.save(here / "x.xlsx")
    records = DataFiles("x.xlsx", exclude=["smoker"])
    assert np.array_equal(np.concatenate([batch.array for batch in records.batches()]), people.to_numpy())
    assert used(fit("x.xlsx")[0]) == ["age", "pressure", "smoker"]
    sheet.append([dt.date(2020, 1, 1), 3.5, "Zaphod"])
    book.create_sheet("legend").append(["what it means"])
    book.save(here / "x.xlsx")
    _, said = fit("x.xlsx", code=1)
    assert "has several sheets that hold something" in said
    assert "--sheet Sheet or --sheet legend (sheet='Sheet')" in said
    sheet = option(said, "sheet")
    _, said = fit("x.xlsx", *sheet, code=1)
    assert "'age' (dates), 'smoker' (text and true and false, or yes and no)" in said
    (here / "y.xlsx").write_bytes(b"no workbook")
    assert "Save the sheet as CSV" in fit("y.xlsx", code=1)[1]


def test_quoted_line_breaks(here, people, fit):
    people.assign(note='one\ntwo, "three"').to_csv(here / "x.csv", index=False)
    _, said = fit("x.csv", code=1)
    assert used(fit("x.csv", *option(said, "exclude"))[0]) == ["age", "pressure"]


# -- values -----------------------------------------------------------------------------------------------


def test_all_columns_of_text_in_one_refusal(here, people, fit):
    odd = people.assign(name="Zaphod", ward="north", born="1951-07-13", crp=["<5", *"7" * (N - 1)], sex="Ä")
    odd.to_csv(here / "x.csv", index=False)
    _, said = fit("x.csv", code=1)
    assert (
        "'name' (text), 'ward' (text), 'born' (dates), 'crp' (numbers with a sign before them, such as <), 'sex' (text)"
        in said
    )
    assert "dpmorse inspect x.csv -o schema.toml" in said
    assert option(said, "exclude") == ["--exclude", "name,ward,born,crp,sex"]
    assert used(fit("x.csv", *option(said, "exclude"))[0]) == ["age", "pressure"]


def test_names_with_commas_and_blanks_can_be_pasted(here, people, fit):
    people.assign(**{"last, first": "Zaphod", "the ward": "a"}).to_csv(here / "x.csv", index=False)
    _, said = fit("x.csv", code=1)
    options = re.search(r"Leave columns out with (.*?) \(exclude", said)[1]
    assert used(fit("x.csv", *shlex.split(options))[0]) == ["age", "pressure"]


def test_values_below_a_limit(here, people, fit):
    people.assign(crp=["<5", *"7" * (N - 1)]).to_csv(here / "x.csv", index=False)
    _, said = fit("x.csv", code=1)
    assert (
        "'crp' (numbers with a sign before them, such as <). Texts that are no exact number can be read as"
        in said
    )
    assert used(fit("x.csv", *option(said, "exclude"))[0]) == ["age", "pressure"]
    assert used(fit("x.csv", "--na", "<5", "--missing", "drop")[0]) == ["age", "pressure", "crp"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_codes_for_missing_values(here, people, run, ending):
    coded = people.assign(pressure=people["pressure"].where(people.index % 7 > 0, -999))
    getattr(coded, f"to_{ending}")(here / f"x.{ending}", index=False)
    assert run(
        "fit", f"x.{ending}", *FAST
    )  # a fit cannot look: it would be a question that nobody has paid for
    said = run("inspect", f"x.{ending}").stdout
    assert "--na -999" in said
    found = option(said, "na")
    assert (
        "values are missing in the column 'pressure'"
        in run("fit", f"x.{ending}", *FAST, *found, code=1).stderr
    )
    run("fit", f"x.{ending}", *FAST, *found, "--missing", "drop")
    kept = np.concatenate(
        [batch.array for batch in DataFiles(f"x.{ending}", na=-999, missing="drop").batches()]
    )
    assert np.array_equal(kept, people[people.index % 7 > 0].to_numpy())


def test_true_and_false_and_yes_and_no_are_numbers(here, people, fit):
    truth = people["age"] > 50
    words = people.assign(ill=truth, smoker=truth.map({True: "Yes", False: "no"}), one_hot=truth.astype(int))
    words.to_csv(here / "x.csv", index=False)
    assert used(fit("x.csv")[0]) == ["age", "pressure", "ill", "smoker", "one_hot"]
    rows = np.concatenate([batch.array for batch in DataFiles("x.csv").batches()])
    assert np.array_equal(rows[:, 2:], np.column_stack([truth] * 3))


def test_true_and_false_that_come_late(here, monkeypatch):
    """What was read before the first of them is neither lost nor read twice."""
    monkeypatch.setattr("dpmorse.records.files.text.text_file._BLOCK_BYTES", 64)
    (here / "x.csv").write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(90)) + "90,yes\n91,no\n")
    rows = np.concatenate([batch.array for batch in DataFiles("x.csv").batches()])
    assert rows[:, 0].tolist() == list(range(92))
    assert rows[:, 1].tolist() == [*(i % 2 for i in range(90)), 1, 0], "each by itself"
    (here / "x.csv").write_text("a,b,c\n" + "".join(f"{i},,yes\n" for i in range(90)) + "90,yes,no\n")
    rows = np.concatenate([batch.array for batch in DataFiles("x.csv", missing="drop").batches()])
    assert rows.tolist() == [[90, 1, 0]]
    columns = DataFiles("x.csv", columns=["a", "c"])
    assert np.concatenate([batch.array for batch in columns.batches()])[:, 0].tolist() == list(range(91))


# -- columns ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_row_numbers_and_ids_are_left_out_by_their_names(here, people, fit, ending):
    known = people.assign(patient_id=range(N), pidnum=range(N), acid=range(N), **{"Unnamed: 0": range(N)})
    known = known.rename(columns={"pidnum": ""}) if ending == "csv" else known
    getattr(known, f"to_{ending}")(here / f"x.{ending}", index=False)
    model, said = fit(f"x.{ending}")
    assert used(model) == ["age", "pressure", "acid"]
    assert "'patient_id' (ids, by its name)" in said
    assert "'Unnamed: 0' (row numbers, by its name)" in said
    assert used(fit(f"x.{ending}", "--columns", "age,patient_id")[0]) == ["age", "patient_id"]


def test_index_columns_and_text_of_typed_files(here, people, fit):
    people.assign(name="Zaphod", __null_dask_index__=range(N)).to_parquet(here / "x.parquet")
    people.sort_values("pressure").to_parquet(here / "y.parquet")
    model, said = fit("x.parquet")
    assert used(model) == ["age", "pressure"]
    assert "'name' (no numbers, by its type)" in said
    assert "'__null_dask_index__' (row numbers, by its name)" in said
    assert "'__index_level_0__'" in fit("y.parquet")[1]


def test_in_python_a_warning_names_what_is_left_out(here, people):
    people.assign(id=range(N)).to_parquet(here / "x.parquet")
    with pytest.warns(UserWarning, match=r"columns left out: 'id' \(ids, by its name\)"):
        model = DPMoGHard(3, epsilon=9.0, bounds=(0, 300)).fit("x.parquet")
    assert used(model) == ["age", "pressure"]
    chosen = DataFiles("x.parquet", exclude=["id"])
    assert DPMoGHard(3, epsilon=9.0, bounds=(0, 300)).fit(chosen).n_features_in_ == 2


def test_a_name_twice(here, people, fit):
    text = people.to_csv(index=False)
    (here / "x.csv").write_text(text.replace("age,pressure", "pressure,pressure"))
    _, said = fit("x.csv", code=1)
    assert "twice there: 'pressure'. Rename one of them" in said
    (here / "x.csv").write_text(text)
    fit("x.csv")


def test_no_names(here, people, fit):
    people.to_csv(here / "x.csv", index=False, header=False)
    _, said = fit("x.csv", code=1)
    assert "Put a line with names above it" in said
    (here / "x.csv").write_text("age,pressure\n" + (here / "x.csv").read_text())
    fit("x.csv")


def test_one_row(here, fit):
    (here / "x.csv").write_text("age,pressure\n50,120\n")
    assert used(fit("x.csv")[0]) == ["age", "pressure"]


def test_excluded_columns_are_checked(here, people, fit):
    people.to_csv(here / "x.csv", index=False)
    assert "has no column 'weight'" in fit("x.csv", "--exclude", "weight", code=1)[1]
    assert "nor one that is excluded" in fit("x.csv", "--exclude", "age", "--columns", "age", code=1)[1]
    assert used(fit("x.csv", "--exclude", "age")[0]) == ["pressure"]


# -- inspect ----------------------------------------------------------------------------------------------


@pytest.fixture
def export(here, people):
    """A file with everything at once."""
    days = [f"{1 + i % 28:02d}.03.2021" for i in range(N)]
    table = people.assign(
        case=range(5000, 5000 + N),
        code=np.random.default_rng(1).permutation(N) + 7000,
        who=[f"Zaphod{i}" for i in range(N)],
        ward=np.where(people["age"] > 50, "nord", "süd"),
        smoker=np.where(people["age"] > 50, "yes", "no"),
        admitted=days,
        crp=np.where(people.index % 9 > 0, people["pressure"] / 10, -999),
        site="north",
        flag=people.index % 2,
        lab=["?" if i % 5 == 0 else f"{i},5" for i in range(N)],
    )
    (here / "x.csv").write_bytes(table.to_csv(index=False, sep=";", decimal=",").encode("cp1252"))
    return "x.csv"


def test_inspect_says_what_a_file_is_like(export, run):
    said = run("inspect", export, "-o", "s.toml").stdout
    assert said.startswith(
        "For the holder of the data: what follows is read off the records. It is NOT private"
    )
    assert "separator ';', encoding CP1252, decimal comma" in said
    lines = {line.split()[0]: line for line in said.splitlines() if line.startswith("  ")}
    for name, words in {
        "age": "used: whole numbers",
        "pressure": "used: numbers",
        "case": "left out: whole numbers that count the rows",
        "code": "left out: no two values alike",
        "who": "left out: no two values alike",
        "ward": "used: text: categories",
        "smoker": "used: true and false, or yes and no",
        "admitted": "used: dates, the day first",
        "crp": "used: numbers; values are missing; '-999' may be a code",
        "site": "left out: the same value everywhere",
        "flag": "used: 0 and 1",
        "lab": "used: numbers; values are missing; '?' may be a code",
    }.items():
        assert words in lines[name], lines[name]
    assert "--separator ';' --decimal , --encoding cp1252 --na -999 --na '?' --dates day-first" in said


def test_what_inspect_writes_is_all_that_a_fit_needs(export, here, run):
    run("inspect", export, "-o", "s.toml")
    text = (here / "s.toml").read_text(encoding="utf-8")
    assert "NOT private" in text.splitlines()[0]
    assert (
        "is not filled in"
        in run("fit", export, "--epsilon", "9", "--bounds", "s.toml", "-o", "m.json", code=1).stderr
    )
    filled = text.replace('lower = "?", upper = "?"', "lower = 0, upper = 300")
    filled = filled.replace('values = "?"', 'values = ["nord", "süd"]')
    filled = filled.replace('earliest = "?", latest = "?"', "earliest = 2021-01-01, latest = 2022-01-01")
    (here / "s.toml").write_text(filled, encoding="utf-8")
    run("fit", export, "--epsilon", "9", "--bounds", "s.toml", "-o", "m.json", "--clusters", "2")
    reading = read_bounds("s.toml").reading.told
    options = [word for name, value in reading.items() if name != "na" for word in (f"--{name}", value)]
    said = run("predict", export, "m.json", *options, "--na", "-999", "--na", "?", "-o", "labels.csv").stderr
    assert "The labels are in 'labels.csv'" in said


def test_inspect_shows_no_value_and_no_number_of_records(export, here, run, people):
    said = run("inspect", export, "-o", "s.toml").stdout
    both = said + (here / "s.toml").read_text(encoding="utf-8").partition("[file]")[2]
    numbers = {str(value) for value in people["pressure"]} | {str(N), "5000", "7.5", "7,5", "12,5"}
    texts = {"Zaphod", "nord", "süd", "north", "2021"}
    assert not [value for value in numbers | texts if re.search(rf"(?<![\w.]){re.escape(value)}", both)]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_inspect_of_typed_files(here, people, run, ending):
    typed = people.assign(
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(people["age"], "D"), ill=people["age"] > 50
    )
    typed.assign(ward=np.where(people["age"] > 50, "a", None)).to_feather(here / "x.feather")
    typed.assign(ward=np.where(people["age"] > 50, "a", None)).to_parquet(here / "x.parquet")
    said = run("inspect", f"x.{ending}").stdout
    for words in ("states the types", "used: dates", "used: true and false", "used: whole numbers"):
        assert words in said


def test_the_part_file_of_a_bounds_file_is_checked(here, run, csv_file):
    for text, message in {
        "[file]\nseparator = 3": "part [file]: separator must be one character",
        "[file]\nskip = 'two'": "part [file]: skip must be a number of lines",
        "[file]\nremove = ['.']": "part [file]: remove must be texts that stand beside numbers",
        "[file]\nquote = 'x'": "part [file], may have sheet, skip, skip_below, separator",
        "[file]\ndecimal = ';'": "part [file]: decimal must be",
        "[file]\nencoding = 'none'": "encoding must be the name of one",
        "[file]\nthousands = '.'": "thousands and decimal must differ",
        "[other]\na = 1": "must have a part [bounds]",
    }.items():
        (here / "b.toml").write_text(f"{text}\n[bounds]\nage = {{ lower = 0, upper = 1 }}\n")
        said = run("fit", csv_file, "--epsilon", "1", "--bounds", "b.toml", "-o", "m.json", code=1).stderr
        assert message in said


def test_bounds_keeps_how_the_file_is_written(here, people, run):
    (here / "x.csv").write_bytes(german(people))
    run("bounds", "x.csv", "-o", "b.toml", "--encoding", "cp1252", "--decimal", ",", "--exclude", "pressure")
    text = (here / "b.toml").read_text(encoding="utf-8")
    text = text.replace('lower = "?"', "lower = 0").replace('upper = "?"', "upper = 120")
    (here / "b.toml").write_text(text, encoding="utf-8")
    run("fit", "x.csv", "--epsilon", "9", "--bounds", "b.toml", "-o", "m.json", "--base", "DPMoGHard")
    assert used(load("m.json")) == ["Größe"]


def test_a_model_is_an_argument_or_an_option(model_file, run):
    assert run("show", model_file).stdout == run("show", "--model", model_file).stdout
    assert "give the model once" in run("show", model_file, "--model", model_file, code=2).stderr
    assert "a model is needed" in run("cut", "--clusters", "2", "-o", "x.json", code=2).stderr
    run("cut", model_file, "--clusters", "1", "-o", "one.json")
    assert run("show", "one.json").stdout.startswith("One group: all of the records")
