"""Described tables in files, batches and partitions: the records of the same table in memory."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from described_tables import SCHEMA, columns, stored
from dpmorse import Boolean, DataFiles, DPMorseError, Nominal, Numeric, Schema
from dpmorse.records import open_matching, open_records
from parts_read import arrays_of

N = 500
TABLE = columns(N)
EXPECTED = open_records(pd.DataFrame(TABLE), schema=SCHEMA).read(None)
FITTED = SimpleNamespace(
    schema_=SCHEMA, n_features_in_=7, feature_names_in_=np.array(SCHEMA.names, dtype=object)
)


class Batches:
    def __init__(self, *tables):
        self.tables = tables

    def __iter__(self):
        return iter(self.tables)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr("dpmorse.records.files.text.text_file._BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr("dpmorse.records.files.data_file.rows_of_a_batch", lambda *_: 64)


def write(table, path):
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=70)
    else:
        pa.feather.write_feather(table, str(path), compression="uncompressed", chunksize=90)
    return path


def read(records, most=None):
    return np.concatenate(arrays_of(records.read(None, most)))


def same(array):
    return array


def check(X, **options):
    """Check what a fit reads and what a model labels."""
    records = open_records(X, schema=SCHEMA, **options)
    assert records.columns.n_features_in_ == 7
    assert np.array_equal(read(records), EXPECTED)
    assert np.array_equal(open_matching(X, FITTED).each(None, same), EXPECTED)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("kept_bytes", [0, 1 << 24])
def test_files(kind, kept_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", kept_bytes)
    path = write(stored(TABLE)["arrow"], tmp_path / f"x.{kind}")
    check(path)
    check(DataFiles(path))
    check(DataFiles(path, columns=list(SCHEMA.names)[::-1]))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", ["arrow dictionaries", "polars text", "polars time zone"])
def test_files_with_other_types(kind, name, tmp_path):
    table = stored(TABLE)[name]
    check(write(table if isinstance(table, pa.Table) else table.to_arrow(), tmp_path / f"x.{kind}"))


def test_csv_files_of_other_programs(tmp_path):
    """pandas writes 1.0 for a whole number in a column with missing values, and True for true."""
    path = tmp_path / "x.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    assert "True" in path.read_text()
    assert ",30.0\n" in path.read_text()
    check(path)


def test_many_files_and_datasets(tmp_path):
    for i, start in enumerate(range(0, N, 170)):
        write(stored(TABLE)["arrow"].slice(start, 170), tmp_path / f"{i}.parquet")
    check(DataFiles(tmp_path))
    check(pa.dataset.dataset(tmp_path))


def test_text_that_files_take_for_missing_can_be_listed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\nNA,NA\nEU,\n,x\n")
    schema = Schema.of(
        {"a": Nominal(["EU", "NA"], missing="ignore"), "b": Nominal(["x", "y"], missing="ignore")}
    )
    assert read(open_records(path, schema=schema)).tolist() == [
        [0, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
    ]


def test_more_columns_than_are_described(tmp_path):
    path = write(stored(TABLE)["arrow"].append_column("note", pa.array(["x"] * N)), tmp_path / "x.parquet")
    with pytest.raises(DPMorseError, match=r"does not describe: 'note'.*DataFiles"):
        open_records(path, schema=SCHEMA).columns  # noqa: B018 - asked for
    check(DataFiles(path, columns=list(SCHEMA.names)))
    assert np.array_equal(open_matching(path, FITTED).each(None, same), EXPECTED)
    with pytest.warns(UserWarning, match=r"columns left out: 'status' \(no numbers, by its type\), 'grade'"):
        open_records(path).columns  # noqa: B018 - asked for


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": ["Zebulon", "1"]}, "numbers in the columns"),
        ({"n": [np.inf, 3719.0]}, "finite numbers in the columns 'n'"),
        ({"n": [None, 3719.0]}, "missing values .* in the columns 'n'"),
        ({"b": ["Zebulon", None]}, "missing values .* in the columns 'b'"),
        ({"who": ["Zebulon", None]}, "missing in the column 'who'"),
    ],
)
def test_errors_name_columns_only(kind, change, says, tmp_path):
    table = {"n": [0.5, 1.0], "b": ["yes", "Zebulon"], "who": ["Zebulon", "Ann"]} | change
    path = write(pa.table(table), tmp_path / f"x.{kind}")
    schema = Schema.of({"n": Numeric(0, 1), "b": Boolean()})
    with pytest.raises(DPMorseError, match=says) as raised:
        read(open_records(path, "who", schema), 1)
    assert "Zebulon" not in str(raised.value)
    assert "3719" not in str(raised.value)


def test_decimals_are_the_nearest_floats_in_every_storage(tmp_path, rng):
    """Arrow's own conversion is often off by a bit."""
    decimals = [Decimal(int(i)).scaleb(-4) for i in rng.integers(-(10**15), 10**15, 500)]
    table = pa.table({"a": pa.array(decimals)})
    expected = [[float(value)] for value in decimals]
    schema = Schema.of({"a": Numeric(-1e12, 1e12)})
    frame, rows = pl.from_arrow(table), [[value] for value in decimals]
    held = [table, table.to_pandas(), frame, frame.lazy(), rows]
    for X in (*held, *(write(table, tmp_path / f"x.{kind}") for kind in ("csv", "parquet", "feather"))):
        assert open_records(X, schema=schema).each(None, same).tolist() == expected


