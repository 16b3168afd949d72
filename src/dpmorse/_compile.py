"""The options of numba in one place, and compilation that also works where nothing can be cached."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile with IEEE arithmetic in the order written; release the interpreter lock."""
    return _compile(function, fastmath=False)


def compiled_inner(function: Function) -> Function:
    """Compile what compiled code alone calls: the way in from Python would take longest to compile."""
    return _compile(function, fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def compiled_fused(function: Function) -> Function:
    """Compile, and allow a product and a sum to be rounded once; NaN and infinity are handled as usual."""
    return _compile(function, fastmath={"contract"})


def compiled_reordered(function: Function) -> Function:
    """Compile inner sums, and allow them to be reordered and fused; NaN and infinity are handled as usual."""
    return _compile(
        function, fastmath={"reassoc", "contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )


def compiled_any_order(function: Function) -> Function:
    """Compile, and allow sums to be reordered and fused: for results that do not depend on the order.

    These are sums of integers that are exact in every order, and scores whose error bound covers any order.
    Values must be finite.
    """
    return _compile(function, fastmath={"reassoc", "contract", "nnan", "ninf", "nsz"})


def _compile(function: Function, **more: Any) -> Function:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **more}
    try:
        jitted: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: a read-only installation without a home
        jitted = numba.njit(**options)(function)
    return jitted
