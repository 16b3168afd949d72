"""One spelling of numba's options, and compilation that also works where nothing can be cached."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile with IEEE arithmetic in the order written; release the interpreter lock."""
    return _compile(function, fastmath=False)


def compiled_fused(function: Function) -> Function:
    """Compile, and let a product and a sum be rounded once; NaN and infinity keep their meaning."""
    return _compile(function, fastmath={"contract"})


def compiled_any_order(function: Function) -> Function:
    """Compile, and let sums be reordered and fused: for arithmetic whose result does not depend on it."""
    return _compile(function, fastmath={"reassoc", "contract", "nnan", "ninf", "nsz"})


def _compile(function: Function, *, fastmath: bool | set[str]) -> Function:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        jitted: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: a read-only installation without a home
        jitted = numba.njit(**options)(function)
    return jitted
