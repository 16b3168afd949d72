"""Tables with a schema: values of every type in columns that are described as something else.

A record is encoded by itself, whatever its values: a fit ends with finite parameters, or is refused before
anything is drawn, in words that quote no value.
"""

import datetime as dt
import traceback
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from audits.fuzzing.corpus import Corpus
from dpmorse import Boolean, Budget, Date, Ledger, Nominal, Numeric, Ordinal, PrivateGaussianMixture

SECRET = "1234567"  # noqa: S105 - a value that no message may quote
_LISTED = "North"
_LOOK_ALIKES = (
    _LISTED.lower(),
    f"{_LISTED} ",
    f"\ufeff{_LISTED}",
    f"{_LISTED}\u200b",
    "\u039dorth",  # a Greek letter
    "\uff2e\uff4f\uff52\uff54\uff48",  # full width
    unicodedata.normalize("NFD", "Zo\xeb"),
    "No\u0000rth",
    "\ud800",  # half of a pair, which no encoding takes
    "\u202ehtroN",
)
_NUMBERS_AS_TEXT = (
    "5",
    "5.0",
    " 5",
    "5e0",
    "0x5",
    "\u0665",
    "\xbd",
    "1_000",
    "1,5",
    "NaN",
    "inf",
    "-0",
    "1e999",
    "",
)
_TIMES = (
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.datetime(2024, 5, 31, 23, 59, tzinfo=dt.UTC),
    np.datetime64("NaT", "D"),
    np.datetime64("2500-01-01T00:00", "m"),
    np.timedelta64(5, "D"),
    "2024-05-31",
    "2024-13-31",
    "31.05.2024",
    "2024-05-31T25:00",
    "-9999-01-01",
)
_ODD: tuple[Callable[[], Any], ...] = (
    lambda: "x" * 10**6,
    lambda: 10**400,
    lambda: -(2**63),
    lambda: 2.0**53 + 2,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -0.0,
    lambda: 5e-324,
    lambda: complex(1, 2),
    lambda: Decimal("1e400"),
    lambda: Fraction(1, 3),
    lambda: b"North",
    lambda: (1, 2),
    list,
    lambda: {"a": 1},
    object,
    lambda: True,
    lambda: np.True_,
    lambda: np.float32(0.1),
    lambda: np.str_(_LISTED),
)


def _columns(missing: str) -> dict[str, Any]:
    return {
        "age": Numeric(0, 100, missing=missing),
        "visits": Numeric(0, 9, integer=True, missing=missing),
        "ward": Nominal([_LISTED, "Zo\xeb", 5, "x" * 10**6], missing=missing),
        "smoker": Boolean(missing=missing),
        "pain": Ordinal(["none", 5, "strong"], missing=missing),
        "seen": Date("2020-01-01", "2030-01-01", missing=missing),
    }


_USUAL: dict[str, tuple[Any, ...]] = {
    "age": (30.5, 61.25, 90),
    "visits": (0, 3, 9),
    "ward": (_LISTED, "Zo\xeb", 5, "elsewhere"),
    "smoker": (True, False, "yes", "no"),
    "pain": ("none", 5, "strong"),
    "seen": ("2024-05-31", dt.date(2021, 1, 1)),
}


@dataclass(frozen=True)
class DescribedCase:
    """A table, and what happens to missing values."""

    X: Any
    missing: str
    content: bytes = b""


@dataclass(frozen=True)
class DescribedTables:
    """``fit`` with ``columns=`` as a reader of any table."""

    corpus: Corpus

    def warm_up(self) -> None:
        """Fit once: some code is compiled on its first use."""
        self.check(self.make(np.random.default_rng(0)), Path())

    def make(self, rng: np.random.Generator) -> DescribedCase:
        """Make a table of usual values with odd ones in between, in some container."""
        n = int(rng.choice([1, 2, 7, 40]))
        table = {name: [v[i] for i in rng.integers(len(v), size=n)] for name, v in _USUAL.items()}
        for values in table.values():
            if rng.random() < 0.4:
                values[rng.integers(n)] = _odd(rng)
        wrap = _CONTAINERS[rng.integers(len(_CONTAINERS))]
        try:
            X = wrap(table)
        except Exception:  # noqa: BLE001 - not everything can be in everything
            X = _as_array(table)
        return DescribedCase(X, str(rng.choice(["refuse", "ignore", "level"])))

    def check(self, case: DescribedCase, path: Path) -> str:
        """Fit: a model of finite numbers, or a refusal that costs and tells nothing."""
        ledger = Ledger(Budget(10.0))
        model = PrivateGaussianMixture(
            1, epsilon=1.0, columns=_columns(case.missing), profile=False, ledger=ledger
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(case.X)
        except (ValueError, TypeError) as refusal:
            said = "".join(traceback.format_exception_only(refusal))
            assert SECRET not in said, "a refusal quotes a value"
            assert len(said) < 2000, "a refusal that a table can make arbitrarily long"
            assert ledger.events == (), "a refusal that was paid for"
            return "refused"
        assert np.isfinite(model.mixture_.means).all()
        assert np.isfinite(model.mixture_.probabilities).all()
        return "accepted"


def _odd(rng: np.random.Generator) -> Any:
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: SECRET,
        lambda: int(SECRET),
        lambda: _LOOK_ALIKES[rng.integers(len(_LOOK_ALIKES))],
        lambda: _NUMBERS_AS_TEXT[rng.integers(len(_NUMBERS_AS_TEXT))],
        lambda: _TIMES[rng.integers(len(_TIMES))],
        _ODD[rng.integers(len(_ODD))],
    )
    return kinds[rng.integers(len(kinds))]()


def _as_array(table: dict[str, list[Any]]) -> Any:
    array = np.empty((len(table["age"]), len(table)), dtype=object)
    for j, values in enumerate(table.values()):
        for i, value in enumerate(values):
            array[i, j] = value
    return array


def _as_pandas(table: dict[str, list[Any]]) -> Any:
    import pandas as pd  # type: ignore[import-untyped]

    return pd.DataFrame(table)


def _as_objects(table: dict[str, list[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(table, dtype=object)


def _as_categories(table: dict[str, list[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(table).astype({"ward": "category", "pain": "category"})


def _as_polars(table: dict[str, list[Any]]) -> Any:
    import polars as pl

    return pl.DataFrame(table, strict=False)


def _as_arrow(table: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    return pa.table(table)


_CONTAINERS = (_as_array, _as_pandas, _as_objects, _as_categories, _as_polars, _as_arrow)
