"""Seeded fits of described tables, and the files that people get of a model, for ``same_models``."""

import contextlib
import io
import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from dpmorse import (
    Boolean,
    Date,
    DPMorse,
    InvalidTypeError,
    Nominal,
    Numeric,
    Ordinal,
    PrivateGaussianMixture,
)
from dpmorse.cli.application import app
from dpmorse.report import write_report

_NUMBERS = ("age", "height", "pressure")
_CATEGORIES = ("ward", "smoker")
_MADE_ON = date(2026, 1, 1)
_N_ROWS = 1500

_KINDS: dict[str, Callable[[str], Any]] = {
    "age": lambda missing: Numeric(0, 110, integer=True, missing=missing),
    "height": lambda missing: Numeric(100, 220, missing=missing),
    "pressure": lambda missing: Numeric(60, 220, missing=missing),
    "ward": lambda missing: Nominal(["north", "south", "east"], missing=missing),
    "smoker": lambda missing: Boolean(missing=missing),
    "pain": lambda missing: Ordinal(["none", "some", "strong"], missing=missing),
    "admitted": lambda missing: Date("2010-01-01", "2030-01-01", missing=missing),
}
"""What the columns are, by what happens to missing values."""

SCHEMAS: dict[str, tuple[tuple[str, ...], str]] = {
    "numbers": (_NUMBERS, "refuse"),
    "one-number": (("age",), "refuse"),
    "holes": (_NUMBERS, "ignore"),
    "levels": (("age", "height", "ward"), "level"),
    "categories": (_CATEGORIES, "ignore"),
    "all": (tuple(_KINDS), "ignore"),
}
"""Which columns a table has, and what happens to missing values in them."""

_OF_BASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "replace": {"neighboring": "replace-one"},
    "persons": {"max_rows_per_group": 2},
    "without-profile": {"profile": False},
    "weak": {"epsilon": 0.05},
    "zcdp": {"calibration": "zcdp"},
}

_OF_DPMORSE: dict[str, dict[str, Any]] = {
    "three": {"n_clusters": 3},
    "auto": {"n_clusters": "auto"},
    "persons": {"n_clusters": 3, "max_rows_per_group": 2},
}

_STORAGES: dict[str, Callable[[Any, Path], Any]] = {
    "csv": lambda frame, folder: _written(frame.to_csv, folder / "table.csv"),
    "parquet": lambda frame, folder: _written(frame.to_parquet, folder / "table.parquet"),
    "batches": lambda frame, _: _Batches(frame),
    "dask": lambda frame, _: _in_dask(frame),
    "rows": lambda frame, _: frame.astype(object).where(frame.notna(), None).to_numpy().tolist(),
    "polars": lambda frame, _: _in_polars(frame),
}
"""Other places for the table of all kinds of columns."""


@dataclass(frozen=True)
class TableFit:
    """A seeded fit of a table that is made when it is called."""

    kind: Any
    schema: str
    options: dict[str, Any]
    storage: str | None = None

    def __call__(self) -> Any:
        """Return the fitted estimator."""
        frame, owners = table(self.schema)
        usual = {"epsilon": 1.0, "columns": columns_of(self.schema), "random_state": 7}
        usual |= {} if self.kind is DPMorse else {"n_components": 5}
        model = self.kind(**{**usual, **self.options})
        groups = owners if "max_rows_per_group" in self.options else None
        if self.storage is None:
            return model.fit(frame, groups=groups)
        with tempfile.TemporaryDirectory() as folder:
            return model.fit(_STORAGES[self.storage](frame, Path(folder)), groups=groups)

    @property
    def examples(self) -> Any:
        """Records to be labelled."""
        return table(self.schema)[0][:100]


def table_ways() -> Iterator[tuple[str, TableFit]]:
    """Yield names and fits of tables: 60 of them."""
    for schema, (name, options) in itertools.product(SCHEMAS, _OF_BASES.items()):
        yield f"PrivateGaussianMixture-{schema}-{name}", TableFit(PrivateGaussianMixture, schema, options)
    for schema, (name, options) in itertools.product(SCHEMAS, _OF_DPMORSE.items()):
        yield f"DPMorse-table-{schema}-{name}", TableFit(DPMorse, schema, options)
    for storage in _STORAGES:
        yield f"DPMorse-table-in-{storage}", TableFit(DPMorse, "all", {"n_clusters": 3}, storage)


def columns_of(schema: str) -> dict[str, Any]:
    """Return what the columns of a table are."""
    names, missing = SCHEMAS[schema]
    return {name: _KINDS[name](missing) for name in names}


@cache
def table(schema: str) -> tuple[Any, Any]:
    """Return three groups of patients as a frame, with missing values where stated, and owners of rows."""
    names, missing = SCHEMAS[schema]
    rng = np.random.default_rng(len(schema))
    group = rng.integers(3, size=_N_ROWS)
    frame = pd.DataFrame(
        {
            "age": np.rint(np.array([25, 50, 80])[group] + rng.normal(0, 5, _N_ROWS)),
            "height": np.array([180.0, 165.0, 170.0])[group] + rng.normal(0, 6, _N_ROWS),
            "pressure": np.array([110.0, 130.0, 150.0])[group] + rng.normal(0, 9, _N_ROWS),
            "ward": np.array(["north", "south", "attic"])[(group + (rng.random(_N_ROWS) < 0.2)) % 3],
            "smoker": (group == 1) ^ (rng.random(_N_ROWS) < 0.2),
            "pain": np.array(["none", "some", "strong"])[(group + (rng.random(_N_ROWS) < 0.3)) % 3],
            "admitted": np.datetime64("2015-01-01") + (1500 * group + rng.integers(0, 900, _N_ROWS)),
        }
    )[list(names)]
    if missing != "refuse":
        frame = frame.astype(dict.fromkeys(set(names) & {"smoker"}, object))
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, rng.integers(_N_ROWS // 3, size=_N_ROWS)


def write_what_people_get(model: Any, model_file: Path) -> None:
    """Write the table of the clusters, what ``show`` and a notebook show, and the report."""
    _write(model_file, ".show.txt", _shown(model_file, "--json"))
    _write(model_file, ".page.txt", _shown(model_file))
    _write(model_file, ".notebook.html", model._repr_html_())
    if getattr(model, "n_clusters_", None) is not None:
        write_report(model, model_file.with_suffix(".html"), made_on=_MADE_ON, force=True)
    with contextlib.suppress(InvalidTypeError):  # a base without a profile has no table
        _write(model_file, ".summary.csv", model.summary(library="pandas").to_csv())


def _shown(model_file: Path, *options: str) -> str:
    """Return what the command ``show`` prints, but for the folder of the model."""
    shown, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
        app(["show", str(model_file), *options], standalone_mode=False)
    return (shown.getvalue() + said.getvalue()).replace(str(model_file), model_file.name)


def _write(model_file: Path, suffix: str, text: str) -> None:
    model_file.with_suffix(suffix).write_text(text, encoding="utf-8")


def _written(write: Callable[..., Any], path: Path) -> Path:
    write(path, index=False)
    return path


class _Batches:
    """Frames that can be gone through again and again."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __iter__(self) -> Iterator[Any]:
        return (self._frame[i : i + 400] for i in range(0, len(self._frame), 400))


def _in_dask(frame: Any) -> Any:
    import dask.dataframe  # noqa: PLC0415 - the others do without

    return dask.dataframe.from_pandas(frame, npartitions=3, sort=False)


def _in_polars(frame: Any) -> Any:
    import polars as pl  # noqa: PLC0415 - likewise

    return pl.from_pandas(frame)
