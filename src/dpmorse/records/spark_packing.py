"""Records of a Spark DataFrame, kept by the executors in memory while a fit runs, in blocks of many rows.

Spark turns every row into Arrow anew in each job, which takes longer than all else. A block is opaque to it:
one value, a batch of Arrow that was made in the first job. Blocks are kept in memory only, so that nothing is
written to disks; those that find no room are made again in every job.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PySparkException

_BLOCK_ROWS = 1 << 16
"""Rows of a block: in ten columns 5 MB, large enough that the overhead of a block does not matter."""

_LIMIT, _MOST_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch", 256 << 20
"""What keeps Spark (since 4.0) from handing all blocks of a partition to Python at once; what it may be."""


@contextmanager
def kept(frame: Any) -> Iterator[Any | None]:
    """Return a DataFrame of blocks that are kept while the context lasts, or None where that is not possible.

    Where Spark would take the memory of a whole partition for its blocks, nothing is kept; nor is it by
    serverless clusters, which refuse to.
    """
    try:
        blocks = _blocks(frame).persist(StorageLevel.MEMORY_ONLY) if _few_at_a_time(frame) else None
    except PySparkException:
        blocks = None
    try:
        yield blocks
    finally:
        if blocks is not None:
            blocks.unpersist()


def _blocks(frame: Any) -> Any:
    return frame.mapInArrow(_packed, "block binary")


def _few_at_a_time(frame: Any) -> bool:
    session = frame.sparkSession
    if int(session.version.split(".")[0]) < 4:
        return False
    limit = session.conf.get(_LIMIT).removesuffix("b")  # such as "67108864b"
    return limit.isdecimal() and 0 < int(limit) <= _MOST_BYTES


def unpacked(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the Arrow batches that blocks were made of."""
    for batch in batches:
        for block in batch.column(0):
            yield pa.ipc.open_stream(block.as_buffer()).read_next_batch()


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a row for each block; a partition without rows has none."""
    for batch in joined(batches, _BLOCK_ROWS):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        block = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([block], names=["block"])


def joined(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Put Arrow batches together to some of about so many rows: those that Spark sends are small."""
    waiting: list[Any] = []
    for batch in batches:
        waiting += [batch] if len(batch) else []
        if sum(map(len, waiting)) >= n_rows:
            yield _one(waiting)
            waiting = []
    if waiting:
        yield _one(waiting)


def _one(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    columns = [column.combine_chunks() for column in pa.Table.from_batches(batches).columns]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)
