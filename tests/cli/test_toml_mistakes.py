"""Mistakes in a bounds file are told in a person's words: the line, what is wrong, and how it is written right."""

import tomllib

import pytest

from dpmorse.cli.toml_mistakes import explained

MISTAKES = {
    "day = { earliest = 31.12.2020, latest = 2030-01-01 }": "year-month-day: 2020-12-31, not 31.12.2020.",
    "day = { earliest = 2000-01-01, latest = 01.02.2020 }": "year-month-day: 2020-02-01, not 01.02.2020.",
    "day = { earliest = 12/31/2020, latest = 2030-01-01 }": "year-month-day: 2020-12-31, not 12/31/2020.",
    "day = { earliest = 01/02/2020, latest = 2030-01-01 }": "such as 2020-12-31, not 01/02/2020.",
    "day = { earliest = 2020-1-5, latest = 2030-01-01 }": "year-month-day: 2020-01-05, not 2020-1-5.",
    "day = { earliest = 2020-31-12, latest = 2030-01-01 }": "year-month-day: 2020-12-31, not 2020-31-12.",
    "day = { earliest = 31.02.2020, latest = 2030-01-01 }": "There is no such day: 31.02.2020.",
    "age = { lower = 0, upper = 37,5 }": "a point before its decimals: 37.5, not 37,5.",
    "age = { lower = -0,5, upper = 37 }": "a point before its decimals: -0.5, not -0,5.",
    "age = { lower = 0, upper = 1,000 }": "1000, or 1.000 if 1,000 has decimals.",
    "age = { lower = 0, upper = 1.000.000 }": "no mark between thousands: 1000000, not 1.000.000.",
    "age = { lower = .5, upper = 3 }": "A number begins with a digit: 0.5.",
    "age = { lower = 5., upper = 7 }": "Behind a point stands a digit: 5.0, or 5 alone.",
    "age = { lower = 007, upper = 8 }": "A number does not begin with 0: 7.",
    "age = { lower = \u22125, upper = 8 }": "The minus of a number is the hyphen",
    "age = { lower = 0, upper = 120 kg }": "A number stands alone, in the units of the file: 120, without kg.",
    "age = { lower = 0, upper = 12% }": "12, without %.",
    "age = { lower = ?, upper = 3 }": "Replace the ? by what you know",
    "age = { lower = 0 upper = 120 }": "A comma is missing before upper.",
    "age = { lower = 0; upper = 120 }": "a comma, not a semicolon",
    "age = { lower: 0, upper: 120 }": "stands =, not a colon: lower = ...",
    "age { lower = 0, upper = 120 }": "Between the name of a column and its { stands =",
    "age = ( lower = 0, upper = 120 )": "between { and }, not between ( and )",
    "age = { lower = 0, upper = 120": "A } is missing at the end of the line.",
    "age = { lower = 0, upper = 120 } }": "Behind the } of a column stands nothing else.",
    "age = { lower = 0, lower = 3 }": "It says 'lower' twice.",
    "age = { lower = 0, upper = 3, integer = True }": "small letters: true, not True.",
    "age = { lower = 0, upper = 3, integer = yes }": "small letters: true, not yes.",
    "sex = { values = [male, female] }": 'A text stands in quotation marks: "male", not male.',
    "sex = { values = [yes, no] }": 'A text stands in quotation marks: "yes", not yes.',
    'sex = { values = ["a", "b"], missing = ignore }': '"ignore", not ignore.',
    'sex = { values = ["a", "b", missing = "ignore" }': "A ] is missing behind the list of values.",
    'sex = { values = ["a, "b"] }': "A quotation mark is missing",
    "sex = { values = [\u201ca\u201d, \u201cb\u201d] }": "Quotation marks must be straight ones",
    "Gr\u00f6\u00dfe = { lower = 0, upper = 3 }": 'stands in quotation marks: "Gr\u00f6\u00dfe" = ...',
    "blood pressure = { lower = 0, upper = 3 }": 'stands in quotation marks: "blood pressure" = ...',
    "x = { lower = 0, upper = 3 }": "in the file twice. Keep one line for each column",
    "age = lower 0": "Write such a line as: age = { lower = 0, upper = 120 }",
}


@pytest.mark.parametrize(("line", "advice"), MISTAKES.items())
def test_a_mistake_is_shown_and_put_right(line, advice):
    text = f"# bounds\n[bounds]\nx = {{ lower = 0, upper = 1 }}\n{line}\ny = {{ lower = 0, upper = 1 }}\n"
    with pytest.raises(tomllib.TOMLDecodeError) as problem:
        tomllib.loads(text)
    where, shown, said = explained("'b.toml'", text, str(problem.value)).split("\n")
    assert where == "line 4 of 'b.toml' cannot be read:"
    assert shown == f"  {line}"
    assert advice in said


@pytest.mark.parametrize("line", MISTAKES)
def test_texts_in_quotation_marks_are_no_mistake(line):
    """The names of columns and of levels may look like any of the mistakes."""
    name = line.replace('"', "'")
    text = f'[bounds]\n"{name}" = {{ values = ["{name}", "b"], missing = ignore }}\n'
    with pytest.raises(tomllib.TOMLDecodeError) as problem:
        tomllib.loads(text)
    assert '"ignore", not ignore.' in explained("'b.toml'", text, str(problem.value))


def test_a_file_of_records_is_not_shown(here, csv_file, run):
    (here / "b.toml").write_text("name,age\nSmith,31\n")
    args = ["fit", csv_file, "--epsilon", 1, "-o", "m.json", "--bounds"]
    said = run(*args, "b.toml", code=1).stderr
    assert "is not a TOML file" in said
    assert "Smith" not in said
    (here / "b.toml").write_text("[bounds]\n\x1b[31mage = { lower = 0, upper = 37,5 }\n")
    said = run(*args, "b.toml", code=1).stderr
    assert "\x1b" not in said


def test_a_long_line_is_read_in_little_time():
    for line in (
        "a" * (1 << 19) + " " * (1 << 19),
        "x = { values = [" + '"a", ' * (1 << 17),
        "= " * (1 << 18),
    ):
        assert len(explained("'b.toml'", f"[bounds]\n{line}\n", "Invalid value (at line 2, column 3)")) < 500


def test_a_file_with_a_mark_of_utf_8_is_read(here, csv_file, run):
    (here / "b.toml").write_bytes(b"\xef\xbb\xbf[bounds]\nage = { lower = 0, upper = 110 }\n")
    run("fit", csv_file, "--epsilon", 9, "--bounds", "b.toml", "-o", "m.json", "--base", "DPMoGHard")
    (here / "b.toml").write_text("[bounds]\nage = { lowr = 0, upper = 110 }\n")
    said = run("fit", csv_file, "--epsilon", 9, "--bounds", "b.toml", "-o", "n.json", code=1).stderr
    assert "lacks the key 'lower'" in said
    (here / "b.toml").write_text('[bounds]\nage = { lower = 0, upper = "37,5" }\n')
    said = run("fit", csv_file, "--epsilon", 9, "--bounds", "b.toml", "-o", "n.json", code=1).stderr
    assert "got 0 and '37,5'. Write them without quotation marks, with a point before decimals" in said
