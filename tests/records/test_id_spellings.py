"""One text is one person however Unicode spells it, and an id means the same whatever ids are beside it."""

import enum
import unicodedata
from decimal import Decimal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmorse import DataFiles, DPMoGHard, InvalidParameterError, InvalidTypeError
from dpmorse.records.persons.arrow_ids import _FIRST_MARK, ColumnOwners, owners_in
from dpmorse.records.persons.id_values import owners_of
from dpmorse.records.persons.ids import Ids, canonical
from dpmorse.records.persons.owners import check_spelling

NAMES = ["Jos\u00e9", "\u00c5sa", "M\u00fcller", "\ud55c\uae00", "\u1ec7", "K7", "plain", "7", "0123"]
"""Texts in NFC: accents, a Korean name, two accents on one letter, ASCII, a number, leading zeros."""

OTHERWISE = {"\u00c5sa": "\u212bsa", "K7": "\u212a7"}
"""The same texts with the signs of Angstrom and of Kelvin, which NFC and NFD replace by letters."""


def respelled(text):
    return OTHERWISE.get(text, unicodedata.normalize("NFD", text))


def names(owners):
    """The canonical id of each row."""
    ids = [*owners.ids.numbers.tolist(), *owners.ids.texts]
    assert len(set(ids)) == len(ids)
    return [ids[place] for place in owners.places]


def is_text_of_arrow(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


CONTAINERS = {
    "list": list,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas strings": lambda texts: pd.Series(texts, dtype="string[python]"),
    "pandas pyarrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "polars": pl.Series,
    "polars categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "arrow": lambda texts: pa.chunked_array([pa.array(texts)]),
    "arrow dictionary": lambda texts: pa.chunked_array([pa.array(texts).dictionary_encode()]),
}
if hasattr(np.dtypes, "StringDType"):
    CONTAINERS["NumPy's strings"] = lambda texts: np.array(texts, dtype=np.dtypes.StringDType())
KINDS = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("container", CONTAINERS)
def test_both_spellings_are_one_person_in_every_container(container):
    make = CONTAINERS[container]
    both = owners_of(make([*NAMES, *map(respelled, NAMES)]))
    assert names(both) == names(owners_of(make(NAMES))) * 2
    assert len(both.ids) == len(NAMES)
    assert np.array_equal(both.row_hashes(), np.tile(owners_of(NAMES).row_hashes(), 2))
    both.ids.check_distinct_hashes("groups")
    check_spelling(both.ids, both.types, "groups")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_both_spellings_are_one_person_in_every_column_of_a_file(kind):
    column = pa.array(["before", *NAMES, *map(respelled, NAMES), "e\u0301"]).cast(kind)[1:-1]
    owners = ColumnOwners(column, "id")
    assert names(owners.exact()) == [canonical(text) for text in NAMES] * 2
    assert np.array_equal(owners.row_hashes(), np.tile(owners_of(NAMES).row_hashes(), 2))


def test_a_dictionary_may_have_both_spellings():
    column = pa.DictionaryArray.from_arrays([0, 1, 0, 2], ["\u00e9", "e\u0301", "e"])
    assert names(owners_in(column, "id")) == ["\u00e9", "\u00e9", "\u00e9", "e"]


def test_both_spellings_are_one_person_in_two_batches():
    for one, other in ((NAMES, list(map(respelled, NAMES))), (list(map(respelled, NAMES)), NAMES)):
        first, second = owners_in(pa.array(one), "id"), owners_in(pa.array(other), "id")
        merged, mine, theirs = first.ids.merged(second.ids)
        assert len(merged) == len(NAMES)
        assert np.array_equal(mine[first.places], theirs[second.places])


DISTINCT = ["Jose", "jose", "JOSE", "Jose ", " Jose", "Jos\u00e9", "jos\u00e9", "\uff2aose", "J\u043ese", "Jo\u200bse",
            "\ufb01", "fi", "x\u00b2", "x2", "stra\u00dfe", "strasse", "\u01c6", "d\u017e"]  # fmt: skip


def test_nothing_else_is_folded():
    """Case, blanks, full-width and Cyrillic look-alikes, ligatures: these may be other persons."""
    assert names(owners_of(DISTINCT)) == DISTINCT
    assert names(owners_in(pa.array(DISTINCT), "id")) == DISTINCT
    assert len(owners_of(DISTINCT).ids) == len(set(DISTINCT))


def test_halves_of_surrogate_pairs_stay_what_they_are():
    texts = ["\ud800e\u0301", "\ud800\u00e9", "\udc00", "\ud800", "\ud83d\ude00", "\U0001f600"]
    found = names(owners_of(texts))
    assert found == ["\ud800\u00e9", "\ud800\u00e9", *texts[2:]]
    assert len(np.unique(owners_of(texts).row_hashes())) == 5


def test_small_bytes_are_in_nfc():
    """What the fast way rests on, for every character that has no larger byte, beside every other."""
    small = [
        chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000 and max(chr(i).encode()) < _FIRST_MARK
    ]
    assert small == [chr(i) for i in range(0x300)]
    assert unicodedata.is_normalized("NFC", "".join(a + b for a in small for b in small))


def test_ids_hash_as_they_did():
    """Models of persons whose ids are in NFC are those of earlier versions, bit for bit."""
    ids, places = Ids.of(["patient-7", "", "7", "Jos\u00e9", "0123", str(2**63)])
    assert ids.hashes[places].tolist() == GOLDEN


GOLDEN = [
    15673095691027270777,
    14742821604648338218,
    7191089600892374487,
    3098365678071825317,
    7971568531383376115,
    6065393874513937077,
]


PIECES = ["e", "E", "\u0301", "\u0323", "\u00e9", "\u212a", "K", "\u1100", "\u1161", "\uac00", "7", "-", "0", "\u0667",
          "9" * 17, str(2**63 - 1), str(2**63), "\u1ebf", "\u0345", "\U0001f600", " "]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.text(max_size=5),
    st.integers(-(2**65), 2**65).map(str),
).filter(is_text_of_arrow)


