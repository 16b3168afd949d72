"""Files at addresses, through pyarrow's file systems; and what is said where these fail."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.fs
import pyarrow.parquet
import pytest

from dpmorse import DataFiles, DPMoGHard, InvalidParameterError
from dpmorse.records import Reading, inspected
from dpmorse.records.files.remote import shown_address

SECRET = "s3://KEY:SECRET@bucket/visits.parquet?region=eu-west-1&token=SECRET"


@pytest.fixture
def table(rng):
    return pa.table({"age": rng.normal(size=300) * 0.3, "height": rng.normal(size=300) * 0.3})


def model():
    return DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), random_state=0)


def write_zip(table, path):
    text = pa.BufferOutputStream()
    pa.csv.write_csv(table, text)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.csv", text.getvalue().to_pybytes())


def write_workbook(table, path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]:
        book.active.append(row)
    book.save(path)


WRITERS = {
    "x.parquet": pa.parquet.write_table,
    "x.feather": pa.feather.write_feather,
    "x.csv": pa.csv.write_csv,
    "x.zip": write_zip,
    "x.xlsx": write_workbook,
}


@pytest.mark.parametrize("name", WRITERS)
def test_an_address_gives_the_model_of_the_file(tmp_path, table, name, monkeypatch):
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", 0)
    path = tmp_path / name
    WRITERS[name](table, str(path))
    fitted = model().fit(path.as_uri())
    assert fitted.mixture_ == model().fit(table).mixture_
    assert np.array_equal(fitted.predict(path.as_uri()), fitted.predict(table))


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_at_an_address_is_inspected_as_one_here(tmp_path, table, name):
    WRITERS[name](table, str(tmp_path / name))
    there, here = inspected((tmp_path / name).as_uri(), Reading()), inspected(str(tmp_path / name), Reading())
    assert there.columns == here.columns
    assert there.reading == here.reading


def test_folders_and_patterns(tmp_path, table):
    for i in range(3):
        pa.parquet.write_table(table.slice(100 * i, 100), tmp_path / f"part-{i}.parquet")
    (tmp_path / "notes.md").write_text("nothing")
    for address in (tmp_path.as_uri(), f"{tmp_path.as_uri()}/part-*.parquet"):
        assert model().fit(DataFiles(address)).mixture_ == model().fit(table).mixture_
    with pytest.raises(InvalidParameterError, match="there is no data file in 'file:"):
        model().fit(f"{tmp_path.as_uri()}/other-*.parquet")
    with pytest.raises(InvalidParameterError, match="there is no file 'file:"):
        model().fit(f"{tmp_path.as_uri()}/absent.parquet")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError("When getting 'bucket': AWS Error ACCESS_DENIED for KEY SECRET"), "AWS_PROFILE"),
        (OSError("AWS Error NO_SUCH_BUCKET: SECRET"), "the bucket, the path and the region"),
        (OSError("AWS Error NETWORK_CONNECTION during HeadBucket: curlCode: 6"), "does not answer"),
        (pa.ArrowInvalid("Unrecognized filesystem type in URI: SECRET"), "Copy the file to this machine"),
        (OSError("SECRET"), "Is the address right"),
    ],
)
@pytest.mark.parametrize("stage", ["address", "file"])
def test_a_store_that_fails_is_told_without_secrets(error, message, stage, monkeypatch):
    class Store:
        def get_file_info(self, _):
            raise error

    def from_uri(_):
        if stage == "address":
            raise error
        return Store(), "bucket/visits.parquet"

    monkeypatch.setattr(
        "dpmorse.records.files.remote.pa.fs.FileSystem", type("F", (), {"from_uri": from_uri})
    )
    with pytest.raises(InvalidParameterError, match=message) as raised:
        model().fit(SECRET)
    assert "s3://bucket/visits.parquet" in str(raised.value)
    assert not {"SECRET", "KEY"} & set(str(raised.value).replace(":", " ").split())
    assert "SECRET" not in str(raised.value)


def test_https_is_no_file_system_of_pyarrow():
    with pytest.raises(InvalidParameterError, match="Copy the file to this machine") as raised:
        model().fit("https://example.org/visits.parquet?signature=SECRET")
    assert "SECRET" not in str(raised.value)


def test_what_is_shown_of_an_address():
    assert shown_address(SECRET) == "s3://bucket/visits.parquet"
