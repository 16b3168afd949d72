"""No error tells a value, a number of rows or a width, whatever is wrong with whatever holds the records."""

import traceback
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from audits.attacks.malformed_records import (
    ARRAYS,
    DASK,
    FRAMES,
    GOOD,
    GROUPS,
    STREAMS,
    TEXT,
    TEXTS,
    VALUE,
    Batches,
    N,
)
from dpmorse import DataFiles, DPMoGHard, DPMorseError, MorseClustering

FORBIDDEN = ("3719", "3,719", "3718", "3 719", "3720", "123456", "Zebulon", "Canary", "<U", "|S", "dtype")


def said(error):
    """Return what is printed of an error and of those it is chained to, without lines of source code."""
    lines, seen = [], traceback.TracebackException.from_exception(error)
    while seen is not None:
        lines += seen.format_exception_only()
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "".join(lines)


def refused(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((DPMorseError, ValueError, TypeError, MemoryError)) as raised:
            call()
    told = said(raised.value)
    assert not [found for found in FORBIDDEN if found in told], told
    return told


def model(**parameters):
    return DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1, **parameters)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(GOOD)


def predict(fitted, X):
    labels = fitted.predict(X)
    return labels.compute() if hasattr(labels, "compute") else labels


ONLY_FITS_REFUSE = {"batches that are records", "Dask frame with a record as names"}
"""Names are published by a fit; where records are only labelled, any will do."""


def is_refused(X, fitted, name=None):
    refused(lambda: model().fit(X()))
    if name not in ONLY_FITS_REFUSE:
        refused(lambda: predict(fitted, X()))


@pytest.mark.parametrize("name", [*ARRAYS, *FRAMES, *STREAMS])
def test_what_is_in_memory(name, fitted):
    is_refused({**ARRAYS, **FRAMES, **STREAMS}[name], fitted, name)


@pytest.mark.parametrize("name", DASK)
def test_what_is_in_partitions(name, fitted):
    is_refused(DASK[name], fitted, name)


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_in_files_of_text(name, fitted, tmp_path):
    path = tmp_path / "records.csv"
    path.write_text(TEXTS[name])
    is_refused(lambda: path, fitted)


@pytest.mark.parametrize("name", ["pyarrow of text", "pyarrow with a gap", "a record as names"])
@pytest.mark.parametrize("kind", ["parquet", "feather", "dataset", "damaged"])
def test_what_is_in_other_files(name, kind, fitted, tmp_path):
    table = {**FRAMES, "a record as names": lambda: pa.table({str(VALUE): [VALUE] * N, TEXT: [VALUE] * N})}[
        name
    ]()
    path = tmp_path / ("records.feather" if kind == "feather" else "records.parquet")
    (pa.feather.write_feather if kind == "feather" else pa.parquet.write_table)(table, path)
    if kind == "damaged":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + path.read_bytes()[-99:])
    columns = table.column_names  # named: text is left out of a typed file otherwise
    is_refused(
        lambda: DataFiles(pa.dataset.dataset(path) if kind == "dataset" else path, columns=columns), fitted
    )


@pytest.mark.parametrize(
    "name", ["no columns", "one dimension", "not a number", "complex", "three dimensions"]
)
def test_what_is_in_tensors(name, fitted):
    torch = pytest.importorskip("torch")
    is_refused(lambda: torch.from_numpy(ARRAYS[name]()), fitted)


OWNED = {
    "array": lambda: GOOD,
    "frame": lambda: pd.DataFrame(GOOD, columns=["a", "b"]),
    "batches": lambda: Batches(GOOD),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("holder", OWNED)
def test_whose_records_they_are(name, holder):
    refused(lambda: model(max_rows_per_group=2).fit(OWNED[holder](), groups=GROUPS[name]()))


@pytest.mark.parametrize("name", GROUPS)
def test_whose_records_partitions_are(name):
    da = pytest.importorskip("dask.array")
    X = da.from_array(GOOD, chunks=1000)
    refused(lambda: model(max_rows_per_group=2).fit(X, groups=GROUPS[name]()))


@pytest.mark.parametrize(
    "parameter", ["n_components", "epsilon", "bounds", "radius", "engine", "ledger", "noise"]
)
@pytest.mark.parametrize("table", [GOOD, pd.DataFrame(GOOD)], ids=["array", "frame"])
def test_records_in_the_place_of_a_parameter(parameter, table):
    refused(lambda: model().set_params(**{parameter: table}).fit(GOOD))


def test_scores_around_a_base_that_is_not_ours(fitted):
    """Such a base is not private; the records whose density is asked for may be."""
    from sklearn.mixture import GaussianMixture

    class Base(GaussianMixture):
        def fit(self, X, y=None):
            self.mixture_, self.privacy_ = fitted.mixture_, None
            return self

    clusters = MorseClustering(Base(2), n_clusters=1).fit(GOOD)
    clusters.n_features_in_ = 2
    assert clusters.score_samples(GOOD).shape == (N,)
    for X in ("one dimension", "text", "an object that is text", "not a number", "no columns"):
        refused(lambda X=X: clusters.score_samples(ARRAYS[X]()))


class OutOfMemoryError(RuntimeError):
    """As torch has it."""


def too_large(*_, **__):
    return np.empty((N * 10**12, 8))


def too_large_on_a_device(*_, **__):
    raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {N}.00 GiB")


class Hungry:
    """An engine, or a matrix, that wants more memory than there is."""

    shape, dtype = (N, 2), np.dtype(float)

    def __init__(self, fail):
        self.reduce = self.count = self.tally = self.fail = fail

    def __array__(self, dtype=None, copy=None):
        return self.fail()


class HungryList(list):
    def __array__(self, dtype=None, copy=None):
        return too_large()


class HungryBatches(Batches):
    def __iter__(self):
        yield self.tables[0]
        too_large()


@pytest.mark.parametrize("fail", [too_large, too_large_on_a_device])
def test_memory_that_an_engine_does_not_get(fail):
    assert "not enough memory" in refused(lambda: model(engine=Hungry(fail)).fit(GOOD))


@pytest.mark.parametrize(
    "X", [Hungry(too_large), HungryList(), HungryBatches(GOOD)], ids=["matrix", "list", "batches"]
)
def test_memory_that_reading_does_not_get(X, fitted):
    assert "not enough memory" in refused(lambda: model().fit(X))
    assert "not enough memory" in refused(lambda: fitted.predict(X))


def test_memory_that_a_partition_does_not_get(fitted):
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    X = da.from_delayed(dask.delayed(too_large)(), (N, 2), float)
    assert "not enough memory" in refused(lambda: model().fit(X))


def test_other_errors_stay_what_they_are():
    def fail(*_):
        raise RuntimeError("of an engine")

    with pytest.raises(RuntimeError, match="of an engine"):
        model(engine=Hungry(fail)).fit(GOOD)


def test_integers_that_a_float_rounds_are_read_as_numpy_reads_them():
    """pyarrow refuses them, and quotes one."""
    X = np.full((50, 2), 2**53 + 1)
    tables = [
        X,
        pa.table({"a": X[:, 0], "b": X[:, 1]}),
        pd.DataFrame(X, columns=["a", "b"]).astype("int64[pyarrow]"),
    ]
    found = [
        DPMoGHard(1, epsilon=1.0, bounds=(0, 2.0**54), n_iter=1, random_state=0).fit(X).mixture_
        for X in tables
    ]
    assert found[0] == found[1] == found[2]
