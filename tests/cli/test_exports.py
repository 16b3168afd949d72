"""Exports of hospitals, offices and surveys, each in the way in which it annoys people.

``inspect`` finds what a file needs, ``fit`` and ``predict`` take it from the schema file, and a plain ``fit``
refuses the file with the option that helps, ready to paste. All read the numbers that were written.
"""

import datetime as dt
import re
import shlex
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpmorse import DataFiles, load
from dpmorse.cli.bounds_file import read_bounds
from dpmorse.records import reason_of_name

N = 60
FAST = [
    "--epsilon",
    "9",
    "--bounds",
    "0,30000",
    "--base",
    "DPMoGHard",
    "--components",
    "2",
    "-o",
    "m.json",
    "--force",
    "--quiet",
]
rng = np.random.default_rng(12)
AGE, COST = rng.integers(20, 90, N), rng.lognormal(7.5, 1, N).round(2)
AGE[0], COST[:2] = 41, (1234.5, 987.25)
ROWS = list(zip(AGE.tolist(), COST.tolist(), strict=True))
NUMBERS = np.column_stack([AGE, COST])


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def lines(head, row, foot=""):
    return head + "".join(f"{row(age, cost)}\n" for age, cost in ROWS) + foot


EXPORTS = {
    "titles": (lines("Report of 2024\n\nWard A\nage,cost\n", "{},{}".format), "--skip 3"),
    "titles in a line of separators": (
        lines("Klinik;\nStand: 1.3.2024;\nage;cost\n", "{};{}".format),
        "--skip 2 --separator ';'",
    ),
    "comments": (lines("# LIMS 4\n# do not edit\nage\tcost\n", "{}\t{}".format), "--skip 2 --separator tab"),
    "a stated separator": (lines("sep=;\nage;cost\n", "{};{}".format), "--separator ';'"),
    "units below the names": (lines("age,cost\nyears,EUR\n", "{},{}".format), "--skip-below 1"),
    "questions below the names": (
        lines('age,cost\n"How old,\nin years?",What\n"{""Id"":""Q1""}",{Q2}\n', "{},{}".format),
        "--skip-below 2",
    ),
    "German numbers": (
        lines("age;cost\n", lambda age, cost: f"{age};{german(cost)}"),
        "--separator ';' --decimal , --thousands .",
    ),
    "French numbers": (
        lines("age;cost\n", lambda age, cost: f"{age};{german(cost).replace('.', chr(0x202F))}"),
        "--separator ';' --decimal , --thousands blank",
    ),
    "Swiss numbers": (
        lines("age;cost\n", lambda age, cost: f"{age};{cost:,.2f}".replace(",", "'")),
        "--separator ';' --thousands apostrophe",
    ),
    "thousands in quotation marks": (lines("age,cost\n", '{},"{:,.2f}"'.format), "--thousands ,"),
    "currency and units": (
        lines("age,cost\n", '{} years,"${:,.2f}"'.format),
        "--thousands , --remove '$' --remove years",
    ),
    "UTF-16 without a mark": (
        lines("age\tcost\n", "{}\t{}".format).encode("utf-16-le"),
        "--separator tab --encoding utf-16-le",
    ),
    "mixed line ends and blank lines": (
        "\ufeff\r\n" + "".join(f"{a},{b}\r\n" for a, b in [("age", "cost"), *ROWS[:9]])
        + "".join(f"{a},{b}\n" for a, b in ROWS[9:]) + "\r\n\n",
        "",
    ),
    "separators at the end": (lines("age;cost;;;\n", "{};{};;;".format), "--separator ';'"),
}  # fmt: skip


def write(here, content):
    (here / "x.csv").write_bytes(content if isinstance(content, bytes) else content.encode())


def read(**options):
    records = DataFiles("x.csv", columns=["age", "cost"], **options)
    return np.concatenate([batch.array for batch in records.batches()])