@given(st.lists(TEXTS, min_size=1, max_size=12), st.sampled_from(KINDS))
def test_an_id_is_read_alike_whatever_is_beside_it(texts, kind):
    """One text of 19 digits, or one that is not in NFC, sends its batch another way: the ids are the same."""
    expected = [canonical(text) for text in texts]
    alone = np.array([Ids.of([text])[0].hashes[0] for text in texts])
    for companion in ("a", "1" + "0" * 18, "e\u0301", "\u03b1", "9" * 19):
        column = pa.array([*texts, companion]).cast(kind)
        owners = ColumnOwners(column, "id")
        assert names(owners.exact())[:-1] == expected
        assert np.array_equal(owners.exact().row_hashes()[:-1], alone)
        assert np.array_equal(owners.row_hashes()[:-1], alone)
        assert names(owners_of([*texts, companion]))[:-1] == expected


@given(TEXTS, TEXTS)
def test_texts_are_one_id_exactly_if_they_are_one_text(one, other):
    same = unicodedata.normalize("NFD", one) == unicodedata.normalize("NFD", other)
    assert (canonical(one) == canonical(other)) == same
    assert canonical(str(canonical(one))) == canonical(one)


class Number(int, enum.Enum):
    SEVEN = 7


class Odd(int):
    """An integer that says it is any other number."""

    def __eq__(self, other):
        return isinstance(other, int)

    def __hash__(self):
        return hash(7)

    def __int__(self):
        return 8


class Folded(str):
    """A text that is equal to others in capitals."""

    __slots__ = ()

    def __eq__(self, other):
        return str(self).casefold() == str(other).casefold()

    def __hash__(self):
        return hash(str(self).casefold())


class Exactly(Decimal):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(7)

    def is_nan(self):
        return True


HOSTILE = [7, 8, "7", "a", "A", Number.SEVEN, Odd(7), Odd(9), Folded("a"), Folded("A"), Folded("e\u0301"), "\u00e9", 7.0,
           np.float64(7), np.float32(7), np.float16(8), np.longdouble(9), Decimal(7), Decimal("7.0"), Exactly(8), np.int8(7),
           np.uint64(2**64 - 1), 2**64 - 1, str(2**64 - 1), np.str_("a"), -0.0, 0]  # fmt: skip


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=12))
def test_the_id_of_an_object_does_not_depend_on_others(values):
    """Neither on values that are equal to it, nor on classes that say so: each is found by its base type."""
    alone = [names(owners_of([value]))[0] for value in values]
    assert names(owners_of(values)) == alone
    assert names(owners_of(np.fromiter(values, dtype=object))) == alone


