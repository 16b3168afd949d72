"""Malformed records and ids of every kind.

They have ``N`` rows of ``VALUE`` and ``TEXT``, which no error message may repeat.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import scipy.sparse

Make = Callable[[], Any]
"""Makes one malformed input."""

N = 3719
VALUE, TEXT = 0.123456789, "Zebulon-Canary"
GOOD = np.full((N, 2), VALUE)
ANY_LENGTH = getattr(np.dtypes, "StringDType", lambda: "U14")  # since NumPy 2


def with_one(odd: object, dtype: Any = object) -> Any:
    """Return good records with one odd value."""
    X = GOOD.astype(dtype)
    X[1234, 1] = odd
    return X


def structured() -> Any:
    """Return an array whose rows have named fields."""
    return np.full(N, VALUE, dtype=[("a", "f8"), ("b", "f8")])


class Foreign:
    """A matrix of another library, whose conversion fails with an error of that library."""

    shape = (N, 2)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise ValueError(f"cannot convert {TEXT} in {N} rows")


ARRAYS: dict[str, Make] = {
    "no columns": lambda: np.empty((N, 0)),
    "no columns in lists": lambda: [[]] * N,
    "one dimension": lambda: np.full(N, VALUE),
    "three dimensions": lambda: np.full((N, 2, 2), VALUE),
    "lists that are ragged": lambda: [[VALUE, VALUE]] * (N - 1) + [[VALUE]],
    "lists of nothing else": lambda: [TEXT] * N,
    "lists of text": lambda: [[TEXT, TEXT]] * N,
    "lists of lists of lists": lambda: [[[VALUE]] * 2] * (N - 1) + [[[VALUE], VALUE]],
    "ragged arrays": lambda: [np.zeros(2)] * (N - 1) + [np.zeros(3)],
    "ragged objects": lambda: np.array([[VALUE, VALUE]] * (N - 1) + [[VALUE]], dtype=object),
    "text": lambda: np.full((N, 2), TEXT),
    "text of any length": lambda: np.full((N, 2), TEXT, dtype=ANY_LENGTH()),
    "bytes": lambda: np.full((N, 2), TEXT.encode()),
    "raw bytes": lambda: np.zeros((N, 2), dtype="V14"),
    "dates": lambda: np.full((N, 2), np.datetime64("2020-01-01")),
    "durations": lambda: np.full((N, 2), np.timedelta64(3719, "s")),
    "complex": lambda: GOOD + 1j,
    "structured": structured,
    "records": lambda: structured().view(np.recarray),
    "masked": lambda: np.ma.masked_greater(GOOD, 0),
    "not a number": lambda: with_one(np.nan, float),
    "not a number in float32": lambda: with_one(np.nan, np.float32),
    "infinity": lambda: with_one(-np.inf, float),
    "an object that is text": lambda: with_one(TEXT),
    "an object that is a list": lambda: with_one([VALUE]),
    "an object that is none": lambda: with_one(None),
    "an object that is a date": lambda: with_one(dt.date(2020, 1, 1)),
    "an object that is huge": lambda: with_one(10**400),
    "an object that is complex": lambda: with_one(VALUE + 1j),
    "sparse": lambda: scipy.sparse.csr_array(GOOD),
    "sparse and ragged": lambda: scipy.sparse.coo_array(GOOD[:, 0]),
    "of another library": Foreign,
    "a generator": lambda: (row for row in GOOD),
    "a dictionary": lambda: {TEXT: [VALUE] * N},
    "a set": lambda: {VALUE, TEXT},
    "bytes alone": TEXT.encode,
    "a range": lambda: range(N),
}

FRAMES: dict[str, Make] = {
    "pandas without columns": lambda: pd.DataFrame(index=range(N)),
    "pandas of text": lambda: pd.DataFrame({"a": [VALUE] * N, "b": [TEXT] * N}),
    "pandas of objects": lambda: pd.DataFrame(with_one(TEXT), columns=["a", "b"]),
    "pandas with a gap": lambda: pd.DataFrame(with_one(np.nan, float), columns=["a", "b"]),
    "pandas of categories": lambda: pd.DataFrame({"a": pd.Categorical([TEXT] * N), "b": [VALUE] * N}),
    "pandas, one column": lambda: pd.Series([VALUE] * N, name="a"),
    "pandas with names twice": lambda: pd.DataFrame(GOOD, columns=["a", "a"]),
    "pandas with names of two types": lambda: pd.DataFrame(GOOD, columns=["a", VALUE]),
    "pandas named by numbers": lambda: pd.DataFrame(with_one(np.nan, float), columns=[VALUE, 2 * VALUE]),
    "pandas named by text and numbers": lambda: pd.DataFrame(
        with_one(np.nan, float), columns=pd.MultiIndex.from_tuples([("a", str(VALUE)), ("b", str(N))])
    ),
    "polars without columns": pl.DataFrame,
    "polars of text": lambda: pl.DataFrame({"a": [VALUE] * N, "b": [TEXT] * N}),
    "polars with a gap": lambda: pl.DataFrame({"a": [VALUE] * N, "b": [None] + [VALUE] * (N - 1)}),
    "polars of lists": lambda: pl.DataFrame({"a": [[VALUE]] * N, "b": [VALUE] * N}),
    "polars that is lazy, of text": lambda: pl.DataFrame({"a": [VALUE] * N, "b": [TEXT] * N}).lazy(),
    "polars that is lazy, with missing values": lambda: pl.DataFrame(
        {"a": [VALUE] * N, "b": [VALUE, *[None] * (N - 1)]}
    ).lazy(),
    "polars that is lazy, and fails": lambda: pl.LazyFrame({"a": [VALUE], "b": [TEXT]}).cast(
        {"b": pl.Float64}
    ),
    "polars, one column": lambda: pl.Series("a", [VALUE] * N),
    "pyarrow of text": lambda: pa.table({"a": [VALUE] * N, "b": [TEXT] * N}),
    "pyarrow with a gap": lambda: pa.table({"a": [VALUE] * N, "b": [None] + [VALUE] * (N - 1)}),
    "pyarrow, one column": lambda: pa.chunked_array([[VALUE] * N]),
    "pyarrow with names twice": lambda: pa.table([pa.array([VALUE] * N)] * 2, names=["a", "a"]),
}


class Batches:
    """A re-iterable."""

    def __init__(self, *tables: Any) -> None:
        self.tables = tables

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)


STREAMS: dict[str, Make] = {
    "batches with other columns": lambda: Batches(GOOD, GOOD[:, :1]),
    "batches of one dimension": lambda: Batches(GOOD[:, 0]),
    "batches of which one has": lambda: Batches(GOOD, GOOD[:, 0]),
    "batches of text": lambda: Batches(GOOD, np.full((N, 2), TEXT)),
    "batches with a gap": lambda: Batches(GOOD, with_one(np.nan, float)),
    "batches without columns": lambda: Batches(np.empty((N, 0))),
    "batches that are ragged": lambda: Batches(ARRAYS["lists that are ragged"]()),
    "batches with other names": lambda: Batches(
        pd.DataFrame(GOOD, columns=["a", "b"]), pd.DataFrame(GOOD, columns=["a", "c"])
    ),
    "batches that are records": lambda: Batches(pd.DataFrame(GOOD, columns=[str(VALUE), TEXT])),
    "batches of nothing": lambda: Batches(np.empty((0, 2))),
    "no batches": Batches,
}

DASK: dict[str, Make] = {
    "Dask array of one dimension": lambda: da.from_array(GOOD[:, 0], chunks=1000),
    "Dask array of three": lambda: da.from_array(GOOD[:, :, None], chunks=1000),
    "Dask array without columns": lambda: da.from_array(np.empty((N, 0)), chunks=(1000, 1)),
    "Dask array of text": lambda: da.from_array(np.full((N, 2), TEXT), chunks=1000),
    "Dask array with a gap": lambda: da.from_array(with_one(np.nan, float), chunks=1000),
    "Dask array of objects": lambda: da.from_array(with_one(TEXT), chunks=1000),
    "Dask array of unknown columns": lambda: da.from_array(GOOD, chunks=1000)[:, da.ones(2) > 0],
    "Dask frame of text": lambda: dd.from_pandas(FRAMES["pandas of text"](), npartitions=3),
    "Dask frame with a gap": lambda: dd.from_pandas(FRAMES["pandas with a gap"](), npartitions=3),
    "Dask frame, one column": lambda: dd.from_pandas(FRAMES["pandas, one column"](), npartitions=3),
    "Dask frame with a record as names": lambda: dd.from_pandas(
        pd.DataFrame(GOOD, columns=[str(VALUE), TEXT]), npartitions=3
    ),
}

GOOD_ROWS = f"{VALUE},{VALUE}\n" * N
TEXTS = {
    "no header": GOOD_ROWS,
    "no header, decimal commas": "0,123456789;5\n" * N,
    "no header, text first": f"{TEXT},{VALUE}\n" * N,
    "text": "a,b\n" + GOOD_ROWS + f"{TEXT},{VALUE}\n",
    "rows of other lengths": "a,b\n" + GOOD_ROWS + f"{VALUE}\n",
    "a gap": "a,b\n" + GOOD_ROWS + f",{VALUE}\n",
    "infinity": "a,b\n" + GOOD_ROWS + f"inf,{VALUE}\n",
    "no rows": "a,b\n",
    "nothing": "",
    "a quotation that does not end": "a,b\n" + GOOD_ROWS + f'"{TEXT},{VALUE}\n' * 3,
}


GROUPS: dict[str, Make] = {
    "too few": lambda: np.arange(N - 1),
    "too many": lambda: [TEXT] * (N + 1),
    "two dimensions": lambda: np.zeros((N, 2), int),
    "lists in lists": lambda: [[TEXT]] * N,
    "ragged": lambda: [[TEXT]] * (N - 1) + [[TEXT, TEXT]],
    "ragged further down": lambda: [[TEXT]] * (N - 1) + [TEXT],
    "fractions": lambda: np.full(N, VALUE),
    "not a number": lambda: np.where(np.arange(N) == 9, np.nan, 1.0),
    "infinity": lambda: np.full(N, np.inf),
    "huge doubles": lambda: np.full(N, 2.0**60 + 3719),
    "complex": lambda: np.full(N, VALUE + 1j),
    "nobody": lambda: [TEXT] * (N - 1) + [None],
    "nobody in pandas": lambda: pd.Series([TEXT] * (N - 1) + [None]),
    "nobody in polars": lambda: pl.Series([TEXT] * (N - 1) + [None]),
    "nobody in pyarrow": lambda: pa.chunked_array([[TEXT] * (N - 1) + [None]]),
    "bytes": lambda: np.full(N, TEXT.encode()),
    "bytes in a list": lambda: [TEXT.encode()] * N,
    "dates": lambda: np.full(N, np.datetime64("2020-01-01")),
    "dates in pandas": lambda: pd.Series(pd.date_range("2020-01-01", periods=N)),
    "dates in a list": lambda: [dt.date(2020, 1, 1)] * N,
    "truths": lambda: np.ones(N, bool),
    "of many types": lambda: [TEXT, 5, VALUE, b"x", None] * (N // 5) + [TEXT] * (N % 5),
    "two spellings": lambda: ["7", "007"] * (N // 2) + ["7"] * (N % 2),
    "a dictionary": lambda: {TEXT: 1},
    "a number": lambda: N,
    "bytes alone": TEXT.encode,
    "a generator of too few": lambda: (TEXT for _ in range(9)),
    "a frame": lambda: pd.DataFrame({TEXT: [TEXT] * N}),
    "structured": structured,
    "raw bytes": lambda: np.zeros(N, dtype="V14"),
    "a column that is not there": lambda: "somebody",
}
