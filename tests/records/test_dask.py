"""Dask collections, on threads and on a real cluster of processes: the same model."""

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dpmorse import (  # noqa: E402
    DPCube,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    InMemoryEngine,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
)
from dpmorse.privacy import Budget  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and tornado's own, which differ by version

NAMES = ["a", "b", "c"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(6000, 3)) * 0.3


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A cluster of two processes, as on two machines."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    folder = str(tmp_path_factory.mktemp("workers"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20}),
        distributed.LocalCluster(processes=True, local_directory=folder, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def model(kind=DPMoGHard, **options):
    return kind(4, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)


def in_partitions(X, n, names=None):
    frame = pd.DataFrame(X, columns=names or NAMES)
    return dd.from_pandas(frame, npartitions=n, sort=False)


@pytest.mark.parametrize("chunks", [(6000, 3), (700, 3), (1000, 2)])
def test_arrays_give_the_model_of_numpy(X, chunks):
    lazy = da.from_array(X, chunks=chunks)
    fitted = model().fit(lazy)
    assert fitted.mixture_ == model().fit(X).mixture_
    labels = fitted.predict(lazy)
    assert isinstance(labels, da.Array), "lazy: nothing is computed until it is asked for"
    assert labels.shape == (6000,)
    assert np.array_equal(labels.compute(), fitted.predict(X))
    assert fitted.predict_proba(lazy).compute() == pytest.approx(fitted.predict_proba(X))


@pytest.mark.long
@pytest.mark.parametrize("kind", [DPMoGHard, DPMoG, DPCube, DPTree, DPMorse])
def test_every_base_on_a_cluster(client, X, kind):
    fitted = model(kind).fit(in_partitions(X, 7))
    assert fitted.mixture_ == model(kind).fit(X).mixture_
    assert fitted.feature_names_in_.tolist() == NAMES
    frame = pd.DataFrame(X, columns=NAMES)
    assert np.array_equal(fitted.predict(in_partitions(X, 3)).compute(), fitted.predict(frame))


def test_the_joint_histogram_of_two_columns_on_a_cluster(client, X):
    few = X[:, :2]
    lazy = da.from_array(few, chunks=(901, 2))
    assert model(DPMorse).fit(lazy).mixture_ == model(DPMorse).fit(few).mixture_


def test_parquet_read_by_dask(client, X, tmp_path):
    in_partitions(X, 5).to_parquet(tmp_path)
    fitted = model().fit(dd.read_parquet(tmp_path))
    assert fitted.mixture_ == model().fit(X).mixture_


def test_partitions_without_rows_and_an_engine_of_the_caller(X):
    lazy = in_partitions(X, 6)
    holes = lazy[lazy["a"] > 0.5]
    expected = model().fit(X[X[:, 0] > 0.5]).mixture_
    assert model(engine=InMemoryEngine(chunk_rows=77)).fit(holes).mixture_ == expected


def test_groups_go_with_partitions(X):
    groups = np.arange(len(X)) % 1500
    expected = model(max_rows_per_group=3).fit(X, groups=groups).mixture_
    lazy = da.from_array(X, chunks=(700, 3))
    assert model(max_rows_per_group=3).fit(lazy, groups=groups).mixture_ == expected
    assert model(max_rows_per_group=3).fit(lazy, groups=da.from_array(groups, 900)).mixture_ == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: da.from_array(np.where(X > 1, np.nan, X), chunks=500), "NaN in the columns"),
        (lambda X: da.from_array(X[:0], chunks=500), "0 sample"),
        (lambda X: da.from_array(X[:, 0], chunks=500), "must have shape"),
        (lambda X: in_partitions(X, 2).assign(d="text"), "'d'"),
        (dask.delayed, "must be a dask.array.Array or a dask.dataframe.DataFrame"),
    ],
)
def test_bad_collections_are_refused_before_anything_is_released(X, make, message):
    ledger = Ledger(Budget(9.0))
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message):
        model(ledger=ledger).fit(make(X))
    assert ledger.events == ()


def test_columns_must_be_those_of_the_fit(X):
    fitted = model().fit(in_partitions(X, 2))
    with pytest.raises(InvalidParameterError, match="the columns of the fit"):
        fitted.predict(in_partitions(X, 2, names=["b", "a", "c"]))


def test_logs_of_workers_quote_no_record(client, X):
    """A task that fails is written to the log of its worker, with what it was given, if that can be shown."""
    X[:, 0], X[7, 1] = 0.123456789, np.nan
    fitted = model().fit(in_partitions(np.nan_to_num(X), 2))
    for bad in (da.from_array(X, chunks=(3000, 3)), in_partitions(X, 2)):
        with pytest.raises(InvalidParameterError):
            model().fit(bad)
        with pytest.raises(InvalidParameterError):
            fitted.predict(bad).compute()
    logs = repr([client.get_worker_logs(), client.get_scheduler_logs(), client.get_events()])
    assert "InvalidParameterError" in logs
    assert "0.123456789" not in logs
