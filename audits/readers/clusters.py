"""Readers of Dask, Spark and tensors."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from audits.readers.hostile import HostileTable
from audits.readers.in_memory import object_frame
from audits.readers.reader import Reader, Shelf

_SPARK = {
    "int64": "long",
    "double": "double",
    "decimal": "decimal(20, 4)",
    "bool": "boolean",
    "text": "string",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "binary": "binary",
}
"""Types of Spark."""


def _dask_frame(table: HostileTable, _: Shelf) -> Any:
    frames = import_module("dask.dataframe")
    dask = import_module("dask")
    with dask.config.set({"dataframe.convert-string": False}):
        return frames.from_pandas(object_frame(table), npartitions=max(1, len(table.rows) // 3), sort=False)


def _dask_array(table: HostileTable, _: Shelf) -> Any:
    arrays = import_module("dask.array")
    return arrays.from_array(object_frame(table).to_numpy(), chunks=(3, 2))


@contextmanager
def local_spark() -> Iterator[Any]:
    """Start a local session of Spark."""
    sql = import_module("pyspark.sql")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.sql.shuffle.partitions": "2",
    }
    session = sql.SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def _spark(table: HostileTable, shelf: Shelf) -> Any:
    types = ", ".join(f"{name} {_SPARK[kind]}" for name, kind in table.types.items())
    rows = [tuple(row.values()) for row in table.rows]
    return shelf.spark.createDataFrame(rows, types).coalesce(1)


def _spark_alone(table: HostileTable, shelf: Shelf) -> Iterator[Any]:
    """Yield one DataFrame whose rows come to Python one by one: a job for each would take minutes."""
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = shelf.spark.conf.get(setting)
    shelf.spark.conf.set(setting, 1)
    try:
        yield _spark(table, shelf)
    finally:
        shelf.spark.conf.set(setting, before)


def _tensor(table: HostileTable, _: Shelf) -> Any:
    torch = import_module("torch")
    return torch.tensor(
        [[float("nan") if value is None else value for value in row.values()] for row in table.rows],
        dtype=torch.float64,
    )


CLUSTERS = (
    Reader(
        "Dask frame", ("DaskRecords",), ("any object",), _dask_frame, needs=("dask",), effort=0.5, numbers=()
    ),
    Reader(
        "Dask array", ("DaskRecords",), ("any object",), _dask_array, needs=("dask",), effort=0.5, named=False
    ),
    Reader(
        "Spark", ("SparkRecords",), tuple(_SPARK), _spark, _spark_alone, needs=("pyspark", "java"), effort=0.2
    ),
    Reader("tensor", ("TensorRecords",), ("double",), _tensor, needs=("torch",), named=False),
)
"""Readers of distributed records, and of records on a device."""
