"""Spark: seconds of a fit beside those from the same Parquet file, and fits whose tasks fail."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks._measure import ROOT, seconds
from benchmarks._scale_dask import N_ITER, CountedDraws, model
from benchmarks._scale_files import write_parquet
from benchmarks.speed import N_COMPONENTS, overlapping_groups
from dpmorse import Budget, DPMorse, FileLedger


def on_spark(n_rows: int = 5_000_000, n_fits: int = 20) -> dict[str, dict[str, Any]]:
    """Return seconds of fits from Spark and from Parquet, their ratio, and what failed tasks have changed."""
    with session() as spark:
        return {"speed": _against_parquet(spark, n_rows), "failures": _failed_fits(spark, n_fits)}


@contextmanager
def session() -> Iterator[Any]:
    """Run Spark on two cores, with four attempts for each task."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {"spark.ui.enabled": "false", "spark.driver.memory": "4g"}
    spark = SparkSession.builder.master("local[2,4]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


def _against_parquet(spark: Any, n_rows: int) -> dict[str, float]:
    path = ROOT / ".bench" / "records" / f"{n_rows}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_parquet(path, n_rows)
    frame, fit = spark.read.parquet(str(path)), DPMorse(N_COMPONENTS, epsilon=1.0, bounds=(-1, 1)).fit
    fit(spark.read.parquet(str(path)).limit(1000).cache())  # processes start, and load what is compiled
    fit(path)
    found = {"Parquet, s": seconds(lambda: fit(path)), "Spark, s": seconds(lambda: fit(frame))}
    return {"rows": n_rows, **found, "ratio": found["Spark, s"] / found["Parquet, s"]}


def _failed_fits(spark: Any, n_fits: int, n_rows: int = 20_000) -> dict[str, int]:
    """Let a task of every pass fail once; count the fits that are as if nothing happened."""
    X = overlapping_groups(n_rows, 6, 0.2)
    expected = model().fit(X)
    lazy = spark.createDataFrame(X.tolist(), ", ".join(f"x{j} double" for j in range(X.shape[1]))).cache()
    flaky = lazy.mapInArrow(_fails_once(), lazy.schema)
    found = {"fits": n_fits, "failed tasks": 0, "same model": 0, "one draw a release": 0, "one spend": 0}
    for _ in range(n_fits):
        with tempfile.TemporaryDirectory() as folder, CountedDraws() as draws:
            ledger = FileLedger(Path(folder) / "budget", Budget(9.0))
            fitted = model(ledger).fit(flaky)
            found["one spend"] += ledger.events == expected.privacy_.events
        found["failed tasks"] += N_ITER + 1  # one in each pass, and in the one that checks the records
        found["same model"] += fitted.mixture_ == expected.mixture_
        found["one draw a release"] += draws.count == N_ITER
    return found


def _fails_once() -> Any:
    """Return a function that travels with its code: executors have no benchmarks."""

    def fail_once(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task = TaskContext.get()
        for batch in batches:
            yield batch
            if task.attemptNumber() == 0 and task.partitionId() == 0:
                raise OSError("fails on purpose")

    return fail_once
