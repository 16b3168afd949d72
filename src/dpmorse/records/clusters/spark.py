"""Records in Spark DataFrames, of classic Spark and of Spark Connect; executors read them as Arrow batches.

A DataFrame is computed anew in every pass, possibly in another order and in other partitions. Whose record a
row is must therefore be one of its columns. Names and types of columns are public; no value is looked at to
find them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types

from dpmorse.engine import Engine, Partitions, SparkEngine, SparkParts, add_up_checked
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, Function, Records
from dpmorse.records.clusters.spark_packing import Kept, joined, kept, unpacked
from dpmorse.records.databases.arrow_tables import ArrowTable
from dpmorse.records.files.data_file import distinct, problems_told
from dpmorse.records.files.data_files import DataFiles, checked_unit, open_files
from dpmorse.records.persons.owners import Batch
from dpmorse.records.persons.row_choice import survey
from dpmorse.schema import Schema

_PATH = "the Spark DataFrame"
"""What X is called in messages."""

_KINDS = {np.int8: types.ByteType, np.int16: types.ShortType, np.int32: types.IntegerType}
"""Spark's types of labels, which have the smallest type that holds them; all others are 64-bit."""


class SparkRecords(Records):
    """A Spark DataFrame, and perhaps a column that says whose record a row is."""

    def __init__(
        self,
        X: Any,
        groups: Any = None,
        schema: Schema | None = None,
        columns: Sequence[str] | None = None,
        held: Kept | None = None,
    ) -> None:
        if not (hasattr(X, "mapInArrow") and hasattr(X, "schema")):
            raise InvalidTypeError(
                f"X must be a pyspark.sql.DataFrame, got {type(X).__name__}. (Of pandas on Spark: "
                "X.to_spark().)"
            )
        if X.isStreaming:
            raise InvalidTypeError(
                "X is a stream, which has no end. Give a DataFrame that can be read again."
            )
        self._frame, self._held = X, held  # the same records, as executors keep them
        numbers = (types.NumericType, types.BooleanType)
        public = [  # which columns hold numbers, as Arrow types that say just that
            (column.name, pa.float64() if isinstance(column.dataType, numbers) else pa.null())
            for column in X.schema.fields
        ]
        arrow = pa.schema(distinct(_PATH, public))
        self._reading = _PartitionReading(arrow, checked_unit(groups), schema, columns)
        self._files = self._reading.files(())
        self.unit = self._files.unit

    @property
    def columns(self) -> Columns:
        """Number and names of the columns; without a schema they must hold numbers."""
        return self._files.columns

    def owned_by(self, groups: Any) -> "SparkRecords":
        """Return these records with a column of owners."""
        return self._with(self._files.owned_by(groups), self._reading.schema)

    def described_by(self, schema: Schema) -> "SparkRecords":
        """Return these records with a schema, whose columns are found by name."""
        return self._with(self._files, schema)

    def matching(self, estimator: Any) -> "SparkRecords":
        """Return the columns of the fit, found by name."""
        return self._with(self._files.matching(estimator), self._reading.schema)

    def engine(self, given: Engine | None) -> Engine:
        """Return an engine that adds up partitions on the executors."""
        return SparkEngine() if given is None else SparkEngine(given)

    def read(self, estimator: Any, most: int | None = None) -> Partitions:
        """Read all partitions once, to check them and to choose the rows that are used."""
        parts = self._parts
        surveys = parts.sums(partial(survey, most=most))
        return self._used_parts(
            add_up_checked(surveys),
            lambda function: add_up_checked(parts.sums(function)),
            partial(parts.then, n_partitions=len(surveys)),
            estimator,
        )

    def each(self, estimator: Any, function: Function) -> Any:
        """Return the DataFrame with the function of every record in one more column; nothing is computed yet.

        Labels are in the column "cluster", probabilities in "probability", log densities in "log_density".
        """
        name, kind = _new_column(function(np.zeros((1, self.columns.width))))
        if name in {other.lower() for other in self._frame.columns}:  # Spark does not look at case
            raise InvalidParameterError(
                f"X must not have a column {name!r}, which the result is put into. Rename it, such as by "
                f"X.withColumnRenamed({name!r}, ...), or drop it."
            )
        reading = self._reading

        def task(batches: Iterator[Any]) -> Iterator[Any]:
            return _with_column(reading, batches, name, function)

        every = [*self._frame.schema.fields, types.StructField(name, kind, nullable=False)]
        return _by_place(self._frame).mapInArrow(task, types.StructType(every))

    @contextmanager
    def held(self) -> Iterator["SparkRecords"]:
        """Return these records as executors keep them in memory, while the context lasts."""
        with kept(self._needed) as held:
            yield self._with(self._files, self._reading.schema, held)

    @property
    def _needed(self) -> Any:
        """The columns that are read."""
        needed = self._files.names if self.unit is None else [*self._files.names, self.unit]
        chosen = [_place(self._frame.columns.index(name)) for name in needed]
        return _by_place(self._frame).select(*chosen)

    @property
    def _parts(self) -> SparkParts:
        """The columns that are read, in batches with owners."""
        reading = self._reading
        if self._held is None:
            return SparkParts(self._needed, reading.batches)
        blocks, instead = self._held.blocks, self._held.instead
        return SparkParts(blocks, lambda batches: reading.batches(unpacked(batches)), keep=instead)

    def _with(self, files: DataFiles, schema: Schema | None, held: Kept | None = None) -> "SparkRecords":
        return SparkRecords(self._frame, files.unit, schema, files.names, held)


