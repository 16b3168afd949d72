"""What every kind of column promises; a new kind is tested here as soon as it is in the list of all kinds."""

import json
import math
import tomllib

import numpy as np
import pytest

import dpmorse
from audits.readers import hostile
from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema
from dpmorse.cli.bounds_file import check_entries, described_columns
from dpmorse.records.values import ObjectValues
from dpmorse.schema import KINDS, CategoryColumn, NumberColumn

FORMS = [kind.form for kind in KINDS if kind.form is not None]
TOLD = tomllib.loads("".join(f"{name} = {entry}\n" for form in FORMS for name, entry, _ in form.lines))
COLUMNS = {
    f"{name}, {missing}": column
    for missing in ("refuse", "ignore", "level")
    for name, column in described_columns(
        "it", {name: {**entry, "missing": missing} for name, entry in TOLD.items()}
    ).items()
}
DAYS = Date("2000-01-01", "2030-01-01")
GRADES = Ordinal(["low", "mid", "high"])

columns = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def test_templates_explain_all_kinds():
    assert {type(column) for column in COLUMNS.values()} == set(KINDS)


@kinds
def test_a_kind_is_public_and_of_one_family(kind):
    assert getattr(dpmorse, kind.__name__) is kind
    assert issubclass(kind, NumberColumn) != issubclass(kind, CategoryColumn)


@kinds
def test_all_readers_are_attacked_with_a_column_of_the_kind(kind):
    assert kind in {type(column) for _, column in hostile.SCHEMA.columns}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.example)
def test_what_a_template_has_is_an_entry_to_be_filled_in(form):
    entry = tomllib.loads(f"it = {form.empty}")
    if '"?"' in form.empty:
        with pytest.raises(dpmorse.InvalidParameterError, match="is not filled in"):
            check_entries("it", entry)
    else:
        assert described_columns("it", entry)


@columns
def test_a_model_file_holds_all_of_it(column):
    schema = Schema.of({"a": column})
    assert Schema.from_plain(json.loads(json.dumps(schema.to_plain()))) == schema


@columns
@pytest.mark.parametrize("drawn", hostile.DRAWS)
def test_a_value_is_encoded_by_itself(column, drawn, rng):
    values = [hostile.DRAWS[drawn](rng) for _ in range(40)]
    alone = [column.encoded(ObjectValues([value])) for value in values]
    assert np.array_equal(column.encoded(ObjectValues(values)), np.concatenate(alone), equal_nan=True)


@columns
def test_what_is_decoded_is_encoded_as_before(column, rng):
    if isinstance(column, NumberColumn):
        encoded = np.floor(rng.uniform(*column.bounds, 50))
        values = column.decoded(encoded, None)
    else:
        encoded = rng.integers(len(column.listed), size=50).astype(np.float64)
        values = column.decoded(np.eye(len(column.levels))[encoded.astype(int)])
    assert np.array_equal(column.encoded(ObjectValues(values.tolist())), encoded)
    assert np.array_equal(
        column.encoded(ObjectValues(list(map(column.as_written, values.tolist())))), encoded
    )
    assert np.array_equal(column.from_codes(encoded, np), encoded)


@columns
def test_missing_values_stay_missing(column):
    nothing = column.encoded(ObjectValues([None, math.nan]))
    has_level = isinstance(column, CategoryColumn) and column.missing == "level"
    assert np.isnan(nothing).tolist() == [not has_level] * 2
    assert np.array_equal(column.from_codes(np.array([np.nan] * 2), np), nothing, equal_nan=True)
    if isinstance(column, NumberColumn):
        gap = column.decoded(np.zeros(1), np.array([True]))[0]
    else:
        gap = column.decoded(np.zeros((1, len(column.levels))))[0]
    assert gap is None or gap != gap  # noqa: PLR0124 - NaN and NaT


@pytest.mark.parametrize(
    ("column", "codes", "found"),
    [
        (Numeric(0, 1), [0.5, 7.0, math.inf], [0.5, 7.0, math.inf]),
        (GRADES, [0, 2, 3, -1, 0.5, math.inf], [0, 2, *[math.nan] * 4]),
        (DAYS, [0.0, 31.75, -1.0, math.inf], [0.0, 31.0, -1.0, math.nan]),
        (Nominal(["a", "b"]), [0, 1, 2, 0.5, -math.inf], [0, 1, 2, 2, 2]),
        (Boolean(), [0, 1, 2, -1], [0, 1, 2, 2]),
    ],
)
def test_codes_that_are_none(column, codes, found):
    assert np.array_equal(column.from_codes(np.array(codes, dtype=np.float64), np), found, equal_nan=True)


@pytest.mark.parametrize(
    ("column", "stated", "domain"),
    [
        (Numeric(-1, 2.5), "numbers from −1 to 2.5", "a number, clipped to [-1, 2.5]"),  # noqa: RUF001
        (Numeric(0, 9, integer=True), "whole numbers from 0 to 9", "a number, clipped to [0, 9]"),
        (GRADES, "in order: low, mid, high", "one of 3 listed values, in an order"),
        (DAYS, "dates from 2000-01-01 to 2030-01-01", "a day from 2000-01-01 to 2030-01-01"),
        (Nominal([1, "b"]), "one of 1, b", "one of 2 listed values"),
        (Boolean(), "true or false", "true or false"),
        (
            Boolean(missing="ignore"),
            "true or false; may be missing",
            "true or false; may be missing",
        ),
        (
            Boolean(missing="level"),
            "true or false; missing is a value of its own",
            "true or false; missing is a value",
        ),
    ],
)
def test_what_was_stated(column, stated, domain):
    assert (column.stated(str), column.domain_in_words) == (stated, domain)


def test_long_lists_are_cut_and_texts_made_fit_to_be_shown():
    assert Nominal(range(43)).stated(str).endswith(", 38, 39, and 3 more")
    assert GRADES.stated(str.upper) == "in order: LOW, MID, HIGH"


@pytest.mark.parametrize(
    ("column", "value", "decimals", "text", "plain"),
    [
        (Numeric(0, 9), 3.25, 1, "3.2", 3.25),
        (Numeric(-9, 9), -0.04, 1, "0.0", -0.04),
        (Numeric(0, 1e-8), 3.25e-9, 10, "3.25e-09", 3.25e-9),
        (Numeric(0, 1e15), 1234567890123.0, 0, "1.2346e+12", 1234567890123.0),
        (Numeric(0, 9, integer=True), 3.0, 2, "3", 3),
        (GRADES, 2.0, 1, "high", "high"),
        (GRADES, 7.0, 1, "high", "high"),
        (DAYS, 31.0, 1, "2000-02-01", "2000-02-01"),
        (DAYS, -5.0, 1, "2000-01-01", "2000-01-01"),
        (DAYS, 1e9, 1, "2030-01-01", "2030-01-01"),
    ],
)
def test_a_value_is_written_in_the_terms_of_the_column(column, value, decimals, text, plain):
    assert column.text(value, decimals) == text
    assert (column.plain(value), type(column.plain(value))) == (plain, type(plain))
    assert column.plain(math.nan) is None, "it is not known"


def test_how_numbers_of_a_kind_are_drawn():
    told = [(column.unit, column.ranks, column.first) for column in (Numeric(0, 1), GRADES, DAYS)]
    assert told == [
        ("", (), None),
        ("rank", ("low", "mid", "high"), None),
        ("days since 2000-01-01", (), 730120),
    ]
