"""Ids: one form for one person, whatever type holds it; what may be two persons, or one, is refused."""

import array
import enum
import sys
import tempfile
import unicodedata
from collections import Counter
from decimal import Decimal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmorse import DataFiles, InvalidParameterError, InvalidTypeError
from dpmorse.records.persons.arrow_ids import ColumnOwners, owners_in
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.ids import Ids
from dpmorse.records.persons.owners import check_spelling, unit_of
from parts_read import arrays_of


def names(owners):
    """The canonical id of each row."""
    ids = [*owners.ids.numbers.tolist(), *owners.ids.texts]
    assert len(set(ids)) == len(ids)
    return [ids[place] for place in owners.places]


SEVEN = [7, -1, 7, 40_000_000_001, 7]


@pytest.mark.parametrize(
    "groups",
    [
        SEVEN,
        tuple(SEVEN),
        np.array(SEVEN),
        np.array(SEVEN, dtype=float),
        np.array(SEVEN, dtype=object),
        np.array(list(map(str, SEVEN))),
        np.array(["7", -1, 7.0, Decimal(40_000_000_001), np.int8(7)], dtype=object),
        [np.uint64(7), np.int16(-1), np.float32(7), "40000000001", True + 6],
        pd.Series(SEVEN),
        pd.Series(SEVEN, dtype="Int64"),
        pd.Series(list(map(str, SEVEN))),
        pd.Series(list(map(str, SEVEN)), dtype="category"),
        pd.Series(["7", -1, "7", 40_000_000_001, 7], dtype=object),
        pl.Series(SEVEN),
        pl.Series(list(map(str, SEVEN)), dtype=pl.Categorical),
        pl.Series([Decimal(value) for value in SEVEN]),
        pa.chunked_array([SEVEN[:2], SEVEN[2:]]),
        pa.chunked_array([pa.array(list(map(str, SEVEN))).dictionary_encode()]),
    ],
    ids=lambda groups: f"{type(groups).__module__}-{getattr(groups, 'dtype', getattr(groups, 'type', type(groups).__name__))}",
)  # fmt: skip
def test_one_number_is_one_person_in_every_type(groups):
    assert names(owners_of(groups)) == SEVEN


@pytest.mark.parametrize(
    "kind",
    [pa.int64(), pa.float64(), pa.string(), pa.large_string(), pa.decimal128(20, 0), pa.uint64(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)  # fmt: skip
def test_one_number_is_one_person_in_every_column_of_a_file(kind):
    values = [7, 1, 7, 40_000_000_001, 7]
    column = pa.array(values).cast(pa.string()) if pa.types.is_dictionary(kind) else pa.array(values)
    column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
    assert names(owners_in(column, "id")) == values


@given(st.lists(st.one_of(st.integers(-(2**70), 2**70), st.text(max_size=12)), min_size=1, max_size=20))
def test_numbers_of_every_width_and_text_of_every_kind_stay_apart(values):
    """Two ids are one exactly if they are the same text, or numbers that are written alike."""
    found = names(owners_of(values))
    spelling = [unicodedata.normalize("NFC", str(value)) for value in values]
    for i, j in zip(*np.triu_indices(len(values)), strict=True):
        assert (found[i] == found[j]) == (spelling[i] == spelling[j])


@pytest.mark.parametrize("n_distinct", [1, 2047, 2048, 2049, 9000, 60_000])
def test_many_ids_are_numbered_exactly(n_distinct, rng):
    """Also where there are more than the first table has room for, and where ids differ in few bits."""
    for step in (1, 2**32, -(2**40)):
        values = step * rng.integers(0, n_distinct, size=70_000)
        owners = owners_of(values)
        assert np.array_equal(owners.ids.numbers[owners.places], values)
        assert len(owners.ids) == len(np.unique(values))


def test_huge_unsigned_and_negative_ids_in_one_list():
    """NumPy makes doubles of such a list, in which neighbours are one."""
    values = [2**64 - 1, 2**64 - 2, -1, 2**63, 2**63 - 1]
    assert len(set(names(owners_of(values)))) == 5
    assert names(owners_of(values)) == names(owners_of([str(value) for value in values]))
    assert names(owners_of(values[:1])) == names(owners_of(np.array(values[:1], dtype=np.uint64)))


@given(
    st.lists(st.text(max_size=8), min_size=1, max_size=30),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30),
)
def test_hashes_do_not_depend_on_where_ids_come_from(texts, numbers):
    ids, places = Ids.of([*texts, *numbers])
    column = pa.array([*texts, *map(str, numbers)]) if all(map(encodes, texts)) else None
    if column is not None:
        owners = owners_in(column, "id")
        assert np.array_equal(owners.ids.hashes[owners.places], ids.hashes[places])
    assert len(np.unique(ids.hashes)) == len(ids)


EDGES = [
    "0", "-0", "00", "7", "-7", "+7", "07", " 7", "7 ", "7.0", "", "-", "--7", "7-", "a", "1a", "/", ":",
    str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), "9" * 18, "9" * 19, "9" * 20, "1" + "0" * 18,
    "\u0667", "ä", "patient-7",
]  # fmt: skip


