"""Values of X: every type, shape, layout and content that a table could have, and some others.

A fit ends with finite parameters and leaves its input alone, or is refused by ``ValueError`` or ``TypeError``
before anything is drawn, in words that quote no value.
"""

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audits.fuzzing.corpus import Corpus
from dpmorse import Budget, DPMoGHard, Ledger

SECRET = 0.1234567
_DTYPES = "bhilqBHILQefdgFDO?US" + "Mm"
_EXTREMES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 2.0**53, 2.0**63, 1e-310)


@dataclass(frozen=True)
class ArrayCase:
    """An input, described by how it was made."""

    X: Any
    made: str
    content: bytes = b""


@dataclass(frozen=True)
class Arrays:
    """``fit`` as a reader of any X."""

    corpus: Corpus

    def warm_up(self) -> None:
        """Fit once: some code is compiled on its first use."""
        for dtype in (np.float64, np.float32):
            self.check(ArrayCase(np.zeros((9, 2), dtype=dtype), "zeros"), Path())

    def make(self, rng: np.random.Generator) -> ArrayCase:
        """Make a table, then wrap it in something."""
        wrap = _WRAPPERS[rng.integers(len(_WRAPPERS))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = _array(rng)
            try:
                return ArrayCase(wrap(array, rng), wrap.__name__)
            except Exception:  # noqa: BLE001 - not everything can be wrapped in everything
                return ArrayCase(array, "as it is")

    def check(self, case: ArrayCase, path: Path) -> str:
        """Fit: a model of finite numbers, or a refusal that costs and tells nothing."""
        ledger, before = Ledger(Budget(10.0)), _fingerprint(case.X)
        model = _model(ledger)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(case.X)
        except (ValueError, TypeError) as refusal:
            said = "".join(traceback.format_exception_only(refusal))
            is_path = isinstance(case.X, str)  # text is the name of a file, and may be repeated
            assert is_path or "1234567" not in said, f"a refusal quotes a value: {said[:200]}"
            assert ledger.events == (), "a refusal that was paid for"
            assert not hasattr(model, "mixture_"), "a refusal that left something"
            return "refused"
        mixture = model.mixture_
        assert np.isfinite(mixture.means).all()
        assert np.isfinite(mixture.covariances).all()
        assert len(ledger.events) == 1
        assert _fingerprint(case.X) == before, "a fit that changed its input"
        return "accepted"


def _model(ledger: Ledger | None) -> DPMoGHard:
    return DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), n_iter=1, ledger=ledger)


def _array(rng: np.random.Generator) -> Any:
    """Return an array of some type and shape, with values that are usual or extreme."""
    n_dimensions = int(rng.choice([2, 2, 2, 2, 2, 2, 0, 1, 3]))
    shape = tuple(
        int(n) for n in rng.choice([0, 1, 2, 3, 7, 40], size=n_dimensions, p=[0.03, 0.2, 0.3, 0.2, 0.2, 0.07])
    )
    values = np.where(rng.random(shape) < 0.5, SECRET, rng.uniform(-2, 2, size=shape))
    if rng.random() < 0.4:
        values = np.where(rng.random(shape) < 0.1, rng.choice(_EXTREMES, size=shape), values)
    kind = _DTYPES[rng.integers(len(_DTYPES))] if rng.random() < 0.6 else "d"
    return np.asarray(values).astype(
        "datetime64[s]" if kind == "M" else "timedelta64[s]" if kind == "m" else kind
    )


# -- what arrays come in ------------------------------------------------------------------------------


def as_it_is(X: Any, _: Any) -> Any:
    """Return the array."""
    return X


def in_another_layout(X: Any, rng: Any) -> Any:
    """Return it in Fortran's order, backwards, with gaps, with swapped bytes, or read-only."""
    layouts: list[Callable[[Any], Any]] = [
        np.asfortranarray,
        lambda A: A[::-1] if A.ndim else A,
        lambda A: np.repeat(A, 2, axis=0)[::2] if A.ndim else A,
        lambda A: A.astype(A.dtype.newbyteorder()),
        lambda A: A.view(np.ndarray) if A.flags.writeable else A,
    ]
    laid = layouts[rng.integers(len(layouts))](X)
    laid.flags.writeable = False
    return laid


def as_lists(X: Any, rng: Any) -> Any:
    """Return lists, sometimes with a row that is too short."""
    rows = X.tolist()
    if isinstance(rows, list) and rows and isinstance(rows[-1], list) and rng.random() < 0.3:
        rows[-1] = rows[-1][:-1]
    return rows


def as_frame(X: Any, rng: Any) -> Any:
    """Return a data frame of some library, sometimes with missing values or doubled names."""
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa

    columns = X.T if X.ndim == 2 else X.reshape(1, -1)
    names = [f"c{i if rng.random() < 0.95 else 0}" for i in range(len(columns))]
    usual = [np.asarray(column, dtype=np.float64) for column in columns if column.dtype.kind in "fiub"]
    kinds: list[Callable[[], Any]] = [
        lambda: pd.DataFrame(dict(zip(names, columns, strict=True))),
        lambda: pd.DataFrame(usual).T.convert_dtypes(),  # noqa: PLW0108 - made only if it is chosen
        lambda: pd.DataFrame(usual).T.astype("category"),
        lambda: pl.DataFrame(dict(zip(names, usual, strict=False))),
        lambda: pl.DataFrame(dict(zip(names, usual, strict=False))).lazy(),
        lambda: pa.table(usual, names=names[: len(usual)]),
        lambda: pd.Series(usual[0] if usual else []),
    ]
    return kinds[rng.integers(len(kinds))]()


def as_something_odd(X: Any, rng: Any) -> Any:
    """Return what is no table, or hardly one."""
    import scipy.sparse

    usual = np.atleast_2d(np.zeros(X.shape) if X.dtype.kind not in "fiub" else X.astype(np.float64))
    odd: list[Callable[[], Any]] = [
        lambda: np.ma.masked_invalid(usual),
        lambda: scipy.sparse.csr_array(usual.reshape(len(usual), -1)),
        lambda: np.asmatrix(usual.reshape(len(usual), -1)),
        lambda: np.zeros(3, dtype=[("a", float), ("b", float)]),
        lambda: np.array([[object(), {}], [None, "x"]], dtype=object),
        lambda: np.array([[10**400, 1], [2, 3]], dtype=object),
        partial(iter, usual),
        lambda: {"a": usual},
        lambda: {1, 2, 3},
        lambda: None,
        lambda: "X.csv",
        lambda: b"\x00\x01",
        usual.tobytes,
        lambda: usual.data,
        lambda: DPMoGHard,
        lambda: range(7),
    ]
    return odd[rng.integers(len(odd))]()


_WRAPPERS: list[Callable[[Any, Any], Any]] = [
    as_it_is,
    as_it_is,
    in_another_layout,
    as_lists,
    as_frame,
    as_something_odd,
]


def _fingerprint(X: Any) -> Any:
    """Return what must be the same after a fit."""
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return X.tobytes(), X.dtype.str, X.shape
    return repr(X) if isinstance(X, list) else None
