"""Records in files: the model of the same numbers in memory, in constant memory, whatever the format."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from dpmorse import DataFiles, DPMoGHard, DPMorse, InvalidParameterError, InvalidTypeError, load

NAMES = ["age", "height", "weight"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(4000, 3)) * 0.3


@pytest.fixture
def table(X):
    return pa.table({name: X[:, i] for i, name in enumerate(NAMES)})


def write(table, path):
    path = Path(path)
    if path.suffix == ".gz":
        write(table, path.with_suffix(""))
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
        path.with_suffix("").unlink()
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=700)
    else:
        pa.feather.write_feather(table, str(path), compression="uncompressed", chunksize=900)
    return path


def model(kind=DPMoGHard, **options):
    return kind(4, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet", "x.feather"])
@pytest.mark.parametrize("kind", [DPMoGHard, DPMorse])
@pytest.mark.parametrize("kept_bytes", [0, 1 << 20])
def test_a_path_gives_the_model_of_the_array(tmp_path, table, X, name, kind, kept_bytes, monkeypatch):
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", kept_bytes)
    monkeypatch.setattr("dpmorse.records.files.text.text_file._BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr("dpmorse.records.files.data_file._BATCH_BYTES", 1 << 14)
    monkeypatch.setattr("dpmorse.records.files.data_file._BATCH_ROWS", 1)
    path = write(table, tmp_path / name)
    fitted = model(kind).fit(str(path))
    assert fitted.mixture_ == model(kind).fit(X).mixture_
    assert fitted.feature_names_in_.tolist() == NAMES
    assert np.array_equal(fitted.predict(path), fitted.predict(table))
    assert np.array_equal(fitted.fit_predict(path), model(kind).fit_predict(X))


def test_many_files_in_the_order_of_their_names(tmp_path, table, X):
    for i in range(4):
        write(table.slice(1000 * i, 1000), tmp_path / f"part-{i}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    expected = model().fit(X)
    for source in (str(tmp_path), str(tmp_path / "*.parquet"), sorted(tmp_path.glob("*.parquet"))):
        fitted = model().fit(DataFiles(source))
        assert fitted.mixture_ == expected.mixture_
        assert np.array_equal(fitted.predict(DataFiles(source)), expected.predict(X))


def test_an_arrow_dataset(tmp_path, table, X):
    write(table, tmp_path / "x.parquet")
    dataset = pa.dataset.dataset(tmp_path / "x.parquet")
    fitted = model().fit(dataset)
    assert fitted.mixture_ == model().fit(X).mixture_
    assert np.array_equal(fitted.predict(dataset), fitted.predict(table))


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.uint64(), pa.bool_(), pa.decimal128(25, 3)])
def test_all_kinds_of_numbers(tmp_path, kind, rng):
    values = pa.array(rng.integers(0, 2, size=500)).cast(kind)
    table = pa.table({"a": values, "b": rng.normal(size=500)})
    path = write(table, tmp_path / "x.parquet")
    numbers = np.column_stack(
        [values.cast(pa.float64(), safe=False) if kind != pa.bool_() else values.cast(pa.uint8()), table["b"]]
    )
    assert model().fit(path).mixture_ == model().fit(numbers.astype(float)).mixture_


def test_columns_are_chosen_by_name(tmp_path, table, X):
    named = table.append_column("name", pa.array(["x"] * len(table)))
    path = write(named, tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match=r"columns left out: 'name' \(no numbers, by its type\)"):
        assert model().fit(path).mixture_ == model().fit(X).mixture_
    with pytest.raises(InvalidTypeError, match="these do not: 'name'"):
        model().fit(DataFiles(path, columns=["age", "name"]))
    fitted = model().fit(DataFiles(path, columns=["weight", "age"]))
    assert fitted.mixture_ == model().fit(X[:, [2, 0]]).mixture_
    shuffled = write(named.select(["age", "name", "weight"]), tmp_path / "y.parquet")
    assert np.array_equal(fitted.predict(shuffled), fitted.predict(table.select(["weight", "age"])))
    with pytest.raises(InvalidParameterError, match="no column 'weight'"):
        fitted.predict(write(table.drop_columns("weight"), tmp_path / "z.parquet"))


def test_a_model_without_names_takes_files_with_as_many_columns(tmp_path, table, X):
    fitted = model().fit(X)
    path = write(table, tmp_path / "x.parquet")
    assert np.array_equal(fitted.predict(path), fitted.predict(X))
    with pytest.raises(InvalidParameterError, match="X has 2 features"):
        fitted.predict(DataFiles(path, columns=["age", "height"]))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_with_missing_values_are_refused_or_dropped(tmp_path, table, X, ending):
    holes = [None if i % 7 == 0 else float(value) for i, value in enumerate(X[:, 1])]
    path = write(table.set_column(1, "height", pa.array(holes)), tmp_path / f"x.{ending}")
    with pytest.raises(InvalidParameterError, match="missing in the column 'height'"):
        model().fit(path)
    complete = X[np.arange(len(X)) % 7 != 0]
    assert model().fit(DataFiles(path, missing="drop")).mixture_ == model().fit(complete).mixture_
    with pytest.raises(InvalidParameterError, match="does not go with neighboring='replace-one'"):
        model(neighboring="replace-one").fit(DataFiles(path, missing="drop"))


@pytest.mark.parametrize("units", [["a", "b", "a", "a"], [3, 1, 3, 3]], ids=["text", "numbers"])
def test_a_column_says_whose_row_it_is(tmp_path, table, X, units):
    groups = np.array(units * (len(X) // 4))
    path = write(table.append_column("person", pa.array(groups)), tmp_path / "x.parquet")
    expected = model(max_rows_per_group=900).fit(X, groups=groups).mixture_
    assert model(max_rows_per_group=900).fit(DataFiles(path, unit="person")).mixture_ == expected
    assert (
        model(max_rows_per_group=900).fit(DataFiles(path, columns=NAMES), groups="person").mixture_
        == expected
    )
    with pytest.raises(InvalidParameterError, match="max_rows_per_group must be set"):
        model().fit(DataFiles(path, unit="person"))
    with pytest.raises(InvalidTypeError, match="only where X has names"):
        model(max_rows_per_group=2).fit(X, groups="person")
    with pytest.raises(InvalidTypeError, match="the name of a column where X is in files"):
        model(max_rows_per_group=2).fit(path, groups=groups)


def test_a_model_of_files_is_saved_and_loaded(tmp_path, table):
    path = write(table, tmp_path / "x.csv")
    fitted = model(DPMorse).fit(path)
    fitted.save(tmp_path / "model.json")
    assert np.array_equal(load(tmp_path / "model.json").predict(path), fitted.predict(path))
    assert "x.csv" not in (tmp_path / "model.json").read_text()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"a,b\n1,2\n3\n", "more or fewer values"),
        ("x.csv", b"a,b\n1,SECRET\n", r"these hold something else: 'b' \(text\)"),
        ("x.csv", b"a,b\n", "0 sample"),
        ("x.csv", b"a,a\n1,2\n", "distinct column names"),
        ("x.parquet", b"not parquet", "cannot be read"),
        ("x.xls", b"", "must be a file"),
    ],
)
def test_bad_files_are_refused_without_quoting_them(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message) as caught:
        model().fit(tmp_path / name)
    assert "SECRET" not in str(caught.value)


def test_a_bad_dataset_is_refused_without_quoting_it(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\n1,SECRET\n")
    schema = pa.schema([("a", pa.float64()), ("b", pa.float64())])
    with pytest.raises(InvalidParameterError, match="'the dataset' cannot be read") as caught:
        model().fit(pa.dataset.dataset(str(tmp_path), format="csv", schema=schema))
    assert "SECRET" not in str(caught.value)


def test_a_damaged_dataset_is_refused(tmp_path, X):
    """Arrow files are taken as they lie on disk: one may state more values than it has bytes."""
    path = write(pa.table({"age": X[:900, 0]}), tmp_path / "x.feather")
    content, length = path.read_bytes(), (900 * 8).to_bytes(8, "little")
    assert content.count(length) >= 1
    path.write_bytes(content.replace(length, (100 * 8).to_bytes(8, "little")))
    with pytest.raises(InvalidParameterError, match="'the dataset' cannot be read"):
        model().fit(pa.dataset.dataset(str(path), format="feather"))


def test_what_is_not_there(tmp_path):
    with pytest.raises(InvalidParameterError, match="no file"):
        model().fit(tmp_path / "x.csv")
    with pytest.raises(InvalidParameterError, match="no data file"):
        model().fit(tmp_path / "*.csv")
    with pytest.raises(InvalidParameterError, match="missing must be"):
        DataFiles(tmp_path, missing="skip")


@pytest.mark.parametrize(("kept_bytes", "n_reads"), [(1 << 20, 1), (1 << 10, 4)])
def test_small_files_are_read_once(tmp_path, table, kept_bytes, n_reads, monkeypatch):
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", kept_bytes)
    records, passes = DataFiles(write(table, tmp_path / "x.parquet")), []
    reads = records.reads
    records.reads = lambda: passes.append(1) or reads()
    model(n_iter=3).fit(records)
    assert len(passes) == n_reads


def test_only_a_batch_is_in_memory(tmp_path, monkeypatch, rng):
    """However many rows a file has, a pass holds few of them at a time."""
    monkeypatch.setattr("dpmorse.records.files.data_file._BATCH_BYTES", 1 << 16)
    monkeypatch.setattr("dpmorse.records.files.data_file._BATCH_ROWS", 1)
    path = write(pa.table({name: rng.normal(size=50_000) for name in NAMES}), tmp_path / "x.parquet")
    sizes = [len(batch) for batch in DataFiles(path).batches()]
    assert sum(sizes) == 50_000
    assert max(sizes) * 3 * 8 <= 1 << 16