def pasted(said):
    """The options that a message has ready."""
    found = re.findall(
        r"(--(?:skip|skip-below|separator|decimal|thousands|encoding|remove) (?:'[^']*'|[^\s(]+))", said
    )
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", EXPORTS)
def test_what_inspect_finds_reads_the_numbers_that_were_written(here, run, name):
    content, options = EXPORTS[name]
    write(here, content)
    said = run("inspect", "x.csv", "-o", "s.toml").stdout
    assert not re.search(r"1234|1\D234|987|(?<!\d)41(?!\d)", said)
    found = re.search(r"Options for fit and predict \(a schema file has them\): (.*)", said)
    assert (found[1] if found else "") == options
    filled = (here / "s.toml").read_text(encoding="utf-8").replace('"?"', "0", 1)
    (here / "s.toml").write_text(
        re.sub(r'upper = "\?"', "upper = 30000", filled.replace('lower = "?"', "lower = 0")), encoding="utf-8"
    )
    assert np.array_equal(read(**read_bounds("s.toml").reading.told), NUMBERS)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_fit_takes_the_file_or_says_which_option_helps(here, run, name):
    """At most three refusals, each about another thing, and each with what mends it."""
    write(here, EXPORTS[name][0])
    options = []
    for _ in range(4):
        said = run("fit", "x.csv", *FAST, *shlex.split(" ".join(options)), code=None).stderr
        if not said:
            break
        assert "Error: 'x.csv' " in said
        new = [option for option in pasted(said) if option not in options and "instead" not in option]
        assert new, said
        options += [
            option
            for option in new
            if option != "--decimal ," or name in {"German numbers", "French numbers"}
        ]
    assert load("m.json").feature_names_in_.tolist() == ["age", "cost"]


def test_the_schema_file_is_all_that_fit_and_predict_need(here, run):
    content = lines(
        "Klinik Süd;;;;\nFallnr;age;cost;Station;Aufnahme\n",
        lambda age, cost: (
            f"{age};{age};{german(cost)};{'Innere' if age > 50 else 'Chirurgie'};{1 + age % 28:02d}.03.2021"
        ),
    )
    write(here, content.encode("cp1252"))
    run("inspect", "x.csv", "-o", "s.toml")
    text = (here / "s.toml").read_text(encoding="utf-8")
    left_out = '# "Fallnr" = { lower = "?", upper = "?", integer = true }  # left out: ids, by its name'
    assert left_out in text
    for blank, filled in {
        'lower = "?", upper = "?"': "lower = 0, upper = 30000",
        'values = "?"': 'values = ["Innere", "Chirurgie"]',
        'earliest = "?", latest = "?"': "earliest = 2021-01-01, latest = 2022-01-01",
    }.items():
        text = text.replace(blank, filled)
    (here / "s.toml").write_text(text, encoding="utf-8")
    run("fit", "x.csv", "--bounds", "s.toml", "--epsilon", 9, "--clusters", 2, "-o", "m.json", "--quiet")
    run("predict", "x.csv", "--bounds", "s.toml", "--model", "m.json", "-o", "labels.csv", "--keep", "cost")
    kept = pd.read_csv("labels.csv")
    assert kept["cost"].tolist() == COST.tolist()
    assert len(kept["cluster"]) == N
    run("report", "m.json", "-o", "r.html")
    assert "Aufnahme" in run("show", "m.json").stdout
    run("registry", "m.json")


def test_the_command_line_goes_before_the_schema_file(here, run):
    write(here, lines("age|cost\n", "{}|{}".format))
    (here / "s.toml").write_text(
        '[file]\nseparator = ";"\n[bounds]\nage = { lower = 0, upper = 99 }\ncost = { lower = 0, upper = 30000 }\n'
    )
    args = ["--base", "DPMoGHard", "--components", 2, "--epsilon", 9, "-o", "m.json", "--quiet"]
    assert "--separator" in run("fit", "x.csv", "--bounds", "s.toml", *args, code=1).stderr
    run("fit", "x.csv", "--bounds", "s.toml", "--separator", "|", *args)
    assert (
        "--separator" in run("predict", "x.csv", "m.json", "--bounds", "s.toml", "-o", "a.csv", code=1).stderr
    )
    run("predict", "x.csv", "m.json", "--bounds", "s.toml", "--separator", "bar", "-o", "a.csv")


def test_codes_of_a_survey_go_by_column(here, run):
    answers = pd.DataFrame(
        {"q1": np.r_[[8, 9] * 5, 1 + np.arange(N - 10) % 5], "age": np.r_[9, 99, AGE[2:]], "income": COST}
    )
    answers.loc[3, "income"] = -7
    answers.to_csv("x.csv", index=False)
    said = run("inspect", "x.csv", "-o", "s.toml").stdout
    assert "q1      used: whole numbers; values are missing; '8', '9' may be a code" in said
    assert "age     used: whole numbers\n" in said
    assert "--na -7\n" in said
    text = (here / "s.toml").read_text()
    assert '"q1" = { lower = "?", upper = "?", integer = true, missing = "ignore", na = ["8", "9"] }' in text
    (here / "s.toml").write_text(text.replace('lower = "?", upper = "?"', "lower = 0, upper = 300"))
    reading = read_bounds("s.toml").reading
    assert reading.na_of == {"q1": ("8", "9")}
    batch = next(iter(DataFiles("x.csv", na=reading.na_of, missing="drop").batches())).array
    assert np.array_equal(batch, answers[answers["q1"] < 6].to_numpy())
    run("fit", "x.csv", "--bounds", "s.toml", "--epsilon", 9, "--clusters", 1, "-o", "m.json", "--quiet")
    (here / "s.toml").write_text("[bounds]\nage = { lower = 0, upper = 300, na = 3.5e }\n")
    assert (
        "line 2 of 's.toml' cannot be read" in run("fit", "x.csv", *FAST, "--bounds", "s.toml", code=1).stderr
    )


