"""The options of numba in one place, and compilation that also works where nothing can be cached."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile with IEEE arithmetic in the order written; release the interpreter lock."""
    return _compile(function, fastmath=False)


def compiled_fused(function: Function) -> Function:
    """Compile, and allow a product and a sum to be rounded once; NaN and infinity are handled as usual."""
    return _compile(function, fastmath={"contract"})


def compiled_reordered(function: Function) -> Function:
    """Compile, and allow sums to be reordered and fused; NaN and infinity are handled as usual."""
    return _compile(function, fastmath={"reassoc", "contract"})


def compiled_any_order(function: Function) -> Function:
    """Compile, and allow sums to be reordered and fused: for results that do not depend on the order.

    These are sums of integers that are exact in every order, and scores whose error bound covers any order.
    Values must be finite.
    """
    return _compile(function, fastmath={"reassoc", "contract", "nnan", "ninf", "nsz"})


def _compile(function: Function, **more: Any) -> Function:
    # What is private to its file is called by compiled code alone: the way in from Python, which often takes
    # longer to compile than the function, is left out.
    inner = function.__name__.startswith("_")
    more |= {"no_cpython_wrapper": inner, "no_cfunc_wrapper": inner}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **more}
    try:
        jitted: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: a read-only installation without a home
        jitted = numba.njit(**options)(function)
    else:
        _outlive_updates(jitted)
    return jitted


def _outlive_updates(jitted: Any) -> None:
    """Compile anew where the cache is of an older version of the file.

    numba unpickles the types of arguments before it compares versions. An update of dpmorse in place may have
    renamed one of them, and the cache stays when files are replaced.
    """
    cache, load = jitted._cache, jitted._cache.load_overload  # noqa: SLF001 - numba has no public way

    def load_or_forget(*key: Any) -> Any:
        try:
            return load(*key)
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            cache.flush()
            return None

    cache.load_overload = load_or_forget


@contextmanager
def compilation_told(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function once if anything is compiled while the block runs, and not taken from the cache."""
    listener = _Once(tell)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


class _Once(event.Listener):  # type: ignore[misc]  # numba has no types
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell, self._told = tell, False

    def on_start(self, event: Any) -> None:
        if not self._told:
            self._told = True
            self._tell()

    def on_end(self, event: Any) -> None:
        pass
