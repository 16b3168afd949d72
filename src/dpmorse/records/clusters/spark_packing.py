"""Records of a Spark DataFrame, kept by the executors in memory while a fit runs, in blocks of many rows.

Spark turns every row into Arrow anew in each job, which takes longer than all else. A block is opaque to it:
one value, a batch of Arrow that was made in the first job. Blocks are kept in memory only, so that nothing is
written to disks; those that find no room are made again in every job.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PySparkException

_BLOCK_ROWS = 1 << 16
"""Rows of a block: in ten columns 5 MB, large enough that the overhead of a block does not matter."""

_LIMIT, _BYTES = "spark.sql.execution.arrow.maxBytesPerBatch", 4 << 20
"""What keeps Spark (since 4.0) from handing all blocks of a partition to Python at once, and its value while
a fit runs: vectors that hold more are copied often while they grow."""


class Kept:
    """What executors keep in memory: the blocks of all records, and one more DataFrame made of them."""

    def __init__(self, frame: Any) -> None:
        self.blocks = _in_memory(frame.mapInArrow(_packed, "block binary"))
        self._other: Any = None

    def instead(self, frame: Any) -> Any:
        """Keep a DataFrame instead of the last one that was given."""
        if self._other is not None:
            self._other.unpersist()
        self._other = _in_memory(frame)
        return self._other

    def release(self) -> None:
        """Keep nothing any more."""
        for frame in (self.blocks, self._other):
            if frame is not None:
                frame.unpersist()


@contextmanager
def kept(frame: Any) -> Iterator[Kept | None]:
    """Let executors keep a DataFrame while the context lasts; return None where that is not possible.

    Before Spark 4, which would take the memory of a whole partition for its blocks, nothing is kept; nor is
    it by serverless clusters, which refuse to.
    """
    with ExitStack() as stack:
        held = None
        if _major_version(frame) >= 4:
            with suppress(PySparkException):
                stack.enter_context(_handed_over_in_parts(frame.sparkSession.conf))
                held = Kept(frame)
                stack.callback(held.release)
        yield held


@contextmanager
def _handed_over_in_parts(conf: Any) -> Iterator[None]:
    """Limit what Spark hands to Python at once, unless another fit in this session has done so."""
    before, limit = conf.get(_LIMIT), f"{_BYTES}b"
    if before != limit:
        conf.set(_LIMIT, limit)
    try:
        yield
    finally:
        if before != limit:
            conf.set(_LIMIT, before)


def _major_version(frame: Any) -> int:
    return int(frame.sparkSession.version.split(".")[0])


def _in_memory(frame: Any) -> Any:
    return frame.persist(StorageLevel.MEMORY_ONLY)


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
    """Join Arrow batches to larger ones of about ``n_rows`` rows: those that Spark sends are small."""
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