@pytest.fixture
def book(here):
    """A workbook as offices keep it: a cover, a sheet with a title, an empty sheet."""
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    book.active.append(["Hospital"])
    sheet = book.create_sheet("Cases 2024")
    for row in (["All cases"], [], ["age", "cost\n(EUR)", "day"]):
        sheet.append(row)
    for age, cost in ROWS:
        sheet.append([age, cost, dt.date(2024, 1, 1 + age % 28)])
    book.create_sheet("Empty")
    book.save(here / "x.xlsx")
    return "x.xlsx"


def test_a_sheet_of_a_workbook(here, run, book):
    said = run("fit", book, *FAST, code=1).stderr
    assert "has several sheets that hold something" in said
    assert "--sheet Cover or --sheet 'Cases 2024' (sheet='Cover')" in said
    assert "has no such sheet as 'Cases'" in run("fit", book, *FAST, "--sheet", "Cases", code=1).stderr
    sheet = ["--sheet", "Cases 2024"]
    said = run("fit", book, *FAST, *sheet, code=1).stderr
    assert "Leave them out with --skip 2 (skip=2)" in said
    said = run("inspect", book, *sheet).stdout
    assert "has names in line 3" in said
    assert "dpmorse inspect x.xlsx --sheet 'Cases 2024' -o schema.toml writes" in said
    run("inspect", book, *sheet, "-o", "s.toml")
    assert read_bounds_options("s.toml") == {"sheet": "Cases 2024", "skip": 2}
    records = DataFiles(book, sheet="Cases 2024", skip=2, exclude=["day"])
    assert np.array_equal(np.concatenate([batch.array for batch in records.batches()]), NUMBERS)
    run("fit", book, *FAST, *sheet, "--skip", 2, "--exclude", "day")
    write(here, "age,cost\n1,2\n")
    assert "sheet is for workbooks" in run("fit", "x.csv", *FAST, *sheet, code=1).stderr


def read_bounds_options(path):
    with open(path, "rb") as file:
        import tomllib

        return tomllib.load(file)["file"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lines("age,cost\n", "{},{}".format, "Total,9\n"),
            "'age' (words of a line of sums). Remove the line of sums",
        ),
        (
            lines("age,cost\n", "{},unknown".format),
            "Name the codes for missing values with --na, such as --na '?' (na=['?']); `dpmorse inspect` finds them",
        ),
        (lines("age,at\n", "{},08:30".format), "'at' (times of day). Leave columns out with --exclude at"),
        (lines("age   cost\n", "{}   {}".format), "Are there blanks between its values? Save it as CSV"),
        (lines("age,cost\n", "{},{},a".format), "--skip"),
        (
            lines("age,cost\n", "{},{}".format, "1,2,3\n"),
            "Put texts that hold the separator into quotation marks",
        ),
        (
            lines("age,cost,no\n", "{},{},".format),
            "--missing drop (missing='drop'; in Spark: X.dropna()), or, where most",
        ),
        (lines("age,age\n", "{},{}".format), "twice there: 'age'. Rename one of them"),
    ],
)
def test_files_that_need_another_hand(here, run, content, message):
    write(here, content)
    said = run("fit", "x.csv", *FAST, code=1).stderr
    assert message in said
    assert "unknown" not in said


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (lambda i: f"{i % 90:05d}", "left out: numbers with zeros in front: likely codes, such as postal codes"),
        (lambda i: f"{i % 24:02d}:30", "left out: times of day"),
        (lambda i: "x" * (i % 2), "left out: the same value in some rows and nothing in the others, as a cross on a form: if the"),
        (lambda i: ("ja", "nein")[i % 2], "used: true and false, or yes and no"),
        (lambda i: ("Oui", "Non", "inconnu")[i % 3], "used: true and false, or yes and no; values are missing; 'inconnu' may"),
        (lambda i: f"{1 + i % 28:02d}.03.21", "left out: dates with two digits for the year: write years with four"),
        (lambda i: "<5" if i % 3 else f"{i % 7}.5", "left out: numbers and numbers with a sign before them"),
        (lambda i: f"2024-03-{1 + i % 28:02d}T08:30:00+02:00", "used: dates"),
        (lambda i: 10**18 + 7 * i, "left out: no two values alike: likely ids, or names"),
        (lambda i: "", "left out: the same value everywhere, or none"),
        (lambda i: ("Total" if i == N - 1 else "a"), "used: text: categories"),
    ],
)  # fmt: skip
def test_columns_that_inspect_has_a_word_for(here, run, column, words):
    write(here, "age,this\n" + "".join(f"{AGE[i]},{column(i)}\n" for i in range(N)))
    said = run("inspect", "x.csv", "-o", "s.toml").stdout
    assert f"this  {words}" in said
    assert ("A line of sums seems to be among the records (a word in 'this')" in said) == ("text" in words)


