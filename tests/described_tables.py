"""A table with categories, dates and missing values, in every kind of storage that is in memory."""

import datetime as dt

import numpy as np

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema

SCHEMA = Schema.of(
    {
        "status": Nominal(["employed", "retired", "NA"], missing="ignore"),
        "age": Numeric(0, 120, missing="level"),
        "grade": Ordinal(["low", "mid", "high"], missing="ignore"),
        "smoker": Boolean(missing="level"),
        "joined": Date("2000-01-01", "2030-01-01", missing="ignore"),
        "height": Numeric(50, 220),
        "ward": Nominal([1, 2, 30], missing="ignore"),
    }
)


def columns(n, seed=0):
    """Return the columns of a table as lists of Python objects, with values that are not listed and None."""
    rng = np.random.default_rng(seed)

    def drawn(*values):
        return [values[i] for i in rng.integers(len(values), size=n)]

    days = [dt.date(1999, 6, 1) + dt.timedelta(int(i)) for i in rng.integers(9000, size=n)]
    return {
        "status": drawn("employed", "retired", "NA", "Employed", "x", None),
        "age": drawn(0.0, 17.25, 130.0, -1.0, None),
        "grade": drawn("low", "mid", "high", "none", None),
        "smoker": drawn(True, False, None),
        "joined": [day if keep else None for day, keep in zip(days, drawn(True, True, False), strict=True)],
        "height": [float(x) for x in rng.normal(170, 12, size=n)],
        "ward": drawn(1, 2, 30, 4, None),
    }


def stored(table):
    """Return the table in many ways; what a record says is the same in all of them."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    frame, polars, arrow = pd.DataFrame(table), pl.DataFrame(table), pa.table(table)
    objects = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in table.items()})
    text = polars.with_columns(pl.col("joined").cast(pl.String), pl.col("ward").cast(pl.String))
    days = pd.to_datetime(pd.Series(table["joined"]))
    return {
        "pandas": frame,
        "pandas objects": objects,
        "pandas nullable": frame.convert_dtypes(),
        "pandas on arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas categories": frame.assign(
            status=pd.Categorical(table["status"]), grade=pd.Categorical(table["grade"]), joined=days
        ),
        "pandas time zone": frame.assign(joined=days.dt.tz_localize("Asia/Tokyo")),
        "pandas, other order": frame[list(frame)[::-1]],
        "polars": polars,
        "polars categories": polars.with_columns(pl.col("status", "grade").cast(pl.Categorical)),
        "polars time zone": polars.with_columns(
            pl.col("joined").cast(pl.Datetime("ms")).dt.replace_time_zone("America/New_York")
        ),
        "polars text": text,
        "arrow": arrow,
        "arrow dictionaries": pa.table(
            {
                name: pa.array(values).dictionary_encode() if name in {"status", "grade", "ward"} else values
                for name, values in table.items()
            }
        ),
        "array of objects": objects.to_numpy(),
        "lists": objects.to_numpy().tolist(),
    }
