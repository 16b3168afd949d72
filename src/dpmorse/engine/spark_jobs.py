"""Exact sums over the partitions of a Spark DataFrame: a job for each pass, a row of bytes a partition.

Jobs are ``mapInArrow``, which classic Spark and Spark Connect both have. A task that refuses its records says
so in its row: a task that raised would be run again, to no purpose, and its words would come in a traceback.
"""

import itertools
import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PythonException

from dpmorse.engine._chunk_passes import OnGrid, type_of_integers
from dpmorse.engine.base import add_up
from dpmorse.engine.fingerprint import Checked, add_up_checked
from dpmorse.engine.in_memory import InMemoryEngine
from dpmorse.engine.partitioned import PartitionedEngine, Partitions, Question
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.statistics import Domain

_COLUMNS = "part int, sums binary"
"""What tasks return: which partition it was, and its sums."""

_FAN_IN = 64
"""Sums that one process adds up. More partitions than this are added up by the executors first, because all
that arrives at the driver must fit there (``spark.driver.maxResultSize``)."""

_NOT_THERE = (
    "X is in Spark, whose executors lack a library: install dpmorse[spark], the same version, where "
    "executors run Python; PYSPARK_PYTHON (or spark.pyspark.python) says which Python that is."
)
"""The error where tasks cannot load what they need."""


@dataclass(frozen=True)
class SparkParts:
    """Records in the partitions of a DataFrame.

    Attributes
    ----------
    frame : pyspark DataFrame
        The columns that are read, and no others.
    read : callable
        Turns the Arrow batches of a partition into parts, where they are.
    n_partitions : int
        About how many partitions there are, if that is known: it decides only where sums are added.
    keep : callable or None
        Lets executors keep a DataFrame in memory while a fit runs, instead of the last one that it was given;
        None where they cannot.
    """

    frame: Any
    read: Callable[[Iterator[Any]], Iterator[Any]]
    n_partitions: int = 0
    keep: Callable[[Any], Any] | None = None

    def sums(self, function: Callable[[Any], Any]) -> list[Any]:
        """Add up a function of the parts in each partition; return the sum of each, or of several."""
        read, n_groups = self.read, math.ceil(self.n_partitions / _FAN_IN)

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            return _row(lambda: map(function, read(batches)), TaskContext.get().partitionId())

        frame = self.frame.mapInArrow(task, _COLUMNS)
        if n_groups > 1:
            # By a key, not in turns: a partition that is computed again must go where it went before.
            frame = frame.repartition(n_groups, "part").mapInArrow(_add_rows, _COLUMNS)
        try:
            rows = frame.collect()
        except PythonException as error:  # which tells what is missing at the end of two tracebacks
            if "ModuleNotFoundError" in str(error):
                raise InvalidParameterError(_NOT_THERE) from error
            raise
        return [_told(row["sums"]) for row in rows]

    def then(self, function: Callable[[Any], Any], n_partitions: int) -> "SparkParts":
        """Return the same partitions with a function of each part in its place."""
        read = self.read
        return SparkParts(self.frame, lambda batches: map(function, read(batches)), n_partitions, self.keep)

    def on_grid(self, domain: Domain, keep: Callable[[Any], Any]) -> "SparkParts":
        """Return the same partitions as integers of a domain: they are made once, and kept.

        Most of the time of a job goes into copies from Spark to Python, of which integers need a quarter.
        """
        read = self.read

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            return _blocks_on_grid(read(batches), domain)

        frame = keep(self.frame.mapInArrow(task, "block binary"))
        return SparkParts(frame, partial(_rows_on_grid, domain), self.n_partitions)


class SparkEngine(PartitionedEngine):
    """Sums over the partitions of a Spark DataFrame, on its executors; the driver adds up what they return.

    Parameters
    ----------
    inner : Engine
        Adds up one batch. Tasks run at the same time, so by default each with one thread.
    """

    def on_grid(self, records: Partitions, domain: Domain) -> Partitions:
        """Return the same records as integers, where executors can keep them and add them up."""
        parts: SparkParts = records.parts
        if parts.keep is None or not isinstance(self.inner, InMemoryEngine):
            return records
        return replace(records, parts=parts.on_grid(domain, parts.keep))

    def answers(self, parts: SparkParts, question: Question) -> Checked[Any]:
        """Put a question to all partitions, in one job; return the sum of their answers."""
        return add_up_checked(parts.sums(question))


def _blocks_on_grid(parts: Iterator[Checked[Any]], domain: Domain) -> Iterator[Any]:
    """Yield a row of bytes for each part, with its integers; what is refused is told where it is read."""
    kind = type_of_integers(domain)
    try:
        for rows in parts:
            integers = domain.quantise(rows.value).T.astype(kind, order="C")
            yield _block(Checked(rows.seen, integers))
    except DPMorseError as error:
        yield _block(error.with_traceback(None))


def _block(content: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(content)], pa.binary())], names=["block"])


def _rows_on_grid(domain: Domain, batches: Iterator[Any]) -> Iterator[Checked[Any]]:
    """Yield the parts that blocks were made of."""
    for batch in batches:
        for block in batch.column(0):
            rows = _told(block.as_buffer())
            yield Checked(rows.seen, OnGrid(domain, rows.value))


def _row(parts: Callable[[], Iterator[Any]], part: int) -> Iterator[Any]:
    """Yield the sum of parts as a row of bytes, or what is wrong with them; nothing if there are none."""
    found: Any
    try:
        every = iter(parts())
        first = next(every, None)
        if first is None:
            return
        found = add_up(itertools.chain([first], every))
    except DPMorseError as error:
        found = error.with_traceback(None)
    columns = [pa.array([part], pa.int32()), pa.array([pickle.dumps(found)], pa.binary())]
    yield pa.RecordBatch.from_arrays(columns, names=["part", "sums"])


def _add_rows(batches: Iterator[Any]) -> Iterator[Any]:
    """Add up rows of sums where they are."""
    rows = (_told(value) for batch in batches for value in batch.column("sums").to_pylist())
    return _row(lambda: rows, TaskContext.get().partitionId())


def _told(value: Any) -> Any:
    """Return the sum in a row of bytes; raise what a task has refused."""
    found = pickle.loads(value)  # noqa: S301 - made by tasks of this job, which run whatever the driver sends
    if isinstance(found, DPMorseError):
        raise found
    return found