@given(
    st.lists(
        st.one_of(st.sampled_from(EDGES), st.text(max_size=5), st.integers(-(2**65), 2**65).map(str)),
        min_size=1,
    )
)
def test_later_passes_hash_ids_as_the_first_one_does(texts):
    """One reads ids, the others hash bytes where they lie: of any type of text, in the middle of an array too."""
    texts = list(filter(encodes, texts))
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(["before", *texts, "behind"], pa.string()).cast(kind)[1:-1]
        owners = ColumnOwners(column, "id")
        ids, places = Ids.of(texts)
        assert np.array_equal(owners.row_hashes(), owners.exact().row_hashes())
        assert np.array_equal(owners.row_hashes(), ids.hashes[places])


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint32(), pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(20, 0)], ids=str
)
def test_later_passes_hash_numbers_as_the_first_one_does(kind):
    owners = ColumnOwners(pa.array([7, 0, 100, 7]).cast(kind), "id")
    assert np.array_equal(owners.row_hashes(), owners_of(["7", 0, 100.0, 7]).row_hashes())


def encodes(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_owners_of_a_part_are_those_of_its_rows():
    owners = owners_of(["b", 3, "a", 3, "b", 1])
    assert names(owners[1:4]) == [3, "a", 3]
    assert len(owners[1:4].ids) == 2
    assert names(owners_of(["b", "a"]).spread(np.array([1, 0, 0]))) == ["a", "b", "b"]


def test_merging_keeps_ids_exact():
    first, second = Ids.of([5, "x", 1])[0], Ids.of(["y", 1, 9, "x"])[0]
    merged, mine, theirs = first.merged(second)
    listed = [*merged.numbers.tolist(), *merged.texts]
    assert sorted(map(str, listed)) == ["1", "5", "9", "x", "y"]
    assert [listed[i] for i in mine] == [*first.numbers.tolist(), *first.texts]
    assert [listed[i] for i in theirs] == [*second.numbers.tolist(), *second.texts]


@pytest.mark.parametrize(
    "values",
    [[7, "007"], ["7.0", 7], ["7", "07"], ["4.0000000001e+10", 40_000_000_001], [" 7", "7"], ["+7", "7"],
     ["1_000", "1000"], ["\u0667", 7], [2**70, f"0{2**70}"], ["7.50", "7.5"]],
)  # fmt: skip
def test_one_number_in_two_spellings_is_refused(values):
    owners = owners_of(values)
    with pytest.raises(InvalidParameterError, match="writes one number in two ways") as caught:
        check_spelling(owners.ids, owners.types, "'patient'")
    assert "'patient'" in str(caught.value)
    for kind in owners.types:
        assert kind in str(caught.value)


@pytest.mark.parametrize(
    "values", [["007", "008", "123"], [7, "008"], ["7", "7a"], ["", "0"], ["nan", "inf", "NaN"], [1, 10]]
)
def test_ids_that_may_not_be_one_person_are_taken(values):
    owners = owners_of(values)
    check_spelling(owners.ids, owners.types, "groups")
    assert len(owners.ids) == len(values)


class Ward(str, enum.Enum):  # noqa: UP042 - str() of a member is its name, unlike that of a StrEnum
    A = "a"


def test_text_is_what_it_says_whatever_class_it_has():
    assert names(owners_of([Ward.A, "a"])) == names(owners_of(["a", Ward.A])) == ["a", "a"]
    assert names(owners_of([Ward.A])) == ["a"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_bytes_in_both_orders_are_the_same_numbers(order):
    assert names(owners_of(np.array([2**64 - 1, 1], dtype=f"{order}u8"))) == [str(2**64 - 1), 1]
    assert names(owners_of(np.array([-5, 1], dtype=f"{order}i4"))) == [-5, 1]
    assert names(owners_of(np.array([7.0], dtype=f"{order}f8"))) == [7]


@pytest.mark.parametrize(
    "values",
    [[2**53, float(2**53 + 1)], [16777216, np.float32(16777217)], [16777216.0, np.float32(16777217)]],
)
def test_whether_a_number_is_exact_does_not_depend_on_the_order(values):
    for groups in (values, values[::-1]):
        with pytest.raises(InvalidParameterError, match="cannot be distinguished exactly"):
            owners_of(groups)


def test_hexadecimal_ids_are_no_zeros():
    owners = owners_of(["0e123456", "0e654321", "0"])
    check_spelling(owners.ids, owners.types, "groups")
    assert len(owners.ids) == 3


def test_other_holders_of_ids():
    assert (
        names(owners_of(array.array("l", [7, 1]))) == names(owners_of(memoryview(np.array([7, 1])))) == [7, 1]
    )
    assert names(owners_of(pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])))) == ["a", "b"]
    assert names(owners_of(pl.Series([2**100, 7], dtype=pl.Int128))) == [str(2**100), 7]
    assert names(owners_of(pa.chunked_array([pa.array([7, 8]).cast(pa.decimal256(50, 0))]))) == [7, 8]
    if hasattr(np.dtypes, "StringDType"):
        assert names(owners_of(np.array(["7", "a"], dtype=np.dtypes.StringDType()))) == [7, "a"]


