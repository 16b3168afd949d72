"""Fetchers read a folder or download, and never use a file that is not the published one."""

import dataclasses
import functools
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks.public import fetch, fetch_shuttle, fetch_usps
from benchmarks.public.sources import EMG, MAGIC, PULSAR, SHUTTLE, SLOAN, USPS, RawFile
from dpmorse import DPMorseError, InvalidParameterError

SOURCES = [SHUTTLE, EMG, MAGIC, SLOAN, PULSAR, USPS]
EVERY_SOURCE = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
LINES = b"50,21,77,0,28,0,27,48,22,2\n55,0,92,0,0,26,36,92,56,4\n"


def some_records(source, n=5):
    ranges = np.array(source.ranges or [(-20.0, 20.0)] * source.n_features)
    return np.random.default_rng(0).uniform(*ranges.T, (n, source.n_features))


def write_parquet(folder, source, X, y):
    table = pa.table({**{f"f{i}": column for i, column in enumerate(X.T)}, "label": y})
    parquet.write_table(table, folder / f"{source.name}.parquet", compression="zstd")


class _Server(HTTPServer):
    requests = 0


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        self.send_response(200 if self.path == "/shuttle.trn" else 404)
        self.end_headers()
        self.wfile.write(LINES)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    with _Server(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def publish(server, monkeypatch):
    """Let fetch_shuttle download from our server, with the checksum that is given."""

    def at(path, sha256):
        file = RawFile(f"http://127.0.0.1:{server.server_port}{path}", sha256)
        monkeypatch.setattr(fetch, "SHUTTLE", dataclasses.replace(SHUTTLE, files=(file,)))

    return at


@EVERY_SOURCE
def test_a_folder_is_read_as_it_is(source, tmp_path):
    X, y = some_records(source), np.array([2, 0, 1, 1, 0])
    write_parquet(tmp_path, source, X, y)
    data = getattr(fetch, f"fetch_{source.name}")(folder=tmp_path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert (data.name, data.n_clusters, data.n_features) == (source.name, 3, source.n_features)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    if source.ranges:
        np.testing.assert_array_equal(np.column_stack(data.bounds), source.ranges)


@EVERY_SOURCE
def test_sources_are_pinned(source):
    """A commit of 40 digits and a checksum of 64: neither the address nor the content can change."""
    assert source.files
    for file in source.files:
        repository = file.url.removeprefix("https://raw.githubusercontent.com/").split("/")
        assert len(bytes.fromhex(repository[2])) == 20
        assert len(bytes.fromhex(file.sha256)) == 32


@EVERY_SOURCE
def test_ranges_are_those_of_every_column(source):
    assert len(source.ranges) in {0, source.n_features}
    assert all(low < high for low, high in source.ranges)


def test_a_folder_without_the_file_is_explained(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"folder must contain shuttle\.parquet, got"):
        fetch_shuttle(folder=tmp_path)


def test_a_file_with_other_columns_is_refused(tmp_path):
    write_parquet(tmp_path, SHUTTLE, some_records(SHUTTLE)[:, :4], np.zeros(5, dtype=int))
    with pytest.raises(InvalidParameterError, match="columns f0 to f8 and label, got columns"):
        fetch_shuttle(folder=tmp_path)


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "shuttle.parquet").write_bytes(LINES)
    with pytest.raises(InvalidParameterError, match=r"shuttle\.parquet as parquet"):
        fetch_shuttle(folder=tmp_path)


@pytest.mark.parametrize("wrong", [1e6, np.nan])
def test_records_outside_the_published_ranges_are_refused(tmp_path, wrong):
    X = some_records(SHUTTLE)
    X[3, 2] = wrong
    write_parquet(tmp_path, SHUTTLE, X, np.zeros(5, dtype=int))
    with pytest.raises(InvalidParameterError, match="outside the published ranges"):
        fetch_shuttle(folder=tmp_path)


def test_a_download_is_read_and_kept(publish, server, tmp_path):
    publish("/shuttle.trn", hashlib.sha256(LINES).hexdigest())
    for _ in range(2):
        data = fetch_shuttle(cache=tmp_path)
        np.testing.assert_array_equal(data.X[:, 0], [50, 55])
        np.testing.assert_array_equal(data.y, [2, 4])
    assert server.requests == 1


def test_a_wrong_checksum_is_an_error_and_leaves_nothing_behind(publish, tmp_path):
    publish("/shuttle.trn", "0" * 64)
    with pytest.raises(DPMorseError, match=r"Checksum mismatch: http.*SHA-256 0000"):
        fetch_shuttle(cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_damaged_cache_is_not_used(publish, tmp_path):
    (tmp_path / "shuttle-shuttle.trn").write_bytes(b"1,2,3,4,5,6,7,8,9,1\n")
    publish("/shuttle.trn", hashlib.sha256(LINES).hexdigest())
    np.testing.assert_array_equal(fetch_shuttle(cache=tmp_path).y, [2, 4])


def test_a_file_that_has_gone_is_explained(publish, tmp_path):
    publish("/gone.trn", "0" * 64)
    with pytest.raises(DPMorseError, match=r"could not be downloaded from http.*folder="):
        fetch_shuttle(cache=tmp_path)


def test_usps_pixels_are_embedded_in_three_columns(monkeypatch):
    pixels = np.random.default_rng(0).uniform(-1, 1, (40, 256))
    monkeypatch.setattr(fetch, "TSNE", functools.partial(fetch.TSNE, max_iter=250))  # ours takes minutes
    monkeypatch.setattr(fetch, "_raw_records", lambda *_: (pixels, np.arange(40) % 10))
    data = fetch_usps()
    assert data.X.shape == (40, 3)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.bounds, [data.X.min(axis=0), data.X.max(axis=0)])