@dataclass(frozen=True)
class _PartitionReading:
    """How a partition is read; it travels to where the partitions are, and holds nothing of the records."""

    types: Any
    unit: str | None
    schema: Schema | None
    columns: Sequence[str] | None

    def files(self, batches: Iterable[Any]) -> DataFiles:
        """Return Arrow batches, whose columns are named by place, as records like those of files."""
        types = {column.name: column.type for column in self.types}

        def named(batch: Any) -> Any:
            names = [self.types.names[int(place.removeprefix("_"))] for place in batch.schema.names]
            return pa.RecordBatch.from_arrays(batch.columns, names=names)

        def start(columns: list[str], n_rows: int) -> Iterator[Any]:
            return joined((named(batch).select(columns) for batch in batches), n_rows)

        table = ArrowTable(_PATH, types, start, errors_told=problems_told)
        return open_files([table], self.unit, self.schema, self.columns)

    def batches(self, batches: Iterable[Any]) -> Iterator[Batch]:
        """Return checked batches, each with the owners of its rows."""
        return self.files(batches).batches()


def _by_place(X: Any) -> Any:
    """Name the columns of a DataFrame by their place: Spark takes a dot for a part of a structure."""
    return X.toDF(*map(_place, range(len(X.columns))))


def _place(i: int) -> str:
    return f"_{i}"


def _new_column(example: Any) -> tuple[str, Any]:
    """Return name and type of the column for values like the example."""
    if example.ndim == 2:
        return "probability", types.ArrayType(types.DoubleType(), containsNull=False)
    if example.dtype.kind == "f":
        return "log_density", types.DoubleType()
    return "cluster", _KINDS.get(example.dtype.type, types.LongType)()


def _with_column(
    reading: _PartitionReading, batches: Iterator[Any], name: str, function: Callable[[Any], Any]
) -> Iterator[Any]:
    """Yield batches with the function of their records in one more column."""
    for batch in batches:
        if not len(batch):
            continue
        values = np.concatenate([function(part.array) for part in reading.batches([batch])])
        column = pa.array(values.ravel())
        if values.ndim == 2:
            column = pa.FixedSizeListArray.from_arrays(column, values.shape[1]).cast(pa.list_(pa.float64()))
        yield pa.RecordBatch.from_arrays([*batch.columns, column], names=[*reading.types.names, name])