def test_subclasses_are_what_their_base_type_says():
    values = [Odd(9), Folded("A"), Exactly(8), Number.SEVEN, np.int8(3)]
    assert names(owners_of(values)) == [9, "A", 8, 7, 3]


@pytest.mark.parametrize("value", [True, np.True_])
def test_truth_among_numbers_is_refused_in_any_order(value):
    for groups in ([value, 1], [1, value], [1.0, value, "1"]):
        with pytest.raises(InvalidTypeError, match="text or whole numbers"):
            owners_of(groups)


def test_floating_point_among_categories_is_refused_in_any_order():
    for categories in ([1, 2.5], [2.5, 1], ["a", 2.0]):
        with pytest.raises(InvalidParameterError, match="floating-point"):
            owners_of(pd.Series(categories, dtype=object).astype("category"))


def test_bytes_that_are_no_text_are_refused_in_every_pass():
    column = pa.array([b"a", b"\xff\xfe"]).view(pa.string())
    for look in (ColumnOwners(column, "id").exact, ColumnOwners(column, "id").row_hashes):
        with pytest.raises(InvalidTypeError, match=r"the column 'id' .* text that is not UTF-8"):
            look()


N_PERSONS, N_ROWS = 200, 6


def visits(spelling):
    """Six rows of each person: the id of every other one is spelled by ``spelling``."""
    persons = [f"{NAMES[i % 5]} {i}" for i in range(N_PERSONS)]
    ids = [spelling(text) if row % 2 else text for row in range(N_ROWS) for text in persons]
    return pd.DataFrame({"x": np.random.default_rng(1).uniform(-1, 1, len(ids)), "g": ids})


def nfd(text):
    return unicodedata.normalize("NFD", text)


def as_file(table, path, write):
    write(table, path)
    return DataFiles(str(path), unit="g"), None


def as_parquet(kind):
    def write(frame, path):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        pa.parquet.write_table(table.set_column(1, "g", table["g"].combine_chunks().cast(kind)), path)

    return lambda frame, folder: as_file(frame, folder / "visits.parquet", write)


class Batches:
    def __init__(self, frame):
        self.frame = frame

    def __iter__(self):
        return (self.frame.iloc[start : start + 111] for start in range(0, len(self.frame), 111))


STORAGES = {
    "array": lambda frame, _: (frame[["x"]].to_numpy(), frame["g"].to_numpy(dtype=str)),
    "objects": lambda frame, _: (frame[["x"]].to_numpy(), frame["g"].to_numpy(dtype=object)),
    "pandas": lambda frame, _: (frame, "g"),
    "polars": lambda frame, _: (pl.from_pandas(frame), "g"),
    "polars lazy": lambda frame, _: (pl.from_pandas(frame).lazy(), "g"),
    "Arrow table": lambda frame, _: (pa.Table.from_pandas(frame, preserve_index=False), "g"),
    "batches": lambda frame, _: (Batches(frame), "g"),
    "Dask": lambda frame, _: (dd.from_pandas(frame, npartitions=3), "g"),
    "CSV": lambda frame, folder: as_file(
        frame, folder / "visits.csv", lambda table, path: table.to_csv(path, index=False)
    ),
    **{f"Parquet {kind}": as_parquet(kind) for kind in KINDS},
}


def released(X, groups, most):
    model = DPMoGHard(1, epsilon=5.0, bounds=(-1, 1), n_iter=2, max_rows_per_group=most, random_state=0)
    mixture = model.fit(X, groups=groups).mixture_
    return mixture.means.tolist(), mixture.covariances.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("storage", STORAGES)
def test_two_spellings_do_not_give_a_person_more_rows(storage, counts, tmp_path):
    """Compared byte by byte, 400 persons had three rows each, of which four per person were used."""
    make = STORAGES[storage]
    assert visits(nfd)["g"].nunique() == 2 * N_PERSONS
    expected = released(*STORAGES["pandas"](visits(str), tmp_path), most=2)
    assert released(*make(visits(nfd), tmp_path), most=2) == expected
    assert counts == [2 * N_PERSONS] * 4
