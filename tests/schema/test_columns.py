"""What a user may say of a column, and what a column makes of a value."""

import math
from datetime import UTC, date, datetime

import pytest

from dpmorse import Boolean, Date, InvalidParameterError, InvalidTypeError, Nominal, Numeric, Ordinal


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Numeric(5, 5), InvalidParameterError, "lower must be less than upper, got 5 and 5"),
        (lambda: Numeric(0, math.inf), InvalidParameterError, "upper must be finite"),
        (lambda: Numeric(math.nan, 1), InvalidParameterError, "lower must be finite"),
        (lambda: Numeric(0, 10**400), InvalidParameterError, "upper must be finite"),
        (lambda: Numeric("0", 1), InvalidTypeError, "lower must be a number, got '0'"),
        (lambda: Numeric(False, 1), InvalidTypeError, "lower must be a number"),
        (lambda: Numeric(0, 1, integer=1), InvalidTypeError, "integer must be True or False"),
        (lambda: Numeric(0, 1, missing="drop"), InvalidParameterError, "missing must be one of 'refuse'"),
        (lambda: Ordinal("low"), InvalidTypeError, "values must list two or more"),
        (lambda: Ordinal(["low"]), InvalidParameterError, "values must list two or more"),
        (lambda: Nominal({"a", "b"}), InvalidTypeError, "values must list two or more"),
        (lambda: Nominal(["a", None]), InvalidTypeError, "None is neither"),
        (lambda: Nominal(["a", 1.5]), InvalidTypeError, "1.5 is neither"),
        (lambda: Nominal(["a", 1 << 64]), InvalidTypeError, "is neither"),
        (lambda: Nominal(["a", "b", "a"]), InvalidParameterError, "got 'a' twice"),
        (lambda: Nominal([1, "1"]), InvalidParameterError, "got '1' twice"),
        (lambda: Nominal([1, "1.0"]), InvalidParameterError, "got '1.0' twice"),
        (lambda: Nominal([True, "true"]), InvalidParameterError, "got 'true' twice"),
        (lambda: Boolean(missing=None), InvalidParameterError, "missing must be one of"),
        (lambda: Date("2000-01-01", "2000-01-01"), InvalidParameterError, "earliest must be before latest"),
        (lambda: Date("01/02/2000", "2001-01-01"), InvalidTypeError, "earliest must be a datetime.date"),
        (lambda: Date("2000-01-01", 2001), InvalidTypeError, "latest must be a datetime.date"),
    ],
)
def test_what_cannot_be_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_text_is_compared_exactly():
    column = Nominal(["é", " a", "b"])
    assert column.code_of("\u00e9") == 0
    for alike in ("e\u0301", "a", " a ", "B", "b\u200b", "\u0430"):
        assert column.code_of(alike) == column.levels.index("other")


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0"])
def test_a_listed_number_is_found_however_it_is_stored(value):
    assert Nominal([0, 1]).code_of(value) == 1
    assert Ordinal([0, 1]).number_of(value) == 1.0


def test_numbers_that_are_not_listed_are_other():
    for value in (2, 1.5, "01", "+1", "1.00", True, math.inf, 10**5000, b"1", object()):
        assert Nominal([0, 1]).code_of(value) == 2
        assert math.isnan(Ordinal([0, 1]).number_of(value))


def test_numbers_larger_than_floats_can_tell_apart():
    assert Nominal([2**53, 2**53 + 1]).code_of(2**53 + 1) == 1
    assert Nominal([2**53 + 1, 7]).code_of(2.0**53) == 2


def test_listed_booleans():
    column = Nominal([False, True])
    assert [column.code_of(value) for value in (True, "true", "True", 1, "1", "TRUE")] == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "1.0", "true", "TRUE", "t", "Yes", "y"])
def test_what_is_true(value):
    assert Boolean().code_of(value) == 1


@pytest.mark.parametrize("value", [2, "", "on", "1.00", "truee", "x" * 10**6, object(), date(2000, 1, 1)])
def test_what_is_neither_true_nor_false(value):
    assert Boolean().code_of(value) == 2


def test_a_listed_other_or_missing_is_the_one_that_is_used():
    column = Nominal(["other", "missing", "a"], missing="level")
    assert column.levels == ("other", "missing", "a")
    assert (column.code_of("b"), column.code_of(None)) == (0, 1)


def test_missing_values_have_a_level_only_if_asked_for():
    assert math.isnan(Boolean().code_of(None))
    assert Boolean(missing="level").code_of(None) == 3
    assert math.isnan(Nominal(["a", "b"], missing="ignore").code_of(None))
    assert math.isnan(Ordinal(["a", "b"], missing="level").number_of(None))


@pytest.mark.parametrize(
    "value",
    [
        date(2000, 1, 11),
        datetime(2000, 1, 11, 23, 59, tzinfo=UTC),
        "2000-01-11",
        "20000111",
        "2000-01-11T23:59+09:00",
    ],
)
def test_days(value):
    assert Date("2000-01-01", date(2001, 1, 1)).number_of(value) == 10.0


@pytest.mark.parametrize("value", [10, "11.01.2000", "2000-13-01", "", "2" * 10**6, None, math.nan])
def test_what_is_no_day(value):
    assert math.isnan(Date("2000-01-01", "2001-01-01").number_of(value))