def test_thousands_that_look_like_decimals_are_asked_about(here, run):
    write(here, lines("age;cost\n", lambda age, cost: f"{age};{1000 * age + 7:,}".replace(",", ".")))
    assert "All decimals of 'cost' have three digits" in run("inspect", "x.csv").stdout
    asked = "--thousands . --decimal ,"
    assert asked in run("inspect", "x.csv").stdout
    assert "three digits" not in run("inspect", "x.csv", *asked.split()).stdout
    write(here, lines("age;cost\n", lambda age, cost: f"{age};{age}.0{age}\n{age};{age}.5"))
    assert "three digits" not in run("inspect", "x.csv").stdout


def test_names_of_ids_in_three_languages():
    ids = [
        "Pat.-Nr.",
        "Fallnummer",
        "KVNR",
        "Aktenzeichen",
        "IPP",
        "numéro de dossier",
        "N° patient",
        "client_id",
        "NHS number",
    ]
    assert [reason_of_name(name) for name in ids] == ["ids, by its name"] * len(ids)
    assert {reason_of_name(name) for name in ("PLZ", "zip code", "Code postal")} == {
        "postal codes, by its name"
    }
    kept = ["age", "patients", "number of visits", "fall", "patient satisfaction", "acid", "zip", "nr", "id"]
    assert [reason_of_name(name) is None for name in kept] == [True] * 6 + [False, True, False]


def test_a_wide_file_and_long_names(here, run):
    names = [f"gene {i}" for i in range(1100)]
    frame = pd.DataFrame(rng.integers(0, 9, (30, 1100)), columns=names).rename(
        columns={"gene 3": '👵, "x"\n' + "y" * 300}
    )
    frame.to_csv("x.csv", index=False)
    said = run("inspect", "x.csv", "-o", "s.toml").stdout
    assert max(map(len, said.splitlines())) < 140
    assert (
        "1100 columns"
        in run("fit", "x.csv", "--epsilon", 1, "--bounds", "0,9", "-o", "m.json", code=1).stderr
    )


def test_labels_of_a_folder_with_partitions(here, run):
    """In the order of the names of the files; hidden files and those of other folders are no data."""
    frame = pd.DataFrame(NUMBERS, columns=["age", "cost"])
    for year, part in ((2023, frame[:25]), (2024, frame[25:])):
        (here / f"d/year={year}").mkdir(parents=True)
        part.astype({"age": "int16" if year == 2024 else "float64"}).to_parquet(
            here / f"d/year={year}/part-0.parquet"
        )
    (here / "d/_SUCCESS").touch()
    (here / "d/old").mkdir()
    frame[:0].to_csv(here / "d/old/x.csv")
    run("fit", "d", *FAST)
    run("predict", "d", "m.json", "-o", "labels.csv", "--keep", "cost")
    assert pd.read_csv("labels.csv")["cost"].tolist() == COST.tolist()
    assert "'age'" not in run("inspect", "d", code=1).stderr
    assert "lower" in run("bounds", "d").stdout
    (here / "e/d").mkdir(parents=True)
    assert "found by a pattern" in run("fit", "e", *FAST, code=1).stderr
    assert "there is no file 'nowhere'" in run("fit", "nowhere", *FAST, code=1).stderr


def test_an_archive_is_inspected_like_what_is_in_it(here, run):
    with zipfile.ZipFile(here / "x.zip", "w") as archive:
        archive.writestr("x.csv", EXPORTS["titles"][0])
    assert "--skip 3" in run("inspect", "x.zip").stdout
