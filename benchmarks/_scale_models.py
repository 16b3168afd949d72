"""One released model: the same bits from memory, files, batches, Dask workers and tensors."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.speed import overlapping_groups
from dpmorse import (
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    GaussianMixture,
    InMemoryEngine,
    PrivateGaussianMixture,
)
from dpmorse.typing import FloatArray

KINDS = (DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree, PrivateGaussianMixture, DPMorse)
_N_COMPONENTS = 8

Fit = Callable[[type[Any]], GaussianMixture]


def identical_models(n_rows: int = 50_000) -> dict[str, dict[str, bool]]:
    """Return, for every way to hold the records, whether each estimator releases the model of the array."""
    X = overlapping_groups(n_rows, _N_COMPONENTS, 0.15)
    expected = {kind: _fit(X)(kind) for kind in KINDS}
    return {name: {kind.__name__: fit(kind) == expected[kind] for kind in KINDS} for name, fit in _ways(X)}


def _fit(X: Any, **options: Any) -> Fit:
    def fit(kind: type[Any]) -> GaussianMixture:
        model = kind(_N_COMPONENTS, epsilon=1.0, bounds=(-1, 1), random_state=7, **options)
        mixture: GaussianMixture = model.fit(X).mixture_
        return mixture

    return fit


def _ways(X: FloatArray) -> Iterator[tuple[str, Fit]]:
    yield from _in_memory(X)
    yield from _out_of_core(X)
    yield from _on_dask(X)
    yield from _as_tensors(X)


def _in_memory(X: FloatArray) -> Iterator[tuple[str, Fit]]:
    for chunk_rows in (1_000, 10_000, 100_000, 1_000_000):
        yield f"chunks of {chunk_rows:,} rows", _fit(X, engine=InMemoryEngine(chunk_rows=chunk_rows))
    for n_threads in (1, 2, 3, 4):
        yield f"{n_threads} threads", _fit(X, engine=InMemoryEngine(chunk_rows=5_000, n_threads=n_threads))
    yield "shuffled rows", _fit(X[np.random.default_rng(3).permutation(len(X))])
    yield "columns first in memory", _fit(np.asfortranarray(X))


class _Batches:
    def __init__(self, X: FloatArray) -> None:
        self._X = X

    def __iter__(self) -> Iterator[FloatArray]:
        return (self._X[start : start + 30_011] for start in range(0, len(self._X), 30_011))


def _out_of_core(X: FloatArray) -> Iterator[tuple[str, Fit]]:
    table = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
    with tempfile.TemporaryDirectory() as folder:
        pa.parquet.write_table(table, Path(folder) / "x.parquet", row_group_size=40_000)
        pa.csv.write_csv(table, Path(folder) / "x.csv")
        yield "a Parquet file", _fit(Path(folder) / "x.parquet")
        yield "a CSV file", _fit(Path(folder) / "x.csv")
    yield "batches", _fit(_Batches(X))


def _on_dask(X: FloatArray) -> Iterator[tuple[str, Fit]]:
    import dask.array

    for n_workers in (1, 2, 3, 4):
        with cluster(n_workers):
            yield f"{n_workers} Dask workers", _fit(dask.array.from_array(X, chunks=(len(X) // 11, -1)))


def _as_tensors(X: FloatArray) -> Iterator[tuple[str, Fit]]:
    try:
        import torch
    except ModuleNotFoundError:
        return
    from dpmorse.engine.tensors import TensorEngine

    yield "a torch tensor on the CPU", _fit(torch.from_numpy(X))
    yield "torch operations on the CPU", _fit(torch.from_numpy(X), engine=TensorEngine())
    if torch.cuda.is_available():
        yield "a torch tensor on the GPU", _fit(torch.from_numpy(X).cuda())


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Run worker processes of one thread each."""
    import distributed

    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, local_directory=folder
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
