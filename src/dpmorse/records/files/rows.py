"""Turn rows of a data file into records: chosen columns as numbers, and which values are missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmorse import _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError
from dpmorse.records.files.batched_table import Asked, BatchedTable, is_number
from dpmorse.records.files.data_file import as_floats
from dpmorse.records.files.left_out import in_words, reasons_to_leave_out
from dpmorse.records.files.text.refusals import excluded
from dpmorse.records.names import listed, refuse_data_as_names
from dpmorse.typing import FloatArray

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Some rows of a file.

    Attributes
    ----------
    numbers : pyarrow.Table
        The chosen columns as 64-bit floats.
    others : pyarrow.Table
        Columns beside them, as they are.
    complete : ndarray of bool
        Which rows have all numbers, and all other values that are needed.
    missing : list of str
        Columns in which a needed value is missing.
    """

    numbers: Any
    others: Any
    complete: Mask
    missing: list[str]

    @property
    def array(self) -> FloatArray:
        """The numbers, one column after the other: the layout in which the compiled passes read fastest."""
        array = np.empty((self.numbers.num_rows, self.numbers.num_columns), order="F")
        for j, column in enumerate(self.numbers.columns):
            array[:, j] = column.to_numpy()
        return array

    def only_complete(self) -> "Rows":
        """Leave out the rows that have a missing value: a rule that looks at one row at a time."""
        if self.complete.all():
            return self
        mask = pa.array(self.complete)
        return Rows(self.numbers.filter(mask), self.others.filter(mask), self.complete[self.complete], [])


def choose_columns(
    data: BatchedTable,
    wanted: Sequence[str],
    besides: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    described: bool = False,
) -> list[str]:
    """Return the columns to be used: those that are wanted, or all that may be data.

    Parameters
    ----------
    data : BatchedTable
        The table.
    wanted : sequence of str
        Names, each one or several with commas between; empty for all columns.
    besides : sequence of str
        Columns with another use, which are left out of "all".
    exclude : sequence of str
        Columns that shall not be used.
    described : bool
        Whether a schema may say what the columns are; they need not hold numbers then.
    """
    refuse_data_as_names(data.names, f"the header of {data.path!r}", "Rename them there.")
    names, excluded = split_names(wanted, data.names), split_names(exclude, data.names)
    check_columns(data, [*names, *besides, *excluded])
    chosen = list(dict.fromkeys(names)) or _data_columns(data, {*besides, *excluded})
    if len(chosen) < len(names) or set(names) & {*besides, *excluded}:
        raise InvalidParameterError(
            "columns must name each column once, and neither that of the unit nor one that is excluded."
        )
    if not described:
        refuse_text(data, chosen)
    return chosen


def _data_columns(data: BatchedTable, besides: set[str]) -> list[str]:
    """Return the columns that may be data, by their names and types."""
    reasons = reasons_to_leave_out(data.types, data.numeric)
    chosen = [name for name in data.types if name not in reasons and name not in besides]
    if chosen:
        return chosen
    out = {name: reason for name, reason in reasons.items() if name not in besides}
    raise InvalidParameterError(
        f"{data.path!r} has no column of numbers to be clustered. Left out are {in_words(out) or 'all'}; "
        "name columns with --columns (columns=) to use them."
    )


def refuse_text(data: BatchedTable, names: Sequence[str]) -> None:
    """Refuse columns that hold no numbers, by their type."""
    text = [name for name in names if name not in data.numeric]
    if text:
        raise InvalidTypeError(
            f"columns must hold numbers; these do not: {listed(text)}. Leave them out: {excluded(text)} "
            f"(exclude={text!r})."
        )


def check_columns(data: BatchedTable, names: Sequence[str], what: str = "has no column") -> None:
    """Refuse names that the file does not have; ``what`` begins the sentence about them."""
    unknown = [name for name in names if name not in data.types]
    if unknown:
        hint = f" It has {listed(data.names)}.{_validate.did_you_mean(unknown[0], data.names)}"
        if data.kind == "csv" and len(data.names) == 1:
            hint += " If the values are separated by something else, say by what: --separator (separator=)."
        raise InvalidParameterError(f"{data.path!r} {what} {listed(unknown)}.{hint}")


def read_rows(
    data: BatchedTable, columns: Sequence[str], kept: Sequence[str] = ()
) -> Iterator[tuple[Rows, float]]:
    """Yield the rows of a file, a batch at a time, and how much was read; refuse infinity and text.

    ``columns`` hold numbers; ``kept`` are of any type, and may have missing values.
    """
    for batch, done in data.parts(Asked(columns, kept)):
        yield checked_rows(batch, list(columns), []), done


def refuse_missing(rows: Rows, hint: str) -> None:
    """Refuse rows with missing values, naming the columns."""
    if rows.missing:
        raise InvalidParameterError(f"values are missing in the column {listed(rows.missing)}. {hint}")


def checked_rows(batch: Any, columns: list[str], needed: list[str]) -> Rows:
    """Check a batch; columns without missing values, which are nearly all, are read once and not copied."""
    held = {name: batch.column(name) for name in columns}
    numbers = {name: as_floats(of) if is_number(of.type) else of for name, of in held.items()}
    odd = [name for name, column in numbers.items() if not _all_finite(column)]
    infinite = [name for name in odd if pc.any(pc.is_inf(numbers[name])).as_py()]
    if infinite:
        raise InvalidParameterError(f"values must be finite; infinity is in the column {listed(infinite)}.")
    null = pa.scalar(None, pa.float64())  # NaN, too, is a missing value
    numbers |= {name: pc.if_else(pc.is_nan(numbers[name]), null, numbers[name]) for name in odd}
    others = pa.Table.from_batches([batch]).drop_columns(columns)
    masks = {name: _missing(numbers[name]) for name in odd} | {
        name: _missing(others[name]) for name in needed
    }
    incomplete = np.logical_or.reduce([np.zeros(len(batch), dtype=bool), *masks.values()])
    missing = [name for name, mask in masks.items() if mask.any()]
    return Rows(pa.table(numbers), others, ~incomplete, missing)


def _all_finite(column: Any) -> bool:
    # The sum of finite numbers is finite, unless it overflows, which the caller looks at more closely.
    with np.errstate(over="ignore", invalid="ignore"):
        return column.null_count == 0 and bool(np.isfinite(column.to_numpy().sum()))


def _missing(column: Any) -> Mask:
    mask: Mask = pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False)
    return mask


def split_names(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Split texts at commas into names, unless a text is a name itself."""
    return [name for text in texts for name in ([text] if text in names else map(str.strip, text.split(",")))]