NO_IDS = [
    ({0: "a"}, InvalidTypeError, "a sequence"),
    ({"a", "b"}, InvalidTypeError, "a sequence"),
    (np.ma.array([1, 2], mask=[True, False]), InvalidTypeError, "masked array"),
    (array.array("f", [2.0**24]), InvalidParameterError, "float32"),
    (pd.Series([1.0, 2.0]).astype("category"), InvalidParameterError, "floating-point"),
    ([10**41], InvalidParameterError, "decimal"),
    ([10**5000], InvalidParameterError, "decimal"),
    ([Decimal("sNaN")], InvalidParameterError, "every row must belong"),
    ([np.timedelta64(1, "m")], InvalidTypeError, "timedelta64"),
    (pa.chunked_array([pa.array([b"\xff\x00"]).view(pa.string())]), InvalidTypeError, "UTF-8"),
    (np.array([1.5, 2.0]), InvalidParameterError, "float64"),
    (np.array([2.0**53, 1.0]), InvalidParameterError, "float64"),
    (np.array([2.0**24, 1.0], dtype=np.float32), InvalidParameterError, "float32"),
    (np.array([np.inf, 1.0]), InvalidParameterError, "float64"),
    ([Decimal("1.5")], InvalidParameterError, "decimal"),
    ([Decimal("1e50")], InvalidParameterError, "decimal"),
    ([1e300], InvalidParameterError, "float64"),
    (np.array([True, False]), InvalidTypeError, "booleans"),
    ([True, 1], InvalidTypeError, "bool"),
    ([b"x"], InvalidTypeError, "bytes"),
    (np.array([b"x"]), InvalidTypeError, "bytes"),
    (np.array(["2020-01-01"], "M8[D]"), InvalidTypeError, "dates"),
    (pd.Series(pd.to_datetime(["2020-01-01"])), InvalidTypeError, "Datetime"),
    (pl.Series([True]), InvalidTypeError, "Boolean"),
    ([(1, 2)], InvalidTypeError, "tuple"),
    (pd.DataFrame({"a": [1]}), InvalidParameterError, "one dimension"),
    (object(), InvalidTypeError, "a sequence"),
    ("text", InvalidTypeError, "a sequence"),
]


