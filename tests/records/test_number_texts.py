"""Texts that write numbers: one rule, in three forms that must agree: Python's, Arrow's, and that of CSV."""

import io
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpmorse.records.files.reading import Reading
from dpmorse.records.files.text.number_texts import numbers_in, texts_in
from dpmorse.schema import number_of

TEXTS = st.one_of(
    st.text("0123456789.+-eE", max_size=8),
    st.text("0123456789.+-eEnaNiIfFtyxX _", max_size=8),
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(
        ["yes", "TRUE", "Falsch", "oui", "nan", "+nan", "-NaN", "inf", "Infinity", "1e400", "1e-400"]
    ),
    st.text(max_size=6),
)


def same(one, other):
    # Infinity of either sign stands for what is no number.
    return one == other or (math.isnan(one) and math.isnan(other)) or (math.isinf(one) and math.isinf(other))


@given(st.lists(TEXTS.filter(lambda text: "\x00" not in text), max_size=6))
def test_many_texts_are_read_as_one_is(texts):
    found = np.array(numbers_in(pa.array(texts, pa.string())).to_pylist(), dtype=np.float64)
    assert all(map(same, found, [number_of(text) for text in texts]))


@given(TEXTS)
@example(" 5 ")
@example("+5")
@example("5.")
@example("-INF")
@example(".5")
@example("0" * 40 + "1")
@example("9" * 400)
def test_what_csv_reads_as_a_plain_number_is_that_number(text):
    """A column is read as text where one value is no plain number: that must change nothing for the others."""
    line = io.StringIO()
    line.write('"a","b"\n"' + text.replace('"', '""') + '","x"\n')
    kinds = pa.csv.ConvertOptions(column_types={"a": pa.float64()}, null_values=[])
    options = {"convert_options": kinds, "parse_options": pa.csv.ParseOptions(newlines_in_values=True)}
    try:
        plain = pa.csv.read_csv(io.BytesIO(line.getvalue().encode("utf-8", "replace")), **options)
    except pa.ArrowInvalid:
        return
    assert same(plain["a"][0].as_py(), number_of(text))


@pytest.mark.parametrize(("sign", "thousands"), [(",", None), (",", "."), (".", ","), (".", "'")])
def test_marks_are_removed_from_each_value_by_itself(sign, thousands):
    reading = Reading.of(decimal=sign, thousands=thousands, remove=["kg"])
    texts = [f"1{sign}5", "2", f"{thousands or ''}".join(["1", "000"]), "7 kg", "x", "NA", None]
    together = numbers_in(pa.array(texts), reading, ["NA"]).to_pylist()
    alone = [numbers_in(pa.array([text], pa.string()), reading, ["NA"])[0].as_py() for text in texts]
    assert together == alone == [1.5, 2.0, 1000.0, 7.0, math.inf, None, None]


def test_bytes_that_are_no_text_are_missing_by_themselves():
    held = pa.array([b"north", b"n\xffrth", None, "nörth".encode(), b""])
    assert texts_in(held).to_pylist() == ["north", None, None, "nörth", ""]
    assert texts_in(held.take(pa.array([0, 3]))).to_pylist() == ["north", "nörth"]