def test_rows_are_not_dropped_where_columns_say_what_is_missing(tmp_path):
    path = write(stored(TABLE)["arrow"], tmp_path / "x.parquet")
    with pytest.raises(DPMorseError, match='missing must be "refuse"'):
        open_records(DataFiles(path, missing="drop"), schema=SCHEMA)


@pytest.mark.parametrize("name", ["pandas", "polars categories", "arrow", "array of objects"])
def test_batches(name):
    table = stored(TABLE)[name]
    check(Batches(table[:200], table[200:200], table[200:]))


OWNERS = [f"p{i % 60}" for i in range(N)]


def chosen(records):
    """Return the rows that are used, in an order of their own."""
    found = records.read(None, 3)
    rows = found if isinstance(found, np.ndarray) else np.concatenate(arrays_of(found))
    return rows[np.lexsort(rows.T)]


def test_the_same_rows_of_a_person_are_used_everywhere(tmp_path):
    expected = chosen(open_records(pd.DataFrame(TABLE), OWNERS, SCHEMA))
    assert len(expected) == 180
    table = {**TABLE, "who": OWNERS}
    order = np.random.default_rng(1).permutation(N)
    shuffled = pd.DataFrame(table).iloc[order]
    arrow = pa.table(table)
    held = [
        open_records(shuffled, "who", SCHEMA),
        open_records(stored(TABLE)["lists"], OWNERS, SCHEMA),
        open_records(Batches(shuffled[:100], shuffled[100:]), "who", SCHEMA),
        *(
            open_records(write(arrow, tmp_path / f"x.{kind}"), "who", SCHEMA)
            for kind in ("csv", "parquet", "feather")
        ),
        open_records(DataFiles(tmp_path / "x.csv", unit="who"), schema=SCHEMA),
    ]
    for records in held:
        assert records.owned
        assert np.array_equal(chosen(records), expected)


def test_records_that_are_open_already():
    records = open_records(pd.DataFrame(TABLE), OWNERS, SCHEMA)
    again = open_records(records, schema=SCHEMA)
    assert again.owned
    assert np.array_equal(again.read(None), EXPECTED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_dask(n_partitions):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({**TABLE, "who": OWNERS})
    frame = frame.assign(status=frame["status"].astype("category"), joined=pd.to_datetime(frame["joined"]))
    X = dd.from_pandas(frame, npartitions=n_partitions, sort=False)
    records = open_records(X.drop(columns=["who"]), schema=SCHEMA)
    assert records.columns.names.tolist() == list(SCHEMA.names)
    parts = records.read(None)
    assert np.array_equal(np.concatenate([part.compute().value for part in parts.parts]), EXPECTED)
    labelled = open_matching(X.drop(columns=["who"]), FITTED).each(None, same)
    assert np.array_equal(labelled.compute(), EXPECTED)
    used = open_records(X, "who", SCHEMA).read(None, 3)
    rows = np.concatenate([*(part.compute().value for part in used.parts), *used.others()])
    assert np.array_equal(rows[np.lexsort(rows.T)], chosen(open_records(pd.DataFrame(TABLE), OWNERS, SCHEMA)))


@pytest.mark.filterwarnings("ignore")
def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    X = da.from_array(stored(TABLE)["array of objects"], chunks=(120, 3))
    parts = open_records(X, schema=SCHEMA).read(None)
    assert np.array_equal(np.concatenate([part.compute().value for part in parts.parts]), EXPECTED)