@pytest.mark.parametrize(("groups", "error", "message"), NO_IDS, ids=lambda value: type(value).__name__)
def test_what_cannot_be_an_id_is_refused(groups, error, message):
    with pytest.raises(error, match=message):
        owners_of(groups)


@given(
    st.lists(st.one_of(st.integers(-9, 9), st.text(max_size=3)), max_size=9),
    st.integers(0, 9),
    st.sampled_from([None, float("nan"), pd.NA]),
)
def test_one_missing_id_among_many_is_refused_in_every_container(ids, place, missing):
    ids = [*ids[:place], missing, *ids[place:]]
    for groups in (ids, np.array(ids, dtype=object), pd.Series(ids, dtype=object)):
        with pytest.raises(InvalidParameterError, match="every row must belong to somebody"):
            owners_of(groups)


@given(st.lists(st.sampled_from([*"abc", "7", None]), min_size=1, max_size=20).filter(any), st.integers(1, 3))
def test_rows_of_nobody_are_refused_or_dropped_from_files(ids, most):
    table = pa.table({"x": np.arange(float(len(ids))), "id": pa.array(ids, pa.string())})
    with tempfile.TemporaryDirectory() as folder:
        pa.parquet.write_table(table, f"{folder}/x.parquet")
        if None in ids:
            with pytest.raises(InvalidParameterError, match="missing in the column 'id'"):
                DataFiles(f"{folder}/x.parquet", unit="id").read(None, most)
        used = arrays_of(DataFiles(f"{folder}/x.parquet", unit="id", missing="drop").read(None, most))
    owners = Counter(ids[int(x)] for x in np.concatenate(used).ravel())
    assert owners == {one: min(n, most) for one, n in Counter(ids).items() if one is not None}


@pytest.mark.parametrize(
    "column",
    [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([True])],
    ids=lambda column: str(column.type),
)
def test_columns_that_cannot_be_ids_are_refused(column):
    with pytest.raises(InvalidTypeError, match="the column 'id' must hold text or whole numbers"):
        ColumnOwners(column, "id").exact()


@pytest.mark.parametrize(
    "groups",
    [
        np.arange(3),
        [1, 2],
        memoryview(b"ab"),
        pd.Index([1], name="i"),
        pd.Series([1], name="34.5"),
        pd.Series([1], name=34),
        None,
        7,
        sys.stdin,
        "  ",
    ],
)
def test_only_columns_and_series_name_the_unit(groups):
    assert unit_of(groups) is None


def test_the_unit_is_named_by_the_caller_and_never_by_the_values():
    assert (
        unit_of("patient")
        == unit_of(pd.Series([1], name="patient"))
        == unit_of(pl.Series("patient", [1]))
        == "patient"
    )
    frame = dd.from_pandas(pd.DataFrame({"patient": [1, 2]}), npartitions=1)
    assert unit_of(frame["patient"]) == "patient"
    assert unit_of(da.from_array(np.arange(5))) is None, "the name of a Dask array is a hash of its values"


MISSING = [[None, 1], [float("nan"), "a"], [pd.NA, 1], [pd.NaT, 1], np.array([np.nan, 1.0])]


@pytest.mark.parametrize(
    "groups", [*MISSING, pd.Series([1, None], dtype="Int64"), pl.Series([1, None]), pl.Series(["a", None])]
)
def test_every_row_must_belong_to_somebody(groups):
    with pytest.raises(InvalidParameterError, match="every row must belong to somebody"):
        owners_of(groups)
