"""Records in files, one or many, in databases, and in what can be read again as Arrow batches."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.base import Columns, names_of
from dpmorse.records.files.arrow_values import encoded_batch, read_described
from dpmorse.records.files.batched_table import Asked, BatchedTable
from dpmorse.records.files.data_file import DataFile
from dpmorse.records.files.left_out import in_words, reasons_to_leave_out
from dpmorse.records.files.locations import open_tables
from dpmorse.records.files.reading import Reading
from dpmorse.records.files.rows import (
    checked_rows,
    choose_columns,
    refuse_missing,
    refuse_text,
    split_names,
)
from dpmorse.records.files.text.refusals import excluded
from dpmorse.records.persons.arrow_ids import ColumnOwners
from dpmorse.records.persons.owners import Batch
from dpmorse.records.streams import Read, StreamedRecords
from dpmorse.schema import Schema

_MISSING = ("refuse", "drop")
"""What may happen to rows with missing values."""


class DataFiles(StreamedRecords):
    """Records in files or a database that need not fit in memory: ``fit`` and ``predict`` take it as X.

    A path alone is enough where all columns are used: ``fit("records.parquet")`` is short for
    ``fit(DataFiles("records.parquet"))``. Needs pyarrow: ``pip install 'dpmorse[arrow]'``.

    Parameters
    ----------
    source : path, sequence of paths, or a table that can be read again
        A file .csv, .tsv or .txt (also packed, such as .csv.gz or .zip), .xlsx (``pip install
        'dpmorse[excel]'``), .parquet or .feather; a pattern such as ``"2026/*.parquet"``; or a folder of such
        files, and of its partitions, such as ``year=2026``; also at an address such as ``s3://``. All files
        must have the columns that are used. Or a ``Query``, a DuckDB relation, a polars LazyFrame, an Ibis
        table, an Arrow dataset.
    columns : sequence of str, optional
        The columns to use, in this order. If not given, all but row numbers and ids, by their names, and
        columns that are no numbers by their type; a warning names those that are left out. They must hold
        numbers, or true and false, unless the estimator is told what they are.
    exclude : sequence of str
        Columns that are not used.
    unit : str, optional
        A column that says whose record a row is; goes with ``max_rows_per_group``.
    sheet : str, optional
        The sheet of a workbook, where several hold something.
    skip, skip_below : int, optional
        Lines above the names of the columns, and between the names and the records.
    separator : str, optional
        What is between values of CSV; found in the first line if not given.
    decimal : {".", ","}, optional
        The sign before decimals in CSV; the point if not given.
    thousands : {",", ".", "'", " "}, optional
        The mark between thousands in CSV, such as in 1,234.5; none if not given.
    remove : sequence of str
        Texts that stand before or behind numbers in CSV, such as ``["kg", "%"]``.
    encoding : str, optional
        How the characters of CSV are written, such as "cp1252"; UTF-8 if not given, or UTF-16 where the first
        bytes say so.
    na : sequence of str or number, or dict of them
        Codes for missing values, such as ``[-999, "?"]``, beside those that are always known, such as NA; or
        by column, such as ``{"income": [98, 99]}``.
    dates : {"iso", "day-first", "month-first"}, optional
        How dates are written in text, beside 2024-05-31: such as 31.05.2024, or 05/31/2024.
    missing : {"refuse", "drop"}
        What happens to rows with missing values. Dropping looks at one row at a time; it does not go with
        "replace-one", where the number of rows is public.

    Examples
    --------
    >>> from dpmorse import DataFiles, DPMorse
    >>> X = DataFiles("visits/*.parquet", columns=["age", "height"], unit="patient")  # doctest: +SKIP
    >>> DPMorse(3, epsilon=1.0, bounds=([0, 50], [110, 220]), max_rows_per_group=5).fit(X)  # doctest: +SKIP
    """

    owns_arrays = True
    _schema: Schema | None = None

    def __init__(
        self,
        source: Any,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        unit: str | None = None,
        sheet: str | None = None,
        skip: int | None = None,
        skip_below: int | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        remove: Sequence[str] = (),
        encoding: str | None = None,
        na: Any = (),
        dates: str | None = None,
        missing: str = "refuse",
    ) -> None:
        _validate.choice(missing=missing, among=_MISSING)
        reading = Reading.of(
            sheet=sheet,
            skip=skip,
            skip_below=skip_below,
            separator=separator,
            decimal=decimal,
            thousands=thousands,
            remove=remove,
            encoding=encoding,
            na=na,
            dates=dates,
        )
        self.tables = open_tables(source, reading)
        self.unit, self.missing, self.drops_rows = unit, missing, missing == "drop"
        self._needed = [] if unit is None else [unit]
        self._exclude = split_names(exclude, self.tables[0].names)
        self._wanted: list[str] | None = None
        for table in self.tables:
            every = self._all if columns is None else columns
            chosen = choose_columns(table, every, self._needed, self._exclude, described=True)
            self._wanted = None if columns is None else chosen

    @property
    def _all(self) -> list[str]:
        """All columns but that of the unit and those that were excluded."""
        return [name for name in self.tables[0].names if name not in (self.unit, *self._exclude)]

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Columns that nobody has named and that are not taken for data, and why each is not."""
        table = self.tables[0]
        if not isinstance(table, DataFile):  # who writes a query chooses its columns
            return {}
        usable, named = table.numeric, set[str]()
        if self._schema is not None:  # which says itself what is no number
            usable, named = table.names, set(self._schema.names)
        reasons = reasons_to_leave_out(table.types, usable)
        wanted = self._all if self._wanted is None else []
        return {name: reasons[name] for name in wanted if name in reasons and name not in named}

    @cached_property
    def names(self) -> list[str]:
        """The columns that are used."""
        if self._wanted is not None:
            return self._wanted
        used = [name for name in self._all if name not in self.left_out]
        return used or choose_columns(
            self.tables[0], [], self._needed, self._exclude
        )  # refuses, with reasons

    @cached_property
    def columns(self) -> Columns:
        """Number and names of the columns; without a schema they must hold numbers."""
        if self.left_out:
            warnings.warn(
                f"columns left out: {in_words(self.left_out)}. Name them in columns to use them.",
                stacklevel=2,
            )
        found = Columns.of(len(self.names), self.names)
        for table in self.tables if self._schema is None else ():
            refuse_text(table, self.names)
        return found.encoded_by(self._schema)

    @contextmanager
    def held(self) -> Iterator["DataFiles"]:
        """Hold what databases say for all passes of a fit: each is read in one transaction."""
        with ExitStack() as stack:
            tables = [stack.enter_context(table.held()) for table in self.tables]
            same = tables == self.tables
            yield self if same else self._with(self.unit, self.names, self._schema, tables)

    def owned_by(self, groups: Any) -> "DataFiles":
        """Return these records with a column of owners, which is then no column of numbers."""
        unit = checked_unit(groups)
        wanted = None if self._wanted is None else [name for name in self.names if name != unit]
        return self._with(unit, wanted, self._schema)

    def described_by(self, schema: Schema) -> "DataFiles":
        """Return these records with a schema, whose columns are found by name."""
        if self.drops_rows:
            raise InvalidParameterError(
                'DataFiles: missing must be "refuse" where columns are described, got "drop". Say in the '
                'description of each column what happens, such as Numeric(0, 120, missing="ignore").'
            )
        return self._with(self.unit, self._wanted, schema)

    def matching(self, estimator: Any) -> "DataFiles":
        """Return the columns of the fit, found by name."""
        names = names_of(estimator)
        chosen = self if names is None else self._with(self.unit, [str(name) for name in names], self._schema)
        chosen.columns.check_those_of(estimator)
        return chosen

    def reads(self) -> Iterator[Read]:
        """Yield batches as they are read, each with the owners of its rows."""
        for table in self.tables:
            if self._schema is None:
                for batch, _ in table.parts(Asked(self.names, self._needed)):
                    yield partial(self._checked, batch)
            else:
                for columns, _ in read_described(table, self._schema, self._needed):
                    yield partial(encoded_batch, columns, self._schema, self.unit)

    def _checked(self, batch: Any) -> Batch:
        rows = checked_rows(batch, self.names, self._needed)
        if self.drops_rows:
            rows = rows.only_complete()
        hint = (
            "Leave such rows out with --missing drop (missing='drop'; in Spark: X.dropna()), or, where most "
            f"values are missing, such columns: {excluded(rows.missing)} (exclude={rows.missing!r})."
        )
        refuse_missing(rows, hint)
        if self.unit is None:
            return Batch(rows.array)
        return Batch(rows.array, ColumnOwners(rows.others[self.unit].combine_chunks(), self.unit))

    def _with(
        self,
        unit: str | None,
        columns: Sequence[str] | None,
        schema: Schema | None,
        tables: Sequence[BatchedTable] | None = None,
    ) -> "DataFiles":
        exclude = self._exclude if columns is None else ()
        files = DataFiles(
            tables or self.tables, columns=columns, exclude=exclude, unit=unit, missing=self.missing
        )
        files._schema = schema
        return files


def open_files(
    source: Any, groups: Any, schema: Schema | None, columns: Sequence[str] | None = None
) -> DataFiles:
    """Return files, a database or Arrow batches as records, with owners and a schema if they are given."""
    files = DataFiles(source, columns=columns, unit=checked_unit(groups))
    return files if schema is None else files.described_by(schema)


def checked_unit(groups: Any) -> str | None:
    """Refuse ids that are not in the table: a row and its owner must be read together."""
    if groups is not None and not isinstance(groups, str):
        raise InvalidTypeError(
            "groups must be the name of a column where X is in files or in Spark, got "
            f"{type(groups).__name__}: a row and whose it is must be read together."
        )
    return groups
